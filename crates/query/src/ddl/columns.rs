//! Column definitions: type, NULL, default, identity, serial, checks.

use super::checks::CheckDefinition;
use super::unsupported;
use datafusion::sql::sqlparser::ast::{
    ColumnDef, ColumnOption, DataType, Expr, GeneratedAs, GeneratedExpressionMode, ObjectName,
    SequenceOptions,
};
use parser::names::fold;
use store::catalog::{Column, ColumnId, Identity, SqlType};
use values::error::{Error, Result, SqlState};
use values::types;

/// A column definition.
pub(crate) struct Defined {
    pub(crate) column: Column,
    /// Whether the column is the primary key.
    pub(crate) is_key: bool,
    pub(crate) checks: Vec<CheckDefinition>,
    /// The options of the column's own sequence, for serial and identity columns.
    pub(crate) sequence: Option<Vec<SequenceOptions>>,
}

/// Reads a column definition. `table` is the name of the table, `id` the id of the column.
///
/// # Errors
/// 0A000 for unsupported options; 42601 for more than one of DEFAULT, identity and generation
/// expression.
pub(crate) fn define(table: &str, id: u32, definition: &ColumnDef) -> Result<Defined> {
    let name = fold(&definition.name);
    let serial = serial_type(&definition.data_type);
    let sql_type = match &serial {
        Some(sql_type) => sql_type.clone(),
        None => types::from_ast(&definition.data_type)?,
    };
    let column = Column {
        id: ColumnId(id),
        name,
        sql_type,
        nullable: serial.is_none(),
        default: None,
        identity: None,
        generated: None,
        hidden: false,
        missing: None,
        comment: None,
    };
    let sequence = serial.map(|_| Vec::new());
    let mut defined = Defined { column, is_key: false, checks: Vec::new(), sequence };
    for option in &definition.options {
        let name = option.name.as_ref().map(fold);
        defined.take(name, &option.option)?;
    }
    if defined.is_key {
        defined.column.nullable = false;
    }
    defined.refuse_two_origins(table)?;
    Ok(defined)
}

fn serial_type(data_type: &DataType) -> Option<SqlType> {
    let DataType::Custom(name, _) = data_type else { return None };
    match name.to_string().to_ascii_lowercase().as_str() {
        "serial" | "serial4" => Some(SqlType::Integer),
        "bigserial" | "serial8" => Some(SqlType::BigInt),
        "smallserial" | "serial2" => Some(SqlType::SmallInt),
        _ => None,
    }
}

impl Defined {
    fn take(&mut self, name: Option<String>, option: &ColumnOption) -> Result<()> {
        match option {
            ColumnOption::Null => self.column.nullable = true,
            ColumnOption::NotNull => self.column.nullable = false,
            ColumnOption::Default(expression) => self.column.default = Some(expression.to_string()),
            ColumnOption::PrimaryKey(_) => self.is_key = true,
            ColumnOption::Check(check) => {
                let name = name.or_else(|| check.name.as_ref().map(fold));
                self.checks.push(CheckDefinition { name, condition: check.expr.to_string() });
            }
            ColumnOption::Generated {
                generation_expr: Some(expression),
                generation_expr_mode: Some(GeneratedExpressionMode::Stored),
                ..
            } => self.column.generated = Some(expression.to_string()),
            ColumnOption::Generated { generation_expr: Some(_), .. } => {
                let message = "virtual generated columns are not supported";
                return Err(Error::unsupported(message)
                    .with_hint("Add STORED after the expression, or create a view."));
            }
            ColumnOption::Generated { generated_as, sequence_options, .. } => {
                self.column.identity = Some(match generated_as {
                    GeneratedAs::ByDefault => Identity::ByDefault,
                    GeneratedAs::Always | GeneratedAs::ExpStored => Identity::Always,
                });
                self.column.nullable = false;
                self.sequence = Some(sequence_options.clone().unwrap_or_default());
                if !is_integer(&self.column.sql_type) {
                    return Err(Error::new(
                        SqlState::InvalidParameterValue,
                        "identity column type must be smallint, integer, or bigint",
                    ));
                }
            }
            ColumnOption::Collation(name) => refuse_collation(name)?,
            ColumnOption::CharacterSet(_) => {}
            ColumnOption::Comment(text) => self.column.comment = Some(text.clone()),
            ColumnOption::Unique(_) => {
                return Err(unsupported::unique());
            }
            ColumnOption::ForeignKey(_) => {
                return Err(unsupported::foreign_key());
            }
            other => return Err(Error::unsupported(format!("{other} is not supported"))),
        }
        Ok(())
    }
}

impl Defined {
    /// Rejects a column with more than one of DEFAULT, identity and generation expression.
    fn refuse_two_origins(&self, table: &str) -> Result<()> {
        let column = &self.column;
        let of = |is: bool, what: &'static str| is.then_some(what);
        let origins = [
            of(column.default.is_some(), "default"),
            of(column.identity.is_some(), "identity"),
            of(column.generated.is_some(), "generation expression"),
        ];
        let mut origins = origins.into_iter().flatten();
        let (Some(first), Some(second)) = (origins.next(), origins.next()) else { return Ok(()) };
        let name = &column.name;
        let message = format!(
            "both {first} and {second} specified for column \"{name}\" of table \"{table}\""
        );
        Err(Error::new(SqlState::SyntaxError, message))
    }
}

/// Rejects collations other than the byte order of UTF-8.
fn refuse_collation(name: &ObjectName) -> Result<()> {
    let last = name.0.last().and_then(|part| part.as_ident());
    let last = last.map(|ident| ident.value.to_lowercase()).unwrap_or_default();
    match last.as_str() {
        "c" | "posix" | "default" | "ucs_basic" | "c.utf8" | "c.utf-8" => Ok(()),
        _ => Err(Error::unsupported(format!("collation {name} is not supported"))
            .with_hint("Text is sorted by bytes, as with COLLATE \"C\".")),
    }
}

pub(super) fn is_integer(sql_type: &SqlType) -> bool {
    matches!(sql_type, SqlType::SmallInt | SqlType::Integer | SqlType::BigInt)
}

/// The integer value of an option.
///
/// # Errors
/// 22023 for other values.
pub(crate) fn integer(expression: &Expr) -> Result<i64> {
    let text = expression.to_string();
    text.parse().map_err(|_| {
        Error::new(SqlState::InvalidParameterValue, format!("\"{text}\" is not an integer"))
    })
}
