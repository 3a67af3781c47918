//! Writes of rows whose table has triggers.
//!
//! With triggers before each row, rows are written one by one, so that a function sees the rows before its own. Without, and if
//! no function can see them, they are written together. Rows are checked behind the triggers before them.

use super::writer::{Changed, Writer};
use crate::context::Frame;
use crate::triggers::Firing;
use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{concat, take};
use datafusion::common::ScalarValue;
use sdds::Key;
use std::sync::Arc;
use store::TableView;
use store::catalog::{TriggerEvent, TriggerTime};
use table_rows::Constraints;
use values::error::{Error, Result, SqlState};

/// Rows that were written, and which of those that were given they are.
#[derive(Default)]
pub(super) struct Written {
    /// The new rows; of DELETE the old ones.
    pub(super) rows: Vec<RecordBatch>,
    /// Their places among the given rows.
    pub(super) places: Vec<u32>,
}

impl Written {
    /// Adds the rows to what a statement has done. RETURNING shows `others` of the given rows behind them.
    ///
    /// # Errors
    /// The columns do not fit.
    pub(super) fn put_into(
        self,
        changed: &mut Changed,
        returns: bool,
        others: &[ArrayRef],
    ) -> Result<()> {
        let mut first = 0;
        for rows in self.rows {
            let behind = first + rows.num_rows();
            changed.count += rows.num_rows() as u64;
            if returns {
                let places = UInt32Array::from(self.places[first..behind].to_vec());
                let others = others.iter().map(|column| take(column, &places, None));
                let others = others.collect::<Result<Vec<_>, _>>()?;
                changed.rows.push([rows.columns(), &others].concat());
            }
            first = behind;
        }
        Ok(())
    }
}

fn count(columns: &[ArrayRef]) -> usize {
    columns.first().map_or(0, |column| column.len())
}

/// Rows of a table.
///
/// # Errors
/// Errors of Arrow.
pub(super) fn batch(view: &TableView, columns: &[ArrayRef]) -> Result<RecordBatch> {
    Ok(RecordBatch::try_new(view.table().arrow_schema(), columns.to_vec())?)
}

fn one(columns: &[ArrayRef], row: usize) -> Vec<ArrayRef> {
    columns.iter().map(|column| column.slice(row, 1)).collect()
}

/// Rows, of which more than so many are written together if functions allow it.
const ROWS_APART: usize = 16;

/// Rows for which the triggers before them have fired.
struct Passed {
    /// The new rows; of DELETE the old ones. Nothing if there are none.
    columns: Vec<ArrayRef>,
    /// Their places among the given rows.
    places: Vec<u32>,
    /// The error at the row behind them.
    error: Option<Error>,
}

impl Passed {
    /// What was written, if there is no error behind it.
    fn end(self, mut written: Written, rows: RecordBatch) -> Result<Written> {
        written.rows.push(rows);
        written.places = self.places;
        self.error.map_or(Ok(written), Err)
    }
}

/// Fires the triggers before all rows. `None` if rows are written one by one.
///
/// # Errors
/// That of the function for the first row; those of Arrow.
async fn passed(
    firing: &mut Firing,
    frame: &Frame<'_>,
    writer: &mut Writer<'_>,
    (old, new): (Option<&[ArrayRef]>, Option<&[ArrayRef]>),
) -> Result<Option<Passed>> {
    let given = new.or(old).unwrap_or_default();
    let count = count(given);
    if !firing.is_before_rows() {
        let places = (0..count as u32).collect();
        return Ok(Some(Passed { columns: given.to_vec(), places, error: None }));
    }
    if count <= ROWS_APART || !firing.may_run_ahead(writer.transaction.catalog()) {
        return Ok(None);
    }
    let (mut rows, mut places, mut error) = (Vec::with_capacity(count), Vec::new(), None);
    for row in 0..count {
        let fired =
            firing.row(frame, writer.transaction, TriggerTime::Before, (old, new), row).await;
        match fired {
            Ok(Some(columns)) => {
                rows.push(columns);
                places.push(row as u32);
            }
            Ok(None) => {}
            Err(first) => {
                error = Some(first);
                break;
            }
        }
    }
    if rows.is_empty() {
        let columns = Vec::new();
        return error.map_or(Ok(Some(Passed { columns, places, error: None })), Err);
    }
    let column = |at: usize| -> Result<ArrayRef> {
        let parts: Vec<&dyn Array> = rows.iter().map(|row| &*row[at]).collect();
        Ok(concat(&parts)?)
    };
    let columns = (0..given.len()).map(column).collect::<Result<_>>()?;
    Ok(Some(Passed { columns, places, error }))
}

/// The rows at some places.
fn at_places(columns: &[ArrayRef], places: &[u32]) -> Result<Vec<ArrayRef>> {
    if places.len() == count(columns) {
        return Ok(columns.to_vec());
    }
    let places = UInt32Array::from(places.to_vec());
    let columns = columns.iter().map(|column| take(column, &places, None));
    Ok(columns.collect::<Result<_, _>>()?)
}

/// The new rows behind the triggers before them, with their places. The rows are not checked yet.
///
/// # Errors
/// Those of functions.
pub(super) async fn before_insert(
    firing: &mut Firing,
    frame: &Frame<'_>,
    writer: &mut Writer<'_>,
    columns: &[ArrayRef],
    row: usize,
) -> Result<Option<Vec<ArrayRef>>> {
    let rows = (None, Some(columns));
    firing.row(frame, writer.transaction, TriggerTime::Before, rows, row).await
}

/// Inserts rows, which are not checked yet.
///
/// # Errors
/// Those of functions, of constraints and of the transaction.
pub(super) async fn insert(
    firing: &mut Firing,
    frame: &Frame<'_>,
    writer: &mut Writer<'_>,
    target: (&TableView, &Arc<Constraints>),
    columns: Vec<ArrayRef>,
) -> Result<Written> {
    let mut written = Written::default();
    if let Some(mut passed) = passed(firing, frame, writer, (None, Some(&columns))).await? {
        if passed.places.is_empty() {
            return Ok(written);
        }
        let columns = std::mem::take(&mut passed.columns);
        let rows = writer.insert_checked(target, columns).await?;
        firing.after_rows(frame, None, Some(rows.clone()));
        return passed.end(written, rows);
    }
    for row in 0..count(&columns) {
        let Some(new) = before_insert(firing, frame, writer, &columns, row).await? else {
            continue;
        };
        let rows = writer.insert_checked(target, new).await?;
        firing.after_rows(frame, None, Some(rows.clone()));
        written.rows.push(rows);
        written.places.push(row as u32);
    }
    Ok(written)
}

/// Replaces rows by new ones, which are not checked yet.
///
/// # Errors
/// Those of functions, of constraints and of the transaction.
pub(super) async fn update(
    firing: &mut Firing,
    frame: &Frame<'_>,
    writer: &mut Writer<'_>,
    (view, constraints): (&TableView, &Arc<Constraints>),
    (old, new): (&[ArrayRef], &[ArrayRef]),
) -> Result<Written> {
    let mut written = Written::default();
    if let Some(mut passed) = passed(firing, frame, writer, (Some(old), Some(new))).await? {
        if passed.places.is_empty() {
            return Ok(written);
        }
        let columns = std::mem::take(&mut passed.columns);
        let rows = writer.checked(constraints, columns).await?;
        let was = batch(view, &at_places(old, &passed.places)?)?;
        refuse_changed_in_turn(writer, view, &was, "updated").await?;
        replace(firing, frame, writer, view, (was, rows.clone())).await?;
        return passed.end(written, rows);
    }
    for row in 0..count(new) {
        let rows = (Some(old), Some(new));
        let Some(now) =
            firing.row(frame, writer.transaction, TriggerTime::Before, rows, row).await?
        else {
            continue;
        };
        let rows = writer.checked(constraints, now).await?;
        let was = batch(view, &one(old, row))?;
        refuse_changed(writer, view, &was, "updated").await?;
        replace(firing, frame, writer, view, (was, rows.clone())).await?;
        written.rows.push(rows);
        written.places.push(row as u32);
    }
    Ok(written)
}

/// Refuses to change a row that a trigger of the statement, or a function, has changed.
///
/// # Errors
/// 27000.
pub(super) async fn refuse_changed(
    writer: &Writer<'_>,
    view: &TableView,
    old: &RecordBatch,
    what: &str,
) -> Result<()> {
    let table = view.table();
    if !writer.is_direct() {
        return Ok(());
    }
    let Some(now) = writer.transaction.table(table.id) else { return Ok(()) };
    let all: Vec<usize> = (0..table.columns.len()).collect();
    let (columns, _) = now.find_many(&view.encode_keys(old)?, &all).await?;
    let mut is_same = columns.iter().all(|column| column.len() == 1);
    for (now, old) in columns.iter().zip(old.columns()) {
        is_same =
            is_same && ScalarValue::try_from_array(now, 0)? == ScalarValue::try_from_array(old, 0)?;
    }
    if is_same {
        return Ok(());
    }
    let message = format!(
        "tuple to be {what} was already modified by an operation triggered by the current command"
    );
    Err(Error::new(SqlState::chosen("27000"), message).with_hint(
        "Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other \
         rows.",
    ))
}

/// Refuses to change a row that a function of the statement has changed, if rows are computed and written one at a time.
///
/// # Errors
/// 27000.
pub(super) async fn refuse_changed_in_turn(
    writer: &Writer<'_>,
    view: &TableView,
    old: &RecordBatch,
    what: &str,
) -> Result<()> {
    match writer.is_in_turn() && old.num_rows() > 0 {
        true => refuse_changed(writer, view, old, what).await,
        false => Ok(()),
    }
}

/// Writes new rows in place of old ones.
async fn replace(
    firing: &Firing,
    frame: &Frame<'_>,
    writer: &mut Writer<'_>,
    view: &TableView,
    (old, new): (RecordBatch, RecordBatch),
) -> Result<()> {
    let keys: Vec<Key> = view.encode_keys(&old)?;
    match keys == view.encode_keys(&new)? {
        true => writer.upsert(view, new.clone()).await?,
        false => writer.replace(view, keys, vec![new.clone()]).await?,
    }
    firing.after_rows(frame, Some(old), Some(new));
    Ok(())
}

/// Deletes rows.
///
/// # Errors
/// Those of functions and of the transaction.
pub(super) async fn delete(
    firing: &mut Firing,
    frame: &Frame<'_>,
    writer: &mut Writer<'_>,
    view: &TableView,
    old: &[ArrayRef],
) -> Result<Written> {
    let mut written = Written::default();
    if let Some(passed) = passed(firing, frame, writer, (Some(old), None)).await? {
        if passed.places.is_empty() {
            return Ok(written);
        }
        let rows = batch(view, &passed.columns)?;
        refuse_changed_in_turn(writer, view, &rows, "deleted").await?;
        writer.delete(view, view.encode_keys(&rows)?).await?;
        firing.after_rows(frame, Some(rows.clone()), None);
        return passed.end(written, rows);
    }
    for row in 0..count(old) {
        let rows = (Some(old), None);
        if firing.row(frame, writer.transaction, TriggerTime::Before, rows, row).await?.is_none() {
            continue;
        }
        let rows = batch(view, &one(old, row))?;
        refuse_changed(writer, view, &rows, "deleted").await?;
        writer.delete(view, view.encode_keys(&rows)?).await?;
        firing.after_rows(frame, Some(rows.clone()), None);
        written.rows.push(rows);
        written.places.push(row as u32);
    }
    Ok(written)
}

/// What the changes of a statement fire.
#[derive(Default)]
pub(super) struct Firings {
    /// Its inserts.
    pub(super) insert: Option<Firing>,
    /// Its updates.
    pub(super) update: Option<Firing>,
    /// Its deletions.
    pub(super) delete: Option<Firing>,
}

/// Those that fire for each row.
pub(super) fn of_rows(firing: &mut Option<Firing>) -> Option<&mut Firing> {
    firing.as_mut().filter(|firing| firing.is_of_rows())
}

impl Firings {
    /// Those of a kind of change of rows.
    pub(super) fn of(&mut self, operation: TriggerEvent) -> &mut Option<Firing> {
        match operation {
            TriggerEvent::Insert => &mut self.insert,
            TriggerEvent::Update => &mut self.update,
            TriggerEvent::Delete | TriggerEvent::Truncate => &mut self.delete,
        }
    }

    fn all(&mut self) -> impl DoubleEndedIterator<Item = &mut Firing> {
        [&mut self.insert, &mut self.update, &mut self.delete].into_iter().flatten()
    }

    /// Whether a trigger fires for each row.
    pub(super) fn are_of_rows(&self) -> bool {
        let all = [&self.insert, &self.update, &self.delete];
        all.into_iter().flatten().any(Firing::is_of_rows)
    }

    /// Fires the triggers before the statement.
    ///
    /// # Errors
    /// Those of functions.
    pub(super) async fn before(
        &mut self,
        frame: &Frame<'_>,
        writer: &mut Writer<'_>,
    ) -> Result<()> {
        for firing in self.all() {
            firing.before_statement(frame, writer.transaction).await?;
        }
        Ok(())
    }

    /// Notes that the triggers after the statement fire at its end.
    pub(super) fn after(&mut self, frame: &Frame<'_>) {
        self.all().rev().for_each(|firing| firing.after_statement(frame));
    }
}
