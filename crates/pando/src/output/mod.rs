//! Answers as text: boxes for people, CSV and JSON for programs.
//!
//! CSV and JSON are written batch by batch as the rows come. A box must know its widths first, so its
//! rows are gathered: on a terminal only the first and last ones ([`Window`]), elsewhere all.

mod answer;
mod boxes;
mod cells;
mod csv;
mod expanded;
mod grid;
mod json;
mod types;
mod window;

pub(crate) use answer::{Done, Rows};
pub(crate) use cells::{cut, harmless, width as text_width};
pub(crate) use grid::{Align, Grid, Heading};
pub(crate) use types::{Column, Kind};

use crate::quantity::{count, counted, duration, rate};
use crate::terminal::{Terminal, faint};
use crate::trouble::SqlError;
use crate::waiting::Waiting;
use futures::StreamExt;
use pando::RecordBatch;
use std::io::{self, Write};
use std::time::{Duration, Instant};
use window::Window;

/// On a terminal a longer result shows its first and last rows only.
pub(crate) const ROWS_SHOWN_MAX: usize = 40;

/// The form of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Box,
    /// RFC 4180, with a header.
    Csv,
    /// One object a line.
    Json,
}

/// How answers are shown.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// Their form.
    pub(crate) format: Format,
    /// Whether a box has a line for each column (`\x`).
    pub(crate) expanded: bool,
    /// Whether the time that a statement took is told (`\timing`).
    pub(crate) timing: bool,
    /// Rows that a box shows; `None` for all.
    pub(crate) rows_shown_max: Option<usize>,
    /// Where answers go.
    pub(crate) terminal: Terminal,
}

/// Why an answer could not be shown.
#[derive(Debug)]
pub(crate) enum ShowError {
    /// The statement failed while its rows were computed.
    Statement(SqlError),
    /// The rows cannot be written.
    Output(io::Error),
}

impl From<SqlError> for ShowError {
    fn from(trouble: SqlError) -> Self {
        Self::Statement(trouble)
    }
}

impl From<pando::Error> for ShowError {
    fn from(error: pando::Error) -> Self {
        Self::Statement(error.into())
    }
}

impl From<io::Error> for ShowError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl View {
    /// The view for a kind of output.
    pub(crate) fn new(format: Format, terminal: Terminal) -> Self {
        let rows_shown_max = terminal.is_interactive().then_some(ROWS_SHOWN_MAX);
        Self { format, expanded: false, timing: false, rows_shown_max, terminal }
    }

    /// Shows a result; `waiting` ends when the first of it is ready.
    pub(crate) async fn show_rows(
        &self,
        rows: Rows<'_>,
        started: Instant,
        waiting: Option<Waiting>,
        out: &mut impl Write,
    ) -> Result<(), ShowError> {
        match self.format {
            Format::Csv => stream(rows, waiting, csv::header, csv::rows, out).await,
            Format::Json => stream(rows, waiting, |_, _| (), json::rows, out).await,
            Format::Box => {
                let Rows { columns, is_plan, batches } = rows;
                // A plan is shown whole.
                let shown_max = self.rows_shown_max.filter(|_| !is_plan);
                let window = Window::gather(batches, shown_max).await?;
                let time = started.elapsed();
                drop(waiting);
                let grid = Grid::of_window(&columns, &window)?;
                match is_plan {
                    true => write_plan(&grid, out)?,
                    false => self.write_grid(&grid, window.total, Some(time), out)?,
                }
                Ok(())
            }
        }
    }

    /// Shows that something was done. Programs that read rows are not told.
    pub(crate) fn show_done(
        &self,
        done: &Done,
        time: Duration,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if self.format != Format::Box {
            return Ok(());
        }
        out.write_all(done.command.as_bytes())?;
        if let Some(rows) = done.rows {
            write!(out, " {}", counted(rows, "row"))?;
        }
        if self.timing {
            out.write_all(faint(&done_in(done, time)).as_bytes())?;
        }
        writeln!(out)
    }

    /// Shows a table without a row count, as a box whatever the format.
    pub(crate) fn write_columns(&self, grid: &Grid, out: &mut impl Write) -> io::Result<()> {
        boxes::write(grid, self.terminal.width(), out).map(drop)
    }

    /// Shows a table and its row count.
    pub(crate) fn write_grid(
        &self,
        grid: &Grid,
        total: u64,
        time: Option<Duration>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let columns_shown = if self.expanded {
            expanded::write(grid, self.terminal.width(), out)?;
            grid.headings.len()
        } else {
            boxes::write(grid, self.terminal.width(), out)?
        };
        let mut footer = counted(total, "row");
        let notes = notes(grid, total, columns_shown);
        if !notes.is_empty() {
            footer.push_str(&format!(" ({})", notes.join(", ")));
        }
        if let Some(time) = time.filter(|_| self.timing) {
            footer.push_str(&format!(" in {}", duration(time)));
        }
        writeln!(out, "{}", faint(&footer))
    }
}

/// What of a table is not shown.
fn notes(grid: &Grid, total: u64, columns_shown: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if total > grid.rows() as u64 {
        notes.push(format!("{} shown", count(grid.rows() as u64)));
    }
    if columns_shown < grid.headings.len() {
        let columns = grid.headings.len();
        notes.push(format!("{columns_shown} of {columns} columns shown, \\x shows all"));
    }
    notes
}

fn done_in(done: &Done, time: Duration) -> String {
    /// Below this the rate says more about the statement than about its rows.
    const ROWS_OF_A_LOAD: u64 = 10_000;
    let rate = done.rows.filter(|rows| *rows >= ROWS_OF_A_LOAD).and_then(|rows| rate(rows, time));
    match rate {
        Some(rate) => format!(" in {} ({rate})", duration(time)),
        None => format!(" in {}", duration(time)),
    }
}

/// Plans are read as text: no box, nothing cut.
fn write_plan(grid: &Grid, out: &mut impl Write) -> io::Result<()> {
    for row in 0..grid.rows() {
        let cells: Vec<_> =
            (0..grid.headings.len()).filter_map(|column| grid.cell(row, column)).collect();
        writeln!(out, "{}", cells.join("\n").trim_end())?;
    }
    Ok(())
}

/// Writes batch by batch.
async fn stream(
    rows: Rows<'_>,
    waiting: Option<Waiting>,
    header: impl Fn(&[Column], &mut String),
    body: impl Fn(&[Column], &RecordBatch, &mut String) -> Result<(), pando::Error>,
    out: &mut impl Write,
) -> Result<(), ShowError> {
    let Rows { columns, mut batches, .. } = rows;
    let mut text = String::new();
    let mut waiting = waiting;
    header(&columns, &mut text);
    while let Some(batch) = batches.next().await {
        let batch = batch?;
        drop(waiting.take());
        body(&columns, &batch, &mut text)?;
        out.write_all(text.as_bytes())?;
        text.clear();
    }
    drop(waiting);
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
