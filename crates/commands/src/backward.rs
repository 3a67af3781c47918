//! Which queries a cursor without SCROLL reads backward, too.
//!
//! PostgreSQL asks the plan of the query. The plans of the queries here read backward: those of the rows of one table, of
//! functions or of a list of values, with conditions, an order and a limit. Plans of others depend on statistics and
//! indexes. Their cursors only go forward, as PostgreSQL's documentation says of cursors without SCROLL.

use crate::names::texts;
use analyzer::system::functions::{self, Function, FunctionKind};
use grammar::tree::{
    CteMaterialize, FuncCall, Node, NodeEnum, RangeFunction, RangeVar, SelectStmt, SetOperation,
    WithClause,
};

/// Whether the rows of a query are read backward without SCROLL.
pub(crate) fn goes_back(query: &NodeEnum) -> bool {
    let NodeEnum::SelectStmt(select) = query else { return false };
    let is_simple = select.op() == SetOperation::SetopNone
        && select.distinct_clause.is_empty()
        && select.group_clause.is_empty()
        && select.having_clause.is_none()
        && select.locking_clause.is_empty()
        && select.target_list.iter().all(is_plain)
        && select.sort_clause.iter().all(is_plain)
        && select.where_clause.as_deref().is_none_or(is_plain);
    is_simple
        && match &select.from_clause[..] {
            [] => select.values_lists.len() > 1,
            [from] => of_relation(from, select),
            _ => false,
        }
}

fn of_relation(from: &Node, select: &SelectStmt) -> bool {
    match &from.node {
        Some(NodeEnum::RangeVar(range)) => of_name(range, select.with_clause.as_ref()),
        Some(NodeEnum::RangeFunction(range)) => are_sets(range),
        Some(NodeEnum::RangeSubselect(range)) => of_query(range.subquery.as_deref()),
        _ => false,
    }
}

fn of_query(query: Option<&Node>) -> bool {
    query.and_then(|query| query.node.as_ref()).is_some_and(goes_back)
}

/// A table, or a query in WITH, whose rows are kept unless it becomes a part of the query that names it.
fn of_name(range: &RangeVar, with: Option<&WithClause>) -> bool {
    let ctes = with.into_iter().flat_map(|with| &with.ctes);
    let mut ctes = ctes.filter_map(|node| match &node.node {
        Some(NodeEnum::CommonTableExpr(cte)) => Some(cte),
        _ => None,
    });
    let named = ctes.find(|cte| range.schemaname.is_empty() && cte.ctename == range.relname);
    named.is_none_or(|cte| {
        let is_kept = cte.ctematerialized() == CteMaterialize::Always;
        is_kept || with.is_some_and(|with| with.recursive) || of_query(cte.ctequery.as_deref())
    })
}

/// Whether all functions of a relation return sets. A value becomes a constant of the plan.
fn are_sets(range: &RangeFunction) -> bool {
    let is_set = |node: &Node| match &node.node {
        Some(NodeEnum::FuncCall(call)) => all_named(call, |function| function.returns_set),
        _ => false,
    };
    range.functions.iter().all(|node| match &node.node {
        Some(NodeEnum::List(list)) => list.items.first().is_some_and(is_set),
        _ => false,
    })
}

/// Whether an expression consists of columns, constants, operators and functions of one row.
fn is_plain(node: &Node) -> bool {
    let within = |node: &Option<Box<Node>>| node.as_deref().is_none_or(is_plain);
    match &node.node {
        Some(
            NodeEnum::ColumnRef(_)
            | NodeEnum::AConst(_)
            | NodeEnum::ParamRef(_)
            | NodeEnum::SqlvalueFunction(_),
        ) => true,
        Some(NodeEnum::ResTarget(target)) => within(&target.val),
        Some(NodeEnum::SortBy(sort)) => within(&sort.node),
        Some(NodeEnum::TypeCast(cast)) => within(&cast.arg),
        Some(NodeEnum::NullTest(test)) => within(&test.arg),
        Some(NodeEnum::AExpr(expr)) => within(&expr.lexpr) && within(&expr.rexpr),
        Some(NodeEnum::BoolExpr(expr)) => expr.args.iter().all(is_plain),
        Some(NodeEnum::List(list)) => list.items.iter().all(is_plain),
        Some(NodeEnum::CoalesceExpr(expr)) => expr.args.iter().all(is_plain),
        Some(NodeEnum::FuncCall(call)) => {
            let is_of_row = |function: &Function| {
                function.kind == FunctionKind::Scalar && !function.returns_set
            };
            call.over.is_none() && all_named(call, is_of_row) && call.args.iter().all(is_plain)
        }
        _ => false,
    }
}

/// Whether a call can only mean functions of the system for which `is_so`.
fn all_named(call: &FuncCall, is_so: impl Fn(&Function) -> bool) -> bool {
    let parts = texts(&call.funcname);
    let mut named = parts.last().into_iter().flat_map(|name| functions::named(name)).peekable();
    named.peek().is_some() && named.all(is_so)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goes(query: &str) -> bool {
        let script = grammar::parse(query).expect("parses");
        let statement = script.statements()[0].stmt.as_ref().expect("a statement");
        goes_back(statement.node.as_ref().expect("a node"))
    }

    #[test]
    fn rows_of_one_relation_are_read_backward() {
        for query in [
            "TABLE t",
            "SELECT a, upper(b) || 'x' FROM t WHERE a > 1 AND b IS NULL ORDER BY b DESC LIMIT 3",
            "SELECT * FROM generate_series(1, 3) WITH ORDINALITY",
            "SELECT x FROM (SELECT a + 1 AS x FROM t LIMIT 3) AS s",
            "VALUES (1), (2)",
            "WITH s AS MATERIALIZED (SELECT count(*) FROM t) SELECT * FROM s",
            "WITH s AS (SELECT a FROM t) SELECT * FROM s",
        ] {
            assert!(goes(query), "{query}");
        }
        for query in [
            "SELECT 1",
            "VALUES (1)",
            "SELECT count(*) FROM t",
            "SELECT DISTINCT a FROM t",
            "SELECT a FROM t GROUP BY a",
            "SELECT a, row_number() OVER () FROM t",
            "SELECT generate_series(1, 3) FROM t",
            "SELECT * FROM t, u",
            "SELECT * FROM t JOIN u USING (a)",
            "SELECT a FROM t UNION ALL SELECT 1",
            "SELECT * FROM t FOR UPDATE",
            "SELECT * FROM upper('x')",
            "SELECT * FROM (SELECT count(*) FROM t) AS s",
            "WITH s AS (SELECT count(*) FROM t) SELECT * FROM s",
        ] {
            assert!(!goes(query), "{query}");
        }
    }
}
