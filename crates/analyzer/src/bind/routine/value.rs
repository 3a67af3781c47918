//! Calls of SQL functions, in expressions and in FROM, replaced by what their bodies say.

use super::choice::{Called, Meant};
use crate::bind::aggregate::is_volatile_expr;
use crate::bind::from::{Part, part, rename};
use crate::bind::scope::Clause;
use crate::bind::{Binder, contains, names};
use crate::error::{Error, Result};
use crate::system::casts::CastContext;
use crate::system::functions::Volatility;
use crate::system::{Oid, SqlType};
use crate::tree::places::{each, each_in_query, is_strict};
use crate::tree::walk::query_expressions;
use crate::tree::{
    Body, Column, Expr, ForeignCall, Kind, Limit, Literal, Output, Query, Select, SetCall, Source,
    Subquery, SubqueryKind,
};
use grammar::tree::{FuncCall, Node, NodeEnum, RangeFunction};

impl Binder<'_> {
    /// A call in an expression. `None` if no user has a function of the name.
    pub(in crate::bind) fn routine_call(&mut self, call: &FuncCall) -> Result<Option<Expr>> {
        let location = call.location;
        let meant = match call.over {
            Some(_) => self.in_clause(Clause::Window, |binder| binder.meant(call)),
            None => self.meant(call),
        };
        let called = match meant? {
            None => return Ok(None),
            Some(Meant::BuiltIn(values, names)) => {
                let (_, name) = names::qualified(&call.funcname);
                let resolved =
                    self.resolve_bound(name, values, &names, call.func_variadic, location)?;
                return self.resolved_call(resolved, name, location).map(Some);
            }
            Some(Meant::Routine(called)) => called,
        };
        if called.routine.aggregate.is_some() {
            return self.user_aggregate(called, call).map(Some);
        }
        let name = &called.routine.name;
        let refused = |message: String| Err(Error::new("42809", message).at(location));
        if called.routine.is_procedure {
            let message = format!("{} is a procedure", called.routine.signature());
            return Err(Error::new("42809", message)
                .hint("To call a procedure, use CALL.")
                .at(location));
        }
        if call.agg_star {
            return refused(format!(
                "{name}(*) specified, but {name} is not an aggregate function"
            ));
        }
        if call.over.is_some() {
            return refused(format!(
                "OVER specified, but {name} is not a window function nor an aggregate function"
            ));
        }
        for (given, what) in [
            (call.agg_distinct, "DISTINCT"),
            (call.agg_within_group, "WITHIN GROUP"),
            (!call.agg_order.is_empty(), "ORDER BY"),
            (call.agg_filter.is_some(), "FILTER"),
        ] {
            if given {
                return refused(format!(
                    "{what} specified, but {name} is not an aggregate function"
                ));
            }
        }
        self.value_of_routine(called, location).map(Some)
    }

    /// The value of a function; in a select list also its rows.
    fn value_of_routine(&mut self, called: Called, location: i32) -> Result<Expr> {
        let index = self.part_of_index();
        if is_plain_foreign(&called) && index.is_none() {
            return self.foreign_value(called, location);
        }
        let is_plain = !called.routine.returns_set && called.result.catalog_name() != "void";
        if called.routine.language == "sql" && is_plain && !self.executes_all {
            let before = self.before();
            match self.expanded_value(&called, location) {
                Err(error) if error.is_missing => self.go_back(&before),
                value => return value,
            }
        }
        if let Some(part) = index {
            return Err(in_index(&called, part, location));
        }
        self.executed_value(called, location)
    }

    /// The value of a function that runs for rows. The conditions of a domain are checked behind it.
    fn foreign_value(&mut self, called: Called, location: i32) -> Result<Expr> {
        let result = SqlType::plain(called.result);
        let call = ForeignCall {
            function: called.routine.id,
            volatility: called.routine.volatility,
            is_strict: called.routine.is_strict,
            arguments: called.arguments,
        };
        let value = Expr::new(Kind::Foreign(call), result.base(), location);
        if result.base() == result {
            return Ok(value);
        }
        let converted = self.coerce(value, result, CastContext::Explicit)?;
        converted.ok_or_else(|| Error::missing("a value of this domain").at(location))
    }

    /// The part of an index that is being bound, if one is.
    fn part_of_index(&self) -> Option<&'static str> {
        match self.scopes.last()?.clause {
            Clause::IndexExpression => Some("expression"),
            Clause::IndexPredicate => Some("predicate"),
            _ => None,
        }
    }

    /// The value of a SQL function, as its body says it.
    fn expanded_value(&mut self, called: &Called, location: i32) -> Result<Expr> {
        let routine = &called.routine;
        let missing = |what: &str| {
            Err(Error::missing(format!("{what} such as {} here", routine.signature())).at(location))
        };
        let body = self.body_of(called).map_err(|error| elsewhere(error, location))?;
        let (query, places) = body;
        let is_row = called.result.is_row() && !is_whole(&query, called.result);
        let mut value = match as_expressions(query) {
            Ok(outputs) if is_row => {
                let values = outputs.into_iter().map(|output| output.expr).collect();
                let row = Expr::new(Kind::Row(values), Oid::RECORD, location);
                self.coerce(row, called.result.into(), CastContext::Assignment)?
                    .ok_or_else(|| Error::missing("this row"))?
            }
            Ok(mut outputs) => match outputs.pop() {
                Some(output) => output.expr,
                None => return missing("a function without a result"),
            },
            Err(_) if is_row => return missing("a function that returns a row"),
            Err(query) => {
                if has_volatile(&query) {
                    return missing("a function whose query is volatile,");
                }
                let query = first_row(*query);
                let sql_type = query.columns.first().map(|column| column.sql_type);
                let sql_type = sql_type.unwrap_or(SqlType::plain(called.result));
                let kind = SubqueryKind::Scalar;
                let subquery = Subquery { kind, query };
                Expr::new(Kind::Subquery(Box::new(subquery)), sql_type, location)
            }
        };
        if routine.is_strict && !is_strict(&value, &places) {
            value = self.unless_null(&places, value)?;
        }
        let mut uses = vec![0; places.len()];
        each(&mut value, &places, &mut |_, number| uses[number] += 1);
        self.refuse_repeated(called, &uses, location)?;
        each(&mut value, &places, &mut |place, number| {
            *place = called.arguments[number].clone();
        });
        value.location = crate::tree::Location(location);
        if called.result == Oid::RECORD {
            self.named_rows.push((value.clone(), called.columns.clone()));
        }
        Ok(value)
    }

    /// Refuses a volatile argument that the body does not use once.
    fn refuse_repeated(&self, called: &Called, uses: &[usize], location: i32) -> Result<()> {
        let repeated = |(value, uses): (&Expr, &usize)| *uses != 1 && is_volatile_expr(value);
        match called.arguments.iter().zip(uses).any(repeated) {
            true => {
                let what = format!(
                    "a volatile argument that {} does not use exactly once",
                    called.routine.signature()
                );
                Err(Error::missing(what).at(location))
            }
            false => Ok(()),
        }
    }

    /// A function in FROM. `None` if it is none of a user.
    pub(in crate::bind) fn routine_in_from(
        &mut self,
        range: &RangeFunction,
    ) -> Result<Option<Part>> {
        let [Node { node: Some(NodeEnum::List(list)) }] = range.functions.as_slice() else {
            return Ok(None);
        };
        let Some(Node { node: Some(NodeEnum::FuncCall(call)) }) = list.items.first() else {
            return Ok(None);
        };
        if list.items.get(1).is_some_and(|node| matches!(node.node, Some(NodeEnum::List(_)))) {
            return Ok(None);
        }
        let meant = self.laterally(|binder| {
            binder.in_clause(Clause::FromFunction, |binder| binder.meant(call))
        })?;
        let Some(Meant::Routine(called)) = meant else { return Ok(None) };
        let location = call.location;
        let defined = self.defined_columns(&range.coldeflist)?;
        refuse_in_from(&called, &defined, location)?;
        let is_alone = range.functions.len() == 1 && !range.ordinality;
        if is_plain_foreign(&called) && called.columns.is_empty() && is_alone {
            return self.expanded_in_from(called, defined, range, location).map(Some);
        }
        let is_void = called.result.catalog_name() == "void";
        if called.routine.language == "sql" && is_alone && !is_void {
            let before = self.before();
            match self.expanded_in_from(called.clone(), defined.clone(), range, location) {
                Err(error) if error.is_missing => self.go_back(&before),
                part => return part.map(Some),
            }
        }
        let name = called.routine.name.clone();
        let set = self.executed_set(called, defined);
        self.sets_in_from(vec![set], &name, range).map(Some)
    }

    /// The rows of an executed function in ROWS FROM. `None` if it is none of a user.
    pub(in crate::bind) fn executed_among(
        &mut self,
        call: &FuncCall,
        defined: &[Column],
    ) -> Result<Option<SetCall>> {
        let Some(Meant::Routine(called)) = self.meant(call)? else { return Ok(None) };
        refuse_in_from(&called, defined, call.location)?;
        Ok(Some(self.executed_set(called, defined.to_vec())))
    }

    /// The rows of a SQL function, as its body says them.
    fn expanded_in_from(
        &mut self,
        mut called: Called,
        defined: Vec<Column>,
        range: &RangeFunction,
        location: i32,
    ) -> Result<Part> {
        called.columns.extend(defined);
        let alias = range.alias.as_ref();
        let is_scalar = called.columns.is_empty();
        let name = called.routine.name.clone();
        let row = Some(called.result).filter(|oid| oid.is_composite());
        let query = self.rows_of_routine(called, location)?;
        let mut columns: Vec<Column> = query.columns.clone();
        let shown = alias.map_or(name.as_str(), |alias| alias.aliasname.as_str());
        if let (true, [column]) = (is_scalar, columns.as_mut_slice()) {
            shown.clone_into(&mut column.name);
        }
        if let Some(alias) = alias {
            rename(&mut columns, alias, -1)?;
        }
        let is_lateral = self.refers_here(&query);
        let id = self.next_relation();
        if let (Some(scope), true) = (self.scopes.last_mut(), is_scalar) {
            scope.scalar_functions.push(id);
        }
        self.note_records(id, &query);
        self.row_types.extend(row.map(|row| (id, row)));
        self.columns_of_relation.insert(id, columns.clone());
        Ok(part(id, shown, None, columns, Source::Query(Box::new(query)), is_lateral))
    }

    /// The condition that no argument is NULL, which a row with NULLs in it is not.
    fn all_given(&mut self, places: &[Expr]) -> Result<Expr> {
        let mut given = Vec::with_capacity(places.len());
        for place in places {
            let mut value = place.clone();
            if value.sql_type.oid.is_row() {
                let text = self.coerce(value, Oid::TEXT.into(), CastContext::Explicit)?;
                value = text.ok_or_else(|| Error::missing("a row as an argument here"))?;
            }
            given.push(Expr::new(Kind::IsNotNull(Box::new(value)), Oid::BOOL, -1));
        }
        Ok(crate::bind::expression::all_of(given, -1))
    }

    /// NULL if an argument is NULL, else the value.
    fn unless_null(&mut self, places: &[Expr], value: Expr) -> Result<Expr> {
        if places.is_empty() {
            return Ok(value);
        }
        let sql_type = value.sql_type;
        let null = Expr::new(Kind::Literal(Literal::Null), sql_type, -1);
        let branches = vec![(self.all_given(places)?, value)];
        Ok(Expr::new(Kind::Case { branches, otherwise: Box::new(null) }, sql_type, -1))
    }

    /// The rows of a function in FROM.
    fn rows_of_routine(&mut self, called: Called, location: i32) -> Result<Query> {
        if !called.routine.returns_set && called.columns.is_empty() {
            let name = called.routine.name.clone();
            let expr = match called.routine.is_foreign {
                true => self.foreign_value(called, location)?,
                false => self.expanded_value(&called, location)?,
            };
            let select = self.next_select();
            return Ok(Select::plain(select, Vec::new(), vec![Output { name, expr }]).into());
        }
        let (mut query, places) =
            self.body_of(&called).map_err(|error| elsewhere(error, location))?;
        let is_one = has_one_row(&query);
        if is_whole(&query, called.result) {
            query = self.with_fields(query, called.result);
        }
        let routine = &called.routine;
        if !routine.returns_set && (routine.is_strict || !is_one) {
            let what = format!("a function that returns one row such as {}", routine.signature());
            return Err(Error::missing(what).at(location));
        }
        if routine.is_strict && !places.is_empty() {
            let given = self.all_given(&places)?;
            query = self.wrapped(query, Some(given));
        }
        let mut uses = vec![0; places.len()];
        each_in_query(&mut query, &places, &mut |_, number| uses[number] += 1);
        self.refuse_repeated(&called, &uses, location)?;
        each_in_query(&mut query, &places, &mut |place, number| {
            *place = called.arguments[number].clone();
        });
        Ok(query)
    }
}

/// Whether a query has a row of a composite type in its only column.
fn is_whole(query: &Query, row: Oid) -> bool {
    match query.columns.as_slice() {
        [column] => row.is_composite() && column.sql_type.oid == row,
        _ => false,
    }
}

/// The error for a function in an index that is no expression: an index is kept up where there is no session to run it.
fn in_index(called: &Called, part: &str, location: i32) -> Error {
    if called.routine.volatility != Volatility::Immutable {
        let message = format!("functions in index {part} must be marked IMMUTABLE");
        return Error::new("42P17", message);
    }
    let what = format!("{} in an index, which is no expression,", called.routine.signature());
    Error::missing(what).at(location)
}

/// Whether a function runs for rows and gives a plain value for each.
fn is_plain_foreign(called: &Called) -> bool {
    called.routine.is_foreign && !called.routine.returns_set && !called.result.is_row()
}

/// Refuses a call in FROM whose columns nothing says, or two things say.
fn refuse_in_from(called: &Called, defined: &[Column], location: i32) -> Result<()> {
    if called.routine.aggregate.is_some() {
        let message = "aggregate functions are not allowed in functions in FROM";
        return Err(Error::new("42803", message).at(location));
    }
    if called.routine.is_procedure {
        let message = format!("{} is a procedure", called.routine.signature());
        return Err(Error::new("42809", message)
            .hint("To call a procedure, use CALL.")
            .at(location));
    }
    let is_open = called.result == Oid::RECORD && called.columns.is_empty();
    let message = match (is_open, defined.is_empty()) {
        (true, true) => "a column definition list is required for functions returning \"record\"",
        (false, false) => {
            "a column definition list is only allowed for functions returning \"record\""
        }
        _ => return Ok(()),
    };
    Err(Error::new("42601", message).at(location))
}

/// An error in the body of a function, at its call.
fn elsewhere(error: Error, location: i32) -> Error {
    match error.is_missing {
        true => Error { position: None, ..error }.at(location),
        false => Error { position: None, ..error },
    }
}

/// The select list of a query that is nothing else; otherwise the query.
fn as_expressions(query: Query) -> std::result::Result<Vec<Output>, Box<Query>> {
    let is_plain = list_of(&query).is_some();
    match query.body {
        Body::Select(select) if is_plain => Ok(select.output),
        body => Err(Box::new(Query { body, ..query })),
    }
}

/// The select list of a query that is nothing else.
pub(super) fn list_of(query: &Query) -> Option<&[Output]> {
    match &query.body {
        Body::Select(select)
            if is_list(select)
                && query.with.is_empty()
                && query.order_by.is_empty()
                && query.limit == Limit::default() =>
        {
            Some(&select.output)
        }
        _ => None,
    }
}

fn is_list(select: &Select) -> bool {
    *select == Select::plain(select.id, Vec::new(), select.output.clone())
}

/// Whether a query has exactly one row: it has no FROM, or aggregates all rows.
fn has_one_row(query: &Query) -> bool {
    let Body::Select(select) = &query.body else { return false };
    let is_all = select.is_grouped && select.group_by.is_empty() && select.having.is_none();
    let is_alone = select.from.is_empty() && select.filter.is_none() && !select.is_grouped;
    query.limit == Limit::default()
        && select.grouping_sets.is_none()
        && select.sets.is_empty()
        && (is_all || is_alone)
}

/// The first row of a query.
fn first_row(mut query: Query) -> Query {
    if !has_one_row(&query) && query.limit.count.is_none() {
        let one = Expr::new(Kind::Literal(Literal::Integer(1)), Oid::INT8, -1);
        query.limit.count = Some(one);
    }
    query
}

/// Whether a query calls a volatile function.
fn has_volatile(query: &Query) -> bool {
    let mut found = false;
    query_expressions(query, &mut |expr| {
        found = found || contains(expr, &mut |part| is_volatile_expr(part));
    });
    found
}
