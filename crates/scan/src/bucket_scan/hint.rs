//! Dynamic filters: predicates of a join or a top-N that become sharper while a scan runs.
//!
//! A hint prunes chunks by zone map each time it has become sharper, and filters rows. Its operator
//! checks rows again, so the scan stops filtering if most rows pass: then filtering costs more than
//! it saves.

use super::pieces::Piece;
use crate::predicate::conjuncts::Conjunct;
use crate::pruning;
use datafusion::arrow::array::{BooleanArray, RecordBatch};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::snapshot_generation;
use datafusion::physical_plan::metrics::Count;
use std::sync::Arc;
use store::Morsel;

/// Number of pieces between checks whether the hint has changed.
const PIECES_PER_PRUNING: usize = 16;
/// Number of rows after which the share of rows that pass is judged.
const ROWS_ON_TRIAL: usize = 8 * store::CHUNK_ROWS;
/// A hint that keeps more than this many tenths of the rows is not evaluated.
const TENTHS_KEPT_MAX: usize = 7;

/// The state of a hint in one partition of a scan.
pub(super) struct Hint {
    expression: Arc<dyn PhysicalExpr>,
    conjunct: Conjunct,
    generation: u64,
    /// The piece before which the generation is checked again.
    next: usize,
    /// For each piece from `base` on, whether its chunk cannot match.
    skip: Vec<bool>,
    base: usize,
    /// Rows evaluated with this generation.
    seen: usize,
    /// Those of them that passed.
    kept: usize,
    /// All rows evaluated.
    rows: Count,
}

/// The metric that counts the rows on which hints were evaluated.
pub const HINT_ROWS: &str = "hint_rows";

impl Hint {
    /// A hint that adds the rows on which it is evaluated to `rows`.
    pub(super) fn new(
        expression: Arc<dyn PhysicalExpr>,
        schema: &Schema,
        rows: Count,
    ) -> Result<Self> {
        let conjunct = Conjunct::new(Arc::clone(&expression), schema)?;
        let (generation, skip) = (0, Vec::new());
        let (next, base, seen, kept) = (0, 0, 0, 0);
        Ok(Self { expression, conjunct, generation, next, skip, base, seen, kept, rows })
    }

    /// Whether the chunk of piece `index` cannot match. Pieces must be given in order; `rest` are
    /// those from `index` on.
    pub(super) fn excludes(
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

    /// The rows among `selected` that match; `None` if the hint is not selective.
    pub(super) fn matching(
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
