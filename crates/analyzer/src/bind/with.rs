//! WITH.

use super::Binder;
use super::expression::too_deep;
use super::names;
use super::scope::{CteState, NamedCte, Scope};
use super::set_operation::{operator, output_location, sides};
use crate::error::{Error, Result};
use crate::system::{Oid, SqlType};
use crate::tree::{
    Body, Column, Cte, CteId, From, JoinKind, Limit, NamedChange, Output, Query, SetOperator,
    Source,
};
use grammar::tree::{
    Alias, CommonTableExpr, CteMaterialize, NodeEnum, NodeRef, SelectStmt, WithClause,
};
use std::collections::HashSet;

/// How many queries one WITH may have.
const COMMON_MAX: usize = 500;

impl Binder<'_> {
    /// Binds the queries of WITH and lets the level see them.
    pub(super) fn with_clause(&mut self, clause: &WithClause) -> Result<Vec<Cte>> {
        if clause.ctes.len() > COMMON_MAX {
            return Err(too_deep().hint(format!("A WITH may have {COMMON_MAX} queries.")));
        }
        let mut with = Vec::new();
        let mut ctes = Vec::with_capacity(clause.ctes.len());
        for node in &clause.ctes {
            match names::node(Some(node))? {
                NodeEnum::CommonTableExpr(cte) => ctes.push(&**cte),
                _ => return Err(Error::missing("this form")),
            }
        }
        for cte in if clause.recursive { in_order(ctes)? } else { ctes } {
            let name = &cte.ctename;
            let Some(scope) = self.scopes.last() else { return Err(Error::missing("WITH here")) };
            if scope.ctes.iter().any(|known| known.name == *name) {
                let message = format!("WITH query name \"{name}\" specified more than once");
                return Err(Error::new("42712", message).at(cte.location));
            }
            if !clause.recursive && (cte.search_clause.is_some() || cte.cycle_clause.is_some()) {
                return Err(Error::new("42601", "WITH query is not recursive").at(cte.location));
            }
            let id = self.next_cte();
            let outer = std::mem::take(&mut self.reads);
            let bound = match names::node(cte.ctequery.as_deref())? {
                NodeEnum::SelectStmt(select) if clause.recursive => {
                    self.possibly_recursive(id, cte, select).map(Some)
                }
                NodeEnum::SelectStmt(select) => {
                    self.plain_cte(cte, select).map(|query| Some((query, false)))
                }
                change => self.changing_cte(id, clause.recursive, cte, change).map(|change| {
                    self.changes.push((with.len(), change));
                    None
                }),
            };
            let own = std::mem::replace(&mut self.reads, outer);
            self.reads_of.insert(id, own);
            let Some((query, is_recursive)) = bound? else { continue };
            let named = NamedCte {
                id,
                name: name.clone(),
                columns: query.columns.clone(),
                references: 0,
                own_references: 0,
                own_location: -1,
                hidden: 0,
                state: CteState::Bound,
            };
            if let Some(scope) = self.scopes.last_mut() {
                scope.ctes.push(named);
            }
            let materialized = match cte.ctematerialized() {
                CteMaterialize::Always => Some(true),
                CteMaterialize::Never => Some(false),
                _ => None,
            };
            with.push(Cte {
                id,
                name: name.clone(),
                query,
                is_recursive,
                references: 0,
                materialized,
            });
        }
        Ok(with)
    }

    /// Notes how often each query of WITH was read.
    pub(super) fn finish_with(&mut self, mut with: Vec<Cte>) -> Vec<Cte> {
        let Some(scope) = self.scopes.last() else { return with };
        for cte in &mut with {
            let named = scope.ctes.iter().find(|named| named.id == cte.id);
            cte.references = named.map_or(0, |named| named.references);
        }
        with
    }

    /// Binds a change in WITH, and lets the level see the rows that it returns.
    fn changing_cte(
        &mut self,
        id: CteId,
        is_recursive: bool,
        cte: &CommonTableExpr,
        change: &NodeEnum,
    ) -> Result<NamedChange> {
        let refused = |message: &str| Err(Error::new("0A000", message).at(cte.location));
        if matches!(change, NodeEnum::MergeStmt(_)) {
            return refused("MERGE not supported in WITH query");
        }
        if self.scopes.len() > 1 {
            return refused(
                "WITH clause containing a data-modifying statement must be at the top level",
            );
        }
        if !self.may_change {
            return refused("INSERT, UPDATE and DELETE in WITH are not supported here");
        }
        let change = match is_recursive {
            true => {
                let open = self.open(id, cte, Vec::new(), CteState::Changing);
                let change = self.change(change);
                self.close(open);
                change?
            }
            false => self.change(change)?,
        };
        let (mut columns, state) = match &change.returning {
            Some(output) => (output.iter().map(Output::column).collect(), CteState::Bound),
            None => (Vec::new(), CteState::WithoutRows),
        };
        if state == CteState::Bound {
            rename_columns(&mut columns, cte)?;
        }
        self.open(id, cte, columns, state);
        Ok(NamedChange { id, name: cte.ctename.clone(), change })
    }

    fn plain_cte(&mut self, cte: &CommonTableExpr, select: &SelectStmt) -> Result<Query> {
        let mut query = self.query(select)?;
        self.settle_outputs(&mut query)?;
        rename(&mut query, cte)?;
        Ok(query)
    }

    fn possibly_recursive(
        &mut self,
        id: CteId,
        cte: &CommonTableExpr,
        select: &SelectStmt,
    ) -> Result<(Query, bool)> {
        let is_union = select.larg.is_some() && operator(select).0 == SetOperator::Union;
        if !is_union {
            let open = self.open(id, cte, Vec::new(), CteState::NotUnion);
            let query = self.plain_cte(cte, select);
            self.close(open);
            return Ok((query?, false));
        }
        if let Some(clause) = &select.with_clause {
            return self.below_with(clause, id, cte, select);
        }
        let (left, right) = sides(select)?;
        let open = self.open(id, cte, Vec::new(), CteState::NonRecursiveTerm);
        let first = self.query(left).and_then(|mut query| {
            let literals = literals(&query);
            self.settle_outputs(&mut query)?;
            Ok((query, literals))
        });
        self.close(open);
        let (first, literals) = first?;
        let mut columns = first.columns.clone();
        let alias = Alias { aliasname: cte.ctename.clone(), colnames: cte.aliascolnames.clone() };
        super::from::rename(&mut columns, &alias, cte.location)?;
        let marks = self.marks(cte, &columns)?;
        let added = marks.as_ref().map_or_else(Vec::new, |marks| marks.columns());
        let hidden = added.len();
        columns.extend(added);
        let open = self.open(id, cte, columns.clone(), CteState::RecursiveTerm);
        if let Some(named) = self.scopes.last_mut().and_then(|scope| scope.ctes.last_mut()) {
            named.hidden = hidden;
        }
        let second = self.query(right);
        let (references, location) = self.close(open);
        let second = second?;
        if references == 0 {
            // It only could have been recursive.
            return Ok((self.plain_cte(cte, select)?, false));
        }
        refuse_clauses(select).map_err(|error| error.at(cte.location))?;
        same_literals(&first, &second, &literals, cte)?;
        check_recursive(&second, id, &cte.ctename, Place::Plain)
            .map_err(|error| error.at(location))?;
        if references > 1 {
            let message = format!(
                "recursive reference to query \"{}\" must not appear more than once",
                cte.ctename
            );
            return Err(Error::new("42P19", message).at(location));
        }
        let (first, second) = match &marks {
            Some(marks) => (
                self.first_marks(marks, first)?,
                self.next_marks(marks, second, (id, &cte.ctename))
                    .map_err(|error| error.at(cte.location))?,
            ),
            None => (first, second),
        };
        let mut query = self.combine(select, first, second)?;
        same_types(&query, &columns, cte)?;
        query.limit = Limit::default();
        rename(&mut query, cte)?;
        Ok((query, true))
    }

    /// A possibly recursive UNION behind a WITH, whose queries are on a level of their own around both terms.
    fn below_with(
        &mut self,
        clause: &WithClause,
        id: CteId,
        cte: &CommonTableExpr,
        select: &SelectStmt,
    ) -> Result<(Query, bool)> {
        let level = self.next_select();
        let own = self.open(id, cte, Vec::new(), CteState::Within);
        self.scopes.push(Scope::new(level));
        let with = self.with_clause(clause);
        let inner = self.scopes.pop();
        self.close(own);
        self.scopes.extend(inner);
        let bound = with.and_then(|with| {
            let union = SelectStmt { with_clause: None, ..select.clone() };
            let (mut query, is_recursive) = self.possibly_recursive(id, cte, &union)?;
            query.with = self.finish_with(with);
            Ok((query, is_recursive))
        });
        self.scopes.pop();
        bound
    }

    /// Lets the level see a query in WITH, in a state. Returns its place in the level.
    fn open(
        &mut self,
        id: CteId,
        cte: &CommonTableExpr,
        columns: Vec<Column>,
        state: CteState,
    ) -> usize {
        let Some(scope) = self.scopes.last_mut() else { return 0 };
        let name = cte.ctename.clone();
        let (references, own_references) = (0, 0);
        let own_location = if state == CteState::Changing { cte.location } else { -1 };
        scope.ctes.push(NamedCte {
            id,
            name,
            columns,
            references,
            own_references,
            own_location,
            hidden: 0,
            state,
        });
        scope.ctes.len() - 1
    }

    /// Ends [`open`](Self::open). Returns the number of its references to itself, and where the last one stands.
    fn close(&mut self, place: usize) -> (u32, i32) {
        let Some(scope) = self.scopes.last_mut() else { return (0, -1) };
        let named = scope.ctes.get(place);
        let references = named.map_or((0, -1), |named| (named.own_references, named.own_location));
        scope.ctes.truncate(place);
        references
    }

    /// The query in WITH that a name finds, the innermost level first, with the number of columns at its end that names do not
    /// find.
    pub(super) fn cte(
        &mut self,
        name: &str,
        location: i32,
    ) -> Result<Option<(CteId, Vec<Column>, usize)>> {
        let floor = self.floor();
        for scope in self.scopes[floor..].iter_mut().rev() {
            let Some(named) = scope.ctes.iter_mut().find(|named| named.name == name) else {
                continue;
            };
            self.reads.push(named.id);
            let refuse = |message: String| Err(Error::new("42P19", message).at(location));
            match named.state {
                CteState::Bound => named.references += 1,
                CteState::RecursiveTerm => {
                    named.own_references += 1;
                    named.own_location = location;
                }
                CteState::NonRecursiveTerm => {
                    return refuse(format!(
                        "recursive reference to query \"{name}\" must not appear within its non-recursive term"
                    ));
                }
                CteState::Within => {
                    return refuse(format!(
                        "recursive reference to query \"{name}\" must not appear within a subquery"
                    ));
                }
                CteState::NotUnion => {
                    return refuse(format!(
                        "recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] recursive-term"
                    ));
                }
                CteState::Changing => {
                    let message = format!(
                        "recursive query \"{name}\" must not contain data-modifying statements"
                    );
                    return Err(Error::new("42P19", message).at(named.own_location));
                }
                CteState::WithoutRows => {
                    let message = format!("WITH query \"{name}\" does not have a RETURNING clause");
                    return Err(Error::new("0A000", message).at(location));
                }
            }
            return Ok(Some((named.id, named.columns.clone(), named.hidden)));
        }
        Ok(None)
    }
}

/// The queries of WITH RECURSIVE, each behind those that it refers to.
fn in_order(mut open: Vec<&CommonTableExpr>) -> Result<Vec<&CommonTableExpr>> {
    let names: HashSet<&str> = open.iter().map(|cte| cte.ctename.as_str()).collect();
    let refers = |cte: &CommonTableExpr| -> HashSet<String> {
        let query = cte.ctequery.as_deref().and_then(|node| node.node.as_ref());
        let nodes = query.map(|query| query.nodes()).unwrap_or_default();
        let found = nodes.into_iter().filter_map(|(node, ..)| match node {
            NodeRef::RangeVar(range) if range.schemaname.is_empty() => Some(range.relname.clone()),
            _ => None,
        });
        found.filter(|name| names.contains(name.as_str()) && *name != cte.ctename).collect()
    };
    let references: Vec<HashSet<String>> = open.iter().map(|cte| refers(cte)).collect();
    let mut references: Vec<_> = open.drain(..).zip(references).collect();
    let mut ordered = Vec::with_capacity(references.len());
    while !references.is_empty() {
        let is_open = |name: &String| references.iter().any(|(cte, _)| cte.ctename == *name);
        let Some(next) = references.iter().position(|(_, names)| !names.iter().any(is_open)) else {
            let message = "mutual recursion between WITH items is not implemented";
            return Err(Error::new("0A000", message).at(references[0].0.location));
        };
        ordered.push(references.remove(next).0);
    }
    Ok(ordered)
}

/// Refuses clauses that a recursive UNION cannot have.
fn refuse_clauses(select: &SelectStmt) -> Result<()> {
    if !select.sort_clause.is_empty() {
        return Err(Error::new("0A000", "ORDER BY in a recursive query is not implemented"));
    }
    if select.limit_count.is_some() || select.limit_offset.is_some() {
        return Err(Error::new("0A000", "LIMIT in a recursive query is not implemented"));
    }
    if !select.locking_clause.is_empty() {
        return Err(Error::new(
            "0A000",
            "FOR UPDATE/SHARE in a recursive query is not implemented",
        ));
    }
    Ok(())
}

/// The columns of a query that are literals without a type.
fn literals(query: &Query) -> Vec<usize> {
    let columns = query.columns.iter().enumerate();
    let unknown = columns.filter(|(_, column)| column.sql_type.oid == Oid::UNKNOWN);
    match query.body {
        Body::Select(_) => unknown.map(|(at, _)| at).collect(),
        _ => Vec::new(),
    }
}

/// Refuses a recursive query with literals that are texts for its recursive term, and have the type of that overall.
fn same_literals(
    first: &Query,
    second: &Query,
    literals: &[usize],
    cte: &CommonTableExpr,
) -> Result<()> {
    for &at in literals {
        match second.columns.get(at).map(|column| column.sql_type.oid) {
            None | Some(Oid::TEXT | Oid::UNKNOWN) => {}
            Some(overall) => {
                let error = differs(cte, at, (Oid::TEXT.into(), overall.into()));
                return Err(error.at(output_location(first, at)));
            }
        }
    }
    Ok(())
}

/// Refuses a recursive query whose recursive term changes the types of its columns.
fn same_types(query: &Query, columns: &[Column], cte: &CommonTableExpr) -> Result<()> {
    for (at, (column, first)) in query.columns.iter().zip(columns).enumerate() {
        if column.sql_type != first.sql_type {
            let error = differs(cte, at, (first.sql_type, column.sql_type));
            return Err(error.at(output_location(query, at)));
        }
    }
    Ok(())
}

/// The error for a column with two types: that of the first term, and that of both.
fn differs(cte: &CommonTableExpr, at: usize, (first, overall): (SqlType, SqlType)) -> Error {
    let message = format!(
        "recursive query \"{}\" column {} has type {first} in non-recursive term but type {overall} overall",
        cte.ctename,
        at + 1,
    );
    Error::new("42804", message)
        .hint("Cast the output of the non-recursive term to the correct type.")
}

fn rename(query: &mut Query, cte: &CommonTableExpr) -> Result<()> {
    rename_columns(&mut query.columns, cte)
}

fn rename_columns(columns: &mut [Column], cte: &CommonTableExpr) -> Result<()> {
    let alias = Alias { aliasname: cte.ctename.clone(), colnames: cte.aliascolnames.clone() };
    super::from::rename(columns, &alias, cte.location).map_err(|error| {
        let message = error.message.replacen("table", "WITH query", 1);
        Error { message, ..error }
    })
}

/// Where a recursive reference stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Plain,
    OuterJoin,
    Subquery,
    Except,
    Intersect,
}

/// Refuses references to the query itself where rows of one round do not suffice.
fn check_recursive(query: &Query, id: CteId, name: &str, place: Place) -> Result<bool> {
    let mut refers = false;
    for cte in &query.with {
        refers |= check_recursive(&cte.query, id, name, place)?;
    }
    match &query.body {
        Body::Values(_) => {}
        Body::SetOperation(operation) => {
            let (left, right) = match (operation.operator, operation.all) {
                (SetOperator::Except, true) => (Place::Except, Place::Except),
                (SetOperator::Except, false) => (place, Place::Except),
                (SetOperator::Intersect, true) => (Place::Intersect, Place::Intersect),
                _ => (place, place),
            };
            refers |= grammar::growing(|| check_recursive(&operation.left, id, name, left))?;
            refers |= grammar::growing(|| check_recursive(&operation.right, id, name, right))?;
        }
        Body::Select(select) => {
            for from in &select.from {
                refers |= check_from(from, id, name, place)?;
            }
            if refers && !select.aggregates.is_empty() {
                let message =
                    "aggregate functions are not allowed in a recursive query's recursive term";
                return Err(Error::new("42P19", message));
            }
        }
    }
    let mut inside = Ok(());
    crate::tree::walk::query_expressions(query, &mut |expr| {
        super::contains(expr, &mut |part| {
            if let (crate::tree::Kind::Subquery(subquery), Ok(())) = (&part.kind, &inside) {
                inside = check_recursive(&subquery.query, id, name, Place::Subquery).map(|_| ());
            }
            false
        });
    });
    inside.map(|()| refers)
}

fn check_from(from: &From, id: CteId, name: &str, place: Place) -> Result<bool> {
    match from {
        From::Relation(relation) => match &relation.source {
            Source::Cte(of) if *of == id => {
                let within = match place {
                    Place::Plain => return Ok(true),
                    Place::OuterJoin => "an outer join",
                    Place::Subquery => "a subquery",
                    Place::Except => "EXCEPT",
                    Place::Intersect => "INTERSECT",
                };
                let message = format!(
                    "recursive reference to query \"{name}\" must not appear within {within}"
                );
                Err(Error::new("42P19", message))
            }
            Source::Query(query) => grammar::growing(|| check_recursive(query, id, name, place)),
            _ => Ok(false),
        },
        From::Join { kind, left, right, .. } => {
            let outer =
                |side_is_nullable: bool| if side_is_nullable { Place::OuterJoin } else { place };
            let of_left = check_from(
                left,
                id,
                name,
                outer(matches!(kind, JoinKind::Right | JoinKind::Full)),
            )?;
            let of_right = check_from(
                right,
                id,
                name,
                outer(matches!(kind, JoinKind::Left | JoinKind::Full)),
            )?;
            Ok(of_left | of_right)
        }
    }
}
