//! Cost coefficients: cycles per tuple and per byte for each kind of work, on the core on which
//! they were measured.
//!
//! Coefficients are measured on existing operators and never fitted to the expected outcome of a
//! simulation. Two files are built in ([`Coefficients::named`]): an engine that processes one row
//! at a time, like those of 2000, and a columnar engine like Pando's. Each file documents how its
//! figures were measured.

use crate::curve::along;
use crate::hardware::catalog;
use crate::plan::{Planning, Task, Term};
use crate::{Curve, Error, Windows};
use serde::de::{Deserialize, Deserializer, Error as _};

/// Cycles of one kind of work.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Cycles per tuple.
    pub tuple: f64,
    /// Cycles per byte of a tuple.
    pub byte: f64,
}

impl Cost {
    /// Cycles for a number of tuples and their bytes.
    pub fn cycles(&self, tuples: f64, bytes: f64) -> f64 {
        self.tuple * tuples + self.byte * bytes
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let [tuple, byte] = <[f64; 2]>::deserialize(deserializer)?;
        if [tuple, byte].iter().all(|cycles| cycles.is_finite() && *cycles >= 0.0) {
            return Ok(Self { tuple, byte });
        }
        Err(D::Error::custom(format!(
            "[{tuple}, {byte}] must be cycles per tuple and per byte of at least 0"
        )))
    }
}

/// Run lengths for which [`Coefficients::chosen`] has columns, relative to the mean run length of
/// scattered rows.
pub const RUNS: [f64; 4] = [1.0, 4.0, 16.0, 256.0];

/// The selected part when all rows are selected.
const ALL: f64 = 1.0;

/// Comparisons per tuple in a sort of `sorted` tuples.
pub(crate) fn comparisons(sorted: f64) -> f64 {
    sorted.max(2.0).log2()
}

/// Bytes that are copied from a selection of the rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chosen {
    /// Bytes that are copied.
    pub(crate) bytes: f64,
    /// Bytes that were accessed before. They cost as much as in a copy of all rows.
    pub(crate) seen: f64,
    /// Rows of which more than one column is copied. Their positions are computed once for all
    /// columns.
    pub(crate) rows: f64,
    /// The part of the rows that is selected, from 0 to 1.
    pub(crate) part: f64,
    /// Mean number of consecutive selected rows; `None` if the selected rows are scattered.
    pub(crate) run: Option<f64>,
}

/// Cycles of every kind of work.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coefficients {
    /// The name.
    pub name: String,
    /// The engine, and where and how it was measured.
    pub about: String,
    /// Whether scans read only the columns that they need.
    pub columnar: bool,
    /// Bytes of a stored row in addition to its values.
    #[serde(deserialize_with = "crate::hardware::not_negative")]
    pub row_header_bytes: f64,
    /// A page requested from storage ("tuple") and each byte transferred.
    pub request: Cost,
    /// A tuple that a scan examines, including its predicate if `compare` and the like are 0; and a
    /// byte that the scan copies.
    pub scan: Cost,
    /// A byte that a scan returns without a copy: its first access loads it into the cache.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub first_look: f64,
    /// A piece: a contiguous chunk of the rows that a scan reads.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece: f64,
    /// A piece of which only some rows are copied.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece_chosen: f64,
    /// A column that is copied from such a piece.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece_copied: f64,
    /// A column of a piece.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece_column: f64,
    /// An expression that is evaluated on a piece, in addition to its cost per row.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece_term: f64,
    /// A selection of values from a piece, so that later expressions are evaluated on these alone.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece_choice: f64,
    /// A pattern search on a piece.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece_search: f64,
    /// A probe of a join's hash table with the rows of a piece.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece_find: f64,
    /// A byte copied from a selected tuple, in addition to `scan`, by the selected part: for
    /// scattered tuples and for the longer [`RUNS`]. `[part, byte, byte, byte, byte]`.
    #[serde(default)]
    pub chosen: Curve<[f64; RUNS.len() + 1]>,
    /// A selected tuple of which more than one column is copied, by the selected part: `[part,
    /// tuple, tuple, tuple, tuple]`.
    #[serde(default)]
    pub chosen_row: Curve<[f64; RUNS.len() + 1]>,
    /// A selected byte that is copied once more, into a batch with rows of other pieces.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub gather: f64,
    /// A comparison of a number, and a byte of its column if the column was not accessed before.
    #[serde(default)]
    pub compare: Cost,
    /// A comparison of a number with an element of a list, in addition to `compare`.
    #[serde(default)]
    pub among: Cost,
    /// An arithmetic operation.
    #[serde(default)]
    pub calculate: Cost,
    /// A comparison of a text.
    #[serde(default, rename = "match")]
    pub matching: Cost,
    /// A repeated comparison of a text that is already in the cache; defaults to `match`.
    #[serde(default)]
    pub match_again: Option<Cost>,
    /// A pattern search in a text.
    #[serde(default)]
    pub search: Cost,
    /// A fetch of a selected text that is not adjacent to the previous one, by the selected part:
    /// `[part, text]`.
    #[serde(default)]
    pub fetch: Curve<[f64; 2]>,
    /// A text that is a key of groups or of a join, in addition to the work for a numeric key.
    #[serde(default)]
    pub key: Cost,
    /// A number that is a further such key.
    #[serde(default)]
    pub number_key: Cost,
    /// A row for which a scan probes the hash table of a join above it.
    #[serde(default)]
    pub find: Cost,
    /// A tuple fetched through an index.
    pub index: Cost,
    /// A comparison of a binary search in a sorted inner table.
    pub nested_loop: Cost,
    /// A tuple of either input of a merge.
    pub merge: Cost,
    /// A tuple inserted into a hash table.
    pub hash_build: Cost,
    /// A tuple that probes a hash table.
    pub hash_probe: Cost,
    /// Additional cycles of these and `find` by the rows of the table. The last two apply to tuples
    /// in the order of the table's keys. `[rows, build, probe, find, probe, find]`.
    #[serde(default)]
    pub hash_tables: Curve<[f64; 6]>,
    /// The same for dense integer keys, where an array replaces the hash table.
    #[serde(default)]
    pub array_tables: Curve<[f64; 6]>,
    /// A comparison of a sort; each byte of the tuples counts once.
    pub sort: Cost,
    /// Additional cycles of a comparison by the number of sorted tuples: by one number, for several
    /// keys or a text, and per byte of the texts. `[tuples, comparison, comparison, byte]`.
    #[serde(default)]
    pub order: Curve<[f64; 4]>,
    /// A byte that a join copies from its table, in addition to `hash_probe`, by the rows of the
    /// table: for probes in random order and in the order of the table's keys. `[rows, byte,
    /// byte]`.
    #[serde(default)]
    pub hash_copies: Curve<[f64; 3]>,
    /// A tuple that is looked up among groups.
    pub group: Cost,
    /// Additional cycles by the number of groups, for a tuple of an existing group and for the
    /// first of a new group: with one numeric key, and with several keys. `[groups, find, new,
    /// find, new]`.
    #[serde(default)]
    pub group_tables: Curve<[f64; 5]>,
    /// The same for each text among several keys, in addition to `key`: for short texts, stored in
    /// the column itself, and for long texts. `[groups, find, new, find, new]`.
    #[serde(default)]
    pub group_keys: Curve<[f64; 5]>,
    /// A tuple in order that is compared with the previous one.
    pub group_ordered: Cost,
    /// A tuple and one aggregate function.
    pub aggregate: Cost,
    /// The same without groups; defaults to `aggregate`.
    #[serde(default)]
    pub aggregate_all: Option<Cost>,
    /// Window functions.
    #[serde(default)]
    pub window: Windows,
    /// A tuple stored in an intermediate result.
    pub store: Cost,
    /// A tuple loaded from an intermediate result.
    pub load: Cost,
    /// A message sent or received ("tuple") and its bytes.
    pub message: Cost,
    /// Startup of a bundle at a site.
    #[serde(deserialize_with = "crate::hardware::positive")]
    pub bundle: f64,
    /// Planning, per part of a statement.
    #[serde(default)]
    pub planning: Planning,
}

const FILES: &[(&str, &str)] = &[
    ("row-at-a-time", include_str!("../coefficients/row-at-a-time.toml")),
    ("columnar", include_str!("../coefficients/columnar.toml")),
];

impl Coefficients {
    /// Cycles of an expression; `sorted` is the number of tuples sorted together.
    pub(crate) fn of_term(&self, term: &Term, sorted: f64) -> f64 {
        let Term { task, values, bytes, part } = *term;
        let all = values * bytes;
        match task {
            Task::Compare => self.compare.cycles(values, all),
            Task::Among => self.among.cycles(values, all),
            Task::Calculate => self.calculate.cycles(values, all),
            Task::Match => self.matching.cycles(values, all),
            Task::MatchAgain => self.match_again.unwrap_or(self.matching).cycles(values, all),
            Task::Search => self.search.cycles(values, all),
            Task::Key => self.key.cycles(values, all),
            Task::NumberKey => self.number_key.cycles(values, all),
            Task::Find => self.find.cycles(values, all),
            Task::Order => {
                let [row, byte] = [2, 3].map(|kind| self.order.cycles(kind, sorted));
                (row * values + byte * all) * comparisons(sorted)
            }
            Task::Pass => self.compare.cycles(values, 0.0),
            Task::Choose => {
                self.of_copies(Chosen { bytes: all, seen: 0.0, rows: 0.0, part, run: None })
            }
            Task::Fetch => self.fetch.cycles(1, part) * values,
            Task::Rank => self.window.rank * values,
            Task::Running => self.window.running * values,
            Task::Moving => self.window.moving * values,
        }
    }

    /// Additional cycles per row of finding its group among `groups`, and of creating it, for the
    /// keys `by` or, without terms, one numeric key.
    pub(crate) fn of_groups(&self, groups: f64, by: &[Term]) -> [f64; 2] {
        let is_key = |term: &Term| matches!(term.task, Task::Key | Task::NumberKey);
        let several = if by.iter().any(is_key) { 2 } else { 0 };
        let texts = || by.iter().filter(|term| term.task == Task::Key);
        [1, 2].map(|kind| {
            let of_text = |term: &Term| if term.lies_apart() { kind + 2 } else { kind };
            let of_texts = texts().map(|term| self.group_keys.cycles(of_text(term), groups));
            self.group_tables.cycles(kind + several, groups) + of_texts.sum::<f64>()
        })
    }

    /// Cycles of copying bytes from a selection of the rows.
    pub(crate) fn of_copies(&self, chosen: Chosen) -> f64 {
        let Chosen { bytes, seen, rows, part, run } = chosen;
        // Scattered rows form runs of `1 / (1 - part)` rows on average.
        let longer = run.map_or(1.0, |run| run * (1.0 - part));
        let of_runs = |curve: &Curve<_>, part| {
            let cycles = (1..).zip(RUNS).map(|(kind, run)| (run, curve.cycles(kind, part)));
            along(cycles, longer)
        };
        self.scan.byte * bytes
            + of_runs(&self.chosen, part) * (bytes - seen).max(0.0)
            + of_runs(&self.chosen, ALL) * seen.min(bytes)
            + of_runs(&self.chosen_row, part) * rows
    }

    /// Reads a file; `file` is its name in errors.
    ///
    /// # Errors
    /// [`Error::File`] with the line if a value is missing, unknown or negative.
    pub fn read(text: &str, file: &str) -> Result<Self, Error> {
        toml::from_str(text).map_err(|error| Error::parse(file, &error))
    }

    /// Built-in coefficients.
    ///
    /// # Errors
    /// [`Error::Unknown`] if there are none of this name.
    pub fn named(name: &str) -> Result<Self, Error> {
        let found = FILES.iter().find(|(known, _)| *known == name);
        let unknown = || Error::unknown("set of coefficients", name, Self::names());
        found.ok_or_else(unknown).and_then(|(name, text)| Self::read(text, name))
    }

    /// The default coefficients of an architecture: row-at-a-time for the paper's machines,
    /// columnar for all others.
    ///
    /// # Errors
    /// None, as long as the built-in files are valid.
    pub fn usual(architecture: &str) -> Result<Self, Error> {
        let is_published = catalog::is_published(architecture);
        Self::named(if is_published { "row-at-a-time" } else { "columnar" })
    }

    /// The names of the built-in coefficients.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_are_built_in_are_good() {
        for name in Coefficients::names() {
            assert_eq!(Coefficients::named(name).expect("good").name, name);
        }
        assert!(Coefficients::named("quantum").is_err());
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        let (_, text) = FILES[0];
        let line = text.lines().position(|line| line.starts_with("sort")).expect("there") + 1;
        let sort = text.lines().find(|line| line.starts_with("sort")).expect("there");
        let refused = |to: &str| {
            Coefficients::read(&text.replacen(sort, to, 1), "mine")
                .expect_err("refused")
                .to_string()
        };
        assert!(refused("sort = [-1, 0]").contains(&format!("line {line}")));
        assert!(refused("").contains("sort"), "{}", refused(""));
        assert!(refused("sort = [1, 0]\nbubble = [1, 1]").contains("bubble"));
    }

    #[test]
    fn cycles_are_those_of_tuples_and_bytes() {
        assert_eq!(Cost { tuple: 10.0, byte: 0.5 }.cycles(100.0, 40.0), 1020.0);
    }
}
