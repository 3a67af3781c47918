//! GROUP BY: its keys, and the expressions behind it.

use super::Binder;
use super::comparable::comparable;
use super::names;
use crate::error::{Error, Result};
use crate::system::functions;
use crate::tree::same::are_same;
use crate::tree::walk::{children_mut, query_expressions_mut};
use crate::tree::{
    Distinct, Expr, GroupingSets, Kind, Output, RelationId, Select, SelectId, SortKey,
};
use grammar::tree::{GroupingSet, GroupingSetKind, Node, NodeEnum};

/// A bound GROUP BY.
#[derive(Debug, Default)]
pub(super) struct Grouping {
    keys: Vec<Key>,
    sets: Option<GroupingSets>,
}

/// A key of GROUP BY. Items of the select list that are the same expression are different keys: a grouping set may have one of
/// them and not the other.
#[derive(Debug)]
struct Key {
    expr: Expr,
    /// The item of the select list that it is.
    output: Option<usize>,
}

/// The most elements of CUBE.
const CUBE_MAX: usize = 12;
/// The most grouping sets.
const SETS_MAX: usize = 4096;

impl Binder<'_> {
    /// The keys of GROUP BY.
    pub(super) fn group_by(
        &mut self,
        nodes: &[Node],
        distinct: bool,
        output: &[Output],
    ) -> Result<Grouping> {
        let mut keys = Vec::new();
        let mut product: GroupingSets = vec![Vec::new()];
        let mut has_sets = false;
        for node in nodes {
            let node = names::node(Some(node))?;
            has_sets |= matches!(node, NodeEnum::GroupingSet(_));
            let sets = self.grouping_sets(node, &mut keys, output)?;
            let mut next = Vec::new();
            for left in &product {
                for right in &sets {
                    next.push(left.iter().chain(right).copied().collect());
                    if next.len() > SETS_MAX {
                        return Err(Error::new(
                            "54001",
                            format!("too many grouping sets present (maximum {SETS_MAX})"),
                        ));
                    }
                }
            }
            product = next;
        }
        if !has_sets {
            return Ok(Grouping { keys, sets: None });
        }
        for set in &mut product {
            let mut seen = Vec::new();
            set.retain(|key| {
                !seen.contains(key) && {
                    seen.push(*key);
                    true
                }
            });
        }
        if distinct {
            let mut seen: Vec<Vec<usize>> = Vec::new();
            product.retain(|set| {
                let mut sorted = set.clone();
                sorted.sort_unstable();
                let is_new = !seen.contains(&sorted);
                seen.push(sorted);
                is_new
            });
        }
        Ok(Grouping { keys, sets: Some(product) })
    }

    /// The sets that an item of GROUP BY stands for.
    fn grouping_sets(
        &mut self,
        node: &NodeEnum,
        keys: &mut Vec<Key>,
        output: &[Output],
    ) -> Result<GroupingSets> {
        match node {
            NodeEnum::GroupingSet(set) => grammar::growing(|| self.expand(set, keys, output)),
            NodeEnum::RowExpr(row)
                if row.row_format() == grammar::tree::CoercionForm::CoerceImplicitCast =>
            {
                let mut together = Vec::new();
                for node in &row.args {
                    together.push(self.group_key(names::node(Some(node))?, keys, output)?);
                }
                Ok(vec![together])
            }
            node => Ok(vec![vec![self.group_key(node, keys, output)?]]),
        }
    }

    fn group_key(
        &mut self,
        node: &NodeEnum,
        keys: &mut Vec<Key>,
        output: &[Output],
    ) -> Result<usize> {
        let found = self.output_or_expression(node, output, "GROUP BY")?;
        let (key, at) = match found.kind {
            Kind::Output(at) => {
                (Expr { location: found.location, ..output[at].expr.clone() }, Some(at))
            }
            _ => (found, None),
        };
        let key = match key.sql_type.oid {
            crate::system::Oid::UNKNOWN => self.coerce_implicitly(key, crate::system::Oid::TEXT)?,
            _ => key,
        };
        let location = key.location.0;
        let select = self.scopes.last().map(|scope| scope.select);
        if super::contains(
            &key,
            &mut |part| matches!(&part.kind, Kind::Aggregate(of, _) if Some(*of) == select),
        ) {
            return Err(
                Error::new("42803", "aggregate functions are not allowed in GROUP BY").at(location)
            );
        }
        if super::contains(
            &key,
            &mut |part| matches!(&part.kind, Kind::Window(of, _) if Some(*of) == select),
        ) {
            return Err(
                Error::new("42P20", "window functions are not allowed in GROUP BY").at(location)
            );
        }
        comparable("=", key.sql_type.oid, location)?;
        let key = Key { expr: key, output: at };
        match keys
            .iter()
            .position(|known| known.output == key.output && are_same(&known.expr, &key.expr))
        {
            Some(place) => Ok(place),
            None => {
                keys.push(key);
                Ok(keys.len() - 1)
            }
        }
    }

    fn expand(
        &mut self,
        set: &GroupingSet,
        keys: &mut Vec<Key>,
        output: &[Output],
    ) -> Result<GroupingSets> {
        let mut parts = Vec::new();
        for node in &set.content {
            parts.push(self.grouping_sets(names::node(Some(node))?, keys, output)?);
        }
        match set.kind() {
            GroupingSetKind::GroupingSetEmpty => Ok(vec![Vec::new()]),
            GroupingSetKind::GroupingSetSets => Ok(parts.into_iter().flatten().collect()),
            GroupingSetKind::GroupingSetRollup => {
                let parts: Vec<Vec<usize>> = parts.into_iter().flatten().collect();
                Ok((0..=parts.len()).rev().map(|length| parts[..length].concat()).collect())
            }
            GroupingSetKind::GroupingSetCube => {
                let parts: Vec<Vec<usize>> = parts.into_iter().flatten().collect();
                if parts.len() > CUBE_MAX {
                    let message = format!("CUBE is limited to {CUBE_MAX} elements");
                    return Err(Error::new("54011", message).at(set.location));
                }
                let subset = |mask: usize| {
                    let chosen = parts
                        .iter()
                        .enumerate()
                        .filter(|(at, _)| mask & (1 << (parts.len() - 1 - at)) != 0);
                    chosen.flat_map(|(_, part)| part.iter().copied()).collect()
                };
                Ok((0..1usize << parts.len()).rev().map(subset).collect())
            }
            _ => Ok(parts.into_iter().flatten().collect()),
        }
    }

    /// Lets the expressions behind GROUP BY refer to its keys, and refuses other columns.
    pub(super) fn replace_keys(
        &mut self,
        select: &mut Select,
        order_by: &mut [SortKey],
        mut grouping: Grouping,
        groupings: Vec<(Vec<Expr>, i32)>,
    ) -> Result<()> {
        let mut keys = grouping.keys.iter_mut().map(|key| &mut key.expr);
        self.sets_before_groups(select, order_by, &mut keys)?;
        let Some(scope) = self.scopes.last() else { return Ok(()) };
        let mut names = Vec::new();
        for item in &scope.items {
            if let Some(relation) = item.relation {
                let columns = item.columns.iter().map(|(name, _)| name.clone()).collect();
                names.push((relation, item.name.clone(), columns));
            }
        }
        let (keys, places): (Vec<Expr>, Vec<Option<usize>>) =
            grouping.keys.into_iter().map(|key| (key.expr, key.output)).unzip();
        let in_all = |key: &usize| grouping.sets.iter().flatten().all(|set| set.contains(key));
        let shared: Vec<&Expr> = (0..keys.len()).filter(in_all).map(|key| &keys[key]).collect();
        let dependent = dependent(&scope.keys, &shared);
        let given = keys.len();
        let mut replacer = Replacer {
            select: scope.select,
            keys,
            names,
            dependent,
            groupings: Vec::new(),
            inner: 0,
        };
        replacer.find_groupings(groupings)?;
        for (at, output) in select.output.iter_mut().enumerate() {
            match places.iter().position(|place| *place == Some(at)) {
                Some(key) if grouping.sets.is_some() => {
                    output.expr.kind = Kind::GroupKey(replacer.select, key);
                }
                _ => replacer.replace(&mut output.expr)?,
            }
        }
        for key in order_by.iter_mut() {
            replacer.replace(&mut key.expr)?;
        }
        replacer.replace_clauses(select)?;
        replacer.check_direct(select, grouping.sets.is_some())?;
        // Columns that depend on keys of all sets have their values in all sets.
        for set in grouping.sets.iter_mut().flatten() {
            set.extend(given..replacer.keys.len());
        }
        select.group_by = replacer.keys;
        select.grouping_sets = grouping.sets;
        Ok(())
    }
}

/// The relations whose primary keys are among the keys of all sets of GROUP BY: their other columns depend on these.
fn dependent(primary: &[(RelationId, Vec<usize>)], keys: &[&Expr]) -> Vec<RelationId> {
    let has = |relation: RelationId, column: usize| {
        keys.iter()
            .any(|key| matches!(key.kind, Kind::Column(of, at) if of == relation && at == column))
    };
    let all = primary.iter().filter(|(relation, columns)| {
        !columns.is_empty() && columns.iter().all(|column| has(*relation, *column))
    });
    all.map(|(relation, _)| *relation).collect()
}

struct Replacer {
    select: SelectId,
    keys: Vec<Expr>,
    /// The relations of the level, with their names and those of their columns.
    names: Vec<(RelationId, String, Vec<String>)>,
    dependent: Vec<RelationId>,
    /// The keys of each GROUPING call.
    groupings: Vec<Vec<usize>>,
    /// How many subqueries are around the expression.
    inner: usize,
}

impl Replacer {
    /// Finds the keys of GROUPING calls.
    fn find_groupings(&mut self, groupings: Vec<(Vec<Expr>, i32)>) -> Result<()> {
        for (arguments, location) in groupings {
            let places = arguments.iter().map(|argument| {
                self.keys.iter().position(|key| are_same(key, argument)).ok_or_else(|| {
                    let message = "arguments to GROUPING must be grouping expressions of the associated query level";
                    Error::new("42803", message).at(argument.location.0).at(location)
                })
            });
            let places = places.collect::<Result<Vec<usize>>>()?;
            self.groupings.push(places);
        }
        Ok(())
    }

    /// Replaces keys in the clauses behind GROUP BY that are no lists of items.
    fn replace_clauses(&mut self, select: &mut Select) -> Result<()> {
        if let Some(having) = &mut select.having {
            self.replace(having)?;
        }
        for window in &mut select.windows {
            let keys = window.order_by.iter_mut().map(|key| &mut key.expr);
            let parts = window
                .arguments
                .iter_mut()
                .chain(&mut window.filter)
                .chain(&mut window.partition_by);
            for part in parts.chain(keys) {
                self.replace(part)?;
            }
        }
        for argument in select.sets.iter_mut().flat_map(|set| &mut set.call.arguments) {
            self.replace(argument)?;
        }
        if let Some(Distinct::On(keys)) = &mut select.distinct {
            for key in keys {
                self.replace(key)?;
            }
        }
        Ok(())
    }

    /// Refuses direct arguments of aggregates that are no keys. With grouping sets they are computed of the keys: rows have a
    /// value where a set without the key has NULL. Aggregates that compare rows with them cannot be computed so.
    fn check_direct(&mut self, select: &mut Select, has_sets: bool) -> Result<()> {
        for aggregate in &mut select.aggregates {
            let is_user = aggregate.user.is_some();
            let kind = functions::of(aggregate.function).map(|function| function.aggregate);
            let is_ordered = !is_user && kind == Some(functions::AggregateKind::OrderedSet);
            for argument in &mut aggregate.arguments[..aggregate.direct_arguments] {
                let mut replaced = argument.clone();
                self.replace(&mut replaced)?;
                if has_sets && replaced != *argument {
                    if !is_ordered {
                        let what = "a computed argument of this aggregate with grouping sets";
                        return Err(Error::missing(what).at(argument.location.0));
                    }
                    *argument = replaced;
                }
            }
        }
        Ok(())
    }

    fn replace(&mut self, expr: &mut Expr) -> Result<()> {
        grammar::growing(|| self.replace_here(expr))
    }

    fn replace_here(&mut self, expr: &mut Expr) -> Result<()> {
        let is_constant = matches!(expr.kind, Kind::Literal(_) | Kind::Parameter(_));
        if !is_constant && let Some(place) = self.keys.iter().position(|key| are_same(key, expr)) {
            expr.kind = Kind::GroupKey(self.select, place);
            return Ok(());
        }
        match &mut expr.kind {
            Kind::Column(relation, column) => {
                let (relation, column) = (*relation, *column);
                let Some((_, table, columns)) =
                    self.names.iter().find(|(known, ..)| *known == relation)
                else {
                    return Ok(());
                };
                if self.dependent.contains(&relation) {
                    self.keys.push(expr.clone());
                    expr.kind = Kind::GroupKey(self.select, self.keys.len() - 1);
                    return Ok(());
                }
                let name = columns.get(column).map_or("?", String::as_str);
                let message = if self.inner == 0 {
                    format!(
                        "column \"{table}.{name}\" must appear in the GROUP BY clause or be used in an aggregate function"
                    )
                } else {
                    format!("subquery uses ungrouped column \"{table}.{name}\" from outer query")
                };
                return Err(Error::new("42803", message).at(expr.location.0));
            }
            Kind::WholeRow(relation) | Kind::TableOid(relation) => {
                let relation = *relation;
                return self.replace_row(expr, relation);
            }
            Kind::Grouping(select, places) if *select == self.select => {
                if let Some(found) = places.first().and_then(|place| self.groupings.get(*place)) {
                    *places = found.clone();
                }
                return Ok(());
            }
            _ => {}
        }
        let mut result = Ok(());
        children_mut(expr, &mut |part| {
            if result.is_ok() {
                result = self.replace(part);
            }
        });
        result?;
        if let Kind::Subquery(subquery) = &mut expr.kind {
            self.inner += 1;
            let mut result = Ok(());
            query_expressions_mut(&mut subquery.query, &mut |part| {
                if result.is_ok() {
                    result = self.replace(part);
                }
            });
            self.inner -= 1;
            result?;
        }
        Ok(())
    }

    /// Replaces the row of a relation, or what belongs to the whole row.
    fn replace_row(&mut self, expr: &mut Expr, relation: RelationId) -> Result<()> {
        let Some((_, table, _)) = self.names.iter().find(|(known, ..)| *known == relation) else {
            return Ok(());
        };
        if self.dependent.contains(&relation) {
            self.keys.push(expr.clone());
            expr.kind = Kind::GroupKey(self.select, self.keys.len() - 1);
            return Ok(());
        }
        let column = if matches!(expr.kind, Kind::WholeRow(_)) { "*" } else { "tableoid" };
        let message = match self.inner {
            0 => format!(
                "column \"{table}.{column}\" must appear in the GROUP BY clause or be used in an aggregate function"
            ),
            _ => format!("subquery uses ungrouped column \"{table}.{column}\" from outer query"),
        };
        Err(Error::new("42803", message).at(expr.location.0))
    }
}
