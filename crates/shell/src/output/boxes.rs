//! Tables in a box.
//!
//! ```text
//! ┌────────┬─────────┐
//! │     id │ name    │
//! │ bigint │ text    │
//! ├────────┼─────────┤
//! │      1 │ Ada     │
//! └────────┴─────────┘
//! ```
//!
//! If the terminal is too narrow, the widest columns are truncated first, down to [`WIDTH_MIN`]. If that is not enough,
//! columns in the middle are omitted ([`Layout`]).

use super::cells::{NULL, fit, lines, width};
use super::grid::{Align, Grid};
use crate::terminal::{faint, strong};
use std::io::{self, Write};

/// Least width of a truncated column.
const WIDTH_MIN: usize = 8;
/// Width of a column in addition to its text: a line and two blanks.
const FRAME: usize = 3;
const ELLIPSIS: &str = "…";

/// The shown columns with their widths; `None` stands for omitted columns.
#[derive(Debug, PartialEq, Eq)]
struct Layout(Vec<Option<(usize, usize)>>);

/// Writes the box, and returns the number of shown columns.
pub(crate) fn write(grid: &Grid, screen: Option<usize>, out: &mut impl Write) -> io::Result<usize> {
    let layout = Layout::new(&natural_widths(grid), screen);
    layout.rule(['┌', '┬', '┐'], out)?;
    layout.headings(grid, out)?;
    layout.rule(['├', '┼', '┤'], out)?;
    for row in 0..grid.rows() {
        if grid.gap == Some(row) {
            layout.line(|_| ("⋮".to_owned(), Align::Left), &faint, out)?;
        }
        layout.row(grid, row, out)?;
    }
    layout.rule(['└', '┴', '┘'], out)?;
    Ok(layout.0.iter().flatten().count())
}

fn natural_widths(grid: &Grid) -> Vec<usize> {
    let heading = |h: &super::Heading| width(&h.name).max(h.type_name.as_deref().map_or(0, width));
    let mut widths: Vec<_> = grid.headings.iter().map(heading).collect();
    for row in 0..grid.rows() {
        for (column, widest) in widths.iter_mut().enumerate() {
            let cell = grid.cell(row, column).unwrap_or(NULL);
            *widest = lines(cell).map(|line| width(&line)).max().unwrap_or(0).max(*widest);
        }
    }
    widths
}

impl Layout {
    fn new(natural: &[usize], screen: Option<usize>) -> Self {
        let all = || natural.iter().copied().enumerate().map(Some).collect();
        let Some(screen) = screen else { return Self(all()) };
        let mut columns: Vec<Option<(usize, usize)>> = all();
        while columns.iter().flatten().count() > 1 && needed(&columns, WIDTH_MIN) > screen {
            omit_one(&mut columns);
        }
        let widest = natural.iter().copied().max().unwrap_or(0).min(screen);
        let cap = (WIDTH_MIN..=widest).rev().find(|cap| needed(&columns, *cap) <= screen);
        let cap = cap.unwrap_or(WIDTH_MIN);
        for (_, width) in columns.iter_mut().flatten() {
            *width = (*width).min(cap);
        }
        Self(columns)
    }

    fn rule(&self, [left, middle, right]: [char; 3], out: &mut impl Write) -> io::Result<()> {
        let dash = |column: &Option<(usize, usize)>| {
            "─".repeat(2 + column.map_or(width(ELLIPSIS), |(_, width)| width))
        };
        let dashes: Vec<_> = self.0.iter().map(dash).collect();
        let line = format!("{left}{}{right}", dashes.join(&middle.to_string()));
        writeln!(out, "{}", faint(&line))
    }

    fn headings(&self, grid: &Grid, out: &mut impl Write) -> io::Result<()> {
        let heading = |column: usize| &grid.headings[column];
        self.line(|column| (heading(column).name.clone(), heading(column).align), &strong, out)?;
        if grid.headings.iter().any(|heading| heading.type_name.is_some()) {
            let name = |column: usize| heading(column).type_name.clone().unwrap_or_default();
            self.line(|column| (name(column), heading(column).align), &faint, out)?;
        }
        Ok(())
    }

    /// Writes a row, with as many lines as its highest cell.
    fn row(&self, grid: &Grid, row: usize, out: &mut impl Write) -> io::Result<()> {
        let cell = |column| grid.cell(row, column).unwrap_or(NULL);
        let height = |&(column, _): &(usize, usize)| lines(cell(column)).count();
        for line in 0..self.0.iter().flatten().map(height).max().unwrap_or(0) {
            let text =
                |column: usize| lines(cell(column)).nth(line).unwrap_or_default().into_owned();
            let styled = |column: usize| grid.cell(row, column).is_none();
            self.styled_line(
                |column| (text(column), grid.headings[column].align),
                |column, text| if styled(column) { faint(text) } else { text.to_owned() },
                out,
            )?;
        }
        Ok(())
    }

    fn line(
        &self,
        text: impl Fn(usize) -> (String, Align),
        style: &impl Fn(&str) -> String,
        out: &mut impl Write,
    ) -> io::Result<()> {
        self.styled_line(text, |_, text| style(text), out)
    }

    fn styled_line(
        &self,
        text: impl Fn(usize) -> (String, Align),
        style: impl Fn(usize, &str) -> String,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let bar = faint("│");
        for column in &self.0 {
            let cell = match *column {
                Some((column, width)) => {
                    let (text, align) = text(column);
                    style(column, &fit(&text, width, align))
                }
                None => faint(ELLIPSIS),
            };
            write!(out, "{bar} {cell} ")?;
        }
        writeln!(out, "{bar}")
    }
}

/// The width of the box if columns are truncated to `cap`.
fn needed(columns: &[Option<(usize, usize)>], cap: usize) -> usize {
    let each = |column: &Option<(usize, usize)>| {
        FRAME + column.map_or(width(ELLIPSIS), |(_, width)| width.min(cap))
    };
    columns.iter().map(each).sum::<usize>() + 1
}

/// Replaces the middle column by an ellipsis, or removes a column next to the ellipsis.
fn omit_one(columns: &mut Vec<Option<(usize, usize)>>) {
    match columns.iter().position(Option::is_none) {
        None => {
            let middle = columns.len() / 2;
            columns[middle] = None;
        }
        Some(gap) if gap < columns.len() - gap => {
            columns.remove(gap + 1);
        }
        Some(gap) => {
            columns.remove(gap - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid::Heading;
    use super::super::grid::tests::awkward_grid;
    use super::*;

    fn drawn(grid: &Grid, screen: Option<usize>) -> String {
        let mut out = Vec::new();
        write(grid, screen, &mut out).expect("writing to memory never fails");
        let text = String::from_utf8(out).expect("text");
        console::strip_ansi_codes(&text).into_owned()
    }

    #[test]
    fn a_box_has_types_nulls_and_lines() {
        let expected = "\
┌────────┬─────────────────┐
│     id │ näme            │
│ bigint │ text            │
├────────┼─────────────────┤
│      1 │ plain           │
│    -20 │ two             │
│        │ lines, \"quoted\" │
│   NULL │                 │
└────────┴─────────────────┘
";
        assert_eq!(drawn(&awkward_grid(), None), expected);
        assert_eq!(drawn(&awkward_grid(), Some(80)), expected);
    }

    #[test]
    fn the_widest_column_is_truncated_first() {
        let shown = drawn(&awkward_grid(), Some(22));
        assert!(shown.contains("│ lines, \"… │"), "{shown}");
        assert!(shown.lines().all(|line| width(line) == 22), "{shown}");
    }

    #[test]
    fn columns_in_the_middle_are_omitted() {
        let natural = [20, 5, 20, 5, 20];
        let columns = |screen| Layout::new(&natural, Some(screen)).0;
        assert_eq!(columns(86), natural.iter().copied().enumerate().map(Some).collect::<Vec<_>>());
        assert_eq!(columns(40), [Some((0, 10)), Some((1, 5)), None, Some((4, 10))]);
        assert_eq!(columns(30), [Some((0, 9)), None, Some((4, 9))]);
        assert_eq!(columns(1), [Some((0, WIDTH_MIN)), None]);
    }

    #[test]
    fn omitted_rows_are_marked() {
        let mut grid = Grid::new(vec![Heading::new("n", Align::Right)]);
        grid.push(["1".to_owned()]);
        grid.push(["9".to_owned()]);
        grid.gap = Some(1);
        assert_eq!(drawn(&grid, None), "┌───┐\n│ n │\n├───┤\n│ 1 │\n│ ⋮ │\n│ 9 │\n└───┘\n");
    }
}
