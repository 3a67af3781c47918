//! The definition of a function from CREATE FUNCTION.

use crate::text::quoted;
use analyzer::system::Oid;
use analyzer::{Error, Result};
use commands::{
    CreateFunction, FunctionOptions, FunctionParameter, FunctionSetting, FunctionType,
    ParallelSafety, ParameterKind, RelationName, Stability,
};
use store::catalog::{
    Extension, Function, Parallel, Parameter, ParameterMode, RelationId, Volatility,
};

/// What a statement does not say about a new function.
pub struct NewFunction<'a> {
    /// The id.
    pub id: RelationId,
    /// The schema.
    pub schema: String,
    /// Finds the table of a name.
    pub table: &'a dyn Fn(&RelationName) -> Option<RelationId>,
}

/// The id of `void`.
const VOID: u32 = 2278;

fn wrong(message: impl Into<String>) -> Error {
    Error::new("42P13", message)
}

/// The function that a statement defines.
///
/// # Errors
/// 42P13 and others for what PostgreSQL refuses; 0A000 for what is missing.
pub fn define(create: &CreateFunction, new: NewFunction<'_>) -> Result<Function> {
    let language = language(create)?;
    let (body, is_sql_body) = body(create)?;
    let symbol = create.options.symbol.clone();
    if symbol.is_some() && language != "wasm" {
        return Err(wrong(format!("only one AS item needed for language \"{language}\"")));
    }
    let parameters = parameters(&create.parameters, &language)?;
    if is_sql_body && parameters.iter().any(|of| Oid(of.type_id).is_polymorphic()) {
        let message = "SQL function with unquoted function body cannot have polymorphic arguments";
        return Err(wrong(message));
    }
    let (result_id, result_relation) = result(create, &parameters, &language, &new)?;
    let returns_set = create.result.as_ref().is_some_and(|result| result.is_set);
    if let (Some((_, _)), false) = (&create.options.rows, returns_set) {
        let message = "ROWS is not applicable when function does not return a set";
        return Err(Error::new("22023", message));
    }
    refuse_undetermined(&parameters, result_id)?;
    if result_id == Oid::TRIGGER.0 && !parameters.is_empty() {
        return Err(wrong("trigger functions cannot have declared arguments").hint(
            "The arguments of the trigger can be accessed through TG_NARGS and TG_ARGV instead.",
        ));
    }
    let function = Function {
        id: new.id,
        schema: new.schema,
        name: create.name.name.clone(),
        is_procedure: create.is_procedure,
        language,
        parameters,
        result_id,
        result_relation,
        returns_set,
        body,
        is_sql_body,
        volatility: Volatility::Volatile,
        is_strict: false,
        is_security_definer: false,
        is_leakproof: false,
        parallel: Parallel::Unsafe,
        cost: None,
        rows: None,
        settings: Vec::new(),
        comment: None,
        extension: Extension { symbol, ..Extension::default() },
    };
    refuse_foreign(&function)?;
    let mut before = function.parameters.iter().rev().skip(1);
    let mut behind = function.parameters.iter().skip_while(|of| of.default.is_none());
    if function.is_procedure && behind.any(|of| of.mode == ParameterMode::Out) {
        let message = "procedure OUT parameters cannot appear after one with a default value";
        return Err(wrong(message));
    }
    if function.is_procedure && before.any(|of| of.mode == ParameterMode::Variadic) {
        return Err(wrong("VARIADIC parameter must be the last parameter"));
    }
    Ok(apply(&create.options, function))
}

/// The function with the options that are given.
pub fn apply(options: &FunctionOptions, function: Function) -> Function {
    let volatility = |given| match given {
        Stability::Immutable => Volatility::Immutable,
        Stability::Stable => Volatility::Stable,
        Stability::Volatile => Volatility::Volatile,
    };
    Function {
        volatility: options.volatility.map_or(function.volatility, volatility),
        is_strict: options.strict.unwrap_or(function.is_strict),
        is_leakproof: options.leakproof.unwrap_or(function.is_leakproof),
        parallel: options.parallel.map_or(function.parallel, parallel),
        cost: options.cost.clone().or(function.cost),
        is_security_definer: options.definer.unwrap_or(function.is_security_definer),
        settings: settings(options, &function.settings),
        rows: options.rows.as_ref().map(|(rows, _)| rows.clone()).or(function.rows),
        ..function
    }
}

/// Where a function may be executed.
pub(crate) fn parallel(given: ParallelSafety) -> Parallel {
    match given {
        ParallelSafety::Unsafe => Parallel::Unsafe,
        ParallelSafety::Restricted => Parallel::Restricted,
        ParallelSafety::Safe => Parallel::Safe,
    }
}

/// The settings, of which the given ones replace others of the same names. RESET takes them away.
fn settings(options: &FunctionOptions, known: &[(String, String)]) -> Vec<(String, String)> {
    let mut all = known.to_vec();
    for setting in &options.settings {
        let (name, values) = match setting {
            FunctionSetting::Set(name, values) => (name, values),
            FunctionSetting::Reset(name) => {
                all.retain(|(other, _)| other != name);
                continue;
            }
            FunctionSetting::ResetAll => {
                all.clear();
                continue;
            }
        };
        all.retain(|(other, _)| other != name);
        let quoted = values.iter().map(|value| match name.as_str() {
            "search_path" => quoted(value),
            _ => value.clone(),
        });
        all.push((name.clone(), quoted.collect::<Vec<_>>().join(", ")));
    }
    all
}

/// The language, if functions can be written in it.
fn language(create: &CreateFunction) -> Result<String> {
    let language = match (&create.options.language, &create.sql_body) {
        (Some(language), _) => language.to_lowercase(),
        (None, Some(_)) => "sql".to_owned(),
        (None, None) => return Err(wrong("no language specified")),
    };
    match language.as_str() {
        "sql" => Ok(language),
        "plpgsql" | "wasm" | "javascript" if create.sql_body.is_none() => Ok(language),
        _ if create.sql_body.is_some() => {
            Err(wrong("inline SQL function body only valid for language SQL"))
        }
        "c" | "internal" => Err(Error::missing(format!("LANGUAGE {language}"))
            .hint("Functions can be written in SQL, PL/pgSQL, JavaScript and WebAssembly.")),
        _ => Err(Error::new("42704", format!("language \"{language}\" does not exist"))),
    }
}

fn body(create: &CreateFunction) -> Result<(String, bool)> {
    match (&create.options.source, &create.sql_body) {
        (Some(_), Some(_)) => Err(wrong("duplicate function body specified")),
        (Some(source), None) => Ok((source.clone(), false)),
        (None, Some(body)) => Ok((body.clone(), true)),
        (None, None) => Err(wrong("no function body specified")),
    }
}

pub(crate) fn parameters(given: &[FunctionParameter], language: &str) -> Result<Vec<Parameter>> {
    let mut all: Vec<Parameter> = Vec::new();
    let (mut has_default, mut has_variadic) = (false, false);
    for given in given {
        let parameter = parameter(given, language)?;
        if parameter.mode.is_input() {
            if has_variadic {
                return Err(wrong("VARIADIC parameter must be the last input parameter"));
            }
            match (&parameter.default, has_default) {
                (Some(_), _) => has_default = true,
                (None, true) => {
                    let message =
                        "input parameters after one with a default value must also have defaults";
                    return Err(wrong(message));
                }
                (None, false) => {}
            }
            has_variadic = parameter.mode == ParameterMode::Variadic;
        } else if parameter.default.is_some() {
            return Err(wrong("only input parameters can have default values"));
        }
        // An input and an output may have one name.
        let is_alike = |other: &Parameter| {
            other.mode.is_input() && parameter.mode.is_input()
                || other.mode.is_output() && parameter.mode.is_output()
        };
        if !given.name.is_empty()
            && all.iter().any(|other| other.name == given.name && is_alike(other))
        {
            let message = format!("parameter name \"{}\" used more than once", given.name);
            return Err(wrong(message));
        }
        all.push(parameter);
    }
    Ok(all)
}

fn parameter(given: &FunctionParameter, language: &str) -> Result<Parameter> {
    let mode = match given.kind {
        ParameterKind::In => ParameterMode::In,
        ParameterKind::Out => ParameterMode::Out,
        ParameterKind::InOut => ParameterMode::InOut,
        ParameterKind::Variadic => ParameterMode::Variadic,
        ParameterKind::Table => ParameterMode::Table,
    };
    let named = &given.data_type;
    let unknown = |error: Error| match &named.column {
        Some(_) => error,
        None if error.is_missing => error,
        None => Error::new("42704", format!("type {} does not exist", named.name)),
    };
    let oid = type_of(named).map_err(unknown)?;
    let is_array =
        oid.element().is_some() || matches!(oid, Oid::ANYARRAY | Oid::ANYCOMPATIBLEARRAY);
    if mode == ParameterMode::Variadic && !is_array {
        return Err(wrong("VARIADIC parameter must be an array"));
    }
    if language == "plpgsql" && oid == Oid::RECORD {
        return Err(Error::missing("a parameter of type record").at(named.location));
    }
    if is_pseudo(oid) && !oid.is_polymorphic() {
        let message = format!("{} functions cannot accept type {oid}", language_name(language));
        let message = match language {
            "sql" => format!("SQL functions cannot have arguments of type {oid}"),
            _ => message,
        };
        return Err(wrong(message).at(given.data_type.location));
    }
    Ok(Parameter { name: given.name.clone(), mode, type_id: oid.0, default: given.default.clone() })
}

fn language_name(language: &str) -> &str {
    if language == "sql" { "SQL" } else { language }
}

/// Whether a type has no values.
fn is_pseudo(oid: Oid) -> bool {
    use analyzer::system::types::TypeKind;
    oid.definition().is_some_and(|definition| definition.kind == TypeKind::Pseudo)
}

/// The type in a signature.
///
/// # Errors
/// 42704: there is none; 0A000 for the rows of a relation.
pub fn type_of(given: &FunctionType) -> Result<Oid> {
    given.known.clone()
}

/// The type of the result, and the relation whose rows it has.
fn result(
    create: &CreateFunction,
    parameters: &[Parameter],
    language: &str,
    new: &NewFunction<'_>,
) -> Result<(u32, Option<RelationId>)> {
    let outputs: Vec<&Parameter> =
        parameters.iter().filter(|parameter| parameter.mode.is_output()).collect();
    if create.is_procedure {
        return Ok((if outputs.is_empty() { VOID } else { Oid::RECORD.0 }, None));
    }
    let required = match outputs.as_slice() {
        [] => None,
        [single] => Some(Oid(single.type_id)),
        _ => Some(Oid::RECORD),
    };
    let Some(given) = &create.result else {
        let required = required.ok_or_else(|| wrong("function result type must be specified"))?;
        return Ok((required.0, None));
    };
    let is_table = outputs.iter().any(|parameter| parameter.mode == ParameterMode::Table);
    match (&given.known, required) {
        (_, Some(required)) if is_table => Ok((required.0, None)),
        (Ok(oid), Some(required)) if *oid != required => {
            let message =
                format!("function result type must be {required} because of OUT parameters");
            Err(wrong(message))
        }
        (Ok(oid), _) if is_pseudo(*oid) && !oid.is_polymorphic() => match oid.catalog_name() {
            "void" | "record" => Ok((oid.0, None)),
            "trigger" if language == "plpgsql" => Ok((oid.0, None)),
            _ if language == "plpgsql" => {
                let message = format!("PL/pgSQL functions cannot return type {oid}");
                Err(Error::new("0A000", message))
            }
            _ => Err(wrong(format!("SQL functions cannot return type {oid}"))),
        },
        (Ok(oid), None) if oid.is_composite() => Ok(match (new.table)(&given.name) {
            Some(table) => (Oid::RECORD.0, Some(table)),
            None => (oid.0, None),
        }),
        (Ok(oid), _) => Ok((oid.0, None)),
        (Err(error), _) if given.column.is_some() => Err(error.clone()),
        (Err(error), _) => match (new.table)(&given.name).filter(|_| !given.is_array) {
            Some(table) => Ok((Oid::RECORD.0, Some(table))),
            None => Err(error.clone()),
        },
    }
}

/// Refuses what functions in other languages than SQL and PL/pgSQL cannot be.
fn refuse_foreign(function: &Function) -> Result<()> {
    if !is_foreign(&function.language) {
        return Ok(());
    }
    let language = &function.language;
    let missing = |what: &str| Err(Error::missing(format!("{what} in the language {language}")));
    let is_polymorphic = |of: &Parameter| Oid(of.type_id).is_polymorphic();
    let is_void = function.result_id == VOID;
    let has_columns = function.outputs().next().is_some() || function.result_relation.is_some();
    match () {
        () if function.is_procedure => missing("a procedure"),
        () if is_void && function.returns_set => missing("a set of void"),
        () if function.result_id == Oid::RECORD.0 && !has_columns => {
            missing("a function without OUT parameters that returns a record")
        }
        () if (language == "wasm" && function.inputs().any(is_polymorphic))
            || (function.result_id == Oid::RECORD.0 && function.outputs().any(is_polymorphic)) =>
        {
            missing("a function of polymorphic types")
        }
        () => Ok(()),
    }
}

/// Whether functions in a language run outside of the engine, for rows.
pub fn is_foreign(language: &str) -> bool {
    matches!(language, "wasm" | "javascript")
}

/// Refuses a polymorphic result that no argument decides.
fn refuse_undetermined(parameters: &[Parameter], result: u32) -> Result<()> {
    let inputs = parameters.iter().filter(|parameter| parameter.mode.is_input());
    let inputs: Vec<Oid> = inputs.map(|input| Oid(input.type_id)).collect();
    let outputs = parameters.iter().filter(|parameter| parameter.mode.is_output());
    let mut results = outputs.map(|output| Oid(output.type_id)).chain([Oid(result)]);
    match results.find_map(|of| undetermined(of, &inputs)) {
        Some(detail) => Err(wrong("cannot determine result data type").detail(detail)),
        None => Ok(()),
    }
}

/// Why types of arguments do not decide what a polymorphic type stands for; `None` if they do.
pub(crate) fn undetermined(of: Oid, inputs: &[Oid]) -> Option<String> {
    let is_range = |oid: &Oid| matches!(*oid, Oid::ANYRANGE | Oid::ANYMULTIRANGE);
    let is_common_range =
        |oid: &Oid| matches!(*oid, Oid::ANYCOMPATIBLERANGE | Oid::ANYCOMPATIBLEMULTIRANGE);
    let (is_decided, needed) = match of {
        of if is_range(&of) => (inputs.iter().any(is_range), "anyrange or anymultirange"),
        of if is_common_range(&of) => {
            let needed = "anycompatiblerange or anycompatiblemultirange";
            (inputs.iter().any(is_common_range), needed)
        }
        of if of.is_polymorphic_exact() => (
            inputs.iter().any(|input| input.is_polymorphic_exact()),
            "anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange",
        ),
        of if of.is_polymorphic_common() => (
            inputs.iter().any(|input| input.is_polymorphic_common()),
            "anycompatible, anycompatiblearray, anycompatiblenonarray, anycompatiblerange, or anycompatiblemultirange",
        ),
        _ => return None,
    };
    let detail = format!("A result of type {of} requires at least one input of type {needed}.");
    (!is_decided).then_some(detail)
}
