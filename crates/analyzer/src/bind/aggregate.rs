//! Aggregates, and the query level that each belongs to.

use super::Binder;
use super::scope::Clause;
use crate::error::{Error, Result};
use crate::system::Oid;
use crate::system::functions::{AggregateKind, Function, FunctionKind};
use crate::tree::walk::{children, contains};
use crate::tree::{AggregateCall, Cast, Expr, Kind, SortKey};
use grammar::tree::{FuncCall, GroupingFunc};

impl Binder<'_> {
    pub(super) fn aggregate_call(&mut self, name: &str, call: &FuncCall) -> Result<Expr> {
        let location = call.location;
        // Its arguments may not contain aggregates of the same level: that is checked when the level is known.
        let (mut values, names) =
            self.in_clause(Clause::AggregateArgument, |binder| binder.call_arguments(&call.args))?;
        let direct_arguments = if call.agg_within_group { values.len() } else { 0 };
        let order_by =
            self.in_clause(Clause::AggregateArgument, |binder| match call.agg_within_group {
                true => binder.within_group(&call.agg_order),
                false => binder.sort_keys_of_expressions(&call.agg_order),
            })?;
        if call.agg_within_group {
            values.extend(order_by.iter().map(|key| key.expr.clone()));
        }
        let filter = self.condition(call.agg_filter.as_deref(), Clause::Filter, "FILTER")?;
        let resolved = self.resolve_bound(name, values, &names, call.func_variadic, location)?;
        let function = resolved.function;
        if function.kind == FunctionKind::Window {
            let message = format!("window function {name} requires an OVER clause");
            return Err(Error::new("42809", message).at(location));
        }
        if function.kind != FunctionKind::Aggregate {
            let message = format!("{name} is not an aggregate function");
            return Err(Error::new("42809", message).at(location));
        }
        check_within_group(function, call.agg_within_group).map_err(|error| error.at(location))?;
        let mut arguments = resolved.call.arguments;
        let order_by = if call.agg_within_group {
            // The keys are the last arguments, as the function takes them.
            let mut keys = arguments.split_off(direct_arguments.min(arguments.len()));
            if function.aggregate == AggregateKind::Hypothetical {
                self.place_among(&mut arguments, &mut keys, name)
                    .map_err(|error| error.at(location))?;
            }
            let pairs = keys.into_iter().zip(order_by);
            pairs.map(|(expr, key)| SortKey { expr, ..key }).collect()
        } else {
            order_by
        };
        if call.agg_star && !arguments.is_empty() {
            return Err(Error::missing("this call").at(location));
        }
        if !call.agg_star
            && arguments.is_empty()
            && order_by.is_empty()
            && function.aggregate == AggregateKind::Normal
        {
            return Err(no_star(name).at(location));
        }
        let mut order_by: Vec<SortKey> = order_by;
        if call.agg_distinct && !call.agg_within_group {
            order_by_arguments(call, &mut order_by, &arguments)?;
        }
        let aggregate = AggregateCall {
            function: function.oid,
            arguments,
            distinct: call.agg_distinct,
            order_by,
            filter,
            direct_arguments,
            sql_type: resolved.sql_type,
            user: None,
        };
        self.place_aggregate(aggregate, location)
    }

    /// Converts the values of a hypothetical row and the keys to their common types.
    fn place_among(&mut self, row: &mut [Expr], keys: &mut [Expr], name: &str) -> Result<()> {
        if row.len() != keys.len() {
            let types: Vec<String> =
                row.iter().chain(&*keys).map(|value| value.sql_type.oid.to_string()).collect();
            let message = format!("function {name}({}) does not exist", types.join(", "));
            let hint = format!(
                "To use the hypothetical-set aggregate {name}, the number of hypothetical direct arguments (here {}) \
                 must match the number of ordering columns (here {}).",
                row.len(),
                keys.len()
            );
            return Err(Error::new("42883", message).hint(hint));
        }
        for (value, key) in row.iter_mut().zip(keys) {
            let oid = self.common([&*value, &*key].into_iter(), "WITHIN GROUP")?;
            for side in [value, key] {
                let taken = std::mem::replace(side, Expr::null(oid));
                *side = self.convert_to_common(taken, oid, "WITHIN GROUP")?;
            }
        }
        Ok(())
    }

    /// Gives an aggregate to the query level that its columns belong to.
    pub(super) fn place_aggregate(
        &mut self,
        aggregate: AggregateCall,
        location: i32,
    ) -> Result<Expr> {
        let parts = || {
            let keys = aggregate.order_by.iter().map(|key| &key.expr);
            aggregate.arguments.iter().chain(&aggregate.filter).chain(keys)
        };
        let depth = self.level_of(&aggregate)?;
        let Some(scope) = self.scopes.get_mut(depth) else {
            return Err(Error::missing("an aggregate here").at(location));
        };
        let select = scope.select;
        for part in parts() {
            let nested =
                |expr: &Expr| matches!(&expr.kind, Kind::Aggregate(of, _) if *of == select);
            if contains(part, &mut |expr| nested(expr)) {
                return Err(
                    Error::new("42803", "aggregate function calls cannot be nested").at(location)
                );
            }
            if contains(
                part,
                &mut |expr| matches!(&expr.kind, Kind::Window(of, _) if *of == select),
            ) {
                let message = "aggregate function calls cannot contain window function calls";
                return Err(Error::new("42803", message).at(location));
            }
            if contains(part, &mut |expr| matches!(&expr.kind, Kind::Set(..))) {
                let message =
                    "aggregate function calls cannot contain set-returning function calls";
                return Err(Error::new("0A000", message).at(location));
            }
        }
        match scope.clause {
            Clause::Targets
            | Clause::Having
            | Clause::OrderBy
            | Clause::DistinctOn
            | Clause::Window => {}
            Clause::AggregateArgument => {
                return Err(
                    Error::new("42803", "aggregate function calls cannot be nested").at(location)
                );
            }
            Clause::FromSubquery => {
                let message =
                    "aggregate functions are not allowed in FROM clause of their own query level";
                return Err(Error::new("42803", message).at(location));
            }
            other => {
                let message = format!("aggregate functions are not allowed in {}", other.name());
                return Err(Error::new("42803", message).at(location));
            }
        }
        let sql_type = aggregate.sql_type;
        let place = match scope.aggregates.iter().position(|known| *known == aggregate) {
            Some(place) if !is_volatile(&aggregate) => place,
            _ => {
                scope.aggregates.push(aggregate);
                scope.aggregates.len() - 1
            }
        };
        Ok(Expr::new(Kind::Aggregate(select, place), sql_type, location))
    }

    /// The query level that the rows of an aggregate belong to.
    fn level_of(&self, aggregate: &AggregateCall) -> Result<usize> {
        let count = aggregate.direct_arguments.min(aggregate.arguments.len());
        let (direct, of_rows) = aggregate.arguments.split_at(count);
        let keys = aggregate.order_by.iter().map(|key| &key.expr);
        let parts = of_rows.iter().chain(&aggregate.filter).chain(keys);
        let depth = parts.filter_map(|expr| self.deepest(expr)).max();
        let depth = depth.unwrap_or_else(|| self.scopes.len().saturating_sub(1));
        match direct.iter().find(|expr| self.deepest(expr) > Some(depth)) {
            Some(deeper) => {
                let message = "outer-level aggregate cannot contain a lower-level variable in its direct arguments";
                Err(Error::new("42803", message).at(deeper.location.0))
            }
            None => Ok(depth),
        }
    }

    /// The deepest query level that an expression refers to, among those that are open.
    pub(super) fn deepest(&self, expr: &Expr) -> Option<usize> {
        let mut deepest = None;
        let open = self.scopes.len();
        let mut note = |depth: Option<usize>| {
            if let Some(depth) = depth.filter(|depth| *depth < open) {
                deepest = deepest.max(Some(depth));
            }
        };
        contains(expr, &mut |part| {
            match &part.kind {
                Kind::Column(relation, _) | Kind::WholeRow(relation) | Kind::TableOid(relation) => {
                    note(self.level_of_relation(*relation));
                }
                Kind::Aggregate(select, _) | Kind::Window(select, _) | Kind::Set(select, _) => {
                    note(self.scopes.iter().position(|scope| scope.select == *select));
                }
                _ => {}
            }
            false
        });
        deepest
    }

    /// The open query level whose FROM has a relation.
    fn level_of_relation(&self, relation: crate::tree::RelationId) -> Option<usize> {
        let depth = *self.depth_of_relation.get(&relation)?;
        let scope = self.scopes.get(depth)?;
        scope.items.iter().any(|item| item.relation == Some(relation)).then_some(depth)
    }

    /// GROUPING(...).
    pub(super) fn grouping(&mut self, function: &GroupingFunc) -> Result<Expr> {
        let arguments =
            self.in_clause(Clause::AggregateArgument, |binder| binder.expressions(&function.args))?;
        // It belongs to the query level of its arguments.
        let here = self.scopes.len().saturating_sub(1);
        let depth = arguments.iter().filter_map(|argument| self.deepest(argument)).max();
        let Some(scope) = self.scopes.get_mut(depth.unwrap_or(here)) else {
            return Err(Error::missing("GROUPING here").at(function.location));
        };
        let select = scope.select;
        match scope.clause {
            Clause::Targets
            | Clause::Having
            | Clause::OrderBy
            | Clause::DistinctOn
            | Clause::Window => {}
            Clause::AggregateArgument => {
                let message = "aggregate function calls cannot be nested";
                return Err(Error::new("42803", message).at(function.location));
            }
            other => {
                let message = format!("grouping operations are not allowed in {}", other.name());
                return Err(Error::new("42803", message).at(function.location));
            }
        }
        // The keys are not known yet: the grouping replaces the arguments by them.
        scope.groupings.push((arguments, function.location));
        let kind = Kind::Grouping(select, vec![scope.groupings.len() - 1]);
        Ok(Expr::new(kind, Oid::INT4, function.location))
    }
}

/// The error of an aggregate without arguments that is called without a star.
pub(super) fn no_star(name: &str) -> Error {
    let message = format!("{name}(*) must be used to call a parameterless aggregate function");
    Error::new("42809", message)
}

/// Whether an argument is an expression with a conversion around it that is not written.
fn is_converted(argument: &Expr, expr: &Expr) -> bool {
    let is_hidden = |cast: &Cast| !cast.is_explicit && *cast.value == *expr;
    argument == expr || matches!(&argument.kind, Kind::Cast(cast) if is_hidden(cast))
}

fn is_volatile(aggregate: &AggregateCall) -> bool {
    aggregate.arguments.iter().any(is_volatile_expr)
}

/// Whether an expression calls a volatile function.
pub(super) fn is_volatile_expr(expr: &Expr) -> bool {
    use crate::system::functions::{Volatility, of};
    let mut found = match &expr.kind {
        Kind::Call(call) if let Some(executed) = &call.executed => executed.is_volatile,
        Kind::Call(call) => {
            of(call.function).is_some_and(|function| function.volatility == Volatility::Volatile)
        }
        Kind::Foreign(call) => call.volatility == Volatility::Volatile,
        _ => false,
    };
    if !found {
        children(expr, &mut |part| found = found || grammar::growing(|| is_volatile_expr(part)));
    }
    found
}

/// Refuses WITHIN GROUP where the aggregate has none, and requires it where it has.
fn check_within_group(function: &Function, within_group: bool) -> Result<()> {
    let name = function.name;
    match (function.aggregate, within_group) {
        (AggregateKind::Normal, true) => {
            let message =
                format!("{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP");
            return Err(Error::new("42809", message));
        }
        (AggregateKind::OrderedSet | AggregateKind::Hypothetical, false) => {
            let message = format!("WITHIN GROUP is required for ordered-set aggregate {name}");
            return Err(Error::new("42809", message));
        }
        _ => {}
    }
    Ok(())
}

/// ORDER BY of an aggregate with DISTINCT consists of arguments. It may name one before it was converted.
pub(super) fn order_by_arguments(
    call: &FuncCall,
    order_by: &mut [SortKey],
    arguments: &[Expr],
) -> Result<()> {
    for key in order_by.iter_mut() {
        if let Some(argument) = arguments.iter().find(|argument| is_converted(argument, &key.expr))
        {
            key.expr = argument.clone();
        }
        if !arguments.contains(&key.expr) || grammar::has_other_collation(call) {
            let message =
                "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list";
            return Err(Error::new("42P10", message).at(key.expr.location.0));
        }
    }
    Ok(())
}
