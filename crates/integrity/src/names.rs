//! Names of constraints and indexes, as PostgreSQL chooses them, and whether they are taken.

use store::catalog::{Catalog, Table};
use values::error::{Error, Result, SqlState};

/// The most bytes of a name.
const NAME_MAX: usize = 63;

/// The name of an index without one: the table, the columns and a label, with a number if it is taken.
pub fn chosen<'a>(
    catalog: &Catalog,
    table: &Table,
    columns: impl Iterator<Item = &'a str>,
    label: &str,
) -> String {
    let columns = distinct(columns).join("_");
    free(catalog, table, (&columns, label))
}

/// The name of a foreign key without one. A column that is written twice is twice in it.
pub fn of_foreign_key(catalog: &Catalog, table: &Table, columns: &[String]) -> String {
    free(catalog, table, (&columns.join("_"), "fkey"))
}

/// The name of the sequence of a column: one that is free, and none of `others`.
pub fn of_sequence(catalog: &Catalog, table: &Table, column: &str, others: &[String]) -> String {
    let is_free = |name: &String| {
        !others.contains(name) && *name != table.name && !catalog.has_name(&table.schema, name)
    };
    names(table, column, "seq").find(is_free).unwrap_or_default()
}

/// The name of a new primary key: the one that is written, or one that is free.
///
/// # Errors
/// As of [`refuse_taken`].
pub fn of_key(catalog: &Catalog, table: &Table, written: Option<&str>) -> Result<String> {
    let Some(name) = written else { return Ok(free(catalog, table, ("", "pkey"))) };
    match name == table.name {
        true => return Err(taken(name)),
        false => refuse_taken(catalog, table, name, true)?,
    }
    Ok(name.to_owned())
}

/// A free name of a table's name, columns and a label.
fn free(catalog: &Catalog, table: &Table, (columns, label): (&str, &str)) -> String {
    let is_free = |name: &String| {
        !catalog.has_name(&table.schema, name) && !is_constraint(catalog, table, name)
    };
    names(table, columns, label).find(is_free).unwrap_or_default()
}

/// Names of a table's name, columns and a label, with numbers from the second on.
fn names(table: &Table, columns: &str, label: &str) -> impl Iterator<Item = String> {
    let numbered = (1..).map(move |number| format!("{label}{number}"));
    let labels = std::iter::once(label.to_owned()).chain(numbered);
    labels.map(move |label| joined(&table.name, columns, &label))
}

/// The names of an index's columns: one that an earlier column has gets a number.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        let numbered = (1..).map(|number| format!("{name}{number}"));
        let mut free = std::iter::once(name.to_owned()).chain(numbered);
        all.extend(free.find(|name| !all.contains(name)));
    }
    all
}

/// A name of three parts. If it is too long, the longer of the first two is cut.
fn joined(table: &str, columns: &str, label: &str) -> String {
    let between = if columns.is_empty() { "" } else { "_" };
    let room = NAME_MAX.saturating_sub(label.len() + between.len() + 1);
    let (mut of_table, mut of_columns) = (table.len(), columns.len());
    while of_table + of_columns > room {
        if of_table > of_columns { of_table -= 1 } else { of_columns -= 1 }
    }
    let table = &table[..table.floor_char_boundary(of_table)];
    let columns = &columns[..columns.floor_char_boundary(of_columns)];
    format!("{table}{between}{columns}_{label}")
}

/// Whether a table has a constraint of a name.
fn is_constraint(catalog: &Catalog, table: &Table, name: &str) -> bool {
    let mut unique = catalog.indexes_of(table.id).iter().filter(|index| index.is_constraint);
    table.checks.iter().any(|check| check.name == name)
        || table.foreign_keys.iter().any(|key| key.name == name)
        || unique.any(|index| index.file.name == name)
        || table.is_key_name(name)
}

/// Refuses the name of a new constraint that is taken. One with an index has the name of a relation.
///
/// # Errors
/// 42P07 if a relation has it; 42710 if a constraint of the table has it.
pub fn refuse_taken(catalog: &Catalog, table: &Table, name: &str, has_index: bool) -> Result<()> {
    if has_index && catalog.has_name(&table.schema, name) {
        return Err(taken(name));
    }
    if is_constraint(catalog, table, name) {
        let message =
            format!("constraint \"{name}\" for relation \"{}\" already exists", table.name);
        return Err(Error::new(SqlState::DuplicateObject, message));
    }
    Ok(())
}

fn taken(name: &str) -> Error {
    Error::new(SqlState::DuplicateTable, format!("relation \"{name}\" already exists"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_where_they_are_longest() {
        let (long, short) = ("t".repeat(70), "c".repeat(10));
        let name = joined(&long, &short, "key");
        assert_eq!(name.len(), NAME_MAX);
        assert!(name.ends_with("_cccccccccc_key"), "{name}");
        assert_eq!(joined("t", "", "pkey"), "t_pkey");
        let both = joined(&"ä".repeat(40), &"b".repeat(40), "idx1");
        assert!(both.len() <= NAME_MAX && both.starts_with('ä') && both.ends_with("_idx1"));
    }
}
