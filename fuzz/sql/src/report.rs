//! Counts statements and prints findings.

use crate::outcome::{Defect, Outcome, normalized};
use crate::reduce::Found;
use crate::script::print;
use crate::tokens;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The SQLSTATE of a statement that was cancelled or had its time.
const CANCELED: &str = "57014";
/// Bytes of a statement that are printed; the file has all.
const PRINTED_BYTES: usize = 1500;

/// What has been found and counted.
pub(crate) struct Report {
    keep: Option<PathBuf>,
    outcomes: BTreeMap<String, usize>,
    kinds: BTreeMap<&'static str, [usize; 3]>,
    refusals: BTreeMap<String, usize>,
    shapes: BTreeSet<(Defect, String)>,
    statements: usize,
    canceled: usize,
    repeated: usize,
    unrepeatable: usize,
    /// Findings that are different, in words.
    lines: Vec<String>,
}

impl Report {
    /// An empty report. Findings are also written to files of the folder.
    pub(crate) fn new(keep: Option<PathBuf>) -> Self {
        Self {
            keep,
            outcomes: BTreeMap::new(),
            kinds: BTreeMap::new(),
            refusals: BTreeMap::new(),
            shapes: BTreeSet::new(),
            statements: 0,
            canceled: 0,
            repeated: 0,
            unrepeatable: 0,
            lines: Vec::new(),
        }
    }

    /// Counts a statement.
    pub(crate) fn count(&mut self, label: &'static str, outcome: &Outcome) {
        self.statements += 1;
        let (class, column) = match outcome {
            Outcome::Done => ("ok".to_owned(), 0),
            Outcome::Refused(code, message) => {
                self.canceled += usize::from(code == CANCELED);
                *self.refusals.entry(format!("{code} {}", normalized(message))).or_default() += 1;
                (format!("refused {}", &code[..2]), 1)
            }
            Outcome::Found(defect, _) => (format!("found {defect}"), 2),
        };
        *self.outcomes.entry(class).or_default() += 1;
        self.kinds.entry(label).or_default()[column] += 1;
    }

    /// The number of statements.
    pub(crate) fn statements(&self) -> usize {
        self.statements
    }

    /// The number of different findings.
    pub(crate) fn findings(&self) -> usize {
        self.lines.len()
    }

    /// A finding like an earlier one.
    pub(crate) fn repeated(&mut self) {
        self.repeated += 1;
    }

    /// A finding that a second run does not show.
    pub(crate) fn unrepeatable(&mut self, found: &Found, seed: Option<u64>) {
        self.unrepeatable += 1;
        println!("\nonce {}: {} ({})", found.defect, found.detail, command(seed));
    }

    /// Prints a reduced finding, unless one of its shape is known.
    pub(crate) fn add(&mut self, found: &Found, seed: Option<u64>) {
        let text = print(&found.script);
        if !self.shapes.insert((found.defect, shape(&text))) {
            self.repeated += 1;
            return;
        }
        let command = command(seed);
        println!("\nFOUND {}: {}", found.defect, found.detail);
        println!("{}", cut(&text, PRINTED_BYTES).trim_end());
        println!("repeat: {command}");
        let statement = found.script.last().map(|step| step.node.to_string()).unwrap_or_default();
        let line =
            format!("{} | {} | {}", found.defect, cut(&found.detail, 120), cut(&statement, 200));
        self.lines.push(line.replace('\n', " "));
        if let Some(folder) = &self.keep {
            let name = format!("{}-{}.sql", found.defect, self.lines.len());
            let detail = found.detail.replace('\n', " ");
            let text = format!("-- {}: {detail}\n-- {command}\n{text}", found.defect);
            write(folder, &name, &text);
        }
    }

    /// Prints the counts.
    pub(crate) fn print(&self, verbose: bool) {
        println!(
            "\n{} statements, {} of them canceled or timed out",
            self.statements, self.canceled
        );
        for (outcome, count) in &self.outcomes {
            println!("  {count:>8}  {outcome}");
        }
        println!("by kind: ok, refused, found");
        for (kind, [done, refused, found]) in &self.kinds {
            println!("  {done:>8} {refused:>8} {found:>6}  {kind}");
        }
        if verbose {
            let mut refusals: Vec<_> = self.refusals.iter().collect();
            refusals.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            println!("refusals");
            for (refusal, count) in refusals.iter().take(60) {
                println!("  {count:>8}  {refusal}");
            }
        }
        let (findings, repeated, once) = (self.lines.len(), self.repeated, self.unrepeatable);
        println!("{findings} different findings, {repeated} more like them, {once} seen once only");
        for line in &self.lines {
            println!("  {line}");
        }
    }
}

/// The command that repeats a round.
fn command(seed: Option<u64>) -> String {
    seed.map_or("--replay of the file".to_owned(), |seed| {
        format!("cd fuzz && cargo run --release -p fuzz_sql -- --seed {seed} --rounds 1")
    })
}

fn write(folder: &Path, name: &str, text: &str) {
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(folder.join(name), text));
    if let Err(error) = written {
        eprintln!("{name} is not kept: {error}");
    }
}

/// The beginning of a text.
fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = (0..=bytes).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{} ... ({} bytes)", &text[..end], text.len())
}

/// The words and symbols of a script without names, numbers and literals, each once: scripts of one shape have one cause,
/// most likely.
fn shape(text: &str) -> String {
    let words: BTreeSet<&str> = tokens::split(text)
        .filter(|token| {
            let name = token.ends_with(|c: char| c.is_ascii_digit()) || token.contains('.');
            !name && !token.starts_with(['\'', '"', ' ', '\n', '(', ')', ',', ';'])
        })
        .collect();
    words.into_iter().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_do_not_make_another_shape() {
        assert_eq!(shape("SELECT a1.k + 1 FROM t2"), shape("SELECT b3.k + 22 FROM t4"));
        assert_ne!(shape("SELECT 1 + 1"), shape("SELECT 1 - 1"));
    }
}
