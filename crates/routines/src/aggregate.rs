//! The definition of an aggregate from CREATE AGGREGATE.

use crate::define::{parameters, type_of};
use crate::text::signature_of;
use crate::types::resolved;
use analyzer::system::Oid;
use analyzer::system::functions::{self, FunctionKind};
use analyzer::{Error, Result};
use commands::{CreateAggregate, RelationName};
use store::catalog::{
    Aggregate, Catalog, Extension, Function, FunctionId, Parallel, ParameterMode, RelationId,
    Volatility,
};

/// What a statement does not say about a new aggregate.
pub struct NewAggregate<'a> {
    /// The id.
    pub id: RelationId,
    /// The schema.
    pub schema: String,
    /// The catalog with the functions of users.
    pub catalog: &'a Catalog,
    /// The schemas in which functions without one are looked up.
    pub path: &'a [&'a str],
}

/// The aggregate that a statement defines.
///
/// # Errors
/// 42883: there is no such function; 42P13 and others for what PostgreSQL refuses; 0A000 for what is missing.
pub fn define_aggregate(create: &CreateAggregate, new: NewAggregate<'_>) -> Result<Function> {
    let parameters = parameters(&create.parameters, "aggregate")?;
    if parameters.iter().any(|of| of.mode != ParameterMode::In || of.default.is_some()) {
        return Err(Error::missing("an aggregate with such parameters"));
    }
    let types: Vec<Oid> = parameters.iter().map(|parameter| Oid(parameter.type_id)).collect();
    let state = type_of(&create.state)?;
    if state.is_polymorphic() || types.iter().any(|oid| oid.is_polymorphic()) {
        return Err(Error::missing("an aggregate of polymorphic types"));
    }
    if matches!(state.catalog_name(), "internal" | "record" | "void") {
        let message = format!("aggregate transition data type cannot be {state}");
        return Err(Error::new("42P13", message));
    }
    let all: Vec<Oid> = [state].into_iter().chain(types).collect();
    let transition = found(&new, &create.transition, &all)?;
    let combine = create.combine.as_ref();
    let combine = combine.map(|name| found(&new, name, &[state, state])).transpose()?;
    let finish = create.finish.as_ref().map(|name| found(&new, name, &[state])).transpose()?;
    let result = finish.as_ref().map_or(state, |step| step.result);
    let aggregate = Aggregate {
        transition: transition.id,
        state_id: state.0,
        initial: create.initial.clone(),
        combine: combine.map(|step| step.id),
        finish: finish.map(|step| step.id),
    };
    Ok(Function {
        id: new.id,
        schema: new.schema,
        name: create.name.name.clone(),
        is_procedure: false,
        language: "internal".to_owned(),
        parameters,
        result_id: result.0,
        result_relation: None,
        returns_set: false,
        body: "aggregate_dummy".to_owned(),
        is_sql_body: false,
        volatility: Volatility::Immutable,
        is_strict: false,
        is_security_definer: false,
        is_leakproof: false,
        parallel: Parallel::Unsafe,
        cost: None,
        rows: None,
        settings: Vec::new(),
        comment: None,
        extension: Extension { symbol: None, aggregate: Some(aggregate) },
    })
}

/// A function that an aggregate calls.
struct Step {
    id: FunctionId,
    result: Oid,
}

/// The function of a name with parameters of these types.
fn found(new: &NewAggregate<'_>, name: &RelationName, types: &[Oid]) -> Result<Step> {
    let schemas: Vec<&str> = match &name.schema {
        Some(schema) => vec![schema.as_str()],
        None => new.path.to_vec(),
    };
    for schema in schemas {
        let named = new.catalog.functions_named(schema, &name.name).iter();
        let mut named = named.map(|function| resolved(new.catalog, function).into_owned());
        let fits = |function: &std::sync::Arc<Function>| {
            function.inputs().map(|input| Oid(input.type_id)).eq(types.iter().copied())
        };
        if let Some(function) = named.find(fits) {
            if function.returns_set || function.is_procedure {
                let message = format!("function {} returns a set", name.name);
                return Err(Error::new("42804", message));
            }
            let (id, result) = (FunctionId::User(function.id), Oid(function.result_id));
            return Ok(Step { id, result });
        }
    }
    let is_of_system = matches!(name.schema.as_deref(), None | Some("pg_catalog"));
    let mut named = functions::named(&name.name).filter(|_| is_of_system);
    let fits = |function: &&functions::Function| {
        function.kind == FunctionKind::Scalar
            && !function.returns_set
            && function.arguments.len() == types.len()
            && function.arguments.iter().zip(types).all(|(declared, of)| accepts(*declared, *of))
    };
    match named.find(fits) {
        Some(function) => {
            let result = if function.result.is_polymorphic() { types[0] } else { function.result };
            Ok(Step { id: FunctionId::System(function.oid.0), result })
        }
        None => {
            let shown = signature_of(&name.to_string(), types.iter().copied());
            Err(Error::new("42883", format!("function {shown} does not exist")))
        }
    }
}

/// Whether a parameter of the system takes values of a type as they are.
fn accepts(declared: Oid, of: Oid) -> bool {
    declared == of
        || matches!(declared, Oid::ANYELEMENT | Oid::ANYCOMPATIBLE) && of.element().is_none()
        || matches!(declared, Oid::ANYARRAY | Oid::ANYCOMPATIBLEARRAY) && of.element().is_some()
}
