//! Rows as lists of columns, for rows that are too wide for a box (`\x`).

use super::cells::{NULL, fit, lines, width};
use super::grid::{Align, Grid};
use crate::terminal::{faint, strong};
use std::io::{self, Write};

/// Maximum length of the rule above a row.
const RULE_MAX: usize = 40;

/// Writes each row as lines `name │ value` under a rule with its number.
pub(crate) fn write(grid: &Grid, screen: Option<usize>, out: &mut impl Write) -> io::Result<()> {
    let names = grid.headings.iter().map(|heading| width(&heading.name)).max().unwrap_or(0);
    for row in 0..grid.rows() {
        if grid.gap == Some(row) {
            writeln!(out, "{}", faint("⋮"))?;
        }
        let title = format!("── row {} ", row + 1);
        let title =
            if grid.gap.is_some_and(|gap| row >= gap) { "── ".to_owned() } else { title };
        let length = screen.unwrap_or(RULE_MAX).min(RULE_MAX);
        let rule = "─".repeat(length.saturating_sub(width(&title)));
        writeln!(out, "{}", faint(&format!("{title}{rule}")))?;
        for (column, heading) in grid.headings.iter().enumerate() {
            let name = strong(&fit(&heading.name, names, Align::Left));
            write_value(&name, names, grid.cell(row, column), out)?;
        }
    }
    Ok(())
}

fn write_value(
    name: &str,
    name_width: usize,
    cell: Option<&str>,
    out: &mut impl Write,
) -> io::Result<()> {
    let bar = faint("│");
    let Some(cell) = cell else {
        return writeln!(out, "{name} {bar} {}", faint(NULL));
    };
    let mut label = name.to_owned();
    for line in lines(cell) {
        writeln!(out, "{label} {bar} {line}")?;
        label = " ".repeat(name_width);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::grid::tests::awkward_grid;
    use super::*;

    #[test]
    fn each_column_has_its_line() {
        let mut out = Vec::new();
        write(&awkward_grid(), Some(20), &mut out).expect("writing to memory never fails");
        let text = String::from_utf8(out).expect("text");
        let expected = "\
── row 1 ───────────
id   │ 1
näme │ plain
── row 2 ───────────
id   │ -20
näme │ two
     │ lines, \"quoted\"
── row 3 ───────────
id   │ NULL
näme │\u{20}
";
        assert_eq!(console::strip_ansi_codes(&text), expected);
    }
}
