//! What names of the tree stand for: columns of plans.
//!
//! Each SELECT has a frame while it is lowered. An expression of it refers to columns of the frame by [`Expr::Column`], and
//! to columns of frames around it by [`Expr::OuterReferenceColumn`], which every subquery in between lists.

use crate::Surroundings;
use crate::names::Qualifiers;
use crate::refusal::{Refusal, Result, missing};
use crate::typed::Typed;
use crate::unread::Unread;
use analyzer::system::SqlType;
use analyzer::tree::{CteId, Expr as Tree, Location, Relation, RelationId, SelectId};
use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchemaRef, DataFusionError, TableReference};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr, LogicalPlan};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use values::error::Error;

/// The lowering of one statement.
pub(crate) struct Lowering<'a> {
    pub(crate) around: &'a Surroundings<'a>,
    pub(crate) qualifiers: Qualifiers,
    pub(crate) ctes: HashMap<CteId, CtePlan>,
    /// The number of queries in WITH around what is lowered.
    pub(crate) ctes_around: usize,
    /// The rows of earlier rounds that the recursive terms around what is lowered read.
    pub(crate) rounds: Vec<TableReference>,
    /// The columns to which [`Kind::Output`](analyzer::tree::Kind::Output) refers.
    pub(crate) outputs: Vec<Typed>,
    /// The value to which [`Kind::Running`](analyzer::tree::Kind::Running) refers.
    pub(crate) running: Option<Typed>,
    /// The columns that hold values which are computed once, while what uses them is lowered.
    pub(crate) held: Vec<(Column, FieldRef)>,
    /// The number of values that have been held.
    pub(crate) values_held: usize,
    /// The order of the rows that are grouped, if a subquery in FROM gives them one.
    pub(crate) input_order: Vec<Sort>,
    /// The order in which the engine sorts the rows of the SELECT whose aggregates are lowered.
    pub(crate) aggregate_order: Option<Vec<Sort>>,
    /// Whether a condition of a join is lowered.
    pub(crate) is_joining: bool,
    /// The error of the first constant that has no value.
    pub(crate) constant_error: Option<Error>,
    /// The columns that may stay unread.
    pub(crate) unread: Unread,
    /// The columns of relations that are read; `None` if it is not known.
    pub(crate) read: Option<HashSet<(RelationId, usize)>>,
    /// The relations whose rows are values.
    pub(crate) whole_rows: HashSet<RelationId>,
    /// Whether conditions around what is lowered may leave out rows that an outer join makes up.
    pub(crate) is_filtered: bool,
    /// Whether an outer join may make up rows of what is lowered.
    pub(crate) is_nullable: bool,
    /// The object ids of tables.
    pub(crate) table_oids: HashMap<RelationId, u32>,
    /// The places and names of the columns of relations' rows.
    rows: HashMap<RelationId, Vec<(usize, String)>>,
    /// The columns that are NULL in rows that an outer join made up.
    presences: HashMap<RelationId, (FrameId, Known)>,
    relations: HashMap<RelationId, (FrameId, Vec<Known>)>,
    slots: HashMap<(SelectId, Slot), (FrameId, Known)>,
    /// Expressions that are columns wherever they stand in a frame.
    shared: Vec<(FrameId, Tree, SelectId, Slot)>,
    /// The open frames, innermost last.
    frames: Vec<FrameId>,
    frames_made: usize,
    grouping_keys: HashMap<SelectId, usize>,
    /// The open subqueries, innermost last.
    subqueries: Vec<OpenSubquery>,
}

/// The plan of a query in WITH.
#[derive(Debug, Clone)]
pub(crate) struct CtePlan {
    pub(crate) plan: LogicalPlan,
    /// Its references to columns around it.
    pub(crate) outer: OuterReferences,
    /// For who runs more often than the query: how often the query does, and a plan that computes its rows once.
    pub(crate) kept: Option<(usize, LogicalPlan)>,
}

/// The number of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameId(usize);

/// What an expression computes once, for later clauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    /// A key of GROUP BY.
    GroupKey(usize),
    /// An aggregate.
    Aggregate(usize),
    /// The number of the grouping set, as bits.
    GroupingId,
    /// A window function.
    Window(usize),
    /// A set-returning function of the select list.
    Set(usize),
    /// A volatile key of windows.
    Key(usize),
}

/// A value over the columns of a frame.
#[derive(Debug, Clone)]
struct Known {
    value: Typed,
    /// The columns that it mentions, with their fields.
    columns: Vec<(Column, FieldRef)>,
}

/// A subquery while it is lowered.
struct OpenSubquery {
    /// The number of frames that were open before.
    frames_before: usize,
    /// Its references to columns around it, each with the position of the frame.
    outer: Vec<(usize, Expr)>,
}

impl<'a> Lowering<'a> {
    pub(crate) fn new(around: &'a Surroundings<'a>) -> Self {
        Self {
            around,
            qualifiers: Qualifiers::default(),
            ctes: HashMap::new(),
            ctes_around: 0,
            rounds: Vec::new(),
            outputs: Vec::new(),
            running: None,
            held: Vec::new(),
            values_held: 0,
            input_order: Vec::new(),
            aggregate_order: None,
            is_joining: false,
            constant_error: None,
            unread: Unread::default(),
            read: None,
            is_filtered: around.is_of_view || !around.folds,
            whole_rows: HashSet::new(),
            is_nullable: false,
            table_oids: HashMap::new(),
            rows: HashMap::new(),
            presences: HashMap::new(),
            relations: HashMap::new(),
            slots: HashMap::new(),
            shared: Vec::new(),
            frames: Vec::new(),
            frames_made: 0,
            grouping_keys: HashMap::new(),
            subqueries: Vec::new(),
        }
    }

    /// Runs with a new frame.
    pub(crate) fn in_frame<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.frames_made += 1;
        self.frames.push(FrameId(self.frames_made));
        let result = run(self);
        self.frames.pop();
        result
    }

    /// Runs with other columns for [`Kind::Output`](analyzer::tree::Kind::Output).
    pub(crate) fn with_outputs<T>(
        &mut self,
        outputs: Vec<Typed>,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = std::mem::replace(&mut self.outputs, outputs);
        let result = run(self);
        self.outputs = before;
        result
    }

    /// Runs as a subquery, and returns its references to columns around it.
    pub(crate) fn in_subquery<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, OuterReferences)> {
        let open = OpenSubquery { frames_before: self.frames.len(), outer: Vec::new() };
        self.subqueries.push(open);
        let result = run(self);
        let closed = self.subqueries.pop();
        Ok((result?, OuterReferences(closed.map(|closed| closed.outer).unwrap_or_default())))
    }

    /// The number of subqueries and recursive terms around what is lowered: each may run several times.
    pub(crate) fn repetitions(&self) -> usize {
        // A query in WITH is lowered as a subquery.
        self.subqueries.len() + self.rounds.len() - self.ctes_around
    }

    /// Whether a reference is to a column around the innermost subquery.
    pub(crate) fn is_around(&self, reference: &Expr) -> bool {
        let open = self.subqueries.last();
        open.is_some_and(|open| open.outer.iter().any(|(_, known)| known == reference))
    }

    /// Notes references to columns around the innermost subqueries.
    pub(crate) fn note(&mut self, references: &OuterReferences) {
        for (position, reference) in &references.0 {
            self.note_one(*position, reference);
        }
    }

    fn note_one(&mut self, position: usize, reference: &Expr) {
        for subquery in &mut self.subqueries {
            let is_outside = position < subquery.frames_before;
            if is_outside && !subquery.outer.iter().any(|(_, known)| known == reference) {
                subquery.outer.push((position, reference.clone()));
            }
        }
    }

    fn frame(&self) -> FrameId {
        self.frames.last().copied().unwrap_or(FrameId(0))
    }

    /// Adds a relation whose columns are those of a plan, in the order of `types`.
    pub(crate) fn add_relation(
        &mut self,
        id: RelationId,
        plan: &LogicalPlan,
        types: impl IntoIterator<Item = SqlType>,
    ) {
        self.add_relation_at(id, plan, 0, types);
    }

    /// As [`add_relation`](Self::add_relation), with columns that begin at a place.
    pub(crate) fn add_relation_at(
        &mut self,
        id: RelationId,
        plan: &LogicalPlan,
        first: usize,
        types: impl IntoIterator<Item = SqlType>,
    ) {
        let columns = plan.schema().columns().into_iter().zip(plan.schema().fields());
        let known = columns.skip(first).zip(types).map(|((column, field), sql_type)| {
            let expr = Expr::Column(column.clone());
            let value = Typed { expr, sql_type, data_type: field.data_type().clone() };
            Known { value, columns: vec![(column, Arc::clone(field))] }
        });
        let known = known.collect();
        self.relations.insert(id, (self.frame(), known));
    }

    /// Adds the names of a relation's columns, and the column that tells whether there is a row.
    pub(crate) fn add_row(&mut self, relation: &Relation, presence: Option<(Column, FieldRef)>) {
        let columns = relation.columns.iter().map(|column| column.name.clone());
        self.set_row(relation.id, columns.enumerate().collect());
        if let Some((column, field)) = presence {
            let value = Typed::boolean(Expr::Column(column.clone()));
            let known = Known { value, columns: vec![(column, field)] };
            self.presences.insert(relation.id, (self.frame(), known));
        }
    }

    /// Sets the columns of a relation's row.
    pub(crate) fn set_row(&mut self, relation: RelationId, columns: Vec<(usize, String)>) {
        self.rows.insert(relation, columns);
    }

    /// The places and names of the columns of a relation's row.
    pub(crate) fn row_of(&self, relation: RelationId) -> Option<Vec<(usize, String)>> {
        self.rows.get(&relation).cloned()
    }

    /// The column of a relation that is NULL in rows that an outer join made up; `None` if none did.
    pub(crate) fn presence(&mut self, relation: RelationId) -> Result<Option<Typed>> {
        let Some((frame, known)) = self.presences.get(&relation).cloned() else { return Ok(None) };
        self.seen(frame, known).map(Some)
    }

    /// Adds a value of a SELECT over the columns of a schema.
    pub(crate) fn add_slot(
        &mut self,
        select: SelectId,
        slot: Slot,
        value: Typed,
        schema: &DFSchemaRef,
    ) {
        let columns = value.expr.column_refs().into_iter().filter_map(|column| {
            let index = schema.maybe_index_of_column(column)?;
            Some((column.clone(), Arc::clone(&schema.fields()[index])))
        });
        let columns = columns.collect();
        self.slots.insert((select, slot), (self.frame(), Known { value, columns }));
    }

    /// Adds the value of a SELECT that an expression has wherever it stands in it.
    pub(crate) fn share(
        &mut self,
        expr: Tree,
        select: SelectId,
        value: Typed,
        schema: &DFSchemaRef,
    ) {
        let slot = Slot::Key(self.shared.len());
        self.add_slot(select, slot, value, schema);
        self.shared.push((self.frame(), expr, select, slot));
    }

    /// The column that an expression of the innermost frame is. `None` if it is computed where it stands.
    pub(crate) fn shared_value(&mut self, expr: &Tree) -> Result<Option<Typed>> {
        let here = self.frame();
        let is_it =
            |(frame, known, ..): &&(FrameId, Tree, SelectId, Slot)| *frame == here && known == expr;
        let found = self.shared.iter().find(is_it);
        match found.map(|(_, _, select, slot)| (*select, *slot)) {
            Some((select, slot)) => self.slot(select, slot).map(Some),
            None => Ok(None),
        }
    }

    /// A column of a relation.
    pub(crate) fn column(&mut self, relation: RelationId, column: usize) -> Result<Typed> {
        let mut errors = self.unread.relations.get(&relation).into_iter().flatten();
        if let Some((_, error)) = errors.find(|(place, _)| *place == column) {
            self.constant_error.get_or_insert_with(|| error.clone());
        }
        let found = self.relations.get(&relation);
        let found = found.and_then(|(frame, columns)| Some((*frame, columns.get(column)?.clone())));
        let Some((frame, known)) = found else { return missing("a reference to this relation") };
        self.seen(frame, known)
    }

    /// A value of a SELECT.
    pub(crate) fn slot(&mut self, select: SelectId, slot: Slot) -> Result<Typed> {
        let Some((frame, known)) = self.slots.get(&(select, slot)).cloned() else {
            return missing("a reference to this part of a query");
        };
        self.seen(frame, known)
    }

    /// The columns of the innermost frame, with their fields.
    pub(crate) fn columns_here(&self) -> HashMap<Column, FieldRef> {
        let here = self.frame();
        let relations = self.relations.values();
        let relations = relations.filter(|(frame, _)| *frame == here).flat_map(|(_, known)| known);
        let slots = self.slots.values().filter(|(frame, _)| *frame == here).map(|(_, known)| known);
        let presences = self.presences.values().filter(|(frame, _)| *frame == here);
        let presences = presences.map(|(_, known)| known);
        let known = relations.chain(slots).chain(presences);
        let columns = known.flat_map(|known| known.columns.iter().cloned());
        columns.chain(self.held.iter().cloned()).collect()
    }

    /// A value as it is seen from the innermost frame. A column of a frame around it may be NULL there whatever its relation
    /// says: an outer join of that frame adds rows of NULLs.
    fn seen(&mut self, frame: FrameId, known: Known) -> Result<Typed> {
        if frame == self.frame() {
            return Ok(known.value);
        }
        let Some(position) = self.frames.iter().position(|open| *open == frame) else {
            return missing("a reference to a query that is not around");
        };
        let outer = |field: &FieldRef, column: &Column| {
            let field = Arc::new(field.as_ref().clone().with_nullable(true));
            Expr::OuterReferenceColumn(field, column.clone())
        };
        for (column, field) in &known.columns {
            self.note_one(position, &outer(field, column));
        }
        let expr = known.value.expr.transform(|expr| {
            let Expr::Column(column) = &expr else { return Ok(Transformed::no(expr)) };
            let found = known.columns.iter().find(|(known, _)| known == column);
            let (_, field) = found.ok_or_else(|| unknown(column))?;
            Ok(Transformed::yes(outer(field, column)))
        });
        Ok(Typed { expr: expr?.data, ..known.value })
    }

    /// Notes that a SELECT has grouping sets over a number of keys.
    pub(crate) fn set_grouping_keys(&mut self, select: SelectId, count: usize) {
        self.grouping_keys.insert(select, count);
    }

    /// The number of keys of a SELECT with grouping sets.
    pub(crate) fn grouping_keys(&self, select: SelectId) -> Option<usize> {
        self.grouping_keys.get(&select).copied()
    }

    /// Adds the position of a location to an error that has none.
    pub(crate) fn locate(&self, refusal: Refusal, location: Location) -> Refusal {
        match (refusal, usize::try_from(location.0)) {
            (Refusal::Error(error), Ok(byte)) if error.position().is_none() => {
                Refusal::Error(self.at(error, byte))
            }
            (refusal, _) => refusal,
        }
    }

    fn at(&self, error: Error, byte: usize) -> Error {
        match self.around.text.get(..byte) {
            Some(before) => error.at(before.chars().count() + 1),
            None => error,
        }
    }
}

fn unknown(column: &Column) -> DataFusionError {
    DataFusionError::Internal(format!("the column {column} is of no relation"))
}

/// References of a subquery to columns around it.
#[derive(Debug, Clone, Default)]
pub(crate) struct OuterReferences(Vec<(usize, Expr)>);

impl OuterReferences {
    /// The references, as a subquery lists them.
    pub(crate) fn expressions(&self) -> Vec<Expr> {
        self.0.iter().map(|(_, expr)| expr.clone()).collect()
    }

    /// These references and others, each once.
    pub(crate) fn with(mut self, others: Self) -> Self {
        for other in others.0 {
            if !self.0.contains(&other) {
                self.0.push(other);
            }
        }
        self
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
