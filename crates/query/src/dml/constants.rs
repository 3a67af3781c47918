//! The rows of VALUES whose cells are constants, without the planner.
//!
//! Planning, optimizing and executing ten thousand rows of constants takes several times as long as parsing and storing
//! them. Here a constant becomes a value of its column in one step, with the same types as in a plan. Everything else is
//! left to the planner: expressions, constants of a type that differs from their column's, and lists that are an error.

use super::{declared_column, name_of};
use crate::context::Frame;
use crate::context::outcome::{Outcome, Tag};
use catalog_views::relation_names::find_named;
use datafusion::arrow::record_batch::RecordBatch;
use grammar::tree::{InsertStmt, Node, NodeEnum, OverridingKind, SelectStmt};
use plan_cache::Basis;
use scan::BATCH_ROWS;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Catalog, Privileges, Relation, Table};
use table_rows::constants::batch;
use table_rows::default_values::accepts_default_only;
use table_rows::{Assembly, insert_in_order};
use values::error::Result;

/// An INSERT of constants.
pub(super) struct Constants {
    table: Arc<Table>,
    /// The columns that get values.
    columns: Vec<usize>,
    /// The values, as input of an assignment.
    pub(super) rows: RecordBatch,
    /// Whether it has ON CONFLICT or RETURNING.
    has_clauses: bool,
}

impl Constants {
    /// Whether it does nothing but insert: it has no clauses, and its table no triggers.
    pub(super) fn is_plain(&self, catalog: &Catalog) -> bool {
        !self.has_clauses && catalog.triggers_of(self.table.id).is_empty()
    }

    /// Runs the INSERT, which has no clauses. Gives back the rows if functions see what has been inserted.
    ///
    /// # Errors
    /// Those of the values, of constraints and of the transaction.
    pub(super) async fn insert(
        self,
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
    ) -> Result<Result<Outcome, RecordBatch>> {
        let assembly = self.assembly(frame, transaction)?;
        let Self { table, rows, .. } = self;
        let Some(assembly) = assembly else { return Ok(Err(rows)) };
        let count = rows.num_rows();
        for begin in (0..count).step_by(BATCH_ROWS) {
            let rows = rows.slice(begin, BATCH_ROWS.min(count - begin));
            let (rows, error) = assembly.rows_before_error(&rows)?;
            insert_in_order(transaction, table.id, &rows).await?;
            error.map_or(Ok(()), Err)?;
        }
        Ok(Ok(Outcome::Done(Tag::counted("INSERT", count as u64))))
    }

    /// What makes rows of the table, which the session keeps. `None` if functions see what has been inserted.
    fn assembly(
        &self,
        frame: &Frame<'_>,
        transaction: &DistributedTransaction,
    ) -> Result<Option<Arc<Assembly>>> {
        let session = frame.session;
        let basis = Basis::new(transaction.catalog(), &frame.settings);
        // No statement has such a text.
        let text = format!("\0{} {:?}", self.table.id.0, self.columns);
        let known = session.forms.find(&basis, &text, &[]).flatten();
        if let Some(known) = known.and_then(|known| known.downcast().ok()) {
            return Ok(Some(known));
        }
        let planner = frame.planner(transaction);
        let assembly = Assembly::new(&planner, &session.shared.store, &self.table, &self.columns)?;
        if frame.site.needs_driver() {
            return Ok(None);
        }
        let assembly = Arc::new(assembly);
        // Settings of a call are not those of the next one.
        if assembly.is_lasting() && !session.borrowed.is_lent() {
            session.forms.keep(&basis, &text, &[], Some(Arc::clone(&assembly) as _));
        }
        Ok(Some(assembly))
    }
}

/// The constants of an INSERT. `None` if the planner is needed, also for an error.
pub(super) fn of(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    statement: &NodeEnum,
) -> Option<Constants> {
    let NodeEnum::InsertStmt(insert) = statement else { return None };
    let rows = rows_of(insert)?;
    let catalog = transaction.catalog();
    let name = name_of(insert.relation.as_ref()?);
    let relation = find_named(catalog, frame.path(), &name).ok()??;
    frame.access(catalog).require(relation, Privileges::INSERT).ok()?;
    let Relation::Table(table) = relation else { return None };
    if table.materialized.is_some() {
        return None;
    }
    let mut columns = columns(table, &insert.cols)?;
    let rows = batch(rows, insert.cols.is_empty(), table, &columns)?;
    columns.truncate(rows.num_columns());
    let refuses = |column: &usize| accepts_default_only(&table.columns[*column]);
    if columns.iter().any(refuses) {
        return None;
    }
    let has_clauses = insert.on_conflict_clause.is_some() || insert.returning_clause.is_some();
    Some(Constants { table: Arc::clone(table), columns, rows, has_clauses })
}

/// The rows of an INSERT of nothing but VALUES.
pub(crate) fn rows_of(insert: &InsertStmt) -> Option<&[Node]> {
    let source = insert.select_stmt.as_ref()?.node.as_ref()?;
    let NodeEnum::SelectStmt(values) = source else { return None };
    let is_plain = insert.with_clause.is_none()
        && matches!(
            insert.r#override(),
            OverridingKind::OverridingNotSet | OverridingKind::Undefined
        )
        && has_rows_only(values);
    is_plain.then_some(&values.values_lists[..])
}

fn has_rows_only(values: &SelectStmt) -> bool {
    !values.values_lists.is_empty()
        && values.with_clause.is_none()
        && values.sort_clause.is_empty()
        && values.limit_count.is_none()
        && values.limit_offset.is_none()
        && values.locking_clause.is_empty()
}

/// The name of a target column.
pub(crate) fn column_of(target: &Node) -> Option<&str> {
    match &target.node {
        Some(NodeEnum::ResTarget(target)) if target.indirection.is_empty() => Some(&target.name),
        _ => None,
    }
}

/// The target columns of an INSERT, in the order of the values.
pub(crate) fn columns(table: &Table, named: &[Node]) -> Option<Vec<usize>> {
    if named.is_empty() {
        return Some((0..table.columns.len()).filter(|i| !table.columns[*i].hidden).collect());
    }
    let mut columns = Vec::with_capacity(named.len());
    for name in named {
        let column = declared_column(table, column_of(name)?).ok()?;
        if columns.contains(&column) {
            return None;
        }
        columns.push(column);
    }
    Some(columns)
}
