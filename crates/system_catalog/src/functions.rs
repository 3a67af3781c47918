//! Functions (`pg_proc`).

use super::{Oid, rows};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The kind of a function (`pg_proc.prokind`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionKind {
    /// A function of one row.
    Scalar,
    /// An aggregate.
    Aggregate,
    /// A window function that is no aggregate.
    Window,
    /// A procedure.
    Procedure,
}

/// How the value of a function depends on more than its arguments (`pg_proc.provolatile`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Volatility {
    /// Not at all.
    Immutable,
    /// On what does not change within a statement.
    Stable,
    /// Each call may give another value.
    Volatile,
}

/// How an aggregate takes its arguments (`pg_aggregate.aggkind`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregateKind {
    /// All in parentheses.
    Normal,
    /// Some behind WITHIN GROUP.
    OrderedSet,
    /// A row that is compared with those behind WITHIN GROUP.
    Hypothetical,
}

/// One row of `pg_proc`.
#[derive(Debug, Clone)]
pub struct Function {
    /// The id.
    pub oid: Oid,
    /// The name.
    pub name: &'static str,
    /// The kind.
    pub kind: FunctionKind,
    /// Whether it returns a set of rows.
    pub returns_set: bool,
    /// The type of the result.
    pub result: Oid,
    /// The types of the input arguments.
    pub arguments: Vec<Oid>,
    /// The type of each of the variadic arguments, of which the last in `arguments` is the array.
    pub variadic: Option<Oid>,
    /// Whether a NULL argument makes the result NULL.
    pub strict: bool,
    /// The volatility.
    pub volatility: Volatility,
    /// How an aggregate takes its arguments.
    pub aggregate: AggregateKind,
    /// The number of arguments of an aggregate that stand before WITHIN GROUP.
    pub direct_arguments: usize,
    /// The names of the input arguments; empty names for those without.
    pub argument_names: Vec<&'static str>,
    /// The columns of a result with OUT or TABLE arguments.
    pub columns: Vec<(&'static str, Oid)>,
    /// The default expressions of the last arguments, as SQL.
    pub defaults: Vec<&'static str>,
}

struct Functions {
    all: Vec<Function>,
    by_name: HashMap<&'static str, Vec<usize>>,
    by_oid: HashMap<Oid, usize>,
}

fn function(row: super::Row) -> Function {
    let arguments = row.oids(5);
    let modes = row.text(12);
    // Arguments without a name have an empty one.
    let names: Vec<&str> = match row.text(13) {
        "" => Vec::new(),
        names => names.split(' ').collect(),
    };
    let all = row.oids(11);
    let mut argument_names = Vec::new();
    let mut columns = Vec::new();
    if modes.is_empty() {
        argument_names = names;
    } else {
        for (index, mode) in modes.chars().enumerate() {
            let name = names.get(index).copied().unwrap_or_default();
            if matches!(mode, 'i' | 'b' | 'v') {
                argument_names.push(name);
            }
            if let ('o' | 'b' | 't', Some(type_)) = (mode, all.get(index)) {
                columns.push((name, *type_));
            }
        }
    }
    Function {
        oid: row.oid(0),
        name: row.text(1),
        kind: match row.letter(2) {
            'a' => FunctionKind::Aggregate,
            'w' => FunctionKind::Window,
            'p' => FunctionKind::Procedure,
            _ => FunctionKind::Scalar,
        },
        returns_set: row.flag(3),
        result: row.oid(4),
        arguments,
        variadic: row.some_oid(6),
        strict: row.flag(7),
        volatility: match row.letter(8) {
            'i' => Volatility::Immutable,
            's' => Volatility::Stable,
            _ => Volatility::Volatile,
        },
        aggregate: match row.letter(9) {
            'o' => AggregateKind::OrderedSet,
            'h' => AggregateKind::Hypothetical,
            _ => AggregateKind::Normal,
        },
        direct_arguments: row.number(10) as usize,
        argument_names,
        columns,
        defaults: row.text(14).split(", ").filter(|default| !default.is_empty()).collect(),
    }
}

static FUNCTIONS: LazyLock<Functions> = LazyLock::new(|| {
    let tables = [include_str!("../data/functions.tsv"), include_str!("../data/own_functions.tsv")];
    let all: Vec<Function> = tables.into_iter().flat_map(rows).map(function).collect();
    let mut by_name: HashMap<_, Vec<usize>> = HashMap::new();
    for (index, function) in all.iter().enumerate() {
        by_name.entry(function.name).or_default().push(index);
    }
    let by_oid = all.iter().enumerate().map(|(index, function)| (function.oid, index)).collect();
    Functions { all, by_name, by_oid }
});

/// The full name of a function in the schema `pando`: `pando_backup` for `backup`.
pub fn of_own_schema(name: &str) -> Option<&'static str> {
    named(&format!("pando_{name}")).next().map(|function| function.name)
}

/// All functions.
pub fn all() -> impl Iterator<Item = &'static Function> {
    FUNCTIONS.all.iter()
}

/// The functions of a name.
pub fn named(name: &str) -> impl Iterator<Item = &'static Function> {
    let found = FUNCTIONS.by_name.get(name).map_or(&[][..], Vec::as_slice);
    found.iter().map(|index| &FUNCTIONS.all[*index])
}

/// The function with an id.
pub fn of(oid: Oid) -> Option<&'static Function> {
    FUNCTIONS.by_oid.get(&oid).map(|index| &FUNCTIONS.all[*index])
}
