//! Operators (`pg_operator`).

use super::{Oid, rows};
use std::collections::HashMap;
use std::sync::LazyLock;

/// One row of `pg_operator`.
#[derive(Debug, Clone)]
pub struct Operator {
    /// The id.
    pub oid: Oid,
    /// The name, such as `+`.
    pub name: &'static str,
    /// The type of the left operand; `None` for a prefix operator.
    pub left: Option<Oid>,
    /// The type of the right operand.
    pub right: Oid,
    /// The type of the result.
    pub result: Oid,
    /// The function that computes it.
    pub function: Oid,
    /// The operator with operands exchanged.
    pub commutator: Option<Oid>,
    /// The operator with the opposite result.
    pub negator: Option<Oid>,
}

struct Operators {
    all: Vec<Operator>,
    by_name: HashMap<&'static str, Vec<usize>>,
    by_oid: HashMap<Oid, usize>,
}

static OPERATORS: LazyLock<Operators> = LazyLock::new(|| {
    let operator = |row: super::Row| Operator {
        oid: row.oid(0),
        name: row.text(1),
        left: row.some_oid(2),
        right: row.oid(3),
        result: row.oid(4),
        function: row.oid(5),
        commutator: row.some_oid(6),
        negator: row.some_oid(7),
    };
    let all: Vec<Operator> = rows(include_str!("../data/operators.tsv")).map(operator).collect();
    let mut by_name: HashMap<_, Vec<usize>> = HashMap::new();
    for (index, operator) in all.iter().enumerate() {
        by_name.entry(operator.name).or_default().push(index);
    }
    let by_oid = all.iter().enumerate().map(|(index, operator)| (operator.oid, index)).collect();
    Operators { all, by_name, by_oid }
});

/// The operators of a name.
pub fn named(name: &str) -> impl Iterator<Item = &'static Operator> {
    let found = OPERATORS.by_name.get(name).map_or(&[][..], Vec::as_slice);
    found.iter().map(|index| &OPERATORS.all[*index])
}

/// The operator with an id.
pub fn of(oid: Oid) -> Option<&'static Operator> {
    OPERATORS.by_oid.get(&oid).map(|index| &OPERATORS.all[*index])
}

/// The binary operator of a name for exactly these types.
pub fn exact(name: &str, left: Oid, right: Oid) -> Option<&'static Operator> {
    named(name).find(|operator| operator.left == Some(left) && operator.right == right)
}
