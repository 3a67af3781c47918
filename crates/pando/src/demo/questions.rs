//! The queries of the demo: the six of Experiment E, and the join of Experiment A (`PAPERS.md`).

/// A query with its description.
pub(super) struct Question {
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    pub(super) sql: &'static str,
}

/// All queries, in the order in which they run.
pub(super) fn all() -> Vec<Question> {
    let tpch =
        |name, number, meaning| Question { name, meaning, sql: workloads::tpch::query(number) };
    vec![
        tpch("Q1", 1, "items shipped, billed and returned until September 1998"),
        tpch("Q3", 3, "the ten unshipped orders of the highest value on 15 March 1995"),
        tpch("Q6", 6, "the revenue lost by small discounts in 1994"),
        tpch("Q12", 12, "whether cheap shipping delays urgent orders"),
        tpch("Q13", 13, "how many customers have how many orders"),
        tpch("Q16", 16, "how many suppliers can deliver parts of a kind"),
        Question {
            name: "A",
            meaning: "pairs of persons who live in the same city",
            sql: workloads::person::COUNT,
        },
    ]
}
