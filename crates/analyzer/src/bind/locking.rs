//! FOR UPDATE and the like: where they may stand. They lock nothing.

use super::Binder;
use super::names;
use crate::error::{Error, Result};
use crate::tree::{Body, From, JoinKind, Query, Relation, RelationId, Source};
use grammar::tree::{LockClauseStrength, LockingClause, NodeEnum, RangeVar, SelectStmt};

impl Binder<'_> {
    /// Checks the locking clauses of a query, whose level is still open.
    pub(super) fn check_locking(&self, statement: &SelectStmt, query: &Query) -> Result<()> {
        for node in &statement.locking_clause {
            let NodeEnum::LockingClause(clause) = names::node(Some(node))? else { continue };
            let name = clause_name(clause);
            let from = lockable(statement, query)
                .map_err(|what| Error::new("0A000", format!("{name} {what}")))?;
            if clause.locked_rels.is_empty() && from.iter().any(|item| makes_up(item, None)) {
                return Err(nullable_side(name));
            }
            for node in &clause.locked_rels {
                let NodeEnum::RangeVar(range) = names::node(Some(node))? else { continue };
                self.check_locked(name, range, from)?;
            }
        }
        Ok(())
    }

    /// Checks a relation of OF.
    fn check_locked(&self, clause: &str, range: &RangeVar, from: &[From]) -> Result<()> {
        let (name, location) = (&range.relname, range.location);
        if !range.schemaname.is_empty() {
            let message = format!("{clause} must specify unqualified relation names");
            return Err(Error::new("42601", message).at(location));
        }
        let items = self.scopes.last().map(|scope| scope.items.as_slice()).unwrap_or_default();
        let Some(item) = items.iter().find(|item| item.is_named && item.name == *name) else {
            let message =
                format!("relation \"{name}\" in {clause} clause not found in FROM clause");
            return Err(Error::new("42P01", message).at(location));
        };
        let relation = item.relation.and_then(|id| from.iter().find_map(|from| find(from, id)));
        let what = match relation.map(|relation| &relation.source) {
            None => "a join",
            Some(Source::Functions { .. }) => "a function",
            Some(Source::Cte(_)) => "a WITH query",
            Some(Source::Query(query)) if matches!(query.body, Body::Values(_)) => "VALUES",
            Some(Source::Table(_) | Source::Query(_)) => {
                return match from.iter().any(|from| makes_up(from, item.relation)) {
                    true => Err(nullable_side(clause)),
                    false => Ok(()),
                };
            }
        };
        Err(Error::new("0A000", format!("{clause} cannot be applied to {what}")).at(location))
    }
}

/// The relations that a clause may lock, or why it may not stand there.
fn lockable<'q>(
    statement: &SelectStmt,
    query: &'q Query,
) -> std::result::Result<&'q [From], &'static str> {
    let select = match &query.body {
        Body::SetOperation(_) => return Err("is not allowed with UNION/INTERSECT/EXCEPT"),
        Body::Values(_) => return Err("cannot be applied to VALUES"),
        Body::Select(select) => select,
    };
    if select.distinct.is_some() {
        Err("is not allowed with DISTINCT clause")
    } else if !statement.group_clause.is_empty() {
        Err("is not allowed with GROUP BY clause")
    } else if select.having.is_some() {
        Err("is not allowed with HAVING clause")
    } else if !select.aggregates.is_empty() {
        Err("is not allowed with aggregate functions")
    } else if !select.windows.is_empty() {
        Err("is not allowed with window functions")
    } else if !select.sets.is_empty() {
        Err("is not allowed with set-returning functions in the target list")
    } else {
        Ok(&select.from)
    }
}

fn clause_name(clause: &LockingClause) -> &'static str {
    match clause.strength() {
        LockClauseStrength::LcsForkeyshare => "FOR KEY SHARE",
        LockClauseStrength::LcsForshare => "FOR SHARE",
        LockClauseStrength::LcsFornokeyupdate => "FOR NO KEY UPDATE",
        _ => "FOR UPDATE",
    }
}

fn nullable_side(clause: &str) -> Error {
    let message = format!("{clause} cannot be applied to the nullable side of an outer join");
    Error::new("0A000", message)
}

/// Whether an outer join makes up rows of a relation; without one, of any table or query.
fn makes_up(from: &From, id: Option<RelationId>) -> bool {
    let From::Join { kind, left, right, .. } = from else { return false };
    let has = |side: &From| match id {
        Some(id) => find(side, id).is_some(),
        None => has_lockable(side),
    };
    let here = match kind {
        JoinKind::Inner => false,
        JoinKind::Left => has(right),
        JoinKind::Right => has(left),
        JoinKind::Full => has(left) || has(right),
    };
    here || makes_up(left, id) || makes_up(right, id)
}

fn has_lockable(from: &From) -> bool {
    match from {
        From::Relation(relation) => {
            matches!(relation.source, Source::Table(_) | Source::Query(_))
        }
        From::Join { left, right, .. } => has_lockable(left) || has_lockable(right),
    }
}

fn find(from: &From, id: RelationId) -> Option<&Relation> {
    match from {
        From::Relation(relation) => (relation.id == id).then_some(relation),
        From::Join { left, right, .. } => find(left, id).or_else(|| find(right, id)),
    }
}
