//! What operators cost: cycles a tuple and a byte, on the core on which they were measured.
//!
//! They come from measurements of operators that exist, and are never fitted to what a simulation should say. Two files
//! are built in ([`Coefficients::named`]): an engine that works on one row at a time, as those of 2000 did, and one that
//! works on columns, as ours does. Each file says how its figures were measured.

use crate::curve::along;
use crate::hardware::catalog;
use crate::plan::{Planning, Task, Term};
use crate::{Curve, Error, Windows};
use serde::de::{Deserialize, Deserializer, Error as _};

/// Cycles for a piece of work.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// For each tuple.
    pub tuple: f64,
    /// For each byte of it.
    pub byte: f64,
}

impl Cost {
    /// Cycles for so many tuples and bytes.
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

/// How many times as long as those of scattered rows the runs are whose bytes `chosen` knows.
pub const RUNS: [f64; 4] = [1.0, 4.0, 16.0, 256.0];

/// The part of the rows that all of them are.
const ALL: f64 = 1.0;

/// Comparisons of each of so many tuples that are sorted.
pub(crate) fn comparisons(sorted: f64) -> f64 {
    sorted.max(2.0).log2()
}

/// Bytes that are copied of some of the rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chosen {
    /// The bytes.
    pub(crate) bytes: f64,
    /// Those of them that were seen before: they cost no more than with all rows.
    pub(crate) seen: f64,
    /// Rows of which more than one column is copied: which these are is found out first, once for all columns.
    pub(crate) rows: f64,
    /// The part of the rows that is chosen.
    pub(crate) part: f64,
    /// How many of these follow one another, on average; where they lie scattered if nothing is known.
    pub(crate) run: Option<f64>,
}

/// Cycles of every kind of work.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coefficients {
    /// Their name.
    pub name: String,
    /// Whose they are, where and how measured.
    pub about: String,
    /// Whether scans read only the columns that they need.
    pub columnar: bool,
    /// Bytes that a stored row takes beside its values.
    #[serde(deserialize_with = "crate::hardware::not_negative")]
    pub row_header_bytes: f64,
    /// A page that is asked of storage: the request, and each byte that is moved.
    pub request: Cost,
    /// A tuple that a scan looks at, with its predicate where `compare` and the like are 0; bytes of what it copies out.
    pub scan: Cost,
    /// A byte that a scan hands on as it lies: memory brings it to whoever looks at it first.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub first_look: f64,
    /// A piece in which a scan's rows lie.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece: f64,
    /// A piece of which some rows are copied out and others are not.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece_chosen: f64,
    /// A column that is copied out of such a piece.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece_copied: f64,
    /// A column of a piece.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece_column: f64,
    /// Something that is compared or computed of a piece, beside what it costs for each row.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece_term: f64,
    /// Values that are chosen of a piece, so that something is done with these alone.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece_choice: f64,
    /// A search of a piece.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece_search: f64,
    /// A piece whose rows are looked for in the hash table of a join.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub piece_find: f64,
    /// A byte that is copied of a tuple chosen from among others, beside `scan`, by the part that is chosen, where the tuples lie
    /// scattered and in longer and longer [`RUNS`]: `[part, byte, byte, byte, byte]`.
    #[serde(default)]
    pub chosen: Curve<[f64; RUNS.len() + 1]>,
    /// A tuple that is so chosen, if more than one column of it is copied: `[part, tuple, tuple, tuple, tuple]`.
    #[serde(default)]
    pub chosen_row: Curve<[f64; RUNS.len() + 1]>,
    /// A byte of what was chosen that is copied once more, into a batch with what was chosen of other pieces.
    #[serde(default, deserialize_with = "crate::hardware::not_negative")]
    pub gather: f64,
    /// A number that is compared, and bytes of its column, where nothing has looked at it before.
    #[serde(default)]
    pub compare: Cost,
    /// A comparison of a number with one of a list, beside `compare`.
    #[serde(default)]
    pub among: Cost,
    /// A number that is computed.
    #[serde(default)]
    pub calculate: Cost,
    /// A text that is compared.
    #[serde(default, rename = "match")]
    pub matching: Cost,
    /// A text that is compared once more, and is at hand: as it was the first time where nothing is said.
    #[serde(default)]
    pub match_again: Option<Cost>,
    /// A text that is searched for a pattern.
    #[serde(default)]
    pub search: Cost,
    /// A text that was chosen from among others and lies apart from the one before, by the part that was chosen: `[part, text]`.
    #[serde(default)]
    pub fetch: Curve<[f64; 2]>,
    /// A text that is a key of groups or of a join, beside the work for a number.
    #[serde(default)]
    pub key: Cost,
    /// A number that is one more such key.
    #[serde(default)]
    pub number_key: Cost,
    /// A row that a scan looks for in the hash table of a join above it.
    #[serde(default)]
    pub find: Cost,
    /// A tuple that is fetched through an index.
    pub index: Cost,
    /// A comparison on the way to a match in a sorted inner table.
    pub nested_loop: Cost,
    /// A tuple of either side of a merge.
    pub merge: Cost,
    /// A tuple that goes into a hash table.
    pub hash_build: Cost,
    /// A tuple that looks for its matches there.
    pub hash_probe: Cost,
    /// What these and `find` cost beside, by the rows of the table, and the latter two for tuples that come in the order of the
    /// table's keys: `[rows, build, probe, find, probe, find]`.
    #[serde(default)]
    pub hash_tables: Curve<[f64; 6]>,
    /// The same where keys are numbers so close that an array of them takes a hash table's place.
    #[serde(default)]
    pub array_tables: Curve<[f64; 6]>,
    /// A comparison of a sort; bytes are those of the tuples, once.
    pub sort: Cost,
    /// What a comparison costs beside, by how many tuples are sorted: by one number, more by several keys or by a text, and a byte
    /// of the texts: `[tuples, comparison, comparison, byte]`.
    #[serde(default)]
    pub order: Curve<[f64; 4]>,
    /// A byte that a join takes from its table, beside `hash_probe`, by the rows of the table, of tuples that come here and there and
    /// in the order of the table's keys: `[rows, byte, byte]`.
    #[serde(default)]
    pub hash_copies: Curve<[f64; 3]>,
    /// A tuple that is looked up among groups.
    pub group: Cost,
    /// What that costs beside for one whose group is there, and for one that begins a group, by how many groups there are: by one
    /// number, and by several keys. `[groups, find, new, find, new]`.
    #[serde(default)]
    pub group_tables: Curve<[f64; 5]>,
    /// The same of each text that is one of several keys, beside `key`: of short ones, that lie in their columns, and of others that lie apart:
    /// `[groups, find, new, find, new]`.
    #[serde(default)]
    pub group_keys: Curve<[f64; 5]>,
    /// A tuple in order that is compared with the one before.
    pub group_ordered: Cost,
    /// A tuple and one aggregate function.
    pub aggregate: Cost,
    /// The same where all rows are one group, which nothing is looked up for: as with groups where nothing is said.
    #[serde(default)]
    pub aggregate_all: Option<Cost>,
    /// Functions of windows.
    #[serde(default)]
    pub window: Windows,
    /// A tuple that is put away as an intermediate result.
    pub store: Cost,
    /// A tuple that is taken up again.
    pub load: Cost,
    /// A message that is sent or received ("tuple") and its bytes.
    pub message: Cost,
    /// What a site takes to begin a bundle.
    #[serde(deserialize_with = "crate::hardware::positive")]
    pub bundle: f64,
    /// What planning takes, for each part of a statement.
    #[serde(default)]
    pub planning: Planning,
}

const FILES: &[(&str, &str)] = &[
    ("row-at-a-time", include_str!("../coefficients/row-at-a-time.toml")),
    ("columnar", include_str!("../coefficients/columnar.toml")),
];

impl Coefficients {
    /// Cycles of an expression. `sorted` tuples are brought into an order together.
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

    /// What it costs beside, for one row, to find its group among so many, and to begin it, by one number or by these keys.
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

    /// Cycles that it takes to copy bytes of a part of the rows.
    pub(crate) fn of_copies(&self, chosen: Chosen) -> f64 {
        let Chosen { bytes, seen, rows, part, run } = chosen;
        // Of rows that lie scattered `1 / (1 - part)` follow one another.
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

    /// Reads a file; `file` is what errors call it.
    ///
    /// # Errors
    /// Where something is missing, unknown or negative, with its line.
    pub fn read(text: &str, file: &str) -> Result<Self, Error> {
        toml::from_str(text).map_err(|error| Error::parse(file, &error))
    }

    /// Those that are built in.
    ///
    /// # Errors
    /// Where there are none of this name.
    pub fn named(name: &str) -> Result<Self, Error> {
        let found = FILES.iter().find(|(known, _)| *known == name);
        let unknown = || Error::unknown("set of coefficients", name, Self::names());
        found.ok_or_else(unknown).and_then(|(name, text)| Self::read(text, name))
    }

    /// Those that fit an architecture: the paper's machines have an engine of their time.
    ///
    /// # Errors
    /// Never, as long as what is built in is good.
    pub fn usual(architecture: &str) -> Result<Self, Error> {
        let is_published = catalog::is_published(architecture);
        Self::named(if is_published { "row-at-a-time" } else { "columnar" })
    }

    /// Names of those that are built in.
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
