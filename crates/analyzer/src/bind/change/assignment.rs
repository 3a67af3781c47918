//! Values that are assigned to columns.

use super::Target;
use crate::bind::scope::Clause;
use crate::bind::{Binder, names};
use crate::error::{Error, Result};
use crate::system::casts::CastContext;
use crate::system::{Oid, SqlType};
use crate::tree::walk::children_mut;
use crate::tree::{
    Expr, From, Kind, Location, Output, Query, Relation, Select, Source, Subquery, SubqueryKind,
    Target as Assigned,
};
use grammar::tree::{MultiAssignRef, Node, NodeEnum, SubLinkType};

impl Binder<'_> {
    /// The assignments of a SET: the columns, and their new values.
    pub(super) fn set_clause(
        &mut self,
        nodes: &[Node],
        target: &Target,
    ) -> Result<(Vec<Assigned>, Vec<Expr>)> {
        let (mut targets, mut values) = (Vec::<Assigned>::new(), Vec::new());
        let mut parts: Vec<usize> = Vec::new();
        // All values are bound before the first is assigned, which may give a parameter its type.
        let bound = nodes.iter().map(|node| self.set_value(node)).collect::<Result<Vec<_>>>()?;
        for (node, bound) in nodes.iter().zip(bound) {
            let assignment = super::assigned(node)?;
            let column = target.column(assignment)?;
            let known = targets.iter().position(|known| known.column == column);
            if !assignment.indirection.is_empty() {
                let value = bound.ok_or_else(|| {
                    let message = "cannot set an array element to DEFAULT";
                    Error::new("0A000", message).at(assignment.location)
                })?;
                // Parts of one column are assigned to one after the other.
                let whole = match known {
                    Some(known) if parts.contains(&column) => values.remove(known),
                    Some(_) => return Err(target.assigned_twice(column)),
                    None => target.value(column),
                };
                let value = self.with_part(whole, target, column, assignment, value)?;
                match known {
                    Some(known) => values.insert(known, value),
                    None => {
                        parts.push(column);
                        targets.push(Assigned { column, is_default: false });
                        values.push(value);
                    }
                }
                continue;
            }
            if known.is_some() {
                return Err(target.assigned_twice(column));
            }
            // Through a view, DEFAULT is that of the view, which is NULL without one.
            let is_default = bound.is_none() && target.view.is_none();
            targets.push(Assigned { column, is_default });
            values.push(match bound {
                Some(value) => self.assigned_value(value, target, column)?,
                None if target.view.is_some() && target.has_own_default(column) => {
                    Expr::null(SqlType::plain(target.table.columns[column].sql_type.oid))
                }
                None => self.default_value(target, column)?,
            });
        }
        Ok((targets, values))
    }

    /// The value of an assignment as it is written; `None` is DEFAULT.
    fn set_value(&mut self, node: &Node) -> Result<Option<Expr>> {
        let value = names::node(super::assigned(node)?.val.as_deref())?;
        self.in_clause(Clause::Update, |binder| match value {
            NodeEnum::MultiAssignRef(part) => binder.part_of_row(part),
            NodeEnum::SetToDefault(_) => Ok(None),
            value => binder.expression(value).map(Some),
        })
    }

    /// The value of one column of `(a, b) = ...`; `None` is DEFAULT.
    fn part_of_row(&mut self, part: &MultiAssignRef) -> Result<Option<Expr>> {
        let (column, count) = (part.colno, part.ncolumns);
        let at = usize::try_from(column - 1).unwrap_or_default();
        let wrong = |location| {
            let message = "number of columns does not match number of values";
            Error::new("42601", message).at(location)
        };
        match names::node(part.source.as_deref())? {
            NodeEnum::RowExpr(row) => {
                if i32::try_from(row.args.len()).ok() != Some(count) {
                    return Err(wrong(row.location));
                }
                match names::node(row.args.get(at))? {
                    NodeEnum::SetToDefault(_) => Ok(None),
                    value => self.expression(value).map(Some),
                }
            }
            NodeEnum::SubLink(link) if link.sub_link_type() == SubLinkType::ExprSublink => {
                let NodeEnum::SelectStmt(select) = names::node(link.subselect.as_deref())? else {
                    return Err(Error::missing("this subquery").at(link.location));
                };
                let mut query = self.query(select)?;
                self.settle_outputs(&mut query)?;
                if i32::try_from(query.columns.len()).ok() != Some(count) {
                    return Err(wrong(link.location));
                }
                Ok(Some(self.column_of_query(query, at, link.location)))
            }
            _ => Err(Error::missing("an assignment of this row")),
        }
    }

    /// `(SELECT column FROM (query))`.
    fn column_of_query(&mut self, query: Query, at: usize, location: i32) -> Expr {
        let (id, relation) = (self.next_select(), self.next_relation());
        let columns = query.columns.clone();
        let column = columns[at].clone();
        let sql_type = column.sql_type;
        let value = Expr::new(Kind::Column(relation, at), sql_type, location);
        let source = Source::Query(Box::new(query));
        let alias = "unnamed_subquery".to_owned();
        let from = Relation { id: relation, alias, columns, is_lateral: false, source };
        let output = vec![Output { name: column.name, expr: value }];
        let from = vec![From::Relation(Box::new(from))];
        let query = Query::from(Select::plain(id, from, output));
        let subquery = Subquery { kind: SubqueryKind::Scalar, query };
        Expr::new(Kind::Subquery(Box::new(subquery)), sql_type, location)
    }

    /// A value that is converted to the type of its column. Writing the row converts it to the column's length.
    pub(super) fn assigned_value(
        &mut self,
        value: Expr,
        target: &Target,
        column: usize,
    ) -> Result<Expr> {
        let (name, sql_type) = (target.name_of(column), &target.table.columns[column].sql_type);
        let (from, location) = (value.sql_type.oid, value.location.0);
        let to = SqlType::plain(sql_type.oid);
        self.coerce(value, to, CastContext::Assignment)?.ok_or_else(|| {
            let to = to.oid;
            let message =
                format!("column \"{name}\" is of type {to} but expression is of type {from}");
            Error::new("42804", message)
                .hint("You will need to rewrite or cast the expression.")
                .at(location)
        })
    }

    /// The default value of a column.
    pub(super) fn default_value(&mut self, target: &Target, column: usize) -> Result<Expr> {
        let Some(text) = target.table.defaults.get(&column) else {
            return Ok(Expr::null(SqlType::plain(target.table.columns[column].sql_type.oid)));
        };
        let hidden = std::mem::take(&mut self.scopes);
        let scope = hidden.last().map(|scope| scope.select);
        self.scopes.extend(scope.map(crate::bind::scope::Scope::new));
        let value = self.in_clause(Clause::Default, |binder| {
            let value = binder.default_argument(text)?;
            binder.assigned_value(value, target, column)
        });
        self.scopes = hidden;
        let mut value = value.map_err(|error| Error { position: None, ..error })?;
        forget_locations(&mut value);
        Ok(value)
    }
}

/// The text of a default, or of a view, is not the statement's.
pub(super) fn forget_locations(expr: &mut Expr) {
    expr.location = Location(-1);
    children_mut(expr, &mut forget_locations);
}

/// Whether a value is a literal or parameter that nothing has given a type.
pub(super) fn is_open(expr: &Expr) -> bool {
    expr.sql_type.oid == Oid::UNKNOWN && matches!(expr.kind, Kind::Literal(_) | Kind::Parameter(_))
}
