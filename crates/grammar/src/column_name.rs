//! Names of columns without AS.

use crate::tree::{AExprKind, MinMaxOp, Node, NodeEnum, SqlValueFunctionOp, SubLink, SubLinkType};

/// The name of a column without AS (`FigureColname`).
pub fn column_name(node: &NodeEnum) -> Option<String> {
    crate::growing(|| figure(node)).map(|(name, _)| name)
}

/// A name, and whether it is a good one rather than that of a type.
fn figure(node: &NodeEnum) -> Option<(String, bool)> {
    let good = |name: &str| Some((name.to_owned(), true));
    match node {
        NodeEnum::ColumnRef(reference) => good(parts(&reference.fields).last()?),
        NodeEnum::AIndirection(indirection) => {
            let field = parts(&indirection.indirection);
            match field.last() {
                Some(name) => good(name),
                None => figure(indirection.arg.as_ref()?.node.as_ref()?),
            }
        }
        NodeEnum::FuncCall(call) => good(parts(&call.funcname).last()?),
        NodeEnum::AExpr(expr) if expr.kind() == AExprKind::AexprNullif => good("nullif"),
        NodeEnum::TypeCast(cast) => {
            let inner = cast.arg.as_ref().and_then(|arg| figure(arg.node.as_ref()?));
            match inner {
                Some((name, true)) => Some((name, true)),
                _ => Some(((*parts(&cast.type_name.as_ref()?.names).last()?).to_owned(), false)),
            }
        }
        NodeEnum::CollateClause(collate) => figure(collate.arg.as_ref()?.node.as_ref()?),
        NodeEnum::GroupingFunc(_) => good("grouping"),
        NodeEnum::SubLink(link) => figure_subquery(link),
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
        NodeEnum::JsonParseExpr(_) => good("json"),
        NodeEnum::MinMaxExpr(extreme) => match extreme.op() {
            MinMaxOp::IsLeast => good("least"),
            _ => good("greatest"),
        },
        NodeEnum::SqlvalueFunction(function) => good(value_function(function.op())?),
        _ => None,
    }
}

fn figure_subquery(link: &SubLink) -> Option<(String, bool)> {
    match link.sub_link_type() {
        SubLinkType::ExistsSublink => Some(("exists".to_owned(), true)),
        SubLinkType::ArraySublink => Some(("array".to_owned(), true)),
        SubLinkType::ExprSublink => {
            let NodeEnum::SelectStmt(select) = link.subselect.as_ref()?.node.as_ref()? else {
                return None;
            };
            let mut select = select;
            while let Some(left) = &select.larg {
                select = left;
            }
            if !select.values_lists.is_empty() {
                return Some(("column1".to_owned(), true));
            }
            match select.target_list.first()?.node.as_ref()? {
                NodeEnum::ResTarget(target) if !target.name.is_empty() => {
                    Some((target.name.clone(), true))
                }
                NodeEnum::ResTarget(target) => {
                    // The name of a subquery's column counts, whatever it comes from.
                    let name = column_name(target.val.as_ref()?.node.as_ref()?);
                    Some((name.unwrap_or_else(|| "?column?".to_owned()), true))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn value_function(function: SqlValueFunctionOp) -> Option<&'static str> {
    use SqlValueFunctionOp as Op;
    Some(match function {
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

/// The parts of a name.
fn parts(nodes: &[Node]) -> Vec<&str> {
    let parts = nodes.iter().filter_map(|node| match &node.node {
        Some(NodeEnum::String(part)) => Some(part.sval.as_str()),
        _ => None,
    });
    parts.collect()
}
