//! Functions on batches, which are Arrow IPC streams in linear memory.

use super::columns::{received, sent};
use super::instance::Program;
use super::module::{ALLOCATE, MEMORY};
use crate::definition::Definition;
use crate::failure::{out_of_memory, raised};
use crate::signature::{Parameter, Returns};
use bytes::Bytes;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{Field, Int32Type, Schema};
use datafusion::arrow::error::ArrowError;
use std::sync::Arc;
use store::catalog::{SqlType, ipc};
use values::assign::{Excess, fit, input};
use values::error::{Error, Result};
use values::style::Style;
use wasmtime::{Memory, Module};

/// The values for rows.
pub(super) fn call(
    definition: &Definition,
    module: &Module,
    arguments: &[ArrayRef],
    rows: usize,
) -> Result<ArrayRef> {
    let stream = stream(definition, arguments, rows)?;
    let returned = exchange(definition, module, &stream)?;
    column(definition, returned, rows)
}

/// The arguments as a stream.
fn stream(definition: &Definition, arguments: &[ArrayRef], rows: usize) -> Result<Vec<u8>> {
    let parameters = &definition.signature.parameters;
    let arguments = arguments.iter().zip(parameters);
    let arguments = arguments.map(|(argument, of)| sent(argument, &of.sql_type));
    let arguments = arguments.collect::<Result<Vec<_>>>()?;
    let fields =
        parameters.iter().enumerate().zip(&arguments).map(|((at, parameter), argument)| {
            let name = match parameter.name.as_str() {
                "" => format!("${}", at + 1),
                name => name.to_owned(),
            };
            Field::new(name, argument.data_type().clone(), true)
        });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arguments, &options)?;
    Ok(ipc::write(&schema, &[batch])?)
}

/// Gives a stream to the module, and takes the one that it returns.
fn exchange(definition: &Definition, module: &Module, stream: &[u8]) -> Result<Vec<u8>> {
    let limit = definition.limits.memory;
    let length = i32::try_from(stream.len());
    let length = length.map_err(|_| out_of_memory(&definition.name, limit))?;
    let mut program = Program::start(definition, module)?;
    let allocate = program.export::<i32, i32>(ALLOCATE)?;
    let function = program.export::<(i32, i32), i64>(&definition.symbol)?;
    let Some(memory) = program.instance.get_memory(&mut program.store, MEMORY) else {
        return Err(raised(definition, "the module has lost its memory"));
    };
    let address = program.call(&allocate, length)?;
    match range(&memory, &program, address as u32, length as u32) {
        Some(range) => memory.data_mut(&mut program.store)[range].copy_from_slice(stream),
        None => {
            let what = format!("{ALLOCATE} returned an address outside of the memory");
            return Err(raised(definition, &what));
        }
    }
    let packed = program.call(&function, (address, length))? as u64;
    let (address, length) = ((packed >> 32) as u32, packed as u32);
    if length as usize > definition.limits.output {
        return Err(out_of_memory(&definition.name, definition.limits.output));
    }
    match range(&memory, &program, address, length) {
        Some(range) => Ok(memory.data(&program.store)[range].to_vec()),
        None => Err(raised(definition, "it returned a range outside of its memory")),
    }
}

/// A range of memory. `None` if it is not within it.
fn range(
    memory: &Memory,
    program: &Program<'_>,
    address: u32,
    length: u32,
) -> Option<std::ops::Range<usize>> {
    let start = address as usize;
    let end = start.checked_add(length as usize)?;
    (end <= memory.data_size(&program.store)).then_some(start..end)
}

/// The column in a stream. Sets have the number of the row of arguments that they are for in front of their columns.
fn column(definition: &Definition, stream: Vec<u8>, rows: usize) -> Result<ArrayRef> {
    let returns = &definition.signature.returns;
    let width = match returns.is_void() {
        true => 1,
        false => returns.columns.len() + usize::from(returns.is_set),
    };
    let has_all = |schema: &Schema| match schema.fields().len() {
        count if count == width => Ok(Arc::new(schema.clone())),
        count => {
            Err(Refused(raised(definition, &format!("it returned {count} columns, not {width}"))))
        }
    };
    let (schema, batches) = ipc::read(Bytes::from(stream), has_all).map_err(|Refused(error)| {
        match error.message().contains("malformed bytes") {
            true => raised(definition, "it did not return an Arrow IPC stream"),
            false => error,
        }
    })?;
    let batch = concat_batches(&schema, &batches)?;
    let (returned, mut columns) = (batch.num_rows(), batch.columns().iter());
    let lengths = match columns.as_slice().first().filter(|_| returns.is_set) {
        Some(numbers) => {
            columns.next();
            lengths(definition, numbers, rows)?
        }
        None if returned == rows => Vec::new(),
        None => {
            let what = format!("it returned {returned} rows for {rows}");
            return Err(raised(definition, &what));
        }
    };
    if returns.is_void() {
        return Ok(Returns::nothing(rows));
    }
    let typed = |(column, to): (&ArrayRef, &Parameter)| typed(definition, column, &to.sql_type);
    let columns = columns.zip(&returns.columns).map(typed).collect::<Result<_>>()?;
    returns.assembled(columns, &lengths, None)
}

/// The lengths of the sets for `rows` rows of arguments, whose numbers stand in front of each row of a set.
fn lengths(definition: &Definition, numbers: &ArrayRef, rows: usize) -> Result<Vec<usize>> {
    let Some(numbers) = numbers.as_primitive_opt::<Int32Type>().filter(|all| all.null_count() == 0)
    else {
        return Err(raised(
            definition,
            "the first column of its set has no row numbers of type int32",
        ));
    };
    let mut lengths = vec![0; rows];
    let mut last = 0;
    for number in numbers.values() {
        let place = lengths.get_mut(*number as usize).filter(|_| *number >= last);
        let Some(length) = place else {
            let what = format!("its set has the row number {number} behind {last}, of {rows} rows");
            return Err(raised(definition, &what));
        };
        *length += 1;
        last = *number;
    }
    Ok(lengths)
}

/// Converts a column to the declared type.
fn typed(definition: &Definition, column: &ArrayRef, to: &SqlType) -> Result<ArrayRef> {
    let column = received(definition, column, to)?;
    let typed =
        input(&column, to, Style::default()).and_then(|column| fit(column, to, Excess::Refuse))?;
    if *typed.data_type() != to.arrow() {
        let what = format!("it returned a column of {}", column.data_type());
        return Err(raised(definition, &what));
    }
    Ok(typed)
}

/// An error of a stream.
struct Refused(Error);

impl From<ArrowError> for Refused {
    fn from(error: ArrowError) -> Self {
        Self(error.into())
    }
}
