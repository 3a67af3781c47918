//! `CREATE TABLE ... WITH (...)`: the options `bucket_size` and `colocate_with`. Those of PostgreSQL's storage are checked
//! where the statement is read.

use catalog_views::relation_names::{find_named, undefined};
use catalog_views::search_path::SearchPath;
use catalog_views::settings::byte_size::bytes_of;
use parser::commands::{Given, RelationName};
use parser::object_name;
use store::catalog::{BUCKET_SIZE_MAX, BUCKET_SIZE_MIN, Catalog, Relation, Table};
use values::error::{Error, Result, SqlState};

/// The options of a table.
#[derive(Debug, Default)]
pub struct TableOptions {
    /// Maximum size of a bucket in bytes. A larger bucket splits.
    pub bucket_size: Option<u64>,
    /// The table with whose rows the rows are colocated.
    colocate_with: Option<RelationName>,
}

impl TableOptions {
    /// Reads the options.
    ///
    /// # Errors
    /// 22023 for invalid values.
    pub fn of(options: &[Given]) -> Result<Self> {
        let mut found = Self::default();
        for option in options {
            let value = option.words.first().map_or("true", String::as_str);
            match option.name.as_str() {
                "bucket_size" => found.bucket_size = Some(bucket_size(value)?),
                "colocate_with" => found.colocate_with = Some(name_of(value)?),
                _ => {}
            }
        }
        Ok(found)
    }

    /// Colocates a new table with the one in the options.
    ///
    /// # Errors
    /// 42P01 or 42809 if there is no such table; 42P16 if the tables cannot be colocated.
    pub fn colocate(
        &self,
        path: SearchPath<'_>,
        catalog: &Catalog,
        table: &mut Table,
    ) -> Result<()> {
        let Some(name) = &self.colocate_with else { return Ok(()) };
        let other = match find_named(catalog, path, name)? {
            Some(Relation::Table(other)) => other,
            Some(other) => {
                let message = format!("\"{}\" is a {}, not a table", other.name(), other.kind());
                return Err(Error::new(SqlState::WrongObjectType, message));
            }
            None => return Err(undefined(name)),
        };
        let temporary = |table: &Table| store::catalog::is_temporary_schema(&table.schema);
        if temporary(table) || temporary(other) {
            let message = "temporary tables are on one server and cannot be colocated";
            return Err(Error::new(SqlState::InvalidTableDefinition, message));
        }
        let types = |of: &Table| -> Vec<_> {
            of.key_indices().into_iter().map(|at| of.columns[at].sql_type.clone()).collect()
        };
        if other.has_hidden_key() || !types(table).starts_with(&types(other)) {
            let message = format!(
                "table \"{}\" cannot be colocated with \"{}\": its primary key must begin with columns of the same types as the primary key of \"{}\"",
                table.name, other.name, other.name
            );
            return Err(Error::new(SqlState::InvalidTableDefinition, message).with_hint(
                "Rows are colocated with the row whose primary key is a prefix of their own.",
            ));
        }
        table.colocate_with = Some(other.id);
        Ok(())
    }
}

/// A size in bytes, or with a unit: '4MiB'.
fn bucket_size(text: &str) -> Result<u64> {
    let sizes = BUCKET_SIZE_MIN..=BUCKET_SIZE_MAX;
    bytes_of(text).filter(|bytes| sizes.contains(bytes)).ok_or_else(|| {
        let message = format!("bucket_size \"{text}\" must be between 4 KiB and 1 GiB");
        Error::new(SqlState::InvalidParameterValue, message)
            .with_hint("Use a number of bytes, or a text such as '64MiB'.")
    })
}

/// The name of a table, as an identifier or as text.
fn name_of(text: &str) -> Result<RelationName> {
    object_name(text).map_err(|_| {
        let message = format!("colocate_with \"{text}\" is not the name of a table");
        Error::new(SqlState::InvalidParameterValue, message)
    })
}
