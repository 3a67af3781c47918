//! Values in binary format, as `int8send`, `uuid_send` and their like return them.

use bytes::BytesMut;
use columnar::{Types, function};
use datafusion::arrow::array::{Array, AsArray, BinaryViewBuilder};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use store::catalog::{SqlType, SystemType};
use values::binary::BinaryColumn;
use values::error::{Error, Result};
use values::types::CHAR;

/// The function of a value and of the name that its type has in the catalog.
pub(crate) fn sent() -> ScalarUDF {
    let types: Types = |types| match types {
        [of, _] => Ok((vec![of.clone(), DataType::Utf8View], DataType::BinaryView)),
        _ => Err(Error::unsupported("the binary format of these arguments is not supported")),
    };
    function("binary_format", types, |args| {
        let names = args[1].as_string_view();
        let name = if names.is_empty() { "bytea" } else { names.value(0) };
        let column = BinaryColumn::new(&args[0], &named(name)?, |_| 0)?;
        let mut values = BinaryViewBuilder::with_capacity(args[0].len());
        let mut bytes = BytesMut::new();
        for row in 0..args[0].len() {
            bytes.clear();
            match column.write(row, &mut bytes) {
                true => values.append_value(&bytes),
                false => values.append_null(),
            }
        }
        Ok(Arc::new(values.finish()))
    })
}

/// The type of a name in the catalog.
fn named(name: &str) -> Result<SqlType> {
    Ok(match name {
        "bool" => SqlType::Boolean,
        "int2" => SqlType::SmallInt,
        "int4" => SqlType::Integer,
        "int8" => SqlType::BigInt,
        "float4" => SqlType::Real,
        "float8" => SqlType::Double,
        "numeric" => SqlType::NUMERIC,
        "text" | "varchar" | "bpchar" | "name" => SqlType::Text,
        "bytea" => SqlType::Bytea,
        "json" => SqlType::Json,
        "jsonb" => SqlType::Jsonb,
        "uuid" => SqlType::Uuid,
        "date" => SqlType::Date,
        "time" => SqlType::Time,
        "timestamp" => SqlType::Timestamp,
        "timestamptz" => SqlType::TimestampTz,
        "interval" => SqlType::Interval,
        "char" => CHAR,
        other if let Some(of) = SystemType::of_name(other) => SqlType::System(of),
        _ => {
            let message = format!("the binary format of {name} is not supported");
            return Err(Error::unsupported(message));
        }
    })
}
