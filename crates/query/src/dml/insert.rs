//! INSERT.

use super::conflict::{Resolution, Seen};
use super::ingest;
use super::rows::Rows;
use super::triggered::{self, Firings, of_rows};
use super::writer::{Changed, Writer};
use crate::analysis::changes::OnConflict;
use crate::context::Frame;
use analyzer::tree::{Overriding, Target};
use datafusion::arrow::array::RecordBatch;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::memory::MemoryStream;
use planner::Planner;
use scan::BATCH_ROWS;
use std::sync::Arc;
use store::TableView;
use store::catalog::{Column, Table};
use table_rows::Assembly;
use table_rows::default_values::{accepts_default_only, generated_always};
use values::error::{Error, Result};

/// A planned INSERT.
pub(super) struct Insert {
    view: TableView,
    source: Source,
    assembly: Assembly,
    resolution: Option<Resolution>,
}

/// Where the rows come from.
pub(super) enum Source {
    /// VALUES with nothing but constants.
    Constants(RecordBatch),
    /// Any other query.
    Plan {
        query: Arc<dyn ExecutionPlan>,
        /// Whether it is a VALUES, or one row: its rows are written in their order.
        is_values: bool,
    },
}

impl Source {
    /// The rows.
    fn start(self, frame: &Frame<'_>, writer: &Writer<'_>) -> Result<Rows> {
        let rows = match self {
            Self::Constants(rows) => rows,
            Self::Plan { query, .. } => return Rows::of(frame, writer, (query, None)),
        };
        let begins = (0..rows.num_rows()).step_by(BATCH_ROWS);
        let batch = |begin| rows.slice(begin, BATCH_ROWS.min(rows.num_rows() - begin));
        let batches = begins.map(batch).collect();
        let stream: SendableRecordBatchStream =
            Box::pin(MemoryStream::try_new(batches, rows.schema(), None)?);
        Ok(Rows::from(stream))
    }
}

impl Insert {
    /// `columns` are those that get the query's columns.
    pub(super) fn new(
        frame: &Frame<'_>,
        planner: &Planner<'_>,
        view: TableView,
        source: Source,
        columns: &[usize],
        conflict: Option<OnConflict>,
    ) -> Result<Self> {
        let table = view.table();
        let assembly = Assembly::new(planner, &frame.session.shared.store, table, columns)?;
        let resolution = conflict.map(|on| Resolution::new(planner, &view, on)).transpose()?;
        Ok(Self { view, source, assembly, resolution })
    }

    /// The query of the rows; `None` if they are constants.
    pub(super) fn query(&self) -> Option<&Arc<dyn ExecutionPlan>> {
        match &self.source {
            Source::Constants(_) => None,
            Source::Plan { query, .. } => Some(query),
        }
    }

    pub(super) async fn run(
        self,
        frame: &Frame<'_>,
        planner: &Planner<'_>,
        writer: &mut Writer<'_>,
        (returns, firings): (bool, &mut Firings),
    ) -> Result<Changed> {
        let Self { view, source, assembly, resolution } = self;
        let fires = firings.are_of_rows();
        let mut changed = Changed::default();
        let is_plain = !returns && !fires && resolution.is_none() && writer.is_direct();
        let is_plain = is_plain && !writer.is_in_turn();
        let mut stream = match source {
            Source::Plan { query, is_values: false } if is_plain => {
                let id = view.table().id;
                changed.count = ingest(frame, writer.transaction, id, query, assembly).await?;
                return Ok(changed);
            }
            source => source.start(frame, writer)?,
        };
        let assembly = Arc::new(assembly);
        let mut seen = Seen::default();
        while let Some(batch) = stream.next(writer).await? {
            let given = Arc::clone(&assembly);
            if fires {
                let columns = writer.computed(async move { given.columns(&batch) }).await?;
                let target = (&view, assembly.constraints());
                let written = match (&resolution, of_rows(&mut firings.insert)) {
                    (None, Some(firing)) => {
                        triggered::insert(firing, frame, writer, target, columns).await?.rows
                    }
                    (None, None) => vec![writer.insert_checked(target, columns).await?],
                    (Some(resolution), _) => {
                        let given = (columns, &mut seen);
                        resolution
                            .insert_firing(frame, planner, writer, target, given, firings)
                            .await?
                    }
                };
                changed.add(written, returns);
                if writer.is_in_turn() {
                    changed.show(writer).await?;
                }
                continue;
            }
            let assembled = async move { given.rows_before_error(&batch) };
            let (rows, error) = writer.computed(assembled).await?;
            let written = match &resolution {
                None => {
                    writer.insert(&view, rows.clone()).await?;
                    vec![rows]
                }
                Some(resolution) => {
                    resolution.insert(planner, writer, &view, &rows, &mut seen).await?
                }
            };
            error.map_or(Ok(()), Err)?;
            changed.add(written, returns);
            if writer.is_in_turn() {
                changed.show(writer).await?;
            }
        }
        Ok(changed)
    }
}

/// The columns that get values. Values that OVERRIDING USER VALUE ignores are for a position behind all columns.
///
/// # Errors
/// 428C9 for a value of a column that accepts DEFAULT only.
pub(super) fn given(
    table: &Table,
    targets: &[Target],
    overriding: Overriding,
) -> Result<Vec<usize>> {
    let given = |target: &Target| {
        let column = &table.columns[target.column];
        match (column.identity, overriding) {
            (Some(_), Overriding::UserValue) => return Ok(table.columns.len()),
            _ if target.is_default => {}
            (Some(_), Overriding::SystemValue) => {}
            _ if accepts_default_only(column) => return Err(only_default(column)),
            _ => {}
        }
        Ok(target.column)
    };
    targets.iter().map(given).collect()
}

fn only_default(column: &Column) -> Error {
    let message = format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name);
    let refused = generated_always(column, message);
    match column.generated {
        Some(_) => refused,
        None => refused.with_hint("Use OVERRIDING SYSTEM VALUE to override."),
    }
}
