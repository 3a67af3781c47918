//! Private words: names that are replaced by standard database terms.
//!
//! Words are matched in any case, anywhere in a text file and in its path. Identifiers are split at
//! underscores and humps: `a_door` and `OpenDoor` contain `door`. The words of a phrase may be
//! joined in an identifier or divided by a line break. An exemption that exempts nothing is a
//! finding, too.

use super::workspace::{SourceFile, Workspace};
use super::{Finding, pure};
use proc_macro2::TokenStream;
use std::collections::BTreeSet;
use std::ops::Range;
use std::str::FromStr;

/// Files that may contain private words.
const EXEMPT: [&str; 2] = ["GLOSSARY.md", "xtask/src/tidy/words.rs"];

/// A private word.
struct Entry {
    /// Its forms: lower case, words of a phrase divided by one space.
    forms: &'static [&'static str],
    instead: &'static str,
    /// Whether prose may contain it.
    only_identifiers: bool,
    /// Prefixes of the paths of files that may not contain it; all files if empty.
    within: &'static [&'static str],
    /// Prefixes of the paths of files that may contain it.
    paths: &'static [&'static str],
    /// Texts on one line that may contain it; their case matters.
    phrases: &'static [&'static str],
}

const fn word(forms: &'static [&'static str], instead: &'static str) -> Entry {
    Entry { forms, instead, only_identifiers: false, within: &[], paths: &[], phrases: &[] }
}

/// The crates that send messages, and those below.
const MESSAGING: &[&str] =
    &["crates/client/", "crates/cluster/", "crates/net/", "crates/sdds/", "crates/store/"];

const WORDS: &[Entry] = &[
    word(&["errand", "errands"], "DML pushdown"),
    word(&["dealer", "dealers"], "producer"),
    word(&["deal", "deals", "dealing", "dealt"], "hash-partition, distribute, spread"),
    word(&["giver", "givers"], "source"),
    word(&["taker", "takers"], "destination, consumer"),
    word(&["beside"], "colocated, next to, in addition to"),
    word(&["joint"], "distributed, coordinated"),
    // Of a server; connections are closed, transactions and COPY are aborted.
    word(&["given up"], "evicted, aborted"),
    word(&["put off", "puts off", "putting off"], "deferred"),
    word(&["blame", "blamed", "blames", "blaming"], "error position, offending"),
    word(&["trouble", "troubles"], "error"),
    word(&["last resort"], "broadcast lookup"),
    word(&["door", "doors", "doorway"], "listener"),
    // A way of shipping in TPC-H.
    Entry { phrases: &["'MAIL'", "\"MAIL\""], ..word(&["mail", "mails"], "outbox") },
    // Elsewhere they are letters of the alphabet.
    Entry { within: MESSAGING, ..word(&["letter", "letters"], "envelope") },
    Entry { within: MESSAGING, ..word(&["post", "posted", "posts"], "send") },
    // Prose may use it for words, and for time.
    Entry {
        only_identifiers: true,
        within: &["crates/cluster/", "crates/net/", "crates/store/"],
        ..word(&["said"], "traffic")
    },
    Entry { only_identifiers: true, ..word(&["spent"], "metrics, breakdown") },
    word(&["floors"], "low watermark"),
    // Elsewhere, and in an implementation of serde's trait, they belong to the visitor pattern.
    Entry {
        within: &[
            "crates/bench/",
            "crates/bucket/",
            "crates/client/",
            "crates/cluster/",
            "crates/sdds/",
            "crates/store/",
            "docs/CLUSTER.md",
        ],
        ..word(&["visit", "visitor", "visitors"], "access")
    },
    Entry { phrases: &["nodes that it visits"], ..word(&["visits"], "accesses") },
    Entry {
        phrases: &["let visited = plan.apply_expressions(", "visited.is_ok()"],
        ..word(&["visited"], "accessed")
    },
];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let (mut findings, used) = private_words(workspace);
    findings.extend(unused(&used));
    findings
}

/// The exemptions that exempt something.
type Used = BTreeSet<&'static str>;

/// The findings of private words, and the exemptions that others needed.
fn private_words(workspace: &Workspace) -> (Vec<Finding>, Used) {
    let mut used = Used::new();
    let mut findings = Vec::new();
    for file in workspace.files.iter().filter(|file| !EXEMPT.contains(&file.path.as_str())) {
        findings.extend(self::findings(file, &mut used));
    }
    (findings, used)
}

/// One finding for each exemption that is not used.
fn unused(used: &Used) -> impl Iterator<Item = Finding> {
    let all = WORDS.iter().flat_map(|entry| entry.paths.iter().chain(entry.phrases));
    all.filter(|exemption| !used.contains(*exemption)).map(|exemption| {
        Finding::of(EXEMPT[1], format!("\"{exemption}\" exempts nothing; remove the exemption"))
    })
}

/// One finding for each private word and line, and for each in the path of the file.
fn findings(file: &SourceFile, used: &mut Used) -> Vec<Finding> {
    let in_path = matches(&file.path, &file.path, used).into_iter();
    let mut findings: Vec<Finding> =
        in_path.map(|found| Finding::of(&file.path, message(&found))).collect();
    let found = matches(&file.text, &file.path, used);
    let identifiers = if found.iter().any(|found| found.entry.only_identifiers) {
        identifiers(file)
    } else {
        BTreeSet::new()
    };
    for found in found {
        let line = 1 + file.text[..found.range.start].matches('\n').count();
        if !found.entry.only_identifiers
            || identifiers.contains(&(line, found.form.to_owned()))
            || is_marked(&file.text, &found.range)
        {
            findings.push(Finding::at(&file.path, line, message(&found)));
        }
    }
    findings.sort();
    findings.dedup();
    findings
}

fn message(found: &Match) -> String {
    format!("\"{}\" is a private word; use \"{}\"", found.form, found.entry.instead)
}

/// The position of a private word.
struct Match {
    range: Range<usize>,
    form: &'static str,
    entry: &'static Entry,
}

/// The private words in a text, except those that this file or their context may contain.
fn matches(text: &str, path: &str, used: &mut Used) -> Vec<Match> {
    let words = split(text);
    let is_below = |prefix: &&&str| path.starts_with(**prefix);
    let is_private =
        |entry: &&Entry| entry.within.is_empty() || entry.within.iter().any(|p| is_below(&p));
    let entries: Vec<&'static Entry> = WORDS.iter().filter(is_private).collect();
    let mut matches = Vec::new();
    for (start, word) in words.iter().enumerate() {
        let first = &text[word.clone()];
        for &entry in &entries {
            let forms = entry.forms.iter().filter(|form| begins_with(form, first));
            for &form in forms {
                let Some(range) = phrase_at(text, &words[start..], form) else { continue };
                let paths = entry.paths.iter().filter(is_below);
                let phrases = entry.phrases.iter().filter(|phrase| covers(text, &range, phrase));
                let mut exemptions = paths.chain(phrases).copied().peekable();
                if exemptions.peek().is_some() {
                    used.extend(exemptions);
                } else {
                    matches.push(Match { range, form, entry });
                }
            }
        }
    }
    matches
}

/// Whether `word` is the first word of `form`.
fn begins_with(form: &str, word: &str) -> bool {
    let start = form.get(..word.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(word))
        && form[word.len()..].chars().next().is_none_or(|next| next == ' ')
}

/// The range of `form` if it begins at the first of these words.
fn phrase_at(text: &str, words: &[Range<usize>], form: &str) -> Option<Range<usize>> {
    let parts: Vec<&str> = form.split(' ').collect();
    let words = words.get(..parts.len())?;
    let are_equal =
        |(part, word): (&&str, &Range<usize>)| part.eq_ignore_ascii_case(&text[word.clone()]);
    let is_joined = |pair: &[Range<usize>]| joins(&text[pair[0].end..pair[1].start]);
    let is_found = parts.iter().zip(words).all(are_equal) && words.windows(2).all(is_joined);
    is_found.then(|| words[0].start..words[words.len() - 1].end)
}

/// Whether two words separated by `gap` form one phrase: it may be empty, white space, `_`, `-`, or
/// a line break with comment marks.
fn joins(gap: &str) -> bool {
    let marks = if gap.contains('\n') { "/!#*>\\" } else { "" };
    gap.chars().all(|c| c.is_whitespace() || c == '_' || c == '-' || marks.contains(c))
}

/// Whether `phrase` encloses this range on its line.
fn covers(text: &str, range: &Range<usize>, phrase: &str) -> bool {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at);
    text[start..end]
        .match_indices(phrase)
        .any(|(at, _)| start + at <= range.start && range.end <= start + at + phrase.len())
}

/// The words of a text: sequences of letters, divided at the humps of camel case. The letter of an
/// escape such as `\n` is not part of a word.
fn split(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut begin = None;
    let mut before = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_letter = c.is_alphabetic() && before != '\\';
        let ends_capitals =
            before.is_uppercase() && chars.peek().is_some_and(|(_, next)| next.is_lowercase());
        let is_hump = c.is_uppercase() && (before.is_lowercase() || ends_capitals);
        if let Some(start) = begin.filter(|_| !is_letter || is_hump) {
            words.push(start..at);
            begin = None;
        }
        if is_letter && begin.is_none() {
            begin = Some(at);
        }
        before = c;
    }
    words.extend(begin.map(|start| start..text.len()));
    words
}

/// Whether a word is a part of a longer identifier or of a dotted name, or is enclosed in quotes.
fn is_marked(text: &str, range: &Range<usize>) -> bool {
    let mut chars_before = text[..range.start].chars().rev();
    let before = chars_before.next().unwrap_or(' ');
    let after = text[range.end..].chars().next().unwrap_or(' ');
    let of_identifier = |c: char| c == '_' || c.is_alphanumeric();
    let is_quote = |c: char| matches!(c, '`' | '"' | '\'');
    let is_member = before == '.' && chars_before.next().is_some_and(of_identifier);
    of_identifier(before)
        || of_identifier(after)
        || is_member
        || (is_quote(before) && is_quote(after))
}

/// The lower-case words of the identifiers of a Rust file, with their lines.
fn identifiers(file: &SourceFile) -> BTreeSet<(usize, String)> {
    let mut found = BTreeSet::new();
    if file.path.ends_with(".rs")
        && let Ok(tokens) = TokenStream::from_str(&file.text)
    {
        let mut words = Vec::new();
        pure::flatten(tokens, &mut words);
        for (identifier, line) in words {
            let parts = split(&identifier).into_iter();
            found.extend(parts.map(|part| (line, identifier[part].to_lowercase())));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(path: &str, text: &str) -> Vec<String> {
        let (findings, _) = private_words(&Workspace::of([(path, text)]));
        findings.iter().map(Finding::to_string).collect()
    }

    fn found(text: &str) -> usize {
        found_in("a.rs", text).len()
    }

    #[test]
    fn every_form_is_found_in_any_file_and_case() {
        for entry in WORDS {
            for form in entry.forms {
                let identifier = format!("let a_{} = 1;", form.replace(' ', "_"));
                let expected =
                    format!(":2: \"{form}\" is a private word; use \"{}\"", entry.instead);
                let below = entry.within.first().copied().unwrap_or_default();
                for name in ["a.rs", "a.md", "a.sql", "a.toml", "a.slt", "a.py", "a.txt"] {
                    let path = &format!("{below}{name}");
                    let text = format!("\n{identifier}");
                    assert_eq!(found_in(path, &text), [format!("{path}{expected}")]);
                    assert_eq!(found_in(path, &text.to_uppercase()).len(), 1, "{form}");
                }
                assert_eq!(found_in("GLOSSARY.md", &identifier).len(), 0);
            }
        }
    }

    #[test]
    fn identifiers_are_split_and_whole_words_are_matched() {
        assert_eq!(
            found("struct OpenDoor;\nlet HTTPDoor = DOOR_MAX;\nlet doorOf = \"\\ndoor\";"),
            3
        );
        assert_eq!(found("let indoor = outdoors + doorbell + email + givers2;"), 1);
    }

    #[test]
    fn phrases_are_found_joined_and_across_lines() {
        assert_eq!(found("struct PutOff;\nfn put_off() {}"), 2);
        assert_eq!(found("/// A server that was given\n    /// up, or put-off."), 2);
        assert_eq!(found("// Given, up. Given (up). Give up. put offset"), 0);
    }

    #[test]
    fn some_words_are_free_in_prose() {
        assert_eq!(found("/// The time spent.\nfn f() {} // \"is spent\""), 0);
        assert_eq!(found("let spent = 1;\nf(a.spent);\nstruct TimeSpent;\n// `spent`"), 4);
        assert_eq!(
            found_in("a.md", "time spent; `time_spent`\n\"a.spent\""),
            [1, 2].map(|line| {
                format!("a.md:{line}: \"spent\" is a private word; use \"metrics, breakdown\"")
            })
        );
    }

    #[test]
    fn paths_are_checked() {
        for path in ["a/door.rs", "door/mod.rs"] {
            let expected = format!("{path}: \"door\" is a private word; use \"listener\"");
            assert_eq!(found_in(path, ""), [expected]);
        }
        assert_eq!(found_in("a/doorbell.rs", "").len(), 0);
    }

    #[test]
    fn some_words_are_private_within_some_folders() {
        assert_eq!(found_in("crates/net/src/a.rs", "struct LetterBox;").len(), 1);
        assert_eq!(found_in("crates/parser/src/a.rs", "struct LetterBox;").len(), 0);
    }

    #[test]
    fn unused_exemptions_are_found() {
        let file = ("a.sql", "SELECT 'MAIL'");
        let (_, used) = private_words(&Workspace::of([file]));
        let unused: Vec<String> = unused(&used).map(|finding| finding.to_string()).collect();
        assert!(!unused.iter().any(|finding| finding.contains("'MAIL'")), "{unused:?}");
        assert!(unused.iter().any(|finding| finding.contains("\"\"MAIL\"\" exempts nothing")));
    }

    #[test]
    fn exempt_paths_and_phrases_are_free() {
        for entry in WORDS {
            let text = format!("`{}`", entry.forms[0]);
            for path in entry.paths {
                assert_eq!(found_in(&format!("{path}a.md"), &text).len(), 0, "{path}");
            }
            assert!(entry.within.is_empty() || entry.phrases.is_empty());
            for phrase in entry.phrases {
                assert_eq!(found_in("a.md", phrase).len(), 0, "{phrase}");
                assert_eq!(found_in("a.md", &format!("{phrase} {text}")).len(), 1, "{phrase}");
            }
        }
    }
}
