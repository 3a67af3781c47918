//! Matching by trying one way after the other, for back references and lookaround.
//!
//! Such expressions can take time without bound: a match is refused after [`STEPS_MAX`] steps.

use super::flags::Flags;
use super::syntax::{Node, Place};
use super::translate;
use regex::Regex;
use std::collections::HashMap;
use values::error::{Error, Result, SqlState};

/// Steps that a search may take.
const STEPS_MAX: usize = 2_000_000;

/// Where a match and its groups begin and end, in bytes.
pub type Spans = Vec<Option<(usize, usize)>>;

/// An expression that is matched by backtracking.
#[derive(Debug)]
pub(super) struct Backtracker {
    node: Node,
    groups: usize,
    flags: Flags,
    /// The sets of the expression, which match a single character.
    sets: HashMap<String, Regex>,
}

impl Backtracker {
    /// Prepares an expression; `None` if one of its sets cannot be read.
    pub(super) fn new(node: Node, groups: usize, flags: Flags) -> Option<Self> {
        let mut sets = HashMap::new();
        collect(&node, flags, &mut sets)?;
        Some(Self { node, groups, flags, sets })
    }

    /// The first match from a place on.
    ///
    /// # Errors
    /// 54000: it takes too many steps.
    pub(super) fn find_at(&self, text: &str, from: usize) -> Result<Option<Spans>> {
        let mut search =
            Search { of: self, text, spans: vec![None; self.groups + 1], steps: 0, is_over: false };
        let starts = (from..=text.len()).filter(|at| text.is_char_boundary(*at));
        for start in starts {
            search.spans.fill(None);
            let mut end = None;
            let found = search.walk(&self.node, start, &mut |_, at| {
                end = Some(at);
                true
            });
            if search.is_over {
                let message = "regular expression takes too long";
                let hint = "Back references and lookaround are matched by trial.";
                return Err(Error::new(SqlState::ProgramLimitExceeded, message).with_hint(hint));
            }
            if found {
                search.spans[0] = end.map(|end| (start, end));
                return Ok(Some(search.spans));
            }
        }
        Ok(None)
    }
}

fn collect(node: &Node, flags: Flags, sets: &mut HashMap<String, Regex>) -> Option<()> {
    match node {
        Node::Set { members, is_negated } => {
            let set = translate::set(members, *is_negated, flags);
            let case = if flags.ignores_case { "(?i)" } else { "" };
            let compiled = Regex::new(&format!(r"{case}\A{set}\z")).ok()?;
            sets.insert(set, compiled);
        }
        Node::Sequence(nodes) | Node::Choice(nodes) => {
            nodes.iter().try_for_each(|node| collect(node, flags, sets))?;
        }
        Node::Repeat { node, .. } | Node::Group(node, _) | Node::Look { node, .. } => {
            collect(node, flags, sets)?;
        }
        _ => (),
    }
    Some(())
}

/// What happens after a part has matched up to a place; it says whether the rest matches.
type Then<'t, 's> = &'t mut dyn FnMut(&mut Search<'s>, usize) -> bool;

struct Search<'s> {
    of: &'s Backtracker,
    text: &'s str,
    spans: Spans,
    steps: usize,
    is_over: bool,
}

impl<'s> Search<'s> {
    fn walk(&mut self, node: &'s Node, at: usize, then: Then<'_, 's>) -> bool {
        self.steps += 1;
        self.is_over |= self.steps > STEPS_MAX;
        if self.is_over {
            return false;
        }
        match node {
            Node::Empty => then(self, at),
            Node::Character(_) | Node::Any | Node::Set { .. } => match self.one(node, at) {
                Some(next) => then(self, next),
                None => false,
            },
            Node::Place(place) => self.is_at(*place, at) && then(self, at),
            Node::Sequence(nodes) => self.sequence(nodes, at, then),
            Node::Choice(branches) => branches.iter().any(|branch| self.walk(branch, at, then)),
            Node::Group(node, None) => self.walk(node, at, then),
            Node::Group(node, Some(number)) => {
                let before = self.spans[*number];
                let found = self.walk(node, at, &mut |search, end| {
                    let inner = search.spans[*number].replace((at, end));
                    let found = then(search, end);
                    if !found {
                        search.spans[*number] = inner;
                    }
                    found
                });
                if !found {
                    self.spans[*number] = before;
                }
                found
            }
            Node::Repeat { node, least, most, is_lazy, .. } => {
                self.repeat(node, (*least, *most, *is_lazy), 0, at, then)
            }
            Node::Back(number) => {
                let Some((start, end)) = self.spans[*number] else { return false };
                match self.repeated_text(start, end, at) {
                    Some(next) => then(self, next),
                    None => false,
                }
            }
            Node::Look { node, is_ahead, is_negated } => {
                let found = if *is_ahead {
                    self.walk(node, at, &mut |_, _| true)
                } else {
                    let starts: Vec<usize> =
                        (0..=at).rev().filter(|at| self.text.is_char_boundary(*at)).collect();
                    starts.into_iter().any(|start| self.walk(node, start, &mut |_, end| end == at))
                };
                found != *is_negated && then(self, at)
            }
        }
    }

    fn sequence(&mut self, nodes: &'s [Node], at: usize, then: Then<'_, 's>) -> bool {
        match nodes.split_first() {
            None => then(self, at),
            Some((first, rest)) => {
                self.walk(first, at, &mut |search, next| search.sequence(rest, next, then))
            }
        }
    }

    fn repeat(
        &mut self,
        node: &'s Node,
        (least, most, is_lazy): (u32, Option<u32>, bool),
        done: u32,
        at: usize,
        then: Then<'_, 's>,
    ) -> bool {
        let bounds = (least, most, is_lazy);
        if matches!(node, Node::Character(_) | Node::Any | Node::Set { .. }) {
            return self.repeat_one(node, bounds, at, then);
        }
        if done >= least && is_lazy && then(self, at) {
            return true;
        }
        let goes_on = most.is_none_or(|most| done < most);
        let found = goes_on
            && self.walk(node, at, &mut |search, next| {
                // An empty round brings nothing new.
                (next > at || done < least) && search.repeat(node, bounds, done + 1, next, then)
            });
        // The group of a first round that is empty has matched, to which back references may refer.
        let may_be_empty = done == 0 && least == 0 && goes_on;
        found
            || (done >= least && !is_lazy && then(self, at))
            || (may_be_empty
                && self.walk(node, at, &mut |search, next| next == at && then(search, next)))
    }

    /// Repeats a single character without a level of recursion for each.
    fn repeat_one(
        &mut self,
        node: &'s Node,
        (least, most, is_lazy): (u32, Option<u32>, bool),
        at: usize,
        then: Then<'_, 's>,
    ) -> bool {
        let mut ends = vec![at];
        let mut end = at;
        while most.is_none_or(|most| ends.len() <= most as usize) {
            let Some(next) = self.one(node, end) else { break };
            ends.push(next);
            end = next;
        }
        self.steps += ends.len();
        let enough = ends.get(least as usize..).unwrap_or_default();
        if is_lazy {
            enough.iter().any(|end| then(self, *end))
        } else {
            enough.iter().rev().any(|end| then(self, *end))
        }
    }

    /// The end of one character that matches.
    fn one(&self, node: &Node, at: usize) -> Option<usize> {
        let next = self.text[at..].chars().next()?;
        let flags = self.of.flags;
        let matches = match node {
            Node::Character(wanted) => *wanted == next || flags.ignores_case && same(*wanted, next),
            Node::Any => next != '\n' || !flags.stops_at_lines,
            Node::Set { members, is_negated } => {
                let set = self.of.sets.get(&translate::set(members, *is_negated, flags))?;
                set.is_match(next.encode_utf8(&mut [0; 4]))
            }
            _ => false,
        };
        matches.then(|| at + next.len_utf8())
    }

    fn repeated_text(&self, start: usize, end: usize, at: usize) -> Option<usize> {
        let (wanted, rest) = (&self.text[start..end], &self.text[at..]);
        if rest.starts_with(wanted) {
            return Some(at + wanted.len());
        }
        if !self.of.flags.ignores_case {
            return None;
        }
        let mut next = rest.chars();
        let is_same =
            wanted.chars().all(|wanted| next.next().is_some_and(|next| same(wanted, next)));
        is_same.then(|| self.text.len() - next.as_str().len())
    }

    fn is_at(&self, place: Place, at: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        let after = self.text[at..].chars().next();
        let is_word =
            |next: Option<char>| next.is_some_and(|next| next.is_alphanumeric() || next == '_');
        let has_lines = self.of.flags.has_lines;
        match place {
            Place::Start => before.is_none() || has_lines && before == Some('\n'),
            Place::End => after.is_none() || has_lines && after == Some('\n'),
            Place::TextStart => before.is_none(),
            Place::TextEnd => after.is_none(),
            Place::WordStart => !is_word(before) && is_word(after),
            Place::WordEnd => is_word(before) && !is_word(after),
            Place::WordBoundary => is_word(before) != is_word(after),
            Place::NoWordBoundary => is_word(before) == is_word(after),
        }
    }
}

fn same(left: char, right: char) -> bool {
    left.to_lowercase().eq(right.to_lowercase())
}
