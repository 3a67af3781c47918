//! Compiled modules, and the forms of their exports.

use super::engine::engine;
use crate::definition::{Definition, Version};
use crate::failure::invalid;
use parking_lot::Mutex;
use std::collections::VecDeque;
use store::catalog::SqlType;
use values::error::Result;
use wasmtime::{ExternType, FuncType, Module, ValType};

/// The name of the function by which a module gives memory for a batch.
pub(super) const ALLOCATE: &str = "pando_alloc";

/// The name of the memory of a module.
pub(super) const MEMORY: &str = "memory";

/// How many compiled modules are kept.
const KEPT_MAX: usize = 64;

/// The modules that were used last, the latest in front.
static KEPT: Mutex<VecDeque<(Version, Module)>> = Mutex::new(VecDeque::new());

/// How an export is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// For each row.
    Plain,
    /// Once a batch.
    Batch,
}

/// The module of some bytes.
///
/// # Errors
/// 42P13: it is malformed, or has imports.
pub(super) fn compiled(bytes: &[u8], digest: Version) -> Result<Module> {
    if let Some(kept) = kept(digest) {
        return Ok(kept);
    }
    let module = Module::new(engine()?, bytes).map_err(|error| {
        let detail = error.root_cause().to_string();
        invalid("the source is no WebAssembly module that can be run").with_detail(detail)
    })?;
    if let Some(import) = module.imports().next() {
        let message = format!("the module imports {}.{}", import.module(), import.name());
        return Err(invalid(message).with_hint("Functions cannot import anything."));
    }
    let mut all = KEPT.lock();
    all.push_front((digest, module.clone()));
    all.truncate(KEPT_MAX);
    Ok(module)
}

fn kept(digest: Version) -> Option<Module> {
    let mut all = KEPT.lock();
    let at = all.iter().position(|(known, _)| *known == digest)?;
    let kept = all.remove(at)?;
    let module = kept.1.clone();
    all.push_front(kept);
    Some(module)
}

/// Whether a module has neither memory, tables and globals nor a start, so that a call leaves nothing for the next one.
pub(super) fn keeps_nothing(bytes: &[u8]) -> bool {
    const KEEPING: [u8; 4] = [4, 5, 6, 8];
    let Some(mut rest) = bytes.strip_prefix(b"\0asm").and_then(|rest| rest.get(4..)) else {
        return false;
    };
    while let [section, after @ ..] = rest {
        let known = length(after).filter(|_| !KEEPING.contains(section));
        let Some((length, content)) = known else { return false };
        rest = content.get(length..).unwrap_or_default();
    }
    true
}

/// A length in LEB128, and what is behind it.
fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let last = bytes.iter().take(5).position(|byte| byte & 0x80 == 0)?;
    let digits = bytes[..=last].iter().rev();
    let length = digits.fold(0, |length, byte| length << 7 | usize::from(byte & 0x7f));
    Some((length, &bytes[last + 1..]))
}

/// How the export of a definition is called.
///
/// # Errors
/// 42P13: there is none, or it does not fit the signature.
pub(super) fn form(definition: &Definition, module: &Module) -> Result<Form> {
    let symbol = &definition.symbol;
    let function = match module.get_export(symbol) {
        Some(ExternType::Func(function)) => function,
        Some(_) => return Err(invalid(format!("the module's export \"{symbol}\" is no function"))),
        None => {
            let exports: Vec<&str> = module.exports().map(|export| export.name()).collect();
            let message = format!("the module does not export \"{symbol}\"");
            return Err(invalid(message)
                .with_detail(format!("It exports: {}.", exports.join(", ")))
                .with_hint("A second string after AS names the export."));
        }
    };
    let is_batch = is_of(&function, &[ValType::I32, ValType::I32], &ValType::I64);
    if is_batch && module.get_export(ALLOCATE).is_some() {
        require_batch_exports(module)?;
        return Ok(Form::Batch);
    }
    require_plain(definition, &function)?;
    Ok(Form::Plain)
}

fn require_batch_exports(module: &Module) -> Result<()> {
    match module.get_export(ALLOCATE) {
        Some(ExternType::Func(allocate)) if is_of(&allocate, &[ValType::I32], &ValType::I32) => {}
        _ => return Err(invalid(format!("the module's {ALLOCATE} is no function (i32) -> i32"))),
    }
    match module.get_export(MEMORY) {
        Some(ExternType::Memory(_)) => Ok(()),
        _ => Err(invalid(format!("the module has {ALLOCATE}, but does not export \"{MEMORY}\""))),
    }
}

fn require_plain(definition: &Definition, function: &FuncType) -> Result<()> {
    let signature = &definition.signature;
    let parameters = signature.parameters.iter().map(|parameter| &parameter.sql_type);
    let plain: Option<Vec<ValType>> = parameters.map(plain_type).collect();
    let result = signature.returns.plain().and_then(plain_type);
    let fits = match (&plain, &result) {
        (Some(parameters), Some(result)) => is_of(function, parameters, result),
        _ => false,
    };
    if !fits {
        let wanted = match (plain, result) {
            (Some(parameters), Some(result)) => {
                format!("The SQL types need {}, or ", shown(&parameters, &[result]))
            }
            _ => String::from("The SQL types need "),
        };
        let have =
            shown(&function.params().collect::<Vec<_>>(), &function.results().collect::<Vec<_>>());
        let message = format!("the module's \"{}\" is {have}", definition.symbol);
        return Err(invalid(message).with_detail(format!(
            "{wanted}(i32, i32) -> i64 besides {ALLOCATE} for batches of rows."
        )));
    }
    if !signature.is_strict && !signature.parameters.is_empty() {
        let message = "a WebAssembly function of plain numbers must be STRICT";
        return Err(invalid(message).with_detail("Its parameters cannot be NULL."));
    }
    Ok(())
}

/// The type of values of a SQL type. `None` if there is none.
fn plain_type(of: &SqlType) -> Option<ValType> {
    Some(match of {
        SqlType::Boolean | SqlType::SmallInt | SqlType::Integer => ValType::I32,
        SqlType::BigInt => ValType::I64,
        SqlType::Real => ValType::F32,
        SqlType::Double => ValType::F64,
        _ => return None,
    })
}

fn is_of(function: &FuncType, parameters: &[ValType], result: &ValType) -> bool {
    let same = |(of, wanted): (ValType, &ValType)| ValType::eq(&of, wanted);
    function.params().len() == parameters.len()
        && function.results().len() == 1
        && function.params().zip(parameters).all(same)
        && function.results().zip([result]).all(same)
}

fn shown(parameters: &[ValType], results: &[ValType]) -> String {
    let list =
        |types: &[ValType]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match results {
        [one] => format!("({}) -> {one}", list(parameters)),
        all => format!("({}) -> ({})", list(parameters), list(all)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_that_keep_something_are_told_from_others() {
        let keeps_nothing = |text: &str| keeps_nothing(&wat::parse_str(text).expect("a module"));
        let function = "(func (export \"f\") (param i64) (result i64) (local.get 0))";
        assert!(keeps_nothing(&format!("(module {function})")));
        for part in [
            "(memory 1)",
            "(global (mut i64) (i64.const 0))",
            "(table 1 funcref)",
            "(func $s) (start $s)",
        ] {
            assert!(!keeps_nothing(&format!("(module {part} {function})")), "{part}");
        }
        assert!(!super::keeps_nothing(b"no module"));
    }
}
