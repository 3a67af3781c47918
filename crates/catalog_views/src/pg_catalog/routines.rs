//! `pg_proc`: the functions, with their arguments and results.

use super::roles;
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use std::collections::HashMap;
use std::sync::LazyLock;
use values::cells::Cell;

/// The rows of `pg_proc`.
const FILE: &str = include_str!("data/pg_proc.tsv");

/// `pg_proc`: the functions that statements can call, and the input and output functions of types,
/// which drivers look up.
pub(super) fn procedures(context: &ViewContext<'_>, rows: &mut TableRows) {
    rows.file(FILE, "proname", |name| (context.functions)(name) || is_type_function(name));
    roles::set_system_owner(rows, "pronamespace", "proowner");
    rows.set_all("procost", Cell::Number(1));
}

fn is_type_function(name: &str) -> bool {
    let ends = ["in", "out", "recv", "send", "_handler", "_typanalyze"];
    ends.iter().any(|end| name.ends_with(end))
}

/// The signature of a function.
#[derive(Debug)]
pub(crate) struct Routine {
    pub(crate) name: &'static str,
    /// The ids of the argument types.
    pub(crate) arguments: Vec<i64>,
    /// The id of the result type.
    pub(crate) returns: i64,
    pub(crate) returns_set: bool,
}

impl Routine {
    fn parse(line: &'static str, positions: &[usize; 5]) -> Option<(i64, Self)> {
        let values: Vec<&'static str> = line.split('\t').collect();
        let [oid, name, arguments, returns, set] = positions.map(|p| values.get(p).copied());
        let arguments = arguments?.split(' ').filter_map(|oid| oid.parse().ok()).collect();
        let returns = returns?.parse().ok()?;
        let routine = Self { name: name?, arguments, returns, returns_set: set? == "t" };
        Some((oid?.parse().ok()?, routine))
    }
}

static ROUTINES: LazyLock<HashMap<i64, Routine>> = LazyLock::new(|| {
    let mut lines = FILE.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let names = ["oid", "proname", "proargtypes", "prorettype", "proretset"];
    let positions = names.map(|name| header.iter().position(|n| *n == name).unwrap_or(usize::MAX));
    lines.filter_map(|line| Routine::parse(line, &positions)).collect()
});

/// The function with an id.
pub(crate) fn by_oid(oid: i64) -> Option<&'static Routine> {
    ROUTINES.get(&oid)
}

/// The name of the function with an id.
pub(crate) fn name_of(oid: i64) -> Option<&'static str> {
    by_oid(oid).map(|routine| routine.name)
}

/// The least id of the functions with a name.
pub(crate) fn by_name(name: &str) -> Option<i64> {
    let named = ROUTINES.iter().filter(|(_, routine)| routine.name == name);
    named.map(|(oid, _)| *oid).min()
}
