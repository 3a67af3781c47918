//! FOR UPDATE and the like in parse trees, and LOCK TABLE.
//!
//! Only a query that stands by itself can lock rows while it is executed. One inside of another
//! statement is taken out ([`nested`]), executed first, and replaced by its rows ([`replace`]).

use crate::Result;
use crate::names::{self, RelationName};
use grammar::tree::{
    LockClauseStrength, LockStmt, LockWaitPolicy, Node, NodeEnum, RangeVar, SelectStmt, SubLink,
    SubLinkType, WithClause,
};

/// A locking clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockingClause {
    /// The strength.
    pub strength: Strength,
    /// What it does where a row is locked.
    pub wait: Wait,
    /// The tables of OF, by their names in the query; all if there are none.
    pub of: Vec<String>,
}

/// The strength of a lock on a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// FOR KEY SHARE
    KeyShare,
    /// FOR SHARE
    Share,
    /// FOR NO KEY UPDATE
    NoKeyUpdate,
    /// FOR UPDATE
    Update,
}

impl Strength {
    /// The clause.
    pub fn name(self) -> &'static str {
        match self {
            Self::KeyShare => "FOR KEY SHARE",
            Self::Share => "FOR SHARE",
            Self::NoKeyUpdate => "FOR NO KEY UPDATE",
            Self::Update => "FOR UPDATE",
        }
    }
}

/// What a locking clause does where a row is locked. Of several the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// It waits.
    Block,
    /// SKIP LOCKED
    Skip,
    /// NOWAIT
    Error,
}

/// LOCK TABLE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockTables {
    /// The tables.
    pub names: Vec<RelationName>,
    /// The mode: 1 for ACCESS SHARE to 8 for ACCESS EXCLUSIVE.
    pub mode: u8,
    /// NOWAIT
    pub nowait: bool,
}

impl LockTables {
    pub(crate) fn of(statement: &LockStmt) -> Result<Self> {
        let names = statement.relations.iter().map(RelationName::of_node).collect::<Result<_>>()?;
        let mode = u8::try_from(statement.mode).map_err(|_| names::incomplete())?;
        Ok(Self { names, mode, nowait: statement.nowait })
    }
}

/// Returns the locking clauses of a query.
pub fn clauses(select: &SelectStmt) -> Vec<LockingClause> {
    let clause = |node: &Node| {
        let Some(NodeEnum::LockingClause(clause)) = &node.node else { return None };
        let name = |node: &Node| match &node.node {
            Some(NodeEnum::RangeVar(range)) => Some(range.relname.clone()),
            _ => None,
        };
        Some(LockingClause {
            strength: match clause.strength() {
                LockClauseStrength::LcsForkeyshare => Strength::KeyShare,
                LockClauseStrength::LcsForshare => Strength::Share,
                LockClauseStrength::LcsFornokeyupdate => Strength::NoKeyUpdate,
                _ => Strength::Update,
            },
            wait: match clause.wait_policy() {
                LockWaitPolicy::LockWaitSkip => Wait::Skip,
                LockWaitPolicy::LockWaitError => Wait::Error,
                _ => Wait::Block,
            },
            of: clause.locked_rels.iter().filter_map(name).collect(),
        })
    };
    select.locking_clause.iter().filter_map(clause).collect()
}

/// Whether a statement, or a query inside of it, has a locking clause.
pub fn locks_rows(statement: &NodeEnum) -> bool {
    match statement {
        NodeEnum::SelectStmt(select) if !select.locking_clause.is_empty() => true,
        other => !nested(other).is_empty(),
    }
}

/// Returns the tables in FROM of a query with their names there; `None` if there is a subquery, whose
/// tables would be locked, too.
pub fn tables(select: &SelectStmt) -> Option<Vec<(String, &RangeVar)>> {
    let common = common_names(select.with_clause.as_ref());
    let mut found = Vec::new();
    let mut rest: Vec<&Node> = select.from_clause.iter().rev().collect();
    while let Some(node) = rest.pop() {
        match &node.node {
            Some(NodeEnum::RangeVar(range)) => {
                if range.schemaname.is_empty() && common.contains(&range.relname.as_str()) {
                    continue;
                }
                let alias = range.alias.as_ref().map(|alias| alias.aliasname.clone());
                found.push((alias.unwrap_or_else(|| range.relname.clone()), range));
            }
            Some(NodeEnum::JoinExpr(join)) => {
                rest.extend(join.rarg.as_deref());
                rest.extend(join.larg.as_deref());
            }
            Some(NodeEnum::RangeSubselect(_)) => return None,
            _ => {}
        }
    }
    Some(found)
}

fn common_names(with: Option<&WithClause>) -> Vec<&str> {
    let ctes = with.map_or(&[][..], |with| &with.ctes).iter();
    ctes.filter_map(|node| match &node.node {
        Some(NodeEnum::CommonTableExpr(cte)) => Some(cte.ctename.as_str()),
        _ => None,
    })
    .collect()
}

/// Where a query that locks stands inside of a statement.
enum Place<'a> {
    /// It is a relation.
    Query(&'a mut SelectStmt),
    /// It is a value: the whole node of an expression.
    Value(&'a mut Node),
}

/// Returns the queries inside of a statement that lock rows, in the order of [`replace`].
pub fn nested(statement: &NodeEnum) -> Vec<SelectStmt> {
    let mut found = Vec::new();
    let mut tree = statement.clone();
    within(&mut tree, &mut |place| match place {
        Place::Query(select) => found.push(select.clone()),
        Place::Value(node) => found.extend(subselect(node).map(|select| select.clone())),
    });
    found
}

/// Replaces the queries inside of a statement that lock rows: each by a query of its rows, or by their
/// value where it is one.
pub fn replace(statement: &mut NodeEnum, by: Vec<(SelectStmt, Option<Node>)>) {
    let mut by = by.into_iter();
    within(statement, &mut |place| {
        let Some((query, value)) = by.next() else { return };
        match place {
            Place::Query(select) => *select = query,
            Place::Value(node) => match value {
                Some(value) => *node = value,
                None => {
                    if let Some(select) = subselect(node) {
                        *select = query;
                    }
                }
            },
        }
    });
}

/// The query of a subquery in an expression.
fn subselect(node: &mut Node) -> Option<&mut SelectStmt> {
    let Some(NodeEnum::SubLink(link)) = &mut node.node else { return None };
    match link.subselect.as_deref_mut()?.node.as_mut()? {
        NodeEnum::SelectStmt(select) => Some(select),
        _ => None,
    }
}

type Found<'a> = &'a mut dyn FnMut(Place<'_>);

/// Finds the queries that lock rows inside of a statement, not the statement itself.
fn within(statement: &mut NodeEnum, found: Found<'_>) {
    match statement {
        NodeEnum::SelectStmt(select) => in_select(select, found),
        NodeEnum::InsertStmt(insert) => {
            in_with(insert.with_clause.as_mut(), found);
            in_optional(insert.select_stmt.as_deref_mut(), found);
        }
        NodeEnum::UpdateStmt(update) => {
            in_with(update.with_clause.as_mut(), found);
            in_all(&mut update.from_clause, found);
            in_all(&mut update.target_list, found);
            in_optional(update.where_clause.as_deref_mut(), found);
        }
        NodeEnum::DeleteStmt(delete) => {
            in_with(delete.with_clause.as_mut(), found);
            in_all(&mut delete.using_clause, found);
            in_optional(delete.where_clause.as_deref_mut(), found);
        }
        _ => {}
    }
}

fn in_select(select: &mut SelectStmt, found: Found<'_>) {
    in_with(select.with_clause.as_mut(), found);
    in_all(&mut select.target_list, found);
    in_all(&mut select.from_clause, found);
    in_optional(select.where_clause.as_deref_mut(), found);
    for side in [&mut select.larg, &mut select.rarg].into_iter().flatten() {
        in_query(side, found);
    }
}

/// A query in the place of a relation.
fn in_query(select: &mut SelectStmt, found: Found<'_>) {
    match select.locking_clause.is_empty() {
        true => in_select(select, found),
        false => found(Place::Query(select)),
    }
}

fn in_with(with: Option<&mut WithClause>, found: Found<'_>) {
    for node in with.map_or(&mut [][..], |with| &mut with.ctes) {
        let Some(NodeEnum::CommonTableExpr(cte)) = &mut node.node else { continue };
        in_optional(cte.ctequery.as_deref_mut(), found);
    }
}

fn in_all(nodes: &mut [Node], found: Found<'_>) {
    nodes.iter_mut().for_each(|node| in_node(node, found));
}

fn in_optional(node: Option<&mut Node>, found: Found<'_>) {
    if let Some(node) = node {
        in_node(node, found);
    }
}

fn in_node(node: &mut Node, found: Found<'_>) {
    let is_value = |link: &SubLink| link.sub_link_type() == SubLinkType::ExprSublink;
    let is_locking_value = match &node.node {
        Some(NodeEnum::SubLink(link)) if is_value(link) => {
            matches!(
                link.subselect.as_ref().and_then(|query| query.node.as_ref()),
                Some(NodeEnum::SelectStmt(select)) if !select.locking_clause.is_empty()
            )
        }
        _ => false,
    };
    if is_locking_value {
        return found(Place::Value(node));
    }
    let Some(inner) = &mut node.node else { return };
    match inner {
        NodeEnum::SelectStmt(select) => in_query(select, found),
        NodeEnum::UpdateStmt(_) | NodeEnum::InsertStmt(_) | NodeEnum::DeleteStmt(_) => {
            within(inner, found);
        }
        NodeEnum::SubLink(link) => {
            in_optional(link.testexpr.as_deref_mut(), found);
            in_optional(link.subselect.as_deref_mut(), found);
        }
        NodeEnum::RangeSubselect(range) => in_optional(range.subquery.as_deref_mut(), found),
        NodeEnum::JoinExpr(join) => {
            in_optional(join.larg.as_deref_mut(), found);
            in_optional(join.rarg.as_deref_mut(), found);
        }
        NodeEnum::ResTarget(target) => in_optional(target.val.as_deref_mut(), found),
        NodeEnum::TypeCast(cast) => in_optional(cast.arg.as_deref_mut(), found),
        NodeEnum::AExpr(expression) => {
            in_optional(expression.lexpr.as_deref_mut(), found);
            in_optional(expression.rexpr.as_deref_mut(), found);
        }
        NodeEnum::BoolExpr(expression) => in_all(&mut expression.args, found),
        NodeEnum::FuncCall(call) => in_all(&mut call.args, found),
        NodeEnum::List(list) => in_all(&mut list.items, found),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(text: &str) -> NodeEnum {
        let script = grammar::parse(text).expect("PostgreSQL's grammar");
        script.statements()[0]
            .stmt
            .as_ref()
            .and_then(|node| node.node.clone())
            .expect("a statement")
    }

    #[test]
    fn queries_that_lock_are_found_where_they_stand() {
        for (text, count) in [
            ("SELECT * FROM t FOR UPDATE", 0),
            ("UPDATE t SET v = 1 WHERE id = (SELECT id FROM t LIMIT 1 FOR UPDATE SKIP LOCKED)", 1),
            ("WITH a AS (SELECT id FROM t FOR SHARE) DELETE FROM t USING a WHERE t.id = a.id", 1),
            ("DELETE FROM t WHERE id IN (SELECT id FROM t FOR UPDATE) AND v > 1", 1),
            ("INSERT INTO u SELECT * FROM t FOR UPDATE", 1),
            ("SELECT * FROM (SELECT * FROM t FOR UPDATE) a JOIN (SELECT 1 FOR SHARE) b ON true", 2),
            ("SELECT * FROM t WHERE id IN (SELECT 1)", 0),
        ] {
            assert_eq!(nested(&statement(text)).len(), count, "{text}");
        }
        assert!(locks_rows(&statement("SELECT * FROM t FOR UPDATE")));
        assert!(!locks_rows(&statement("SELECT * FROM t")));
    }

    #[test]
    fn a_value_is_replaced_by_a_constant() {
        let mut update = statement("UPDATE t SET v = 1 WHERE id = (SELECT id FROM t FOR UPDATE)");
        let NodeEnum::SelectStmt(select) = statement("SELECT 7") else { panic!("a query") };
        let Some(NodeEnum::ResTarget(target)) = &select.target_list[0].node else { panic!() };
        let value = target.val.as_deref().cloned();
        replace(&mut update, vec![(*select.clone(), value)]);
        assert!(nested(&update).is_empty());
    }

    #[test]
    fn clauses_are_read() {
        let text =
            "SELECT 1 FROM t a, u FOR NO KEY UPDATE OF a NOWAIT FOR KEY SHARE OF u SKIP LOCKED";
        let NodeEnum::SelectStmt(select) = statement(text) else { panic!("a query") };
        let read = clauses(&select);
        assert_eq!((read[0].strength, read[0].wait), (Strength::NoKeyUpdate, Wait::Error));
        assert_eq!((read[1].of.as_slice(), read[1].wait), (&["u".to_owned()][..], Wait::Skip));
        let names: Vec<String> =
            tables(&select).expect("tables").into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "u"]);
    }
}
