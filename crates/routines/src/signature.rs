//! Functions as the analyzer sees them.

use analyzer::system::functions::{self, Volatility};
use analyzer::system::{Oid, SqlType};
use analyzer::tree::Column;
use analyzer::{Routine, RoutineAggregate, RoutineStep};
use store::catalog::{
    AggregateKind, Catalog, Function, FunctionId, Parameter, ParameterMode, Volatility as Held,
};

/// A function for the analyzer.
pub fn routine(function: &Function) -> Routine {
    let types = |parameter: &Parameter| Oid(parameter.type_id);
    let last = function.inputs().last();
    let variadic = last.filter(|last| last.mode == ParameterMode::Variadic).map(types);
    let item = |array: Oid| match array {
        Oid::ANYARRAY => Some(Oid::ANYELEMENT),
        Oid::ANYCOMPATIBLEARRAY => Some(Oid::ANYCOMPATIBLE),
        array => array.element(),
    };
    Routine {
        id: function.id.0,
        schema: function.schema.clone(),
        name: function.name.clone(),
        is_procedure: function.is_procedure,
        language: function.language.clone(),
        is_foreign: crate::is_foreign(&function.language),
        arguments: function.inputs().map(types).collect(),
        argument_names: function.inputs().map(|input| input.name.clone()).collect(),
        variadic: variadic.and_then(item),
        defaults: function.inputs().filter_map(|input| input.default.clone()).collect(),
        result: Oid(function.result_id),
        columns: columns(function),
        returns_set: function.returns_set,
        is_strict: function.is_strict,
        volatility: match function.volatility {
            Held::Immutable => Volatility::Immutable,
            Held::Stable => Volatility::Stable,
            Held::Volatile => Volatility::Volatile,
        },
        body: match crate::is_foreign(&function.language) {
            true => String::new(),
            false => function.body.clone(),
        },
        aggregate: None,
    }
}

/// What makes a function an aggregate, for the analyzer. `None` if it is none, or a function that it calls is gone.
pub fn aggregate(catalog: &Catalog, function: &Function) -> Option<RoutineAggregate> {
    let aggregate = function.extension.aggregate.as_ref()?;
    let step = |id: FunctionId| step(catalog, id);
    let optional = |id: Option<FunctionId>| match id {
        Some(id) => step(id).map(Some),
        None => Some(None),
    };
    let details = &function.extension.details;
    Some(RoutineAggregate {
        is_ordered_set: details.kind != AggregateKind::Normal,
        direct_arguments: details.direct_arguments as usize,
        finish_takes_all: details.finish_takes_all,
        state: Oid(aggregate.state_id),
        initial: aggregate.initial.clone(),
        transition: step(aggregate.transition)?,
        combine: optional(aggregate.combine)?,
        finish: optional(aggregate.finish)?,
    })
}

/// A function that an aggregate calls.
fn step(catalog: &Catalog, id: FunctionId) -> Option<RoutineStep> {
    let written = |schema: &str, name: &str| {
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        format!("{}.{}", quoted(schema), quoted(name))
    };
    Some(match id {
        FunctionId::User(id) => {
            let function = catalog.function_by_id(id)?;
            let name = written(&function.schema, &function.name);
            let last = function.inputs().last();
            let is_variadic = last.is_some_and(|last| last.mode == ParameterMode::Variadic);
            RoutineStep { name, is_strict: function.is_strict, is_variadic }
        }
        FunctionId::System(oid) => {
            let function = functions::of(Oid(oid))?;
            let (name, is_variadic) =
                (written("pg_catalog", function.name), function.variadic.is_some());
            RoutineStep { name, is_strict: function.strict, is_variadic }
        }
    })
}

/// The columns that output parameters make.
pub fn columns(function: &Function) -> Vec<Column> {
    let column = |(at, output): (usize, &Parameter)| Column {
        name: match output.name.as_str() {
            "" => format!("column{}", at + 1),
            name => name.to_owned(),
        },
        sql_type: SqlType::plain(Oid(output.type_id)),
    };
    function.outputs().enumerate().map(column).collect()
}
