//! Functions as statements name them.

use crate::text::{signature, signature_of};
use crate::types::resolved;
use analyzer::system::{Oid, functions};
use analyzer::{Error, Result};
use commands::{FunctionType, RoutineKind, RoutineName};
use std::sync::Arc;
use store::catalog::{Catalog, Function, ParameterMode};

/// The function that a statement names, in the first of the schemas that has it. `None` if there is none.
///
/// # Errors
/// 42725: several have the name; 42809: it is of another kind; 42704 for unknown types.
pub fn find(
    catalog: &Catalog,
    schemas: &[&str],
    routine: &RoutineName,
) -> Result<Option<Arc<Function>>> {
    let name = &routine.name.name;
    let is_of_kind = |function: &Function| match routine.kind {
        RoutineKind::Function => !function.is_procedure && function.extension.aggregate.is_none(),
        RoutineKind::Aggregate => function.extension.aggregate.is_some(),
        RoutineKind::Procedure => function.is_procedure,
        RoutineKind::Routine => true,
    };
    let types = types(routine)?;
    let is_for_procedures = matches!(routine.kind, RoutineKind::Procedure | RoutineKind::Routine);
    let has_all = is_for_procedures && !routine.has_modes;
    let mut found: Vec<Arc<Function>> = Vec::new();
    for schema in schemas {
        for function in catalog.functions_named(schema, name) {
            let function = resolved(catalog, function).into_owned();
            let inputs = || function.inputs().map(|input| Oid(input.type_id));
            let fits = types.as_ref().is_none_or(|types| {
                inputs().eq(types.iter().copied())
                    || has_all && function.is_procedure && all(&function) == *types
            });
            // A function of an earlier schema hides one with the same arguments.
            let is_hidden = found
                .iter()
                .any(|other| other.inputs().map(|input| Oid(input.type_id)).eq(inputs()));
            if fits && !is_hidden {
                found.push(function);
            }
        }
    }
    if found.len() > 1 {
        found.retain(|function| is_of_kind(function));
    }
    match found.as_slice() {
        [] => Ok(None),
        [one] if is_of_kind(one) => Ok(Some(Arc::clone(one))),
        // A name alone finds procedures only where these are meant.
        [one]
            if types.is_none() && (one.is_procedure || routine.kind == RoutineKind::Procedure) =>
        {
            Ok(None)
        }
        [one] => {
            let kind = routine.kind.name();
            let article = if kind == "aggregate" { "an" } else { "a" };
            let message = format!("{} is not {article} {kind}", signature(one));
            Err(Error::new("42809", message))
        }
        _ => {
            let kind = routine.kind.name();
            let message = format!("{kind} name \"{}\" is not unique", routine.name);
            let error = Error::new("42725", message);
            Err(match types {
                Some(_) => error,
                None => error
                    .hint(format!("Specify the argument list to select the {kind} unambiguously.")),
            })
        }
    }
}

/// The types of all parameters of a procedure.
fn all(procedure: &Function) -> Vec<Oid> {
    procedure.parameters.iter().map(|parameter| Oid(parameter.type_id)).collect()
}

fn types(routine: &RoutineName) -> Result<Option<Vec<Oid>>> {
    let Some(arguments) = &routine.arguments else { return Ok(None) };
    arguments.iter().map(crate::type_of).collect::<Result<_>>().map(Some)
}

/// The function of the system that a statement names by the types of its arguments, as messages name it.
pub fn of_system(routine: &RoutineName) -> Option<String> {
    let types = types(routine).ok()??;
    let is_in_path = routine.name.schema.as_deref().is_none_or(|schema| schema == "pg_catalog");
    let name = &routine.name.name;
    let is_known = is_in_path && functions::named(name).any(|known| known.arguments == types);
    is_known.then(|| format!("{} {}", routine.kind.name(), signature_of(name, types.into_iter())))
}

/// How messages say that there is no such function.
pub fn missing(routine: &RoutineName) -> String {
    let kind = routine.kind.name();
    match types(routine) {
        Ok(Some(types)) => {
            let shown = signature_of(&routine.name.to_string(), types.into_iter());
            format!("{kind} {shown} does not exist")
        }
        _ => format!("could not find a {kind} named \"{}\"", routine.name),
    }
}

/// How notices say that there is no such function: with the types as they are written.
pub fn absent(routine: &RoutineName) -> String {
    let written = |of: &FunctionType| format!("{}{}", of.name, if of.is_array { "[]" } else { "" });
    let types: Vec<String> = routine.arguments.iter().flatten().map(written).collect();
    format!("{} {}({}) does not exist", routine.kind.name(), routine.name, types.join(","))
}

/// Whether a function can be called with a number of arguments.
pub fn takes(function: &Function, arguments: usize) -> bool {
    let all = function.inputs().count();
    let optional = function.inputs().filter(|input| input.default.is_some()).count();
    let has_variadic = function.inputs().any(|input| input.mode == ParameterMode::Variadic);
    arguments + optional >= all && arguments <= all || has_variadic && arguments + 1 >= all
}
