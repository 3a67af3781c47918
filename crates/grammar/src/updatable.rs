//! Which views PostgreSQL takes as automatically updatable, by the parse trees of their queries.
//!
//! Such a view has one table or view in FROM, and each of its rows is one row of it. Whether the item of FROM is a table
//! or such a view again is for the caller, who knows the catalog.

use crate::tree::{FuncCall, Node, NodeEnum, RangeVar, SelectStmt, SetOperation, WithClause};

/// What a call in a select list makes of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// A value of each row.
    Plain,
    /// One value of many rows.
    Aggregate,
    /// Many rows of each row.
    Set,
}

/// The reason for which a view whose FROM is not one table or view is not updatable.
pub const NOT_SINGLE: &str =
    "Views that do not select from a single table or view are not automatically updatable.";

/// The reason for which a view without columns of its relation takes no values.
pub const NO_COLUMNS: &str =
    "Views that have no updatable columns are not automatically updatable.";

/// The reason for which a view with aggregates is not updatable.
pub const AGGREGATES: &str =
    "Views that return aggregate functions are not automatically updatable.";

/// The reason for which a view with sets is not updatable.
pub const SETS: &str = "Views that return set-returning functions are not automatically updatable.";

/// The relation of a view whose query has the form of an updatable one, or the reason for which it has not. `kind_of`
/// says what a function makes of rows, by its schema and name.
///
/// # Errors
/// PostgreSQL's detail.
pub fn base<'a>(
    query: &'a SelectStmt,
    kind_of: &dyn Fn(Option<&str>, &str) -> CallKind,
) -> Result<&'a RangeVar, &'static str> {
    let is_with = |with: &WithClause| !with.ctes.is_empty();
    if !query.distinct_clause.is_empty() {
        return Err("Views containing DISTINCT are not automatically updatable.");
    }
    if !query.group_clause.is_empty() {
        return Err("Views containing GROUP BY are not automatically updatable.");
    }
    if query.having_clause.is_some() {
        return Err("Views containing HAVING are not automatically updatable.");
    }
    if !matches!(query.op(), SetOperation::SetopNone | SetOperation::Undefined) {
        return Err(
            "Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable.",
        );
    }
    if query.with_clause.as_ref().is_some_and(is_with) {
        return Err("Views containing WITH are not automatically updatable.");
    }
    if query.limit_count.is_some() || query.limit_offset.is_some() {
        return Err("Views containing LIMIT or OFFSET are not automatically updatable.");
    }
    let mut calls = Calls { kind_of, aggregates: false, windows: false, sets: false };
    query.target_list.iter().for_each(|node| calls.visit(Some(node)));
    if calls.aggregates {
        return Err(AGGREGATES);
    }
    if calls.windows {
        return Err("Views that return window functions are not automatically updatable.");
    }
    if calls.sets {
        return Err(SETS);
    }
    match query.from_clause.as_slice() {
        [Node { node: Some(NodeEnum::RangeVar(range)) }] => Ok(range),
        [Node { node: Some(NodeEnum::RangeTableSample(_)) }] => {
            Err("Views containing TABLESAMPLE are not automatically updatable.")
        }
        _ => Err(NOT_SINGLE),
    }
}

/// The name of the column to which an item of a select list refers; `None` if it is no reference to a column.
pub fn column(item: &Node) -> Option<&str> {
    let Some(NodeEnum::ResTarget(target)) = &item.node else { return None };
    let Some(NodeEnum::ColumnRef(reference)) = &target.val.as_ref()?.node else { return None };
    match &reference.fields.last()?.node {
        Some(NodeEnum::String(name)) => Some(&name.sval),
        _ => None,
    }
}

/// The calls in a select list, without those in its subqueries.
struct Calls<'a> {
    kind_of: &'a dyn Fn(Option<&str>, &str) -> CallKind,
    aggregates: bool,
    windows: bool,
    sets: bool,
}

impl Calls<'_> {
    fn visit(&mut self, node: Option<&Node>) {
        let Some(Node { node: Some(node) }) = node else { return };
        crate::growing(|| self.visit_tree(node));
    }

    fn all<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>) {
        nodes.into_iter().for_each(|node| self.visit(Some(node)));
    }

    fn visit_tree(&mut self, node: &NodeEnum) {
        match node {
            NodeEnum::ResTarget(target) => self.visit(target.val.as_deref()),
            NodeEnum::FuncCall(call) => self.call(call),
            NodeEnum::TypeCast(cast) => self.visit(cast.arg.as_deref()),
            NodeEnum::CollateClause(collated) => self.visit(collated.arg.as_deref()),
            NodeEnum::NamedArgExpr(named) => self.visit(named.arg.as_deref()),
            NodeEnum::NullTest(test) => self.visit(test.arg.as_deref()),
            NodeEnum::BooleanTest(test) => self.visit(test.arg.as_deref()),
            NodeEnum::AExpr(operator) => {
                self.visit(operator.lexpr.as_deref());
                self.visit(operator.rexpr.as_deref());
            }
            NodeEnum::BoolExpr(all) => self.all(&all.args),
            NodeEnum::CoalesceExpr(all) => self.all(&all.args),
            NodeEnum::MinMaxExpr(all) => self.all(&all.args),
            NodeEnum::AArrayExpr(array) => self.all(&array.elements),
            NodeEnum::RowExpr(row) => self.all(&row.args),
            NodeEnum::List(list) => self.all(&list.items),
            NodeEnum::AIndirection(of) => {
                self.visit(of.arg.as_deref());
                self.all(&of.indirection);
            }
            NodeEnum::AIndices(indices) => {
                self.visit(indices.lidx.as_deref());
                self.visit(indices.uidx.as_deref());
            }
            NodeEnum::CaseExpr(case) => {
                self.visit(case.arg.as_deref());
                self.all(&case.args);
                self.visit(case.defresult.as_deref());
            }
            NodeEnum::CaseWhen(when) => {
                self.visit(when.expr.as_deref());
                self.visit(when.result.as_deref());
            }
            NodeEnum::SubLink(link) => self.visit(link.testexpr.as_deref()),
            _ => {}
        }
    }

    fn call(&mut self, call: &FuncCall) {
        let mut parts = call.funcname.iter().rev().filter_map(|part| match &part.node {
            Some(NodeEnum::String(name)) => Some(name.sval.as_str()),
            _ => None,
        });
        let (name, schema) = (parts.next().unwrap_or_default(), parts.next());
        self.all(&call.args);
        self.visit(call.agg_filter.as_deref());
        if call.over.is_some() {
            self.windows = true;
            return;
        }
        match (self.kind_of)(schema, name) {
            CallKind::Plain => {}
            CallKind::Aggregate => self.aggregates = true,
            CallKind::Set => self.sets = true,
        }
    }
}
