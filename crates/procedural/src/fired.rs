//! What the function of a trigger is told: `TG_OP` and the like, and the rows NEW and OLD.

use crate::value::Value;
use datafusion::common::ScalarValue;
use plpgsql::{Given, Row};
use store::catalog::{Column, SqlType, Table, Trigger, TriggerEvent};

/// What a trigger tells its function whenever changes of one kind fire it.
pub struct Fired {
    /// TG_OP and the like, as far as the function names them.
    variables: Vec<Given<Value>>,
    /// The row with NULL in all columns.
    nulls: Row<Value>,
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
        Self { variables, nulls: columns.map(null).collect() }
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
    let relation = catalog_views::pg_catalog::oids::relation(table.id.relation());
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
