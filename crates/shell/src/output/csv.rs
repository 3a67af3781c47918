//! CSV as PostgreSQL's COPY writes it: with a header, NULL as an empty value, and an empty text as `""`.

use super::types::Column;
use arrow::array::RecordBatch;
use query::{Error, text::TextColumn};

/// Appends the line of column names.
pub(crate) fn header(columns: &[Column], out: &mut String) {
    for (index, column) in columns.iter().enumerate() {
        separate(index, out);
        let start = out.len();
        out.push_str(&column.name);
        quote_if_needed(start, out);
    }
    out.push('\n');
}

/// Appends a line for each row.
pub(crate) fn rows(_: &[Column], batch: &RecordBatch, out: &mut String) -> Result<(), Error> {
    let columns =
        batch.columns().iter().map(|c| TextColumn::new(c)).collect::<Result<Vec<_>, _>>()?;
    for row in 0..batch.num_rows() {
        for (index, column) in columns.iter().enumerate() {
            separate(index, out);
            let start = out.len();
            if column.write(row, out) {
                quote_if_needed(start, out);
            }
        }
        out.push('\n');
    }
    Ok(())
}

fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}

/// Quotes the value that begins at `start`, if CSV requires it.
fn quote_if_needed(start: usize, out: &mut String) {
    let bare = &out[start..];
    if !bare.is_empty() && !bare.contains(['"', ',', '\n', '\r']) {
        return;
    }
    let quoted = bare.replace('"', "\"\"");
    out.truncate(start);
    out.push('"');
    out.push_str(&quoted);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::super::grid::tests::awkward;
    use super::*;

    #[test]
    fn special_values_are_quoted() {
        let (columns, batch) = awkward();
        let mut out = String::new();
        header(&columns, &mut out);
        rows(&columns, &batch, &mut out).expect("has text");
        assert_eq!(out, "id,näme\n1,plain\n-20,\"two\nlines, \"\"quoted\"\"\"\n,\"\"\n");
    }
}
