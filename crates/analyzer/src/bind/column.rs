//! References to columns and rows.

use super::Binder;
use super::scope::{Clause, Item};
use super::{names, similar};
use crate::error::{Error, Result};
use crate::system::{Oid, SqlType};
use crate::tree::{
    Body, Cast, Column, Conversion, Expr, FieldValue, Kind, Literal, Location, Query, RelationId,
    SubqueryKind,
};
use grammar::tree::{ColumnRef, Node, NodeEnum};

/// The columns that every table has, and `*` does not show.
const SYSTEM_COLUMNS: &[&str] = &["tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"];

/// PostgreSQL's first normal transaction id.
const FIRST_TRANSACTION: &str = "3";

impl Binder<'_> {
    /// A name in an expression.
    pub(super) fn column_reference(&mut self, reference: &ColumnRef) -> Result<Expr> {
        let location = reference.location;
        if let (Some(value), [name]) =
            (self.domain_values.last(), names::parts(&reference.fields).as_slice())
            && *name == "value"
        {
            return Ok(value.clone());
        }
        if self.scopes.last().is_some_and(|scope| scope.clause == Clause::Default) {
            let message = "cannot use column reference in DEFAULT expression";
            return Err(Error::new("0A000", message).at(location));
        }
        if let Some(Node { node: Some(NodeEnum::AStar(_)) }) = reference.fields.last() {
            let parts = names::parts(&reference.fields);
            let Some(name) = parts.last() else {
                return Err(Error::new("42601", "row expansion via \"*\" is not supported here")
                    .at(location));
            };
            return self.whole_row(None, name, location);
        }
        match names::parts(&reference.fields).as_slice() {
            [name] => self.bare_column(name, location),
            [table, name] => self.column_of(None, table, name, location),
            [schema, table, name] => self.column_of(Some(schema), table, name, location),
            [_, schema, table, name] => self.column_of(Some(schema), table, name, location),
            parts => {
                let message =
                    format!("improper qualified name (too many dotted names): {}", parts.join("."));
                Err(Error::new("42601", message).at(location))
            }
        }
    }

    /// Refuses the name of a column that is a variable's, too.
    ///
    /// # Errors
    /// 42702, unless the function prefers one of them.
    pub(super) fn refuse_variable(&self, name: &str, location: i32) -> Result<()> {
        match self.variable(None, name, location).is_some() && !self.catalog.columns_hide() {
            true => Err(ambiguous_variable(name).at(location)),
            false => Ok(()),
        }
    }

    fn bare_column(&mut self, name: &str, location: i32) -> Result<Expr> {
        if let Some(value) = self.hiding_variable(None, name, location) {
            return Ok(value);
        }
        for scope in self.named_scopes() {
            if let Some(found) = scope.column(name, location)? {
                self.refuse_variable(name, location)?;
                return Ok(Expr { location: Location(location), ..found });
            }
        }
        // The name of a relation stands for its row.
        for scope in self.named_scopes() {
            if scope.item(None, name, location)?.is_some() {
                if self.record(name, location).is_some() && !self.catalog.columns_hide() {
                    return Err(ambiguous_variable(name).at(location));
                }
                return self.whole_row(None, name, location);
            }
        }
        let items = self.named_scopes().flat_map(|scope| &scope.items);
        let mut relations = items.filter_map(|item| item.relation);
        if let Some(relation) = relations.find(|relation| self.tables.contains_key(relation))
            && SYSTEM_COLUMNS.contains(&name)
        {
            return self.system_column(relation, name, location);
        }
        let variable =
            self.routine_parameter(name, location).or(self.variable(None, name, location));
        match variable.or_else(|| self.record(name, location)) {
            Some(value) => Ok(value),
            None => Err(self.no_column(name, location)),
        }
    }

    /// A column that every table has, and `*` does not show.
    fn system_column(&mut self, table: RelationId, name: &str, location: i32) -> Result<Expr> {
        let of_transaction = |text: &str| {
            let text = Literal::Text(text.to_owned());
            Ok(Expr::new(Kind::Literal(text), Oid::XID, location))
        };
        let relabelled = |at: usize, of: SqlType, to: Oid| {
            let value = Box::new(Expr::new(Kind::Column(table, at), of, location));
            let cast = Cast { value, conversion: Conversion::Relabel, is_explicit: false };
            Ok(Expr::new(Kind::Cast(cast), to, location))
        };
        match (name, self.tables.get(&table)) {
            ("tableoid", _) => Ok(Expr::new(Kind::TableOid(table), Oid::OID, location)),
            ("ctid", _) if let Some((at, of)) = self.addresses.get(&table).copied() => {
                relabelled(at, of, Oid::TID)
            }
            // The rows of system tables are of no transaction; those of others do not tell.
            ("xmin", Some(true)) => of_transaction(FIRST_TRANSACTION),
            // A row that is new has been locked by nobody.
            ("xmax", _) if let Some((_, at)) = self.written.filter(|(of, _)| *of == table) => {
                match at {
                    Some(at) => relabelled(at, Oid::INT8.into(), Oid::XID),
                    None => of_transaction("0"),
                }
            }
            _ => Err(Error::missing(format!("the system column {name}")).at(location)),
        }
    }

    /// The row id of a table without a primary key, if that is its name.
    fn row_id(&self, table: RelationId, name: &str) -> Option<Expr> {
        let at = *self.row_ids.get(&table)?;
        let column = self.columns_of_relation.get(&table)?.get(at)?;
        (column.name == name).then(|| Expr::new(Kind::Column(table, at), column.sql_type, -1))
    }

    fn no_column(&self, name: &str, location: i32) -> Error {
        let clause = self.scopes.last().map(|scope| scope.clause);
        if SYSTEM_COLUMNS.contains(&name) && clause.is_some_and(Clause::is_of_one_row) {
            return Error::missing(format!("the system column {name} here")).at(location);
        }
        let ctes = self.named_scopes().flat_map(|scope| &scope.ctes);
        let mut hidden = ctes.flat_map(|cte| cte.columns.iter().rev().take(cte.hidden));
        if hidden.any(|column| column.name == name) {
            let what = "a column of SEARCH or CYCLE in the recursive term";
            return Error::missing(what).at(location);
        }
        let message = format!("column \"{name}\" does not exist");
        let error = Error::new("42703", message).at(location);
        let items = || self.named_scopes().flat_map(|scope| &scope.items);
        let named = |item: &&Item| !item.name.is_empty();
        let mut hidden = items()
            .filter(named)
            .filter(|item| item.columns.iter().any(|(column, _)| column == name));
        if let Some(item) = hidden.next() {
            let table = &item.name;
            return error.detail(format!(
                "There is a column named \"{name}\" in table \"{table}\", but it cannot be referenced from this part of the query."
            ));
        }
        let columns = items()
            .filter(named)
            .flat_map(|item| item.columns.iter().map(move |column| (item, column)));
        match similar::nearest(
            name,
            columns.map(|(item, (column, _))| (item.name.as_str(), column.as_str())),
        ) {
            Some((table, column)) => error
                .hint(format!("Perhaps you meant to reference the column \"{table}.{column}\".")),
            None => error,
        }
    }

    fn column_of(
        &mut self,
        schema: Option<&str>,
        table: &str,
        name: &str,
        location: i32,
    ) -> Result<Expr> {
        if schema.is_none()
            && let Some(value) = self.hiding_variable(Some(table), name, location)
        {
            return Ok(value);
        }
        for scope in self.named_scopes() {
            let Some(item) = scope.item(schema, table, location)? else { continue };
            let mut found = item.columns.iter().filter(|(column, _)| column == name);
            return match (found.next(), found.next()) {
                (Some((_, expr)), None) => {
                    Ok(Expr { location: Location(location), ..expr.clone() })
                }
                (Some(_), Some(_)) => {
                    let message = format!("column reference \"{name}\" is ambiguous");
                    Err(Error::new("42702", message).at(location))
                }
                (None, _) => {
                    let table_id = item.relation.filter(|id| self.tables.contains_key(id));
                    if let Some(id) = table_id.filter(|_| SYSTEM_COLUMNS.contains(&name)) {
                        return self.system_column(id, name, location);
                    }
                    if let Some(row_id) = item.relation.and_then(|id| self.row_id(id, name)) {
                        return Ok(row_id);
                    }
                    let columns = item.columns.clone();
                    if let Some(value) = self.computed_column((schema, table), name, location)? {
                        return Ok(value);
                    }
                    if SYSTEM_COLUMNS.contains(&name) && matches!(table, "new" | "old") {
                        let what = format!("the system column {name} of {table}");
                        return Err(Error::missing(what).at(location));
                    }
                    let message = format!("column {table}.{name} does not exist");
                    let error = Error::new("42703", message).at(location);
                    let columns = columns.iter().map(|(column, _)| (table, column.as_str()));
                    Err(match similar::nearest(name, columns) {
                        Some((table, column)) => error.hint(format!(
                            "Perhaps you meant to reference the column \"{table}.{column}\"."
                        )),
                        None => error,
                    })
                }
            };
        }
        // `column.field` of a composite column.
        if schema.is_none() {
            for scope in self.named_scopes() {
                if let Some(row) = scope.column(table, location)?
                    && row.sql_type.oid.is_row()
                    && !row.sql_type.oid.is_composite()
                {
                    return self.field(row, name, location);
                }
            }
        }
        match self.field_of_parameter((schema, table), name, location)? {
            Some(value) => Ok(value),
            None => Err(self.no_table(table).at(location)),
        }
    }

    /// The parameter of a function or the variable of a procedural language that a qualified name means, or a field of one.
    fn field_of_parameter(
        &mut self,
        (label, row): (Option<&str>, &str),
        name: &str,
        location: i32,
    ) -> Result<Option<Expr>> {
        let found = match label {
            Some(label) => {
                let parameter = self.parameter_of_routine(label, row, location);
                parameter.or(self.variable(Some(label), row, location))
            }
            None => {
                let parameter = self.parameter_of_routine(row, name, location);
                if let Some(value) = parameter.or(self.variable(Some(row), name, location)) {
                    return Ok(Some(value));
                }
                let parameter = self.routine_parameter(row, location);
                parameter.or(self.variable(None, row, location))
            }
        };
        match found.filter(|row| row.sql_type.oid.is_composite()) {
            Some(row) => self.field(row, name, location).map(Some),
            None => {
                let parameter = self.parameter_of_routine(row, name, location);
                Ok(parameter.or(self.variable(Some(row), name, location)))
            }
        }
    }

    /// The error for a qualifier that finds nothing.
    pub(super) fn no_table(&self, table: &str) -> Error {
        let items = || self.named_scopes().flat_map(|scope| &scope.items);
        if let Some(item) = items().find(|item| item.aliased.as_deref() == Some(table)) {
            let message = format!("invalid reference to FROM-clause entry for table \"{table}\"");
            let alias = &item.name;
            let hint = format!("Perhaps you meant to reference the table alias \"{alias}\".");
            return Error::new("42P01", message).hint(hint);
        }
        if items().any(|item| item.name == table) {
            let message = format!("invalid reference to FROM-clause entry for table \"{table}\"");
            let hint = format!(
                "There is an entry for table \"{table}\", but it cannot be referenced from this part of the query."
            );
            return Error::new("42P01", message).hint(hint);
        }
        Error::new("42P01", format!("missing FROM-clause entry for table \"{table}\""))
    }

    /// A row as one value.
    pub(super) fn whole_row(
        &mut self,
        schema: Option<&str>,
        name: &str,
        location: i32,
    ) -> Result<Expr> {
        for scope in self.named_scopes() {
            let Some(item) = scope.item(schema, name, location)? else { continue };
            let Some(relation) = item.relation else {
                return Ok(named_row(&item.columns, location));
            };
            // The row of a function that returns one plain value is the value.
            if let [(_, Expr { kind: Kind::Column(..), .. })] = item.columns.as_slice()
                && scope.scalar_functions.contains(&relation)
            {
                let (_, expr) = &item.columns[0];
                return Ok(Expr { location: Location(location), ..expr.clone() });
            }
            let sql_type = self.row_type_of(relation);
            return Ok(Expr::new(Kind::WholeRow(relation), sql_type, location));
        }
        Err(self.no_table(name).at(location))
    }

    /// A field of a row value.
    pub(super) fn field(&mut self, row: Expr, name: &str, location: i32) -> Result<Expr> {
        // A field of a relation's row is a column.
        if let Kind::WholeRow(relation) = row.kind {
            let items = self.named_scopes().flat_map(|scope| &scope.items);
            let mut items = items.filter(|item| item.relation == Some(relation));
            if let Some(item) = items.next() {
                let (table, schema) = (item.name.clone(), item.schema.clone());
                return self.column_of(schema.as_deref(), &table, name, location);
            }
        }
        if !row.sql_type.oid.is_row() {
            let message = format!(
                "column notation .{name} applied to type {}, which is not a composite type",
                row.sql_type.oid
            );
            return Err(Error::new("42809", message).at(location));
        }
        let Some(columns) = self.row_columns(&row) else {
            return Err(Error::missing("a field of this row").at(location));
        };
        match columns.iter().position(|column| column.name == name) {
            Some(field) => {
                let sql_type = columns[field].sql_type;
                let value = FieldValue { row, field, name: name.to_owned() };
                Ok(Expr::new(Kind::Field(Box::new(value)), sql_type, location))
            }
            None => {
                let message = match row.sql_type.oid {
                    Oid::RECORD => {
                        format!("could not identify column \"{name}\" in record data type")
                    }
                    oid => format!("column \"{name}\" not found in data type {oid}"),
                };
                Err(Error::new("42703", message).at(location))
            }
        }
    }

    /// The fields of a row value; `None` if it is no row or its fields are not known.
    pub(super) fn row_columns(&self, row: &Expr) -> Option<Vec<Column>> {
        if let Some(attributes) = row.sql_type.oid.attributes() {
            let attributes = attributes.iter().cloned();
            return Some(attributes.map(|(name, sql_type)| Column { name, sql_type }).collect());
        }
        match &row.kind {
            Kind::Row(_) if self.named_rows.iter().any(|(known, _)| known == row) => {
                let mut rows = self.named_rows.iter();
                rows.find(|(known, _)| known == row).map(|(_, columns)| columns.clone())
            }
            Kind::Row(values) => {
                let column = |(at, value): (usize, &Expr)| Column {
                    name: format!("f{}", at + 1),
                    sql_type: value.sql_type,
                };
                Some(values.iter().enumerate().map(column).collect())
            }
            Kind::NamedRow(names, values) => {
                let column = |(name, value): (&String, &Expr)| Column {
                    name: name.clone(),
                    sql_type: value.sql_type,
                };
                Some(names.iter().zip(values).map(column).collect())
            }
            Kind::WholeRow(relation) => self.columns_of_relation.get(relation).cloned(),
            Kind::Column(relation, column) => {
                self.columns_of_record.get(&(*relation, *column)).cloned()
            }
            Kind::Call(call) => call.executed.as_ref().map(|executed| executed.columns.clone()),
            Kind::Set(select, place) => {
                let scope = self.scopes.iter().find(|scope| scope.select == *select)?;
                Some(scope.sets.get(*place)?.columns.clone())
            }
            Kind::Subquery(subquery) if subquery.kind == SubqueryKind::Scalar => {
                self.row_columns(first_output(&subquery.query)?)
            }
            _ => None,
        }
    }

    /// Keeps the fields of the columns of a subquery that are rows.
    pub(super) fn note_records(&mut self, relation: RelationId, query: &Query) {
        let Body::Select(select) = &query.body else { return };
        for (at, output) in select.output.iter().enumerate() {
            let columns = match output.expr.kind {
                _ if output.expr.sql_type.oid != Oid::RECORD => None,
                // Its level is closed.
                Kind::Set(of, place) if of == select.id => {
                    select.sets.get(place).map(|set| set.columns.clone())
                }
                _ => self.row_columns(&output.expr),
            };
            if let Some(columns) = columns {
                self.columns_of_record.insert((relation, at), columns);
            }
        }
    }
}

/// The row of a join, or of a view through which a table is changed.
fn named_row(columns: &[(String, Expr)], location: i32) -> Expr {
    let (names, values) = columns.iter().cloned().unzip();
    Expr::new(Kind::NamedRow(names, values), Oid::RECORD, location)
}

/// The error for a name that is both a column's and a variable's.
fn ambiguous_variable(name: &str) -> Error {
    let message = format!("column reference \"{name}\" is ambiguous");
    Error::new("42702", message)
        .detail("It could refer to either a PL/pgSQL variable or a table column.")
}

/// The first column of a SELECT.
fn first_output(query: &Query) -> Option<&Expr> {
    match &query.body {
        Body::Select(select) => select.output.first().map(|output| &output.expr),
        _ => None,
    }
}
