//! Select lists.

use super::Binder;
use super::names;
use crate::error::{Error, Result};
use crate::tree::{Expr, Kind, Location, Output};
use grammar::tree::{ColumnRef, Node, NodeEnum};

/// Whether a reference is `*` or `t.*`.
pub(super) fn is_star(reference: &ColumnRef) -> bool {
    matches!(reference.fields.last(), Some(Node { node: Some(NodeEnum::AStar(_)) }))
}

impl Binder<'_> {
    /// The items of a select list.
    pub(super) fn targets(&mut self, nodes: &[Node]) -> Result<Vec<Output>> {
        let mut outputs = Vec::with_capacity(nodes.len());
        for node in nodes {
            let NodeEnum::ResTarget(target) = names::node(Some(node))? else {
                return Err(Error::missing("this form"));
            };
            let value = names::node(target.val.as_deref())?;
            match value {
                NodeEnum::ColumnRef(reference) if is_star(reference) => {
                    outputs.extend(self.star(reference)?);
                    continue;
                }
                NodeEnum::AIndirection(indirection)
                    if matches!(
                        indirection.indirection.last(),
                        Some(Node { node: Some(NodeEnum::AStar(_)) })
                    ) =>
                {
                    let row = self.required(indirection.arg.as_deref())?;
                    outputs.extend(self.fields(row)?);
                    continue;
                }
                _ => {}
            }
            let expr = self.expression(value)?;
            let name = match target.name.as_str() {
                "" => column_name(value).unwrap_or_else(|| "?column?".to_owned()),
                name => name.to_owned(),
            };
            outputs.push(Output { name, expr });
        }
        Ok(outputs)
    }

    /// The columns of `*` or `t.*`.
    pub(super) fn star(&mut self, reference: &ColumnRef) -> Result<Vec<Output>> {
        let location = reference.location;
        let output = |(name, expr): &(String, Expr)| Output {
            name: name.clone(),
            expr: Expr { location: Location(location), ..expr.clone() },
        };
        let parts = names::parts(&reference.fields);
        let (schema, table) = match parts.as_slice() {
            [] => {
                let Some(scope) = self.scopes.last() else { return Err(Error::missing("* here")) };
                let shown =
                    scope.items.iter().filter(|item| item.shows_columns && !item.is_lateral_only);
                let all: Vec<Output> =
                    shown.flat_map(|item| item.columns.iter().map(output)).collect();
                if all.is_empty() && scope.items.is_empty() {
                    let message = "SELECT * with no tables specified is not valid";
                    return Err(Error::new("42601", message).at(location));
                }
                return Ok(all);
            }
            [table] => (None, *table),
            [.., schema, table] => (Some(*schema), *table),
        };
        for scope in self.scopes.iter().rev() {
            if let Some(item) = scope.item(schema, table, location)? {
                return Ok(item.columns.iter().map(output).collect());
            }
        }
        Err(self.no_table(table).at(location))
    }

    /// `(row).*`.
    fn fields(&mut self, row: Expr) -> Result<Vec<Output>> {
        let location = row.location.0;
        let columns = self.row_columns(&row);
        if columns.is_empty() {
            return Err(Error::missing("the fields of this value").at(location));
        }
        if let Kind::Row(values) = row.kind {
            let named = columns.into_iter().zip(values);
            return Ok(named.map(|(column, expr)| Output { name: column.name, expr }).collect());
        }
        let mut outputs = Vec::new();
        for column in columns {
            let expr = self.field(row.clone(), &column.name, location)?;
            outputs.push(Output { name: column.name, expr });
        }
        Ok(outputs)
    }
}

/// The name of a column without AS (`FigureColname`).
pub(super) fn column_name(node: &NodeEnum) -> Option<String> {
    grammar::growing(|| figure(node)).map(|(name, _)| name)
}

/// A name, and whether it is a good one rather than that of a type.
fn figure(node: &NodeEnum) -> Option<(String, bool)> {
    let good = |name: &str| Some((name.to_owned(), true));
    match node {
        NodeEnum::ColumnRef(reference) => good(names::parts(&reference.fields).last()?),
        NodeEnum::AIndirection(indirection) => {
            let field = names::parts(&indirection.indirection);
            match field.last() {
                Some(name) => good(name),
                None => figure(indirection.arg.as_ref()?.node.as_ref()?),
            }
        }
        NodeEnum::FuncCall(call) => good(names::parts(&call.funcname).last()?),
        NodeEnum::AExpr(expr) if expr.kind() == grammar::tree::AExprKind::AexprNullif => {
            good("nullif")
        }
        NodeEnum::TypeCast(cast) => {
            let inner = cast.arg.as_ref().and_then(|arg| figure(arg.node.as_ref()?));
            match inner {
                Some((name, true)) => Some((name, true)),
                _ => Some((
                    (*names::parts(&cast.type_name.as_ref()?.names).last()?).to_owned(),
                    false,
                )),
            }
        }
        NodeEnum::CollateClause(collate) => figure(collate.arg.as_ref()?.node.as_ref()?),
        NodeEnum::GroupingFunc(_) => good("grouping"),
        NodeEnum::SubLink(link) => match link.sub_link_type() {
            grammar::tree::SubLinkType::ExistsSublink => good("exists"),
            grammar::tree::SubLinkType::ArraySublink => good("array"),
            grammar::tree::SubLinkType::ExprSublink => {
                let NodeEnum::SelectStmt(select) = link.subselect.as_ref()?.node.as_ref()? else {
                    return None;
                };
                let mut select = select;
                while let Some(left) = &select.larg {
                    select = left;
                }
                match select.target_list.first()?.node.as_ref()? {
                    NodeEnum::ResTarget(target) if !target.name.is_empty() => good(&target.name),
                    NodeEnum::ResTarget(target) => figure(target.val.as_ref()?.node.as_ref()?),
                    _ => None,
                }
            }
            _ => None,
        },
        NodeEnum::CaseExpr(case) => {
            let inner = case.defresult.as_ref().and_then(|node| figure(node.node.as_ref()?));
            match inner {
                Some((name, true)) => Some((name, true)),
                _ => Some(("case".to_owned(), false)),
            }
        }
        NodeEnum::AArrayExpr(_) => good("array"),
        NodeEnum::RowExpr(_) => good("row"),
        NodeEnum::CoalesceExpr(_) => good("coalesce"),
        NodeEnum::MinMaxExpr(extreme) => match extreme.op() {
            grammar::tree::MinMaxOp::IsLeast => good("least"),
            _ => good("greatest"),
        },
        NodeEnum::SqlvalueFunction(function) => {
            use grammar::tree::SqlValueFunctionOp as Op;
            good(match function.op() {
                Op::SvfopCurrentDate => "current_date",
                Op::SvfopCurrentTime | Op::SvfopCurrentTimeN => "current_time",
                Op::SvfopCurrentTimestamp | Op::SvfopCurrentTimestampN => "current_timestamp",
                Op::SvfopLocaltime | Op::SvfopLocaltimeN => "localtime",
                Op::SvfopLocaltimestamp | Op::SvfopLocaltimestampN => "localtimestamp",
                Op::SvfopCurrentRole => "current_role",
                Op::SvfopCurrentUser => "current_user",
                Op::SvfopUser => "user",
                Op::SvfopSessionUser => "session_user",
                Op::SvfopCurrentCatalog => "current_catalog",
                Op::SvfopCurrentSchema => "current_schema",
                Op::SqlvalueFunctionOpUndefined => return None,
            })
        }
        _ => None,
    }
}
