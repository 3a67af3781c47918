//! Definitions and calls for tests.

use base64::Engine;
use datafusion::arrow::array::{Array, ArrayRef, Int64Array, RecordBatch};
use executor::Control;
use foreign::{Definition, Language, Parameter, Returns, Signature};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::catalog::{SqlType, Volatility, ipc};
use tokio_util::sync::CancellationToken;
use values::error::{Error, Result};

/// A STRICT function `f` of parameters `a`, `b`, ...
pub(crate) fn defined(
    language: Language,
    source: &str,
    types: &[SqlType],
    returns: Returns,
) -> Result<Definition> {
    let names = ["a", "b", "c", "d"];
    let parameter = |(name, sql_type): (&&str, &SqlType)| Parameter {
        name: (*name).to_owned(),
        sql_type: sql_type.clone(),
    };
    let parameters = names.iter().zip(types).map(parameter).collect();
    let volatility = Volatility::Immutable;
    let signature = Signature { parameters, returns, is_strict: true, volatility };
    let definition = Definition::new(1, "f", language, signature, source, None)?;
    definition.check()?;
    Ok(definition)
}

/// A function that is a module in WebAssembly's text form.
pub(crate) fn module(text: &str, types: &[SqlType], result: SqlType) -> Result<Definition> {
    module_of(text, types, Returns::value(result))
}

/// A function that is a module in WebAssembly's text form, and gives rows or sets.
pub(crate) fn module_of(text: &str, types: &[SqlType], returns: Returns) -> Result<Definition> {
    let bytes = wat::parse_str(text).expect("a module");
    let source = base64::engine::general_purpose::STANDARD.encode(bytes);
    defined(Language::Wasm, &source, types, returns)
}

/// A function that returns the same columns for all batches.
pub(crate) fn returning(columns: Vec<ArrayRef>, returns: Returns) -> Definition {
    let names = (0..columns.len()).map(|at| format!("column{at}"));
    let batch = RecordBatch::try_from_iter(names.zip(columns)).expect("columns of one length");
    let stream = ipc::write(&batch.schema(), &[batch]).expect("a stream");
    let data: String = stream.iter().map(|byte| format!("\\{byte:02x}")).collect();
    let text = format!(
        r#"(module (memory (export "memory") 2) (data (i32.const 65536) "{data}")
            (func (export "pando_alloc") (param i32) (result i32) i32.const 1024)
            (func (export "f") (param i32 i32) (result i64)
                (i64.or (i64.shl (i64.const 65536) (i64.const 32)) (i64.const {}))))"#,
        stream.len()
    );
    module_of(&text, &[SqlType::BigInt], returns).expect("defined")
}

/// A function that is a script.
pub(crate) fn script(body: &str, types: &[SqlType], result: SqlType) -> Result<Definition> {
    defined(Language::JavaScript, body, types, Returns::value(result))
}

/// A column of one number.
pub(crate) fn one() -> ArrayRef {
    Arc::new(Int64Array::from(vec![1]))
}

/// The time that a statement has.
const STATEMENT_TIME: Duration = Duration::from_millis(200);

/// The longest time until it has ended, on a machine that is busy.
const END_MAX: Duration = Duration::from_secs(20);

/// Runs a call as part of a statement that times out.
pub(crate) fn within_statement<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    within(STATEMENT_TIME, work)
}

/// Runs a call as part of a statement that has some time.
pub(crate) fn within<T>(time: Duration, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let control = Control::new(CancellationToken::new(), Some(time));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let began = Instant::now();
    let done = runtime.expect("a runtime").block_on(control.scope(async { work() }));
    assert!(began.elapsed() < END_MAX, "it took {:?}", began.elapsed());
    done
}

/// The error of a function of one `bigint`, in a statement that times out.
pub(crate) fn error_of(definition: &Definition) -> Error {
    let called = within_statement(|| definition.call(&[one()], 1));
    called.map(|value| value.len()).expect_err("it cannot return")
}
