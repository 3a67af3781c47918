//! FROM.

use super::expression::too_deep;
use super::function::result_columns;
use super::names::{self, qualified};
use super::scope::{Clause, Item};
use super::{Binder, Table};
use crate::error::{Error, Result};
use crate::system::{Oid, SqlType};
use crate::tree::walk::{contains, query_expressions};
use crate::tree::{Column, Expr, From, Kind, Query, Relation, RelationId, SetCall, Source};
use grammar::tree::{Alias, FuncCall, Node, NodeEnum, RangeFunction, RangeSubselect, RangeVar};

/// A bound item of FROM.
pub(super) struct Part {
    pub from: From,
    /// The names that it adds to the level.
    pub items: Vec<Item>,
    /// The columns that it shows as a whole.
    pub columns: Vec<(String, Expr)>,
}

/// How many relations one FROM may join. Planning 200 of them takes seconds.
const RELATIONS_MAX: usize = 200;

/// Refuses a FROM of too many relations.
fn refuse_many(nodes: &[Node]) -> Result<()> {
    let (mut open, mut count): (Vec<&Node>, _) = (nodes.iter().collect(), 0);
    while let Some(node) = open.pop() {
        match &node.node {
            Some(NodeEnum::JoinExpr(join)) => {
                open.extend(
                    [&join.larg, &join.rarg].into_iter().filter_map(|side| side.as_deref()),
                );
            }
            _ => count += 1,
        }
        if count > RELATIONS_MAX {
            let hint = format!("A FROM may have {RELATIONS_MAX} relations.");
            return Err(too_deep().hint(hint));
        }
    }
    Ok(())
}

impl Binder<'_> {
    /// Binds FROM and adds its names to the level.
    pub(super) fn bind_from(&mut self, nodes: &[Node]) -> Result<Vec<From>> {
        refuse_many(nodes)?;
        let mut from = Vec::with_capacity(nodes.len());
        for node in nodes {
            let part = self.bind_from_item(names::node(Some(node))?)?;
            self.add_items(part.items, true)?;
            from.push(part.from);
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.items.iter_mut().for_each(|item| item.is_lateral_only = false);
        }
        Ok(from)
    }

    /// Adds names to the level; until FROM ends, only LATERAL sees them.
    pub(super) fn add_items(&mut self, items: Vec<Item>, allows_lateral: bool) -> Result<()> {
        let known = self.scopes.last().map_or(&[][..], |scope| scope.items.as_slice());
        for item in &items {
            if known.iter().any(|known| known.conflicts(item)) {
                let message = format!("table name \"{}\" specified more than once", item.name);
                return Err(Error::new("42712", message));
            }
        }
        self.show_items(items, allows_lateral);
        Ok(())
    }

    /// As [`Self::add_items`], for names that may stand there already: only a reference to such a name is ambiguous.
    pub(super) fn show_items(&mut self, items: Vec<Item>, allows_lateral: bool) {
        let Some(scope) = self.scopes.last_mut() else { return };
        let shown = |item| Item { is_lateral_only: true, allows_lateral, ..item };
        scope.items.extend(items.into_iter().map(shown));
    }

    pub(super) fn bind_from_item(&mut self, node: &NodeEnum) -> Result<Part> {
        grammar::growing(|| match node {
            NodeEnum::RangeVar(range) => self.table(range, None),
            NodeEnum::RangeSubselect(range) => self.derived(range),
            NodeEnum::RangeFunction(range) => self.functions(range),
            NodeEnum::JoinExpr(join) => self.join(join),
            NodeEnum::RangeTableSample(sample) => self.sampled(sample),
            NodeEnum::RangeTableFunc(_) => Err(Error::missing("XMLTABLE")),
            NodeEnum::JsonTable(_) => Err(Error::missing("JSON_TABLE")),
            _ => Err(Error::missing("this item of FROM")),
        })
    }

    /// A table in FROM, or a sample of it: each row with a chance of this percentage.
    pub(super) fn table(&mut self, range: &RangeVar, percentage: Option<f64>) -> Result<Part> {
        let schema = Some(range.schemaname.as_str()).filter(|schema| !schema.is_empty());
        let name = range.relname.as_str();
        let location = range.location;
        if schema.is_none()
            && let Some(found) = self.cte(name, location)?
        {
            if percentage.is_some() {
                return Err(not_a_table(location));
            }
            let (id, columns, hidden) = found;
            let shown = columns.len() - hidden;
            let (source, alias) = (Source::Cte(id), range.alias.as_ref());
            let part = self.relation(name, None, alias, columns, source, &[], location)?;
            return Ok(showing(part, shown));
        }
        let table = self.catalog.relation(schema, name).map_err(|error| error.at(location))?;
        let Some(table) = table else {
            let shown = schema.map_or(name.to_owned(), |schema| format!("{schema}.{name}"));
            return Err(
                Error::new("42P01", format!("relation \"{shown}\" does not exist")).at(location)
            );
        };
        let source = match percentage {
            Some(percentage) => self.sample_of(&table, percentage)?,
            None => Source::Table(table.handle),
        };
        let rows = table.rows();
        let schema = table.schema.as_deref();
        let shown = table.columns.len() - table.hidden.len();
        let address = table.address().filter(|_| !table.is_view);
        let part = self.relation(
            name,
            schema,
            range.alias.as_ref(),
            table.columns,
            source,
            &table.key,
            location,
        )?;
        if table.is_view
            && let Some(id) = part.items.first().and_then(|item| item.relation)
        {
            self.tables.remove(&id);
        }
        if let Some(id) = part.items.first().and_then(|item| item.relation) {
            let of_hidden = table.hidden.iter().map(|at| (id, *at));
            self.row_ids.extend(of_hidden);
            self.addresses.extend(address.map(|address| (id, address)));
            self.rows_of.extend(rows.map(|rows| (id, rows)));
        }
        Ok(showing(part, shown))
    }

    /// A relation of the given columns, with the names of its alias.
    #[expect(clippy::too_many_arguments, reason = "each is one property of the relation")]
    fn relation(
        &mut self,
        name: &str,
        schema: Option<&str>,
        alias: Option<&Alias>,
        columns: Vec<Column>,
        source: Source,
        key: &[usize],
        location: i32,
    ) -> Result<Part> {
        let mut columns = columns;
        let shown = alias.map_or(name, |alias| alias.aliasname.as_str());
        if let Some(alias) = alias {
            rename(&mut columns, alias, location)?;
        }
        let id = self.next_relation();
        if matches!(source, Source::Table(_)) {
            let is_of_system = schema.is_none_or(|schema| schema == "pg_catalog");
            self.tables.insert(id, is_of_system);
        }
        if let (Some(scope), false) = (self.scopes.last_mut(), key.is_empty()) {
            scope.keys.push((id, key.to_vec()));
        }
        self.columns_of_relation.insert(id, columns.clone());
        let mut part = part(id, shown, schema.filter(|_| alias.is_none()), columns, source, false);
        if alias.is_some() {
            part.items.iter_mut().for_each(|item| item.aliased = Some(name.to_owned()));
        }
        Ok(part)
    }

    fn derived(&mut self, range: &RangeSubselect) -> Result<Part> {
        let NodeEnum::SelectStmt(select) = names::node(range.subquery.as_deref())? else {
            return Err(Error::missing("this subquery"));
        };
        let bind = |binder: &mut Self| {
            let mut query = binder.in_from(|binder| binder.query(select))?;
            binder.settle_outputs(&mut query)?;
            Ok(query)
        };
        let query = if range.lateral { self.laterally(bind)? } else { bind(self)? };
        let mut columns = query.columns.clone();
        let alias = range.alias.as_ref();
        if let Some(alias) = alias {
            rename(&mut columns, alias, -1)?;
        }
        let is_lateral = range.lateral && self.refers_here(&query);
        let id = self.next_relation();
        let name = alias.map_or("unnamed_subquery", |alias| alias.aliasname.as_str());
        self.note_records(id, &query);
        self.columns_of_relation.insert(id, columns.clone());
        let mut part = part(id, name, None, columns, Source::Query(Box::new(query)), is_lateral);
        if alias.is_none() {
            part.items.iter_mut().for_each(|item| item.is_named = false);
        }
        Ok(part)
    }

    /// Lets what is bound see the items before it in FROM.
    pub(super) fn laterally<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer =
            self.scopes.last_mut().map(|scope| std::mem::replace(&mut scope.is_lateral, true));
        let result = bind(self);
        if let (Some(scope), Some(outer)) = (self.scopes.last_mut(), outer) {
            scope.is_lateral = outer;
        }
        result
    }

    /// Whether a query refers to relations of the current level.
    pub(super) fn refers_here(&self, query: &Query) -> bool {
        let mut found = false;
        query_expressions(query, &mut |expr| found = found || self.expression_refers_here(expr));
        found
    }

    fn expression_refers_here(&self, expr: &Expr) -> bool {
        let Some(scope) = self.scopes.last() else { return false };
        let own = |id: RelationId| scope.items.iter().any(|item| item.relation == Some(id));
        contains(
            expr,
            &mut |part| matches!(&part.kind, Kind::Column(id, _) | Kind::WholeRow(id) | Kind::TableOid(id) if own(*id)),
        )
    }

    fn functions(&mut self, range: &RangeFunction) -> Result<Part> {
        if let Some(part) = self.system_table_of(range)? {
            return Ok(part);
        }
        if let Some(part) = self.routine_in_from(range)? {
            return Ok(part);
        }
        if range.ordinality && !range.coldeflist.is_empty() {
            let message = "WITH ORDINALITY cannot be used with a column definition list";
            let hint = "Put the column definition list inside ROWS FROM().";
            return Err(Error::new("42601", message).hint(hint));
        }
        let mut calls = Vec::new();
        let mut first_name = String::new();
        for node in &range.functions {
            let NodeEnum::List(list) = names::node(Some(node))? else {
                return Err(Error::missing("this function in FROM"));
            };
            let definitions = match list.items.get(1) {
                Some(Node { node: Some(NodeEnum::List(columns)) }) => columns.items.as_slice(),
                _ if range.is_rowsfrom => &[],
                _ => range.coldeflist.as_slice(),
            };
            let defined = self.defined_columns(definitions)?;
            let NodeEnum::FuncCall(call) = names::node(list.items.first())? else {
                return Err(Error::missing("this function in FROM"));
            };
            if first_name.is_empty() {
                first_name = qualified(&call.funcname).1.to_owned();
            }
            calls.extend(self.laterally(|binder| {
                binder
                    .in_clause(Clause::FromFunction, |binder| binder.table_function(call, defined))
            })?);
        }
        self.sets_in_from(calls, &first_name, range)
    }

    /// Functions in FROM, side by side.
    pub(super) fn sets_in_from(
        &mut self,
        calls: Vec<SetCall>,
        first_name: &str,
        range: &RangeFunction,
    ) -> Result<Part> {
        let alias = range.alias.as_ref();
        let name = alias.map_or(first_name, |alias| alias.aliasname.as_str());
        let mut columns: Vec<Column> = calls.iter().flat_map(|call| call.columns.clone()).collect();
        // The alias of a function with one plain value names the column, too.
        let is_scalar = calls.len() == 1 && columns.len() == 1 && calls[0].row.is_none();
        let row = match (calls.as_slice(), range.ordinality) {
            ([call], false) => call.row,
            _ => None,
        };
        if let ([column], Some(alias)) = (columns.as_mut_slice(), alias)
            && calls.len() == 1
            && is_plain(&calls[0])
        {
            column.name.clone_from(&alias.aliasname);
        }
        if range.ordinality {
            columns.push(Column {
                name: "ordinality".to_owned(),
                sql_type: SqlType::plain(Oid::INT8),
            });
        }
        if let Some(alias) = alias {
            rename(&mut columns, alias, -1)?;
        }
        let is_lateral = calls
            .iter()
            .flat_map(|call| &call.call.arguments)
            .any(|argument| self.expression_refers_here(argument));
        let id = self.next_relation();
        if let (Some(scope), true) = (self.scopes.last_mut(), is_scalar && !range.ordinality) {
            scope.scalar_functions.push(id);
        }
        self.columns_of_relation.insert(id, columns.clone());
        self.row_types.extend(row.map(|row| (id, row)));
        let source = Source::Functions { calls, ordinality: range.ordinality };
        Ok(part(id, name, None, columns, source, is_lateral))
    }

    /// The system table that a function without arguments returns.
    fn system_table_of(&mut self, range: &RangeFunction) -> Result<Option<Part>> {
        let [Node { node: Some(NodeEnum::List(list)) }] = range.functions.as_slice() else {
            return Ok(None);
        };
        let Some(Node { node: Some(NodeEnum::FuncCall(call)) }) = list.items.first() else {
            return Ok(None);
        };
        let (schema, name) = qualified(&call.funcname);
        let makes_rows = |function: &crate::system::functions::Function| {
            function.returns_set && function.arguments.is_empty() && !function.columns.is_empty()
        };
        let is_plain = call.args.is_empty() && !range.ordinality && range.coldeflist.is_empty();
        if schema.is_some() || !is_plain || !crate::system::functions::named(name).any(makes_rows) {
            return Ok(None);
        }
        let Some(table) = self.catalog.relation(Some("pg_catalog"), name)? else {
            return Ok(None);
        };
        let (source, alias) = (Source::Table(table.handle), range.alias.as_ref());
        self.relation(name, None, alias, table.columns, source, &[], call.location).map(Some)
    }

    /// A function in FROM. `unnest` of several arrays is one call for each.
    fn table_function(&mut self, call: &FuncCall, defined: Vec<Column>) -> Result<Vec<SetCall>> {
        let location = call.location;
        let (schema, name) = qualified(&call.funcname);
        if !self.catalog.routines(schema, name)?.is_empty()
            && let Some(set) = self.executed_among(call, &defined)?
        {
            return Ok(vec![set]);
        }
        let name = self.name_in_schema(schema, name, call)?;
        let (values, names) = self.call_arguments(&call.args)?;
        let groups: Vec<Vec<Expr>> = if name == "unnest" && values.len() > 1 && names.is_empty() {
            values.into_iter().map(|value| vec![value]).collect()
        } else {
            vec![values]
        };
        let mut calls = Vec::new();
        for values in groups {
            let resolved =
                self.resolve_bound(name, values, &names, call.func_variadic, location)?;
            use crate::system::functions::FunctionKind;
            match resolved.function.kind {
                FunctionKind::Scalar => {}
                FunctionKind::Aggregate => {
                    let message = "aggregate functions are not allowed in functions in FROM";
                    return Err(Error::new("42803", message).at(location));
                }
                _ => return Err(Error::missing("this function in FROM").at(location)),
            }
            let columns = match (resolved.sql_type.oid, resolved.function.columns.is_empty()) {
                (Oid::RECORD, true) if defined.is_empty() => {
                    let message =
                        "a column definition list is required for functions returning \"record\"";
                    return Err(Error::new("42601", message).at(location));
                }
                (Oid::RECORD, true) => defined.clone(),
                _ if !defined.is_empty() => {
                    let message = "a column definition list is only allowed for functions returning \"record\"";
                    return Err(Error::new("42601", message).at(location));
                }
                (oid, true) if oid.is_composite() => attributes_of(oid),
                _ => result_columns(&resolved, name),
            };
            let returns_set = resolved.function.returns_set;
            let is_defined = !defined.is_empty();
            let row = Some(resolved.sql_type.oid).filter(|oid| oid.is_composite() || is_defined);
            calls.push(SetCall { call: resolved.call, columns, returns_set, row });
        }
        Ok(calls)
    }
}

/// The attributes of a composite type as columns; none of other types.
pub(super) fn attributes_of(oid: Oid) -> Vec<Column> {
    let attributes = oid.attributes().unwrap_or_default().iter().cloned();
    attributes.map(|(name, sql_type)| Column { name, sql_type }).collect()
}

/// Whether the result of a function is a plain value, without a name of its own.
fn is_plain(set: &SetCall) -> bool {
    match &set.call.executed {
        _ if set.row.is_some() => false,
        // The name of an output parameter stays.
        Some(executed) => {
            executed.columns.is_empty()
                && executed.signature.starts_with(&format!("{}(", set.columns[0].name))
        }
        None => crate::system::functions::of(set.call.function)
            .is_some_and(|function| function.columns.is_empty()),
    }
}

/// The error for a sample of what is no table.
pub(super) fn not_a_table(location: i32) -> Error {
    let message = "TABLESAMPLE clause can only be applied to tables and materialized views";
    Error::new("0A000", message).at(location)
}

impl Binder<'_> {
    /// The columns of a column definition list.
    pub(super) fn defined_columns(&self, nodes: &[Node]) -> Result<Vec<Column>> {
        let column = |node: &Node| match names::node(Some(node))? {
            NodeEnum::ColumnDef(column) => {
                let name = column.type_name.as_ref();
                let sql_type =
                    self.type_of_name(name.ok_or_else(|| Error::missing("this column"))?)?;
                Ok(Column { name: column.colname.clone(), sql_type })
            }
            _ => Err(Error::missing("this column")),
        };
        nodes.iter().map(column).collect()
    }
}

/// A relation of which names find only so many columns.
fn showing(mut part: Part, shown: usize) -> Part {
    part.items.iter_mut().for_each(|item| item.columns.truncate(shown));
    part.columns.truncate(shown);
    part
}

/// A table that a statement changes, or whose definition is bound, without its hidden columns.
pub(super) fn part_of(id: RelationId, name: &str, schema: Option<&str>, table: &Table) -> Part {
    let source = Source::Table(table.handle);
    let mut part = part(id, name, schema, table.columns.clone(), source, false);
    for item in &mut part.items {
        let columns = std::mem::take(&mut item.columns).into_iter().enumerate();
        let shown = columns.filter(|(at, _)| !table.hidden.contains(at));
        item.columns = shown.map(|(_, column)| column).collect();
    }
    part
}

/// A relation with its names.
pub(super) fn part(
    id: RelationId,
    name: &str,
    schema: Option<&str>,
    columns: Vec<Column>,
    source: Source,
    is_lateral: bool,
) -> Part {
    let shown = |(at, column): (usize, &Column)| {
        (column.name.clone(), Expr::new(Kind::Column(id, at), column.sql_type, -1))
    };
    let expressions: Vec<(String, Expr)> = columns.iter().enumerate().map(shown).collect();
    let item = Item {
        name: name.to_owned(),
        schema: schema.map(str::to_owned),
        columns: expressions.clone(),
        relation: Some(id),
        aliased: None,
        is_named: true,
        shows_columns: true,
        is_lateral_only: false,
        allows_lateral: true,
    };
    let relation = Relation { id, alias: name.to_owned(), columns, is_lateral, source };
    Part { from: From::Relation(Box::new(relation)), items: vec![item], columns: expressions }
}

/// Gives columns the names of an alias.
pub(super) fn rename(columns: &mut [Column], alias: &Alias, location: i32) -> Result<()> {
    let new = names::parts(&alias.colnames);
    if new.len() > columns.len() {
        let message = format!(
            "table \"{}\" has {} columns available but {} columns specified",
            alias.aliasname,
            columns.len(),
            new.len()
        );
        return Err(Error::new("42P10", message).at(location));
    }
    for (column, name) in columns.iter_mut().zip(new) {
        column.name = name.to_owned();
    }
    Ok(())
}
