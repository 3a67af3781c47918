//! The description of result columns that are a table's.
//!
//! PostgreSQL tells clients the table and the column, which they use for updatable result sets, table names and
//! nullability.

use catalog_views::pg_catalog::oids;
use store::catalog::Table;
use values::field::{Field, Origin};

/// The description of a result column that returns a column of a table unchanged.
pub fn field_of(table: &Table, index: usize) -> Field {
    let column = &table.columns[index];
    let number = table.columns[..=index].iter().filter(|column| !column.hidden).count();
    let origin = || {
        let table = u32::try_from(oids::relation(table.id.relation())).ok()?;
        Some(Origin { table, column: i16::try_from(number).ok()? })
    };
    let origin = if column.hidden { None } else { origin() };
    Field { origin, ..Field::new(column.name.clone(), column.sql_type.clone()) }
}
