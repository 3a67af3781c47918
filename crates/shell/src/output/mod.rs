//! Formats of answers: boxes, CSV and JSON.
//!
//! CSV and JSON are written batch by batch. A box needs the widths of its columns first, so its rows are collected: on a
//! terminal only the first and last ones, else all.

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
pub use cells::{cut, harmless, width as text_width};
pub use grid::{Align, Grid, Heading};
pub(crate) use types::{Column, Kind};

use crate::error::SqlError;
use crate::quantity::{count, counted, duration, rate};
use crate::terminal::{Terminal, faint};
use crate::waiting::Waiting;
use arrow::array::RecordBatch;
use futures::StreamExt;
use std::io::{self, Write};
use std::time::{Duration, Instant};
use window::Window;

/// On a terminal, at most so many rows of a result are shown: the first and last ones.
pub const ROWS_SHOWN_MAX: usize = 40;

/// The format of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Boxes, for terminals.
    Box,
    /// CSV (RFC 4180) with a header.
    Csv,
    /// JSON, one object a line.
    Json,
}

/// How answers are shown.
#[derive(Debug, Clone)]
pub struct View {
    /// The format.
    pub(crate) format: Format,
    /// Whether a box has one line for each column (`\x`).
    pub(crate) expanded: bool,
    /// Whether durations are shown (`\timing`).
    pub(crate) timing: bool,
    /// Maximum number of rows in a box; `None` for all.
    pub(crate) rows_shown_max: Option<usize>,
    /// The destination.
    pub(crate) terminal: Terminal,
}

/// The error of showing an answer.
#[derive(Debug)]
pub(crate) enum ShowError {
    /// The statement failed.
    Statement(SqlError),
    /// The output cannot be written.
    Output(io::Error),
}

impl From<SqlError> for ShowError {
    fn from(error: SqlError) -> Self {
        Self::Statement(error)
    }
}

impl From<query::Error> for ShowError {
    fn from(error: query::Error) -> Self {
        Self::Statement(error.into())
    }
}

impl From<io::Error> for ShowError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl View {
    /// The default view for a format and a destination.
    pub fn new(format: Format, terminal: Terminal) -> Self {
        let rows_shown_max = terminal.is_interactive().then_some(ROWS_SHOWN_MAX);
        Self { format, expanded: false, timing: false, rows_shown_max, terminal }
    }

    /// Shows rows. `waiting` is dropped when the first output is ready.
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
                // All lines of a plan are shown.
                let shown_max = self.rows_shown_max.filter(|_| !is_plan);
                let window = Window::gather(batches, shown_max).await?;
                let time = started.elapsed();
                drop(waiting);
                let grid = Grid::of_window(&columns, &window)?;
                if is_plan {
                    write_plan(&grid, out)?;
                } else {
                    self.write_grid(&grid, window.total, Some(time), out)?;
                }
                Ok(())
            }
        }
    }

    /// Shows that a command is complete, unless the format is CSV or JSON.
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

    /// Shows a grid as a box without a row count, for any format.
    pub(crate) fn write_columns(&self, grid: &Grid, out: &mut impl Write) -> io::Result<()> {
        boxes::write(grid, self.terminal.width(), out).map(drop)
    }

    /// Shows a grid with a row count.
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

/// Notes on rows and columns that are not shown.
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
    /// Fewest rows for which the rate is shown: below, it mostly depends on the statement's fixed cost.
    const ROWS_OF_A_LOAD: u64 = 10_000;
    let rate = done.rows.filter(|rows| *rows >= ROWS_OF_A_LOAD).and_then(|rows| rate(rows, time));
    match rate {
        Some(rate) => format!(" in {} ({rate})", duration(time)),
        None => format!(" in {}", duration(time)),
    }
}

/// Writes a plan as text, without a box or truncation.
fn write_plan(grid: &Grid, out: &mut impl Write) -> io::Result<()> {
    for row in 0..grid.rows() {
        let cells: Vec<_> =
            (0..grid.headings.len()).filter_map(|column| grid.cell(row, column)).collect();
        writeln!(out, "{}", cells.join("\n").trim_end())?;
    }
    Ok(())
}

/// Writes rows batch by batch.
async fn stream(
    rows: Rows<'_>,
    waiting: Option<Waiting>,
    header: impl Fn(&[Column], &mut String),
    body: impl Fn(&[Column], &RecordBatch, &mut String) -> Result<(), query::Error>,
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
