//! How the watched columns of rows change.

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{concat, take};
use arrow::error::ArrowError;
use catalog::{Catalog, ColumnId, TableId, Timing};
use imbl::{OrdMap, Vector};
use std::sync::Arc;

/// A change of rows of one table, as values of its watched columns.
#[derive(Debug, Clone)]
pub struct RowChange {
    /// The table.
    pub table: TableId,
    /// The watched columns.
    pub columns: Arc<[ColumnId]>,
    /// The old values of each row; `None` if the rows are new.
    pub old: Option<Vec<ArrayRef>>,
    /// The new values of each row; `None` if the rows are deleted.
    pub new: Option<Vec<ArrayRef>>,
}

impl RowChange {
    /// Returns the values of some of the columns, in their order.
    pub fn picked(&self, values: &[ArrayRef], columns: &[ColumnId]) -> Vec<ArrayRef> {
        let place = |column: &ColumnId| self.columns.iter().position(|watched| watched == column);
        columns.iter().filter_map(place).map(|at| Arc::clone(&values[at])).collect()
    }
}

/// Which rows of a foreign key, or of a unique constraint, have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Rows that refer.
    Referring,
    /// Rows that are referred to.
    Referenced,
    /// Rows with the values of a unique constraint.
    Unique,
}

/// A check of a constraint that waits for the end of the transaction.
#[derive(Debug, Clone)]
pub struct DeferredCheck {
    /// The table with the constraint.
    pub table: TableId,
    /// The name of the constraint.
    pub constraint: String,
    /// Which rows have changed.
    pub side: Side,
    /// The values of the columns that refer, the former values of those that are referred to, or the values that must be
    /// unique.
    pub values: Vec<ArrayRef>,
}

/// The changes of a transaction that foreign keys have not looked at, in their order; the checks
/// that wait for the end of the transaction; and the effects of SET CONSTRAINTS. A copy is cheap.
#[derive(Debug, Clone, Default)]
pub struct RowChanges {
    fresh: Vector<Arc<RowChange>>,
    deferred: Vector<Arc<DeferredCheck>>,
    /// SET CONSTRAINTS ALL: whether checks wait.
    all_wait: Option<bool>,
    /// SET CONSTRAINTS: whether the checks of a constraint wait.
    wait: OrdMap<(TableId, String), bool>,
}

impl RowChanges {
    /// Whether nothing is left to be checked.
    pub fn is_empty(&self) -> bool {
        self.fresh.is_empty() && self.deferred.is_empty()
    }

    /// Whether a check of a table waits for the end of the transaction.
    pub fn has_deferred(&self, table: TableId) -> bool {
        self.deferred.iter().any(|check| check.table == table)
    }

    /// Whether checks of rows of a table that refer, or are referred to, wait. `refers_to` says whether a constraint of a table
    /// refers to the table that is asked for.
    pub fn has_pending(&self, table: TableId, refers_to: impl Fn(TableId, &str) -> bool) -> bool {
        self.deferred.iter().any(|check| match check.side {
            Side::Referring => check.table == table,
            Side::Referenced => refers_to(check.table, &check.constraint),
            Side::Unique => false,
        })
    }

    /// Whether there are no changes. Checks may wait.
    pub fn has_no_changes(&self) -> bool {
        self.fresh.is_empty()
    }

    /// Whether the checks of a constraint of a table wait for the end of the transaction.
    pub fn waits(&self, table: TableId, constraint: &str, timing: Timing) -> bool {
        let named = || self.wait.get(&(table, constraint.to_owned())).copied();
        match timing {
            Timing::NotDeferrable => false,
            of => named().or(self.all_wait).unwrap_or(of == Timing::InitiallyDeferred),
        }
    }

    /// Makes the checks of all deferrable constraints wait, or not.
    pub fn set_all(&mut self, wait: bool) {
        self.wait.clear();
        self.all_wait = Some(wait);
    }

    /// Makes the checks of a constraint wait, or not.
    pub fn set(&mut self, table: TableId, constraint: &str, wait: bool) {
        self.wait.insert((table, constraint.to_owned()), wait);
    }

    /// Adds a check that waits.
    pub fn defer(&mut self, check: DeferredCheck) {
        self.deferred.push_back(Arc::new(check));
    }

    /// Takes the checks that wait.
    pub fn take_deferred(&mut self) -> Vec<Arc<DeferredCheck>> {
        std::mem::take(&mut self.deferred).into_iter().collect()
    }

    /// Adds checks that wait, again.
    pub fn defer_again(&mut self, checks: Vec<Arc<DeferredCheck>>) {
        self.deferred.extend(checks);
    }

    /// Adds a change, unless it has no rows.
    pub fn add(&mut self, change: RowChange) {
        let values = change.old.iter().chain(&change.new).next();
        if values.and_then(|values| values.first()).is_some_and(|values| !values.is_empty()) {
            self.fresh.push_back(Arc::new(change));
        }
    }

    /// Takes all changes, without the checks that wait.
    pub fn take(&mut self) -> Vec<Arc<RowChange>> {
        std::mem::take(&mut self.fresh).into_iter().collect()
    }
}

/// The watched columns of a table: their ids, and their positions.
#[derive(Debug, Clone)]
pub struct Watched {
    /// The ids.
    pub ids: Arc<[ColumnId]>,
    /// The positions in the table.
    pub positions: Vec<usize>,
}

impl Watched {
    /// The changes of rows with all columns that replace others: the old values of those that exist,
    /// and their ascending positions.
    ///
    /// # Errors
    /// Those of Arrow.
    pub fn upserted(
        self,
        table: TableId,
        (old, found): (Vec<ArrayRef>, Vec<usize>),
        rows: &RecordBatch,
    ) -> Result<Vec<RowChange>, ArrowError> {
        let new = self.of(rows);
        let (mut absent, mut next) = (Vec::new(), found.iter().copied().peekable());
        for row in 0..rows.num_rows() {
            if next.next_if_eq(&row).is_none() {
                absent.push(row);
            }
        }
        let changed = taken(&new, &found)?;
        let columns = Arc::clone(&self.ids);
        let inserted = RowChange { table, columns, old: None, new: Some(taken(&new, &absent)?) };
        // Most updates change other columns.
        if old == changed {
            return Ok(vec![inserted]);
        }
        let (old, new) = (Some(old), Some(changed));
        Ok(vec![RowChange { table, columns: self.ids, old, new }, inserted])
    }

    /// The change of rows that get other keys: the old values of those that exist, and their
    /// ascending positions in the new rows.
    ///
    /// # Errors
    /// Those of Arrow.
    pub fn replaced(
        self,
        table: TableId,
        (old, found): (Vec<ArrayRef>, Vec<usize>),
        rows: &[RecordBatch],
    ) -> Result<RowChange, ArrowError> {
        let new: Vec<Vec<ArrayRef>> = rows.iter().map(|rows| self.of(rows)).collect();
        let column = |at: usize| {
            let parts: Vec<_> = new.iter().map(|batch| batch[at].as_ref()).collect();
            concat(&parts)
        };
        let width = new.first().map_or(0, Vec::len);
        let new = (0..width).map(column).collect::<Result<Vec<_>, _>>()?;
        let (old, new) = (Some(old), Some(taken(&new, &found)?));
        Ok(RowChange { table, columns: self.ids, old, new })
    }

    /// Returns the values of the columns in rows with all columns.
    pub fn of(&self, rows: &RecordBatch) -> Vec<ArrayRef> {
        self.positions.iter().map(|at| Arc::clone(rows.column(*at))).collect()
    }
}

/// The rows of columns at some positions.
fn taken(columns: &[ArrayRef], rows: &[usize]) -> Result<Vec<ArrayRef>, ArrowError> {
    let rows: UInt32Array = rows.iter().map(|row| Some(*row as u32)).collect();
    columns.iter().map(|column| take(column, &rows, None)).collect()
}

/// Returns the columns of a table that foreign keys and deferrable unique constraints watch; `None` if there are none.
pub fn watched(catalog: &Catalog, table: TableId) -> Option<Watched> {
    let definition = catalog.table_by_id(table)?;
    let is_referred_to = !catalog.referring_to(table).is_empty();
    if definition.foreign_keys.is_empty() && !is_referred_to && !catalog.has_deferrable(table) {
        return None;
    }
    let unique = catalog.indexes_of(table).iter().filter(|index| index.is_deferrable());
    let unique = unique.flat_map(|index| index.inputs());
    let own = definition.foreign_keys.iter().flat_map(|key| &key.columns);
    let referenced = catalog.references_to(table).flat_map(|(_, key)| &key.referenced);
    let mut ids: Vec<ColumnId> = own.chain(referenced).copied().chain(unique).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.retain(|id| definition.position(*id).is_some());
    let positions = ids.iter().filter_map(|id| definition.position(*id)).collect();
    Some(Watched { ids: ids.into(), positions })
}
