//! Loads the demo's tables in slices, one commit each, so that splits are visible.

use super::map::{Map, TableMap};
use super::screen::Screen;
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use datafusion::physical_plan::memory::MemoryStream;
use pando::catalog::{DEFAULT_SCHEMA, Relation, Table};
use pando::{Database, RecordBatch, Session};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use workloads::TableSource;

/// Rows of a commit.
const SLICE_ROWS: usize = 64 << 10;
/// Slices that are generated ahead of the one that is loaded.
const SLICES_AHEAD: usize = 2;
const REDRAW_EVERY: Duration = Duration::from_millis(100);

/// Creates and loads the tables one after another, and returns the number of rows.
pub(super) async fn all(
    databases: &[Database],
    session: &Session,
    sources: Vec<TableSource>,
) -> anyhow::Result<u64> {
    let mut show = Show::new(sources.iter().map(|source| source.rows).sum())?;
    let mut total = 0;
    for source in sources {
        session.execute(&source.create_sql).await?;
        let table = table_of(session, &source.name)?;
        show.begin(&table)?;
        let TableSource { schema, batches, .. } = source;
        let (mut slices, generator) =
            generate_ahead(Slices { batches, schema: Arc::clone(&schema) });
        while let Some(slice) = slices.recv().await {
            let batches = vec![slice?];
            let stream = MemoryStream::try_new(batches, Arc::clone(&schema), None)?;
            total += session.load(&table.name, Box::pin(stream)).await?;
            show.update(databases, &table, total)?;
        }
        generator.await?;
        show.finish(databases, &table, total)?;
    }
    show.end()?;
    Ok(total)
}

fn table_of(session: &Session, name: &str) -> anyhow::Result<Arc<Table>> {
    match session.catalog().relation(DEFAULT_SCHEMA, name) {
        Some(Relation::Table(table)) => Ok(Arc::clone(table)),
        _ => anyhow::bail!("the table {name} does not exist after it was created"),
    }
}

/// Generates slices on another thread.
fn generate_ahead(slices: Slices) -> (mpsc::Receiver<anyhow::Result<RecordBatch>>, JoinHandle<()>) {
    let (sender, receiver) = mpsc::channel(SLICES_AHEAD);
    let generator = tokio::task::spawn_blocking(move || {
        for slice in slices {
            if sender.blocking_send(slice).is_err() {
                return;
            }
        }
    });
    (receiver, generator)
}

/// Concatenates batches to slices.
struct Slices {
    batches: Box<dyn Iterator<Item = RecordBatch> + Send>,
    schema: SchemaRef,
}

impl Iterator for Slices {
    type Item = anyhow::Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut rows = 0;
        let mut parts = Vec::new();
        while rows < SLICE_ROWS {
            let Some(batch) = self.batches.next() else { break };
            rows += batch.num_rows();
            parts.push(batch);
        }
        (rows > 0).then(|| Ok(concat_batches(&self.schema, &parts)?))
    }
}

/// The shown map: redrawn in place on a terminal, else one line for each loaded table.
struct Show {
    map: Map,
    screen: Option<Screen>,
    started: Instant,
    drawn: Instant,
}

impl Show {
    fn new(rows_expected: u64) -> io::Result<Self> {
        let now = Instant::now();
        let screen = Screen::of_output();
        let map = Map { tables: Vec::new(), rows: 0, rows_expected };
        if screen.is_none() {
            writeln!(io::stdout(), "{}", Map::header())?;
        }
        Ok(Self { map, screen, started: now, drawn: now })
    }

    fn begin(&mut self, table: &Table) -> anyhow::Result<()> {
        self.map.tables.push(TableMap::empty(table));
        self.draw()
    }

    fn update(&mut self, databases: &[Database], table: &Table, total: u64) -> anyhow::Result<()> {
        if self.screen.is_none() || self.drawn.elapsed() < REDRAW_EVERY {
            return Ok(());
        }
        self.look(databases, table, total);
        self.draw()
    }

    fn finish(&mut self, databases: &[Database], table: &Table, total: u64) -> anyhow::Result<()> {
        self.look(databases, table, total);
        match (&self.screen, self.map.tables.last()) {
            (None, Some(table)) => writeln!(io::stdout(), "{}", table.line(None))?,
            _ => self.draw()?,
        }
        Ok(())
    }

    fn look(&mut self, databases: &[Database], table: &Table, total: u64) {
        self.map.rows = total;
        if let Some(last) = self.map.tables.last_mut() {
            *last = TableMap::of(databases, table);
        }
    }

    fn draw(&mut self) -> anyhow::Result<()> {
        self.drawn = Instant::now();
        let Some(screen) = &mut self.screen else { return Ok(()) };
        let mut lines = self.map.lines(screen.width());
        lines.push(String::new());
        lines.push(self.map.progress(self.started.elapsed()));
        screen.draw(&lines)?;
        Ok(())
    }

    /// Removes the progress bar and keeps the tables.
    fn end(&mut self) -> anyhow::Result<()> {
        let Some(screen) = &mut self.screen else { return Ok(()) };
        let lines = self.map.lines(screen.width());
        screen.draw(&lines)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Int64Array};

    #[test]
    fn slices_are_full_and_have_all_rows() {
        let batch = |start: i64| {
            let column: ArrayRef = Arc::new(Int64Array::from_iter_values(start..start + 8192));
            RecordBatch::try_from_iter([("n", column)]).expect("one column")
        };
        let schema = batch(0).schema();
        let batches = Box::new((0..20).map(move |index| batch(index * 8192)));
        let sizes: Vec<_> =
            Slices { batches, schema }.map(|slice| slice.expect("joins").num_rows()).collect();
        assert_eq!(sizes, [65_536, 65_536, 32_768]);
    }
}
