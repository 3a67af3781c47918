//! Functions of plain numbers, called for each row.

use super::engine::Running;
use super::instance::{Program, Taken, failed};
use super::module::MEMORY;
use super::rows::{self, Number, PAGE, ROWS, RUN};
use crate::definition::{Definition, Version};
use crate::failure::raised;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float32Array, Float64Array, Int16Array, Int32Array,
    Int64Array,
};
use datafusion::arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
};
use parking_lot::Mutex;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};
use wasmtime::{Memory, Module, Store, TypedFunc};

/// A program that is called for rows.
struct Ready {
    store: Store<Taken>,
    /// Calls the function for a number of rows.
    run: TypedFunc<i32, ()>,
    memory: Memory,
}

/// Programs of modules that keep nothing from one call to the next, the latest last.
static READY: Mutex<Vec<(Version, Ready)>> = Mutex::new(Vec::new());

/// How many programs are kept.
const READY_MAX: usize = 32;

/// The values for rows that have all arguments. A program of a module that keeps nothing is used again.
pub(super) fn call(
    definition: &Definition,
    (module, keeps_nothing): (&Module, bool),
    arguments: &[ArrayRef],
    rows: usize,
) -> Result<ArrayRef> {
    let none = || raised(definition, "a type is no plain number");
    let signature = &definition.signature;
    let result = signature.returns.plain().and_then(Number::of).ok_or_else(none)?;
    let kept = if keeps_nothing { taken(definition.version()) } else { None };
    let (mut ready, _running) = match kept {
        Some(ready) => (ready, Running::begin()),
        None => {
            let numbers = signature.parameters.iter();
            let numbers = numbers.map(|parameter| Number::of(&parameter.sql_type));
            let numbers = numbers.collect::<Option<Vec<_>>>().ok_or_else(none)?;
            started(definition, module, &rows::module(numbers, result)?)?
        }
    };
    let bytes = results(definition, &mut ready, (arguments, rows), result)?;
    if keeps_nothing {
        let mut all = READY.lock();
        if all.len() < READY_MAX {
            all.push((definition.version(), ready));
        } else {
            all[0] = (definition.version(), ready);
            all.rotate_left(1);
        }
    }
    column(result, &bytes)
}

/// A program that is kept.
fn taken(version: Version) -> Option<Ready> {
    let mut all = READY.lock();
    let at = all.iter().rposition(|(known, _)| *known == version)?;
    let (_, mut ready) = all.remove(at);
    ready.store.set_epoch_deadline(1);
    Some(ready)
}

/// A new program of a module, with the module that calls its function for rows.
fn started(definition: &Definition, module: &Module, looped: &Module) -> Result<(Ready, Running)> {
    let mut program = Program::start(definition, module)?;
    let Some(function) = program.instance.get_func(&mut program.store, &definition.symbol) else {
        return Err(raised(definition, "the module has lost its export"));
    };
    let looped = program.start_ours(looped, function)?;
    let run = looped.get_typed_func(&mut program.store, RUN);
    let run = run.map_err(|error| failed(definition, &error))?;
    let Some(memory) = looped.get_memory(&mut program.store, MEMORY) else {
        return Err(raised(definition, "the module of the loop has no memory"));
    };
    let Program { store, running, .. } = program;
    Ok((Ready { store, run, memory }, running))
}

/// What the function returns for the rows, as it is in memory.
fn results(
    definition: &Definition,
    ready: &mut Ready,
    (arguments, rows): (&[ArrayRef], usize),
    result: Number,
) -> Result<Vec<u8>> {
    let Ready { store, run, memory } = ready;
    let width = usize::from(result.result_bytes());
    let mut results = Vec::with_capacity(rows * width);
    for first in (0..rows).step_by(ROWS) {
        let count = ROWS.min(rows - first);
        let pages = memory.data_mut(&mut *store).chunks_exact_mut(PAGE);
        for (page, argument) in pages.zip(arguments) {
            put(definition, &argument.slice(first, count), page)?;
        }
        run.call(&mut *store, count as i32).map_err(|error| failed(definition, &error))?;
        let page = arguments.len() * PAGE;
        results.extend_from_slice(&memory.data(&*store)[page..page + count * width]);
    }
    Ok(results)
}

/// Puts the values of an argument into a page.
fn put(definition: &Definition, argument: &ArrayRef, page: &mut [u8]) -> Result<()> {
    match argument.data_type() {
        DataType::Boolean => {
            let truths = argument.as_boolean().values().iter();
            page.iter_mut().zip(truths).for_each(|(to, truth)| *to = truth.into());
        }
        DataType::Int16 => {
            let values = argument.as_primitive::<Int16Type>().values().iter();
            put_all(page, values.map(|value| value.to_le_bytes()));
        }
        DataType::Int32 => {
            let values = argument.as_primitive::<Int32Type>().values().iter();
            put_all(page, values.map(|value| value.to_le_bytes()));
        }
        DataType::Int64 => {
            let values = argument.as_primitive::<Int64Type>().values().iter();
            put_all(page, values.map(|value| value.to_le_bytes()));
        }
        DataType::Float32 => {
            let values = argument.as_primitive::<Float32Type>().values().iter();
            put_all(page, values.map(|value| value.to_le_bytes()));
        }
        DataType::Float64 => {
            let values = argument.as_primitive::<Float64Type>().values().iter();
            put_all(page, values.map(|value| value.to_le_bytes()));
        }
        _ => return Err(raised(definition, "an argument is no plain number")),
    }
    Ok(())
}

fn put_all<const N: usize>(page: &mut [u8], values: impl Iterator<Item = [u8; N]>) {
    page.chunks_exact_mut(N).zip(values).for_each(|(to, value)| to.copy_from_slice(&value));
}

/// The column of what the function has returned, as it is in memory.
fn column(result: Number, bytes: &[u8]) -> Result<ArrayRef> {
    Ok(match result {
        Number::Truth => {
            let truths = of_four(bytes).map(|value| i32::from_le_bytes(value) != 0);
            Arc::new(BooleanArray::from(truths.collect::<Vec<_>>()))
        }
        Number::Short => {
            let beyond = |_| Error::new(SqlState::NumericValueOutOfRange, "smallint out of range");
            let shorts = of_four(bytes).map(i32::from_le_bytes);
            let shorts = shorts.map(|value| i16::try_from(value).map_err(beyond));
            Arc::new(Int16Array::from(shorts.collect::<Result<Vec<_>>>()?))
        }
        Number::Int => {
            Arc::new(Int32Array::from_iter_values(of_four(bytes).map(i32::from_le_bytes)))
        }
        Number::Long => {
            Arc::new(Int64Array::from_iter_values(of_eight(bytes).map(i64::from_le_bytes)))
        }
        Number::Real => {
            Arc::new(Float32Array::from_iter_values(of_four(bytes).map(f32::from_le_bytes)))
        }
        Number::Double => {
            Arc::new(Float64Array::from_iter_values(of_eight(bytes).map(f64::from_le_bytes)))
        }
    })
}

fn of_four(bytes: &[u8]) -> impl Iterator<Item = [u8; 4]> {
    bytes.as_chunks().0.iter().copied()
}

fn of_eight(bytes: &[u8]) -> impl Iterator<Item = [u8; 8]> {
    bytes.as_chunks().0.iter().copied()
}
