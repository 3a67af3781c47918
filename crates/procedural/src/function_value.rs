//! The value of a function, whose body a host runs.

use crate::body::Prepared;
use crate::call_form::{called, signature};
use crate::value::{Value, written, written_id};
use datafusion::common::ScalarValue;
use plpgsql::{Given, Host};
use store::catalog::{Function, SqlType};
use system_catalog::Oid;
use values::error::{Error, Result, SqlState};

/// The value of a function for arguments.
///
/// # Errors
/// Those of the function, and of what is none that returns a value.
pub async fn function_value<H: Host<Value = Value>>(
    prepared: &Prepared,
    arguments: Vec<ScalarValue>,
    host: &mut H,
) -> Result<Value> {
    let function = &*prepared.function;
    let of = type_name(function.result_id);
    if of == "trigger" {
        let message = "trigger functions can only be called as triggers";
        return Err(Error::new(SqlState::FeatureNotSupported, message));
    }
    let Some(tree) = prepared.block() else {
        let message = "a call of a SQL function with a result of this domain is not supported";
        return Err(Error::unsupported(message));
    };
    if function.is_strict && arguments.iter().any(ScalarValue::is_null) {
        return null(host, function.result_id);
    }
    let (parameters, outputs) = parameters(function, arguments, host)?;
    let signature = signature(function);
    let called = called(function, &signature);
    let ended = plpgsql::run(tree, called, parameters, &outputs, host).await?;
    let value = match outputs.as_slice() {
        [output] => ended.parameters.into_iter().nth(*output),
        _ => ended.returned,
    };
    match value {
        _ if of == "void" => Ok(host.of_text(Some(String::new()))),
        Some(value) if outputs.is_empty() => {
            let place = "while casting return value to function's return type";
            let within = |error: Error| {
                error.within(format_args!("PL/pgSQL function {} {place}", called.signature))
            };
            host.convert(value, &of).await.map_err(within)
        }
        Some(value) => host.convert(value, &of).await,
        None => {
            let message = "control reached end of function without RETURN";
            let error = Error::new(SqlState::FunctionExecutedNoReturnStatement, message);
            Err(error.within(format_args!("PL/pgSQL function {}", called.signature)))
        }
    }
}

/// The variables that a function begins with, and the places of its output parameters.
fn parameters<H: Host<Value = Value>>(
    function: &Function,
    arguments: Vec<ScalarValue>,
    host: &mut H,
) -> Result<(Vec<Given<Value>>, Vec<usize>)> {
    let (mut all, mut outputs) = (Vec::new(), Vec::new());
    let mut arguments = arguments.into_iter();
    for (at, parameter) in function.parameters.iter().enumerate() {
        let of = type_name(parameter.type_id);
        let mut value = null(host, parameter.type_id)?;
        if parameter.mode.is_input()
            && let Some(scalar) = arguments.next()
        {
            value.scalar = scalar;
        }
        if parameter.mode.is_output() {
            outputs.push(at);
        }
        all.push((parameter.name.as_str().into(), of.into(), value));
    }
    Ok((all, outputs))
}

/// The type of an id, as it is written in a cast.
pub fn type_name(id: u32) -> String {
    match held_of_user(id) {
        Some(held) => written(&held),
        None => written_id(Oid(id)),
    }
}

/// A type of users, or of arrays of one.
fn held_of_user(id: u32) -> Option<SqlType> {
    Oid(id).is_of_users().then(|| parser::types::held(Oid(id).into())).flatten()
}

/// NULL of the type of an id.
///
/// # Errors
/// There is no such type.
pub fn null<H: Host<Value = Value>>(host: &mut H, id: u32) -> Result<Value> {
    match held_of_user(id) {
        Some(of) => Ok(Value { scalar: ScalarValue::try_from(&of.arrow())?, of }),
        None => host.null(&type_name(id)),
    }
}
