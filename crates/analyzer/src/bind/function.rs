//! Calls of functions.

use super::Binder;
use super::aggregate::is_volatile_expr;
use super::names::{self, qualified};
use super::operator::polymorphic;
use super::scope::Clause;
use super::written::as_written;
use crate::error::{Error, Result};
use crate::resolve::{Arguments, Chosen, NoFunction, Path, function, pathway};
use crate::system::casts::CastContext;
use crate::system::functions::{AggregateKind, Function, FunctionKind};
use crate::system::{Oid, SqlType};
use crate::tree::{Call, Column, Expr, Kind, SetCall};
use grammar::tree::{FuncCall, JsonParseExpr, Node, NodeEnum};

/// A call whose arguments are bound and converted.
pub(super) struct Resolved {
    pub function: &'static Function,
    pub call: Call,
    pub sql_type: SqlType,
}

/// What a call of a function of the system means.
enum Meant {
    Call(Box<Resolved>),
    /// `type(value)` with the value's conversion to the type.
    Cast(Box<Expr>),
}

impl Binder<'_> {
    /// A call in an expression.
    pub(super) fn function_call(&mut self, call: &FuncCall) -> Result<Expr> {
        let (schema, name) = qualified(&call.funcname);
        let location = call.location;
        match self.routine_call(call) {
            Ok(Some(value)) => return Ok(value),
            Ok(None) => {}
            Err(error) => return self.field_call(name, call)?.ok_or(error),
        }
        let name = self.name_in_schema(schema, name, call)?;
        let kinds: Vec<FunctionKind> =
            crate::system::functions::named(name).map(|function| function.kind).collect();
        let has = |kind| kinds.contains(&kind);
        if call.over.is_some() {
            return self.window_call(name, call);
        }
        if has(FunctionKind::Aggregate) && !(has(FunctionKind::Scalar)) {
            return self.aggregate_call(name, call);
        }
        if has(FunctionKind::Window) && !has(FunctionKind::Aggregate) {
            let message = format!("window function {name} requires an OVER clause");
            return Err(Error::new("42809", message).at(location));
        }
        if kinds.is_empty()
            && let Some(field) = self.field_call(name, call)?
        {
            return Ok(field);
        }
        // `f(row)` may also be a field; `type(value)` a cast.
        if kinds.is_empty()
            && call.args.len() == 1
            && !call.agg_star
            && let Some(oid) = Oid::of_type_name(name)
        {
            let value = self.required(call.args.first())?;
            return self.explicit(value, SqlType::plain(oid), location);
        }
        if kinds.is_empty() {
            // PostgreSQL says first that there is no such function.
            self.resolve(name, call)?;
        }
        if call.agg_star
            || call.agg_distinct
            || call.agg_within_group
            || !call.agg_order.is_empty()
            || call.agg_filter.is_some()
        {
            let what = if call.agg_star {
                format!("{name}(*) specified")
            } else {
                "DISTINCT, ORDER BY, FILTER or WITHIN GROUP specified".to_owned()
            };
            let message = format!("{what}, but {name} is not an aggregate function");
            return Err(Error::new("42809", message).at(location));
        }
        match self.resolve_or_cast(name, call) {
            Ok(Meant::Call(resolved)) => self.resolved_call(*resolved, name, location),
            Ok(Meant::Cast(value)) => Ok(*value),
            Err(error) => self.field_call(name, call)?.ok_or(error),
        }
    }

    /// `json(value)`, which is not a call for the grammar.
    pub(super) fn json_call(&mut self, parse: &JsonParseExpr) -> Result<Expr> {
        let node = parse.expr.as_ref().and_then(|value| value.raw_expr.as_deref());
        let value = self.required(node)?;
        match cast_of("json", &value) {
            Some(to) => self.explicit(value, SqlType::plain(to), parse.location),
            None => {
                let types = [value.sql_type.oid.base()];
                let error = no_function("json", &types, &[], NoFunction::Unknown);
                Err(error.at(parse.location))
            }
        }
    }

    /// A call of a function of the system, in an expression.
    pub(super) fn resolved_call(
        &mut self,
        resolved: Resolved,
        name: &str,
        location: i32,
    ) -> Result<Expr> {
        if resolved.function.kind == FunctionKind::Procedure {
            let message = format!("{name} is a procedure");
            return Err(Error::new("42809", message)
                .hint("To call a procedure, use CALL.")
                .at(location));
        }
        if resolved.function.returns_set {
            return self.set_in_targets(resolved, location);
        }
        Ok(Expr::new(Kind::Call(resolved.call), resolved.sql_type, location))
    }

    /// The number of set-returning functions of the level.
    pub(super) fn sets_here(&self) -> usize {
        self.scopes.last().map_or(0, |scope| scope.sets.len())
    }

    /// Refuses set-returning functions that were bound since there was a number of them.
    pub(super) fn refuse_sets(&self, place: &str, before: usize) -> Result<()> {
        let sets = self.scopes.last().map(|scope| scope.sets.as_slice()).unwrap_or_default();
        match sets.len() > before {
            true => {
                let location = self.scopes.last().map_or(-1, |scope| scope.set_location);
                let message = format!("set-returning functions are not allowed in {place}");
                Err(Error::new("0A000", message).hint(LATERAL_HINT).at(location))
            }
            false => Ok(()),
        }
    }

    /// The name of a function in the system catalogs. Refuses one of a schema that has none of the name.
    pub(super) fn name_in_schema<'a>(
        &mut self,
        schema: Option<&str>,
        name: &'a str,
        call: &FuncCall,
    ) -> Result<&'a str> {
        let is_of_information = name.starts_with("_pg_");
        let Some(schema) = schema.or(is_of_information.then_some("pg_catalog")) else {
            return Ok(name);
        };
        let has_name = crate::system::functions::named(name).next().is_some();
        if schema == "information_schema" && is_of_information && has_name {
            return Ok(name);
        }
        if schema == OWN_SCHEMA
            && let Some(full) = crate::system::functions::of_own_schema(name)
        {
            return Ok(full);
        }
        let (values, names) = self.call_arguments(&call.args)?;
        if !matches!(schema, "public" | "information_schema" | "pg_catalog" | OWN_SCHEMA)
            && !self.catalog.has_schema(schema)
        {
            let message = format!("schema \"{schema}\" does not exist");
            return Err(Error::new("3F000", message).at(call.location));
        }
        let types: Vec<Oid> = values.iter().map(|value| value.sql_type.oid).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let name = if is_of_information { name.to_owned() } else { format!("{schema}.{name}") };
        Err(no_function(&name, &types, &names, NoFunction::Unknown).at(call.location))
    }

    /// A set-returning function in a select list.
    fn set_in_targets(&mut self, resolved: Resolved, location: i32) -> Result<Expr> {
        let columns = result_columns(&resolved, resolved.function.name);
        let set = SetCall { call: resolved.call, columns, returns_set: true, row: None };
        self.set_here(set, resolved.sql_type, location)
    }

    /// The rows of a set in the select list.
    pub(super) fn set_here(
        &mut self,
        set: SetCall,
        sql_type: SqlType,
        location: i32,
    ) -> Result<Expr> {
        let Some(scope) = self.scopes.last_mut() else {
            return Err(Error::missing("a set-returning function here").at(location));
        };
        if !matches!(
            scope.clause,
            Clause::Targets
                | Clause::OrderBy
                | Clause::GroupBy
                | Clause::DistinctOn
                | Clause::ValuesRow
        ) {
            return Err(no_set_here(scope.clause).at(location));
        }
        scope.set_location = location;
        // Sets stand side by side: the same one twice is the same rows.
        let place = match scope.sets.iter().position(|known| *known == set) {
            Some(place) if !is_volatile_set(&set) => place,
            _ => {
                scope.sets.push(set);
                scope.sets.len() - 1
            }
        };
        let kind = Kind::Set(scope.select, place);
        Ok(Expr::new(kind, sql_type, location))
    }

    /// Binds the arguments of a call and finds its function.
    pub(super) fn resolve(&mut self, name: &str, call: &FuncCall) -> Result<Resolved> {
        let (values, names) = self.call_arguments(&call.args)?;
        self.resolve_values(name, call, values, &names)
    }

    /// Binds the arguments of a call and finds its function, or the cast that it is.
    fn resolve_or_cast(&mut self, name: &str, call: &FuncCall) -> Result<Meant> {
        let (mut values, names) = self.call_arguments(&call.args)?;
        let cast = match &values[..] {
            [value] if names.is_empty() && !call.func_variadic => cast_of(name, value),
            _ => None,
        };
        if let Some(to) = cast
            && let Some(value) = values.pop()
        {
            let value = self.explicit(value, SqlType::plain(to), call.location)?;
            return Ok(Meant::Cast(Box::new(value)));
        }
        let resolved = self.resolve_values(name, call, values, &names)?;
        Ok(Meant::Call(Box::new(resolved)))
    }

    /// Finds the function of a call whose arguments are bound.
    fn resolve_values(
        &mut self,
        name: &str,
        call: &FuncCall,
        values: Vec<Expr>,
        names: &[String],
    ) -> Result<Resolved> {
        let resolved = self.resolve_bound(name, values, names, call.func_variadic, call.location);
        resolved.map_err(|error| match super::names::parts(&call.funcname)[..] {
            // Messages have the name as it is written; the grammar writes that of EXTRACT and the like so.
            [schema @ "pg_catalog", _] => {
                let (plain, full) =
                    (format!("function {name}("), format!("function {schema}.{name}("));
                Error { message: error.message.replacen(&plain, &full, 1), ..error }
            }
            _ => error,
        })
    }

    pub(super) fn call_arguments(&mut self, nodes: &[Node]) -> Result<(Vec<Expr>, Vec<String>)> {
        let mut values = Vec::with_capacity(nodes.len());
        let mut names = Vec::new();
        for node in nodes {
            match names::node(Some(node))? {
                NodeEnum::NamedArgExpr(argument) => {
                    if names.contains(&argument.name) {
                        let message =
                            format!("argument name \"{}\" used more than once", argument.name);
                        return Err(Error::new("42601", message).at(argument.location));
                    }
                    names.push(argument.name.clone());
                    values.push(self.required(argument.arg.as_deref())?);
                }
                other => {
                    let value = self.expression(other)?;
                    if !names.is_empty() {
                        let message = "positional argument cannot follow named argument";
                        return Err(Error::new("42601", message).at(value.location.0));
                    }
                    values.push(value);
                }
            }
        }
        Ok((values, names))
    }

    /// Finds the function for bound arguments, and converts them to its types.
    pub(super) fn resolve_bound(
        &mut self,
        name: &str,
        values: Vec<Expr>,
        names: &[String],
        is_variadic_array: bool,
        location: i32,
    ) -> Result<Resolved> {
        let types: Vec<Oid> = values.iter().map(|value| value.sql_type.oid.base()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let arguments = Arguments { types: &types, names: &names, is_variadic_array };
        let chosen = function(name, &arguments)
            .map_err(|failure| no_function(name, &types, &names, failure).at(location))?;
        let found = chosen.function;
        let ordered = self.in_order(&chosen, values)?;
        let types: Vec<Oid> = ordered.iter().map(|value| value.sql_type.oid.base()).collect();
        let polymorphic = polymorphic(&chosen.arguments, &types, location)?;
        let mut converted = Vec::with_capacity(ordered.len());
        for (value, declared) in ordered.into_iter().zip(&chosen.arguments) {
            let to = polymorphic.actual(*declared).unwrap_or(Oid::TEXT);
            if let Some(text) = as_written(found, *declared, value.sql_type.oid) {
                let location = value.location.0;
                converted.push(self.explicit(value, SqlType::plain(text), location)?);
                continue;
            }
            converted.push(match to {
                Oid::ANY if found.name == "pg_typeof" && is_literal(&value) => value,
                // A hypothetical row gets the types of the keys.
                Oid::ANY if found.aggregate == AggregateKind::Hypothetical => value,
                // "any" takes what comes; values of unknown type as text. It decides no type of a parameter.
                Oid::ANY if value.sql_type.oid == Oid::UNKNOWN => match value.kind {
                    Kind::Parameter(_) => Expr { sql_type: SqlType::plain(Oid::TEXT), ..value },
                    _ => self.coerce_implicitly(value, Oid::TEXT)?,
                },
                Oid::ANY => value,
                to => self.coerce_implicitly(value, to)?,
            });
        }
        let result = polymorphic.actual(found.result).ok_or_else(|| {
            // The arguments are arrays, of which there are no arrays.
            match types.iter().find(|oid| oid.element().is_some()) {
                Some(item) => {
                    Error::new("42704", format!("could not find array type for data type {item}"))
                }
                None => Error::new(
                    "42804",
                    "could not determine polymorphic type because input has type unknown",
                ),
            }
            .at(location)
        })?;
        let call = Call { is_variadic_array, ..Call::of_system(found.oid, converted) };
        Ok(Resolved { function: found, call, sql_type: SqlType::plain(result) })
    }

    /// The arguments in the order of the function's, with defaults.
    fn in_order(&mut self, chosen: &Chosen, values: Vec<Expr>) -> Result<Vec<Expr>> {
        let mut values: Vec<Option<Expr>> = values.into_iter().map(Some).collect();
        let first_default =
            chosen.places.len() - chosen.function.defaults.len().min(chosen.places.len());
        let mut ordered = Vec::with_capacity(chosen.places.len());
        for (argument, place) in chosen.places.iter().enumerate() {
            let given = place.and_then(|place| values.get_mut(place)?.take());
            match given {
                Some(value) => ordered.push(value),
                None => {
                    let default =
                        chosen.function.defaults.get(argument.saturating_sub(first_default));
                    ordered.push(self.default_argument(default.copied().unwrap_or("NULL"))?);
                }
            }
        }
        Ok(ordered)
    }

    /// An expression that stands alone in a text.
    pub(super) fn default_argument(&mut self, text: &str) -> Result<Expr> {
        let script = grammar::parse(&format!("SELECT {text}"))
            .map_err(|_| Error::missing(format!("the default {text}")))?;
        let statement = script.statements().first().and_then(|raw| raw.stmt.as_ref());
        let Some(NodeEnum::SelectStmt(select)) = statement.and_then(|node| node.node.as_ref())
        else {
            return Err(Error::missing("this default"));
        };
        match select.target_list.first().and_then(|node| node.node.as_ref()) {
            Some(NodeEnum::ResTarget(target)) => self.required(target.val.as_deref()),
            _ => Err(Error::missing("this default")),
        }
    }
}

/// The schema of Pando's own functions.
const OWN_SCHEMA: &str = "pando";

/// Whether a set may have other rows when it is computed twice.
fn is_volatile_set(set: &SetCall) -> bool {
    let is_volatile = set.call.executed.as_ref().is_some_and(|executed| executed.is_volatile);
    is_volatile || set.call.arguments.iter().any(is_volatile_expr)
}

/// The type to which `type(value)` is a cast: no function takes just the type of the value, and there is a conversion
/// without one (`func_get_detail`).
fn cast_of(name: &str, value: &Expr) -> Option<Oid> {
    let (to, from) = (Oid::of_type_name(name)?, value.sql_type.oid.base());
    if crate::system::functions::named(name).any(|function| function.arguments == [from]) {
        return None;
    }
    let is_cast = match pathway(from, to, CastContext::Explicit) {
        _ if from == Oid::UNKNOWN => is_literal(value),
        Some(Path::Relabel) => true,
        Some(Path::Text) => from != Oid::RECORD && !from.is_composite(),
        _ => false,
    };
    is_cast.then_some(to)
}

fn is_literal(value: &Expr) -> bool {
    matches!(value.kind, Kind::Literal(_))
}

/// What to do about a set-returning function where none can stand.
const LATERAL_HINT: &str =
    "You might be able to move the set-returning function into a LATERAL FROM item.";

/// The error for a set-returning function in a clause where none can stand.
fn no_set_here(clause: Clause) -> Error {
    let calls = match clause {
        Clause::AggregateArgument => "aggregate function calls",
        Clause::Window => "window function calls",
        other => {
            let place = other.name();
            let message = format!("set-returning functions are not allowed in {place}");
            return Error::new("0A000", message);
        }
    };
    let message = format!("{calls} cannot contain set-returning function calls");
    Error::new("0A000", message).hint(LATERAL_HINT)
}

/// The columns of a function's result: those of its OUT arguments, else one of the given name.
pub(super) fn result_columns(resolved: &Resolved, name: &str) -> Vec<Column> {
    let declared = &resolved.function.columns;
    match declared.as_slice() {
        [] => vec![Column { name: name.to_owned(), sql_type: resolved.sql_type }],
        [(column, _)] if resolved.sql_type.oid != Oid::RECORD => {
            vec![Column { name: (*column).to_owned(), sql_type: resolved.sql_type }]
        }
        all => {
            let items = resolved.call.arguments.iter();
            let item = items.filter_map(|argument| argument.sql_type.oid.element()).next();
            let column = |(name, oid): &(&str, Oid)| Column {
                name: (*name).to_owned(),
                sql_type: SqlType::plain(match *oid {
                    Oid::ANYELEMENT => item.unwrap_or(Oid::TEXT),
                    oid => oid,
                }),
            };
            all.iter().map(column).collect()
        }
    }
}

pub(super) fn no_function(name: &str, types: &[Oid], names: &[&str], failure: NoFunction) -> Error {
    let positional = types.len() - names.len();
    let shown: Vec<String> = types
        .iter()
        .enumerate()
        .map(|(at, oid)| match at.checked_sub(positional) {
            Some(named) => format!("{} => {oid}", names[named]),
            None => oid.to_string(),
        })
        .collect();
    let shown = format!("{name}({})", shown.join(", "));
    match failure {
        NoFunction::Ambiguous if types.iter().any(|oid| oid.is_range()) => {
            Error::missing("a value of a range type")
        }
        NoFunction::Unknown => Error::new("42883", format!("function {shown} does not exist"))
            .hint("No function matches the given name and argument types. You might need to add explicit type casts."),
        NoFunction::Ambiguous => Error::new("42725", format!("function {shown} is not unique"))
            .hint("Could not choose a best candidate function. You might need to add explicit type casts."),
    }
}
