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
    refuse_undetermined_state(state, &types)?;
    if matches!(state.catalog_name(), "internal" | "record" | "void") {
        let message = format!("aggregate transition data type cannot be {state}");
        return Err(Error::new("42P13", message));
    }
    let all: Vec<Oid> = [state].into_iter().chain(types).collect();
    let transition = found(&new, &create.transition, &all)?;
    if state.is_polymorphic() && transition.result != state {
        let name = &create.transition;
        let message = format!("return type of transition function {name} is not {state}");
        return Err(Error::new("42804", message));
    }
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
        let named = named.map(|function| resolved(new.catalog, function).into_owned());
        let fits = |function: &std::sync::Arc<Function>| {
            function.inputs().map(|input| Oid(input.type_id)).eq(types.iter().copied())
        };
        let takes = |function: &std::sync::Arc<Function>| {
            let mut inputs = function.inputs().map(|input| Oid(input.type_id)).zip(types);
            function.inputs().count() == types.len()
                && inputs.all(|(of, given)| accepts(of, *given))
        };
        let named: Vec<_> = named.collect();
        let exact = named.iter().find(|function| fits(function));
        if let Some(function) = exact.or_else(|| named.iter().find(|function| takes(function))) {
            if function.returns_set || function.is_procedure {
                let message = format!("function {} returns a set", name.name);
                return Err(Error::new("42804", message));
            }
            let declared: Vec<Oid> = function.inputs().map(|input| Oid(input.type_id)).collect();
            let result = result_of(Oid(function.result_id), &declared, types);
            return Ok(Step { id: FunctionId::User(function.id), result });
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
            let result = result_of(function.result, &function.arguments, types);
            Ok(Step { id: FunctionId::System(function.oid.0), result })
        }
        None => {
            let shown = signature_of(&name.to_string(), types.iter().copied());
            Err(Error::new("42883", format!("function {shown} does not exist")))
        }
    }
}

/// Whether a parameter takes values of a type as they are.
fn accepts(declared: Oid, of: Oid) -> bool {
    let is_plain = !of.is_polymorphic();
    declared == of
        || matches!(declared, Oid::ANYELEMENT | Oid::ANYCOMPATIBLE) && is_plain && !is_array(of)
        || matches!(declared, Oid::ANYARRAY | Oid::ANYCOMPATIBLEARRAY) && is_plain && is_array(of)
}

fn is_array(of: Oid) -> bool {
    of.element().is_some() || matches!(of, Oid::ANYARRAY | Oid::ANYCOMPATIBLEARRAY)
}

/// The type that a function returns for values of these types. It stays polymorphic if they are.
fn result_of(declared: Oid, parameters: &[Oid], types: &[Oid]) -> Oid {
    if !declared.is_polymorphic() {
        return declared;
    }
    let item = |(parameter, of): (&Oid, &Oid)| match of {
        of if !parameter.is_polymorphic() || of.is_polymorphic() => None,
        of if is_array(*parameter) => of.element(),
        of => Some(*of),
    };
    let item = parameters.iter().zip(types).find_map(item);
    let result = if is_array(declared) { item.and_then(Oid::array) } else { item };
    result.unwrap_or(declared)
}

/// Refuses a polymorphic state that no argument decides.
fn refuse_undetermined_state(state: Oid, types: &[Oid]) -> Result<()> {
    if !state.is_polymorphic() || types.iter().any(|oid| oid.is_polymorphic()) {
        return Ok(());
    }
    let of = match state.is_polymorphic_exact() {
        true => "anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange",
        false => {
            "anycompatible, anycompatiblearray, anycompatiblenonarray, anycompatiblerange, or anycompatiblemultirange"
        }
    };
    let message = "cannot determine transition data type";
    let detail = format!("A result of type {state} requires at least one input of type {of}.");
    Err(Error::new("42P13", message).detail(detail))
}
