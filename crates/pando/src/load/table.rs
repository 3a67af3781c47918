//! The target table: its columns, its definition for `--create`, and the COPY statement for a file.

use super::source::{Contents, File, Form};
use crate::arguments::LoadArguments;
use anyhow::{Context, bail};
use arrow::datatypes::DataType;
use pando::SqlType;
use shell::protocol::{Connection, Described};
use tokio_postgres::types::Type;

/// SQLSTATE of a table that does not exist.
const UNDEFINED_TABLE: &str = "42P01";

/// A column of the table.
pub(super) struct Column {
    name: String,
    sql_type: Type,
}

/// How a file is sent to the server.
pub(super) struct CopyPlan {
    /// The COPY statement.
    pub(super) statement: String,
    /// The format of the data.
    pub(super) form: Form,
}

/// The columns of the table on the server.
pub(super) async fn columns(to: &mut Connection, table: &str) -> anyhow::Result<Vec<Column>> {
    let described = to.columns(&format!("SELECT * FROM {table} LIMIT 0")).await;
    let described = described.map_err(|error| match error.code.as_str() {
        UNDEFINED_TABLE => {
            error.with_hint("--create creates the table with the columns of the file.")
        }
        _ => error,
    })?;
    let column = |column: Described| {
        // Types that are not built in match no type of a file.
        let sql_type = Type::from_oid(column.type_id).unwrap_or(Type::UNKNOWN);
        Column { name: column.name, sql_type }
    };
    Ok(described.into_iter().map(column).collect())
}

/// The CREATE TABLE statement for a file.
pub(super) fn definition(table: &str, file: &File, key: &[String]) -> anyhow::Result<String> {
    let (Contents::Csv { fields, .. } | Contents::Rows { fields, .. }) = &file.contents;
    if let Some(name) = key.iter().find(|name| fields.iter().all(|field| field.name != **name)) {
        bail!("{}: the key column \"{name}\" does not exist", file.path);
    }
    let mut parts: Vec<String> = fields
        .iter()
        .map(|field| format!("{} {}", quoted(&field.name), type_name(&field.sql_type)))
        .collect();
    if !key.is_empty() {
        parts.push(format!("PRIMARY KEY ({})", list(key)));
    }
    Ok(format!("CREATE TABLE {table} ({})", parts.join(", ")))
}

/// PostgreSQL's type for a type of a file.
fn type_name(sql_type: &SqlType) -> String {
    match sql_type {
        SqlType::Other(data_type) if data_type.is_unsigned_integer() => "numeric(20,0)".to_owned(),
        SqlType::Other(DataType::Int8) => "smallint".to_owned(),
        SqlType::Other(_) => "text".to_owned(),
        known => known.to_string(),
    }
}

/// Chooses the COPY statement and the format for a file.
pub(super) fn copy_plan(
    file: &File,
    target: &[Column],
    table: &str,
    arguments: &LoadArguments,
) -> anyhow::Result<CopyPlan> {
    match &file.contents {
        Contents::Csv { header, .. } => {
            let into = match header {
                Some(names) => {
                    find(file, names, target, table)?;
                    format!("{table} ({})", list(names))
                }
                None => table.to_owned(),
            };
            let mut options = format!("FORMAT csv, DELIMITER {}", literal(arguments.delimiter));
            if header.is_some() {
                options.push_str(", HEADER");
            }
            if let Some(null) = &arguments.null {
                options.push_str(&format!(", NULL {}", literal(null)));
            }
            let statement = format!("COPY {into} FROM STDIN ({options})");
            Ok(CopyPlan { statement, form: Form::AsItIs })
        }
        Contents::Rows { fields, .. } => {
            let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
            let columns = find(file, &names, target, table)?;
            let mut pairs = fields.iter().zip(columns);
            let alike = pairs.all(|(field, column)| is_alike(&field.sql_type, &column.sql_type));
            let form = if alike { Form::Binary } else { Form::Text };
            let format = if alike { "binary" } else { "text" };
            let into = list(&names);
            let statement = format!("COPY {table} ({into}) FROM STDIN (FORMAT {format})");
            Ok(CopyPlan { statement, form })
        }
    }
}

/// The table's columns with these names.
fn find<'a>(
    file: &File,
    names: &[String],
    target: &'a [Column],
    table: &str,
) -> anyhow::Result<Vec<&'a Column>> {
    let column = |name: &String| {
        target.iter().find(|column| column.name == *name).with_context(|| {
            let known: Vec<&str> = target.iter().map(|column| column.name.as_str()).collect();
            let known = known.join(", ");
            format!("{}: table {table} has no column \"{name}\", only: {known}", file.path)
        })
    };
    names.iter().map(column).collect()
}

/// Whether both types have the same binary format.
fn is_alike(source: &SqlType, target: &Type) -> bool {
    let texts = [Type::TEXT, Type::VARCHAR, Type::BPCHAR];
    match source {
        SqlType::Boolean => *target == Type::BOOL,
        SqlType::SmallInt => *target == Type::INT2,
        SqlType::Integer => *target == Type::INT4,
        SqlType::BigInt => *target == Type::INT8,
        SqlType::Real => *target == Type::FLOAT4,
        SqlType::Double => *target == Type::FLOAT8,
        SqlType::Numeric { .. } => *target == Type::NUMERIC,
        SqlType::Text | SqlType::Varchar(_) | SqlType::Char(_) => texts.contains(target),
        SqlType::Bytea => *target == Type::BYTEA,
        SqlType::Date => *target == Type::DATE,
        SqlType::Time => *target == Type::TIME,
        SqlType::Timestamp => *target == Type::TIMESTAMP,
        SqlType::TimestampTz => *target == Type::TIMESTAMPTZ,
        SqlType::Interval => *target == Type::INTERVAL,
        SqlType::Precise(of, _) => is_alike(of, target),
        SqlType::Uuid => *target == Type::UUID,
        SqlType::Json
        | SqlType::Jsonb
        | SqlType::Array(_)
        | SqlType::User(_)
        | SqlType::Other(_)
        | SqlType::System(_) => false,
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}

fn literal(text: impl ToString) -> String {
    format!("'{}'", text.to_string().replace('\'', "''"))
}
