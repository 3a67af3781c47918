//! What the demo asks: the six queries of experiment E, and the join of experiment A (`PAPERS.md`).

/// A query and what it tells.
pub(super) struct Question {
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    pub(super) sql: &'static str,
}

/// All of them, in the order in which they are asked.
pub(super) fn all() -> Vec<Question> {
    let tpch = |name, number, meaning| Question { name, meaning, sql: bench::tpch::query(number) };
    vec![
        tpch("Q1", 1, "what was shipped, billed and returned until September 1998"),
        tpch("Q3", 3, "the ten orders of most value that were not shipped on 15 March 1995"),
        tpch("Q6", 6, "the revenue that small discounts cost in 1994"),
        tpch("Q12", 12, "whether cheap shipping delays urgent orders"),
        tpch("Q13", 13, "how many customers have how many orders"),
        tpch("Q16", 16, "how many suppliers can deliver parts of a kind"),
        Question {
            name: "A",
            meaning: "pairs of persons who live in one city",
            sql: bench::person::COUNT,
        },
    ]
}
