//! Encoding a statement's parameters as a key: the bytes by which servers order rows.

use bytes::BytesMut;
use sdds::encoding;
use serde::Deserialize;
use tokio_postgres::types::{IsNull, ToSql, Type};

/// Days from 1970, the servers' epoch, to 2000, the epoch of PostgreSQL's messages.
const DAYS_TO_2000: i32 = 10_957;

/// The same in microseconds.
const MICROS_TO_2000: i64 = DAYS_TO_2000 as i64 * 86_400_000_000;

/// One column of a statement's key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum KeyPart {
    /// A parameter's value.
    Parameter {
        /// The parameter's index, from 0.
        parameter: usize,
        /// The type of the column.
        #[serde(rename = "type")]
        kind: Kind,
    },
    /// A constant.
    Constant {
        /// The encoded value, in hexadecimal digits.
        bytes: Digits,
    },
}

/// The column types that are supported in keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Text,
    Bytea,
    Date,
    Time,
    Timestamp,
}

/// Bytes written as hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Digits(pub(crate) Vec<u8>);

impl TryFrom<String> for Digits {
    type Error = String;

    fn try_from(digits: String) -> Result<Self, String> {
        let pair = |pair: &[u8]| {
            let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
            u8::from_str_radix(pair, 16).ok()
        };
        let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(pair).collect();
        bytes.map(Self).ok_or_else(|| format!("{digits:?} are no hexadecimal digits"))
    }
}

impl KeyPart {
    /// Appends the encoded value to `out`; `None` for NULL, and for a value that the column cannot
    /// store.
    pub(crate) fn encode(
        &self,
        parameters: &[&(dyn ToSql + Sync)],
        types: &[Type],
        out: &mut Vec<u8>,
    ) -> Option<()> {
        match self {
            Self::Constant { bytes } => out.extend_from_slice(&bytes.0),
            Self::Parameter { parameter, kind } => {
                let (value, data_type) = (parameters.get(*parameter)?, types.get(*parameter)?);
                let mut sent = BytesMut::new();
                match value.to_sql_checked(data_type, &mut sent).ok()? {
                    IsNull::Yes => return None,
                    IsNull::No => kind.encode(&sent, out)?,
                }
            }
        }
        Some(())
    }
}

impl Kind {
    /// Encodes a value given in the binary format of PostgreSQL's messages.
    fn encode(self, sent: &[u8], out: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::Bool => encoding::boolean(*sent.first()? != 0, out),
            Self::Int2 => {
                let value = i16::try_from(whole(sent)?).ok()?;
                encoding::integer(&value.to_be_bytes(), out);
            }
            Self::Int4 => {
                let value = i32::try_from(whole(sent)?).ok()?;
                encoding::integer(&value.to_be_bytes(), out);
            }
            Self::Int8 | Self::Time => encoding::integer(&whole(sent)?.to_be_bytes(), out),
            Self::Date => {
                let days = i32::from_be_bytes(sent.try_into().ok()?).checked_add(DAYS_TO_2000)?;
                encoding::integer(&days.to_be_bytes(), out);
            }
            Self::Timestamp => {
                let micros =
                    i64::from_be_bytes(sent.try_into().ok()?).checked_add(MICROS_TO_2000)?;
                encoding::integer(&micros.to_be_bytes(), out);
            }
            Self::Float4 => encoding::float32(f32::from_be_bytes(sent.try_into().ok()?), out),
            Self::Float8 => encoding::float64(f64::from_be_bytes(sent.try_into().ok()?), out),
            Self::Text | Self::Bytea => encoding::bytes(sent, out),
        }
        Some(())
    }
}

/// An integer of two, four or eight bytes.
fn whole(sent: &[u8]) -> Option<i64> {
    Some(match sent.len() {
        2 => i16::from_be_bytes(sent.try_into().ok()?).into(),
        4 => i32::from_be_bytes(sent.try_into().ok()?).into(),
        _ => i64::from_be_bytes(sent.try_into().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    fn form(kind: Kind, value: &(dyn ToSql + Sync), data_type: Type) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let part = KeyPart::Parameter { parameter: 0, kind };
        part.encode(&[value], &[data_type], &mut out).map(|()| out)
    }

    #[test]
    fn parameters_have_the_forms_of_their_columns() {
        assert_eq!(form(Kind::Int4, &7_i32, Type::INT4), Some(vec![0x80, 0, 0, 7]));
        assert_eq!(form(Kind::Int8, &-1_i32, Type::INT4).map(|key| key[0]), Some(0x7f), "widened");
        assert_eq!(form(Kind::Int2, &70_000_i32, Type::INT4), None, "no smallint");
        assert_eq!(form(Kind::Text, &"a", Type::TEXT), Some(vec![b'a', 0, 0]));
        assert_eq!(form(Kind::Bool, &true, Type::BOOL), Some(vec![1]));
        assert_eq!(form(Kind::Int8, &None::<i64>, Type::INT8), None, "a null");
        let later = UNIX_EPOCH + Duration::from_micros(5);
        let expected = vec![0x80, 0, 0, 0, 0, 0, 0, 5];
        assert_eq!(form(Kind::Timestamp, &later, Type::TIMESTAMPTZ), Some(expected));
    }

    #[test]
    fn parts_are_read_as_servers_write_them() {
        let text = r#"[{"parameter": 1, "type": "int8"}, {"bytes": "6100"}]"#;
        let parts: Vec<KeyPart> = serde_json::from_str(text).expect("two parts");
        let bytes = Digits(vec![0x61, 0]);
        let parameter = KeyPart::Parameter { parameter: 1, kind: Kind::Int8 };
        assert_eq!(parts, [parameter, KeyPart::Constant { bytes }]);
        for wrong in [
            r#"[{"bytes": "6"}]"#,
            r#"[{"bytes": "xy"}]"#,
            r#"[{"parameter": 1, "type": "money"}]"#,
        ] {
            assert!(serde_json::from_str::<Vec<KeyPart>>(wrong).is_err(), "{wrong}");
        }
    }
}
