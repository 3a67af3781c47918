//! The definition of an aggregate from CREATE AGGREGATE.

use crate::define::{parallel, parameters, type_of, undetermined};
use crate::text::signature_of;
use crate::types::resolved;
use analyzer::system::Oid;
use analyzer::system::casts::CastContext;
use analyzer::system::functions::{self, FunctionKind};
use analyzer::system::operators;
use analyzer::{Error, Result, resolve};
use commands::{CreateAggregate, FinalModify, FunctionParameter, MovingSteps, RelationName};
use store::catalog::{
    Aggregate, AggregateDetails, AggregateKind, Catalog, Extension, Function, FunctionId, Modifies,
    MovingAggregate, Parallel, Parameter, ParameterMode, RelationId, Volatility,
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
    let is_any = |of: &FunctionParameter| matches!(of.data_type.known, Ok(Oid::ANY));
    if create.parameters.iter().any(is_any) {
        return Err(Error::missing("an aggregate of arguments of type \"any\""));
    }
    let parameters = parameters(&create.parameters, "aggregate")?;
    if parameters.iter().any(|of| of.mode.is_output()) {
        return Err(Error::new("0A000", "aggregates cannot have output arguments"));
    }
    let types: Vec<Oid> = parameters.iter().map(|parameter| Oid(parameter.type_id)).collect();
    let has_variadic = parameters.iter().any(|of| of.mode == ParameterMode::Variadic);
    let arguments = Arguments { types: &types, direct: create.direct.unwrap_or(0) };
    let kind = kind(create, arguments, has_variadic)?;
    let steps = &create.steps;
    let state = type_of(&steps.state)?;
    let transition = transition(&new, (&steps.transition, state), arguments, "transition")?;
    refuse_no_initial(&transition, steps.initial.is_some(), state, arguments)?;
    let combine = create.combine.as_ref();
    let combine = combine.map(|name| found(&new, name, &[state, state])).transpose()?;
    let finish = steps.finish.as_ref();
    let finish = finish.map(|name| found(&new, name, &arguments.of_finish(state, steps.takes_all)));
    let finish = finish.transpose()?;
    let result = finish.as_ref().map_or(state, |step| step.result);
    let moving = create.moving.as_ref();
    let moving = moving.map(|moving| self::moving(&new, create, moving, arguments, result));
    let aggregate = Aggregate {
        transition: transition.id,
        state_id: state.0,
        initial: steps.initial.clone(),
        combine: combine.map(|step| step.id),
        finish: finish.map(|step| step.id),
    };
    let details = AggregateDetails {
        kind,
        direct_arguments: u32::try_from(arguments.direct).unwrap_or(u32::MAX),
        finish_takes_all: steps.takes_all,
        modifies: steps.modifies.map(modifies),
        sort_operator: sort_operator(create, &types)?,
        space: steps.space,
        moving: moving.transpose()?,
        moving_takes_all: create.moving_takes_all,
        moving_modifies: create.moving_modifies.map(modifies),
    };
    let extension = Extension { symbol: None, aggregate: Some(aggregate), details };
    Ok(made(create, new, parameters, result, extension))
}

/// The aggregate as a function.
fn made(
    create: &CreateAggregate,
    new: NewAggregate<'_>,
    parameters: Vec<Parameter>,
    result: Oid,
    extension: Extension,
) -> Function {
    Function {
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
        parallel: create.parallel.map_or(Parallel::Unsafe, parallel),
        cost: None,
        rows: None,
        settings: Vec::new(),
        comment: None,
        extension,
    }
}

/// The arguments of an aggregate.
#[derive(Clone, Copy)]
struct Arguments<'a> {
    types: &'a [Oid],
    /// The number of those in front of WITHIN GROUP.
    direct: usize,
}

impl Arguments<'_> {
    /// The types of a transition function: those of the state and of what rows have.
    fn of_transition(self, state: Oid) -> Vec<Oid> {
        let of_rows = self.types.iter().skip(self.direct);
        [state].iter().chain(of_rows).copied().collect()
    }

    /// The types of a final function: those of the state and of direct arguments, or of all.
    fn of_finish(self, state: Oid, takes_all: bool) -> Vec<Oid> {
        let count = if takes_all { self.types.len() } else { self.direct };
        [state].iter().chain(self.types.iter().take(count)).copied().collect()
    }
}

/// The kind of a new aggregate.
fn kind(
    create: &CreateAggregate,
    arguments: Arguments<'_>,
    has_variadic: bool,
) -> Result<AggregateKind> {
    let wrong = |message: &str| Err(Error::new("42P13", message));
    if create.direct.is_none() {
        return match create.is_hypothetical {
            true => wrong("only ordered-set aggregates can be hypothetical"),
            false => Ok(AggregateKind::Normal),
        };
    }
    if has_variadic {
        let message = "a variadic ordered-set aggregate must use VARIADIC type ANY";
        return Err(Error::new("0A000", message));
    }
    if !create.is_hypothetical {
        return Ok(AggregateKind::OrderedSet);
    }
    // As many of the last direct arguments as there are of rows.
    let (direct, of_rows) = arguments.types.split_at(arguments.direct.min(arguments.types.len()));
    match direct.ends_with(of_rows) {
        true => Ok(AggregateKind::Hypothetical),
        false => wrong(
            "a hypothetical-set aggregate must have direct arguments matching its aggregated arguments",
        ),
    }
}

/// A transition function, which returns the state.
fn transition(
    new: &NewAggregate<'_>,
    (name, state): (&RelationName, Oid),
    arguments: Arguments<'_>,
    what: &str,
) -> Result<Step> {
    refuse_undetermined_state(state, arguments.types)?;
    if state.catalog_name() == "internal" {
        return Err(Error::missing("an aggregate whose state is of type internal"));
    }
    if matches!(state.catalog_name(), "record" | "void") {
        let message = format!("aggregate transition data type cannot be {state}");
        return Err(Error::new("42P13", message));
    }
    let step = found(new, name, &arguments.of_transition(state))?;
    if step.result != state {
        let message = format!("return type of {what} function {name} is not {state}");
        return Err(Error::new("42804", message));
    }
    Ok(step)
}

/// Refuses a STRICT transition function without a first state that the first argument could be.
fn refuse_no_initial(
    step: &Step,
    has_initial: bool,
    state: Oid,
    arguments: Arguments<'_>,
) -> Result<()> {
    let first = arguments.types.get(arguments.direct).copied();
    if !step.is_strict || has_initial || first.is_some_and(|first| accepts(state, first)) {
        return Ok(());
    }
    let message = "must not omit initial value when transition function is strict and transition \
                   type is not compatible with input type";
    Err(Error::new("42P13", message))
}

/// The functions for frames that move, which give what the others give.
fn moving(
    new: &NewAggregate<'_>,
    create: &CreateAggregate,
    moving: &MovingSteps,
    arguments: Arguments<'_>,
    result: Oid,
) -> Result<MovingAggregate> {
    let state = type_of(&moving.state)?;
    let forward = transition(new, (&moving.transition, state), arguments, "transition")?;
    let inverse = transition(new, (&moving.inverse, state), arguments, "inverse transition")?;
    if forward.is_strict != inverse.is_strict {
        let message =
            "strictness of aggregate's forward and inverse transition functions must match";
        return Err(Error::new("42P13", message));
    }
    refuse_no_initial(&forward, moving.initial.is_some(), state, arguments)?;
    let types = arguments.of_finish(state, create.moving_takes_all);
    let finish = moving.finish.as_ref().map(|name| found(new, name, &types)).transpose()?;
    let value = finish.as_ref().map_or(state, |step| step.result);
    if value != result {
        return Err(Error::new(
            "42P13",
            format!(
                "moving-aggregate implementation returns type {value}, but plain implementation \
                 returns type {result}"
            ),
        ));
    }
    Ok(MovingAggregate {
        transition: forward.id,
        inverse: inverse.id,
        state_id: state.0,
        initial: moving.initial.clone(),
        finish: finish.map(|step| step.id),
        space: moving.space,
    })
}

/// The operator of SORTOP.
fn sort_operator(create: &CreateAggregate, types: &[Oid]) -> Result<Option<u32>> {
    let Some((schema, name)) = &create.sort_operator else { return Ok(None) };
    let ([of], None) = (types, create.direct) else {
        let message = "sort operator can only be specified for single-argument aggregates";
        return Err(Error::new("42P13", message));
    };
    let is_of_system = schema.as_deref().is_none_or(|schema| schema == "pg_catalog");
    let found = operators::exact(name, *of, *of).filter(|_| is_of_system);
    found.map(|operator| Some(operator.oid.0)).ok_or_else(|| {
        let schema = schema.as_ref().map_or_else(String::new, |schema| format!("{schema}."));
        let message = format!("operator does not exist: {of} {schema}{name} {of}");
        Error::new("42883", message)
    })
}

fn modifies(given: FinalModify) -> Modifies {
    match given {
        FinalModify::ReadOnly => Modifies::Never,
        FinalModify::Shareable => Modifies::Shareable,
        FinalModify::ReadWrite => Modifies::Always,
    }
}

/// A function that an aggregate calls.
struct Step {
    id: FunctionId,
    result: Oid,
    is_strict: bool,
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
            refuse_conversion(name, &declared, types)?;
            let result = result_of(Oid(function.result_id), &declared, types);
            let (id, is_strict) = (FunctionId::User(function.id), function.is_strict);
            return Ok(Step { id, result, is_strict });
        }
        for function in named.iter().filter(|function| function.inputs().count() == types.len()) {
            let declared: Vec<Oid> = function.inputs().map(|input| Oid(input.type_id)).collect();
            refuse_conversion(name, &declared, types)?;
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
            let (id, is_strict) = (FunctionId::System(function.oid.0), function.strict);
            Ok(Step { id, result, is_strict })
        }
        None => {
            let named = functions::named(&name.name).filter(|_| is_of_system);
            let named = named.filter(|known| known.kind == FunctionKind::Scalar);
            for function in named.filter(|known| known.arguments.len() == types.len()) {
                refuse_conversion(name, &function.arguments, types)?;
            }
            let shown = signature_of(&name.to_string(), types.iter().copied());
            Err(Error::new("42883", format!("function {shown} does not exist")))
        }
    }
}

/// Refuses a function that takes values of these types after an implicit conversion of some.
fn refuse_conversion(name: &RelationName, declared: &[Oid], types: &[Oid]) -> Result<()> {
    let common = |(of, given): (&Oid, &Oid)| (*of == Oid::ANYCOMPATIBLE).then_some(*given);
    let given: Vec<Oid> = declared.iter().zip(types).filter_map(common).collect();
    let common = resolve::common_type(&given).ok();
    let actual = |of: &Oid| if *of == Oid::ANYCOMPATIBLE { common.unwrap_or(*of) } else { *of };
    let actual: Vec<Oid> = declared.iter().map(actual).collect();
    let mut pairs = actual.iter().zip(types);
    let is_polymorphic = |of: Oid, given: Oid| of.is_polymorphic() || given.is_polymorphic();
    let differs = |(of, given): (&Oid, &Oid)| {
        !is_polymorphic(*of, *given) && of != given && !is_same(*of, *given)
    };
    let is_converted = pairs.clone().any(differs);
    if is_converted
        && pairs.all(|(of, given)| resolve::can_coerce(*given, *of, CastContext::Implicit))
    {
        let shown = signature_of(&name.to_string(), actual.into_iter());
        let message = format!("function {shown} requires run-time type coercion");
        return Err(Error::new("42804", message));
    }
    Ok(())
}

/// Whether a parameter takes values of a type as they are.
fn accepts(declared: Oid, of: Oid) -> bool {
    let is_plain = !of.is_polymorphic();
    declared == of
        || is_same(declared, of)
        || matches!(declared, Oid::ANYELEMENT | Oid::ANYCOMPATIBLE) && is_plain && !is_array(of)
        || matches!(declared, Oid::ANYARRAY | Oid::ANYCOMPATIBLEARRAY) && is_plain && is_array(of)
}

/// Whether values of a type are those of another one, without a conversion: texts, and those of domains.
fn is_same(declared: Oid, of: Oid) -> bool {
    let is_plain =
        !of.is_polymorphic() && !declared.is_polymorphic() && declared.base() == declared;
    let path = || resolve::pathway(of.base(), declared, CastContext::Implicit);
    is_plain && (of.base() == declared || path() == Some(resolve::Path::Relabel))
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
    let refused =
        |detail| Err(Error::new("42P13", "cannot determine transition data type").detail(detail));
    undetermined(state, types).map_or(Ok(()), refused)
}
