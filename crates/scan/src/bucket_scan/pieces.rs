//! The pieces that a scan reads, and how they are divided among partitions.

use crate::pruning;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::physical_expr::PhysicalExpr;
use sdds::KeyRange;
use std::ops::Range;
use std::sync::Arc;
use store::{Morsel, TableView};

/// One morsel to read, with or without its chunk.
#[derive(Clone)]
pub struct Piece {
    /// The morsel.
    pub morsel: Morsel,
    /// False if the zone map excludes the chunk: only changed rows can match.
    pub with_chunk: bool,
}

/// Numbers of buckets and chunks that a scan reads and skips, for EXPLAIN.
#[derive(Debug, Clone, Copy, Default)]
pub struct Coverage {
    /// Buckets with a part of the key ranges.
    pub buckets: usize,
    pub(crate) buckets_in_table: usize,
    /// Chunks that are read.
    pub chunks: usize,
    pub(crate) chunks_pruned: usize,
}

/// The pieces to read for key ranges that this server owns. `columns` maps each field of `schema`
/// to a column of the table.
pub(crate) fn pieces(
    view: &TableView,
    ranges: &[KeyRange],
    predicate: Option<&Arc<dyn PhysicalExpr>>,
    schema: &SchemaRef,
    columns: &[usize],
) -> Result<(Vec<Piece>, Coverage), store::Error> {
    let mut morsels = Vec::new();
    for range in ranges {
        morsels.extend(view.morsels(range)?);
    }
    let mut buckets: Vec<_> = morsels.iter().map(|morsel| morsel.bucket()).collect();
    buckets.dedup();
    let mut coverage = Coverage {
        buckets: buckets.len(),
        buckets_in_table: view.bucket_count(),
        ..Coverage::default()
    };
    let pieces = prune(morsels, predicate, schema, columns, &mut coverage);
    Ok((pieces, coverage))
}

/// Removes what the zone maps exclude: whole pieces, or only the chunks of pieces that have
/// changes.
fn prune(
    morsels: Vec<Morsel>,
    predicate: Option<&Arc<dyn PhysicalExpr>>,
    schema: &SchemaRef,
    columns: &[usize],
    coverage: &mut Coverage,
) -> Vec<Piece> {
    let keep = match predicate {
        Some(predicate) => {
            let all: Vec<&Morsel> = morsels.iter().collect();
            pruning::chunks_to_read(predicate, schema, columns, &all)
        }
        None => vec![true; morsels.len()],
    };
    let mut pieces = Vec::with_capacity(morsels.len());
    for (morsel, keep) in morsels.into_iter().zip(keep) {
        if morsel.has_chunk() && !keep {
            coverage.chunks_pruned += 1;
        } else if morsel.has_chunk() {
            coverage.chunks += 1;
        }
        if keep || morsel.has_changes() {
            pieces.push(Piece { morsel, with_chunk: keep });
        }
    }
    pieces
}

/// Divides the pieces into contiguous ranges of about the same number of rows.
pub(super) fn divide(pieces: &[Piece], partitions: usize) -> Vec<Range<usize>> {
    let total: usize = pieces.iter().map(|piece| piece.morsel.rows()).sum();
    let partitions = partitions.clamp(1, pieces.len().max(1));
    let mut ranges = Vec::with_capacity(partitions);
    let (mut start, mut rows) = (0, 0);
    for (index, piece) in pieces.iter().enumerate() {
        rows += piece.morsel.rows();
        let is_full = rows * partitions >= total * (ranges.len() + 1);
        if is_full && ranges.len() + 1 < partitions {
            ranges.push(start..index + 1);
            start = index + 1;
        }
    }
    ranges.push(start..pieces.len());
    ranges
}
