//! Expected answers to TPC-H's queries: DuckDB's answers over the rows that [`tpch`] generates.
//!
//! A short answer is stored in full, a long one as a checksum with its first and last row. `answers/README.md` has the
//! commands that make them.

use crate::answer::{Answer, Kind, Row, text};
use crate::tpch;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;

const KEPT: [&str; 2] =
    [include_str!("../answers/tpch-0.01.json"), include_str!("../answers/tpch-0.1.json")];

/// All 22 answers at one scale factor.
#[derive(Debug, Deserialize)]
pub struct Expected {
    scale: f64,
    queries: BTreeMap<u8, Kept>,
}

/// A stored answer.
#[derive(Debug, Deserialize)]
struct Kept {
    columns: Vec<(String, Kind)>,
    rows: usize,
    #[serde(flatten)]
    content: Content,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Whole { all: Vec<Row> },
    Summary { checksum: String, first: Row, last: Row },
}

impl Expected {
    /// The answers at a scale factor; `None` if there are none.
    pub fn at(scale: f64) -> Option<Self> {
        let mut kept = KEPT.iter().map(|json| {
            serde_json::from_str::<Self>(json).expect("the files have the format of make.py")
        });
        kept.find(|expected| expected.scale.to_bits() == scale.to_bits())
    }

    /// Checks the rows of an answer to query `n`, and their order.
    ///
    /// # Errors
    /// If the answer is wrong, or there is none for this query.
    pub fn check(&self, n: u8, answer: &Answer) -> Result<()> {
        let kept =
            self.queries.get(&n).with_context(|| format!("there is no answer to query {n}"))?;
        kept.check(answer)
            .and_then(|()| answer.is_ordered_as(tpch::query(n)))
            .with_context(|| format!("query {n} at scale {}", self.scale))
    }
}

impl Kept {
    fn check(&self, answer: &Answer) -> Result<()> {
        answer.has_columns(&self.columns)?;
        let rows = answer.rows.len();
        ensure!(rows == self.rows, "{rows} rows instead of {}", self.rows);
        match &self.content {
            Content::Whole { all } => {
                answer.agrees_with(&Answer { columns: self.columns.clone(), rows: all.clone() })
            }
            Content::Summary { checksum, first, last } => {
                let rows: Vec<Row> = answer.rows.iter().map(|row| answer.canonical(row)).collect();
                for row in [first, last] {
                    ensure!(rows.contains(row), "row {} is missing", text(row));
                }
                let ours = checksum_of(rows);
                ensure!(ours == *checksum, "checksum {ours} instead of {checksum}");
                Ok(())
            }
        }
    }
}

/// The 64-bit FNV-1a hash of the sorted rows. Cells end with 1f, rows with 1e, and NULL is 00.
fn checksum_of(rows: Vec<Row>) -> String {
    let line = |row: Row| {
        let cells = row.into_iter().flat_map(|cell| {
            let mut cell = cell.map_or(vec![0], String::into_bytes);
            cell.push(0x1f);
            cell
        });
        let mut line: Vec<u8> = cells.collect();
        line.push(0x1e);
        line
    };
    let mut lines: Vec<Vec<u8>> = rows.into_iter().map(line).collect();
    lines.sort_unstable();
    let hash = lines.concat().into_iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(content: Content) -> Kept {
        let columns = vec![("k".to_owned(), Kind::Exact), ("v".to_owned(), Kind::Text)];
        Kept { columns, rows: 2, content }
    }

    fn answer(cells: [[&str; 2]; 2]) -> Answer {
        let columns = vec![("k".to_owned(), Kind::Exact), ("v".to_owned(), Kind::Text)];
        let row =
            |row: &[&str; 2]| row.iter().map(|cell| Some((*cell).to_owned())).collect::<Row>();
        Answer { columns, rows: cells.iter().map(row).collect() }
    }

    #[test]
    fn the_checksum_is_that_of_make_py() {
        let rows = vec![
            vec![Some("b".to_owned()), None],
            vec![Some("a".to_owned()), Some("ö".to_owned())],
        ];
        assert_eq!(checksum_of(rows), "d70a4058e770ca2f");
        assert_eq!(checksum_of(Vec::new()), "cbf29ce484222325");
    }

    #[test]
    fn a_summary_detects_one_changed_cell() {
        let good = answer([["1.50", "a"], ["2", "b "]]);
        let row = |k: &str, v: &str| vec![Some(k.to_owned()), Some(v.to_owned())];
        let checksum = checksum_of(vec![row("2", "b"), row("1.5", "a")]);
        let kept = kept(Content::Summary { checksum, first: row("1.5", "a"), last: row("2", "b") });
        kept.check(&good).unwrap();
        kept.check(&answer([["1.50", "a"], ["2", "c"]])).unwrap_err();
        kept.check(&answer([["1.50", "a"], ["1.50", "a"]])).unwrap_err();
    }

    #[test]
    fn every_query_has_an_answer_at_both_scales() {
        for scale in [0.01, 0.1] {
            let expected = Expected::at(scale).unwrap();
            assert!(expected.queries.keys().copied().eq(1..=tpch::QUERIES));
            for (n, kept) in &expected.queries {
                assert!(kept.rows > 0 || scale < 0.1, "query {n} finds nothing at {scale}");
            }
        }
        assert!(Expected::at(1.0).is_none());
    }
}
