//! What a client with an image of its own is told when it has asked a server for another one's row: how the statement's key
//! is made, and whose the keys around it are (A2: an image learns from the answers to misdirected requests).
//!
//! `SET pando.adjustments = on` asks for it. It is the detail of a notice, as JSON; `docs/DIRECTORY.md` says what is in it.

use super::operand::Operand;
use super::{Action, Short};
use crate::values::error::Result;
use datafusion::common::ScalarValue;
use sdds::directory::Entry;
use sdds::{Bound, Key};
use serde_json::{Value, json};
use store::catalog::SqlType;
use store::{Peers, Whereabouts};

impl Short {
    /// The adjustment for whoever has run this with these parameters here; `None` where the row is here, and where clients
    /// cannot know its key. `text` is the statement.
    pub(crate) fn adjustment(
        &self,
        peers: &dyn Peers,
        text: &str,
        parameters: &[ScalarValue],
    ) -> Result<Option<String>> {
        let Some(operands) = self.key_operands() else { return Ok(None) };
        let Some(parts) = self.key_parts(&operands)? else { return Ok(None) };
        let values: Vec<Operand> = operands.into_iter().cloned().collect();
        let Some(key) = self.key(&values, parameters)? else { return Ok(None) };
        let Whereabouts { entries, servers } = peers.whereabouts(&self.table, &key);
        if entries.is_empty() {
            return Ok(None);
        }
        let servers: Vec<Value> =
            servers.into_iter().map(|(group, address)| json!([group.0, address])).collect();
        let entries: Vec<Value> = entries.iter().map(entry).collect();
        let told = json!({
            "here": peers.here().0, "table": self.table.id.0, "statement": text, "key": parts, "entries": entries, "servers": servers,
        });
        Ok(Some(told.to_string()))
    }

    /// What the key's columns are compared with or set to; `None` for more than one row, and for keys that servers make.
    fn key_operands(&self) -> Option<Vec<&Operand>> {
        match &self.action {
            Action::Select { key, .. } | Action::Update { key, .. } | Action::Delete { key } => {
                Some(key.iter().collect())
            }
            Action::Insert { rows, schema, .. } => {
                let [row] = &rows[..] else { return None };
                let operand = |index: usize| {
                    let (at, _) = schema.column_with_name(&self.table.columns[index].name)?;
                    row.get(at)
                };
                self.table.key_indices().into_iter().map(operand).collect()
            }
        }
    }

    /// Each of them as clients make it into bytes; `None` where one has a type that they do not.
    fn key_parts(&self, operands: &[&Operand]) -> Result<Option<Vec<Value>>> {
        let mut parts = Vec::with_capacity(operands.len());
        for (operand, index) in operands.iter().zip(self.table.key_indices()) {
            let sql_type = &self.table.columns[index].sql_type;
            let Some(name) = type_of(sql_type) else { return Ok(None) };
            parts.push(match operand {
                Operand::Parameter(number) => json!({ "parameter": number, "type": name }),
                Operand::Constant(value) => {
                    let array = super::one_value(value, &sql_type.arrow())?;
                    match store::key::encode_columns(&[array])?.pop() {
                        Some(key) => json!({ "bytes": key.to_string() }),
                        None => return Ok(None),
                    }
                }
            });
        }
        Ok(Some(parts))
    }
}

/// How a parameter of a type becomes bytes, by PostgreSQL's name of that type; `None` for those that clients do not know.
fn type_of(sql_type: &SqlType) -> Option<&'static str> {
    Some(match sql_type {
        SqlType::Boolean => "bool",
        SqlType::SmallInt => "int2",
        SqlType::Integer => "int4",
        SqlType::BigInt => "int8",
        SqlType::Real => "float4",
        SqlType::Double => "float8",
        SqlType::Text | SqlType::Varchar(_) => "text",
        SqlType::Bytea => "bytea",
        SqlType::Date => "date",
        SqlType::Time => "time",
        SqlType::Timestamp | SqlType::TimestampTz => "timestamp",
        _ => return None,
    })
}

/// `[low, high, epoch, group]`: keys as hexadecimal digits, null for an infinity.
fn entry(entry: &Entry) -> Value {
    let bound = |bound: &Bound| match bound {
        Bound::At(key) => Value::from(Key::to_string(key)),
        Bound::NegInf | Bound::PosInf => Value::Null,
    };
    let (range, owner) = (&entry.range, entry.owner);
    json!([bound(&range.low), bound(&range.high), owner.epoch.0, owner.group.0])
}
