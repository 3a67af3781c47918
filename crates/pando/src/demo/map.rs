//! The map of tables and their buckets, as lines of text.
//!
//! ```text
//!    table        buckets        rows       bytes
//!    person            14     100,000     3.1 MiB  ▅▅▅▅▅▅▅▅▅▅▅▅▅▇
//!    lineitem           3     131,072    10.4 MiB  ▅▅▇
//!                                                  splits at 16,005, 1 │ 32,130, 4
//! ```
//!
//! A bucket is one block, whose height is the fill level.

use super::part_of;
use pando::Database;
use pando::catalog::Table;
use query::store::{BucketInfo, key};
use shell::output::{cut, harmless, text_width};
use shell::quantity::{bytes, count, duration, rate};
use std::time::Duration;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Blocks of a line if the width of the terminal is unknown.
const BLOCKS_MAX: usize = 60;
/// Columns before the blocks.
const MARGIN: usize = 50;
/// Length of the progress bar.
const BAR: usize = 30;

/// All tables, and the progress of the load.
#[derive(Debug, Clone, Default)]
pub(super) struct Map {
    pub(super) tables: Vec<TableMap>,
    pub(super) rows: u64,
    pub(super) rows_expected: u64,
}

/// One table's buckets.
#[derive(Debug, Clone, Default)]
pub(super) struct TableMap {
    name: String,
    bucket_size: u64,
    rows: u64,
    /// Bytes of each bucket, in key order.
    bytes: Vec<u64>,
    /// The bounds between buckets.
    bounds: Vec<String>,
}

impl Map {
    /// The line of headings.
    pub(super) fn header() -> String {
        format!("   {:<10} {:>9} {:>11} {:>11}", "table", "buckets", "rows", "bytes")
    }

    /// The lines of the map. The last table is being loaded; its bounds are shown.
    pub(super) fn lines(&self, width: usize) -> Vec<String> {
        let mut lines = vec![Self::header()];
        lines.extend(self.tables.iter().map(|table| table.line(Some(width))));
        if let Some(table) = self.tables.last() {
            lines.push(table.bounds_line(width));
        }
        lines
    }

    /// `███████░░░  70 %  1,000 of 1,400 rows  2,000 rows/s  0.20 s left`
    pub(super) fn progress(&self, time: Duration) -> String {
        let expected = self.rows_expected.max(self.rows).max(1);
        let done = self.rows as f64 / expected as f64;
        let filled = (done * BAR as f64) as usize;
        let bar = format!("{}{}", "█".repeat(filled), "░".repeat(BAR - filled));
        let percent = (done * 100.0) as u64;
        let rate = rate(self.rows, time).unwrap_or_default();
        let left = match self.rows {
            0 => String::new(),
            _ => format!("{} left", duration(time.mul_f64((1.0 - done) / done))),
        };
        format!("   {bar} {percent:>3} %  {}  {rate}  {left}", part_of(self.rows, expected))
    }
}

impl TableMap {
    /// An empty table.
    pub(super) fn empty(table: &Table) -> Self {
        Self { name: table.name.clone(), bucket_size: table.bucket_size, ..Self::default() }
    }

    /// The current state of a table on all servers.
    pub(super) fn of(databases: &[Database], table: &Table) -> Self {
        let all = databases.iter().flat_map(|server| server.store().bucket_infos(table.id));
        let mut buckets: Vec<BucketInfo> = all.collect();
        buckets.sort_by(|a, b| (&a.range.low, a.is_leaving).cmp(&(&b.range.low, b.is_leaving)));
        // A bucket that is moving may be on both servers.
        buckets.dedup_by(|next, last| next.range.low == last.range.low);
        let low = |bucket: &BucketInfo| key::describe_bound(table, &bucket.range.low);
        Self {
            rows: buckets.iter().map(|bucket| bucket.rows).sum(),
            bytes: buckets.iter().map(|bucket| bucket.bytes).collect(),
            bounds: buckets.iter().skip(1).map(low).collect(),
            ..Self::empty(table)
        }
    }

    /// The line of the table: name, figures and blocks.
    pub(super) fn line(&self, width: Option<usize>) -> String {
        let room = width.map_or(BLOCKS_MAX, |width| width.saturating_sub(MARGIN).max(1));
        let figures = format!(
            "   {:<10} {:>9} {:>11} {:>11}",
            self.name,
            count(self.bytes.len() as u64),
            count(self.rows),
            bytes(self.bytes.iter().sum()),
        );
        let line = format!("{figures}  {}", self.blocks(room));
        line.trim_end().to_owned()
    }

    /// One block for each bucket, or for several neighbours if there are too many.
    fn blocks(&self, room: usize) -> String {
        let neighbours = self.bytes.len().div_ceil(room).max(1);
        let block = |bytes: &[u64]| {
            let capacity = self.bucket_size.max(1) * bytes.len() as u64;
            let height = bytes.iter().sum::<u64>() as f64 / capacity as f64;
            let step = (height * BLOCKS.len() as f64) as usize;
            BLOCKS[step.min(BLOCKS.len() - 1)]
        };
        self.bytes.chunks(neighbours).map(block).collect()
    }

    /// The first bounds and the last one, as many as fit.
    fn bounds_line(&self, width: usize) -> String {
        let Some((last, others)) = self.bounds.split_last() else { return String::new() };
        let room = width.saturating_sub(MARGIN).max(1);
        let mut text = "splits at".to_owned();
        let mut separator = " ";
        for (index, bound) in others.iter().enumerate() {
            let rest = text_width(bound) + text_width(" │  │ … │ ") + text_width(last);
            if text_width(&text) + rest > room {
                text.push_str(if index == 0 { " …" } else { " │ …" });
                separator = " │ ";
                break;
            }
            text.push_str(separator);
            text.push_str(bound);
            separator = " │ ";
        }
        text.push_str(separator);
        text.push_str(last);
        let text = harmless(&text);
        let text = if text_width(&text) > room { cut(&text, room) } else { text.into_owned() };
        format!("{}{text}", " ".repeat(MARGIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(bytes: &[u64]) -> TableMap {
        let bounds = (1..bytes.len()).map(|n| (n * 1000).to_string()).collect();
        let name = "orders".to_owned();
        TableMap { name, bucket_size: 80, rows: 12_345, bytes: bytes.to_vec(), bounds }
    }

    #[test]
    fn the_height_of_a_block_is_the_fill_level() {
        assert_eq!(table(&[0, 39, 79, 200]).blocks(10), "▁▄██");
        assert_eq!(table(&[0, 79, 79, 79, 0]).blocks(3), "▄█▁");
        assert_eq!(table(&[]).blocks(3), "");
    }

    #[test]
    fn a_line_has_a_name_and_figures() {
        let line = table(&[40, 40]).line(Some(80));
        assert_eq!(line, "   orders             2      12,345        80 B  ▅▅");
        assert_eq!(text_width(&Map::header()), MARGIN - 3);
    }

    #[test]
    fn bounds_before_the_last_are_omitted_first() {
        let map = table(&[1; 5]);
        assert_eq!(map.bounds_line(120).trim(), "splits at 1000 │ 2000 │ 3000 │ 4000");
        assert_eq!(map.bounds_line(50 + 30).trim(), "splits at 1000 │ … │ 4000");
        assert_eq!(table(&[1]).bounds_line(80), "");
        assert!((51..130).all(|width| text_width(&map.bounds_line(width)) <= width));
    }

    #[test]
    fn progress_shows_the_remaining_time() {
        let map = Map { rows: 250, rows_expected: 1_000, ..Map::default() };
        let line = map.progress(Duration::from_secs(1));
        assert!(line.contains(" 25 %  250 of 1,000 rows  250 rows/s  3.00 s left"), "{line}");
        let none = Map::default().progress(Duration::ZERO);
        assert!(none.contains("  0 %  0 of 1 rows"), "{none}");
    }
}
