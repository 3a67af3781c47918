//! Execution of a [`BucketScan`]: reads and filters one piece after another, and combines rows into
//! batches of full size.
//!
//! A scan with a limit reads a few rows of a piece first: those of a delta are decoded one by one,
//! and those that are read backwards are copied.

use super::hint::{HINT_ROWS, Hint};
use super::output_metrics::OutputMetrics;
use super::pieces::Piece;
use super::scan::BucketScan;
use crate::predicate::conjuncts::Conjuncts;
use datafusion::arrow::array::{BooleanArray, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{BatchCoalescer, filter_record_batch, take_record_batch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::metrics::{BaselineMetrics, Count, MetricBuilder};
use futures::Stream;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use store::End;
use values::translate::external;

/// Pieces that are read without returning a row before the task yields.
const PIECES_PER_TURN: usize = 8;

/// Rows of a piece that are read first, at least, by a scan with a limit.
const ROWS_AT_FIRST: usize = 64;

/// Selected rows of a piece that are combined with those of other pieces, at most, for batches of
/// `batch_rows` rows. A piece with more is returned as a batch of its own.
pub const fn coalesced_below(batch_rows: usize) -> usize {
    batch_rows / 2
}

/// Starts reading one partition.
pub(super) fn open(
    scan: &BucketScan,
    partition: usize,
    context: &TaskContext,
) -> Result<SendableRecordBatchStream> {
    let batch_rows = context.session_config().batch_size();
    let coalesced_max = coalesced_below(batch_rows);
    let gather = BatchCoalescer::new(Arc::clone(&scan.schema), batch_rows)
        .with_biggest_coalesce_batch_size(Some(coalesced_max));
    let chunks_skipped = MetricBuilder::new(&scan.metrics).counter("chunks_skipped", partition);
    let schema = &scan.read_schema;
    let conjuncts = |predicate| {
        Conjuncts::of(predicate, schema).map(|all| all.counted(&scan.metrics, partition))
    };
    let predicate = scan.predicate.as_ref().map(conjuncts);
    let hint = scan.hint.clone().map(|hint| {
        let rows = MetricBuilder::new(&scan.metrics).counter(HINT_ROWS, partition);
        Hint::new(hint, schema, rows)
    });
    let stream = ScanStream {
        pieces: Arc::clone(&scan.pieces),
        remaining: scan.piece_ranges[partition].clone(),
        from: scan.from,
        rest: None,
        rows_at_once: scan.limit.map(|limit| limit.max(ROWS_AT_FIRST)),
        read: scan.read.clone(),
        read_schema: Arc::clone(&scan.read_schema),
        output: scan.output.clone(),
        schema: Arc::clone(&scan.schema),
        predicate: predicate.transpose()?,
        hint: hint.transpose()?,
        rows_left: scan.limit.unwrap_or(usize::MAX),
        gather,
        coalesced_max,
        chunks_skipped,
        output_metrics: OutputMetrics::new(&scan.metrics, partition, coalesced_max),
        metrics: BaselineMetrics::new(&scan.metrics, partition),
    };
    Ok(Box::pin(cooperative(stream)))
}

struct ScanStream {
    pieces: Arc<[Piece]>,
    remaining: Range<usize>,
    from: End,
    /// What remains of a piece of which some rows have been read.
    rest: Option<Piece>,
    /// Rows of a piece that are read together; `None` for all. It doubles with each piece.
    rows_at_once: Option<usize>,
    read: Vec<usize>,
    read_schema: SchemaRef,
    output: Vec<usize>,
    schema: SchemaRef,
    predicate: Option<Conjuncts>,
    hint: Option<Hint>,
    rows_left: usize,
    gather: BatchCoalescer,
    /// A piece with more selected rows than this is not combined with others.
    coalesced_max: usize,
    chunks_skipped: Count,
    output_metrics: OutputMetrics,
    metrics: BaselineMetrics,
}

impl ScanStream {
    /// The next piece, or a part of it; `None` at the end.
    fn next_piece(&mut self) -> Option<Piece> {
        let piece = match self.rest.take() {
            Some(rest) => rest,
            None => {
                let index = match self.from {
                    End::First => self.remaining.next(),
                    End::Last => self.remaining.next_back(),
                }?;
                let excluded = self.hint_excludes(index);
                let piece = &self.pieces[index];
                Piece { morsel: piece.morsel.clone(), with_chunk: piece.with_chunk && !excluded }
            }
        };
        let Some(rows) = self.rows_at_once else { return Some(piece) };
        if self.from == End::First && !piece.morsel.has_changes() {
            return Some(piece);
        }
        self.rows_at_once = Some(rows.saturating_mul(2));
        let with_chunk = piece.with_chunk;
        let (morsel, rest) = piece.morsel.cut(self.from, rows);
        self.rest = rest.map(|morsel| Piece { morsel, with_chunk });
        Some(Piece { morsel, with_chunk })
    }

    /// Reads one piece and adds its selected rows to the buffered ones.
    fn take_piece(&mut self, piece: &Piece) -> Result<()> {
        if !piece.with_chunk && !piece.morsel.has_changes() {
            return Ok(());
        }
        let batch = if piece.with_chunk {
            piece.morsel.read(&self.read, &self.read_schema)
        } else {
            piece.morsel.read_changes(&self.read, &self.read_schema)
        };
        let batch = batch.map_err(|error| external(error.into()))?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let mask = self.matching(&batch)?;
        let batch = if self.output.len() == self.read.len()
            && self.output.iter().enumerate().all(|(at, out)| at == *out)
        {
            batch
        } else {
            batch.project(&self.output)?
        };
        let (batch, mask) = match self.from {
            End::First => (batch, mask),
            End::Last => (backwards(&batch, mask.as_ref())?, None),
        };
        let kept = mask.as_ref().map_or(batch.num_rows(), BooleanArray::true_count);
        if kept > self.coalesced_max && self.gather.get_buffered_rows() > 0 {
            // Otherwise rows would be copied to fill the buffered batch.
            self.gather.finish_buffered_batch()?;
        }
        match mask {
            Some(_) if kept == 0 => {}
            Some(mask) if kept < batch.num_rows() => {
                self.output_metrics.add_selected(kept, mask.values());
                self.gather.push_batch_with_filter(batch, &mask)?;
            }
            _ => {
                self.output_metrics.add_all(kept);
                self.gather.push_batch(batch)?;
            }
        }
        Ok(())
    }

    /// The rows that match the predicate and the hint; `None` if all do.
    fn matching(&mut self, batch: &RecordBatch) -> Result<Option<BooleanArray>> {
        let fixed =
            self.predicate.as_ref().map(|predicate| predicate.matching(batch)).transpose()?;
        let nothing_left = fixed.as_ref().is_some_and(|mask| mask.true_count() == 0);
        let Some(hint) = self.hint.as_mut().filter(|_| !nothing_left) else { return Ok(fixed) };
        Ok(hint.matching(batch, fixed.as_ref())?.or(fixed))
    }

    fn hint_excludes(&mut self, index: usize) -> bool {
        // Pieces are excluded by hints in key order only.
        if self.from == End::Last {
            return false;
        }
        let Some(hint) = &mut self.hint else { return false };
        let rest = &self.pieces[index..self.remaining.end.max(index)];
        let excludes = hint.excludes(index, rest, &self.read_schema, &self.read);
        self.chunks_skipped.add(usize::from(excludes));
        excludes
    }

    /// The next full batch, cut to the rows that the limit leaves.
    fn next_batch(&mut self) -> Option<RecordBatch> {
        let batch = self.gather.next_completed_batch()?;
        let batch =
            if batch.num_rows() > self.rows_left { batch.slice(0, self.rows_left) } else { batch };
        self.rows_left -= batch.num_rows();
        Some(batch)
    }

    fn step(&mut self) -> Result<Step> {
        for _ in 0..PIECES_PER_TURN {
            if self.rows_left == 0 {
                return Ok(Step::Done);
            }
            if let Some(batch) = self.next_batch() {
                return Ok(Step::Batch(batch));
            }
            if self.gather.get_buffered_rows() >= self.rows_left {
                self.gather.finish_buffered_batch()?;
                continue;
            }
            match self.next_piece() {
                Some(piece) => self.take_piece(&piece)?,
                None if self.gather.is_empty() => return Ok(Step::Done),
                None => self.gather.finish_buffered_batch()?,
            }
        }
        Ok(Step::Yield)
    }
}

/// The selected rows, the last one first.
fn backwards(batch: &RecordBatch, mask: Option<&BooleanArray>) -> Result<RecordBatch> {
    let selected = mask.map(|mask| filter_record_batch(batch, mask)).transpose()?;
    let batch = selected.as_ref().unwrap_or(batch);
    let order = UInt32Array::from_iter_values((0..batch.num_rows() as u32).rev());
    Ok(take_record_batch(batch, &order)?)
}

enum Step {
    Batch(RecordBatch),
    /// Nothing yet; other tasks may run.
    Yield,
    Done,
}

impl Stream for ScanStream {
    type Item = Result<RecordBatch>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let timer = this.metrics.elapsed_compute().clone();
        let timed = timer.timer();
        let step = this.step();
        timed.done();
        let poll = match step {
            Ok(Step::Batch(batch)) => Poll::Ready(Some(Ok(batch))),
            Ok(Step::Done) => Poll::Ready(None),
            Ok(Step::Yield) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Err(error) => Poll::Ready(Some(Err(error))),
        };
        this.metrics.record_poll(poll)
    }
}

impl RecordBatchStream for ScanStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
