//! Functions as the analyzer sees them.

use analyzer::Routine;
use analyzer::system::functions::Volatility;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::Column;
use store::catalog::{Function, Parameter, ParameterMode, Volatility as Held};

/// A function for the analyzer; `rows` are the columns of the relation whose rows it returns.
pub fn routine(function: &Function, rows: Vec<Column>) -> Routine {
    let types = |parameter: &Parameter| Oid(parameter.type_id);
    let last = function.inputs().last();
    let variadic = last.filter(|last| last.mode == ParameterMode::Variadic).map(types);
    let item = |array: Oid| match array {
        Oid::ANYARRAY => Some(Oid::ANYELEMENT),
        Oid::ANYCOMPATIBLEARRAY => Some(Oid::ANYCOMPATIBLE),
        array => array.element(),
    };
    let outputs = columns(function);
    Routine {
        id: function.id.0,
        schema: function.schema.clone(),
        name: function.name.clone(),
        is_procedure: function.is_procedure,
        language: function.language.clone(),
        arguments: function.inputs().map(types).collect(),
        argument_names: function.inputs().map(|input| input.name.clone()).collect(),
        variadic: variadic.and_then(item),
        defaults: function.inputs().filter_map(|input| input.default.clone()).collect(),
        result: Oid(function.result_id),
        columns: if rows.is_empty() { outputs } else { rows },
        returns_set: function.returns_set,
        is_strict: function.is_strict,
        volatility: match function.volatility {
            Held::Immutable => Volatility::Immutable,
            Held::Stable => Volatility::Stable,
            Held::Volatile => Volatility::Volatile,
        },
        body: function.body.clone(),
    }
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
