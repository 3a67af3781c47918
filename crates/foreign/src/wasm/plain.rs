//! Functions of plain numbers, called for each row.

use super::instance::{Program, failed};
use crate::definition::Definition;
use crate::failure::raised;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float32Array, Float64Array, Int16Array, Int32Array,
    Int64Array,
};
use datafusion::arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
};
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};
use wasmtime::{Module, Val};

/// The values for rows that have all arguments.
pub(super) fn call(
    definition: &Definition,
    module: &Module,
    arguments: &[ArrayRef],
    rows: usize,
) -> Result<ArrayRef> {
    let mut program = Program::start(definition, module)?;
    let Some(function) = program.instance.get_func(&mut program.store, &definition.symbol) else {
        return Err(raised(definition, "the module has lost its export"));
    };
    let mut parameters = vec![Val::I32(0); arguments.len()];
    let mut returned = [Val::I32(0)];
    let mut values = Vec::with_capacity(rows);
    for row in 0..rows {
        for (place, argument) in parameters.iter_mut().zip(arguments) {
            *place = value(definition, argument, row)?;
        }
        let done = function.call(&mut program.store, &parameters, &mut returned);
        done.map_err(|error| failed(definition, &error))?;
        let [value] = returned;
        values.push(value);
    }
    column(definition, &values)
}

/// The value of an argument.
fn value(definition: &Definition, argument: &ArrayRef, row: usize) -> Result<Val> {
    Ok(match argument.data_type() {
        DataType::Boolean => Val::I32(i32::from(argument.as_boolean().value(row))),
        DataType::Int16 => Val::I32(argument.as_primitive::<Int16Type>().value(row).into()),
        DataType::Int32 => Val::I32(argument.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => Val::I64(argument.as_primitive::<Int64Type>().value(row)),
        DataType::Float32 => Val::F32(argument.as_primitive::<Float32Type>().value(row).to_bits()),
        DataType::Float64 => Val::F64(argument.as_primitive::<Float64Type>().value(row).to_bits()),
        _ => return Err(raised(definition, "an argument is no plain number")),
    })
}

/// The column of what the function has returned.
fn column(definition: &Definition, values: &[Val]) -> Result<ArrayRef> {
    let narrow = || values.iter().filter_map(Val::i32);
    let none = || raised(definition, "the result is no plain number");
    Ok(match definition.signature.returns.plain().ok_or_else(none)? {
        SqlType::Boolean => {
            let truths: Vec<bool> = narrow().map(|value| value != 0).collect();
            Arc::new(BooleanArray::from(truths))
        }
        SqlType::SmallInt => {
            let beyond = |_| Error::new(SqlState::NumericValueOutOfRange, "smallint out of range");
            let shorts = narrow().map(|value| i16::try_from(value).map_err(beyond));
            Arc::new(Int16Array::from(shorts.collect::<Result<Vec<_>>>()?))
        }
        SqlType::Integer => Arc::new(Int32Array::from_iter_values(narrow())),
        SqlType::BigInt => {
            Arc::new(Int64Array::from_iter_values(values.iter().filter_map(Val::i64)))
        }
        SqlType::Real => {
            Arc::new(Float32Array::from_iter_values(values.iter().filter_map(Val::f32)))
        }
        SqlType::Double => {
            Arc::new(Float64Array::from_iter_values(values.iter().filter_map(Val::f64)))
        }
        _ => return Err(none()),
    })
}
