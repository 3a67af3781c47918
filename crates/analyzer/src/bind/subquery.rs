//! Subqueries in expressions.

use super::Binder;
use super::array::refuse_vectors;
use super::names;
use super::scope::{Clause, Scope};
use crate::error::{Error, Result};
use crate::system::{Oid, SqlType};
use crate::tree::{
    Column, Expr, From, Kind, Output, Query, Relation, Select, Source, Subquery, SubqueryKind,
};
use grammar::tree::{NodeEnum, RowExpr, SubLink, SubLinkType};

impl Binder<'_> {
    pub(super) fn sub_link(&mut self, link: &SubLink) -> Result<Expr> {
        let location = link.location;
        let definition = match self.scopes.last().map(|scope| scope.clause) {
            Some(Clause::Check) => Some("check constraint"),
            Some(Clause::Generated) => Some("column generation expression"),
            Some(Clause::Default | Clause::ParameterDefault) => Some("DEFAULT expression"),
            Some(Clause::Transform) => Some("transform expression"),
            Some(Clause::IndexExpression) => Some("index expression"),
            Some(Clause::IndexPredicate) => Some("index predicate"),
            Some(Clause::CopyWhere) => Some("COPY FROM WHERE condition"),
            _ => None,
        };
        if let Some(definition) = definition {
            let message = format!("cannot use subquery in {definition}");
            return Err(Error::new("0A000", message).at(location));
        }
        let NodeEnum::SelectStmt(select) = names::node(link.subselect.as_deref())? else {
            return Err(Error::missing("this subquery").at(location));
        };
        let mut query = self.query(select)?;
        self.settle_outputs(&mut query)?;
        let one_column = |query: &Query| match query.columns.as_slice() {
            [column] => Ok(column.sql_type),
            [] => Err(Error::new("42601", "subquery must return a column").at(location)),
            _ => Err(Error::new("42601", "subquery must return only one column").at(location)),
        };
        match link.sub_link_type() {
            SubLinkType::ExistsSublink => {
                subquery(SubqueryKind::Exists, query, Oid::BOOL.into(), location)
            }
            SubLinkType::ExprSublink => {
                let sql_type = one_column(&query)?;
                subquery(SubqueryKind::Scalar, query, sql_type, location)
            }
            SubLinkType::ArraySublink => {
                let item = one_column(&query)?.oid;
                refuse_vectors(item, location)?;
                let array = match item.element() {
                    Some(_) => item,
                    None => item.array().ok_or_else(|| {
                        let message = format!("could not find array type for data type {item}");
                        Error::new("42704", message).at(location)
                    })?,
                };
                subquery(SubqueryKind::Array, query, array.into(), location)
            }
            SubLinkType::AnySublink => self.compared(link, query, false),
            SubLinkType::AllSublink => self.compared(link, query, true),
            _ => Err(Error::missing("this kind of subquery").at(location)),
        }
    }

    /// `(a, b) = (SELECT c, d ...)`: the comparison with the query's only row.
    pub(super) fn compare_with_query(
        &mut self,
        name: &str,
        row: &RowExpr,
        link: &SubLink,
        location: i32,
    ) -> Result<Expr> {
        let values = self.row_values(&row.args)?;
        let NodeEnum::SelectStmt(select) = names::node(link.subselect.as_deref())? else {
            return Err(Error::missing("this subquery").at(location));
        };
        let id = self.next_select();
        self.scopes.push(Scope::new(id));
        let query = self.query(select).and_then(|mut query| {
            self.settle_outputs(&mut query)?;
            Ok(query)
        });
        let relation = self.next_relation();
        self.scopes.pop();
        let query = query?;
        let columns = query.columns.clone();
        if columns.len() != values.len() {
            let few = if columns.len() > values.len() { "many" } else { "few" };
            let message = format!("subquery has too {few} columns");
            return Err(Error::new("42601", message).at(location));
        }
        let column = |(at, column): (usize, &Column)| {
            Expr::new(Kind::Column(relation, at), column.sql_type, location)
        };
        let fields = columns.iter().enumerate().map(column).collect();
        let left = Expr::new(Kind::Row(values), Oid::RECORD, row.location);
        let right = Expr::new(Kind::Row(fields), Oid::RECORD, location);
        let test = self.compare_rows(name, left, right, location)?;
        let source = Source::Query(Box::new(query));
        let alias = "row".to_owned();
        let relation = Relation { id: relation, alias, columns, is_lateral: false, source };
        let output = vec![Output { name: "?column?".to_owned(), expr: test }];
        let from = vec![From::Relation(Box::new(relation))];
        let query = Query::from(Select::plain(id, from, output));
        subquery(SubqueryKind::Scalar, query, Oid::BOOL.into(), location)
    }

    /// `value operator ANY (query)`; IN has no operator's name.
    fn compared(&mut self, link: &SubLink, query: Query, is_all: bool) -> Result<Expr> {
        let location = link.location;
        let (_, name) = names::qualified(&link.oper_name);
        let name = if name.is_empty() { "=" } else { name };
        let value = self.required(link.testexpr.as_deref())?;
        let outputs: Vec<Expr> = query
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| Expr::new(Kind::Output(at), column.sql_type, location))
            .collect();
        let width = if let Kind::Row(values) = &value.kind { values.len() } else { 1 };
        if outputs.len() > width {
            return Err(Error::new("42601", "subquery has too many columns").at(location));
        }
        if outputs.len() < width {
            return Err(Error::new("42601", "subquery has too few columns").at(location));
        }
        let test = match value.kind {
            Kind::Row(_) => {
                let right = Expr::new(Kind::Row(outputs), Oid::RECORD, location);
                self.compare_rows(name, value, right, location)?
            }
            _ => {
                let mut outputs = outputs;
                self.apply(name, Some(value), outputs.remove(0), location)?
            }
        };
        if test.sql_type.oid != Oid::BOOL {
            let message = format!(
                "row comparison operator must yield type boolean, not type {}",
                test.sql_type.oid
            );
            return Err(Error::new("42804", message).at(location));
        }
        let test = Box::new(test);
        let kind = if is_all { SubqueryKind::All(test) } else { SubqueryKind::Any(test) };
        subquery(kind, query, Oid::BOOL.into(), location)
    }

    /// Whether an aggregate of the level may stand where a subquery of FROM is bound.
    pub(super) fn in_from<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.in_clause(Clause::FromSubquery, bind)
    }
}

fn subquery(kind: SubqueryKind, query: Query, sql_type: SqlType, location: i32) -> Result<Expr> {
    Ok(Expr::new(Kind::Subquery(Box::new(Subquery { kind, query })), sql_type, location))
}
