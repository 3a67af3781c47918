//! Predicates that a join or a top-N finds while a scan runs: used as long as they pay.
//!
//! A hint prunes chunks by zone map whenever it has become sharper, and filters rows. Whoever made it checks
//! rows again, so filtering is given up where most rows pass: then it costs more than it saves.

use super::bucket_scan::Piece;
use super::conjuncts::Conjunct;
use super::pruning;
use datafusion::arrow::array::{BooleanArray, RecordBatch};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::snapshot_generation;
use datafusion::physical_plan::metrics::Count;
use std::sync::Arc;
use store::Morsel;

/// A hint that changed is tried on the zone maps again after so many pieces.
const PIECES_PER_PRUNING: usize = 16;
/// Rows that a hint is judged by.
const ROWS_ON_TRIAL: usize = 8 * store::CHUNK_ROWS;
/// A hint that keeps more than this many of ten rows is not worth evaluating.
const TENTHS_KEPT_MAX: usize = 7;

/// A hint, and what has been seen of it.
pub(crate) struct Hint {
    expression: Arc<dyn PhysicalExpr>,
    conjunct: Conjunct,
    generation: u64,
    /// The piece from which it is worth looking whether the hint is sharper.
    next: usize,
    /// From piece `base` on: whether the piece's chunk cannot match.
    skip: Vec<bool>,
    base: usize,
    seen: usize,
    kept: usize,
    /// All rows that it was tried on.
    rows: Count,
}

/// How EXPLAIN ANALYZE calls the rows that a hint was tried on.
pub const NAME_OF_ROWS: &str = "hint_rows";

impl Hint {
    /// One that counts the rows that it is tried on.
    pub fn new(expression: Arc<dyn PhysicalExpr>, schema: &Schema, rows: Count) -> Result<Self> {
        let conjunct = Conjunct::new(Arc::clone(&expression), schema)?;
        let (generation, skip) = (0, Vec::new());
        let (next, base, seen, kept) = (0, 0, 0, 0);
        Ok(Self { expression, conjunct, generation, next, skip, base, seen, kept, rows })
    }

    /// Whether a piece's chunk cannot match; pieces are asked for in order.
    pub(crate) fn excludes(
        &mut self,
        index: usize,
        rest: &[Piece],
        schema: &SchemaRef,
        columns: &[usize],
    ) -> bool {
        if index >= self.next {
            self.next = index + PIECES_PER_PRUNING;
            let generation = snapshot_generation(&self.expression);
            if generation != self.generation {
                let morsels: Vec<&Morsel> = rest.iter().map(|piece| &piece.morsel).collect();
                let keep = pruning::chunks_to_read(&self.expression, schema, columns, &morsels);
                (self.generation, self.base) = (generation, index);
                (self.seen, self.kept) = (0, 0);
                self.skip = keep.into_iter().map(|keep| !keep).collect();
            }
        }
        self.skip.get(index - self.base).copied().unwrap_or(false)
    }

    /// The rows that match among those that are selected; `None` where the hint does not pay.
    pub fn matching(
        &mut self,
        batch: &RecordBatch,
        selected: Option<&BooleanArray>,
    ) -> Result<Option<BooleanArray>> {
        if self.seen >= ROWS_ON_TRIAL && self.kept * 10 > self.seen * TENTHS_KEPT_MAX {
            return Ok(None);
        }
        let (mask, seen) = match selected {
            Some(some) => (self.conjunct.of_some(batch, some)?, some.true_count()),
            None => (self.conjunct.of_all(batch)?, batch.num_rows()),
        };
        self.rows.add(seen);
        self.seen += seen;
        self.kept += mask.true_count();
        Ok(Some(mask))
    }
}
