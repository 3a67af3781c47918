//! Set-returning functions in GROUP BY. Their rows are made before those of FROM are grouped, so they become a relation in
//! FROM: `SELECT unnest(a) AS x, count(*) FROM t GROUP BY x` is `SELECT x, count(*) FROM t, unnest(a) AS x GROUP BY x`.

use super::Binder;
use crate::error::{Error, Result};
use crate::tree::walk::{children, children_mut};
use crate::tree::{
    Distinct, Expr, From, Kind, Relation, RelationId, Select, SelectId, SetCall, SortKey, Source,
};

impl Binder<'_> {
    /// Moves the sets among the keys of GROUP BY to FROM.
    ///
    /// # Errors
    /// 42803 for sets of aggregates; 0A000 for sets of rows, of other sets, and outside of keys.
    pub(super) fn sets_before_groups(
        &mut self,
        select: &mut Select,
        order_by: &mut [SortKey],
        keys: &mut dyn Iterator<Item = &mut Expr>,
    ) -> Result<()> {
        let mut keys: Vec<&mut Expr> = keys.collect();
        let mut moved: Vec<usize> = Vec::new();
        for key in &keys {
            super::contains(key, &mut |part| {
                if let Kind::Set(of, place) = part.kind
                    && of == select.id
                    && !moved.contains(&place)
                {
                    moved.push(place);
                }
                false
            });
        }
        if moved.is_empty() {
            return Ok(());
        }
        refuse_elsewhere(select, order_by, &keys, &moved)?;
        moved.sort_unstable();
        let location = keys.first().map_or(-1, |key| key.location.0);
        let mut calls: Vec<SetCall> = Vec::with_capacity(moved.len());
        for place in moved.iter().rev() {
            calls.insert(0, select.sets.remove(*place));
        }
        let is_plain = |call: &SetCall| {
            let has_set = |argument: &Expr| {
                super::contains(argument, &mut |part| matches!(part.kind, Kind::Set(..)))
            };
            call.columns.len() == 1 && !call.call.arguments.iter().any(has_set)
        };
        let of_groups = |part: &Expr| matches!(part.kind, Kind::Aggregate(..) | Kind::Window(..));
        let mut arguments = calls.iter().flat_map(|call| &call.call.arguments);
        if arguments.any(|argument| super::contains(argument, &mut |part| of_groups(part))) {
            let message = "aggregate functions are not allowed in GROUP BY";
            return Err(Error::new("42803", message).at(location));
        }
        if !calls.iter().all(is_plain) {
            return Err(Error::missing("this set-returning function in GROUP BY").at(location));
        }
        let id = self.next_relation();
        let columns: Vec<_> = calls.iter().flat_map(|call| call.columns.clone()).collect();
        self.columns_of_relation.insert(id, columns.clone());
        let relation = Relation {
            id,
            alias: calls[0].columns[0].name.clone(),
            columns,
            is_lateral: !select.from.is_empty(),
            source: Source::Functions { calls, ordinality: false },
        };
        select.from.push(From::Relation(Box::new(relation)));
        let renumbered = Renumbered { select: select.id, relation: id, moved };
        keys.iter_mut().for_each(|key| renumbered.replace(key));
        select.output.iter_mut().for_each(|output| renumbered.replace(&mut output.expr));
        order_by.iter_mut().for_each(|key| renumbered.replace(&mut key.expr));
        if let Some(Distinct::On(on)) = &mut select.distinct {
            on.iter_mut().for_each(|key| renumbered.replace(key));
        }
        let arguments = select.sets.iter_mut().flat_map(|set| &mut set.call.arguments);
        arguments.for_each(|argument| renumbered.replace(argument));
        Ok(())
    }
}

/// Refuses sets of keys that are read by themselves: PostgreSQL makes their rows again, of the groups.
fn refuse_elsewhere(
    select: &Select,
    order_by: &[SortKey],
    keys: &[&mut Expr],
    moved: &[usize],
) -> Result<()> {
    let is_moved = |part: &Expr| matches!(part.kind, Kind::Set(of, at) if of == select.id && moved.contains(&at));
    let read = select.output.iter().map(|output| &output.expr);
    let mut read = read.chain(order_by.iter().map(|key| &key.expr));
    match read.find(|expr| stands_outside(expr, keys, &is_moved)) {
        Some(expr) => {
            let what = "a set-returning function both in a key of GROUP BY and outside of it";
            Err(Error::missing(what).at(expr.location.0))
        }
        None => Ok(()),
    }
}

/// Whether an expression has a part that is a moved set, outside of all keys.
fn stands_outside(expr: &Expr, keys: &[&mut Expr], is_moved: &dyn Fn(&Expr) -> bool) -> bool {
    grammar::growing(|| {
        if keys.iter().any(|key| **key == *expr) {
            return false;
        }
        let mut found = is_moved(expr);
        children(expr, &mut |part| found = found || stands_outside(part, keys, is_moved));
        found
    })
}

/// The new places of sets.
struct Renumbered {
    select: SelectId,
    relation: RelationId,
    /// The old places of those that are columns of the relation, in order.
    moved: Vec<usize>,
}

impl Renumbered {
    fn replace(&self, expr: &mut Expr) {
        grammar::growing(|| match expr.kind {
            Kind::Set(of, place) if of == self.select => {
                expr.kind = match self.moved.binary_search(&place) {
                    Ok(column) => Kind::Column(self.relation, column),
                    Err(before) => Kind::Set(of, place - before),
                };
            }
            _ => children_mut(expr, &mut |part| self.replace(part)),
        });
    }
}
