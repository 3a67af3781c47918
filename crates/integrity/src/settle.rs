//! Checks and actions at the end of a statement, and checks at the end of a transaction.

use crate::lookup::{self, missing};
use crate::surroundings::Surroundings;
use crate::{actions, errors, tuples, unique};
use datafusion::arrow::array::ArrayRef;
use std::sync::Arc;
use store::catalog::{Catalog, ForeignKey, Index, ReferentialAction, Table, TableId, Timing};
use store::{DeferredCheck, DistributedTransaction, RowChange, Side};
use values::error::Result;

/// A check that is due.
struct Check {
    table: Arc<Table>,
    key: ForeignKey,
    side: Side,
    /// The values of the columns that refer, or the former values of those that are referred to.
    /// None is NULL.
    values: Vec<ArrayRef>,
}

/// The rows that are checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// Those that a statement has changed.
    Statement,
    /// Those that a transaction has changed, and may have changed again.
    Transaction,
    /// All of a table, whose definition changes: neither table can change at the same time.
    All,
}

/// Looks at the changes of a statement: carries out actions, and checks what does not wait for the
/// end of the transaction.
///
/// # Errors
/// 23503 and 23505 for a violation; the errors of actions.
pub async fn settle(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
) -> Result<()> {
    let (mut checks, mut uniques) = (Vec::new(), Vec::new());
    while !transaction.row_changes().has_no_changes() {
        for change in transaction.row_changes().take() {
            let catalog = Arc::clone(transaction.catalog());
            let Some(table) = catalog.table_by_id(change.table) else { continue };
            for key in &table.foreign_keys {
                let Some(values) = new_values(&change, table, key)? else { continue };
                let check = Check {
                    table: Arc::clone(table),
                    key: key.clone(),
                    side: Side::Referring,
                    values,
                };
                checks.extend(unless_deferred(transaction, check));
            }
            for index in catalog.indexes_of(table.id).iter().filter(|index| index.is_deferrable()) {
                let Some(values) = unique::changed(&change, table, index)? else { continue };
                let of = (Arc::clone(table), Arc::clone(index));
                uniques.extend(unless_deferred_unique(transaction, of, values).await?);
            }
            let gone = gone(surroundings, transaction, &catalog, &change).await?;
            checks.extend(gone);
        }
    }
    for ((table, index), values) in uniques {
        unique::check(surroundings, transaction, (&table, &index), &values).await?;
    }
    for check in checks {
        check.run(surroundings, transaction, Rows::Statement).await?;
    }
    Ok(())
}

/// A unique constraint, and the values that must be checked.
type UniqueCheck = ((Arc<Table>, Arc<Index>), Vec<ArrayRef>);

/// Keeps the check of a unique constraint for the end of the transaction, if it is to wait.
async fn unless_deferred_unique(
    transaction: &mut DistributedTransaction,
    (table, index): (Arc<Table>, Arc<Index>),
    values: Vec<ArrayRef>,
) -> Result<Option<UniqueCheck>> {
    let changes = transaction.row_changes();
    let constraint = &index.file.name;
    if !changes.waits(table.id, constraint, index.timing) {
        return Ok(Some(((table, index), values)));
    }
    unique::take_free_guards(transaction, &index, &values).await?;
    let (constraint, side) = (constraint.clone(), Side::Unique);
    let check = DeferredCheck { table: table.id, constraint, side, values };
    transaction.row_changes().defer(check);
    Ok(None)
}

/// A check that waited, now that it is due.
async fn run_deferred(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
    deferred: &DeferredCheck,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    if deferred.side != Side::Unique {
        return match Check::of(&catalog, deferred) {
            Some(check) => check.run(surroundings, transaction, Rows::Transaction).await,
            None => Ok(()),
        };
    }
    let table = catalog.table_by_id(deferred.table);
    let mut indexes = catalog.indexes_of(deferred.table).iter();
    let index = indexes.find(|index| index.file.name == deferred.constraint);
    match table.zip(index) {
        Some(of) => unique::check(surroundings, transaction, of, &deferred.values).await,
        None => Ok(()),
    }
}

/// When the constraint of a check that waits is checked; `None` if the constraint does not exist any more.
fn timing_of(catalog: &Catalog, deferred: &DeferredCheck) -> Option<Timing> {
    let table = catalog.table_by_id(deferred.table)?;
    let mut keys = table.foreign_keys.iter();
    let key = keys.find(|key| key.name == deferred.constraint).map(|key| key.timing);
    let mut indexes = catalog.indexes_of(table.id).iter();
    let index = indexes.find(|index| index.file.name == deferred.constraint);
    key.or(index.map(|index| index.timing))
}

/// As [`settle`], with the checks that wait for the end of the transaction.
///
/// # Errors
/// As of [`settle`].
pub async fn settle_all(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
) -> Result<()> {
    if transaction.row_changes().is_empty() {
        return Ok(());
    }
    settle(surroundings, transaction).await?;
    for deferred in transaction.row_changes().take_deferred() {
        run_deferred(surroundings, transaction, &deferred).await?;
    }
    Ok(())
}

/// SET CONSTRAINTS: makes checks wait for the end of the transaction, or not; those that waited and
/// do not any more are due. `named` are tables with their foreign keys; `None` for all.
///
/// # Errors
/// 23503 for a violation.
pub async fn set_constraints(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
    named: Option<&[(TableId, String)]>,
    wait: bool,
) -> Result<()> {
    match named {
        None => transaction.row_changes().set_all(wait),
        Some(named) => {
            for (table, name) in named {
                transaction.row_changes().set(*table, name, wait);
            }
        }
    }
    if wait {
        return Ok(());
    }
    for deferred in transaction.row_changes().take_deferred() {
        let Some(timing) = timing_of(transaction.catalog(), &deferred) else { continue };
        let changes = transaction.row_changes();
        if changes.waits(deferred.table, &deferred.constraint, timing) {
            changes.defer_again(vec![deferred]);
        } else {
            run_deferred(surroundings, transaction, &deferred).await?;
        }
    }
    Ok(())
}

/// Checks that all rows of a table refer to rows.
///
/// # Errors
/// 23503.
pub async fn validate(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
    table: &Arc<Table>,
    key: &ForeignKey,
) -> Result<()> {
    let Some(plan) = lookup::all_values(transaction, table, key)? else { return Ok(()) };
    for batch in surroundings.rows(transaction, &plan).await? {
        let values = batch.columns().to_vec();
        check_all(surroundings, transaction, (table, key), values).await?;
    }
    Ok(())
}

async fn check_all(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
    (table, key): (&Arc<Table>, &ForeignKey),
    values: Vec<ArrayRef>,
) -> Result<()> {
    let change = RowChange {
        table: table.id,
        columns: key.columns.clone().into(),
        old: None,
        new: Some(values),
    };
    let Some(values) = new_values(&change, table, key)? else { return Ok(()) };
    let (table, key) = (Arc::clone(table), key.clone());
    let check = Check { table, key, side: Side::Referring, values };
    check.run(surroundings, transaction, Rows::All).await
}

/// Keeps a check for the end of the transaction, if it is to wait.
fn unless_deferred(transaction: &mut DistributedTransaction, check: Check) -> Option<Check> {
    let changes = transaction.row_changes();
    if !changes.waits(check.table.id, &check.key.name, check.key.timing) {
        return Some(check);
    }
    let Check { table, key, side, values } = check;
    changes.defer(DeferredCheck { table: table.id, constraint: key.name, side, values });
    None
}

/// The new values of a foreign key that refer to something; `None` if there are none.
fn new_values(
    change: &RowChange,
    table: &Table,
    key: &ForeignKey,
) -> Result<Option<Vec<ArrayRef>>> {
    let Some(new) = &change.new else { return Ok(None) };
    let new = change.picked(new, &key.columns);
    let changed = match &change.old {
        Some(old) => tuples::different(&change.picked(old, &key.columns), &new)?,
        None => (0..tuples::len(&new)).collect(),
    };
    let mut rows = Vec::with_capacity(changed.len());
    for row in changed {
        match tuples::nulls(&new, row) {
            0 => rows.push(row),
            nulls if key.is_full && nulls < new.len() => return Err(errors::mixed(table, key)),
            _ => {}
        }
    }
    tuples::of_rows(&new, &rows)
}

/// Carries out the actions of foreign keys for values that are gone; returns the checks that are
/// due.
async fn gone(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
    catalog: &Arc<Catalog>,
    change: &RowChange,
) -> Result<Vec<Check>> {
    let mut checks = Vec::new();
    let Some(old) = &change.old else { return Ok(checks) };
    for (table, key) in catalog.references_to(change.table) {
        let old = change.picked(old, &key.referenced);
        let new = change.new.as_ref().map(|new| change.picked(new, &key.referenced));
        let mut rows = match &new {
            Some(new) => tuples::different(&old, new)?,
            None => (0..tuples::len(&old)).collect(),
        };
        rows.retain(|row| tuples::nulls(&old, *row) == 0);
        if rows.is_empty() {
            continue;
        }
        let values = tuples::picked(&old, &rows)?;
        let new = new.map(|new| tuples::picked(&new, &rows)).transpose()?;
        let action = if new.is_some() { key.on_update } else { key.on_delete };
        let check =
            Check { table: Arc::clone(table), key: key.clone(), side: Side::Referenced, values };
        match action {
            ReferentialAction::NoAction => checks.extend(unless_deferred(transaction, check)),
            ReferentialAction::Restrict => {
                check.refuse_referring(surroundings, transaction).await?
            }
            ReferentialAction::Cascade
            | ReferentialAction::SetNull
            | ReferentialAction::SetDefault => {
                let (of, new) = ((table, key), new.as_deref());
                actions::carry_out(surroundings, transaction, of, &check.values, new).await?;
                // Rows with the default stay as they are, and refer to what is gone.
                checks.extend((action == ReferentialAction::SetDefault).then_some(check));
            }
        }
    }
    Ok(checks)
}

impl Check {
    /// A check that waited; `None` if its foreign key does not exist any more.
    fn of(catalog: &Catalog, deferred: &DeferredCheck) -> Option<Self> {
        let table = catalog.table_by_id(deferred.table)?;
        let key = table.foreign_keys.iter().find(|key| key.name == deferred.constraint)?.clone();
        let values = deferred.values.clone();
        Some(Self { table: Arc::clone(table), key, side: deferred.side, values })
    }

    /// Checks that rows that refer refer to rows.
    async fn run(
        mut self,
        surroundings: &impl Surroundings,
        transaction: &mut DistributedTransaction,
        rows: Rows,
    ) -> Result<()> {
        let catalog = Arc::clone(transaction.catalog());
        let referenced = catalog.table_by_id(self.key.references).ok_or_else(missing)?;
        let ignoring = tuples::ignoring_blanks(&catalog, &self.table, &self.key);
        let values = tuples::trimmed(&self.values, &ignoring);
        let present = lookup::present(transaction, &self.key, referenced, &values).await?;
        let is_present = |row: &usize| present.is_present.get(*row).copied().unwrap_or(false);
        let all = 0..tuples::len(&self.values);
        let absent: Vec<usize> = all.filter(|row| !is_present(row)).collect();
        let is_new = self.side == Side::Referring;
        if is_new && rows != Rows::All && !present.keys.is_empty() {
            transaction.require(present.file, present.keys).await?;
        }
        if absent.is_empty() {
            return Ok(());
        }
        // An action may have changed rows of the same table again.
        if is_new && rows == Rows::Statement && self.key.references != self.table.id {
            let of = (&*self.table, &self.key);
            return Err(errors::not_present(of, referenced, &self.values, absent[0]));
        }
        self.values = tuples::picked(&self.values, &absent)?;
        self.refuse_referring(surroundings, transaction).await
    }

    /// Refuses rows with one of the values.
    async fn refuse_referring(
        &self,
        surroundings: &impl Surroundings,
        transaction: &DistributedTransaction,
    ) -> Result<()> {
        let of = (&self.table, &self.key);
        let rows = lookup::referring(surroundings, transaction, of, &self.values).await?;
        if rows.num_rows() == 0 {
            return Ok(());
        }
        let catalog = transaction.catalog();
        let referenced = catalog.table_by_id(self.key.references).ok_or_else(missing)?;
        // The first of the values that a row has.
        let positions = self.key.positions(&self.table);
        let found: Vec<ArrayRef> =
            positions.iter().map(|at| Arc::clone(rows.column(*at))).collect();
        let ignoring = tuples::ignoring_blanks(catalog, &self.table, &self.key);
        let found = tuples::keys(&tuples::trimmed(&found, &ignoring))?;
        let found: std::collections::HashSet<_> = found.into_iter().collect();
        let types = tuples::types(&self.table, &positions);
        let values = tuples::trimmed(&self.values, &ignoring);
        let (values, kept) = tuples::converted(&values, &types)?;
        let values = tuples::keys(&values)?;
        let first = values.iter().zip(kept).find(|(value, _)| found.contains(*value));
        let row = first.map_or(0, |(_, row)| row);
        let of = (&*self.table, &self.key);
        Err(match self.side {
            Side::Referring => errors::not_present(of, referenced, &self.values, row),
            Side::Referenced | Side::Unique => {
                errors::still_referenced(of, referenced, &self.values, row)
            }
        })
    }
}
