//! The rows of a statement on their way to a client, and the position of a cursor.
//!
//! Rows count from 1. A cursor is positioned on one of them, before the first (0), or after the
//! last. Without SCROLL a batch is dropped when the cursor has passed it, so the cursor only moves
//! forward. With SCROLL all received batches are kept, and counted as memory. Where PostgreSQL needs
//! no SCROLL, they are kept while they are few.

use super::backend::Output;
use super::held::Held;
use super::rows::write_rows;
use frontend::Format;
use futures::StreamExt;
use query::arrow::array::RecordBatch;
use query::{Direction, Error, Field, Rows, SqlState};

/// Rows that are written before checking whether the output is full.
const ROWS_PER_PIECE: usize = 256;

/// Rows that are computed on demand.
pub(crate) struct Reading {
    pub(crate) rows: Rows,
    /// Batches that can be read again, in order; each with the number of the row before its first.
    batches: Vec<(u64, RecordBatch)>,
    /// Number of rows received.
    came: u64,
    /// All rows are received.
    is_complete: bool,
    position: u64,
    /// The memory of the kept batches; `None` if they are not kept.
    held: Option<Held>,
}

/// Some consecutive rows.
pub(crate) struct Piece {
    batch: RecordBatch,
    rows: std::ops::Range<usize>,
}

impl Piece {
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Writes rows until the output is full. Returns whether there are more.
    pub(crate) fn write(
        &mut self,
        out: &mut Output,
        fields: &[Field],
        formats: &[Format],
    ) -> Result<bool, Error> {
        let rows = self.rows.clone();
        self.rows.start += write_rows(out, &self.batch, rows, fields, formats)?;
        Ok(!self.rows.is_empty())
    }
}

/// The remaining rows of a fetch.
pub(crate) enum Way {
    /// This many after the position.
    Forward(u64),
    /// This many before the position, in descending order.
    Backward(u64),
    /// The row at the position.
    Here,
}

impl Reading {
    /// Rows for forward reading or, with memory to keep them, for both directions.
    pub(crate) fn new(rows: Rows, held: Option<Held>) -> Self {
        let (batches, came, is_complete, position) = (Vec::new(), 0, false, 0);
        Self { rows, batches, came, is_complete, position, held }
    }

    /// Moves to the start of a fetch, and returns which rows to read.
    ///
    /// # Errors
    /// 55000 for reading backward without SCROLL, and errors of computing the rows.
    pub(crate) async fn set_out(&mut self, direction: Direction) -> Result<Way, Error> {
        Ok(match direction {
            Direction::Forward(count) => Way::Forward(count.unwrap_or(u64::MAX)),
            Direction::Backward(count) => {
                self.refuse_backwards()?;
                Way::Backward(count.unwrap_or(u64::MAX))
            }
            Direction::Relative(0) => {
                if self.batch_of(self.position).await?.is_none() {
                    return Ok(Way::Forward(0));
                }
                self.refuse_backwards()?;
                Way::Here
            }
            Direction::Relative(by) => {
                let target = self.position.saturating_add_signed(by);
                self.move_before(target).await?
            }
            Direction::Absolute(number @ 0..) => self.move_before(number.unsigned_abs()).await?,
            Direction::Absolute(number) => {
                self.refuse_backwards()?;
                while !self.is_complete {
                    self.pull().await?;
                }
                self.move_before((self.came + 1).saturating_sub(number.unsigned_abs())).await?
            }
        })
    }

    /// Moves before a row, or to the end. Returns the row to read, if there is one.
    async fn move_before(&mut self, row: u64) -> Result<Way, Error> {
        if row <= self.position && self.position > 0 {
            self.refuse_backwards()?;
        }
        if row == 0 {
            self.position = 0;
            return Ok(Way::Forward(0));
        }
        while self.came < row - 1 && !self.is_complete {
            self.position = self.came;
            self.pull().await?;
        }
        self.position = (row - 1).min(self.came + 1);
        Ok(Way::Forward(1))
    }

    fn refuse_backwards(&self) -> Result<(), Error> {
        match self.held {
            Some(_) => Ok(()),
            None => {
                let message = "cursor can only scan forward";
                Err(Error::new(SqlState::ObjectNotInPrerequisiteState, message)
                    .with_hint("Declare it with SCROLL option to enable backward scan."))
            }
        }
    }

    /// The next piece of a fetch; `None` at its end.
    pub(crate) async fn next(&mut self, way: &mut Way) -> Result<Option<Piece>, Error> {
        match way {
            Way::Forward(0) | Way::Backward(0) => Ok(None),
            Way::Here => {
                *way = Way::Forward(0);
                Ok(self
                    .batch_of(self.position)
                    .await?
                    .map(|(batch, row)| Piece { batch, rows: row..row + 1 }))
            }
            Way::Backward(left) => {
                self.position = self.position.min(self.came + 1).saturating_sub(1);
                *left -= 1;
                let found = self.batch_of(self.position).await?;
                Ok(found.map(|(batch, row)| Piece { batch, rows: row..row + 1 }))
            }
            Way::Forward(left) => {
                let Some((batch, start)) = self.batch_of(self.position + 1).await? else {
                    self.position = self.came + 1;
                    return Ok(None);
                };
                let wanted = usize::try_from(*left).unwrap_or(usize::MAX).min(ROWS_PER_PIECE);
                let end = batch.num_rows().min(start.saturating_add(wanted));
                let count = (end - start) as u64;
                self.position += count;
                *left -= count;
                Ok(Some(Piece { batch, rows: start..end }))
            }
        }
    }

    /// The batch that contains a row, and the row's index in it.
    async fn batch_of(&mut self, row: u64) -> Result<Option<(RecordBatch, usize)>, Error> {
        let Some(before) = row.checked_sub(1) else { return Ok(None) };
        while self.came <= before && !self.is_complete {
            self.pull().await?;
        }
        let next = self.batches.partition_point(|(first, _)| *first <= before);
        let found = next.checked_sub(1).and_then(|index| self.batches.get(index));
        Ok(found.and_then(|(first, batch)| {
            let place = usize::try_from(before - first).ok()?;
            (place < batch.num_rows()).then(|| (batch.clone(), place))
        }))
    }

    /// Waits for one more batch.
    async fn pull(&mut self) -> Result<(), Error> {
        let Some(batch) = self.rows.stream.next().await else {
            self.is_complete = true;
            return Ok(());
        };
        let batch = batch.map_err(Error::from)?;
        let is_kept = match &mut self.held {
            Some(held) => held.keep(batch.get_array_memory_size())?,
            None => false,
        };
        if !is_kept {
            self.held = None;
            self.batches.clear();
        }
        let rows = batch.num_rows() as u64;
        if rows > 0 {
            self.batches.push((self.came, batch));
            self.came += rows;
        }
        Ok(())
    }
}
