//! Functions of plain numbers, called for each row.

use super::engine::Running;
use super::instance::{Program, Taken, failed};
use super::module::MEMORY;
use super::rows::{self, Number, PAGE, ROWS, RUN};
use crate::definition::{Definition, Version};
use crate::failure::raised;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int16Array, PrimitiveArray,
};
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
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
        DataType::Int16 => put_numbers::<Int16Type, _>(argument, page, i16::to_le_bytes),
        DataType::Int32 => put_numbers::<Int32Type, _>(argument, page, i32::to_le_bytes),
        DataType::Int64 => put_numbers::<Int64Type, _>(argument, page, i64::to_le_bytes),
        DataType::Float32 => put_numbers::<Float32Type, _>(argument, page, f32::to_le_bytes),
        DataType::Float64 => put_numbers::<Float64Type, _>(argument, page, f64::to_le_bytes),
        _ => return Err(raised(definition, "an argument is no plain number")),
    }
    Ok(())
}

/// Puts numbers into a page, one after the other.
fn put_numbers<T: ArrowPrimitiveType, const BYTES: usize>(
    argument: &ArrayRef,
    page: &mut [u8],
    bytes_of: impl Fn(T::Native) -> [u8; BYTES],
) {
    let numbers = argument.as_primitive::<T>().values().iter();
    let places = page.chunks_exact_mut(BYTES);
    places.zip(numbers).for_each(|(to, number)| to.copy_from_slice(&bytes_of(*number)));
}

/// The column of what the function has returned, as it is in memory.
fn column(result: Number, bytes: &[u8]) -> Result<ArrayRef> {
    Ok(match result {
        Number::Truth => {
            let truths = read(bytes, i32::from_le_bytes).map(|value| value != 0);
            Arc::new(BooleanArray::from(truths.collect::<Vec<_>>()))
        }
        Number::Short => {
            let beyond = |_| Error::new(SqlState::NumericValueOutOfRange, "smallint out of range");
            let shorts = read(bytes, i32::from_le_bytes);
            let shorts = shorts.map(|value| i16::try_from(value).map_err(beyond));
            Arc::new(Int16Array::from(shorts.collect::<Result<Vec<_>>>()?))
        }
        Number::Int => numbers::<Int32Type, _>(bytes, i32::from_le_bytes),
        Number::Long => numbers::<Int64Type, _>(bytes, i64::from_le_bytes),
        Number::Real => numbers::<Float32Type, _>(bytes, f32::from_le_bytes),
        Number::Double => numbers::<Float64Type, _>(bytes, f64::from_le_bytes),
    })
}

/// The column of numbers in memory.
fn numbers<T: ArrowPrimitiveType, const BYTES: usize>(
    bytes: &[u8],
    number_of: impl Fn([u8; BYTES]) -> T::Native,
) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter_values(read(bytes, number_of)))
}

/// The numbers in memory, one after the other.
fn read<N, const BYTES: usize>(
    bytes: &[u8],
    number_of: impl Fn([u8; BYTES]) -> N,
) -> impl Iterator<Item = N> {
    bytes.as_chunks().0.iter().map(move |number| number_of(*number))
}
