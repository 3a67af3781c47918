//! Image adjustments for clients that have an image: how to compute the key of a statement, and the
//! owners of the keys around it (A2: a misdirected request is answered with an adjustment).
//!
//! `SET pando.adjustments = on` enables them. An adjustment is the detail of a notice, as JSON;
//! `docs/DIRECTORY.md` describes the fields.

use super::{Action, Short};
use datafusion::common::ScalarValue;
use keyed::{Operand, one_value};
use sdds::directory::Entry;
use sdds::{Bound, Key};
use serde_json::{Value, json};
use store::catalog::SqlType;
use store::{Knowledge, Whereabouts};
use values::error::Result;

impl Short {
    /// The adjustment for a client that has sent this statement to this server; `None` if the row
    /// is local, or if clients cannot compute its key. `text` is the text of the statement.
    pub(crate) fn adjustment(
        &self,
        knowledge: &dyn Knowledge,
        text: &str,
        parameters: &[ScalarValue],
    ) -> Result<Option<String>> {
        let Some(operands) = self.key_operands().filter(|_| self.computed.is_none()) else {
            return Ok(None);
        };
        let Some(parts) = self.key_parts(&operands)? else { return Ok(None) };
        let values: Vec<Operand> = operands.into_iter().cloned().collect();
        let Some(key) = keyed::point(&self.table, &values, parameters)? else { return Ok(None) };
        let Whereabouts { entries, servers } = knowledge.whereabouts(&self.table, &key);
        if entries.is_empty() {
            return Ok(None);
        }
        let servers: Vec<Value> =
            servers.into_iter().map(|(group, address)| json!([group.0, address])).collect();
        let entries: Vec<Value> = entries.iter().map(entry).collect();
        let adjustment = json!({
            "here": knowledge.group_of(knowledge.here()).0,
            "table": self.table.id.0,
            "statement": text,
            "key": parts,
            "entries": entries,
            "servers": servers,
        });
        Ok(Some(adjustment.to_string()))
    }

    /// The operands of the key columns; `None` for several rows, and for keys with defaults.
    fn key_operands(&self) -> Option<Vec<&Operand>> {
        match &self.action {
            Action::Select { read, .. } => Some(read.point()?.iter().collect()),
            Action::Update { chosen, .. } | Action::Delete(chosen) => {
                Some(chosen.key()?.iter().collect())
            }
            Action::Insert(insertion) => insertion.key(&self.table),
            Action::Join(..) | Action::Lock { .. } => None,
        }
    }

    /// How clients encode each operand; `None` if clients cannot encode one of the types.
    fn key_parts(&self, operands: &[&Operand]) -> Result<Option<Vec<Value>>> {
        let mut parts = Vec::with_capacity(operands.len());
        for (operand, index) in operands.iter().zip(self.table.key_indices()) {
            let sql_type = &self.table.columns[index].sql_type;
            let Some(name) = type_of(sql_type) else { return Ok(None) };
            parts.push(match operand {
                Operand::Parameter(number) => json!({ "parameter": number, "type": name }),
                Operand::Cast(..) => return Ok(None),
                Operand::Constant(value) => {
                    let array = one_value(value, &sql_type.arrow())?;
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

/// The PostgreSQL name of a type that clients can encode; `None` for other types.
fn type_of(sql_type: &SqlType) -> Option<&'static str> {
    Some(match sql_type.imprecise() {
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

/// A directory entry as `[low, high, epoch, group]`. Keys are hexadecimal; null is infinity.
fn entry(entry: &Entry) -> Value {
    let bound = |bound: &Bound| match bound {
        Bound::At(key) => Value::from(Key::to_string(key)),
        Bound::NegInf | Bound::PosInf => Value::Null,
    };
    let (range, owner) = (&entry.range, entry.owner);
    json!([bound(&range.low), bound(&range.high), owner.epoch.0, owner.group.0])
}
