//! The six queries of Experiment E with three selectivities: TPC-H's text with one constant replaced.

use workloads::tpch;

/// A query with a variable selectivity.
pub(super) struct Query {
    pub(super) name: &'static str,
    number: u8,
    /// The constant in the text.
    constant: &'static str,
    /// Its replacements, by increasing number of rows.
    chosen: [&'static str; 3],
}

const SIZES: [&str; 3] = [
    "in (49, 14)",
    "in (49, 14, 23, 45, 19, 3, 36, 9)",
    "in (49, 14, 23, 45, 19, 3, 36, 9, 1, 2, 4, 5, 6, 7, 8, 10, 11, 12, 13, 15, 16, 17, 18, 20)",
];

const NOT_LIKE: &str = "not like '%special%requests%'";

/// All queries.
pub(super) const ALL: [Query; 6] = [
    Query {
        name: "Q1",
        number: 1,
        constant: "interval '90' day",
        chosen: ["interval '2000' day", "interval '1000' day", "interval '90' day"],
    },
    Query {
        name: "Q3",
        number: 3,
        constant: "date '1995-03-15'",
        chosen: ["date '1993-03-15'", "date '1994-03-15'", "date '1995-03-15'"],
    },
    Query { name: "Q6", number: 6, constant: "< 24", chosen: ["< 12", "< 24", "< 48"] },
    Query {
        name: "Q12",
        number: 12,
        constant: "interval '1' year",
        chosen: ["interval '1' year", "interval '2' year", "interval '4' year"],
    },
    Query {
        name: "Q13",
        number: 13,
        constant: NOT_LIKE,
        chosen: [
            "not like '%special%requests%' and o_orderdate < date '1993-06-01'",
            "not like '%special%requests%' and o_orderdate < date '1995-06-01'",
            NOT_LIKE,
        ],
    },
    Query { name: "Q16", number: 16, constant: SIZES[1], chosen: SIZES },
];

impl Query {
    /// The text with a selectivity, from 0 to 2.
    pub(super) fn sql(&self, selectivity: usize) -> String {
        tpch::query(self.number).replace(self.constant, self.chosen[selectivity])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn selectivities_have_different_texts() {
        for query in &ALL {
            let texts: BTreeSet<String> = (0..3).map(|at| query.sql(at)).collect();
            assert_eq!(texts.len(), 3, "{}", query.name);
        }
    }
}
