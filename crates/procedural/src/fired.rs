//! What the function of a trigger is told: `TG_OP` and the like, and the rows NEW and OLD; and the condition of the trigger.

use crate::host::StatementHost;
use crate::program::Program;
use crate::statements::Statements;
use crate::trigger_rows::{NEW, OLD, row_type, written_out};
use crate::value::Value;
use catalog_views::pg_catalog::oids;
use datafusion::common::ScalarValue;
use plpgsql::tree::Sql;
use plpgsql::{Compute, Given, Host, Row, Variable};
use std::sync::{Arc, OnceLock};
use store::catalog::{Column, SqlType, Table, Trigger, TriggerEvent};
use values::error::{Error, Result};

/// The number of a condition among the texts of a function.
const CONDITION: usize = usize::MAX / 2;

/// What a trigger tells its function whenever changes of one kind fire it.
pub struct Fired {
    /// TG_OP and the like, as far as the function names them.
    variables: Vec<Given<Value>>,
    /// The row with NULL in all columns.
    nulls: Row<Value>,
    /// The type of the row, as it is written in a cast.
    row_type: Arc<str>,
    /// The condition of WHEN.
    condition: Option<Condition>,
}

/// A condition of a trigger.
struct Condition {
    sql: Sql,
    /// The columns that it may name.
    columns: Vec<(Place, String)>,
    /// What computes it for columns at some places, if it is an expression of plain values.
    program: OnceLock<(Vec<Place>, Arc<Program>)>,
}

/// A column of one of the rows.
#[derive(Clone, Copy)]
struct Place {
    is_old: bool,
    column: usize,
}

/// The rows of a change: the old one and the new one, as far as it has them.
#[derive(Clone, Copy)]
pub struct RowPair<'a> {
    /// The row before the change.
    pub old: Option<&'a [Value]>,
    /// The row behind it.
    pub new: Option<&'a [Value]>,
}

impl<'a> RowPair<'a> {
    fn at(self, place: Place) -> Option<&'a Value> {
        let row = if place.is_old { self.old } else { self.new };
        row?.get(place.column)
    }
}

impl Condition {
    fn of(table: &Table, text: &str) -> Self {
        let text = written_out(table, text);
        let lower = text.to_lowercase();
        // A name with escapes or quotes looks like nothing.
        let is_any = |name: &str| lower.contains("u&") || name.contains('"');
        let shown = table.columns.iter().filter(|column| !column.hidden).enumerate();
        let named = shown.filter(|(_, column)| {
            is_any(&column.name) || lower.contains(&column.name.to_lowercase())
        });
        let of_rows = |(at, column): (usize, &Column)| {
            [false, true].map(|is_old| (Place { is_old, column: at }, column.name.clone()))
        };
        let columns = named.flat_map(of_rows).collect();
        let sql = Sql { id: CONDITION, text, position: 0, names: Vec::new(), assignment: None };
        Self { sql, columns, program: OnceLock::new() }
    }

    async fn holds<S: Statements>(
        &self,
        host: &mut StatementHost<S>,
        rows: RowPair<'_>,
    ) -> Result<bool> {
        if let Some((places, program)) = self.program.get()
            && let Some(value) = program.compute(&|number| rows.at(*places.get(number)?))
        {
            return Ok(host.truth(&value?) == Some(true));
        }
        let (mut variables, mut places) = (Vec::new(), Vec::new());
        for (place, name) in &self.columns {
            let Some(value) = rows.at(*place) else { continue };
            let qualifier = Some(if place.is_old { OLD } else { NEW }.to_owned());
            variables.push(Variable { qualifier, name: name.clone(), value: value.clone() });
            places.push(*place);
        }
        let value = host.evaluate(&self.sql, &variables, Some("boolean")).await;
        let value = value.map_err(Error::without_position)?;
        let program = host.program(&self.sql, &variables, Some("boolean"));
        // Others may have another value in the next statement.
        if let Some(program) = program.filter(|program| matches!(**program, Program::Scalar(_))) {
            // Another call may have found it first.
            let _ = self.program.set((places, program));
        }
        Ok(host.truth(&value) == Some(true))
    }
}

impl Fired {
    /// What a trigger of a table tells a function with a source.
    pub fn of(trigger: &Trigger, table: &Table, operation: TriggerEvent, source: &str) -> Self {
        let source = source.to_lowercase();
        // A name with escapes looks like nothing.
        let has_escapes = source.contains("u&");
        let mut variables = variables(trigger, table, operation);
        // Whole rows that are written out ask for these.
        let may_have_rows = source.contains("json") || source.contains("::");
        let is_asked = |name: &str| may_have_rows && matches!(name, "tg_op" | "tg_level");
        variables.retain(|(name, ..)| has_escapes || source.contains(&**name) || is_asked(name));
        let columns = table.columns.iter().filter(|column| !column.hidden);
        let null = |column: &Column| {
            let of = column.sql_type.clone();
            // A text that is too long is refused when the row is written, and not cut off.
            let name = match &of {
                SqlType::Varchar(Some(_)) => SqlType::Varchar(None).to_string(),
                other => other.to_string(),
            };
            let scalar = ScalarValue::try_from(&of.arrow()).unwrap_or(ScalarValue::Null);
            (column.name.clone(), name, Value { scalar, of })
        };
        let condition = trigger.condition.as_deref().map(|text| Condition::of(table, text));
        let (nulls, row_type) = (columns.map(null).collect(), row_type(table).into());
        Self { variables, nulls, row_type, condition }
    }

    /// The type of NEW and OLD, as it is written in a cast.
    pub fn row_type(&self) -> Arc<str> {
        Arc::clone(&self.row_type)
    }

    /// Whether the condition of the trigger holds for rows, if it has one.
    ///
    /// # Errors
    /// Those of the condition.
    pub async fn holds<S: Statements>(
        &self,
        host: &mut StatementHost<S>,
        rows: RowPair<'_>,
    ) -> Result<bool> {
        match &self.condition {
            Some(condition) => condition.holds(host, rows).await,
            None => Ok(true),
        }
    }

    /// The variables of a call.
    pub fn variables(&self) -> Vec<Given<Value>> {
        self.variables.clone()
    }

    /// A row as a variable. One that the change does not have is NULL in all columns.
    pub fn row(&self, values: Option<&Vec<Value>>) -> Row<Value> {
        let named = self.nulls.iter().enumerate();
        let field = |(at, (name, of, null)): (usize, &(String, String, Value))| {
            let value = values.and_then(|values| values.get(at)).unwrap_or(null);
            (name.clone(), of.clone(), value.clone())
        };
        named.map(field).collect()
    }
}

/// The variables that tell a function what has fired it.
fn variables(trigger: &Trigger, table: &Table, operation: TriggerEvent) -> Vec<Given<Value>> {
    let text = |name: &str, of: &str, text: &str| -> Given<Value> {
        let scalar = ScalarValue::Utf8View(Some(text.to_owned()));
        (name.into(), of.into(), Value { scalar, of: SqlType::Text })
    };
    let number = |name: &str, of: &str, number: i32| -> Given<Value> {
        let scalar = ScalarValue::Int32(Some(number));
        (name.into(), of.into(), Value { scalar, of: SqlType::Integer })
    };
    let relation = oids::relation(table.id.relation());
    let oid = ScalarValue::Int64(Some(relation));
    let count = i32::try_from(trigger.arguments.len()).unwrap_or(i32::MAX);
    vec![
        text("tg_name", "text", &trigger.name),
        text("tg_when", "text", trigger.timing()),
        text("tg_level", "text", if trigger.is_row { "ROW" } else { "STATEMENT" }),
        text("tg_op", "text", operation.name()),
        text("tg_table_name", "text", &table.name),
        text("tg_relname", "text", &table.name),
        text("tg_table_schema", "text", &table.schema),
        ("tg_relid".into(), "bigint".into(), Value { scalar: oid, of: SqlType::BigInt }),
        number("tg_nargs", "integer", count),
        ("tg_argv".into(), "text[]".into(), arguments(&trigger.arguments)),
    ]
}

/// The arguments of a trigger as an array.
fn arguments(of: &[String]) -> Value {
    let items: Vec<ScalarValue> =
        of.iter().map(|text| ScalarValue::Utf8View(Some(text.clone()))).collect();
    let item = SqlType::Text.arrow();
    let scalar = ScalarValue::List(ScalarValue::new_list_nullable(&items, &item));
    Value { scalar, of: SqlType::Array(Box::new(SqlType::Text)) }
}
