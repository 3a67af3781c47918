//! Calls of a function of plain numbers for many rows at once: entering a module takes longer than a small function.
//!
//! A module of ours imports the function and calls it in a loop. Its memory has a page for each argument and one for the
//! results, with a number for each of [`ROWS`] rows.

use super::engine::engine;
use parking_lot::Mutex;
use std::collections::HashMap;
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};
use wasmtime::Module;

/// The rows of one call.
pub(super) const ROWS: usize = 8192;

/// The bytes of a page.
pub(super) const PAGE: usize = 64 << 10;

/// The name of the function that calls the function for a number of rows.
pub(super) const RUN: &str = "run";

/// How a number is held in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Number {
    Truth,
    Short,
    Int,
    Long,
    Real,
    Double,
}

/// The types of the arguments and of the result.
type Form = (Vec<Number>, Number);

/// The modules for the forms that were used.
static MADE: Mutex<Option<HashMap<Form, Module>>> = Mutex::new(None);

/// How many modules are kept.
const KEPT_MAX: usize = 64;

impl Number {
    /// The numbers of a SQL type. `None` if its values are no plain numbers.
    pub(super) fn of(sql_type: &SqlType) -> Option<Self> {
        Some(match sql_type {
            SqlType::Boolean => Self::Truth,
            SqlType::SmallInt => Self::Short,
            SqlType::Integer => Self::Int,
            SqlType::BigInt => Self::Long,
            SqlType::Real => Self::Real,
            SqlType::Double => Self::Double,
            _ => return None,
        })
    }

    /// The bytes of an argument.
    fn bytes(self) -> u8 {
        match self {
            Self::Truth => 1,
            Self::Short => 2,
            Self::Int | Self::Real => 4,
            Self::Long | Self::Double => 8,
        }
    }

    /// The bytes of a result.
    pub(super) fn result_bytes(self) -> u8 {
        self.bytes().max(4)
    }

    /// The type in a module.
    fn value_type(self) -> u8 {
        match self {
            Self::Truth | Self::Short | Self::Int => 0x7f,
            Self::Long => 0x7e,
            Self::Real => 0x7d,
            Self::Double => 0x7c,
        }
    }

    /// The instruction that loads an argument.
    fn load(self) -> u8 {
        match self {
            Self::Truth => 0x2d,
            Self::Short => 0x2e,
            Self::Int => 0x28,
            Self::Long => 0x29,
            Self::Real => 0x2a,
            Self::Double => 0x2b,
        }
    }

    /// The instruction that stores a result.
    fn store(self) -> u8 {
        match self {
            Self::Truth | Self::Short | Self::Int => 0x36,
            Self::Long => 0x37,
            Self::Real => 0x38,
            Self::Double => 0x39,
        }
    }
}

/// The module that calls functions of a form.
///
/// # Errors
/// XX000: WebAssembly cannot run on this machine.
pub(super) fn module(arguments: Vec<Number>, result: Number) -> Result<Module> {
    let form = (arguments, result);
    let mut made = MADE.lock();
    let made = made.get_or_insert_default();
    if let Some(module) = made.get(&form) {
        return Ok(module.clone());
    }
    let module = Module::new(engine()?, written(&form.0, form.1)).map_err(|error| {
        let message = format!("a module of the server is none: {error}");
        Error::new(SqlState::InternalError, message)
    })?;
    if made.len() >= KEPT_MAX {
        made.clear();
    }
    made.insert(form, module.clone());
    Ok(module)
}

/// The bytes of the module.
fn written(arguments: &[Number], result: Number) -> Vec<u8> {
    let mut bytes = b"\0asm\x01\0\0\0".to_vec();
    let mut types = vec![2, 0x60];
    put(arguments.len(), &mut types);
    types.extend(arguments.iter().map(|argument| argument.value_type()));
    types.extend([1, result.value_type(), 0x60, 1, 0x7f, 0]);
    section(1, &types, &mut bytes);
    // The import, which is function 0, and the function `run`.
    section(2, &[1, 0, 0, 0, 0], &mut bytes);
    section(3, &[1, 1], &mut bytes);
    let mut memory = vec![1, 0];
    put(arguments.len() + 1, &mut memory);
    section(5, &memory, &mut bytes);
    let mut exports = vec![2];
    for (name, kind, at) in [(RUN, 0, 1), (super::module::MEMORY, 2, 0)] {
        put(name.len(), &mut exports);
        exports.extend(name.bytes());
        exports.extend([kind, at]);
    }
    section(7, &exports, &mut bytes);
    let body = body(arguments, result);
    let mut code = vec![1];
    put(body.len(), &mut code);
    code.extend(body);
    section(10, &code, &mut bytes);
    bytes
}

/// The code of `run`: its parameter is the number of rows, and its variable the row.
fn body(arguments: &[Number], result: Number) -> Vec<u8> {
    // `block; if there are no rows, leave; loop`
    let mut code = vec![1, 1, 0x7f, 0x02, 0x40, 0x20, 0, 0x45, 0x0d, 0, 0x03, 0x40];
    // The row's place, in bytes.
    let place = |bytes: u8| [0x20, 1, 0x41, bytes, 0x6c];
    code.extend(place(result.result_bytes()));
    for (at, argument) in arguments.iter().enumerate() {
        code.extend(place(argument.bytes()));
        code.extend([argument.load(), 0]);
        put(at * PAGE, &mut code);
    }
    code.extend([0x10, 0, result.store(), 0]);
    put(arguments.len() * PAGE, &mut code);
    // `row += 1; if row < rows, again; end; end; end`
    code.extend([0x20, 1, 0x41, 1, 0x6a, 0x22, 1, 0x20, 0, 0x49, 0x0d, 0, 0x0b, 0x0b, 0x0b]);
    code
}

/// Appends a section.
fn section(number: u8, content: &[u8], bytes: &mut Vec<u8>) {
    bytes.push(number);
    put(content.len(), bytes);
    bytes.extend(content);
}

/// Appends a number in LEB128.
fn put(mut number: usize, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_all_forms_are_valid() {
        use Number::{Double, Int, Long, Real, Short, Truth};
        let all = [Truth, Short, Int, Long, Real, Double];
        for result in all {
            module(Vec::new(), result).expect("a module");
            module(all.to_vec(), result).expect("a module");
        }
        module(vec![Int; 100], Long).expect("a module");
    }
}
