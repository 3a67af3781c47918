//! Where the texts that a tree matches end, whatever it prefers.

use super::flags::Flags;
use super::syntax::{Node, Place};
use super::translate;
use regex::Regex;
use std::collections::HashMap;

/// Steps that a search may take.
const STEPS_MAX: usize = 2_000_000;

/// The sets of an expression, which match a single character.
#[derive(Debug)]
pub(super) struct Sets {
    flags: Flags,
    compiled: HashMap<String, Regex>,
}

impl Sets {
    /// The sets of an expression; `None` if one of them cannot be read.
    pub(super) fn of(node: &Node, flags: Flags) -> Option<Self> {
        let mut sets = Self { flags, compiled: HashMap::new() };
        sets.collect(node)?;
        Some(sets)
    }

    fn collect(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Set { members, is_negated } => {
                let set = translate::set(members, *is_negated, self.flags);
                let case = if self.flags.ignores_case { "(?i)" } else { "" };
                let compiled = Regex::new(&format!(r"{case}\A{set}\z")).ok()?;
                self.compiled.insert(set, compiled);
            }
            Node::Sequence(nodes) | Node::Choice(nodes) => {
                nodes.iter().try_for_each(|node| self.collect(node))?;
            }
            Node::Repeat { node, .. } | Node::Group(node, _) | Node::Look { node, .. } => {
                self.collect(node)?;
            }
            _ => (),
        }
        Some(())
    }
}

/// A text in which matches are looked for.
pub(super) struct Searched<'s> {
    sets: &'s Sets,
    pub(super) text: &'s str,
    /// Where matches end at the latest.
    limit: usize,
    steps: usize,
}

impl<'s> Searched<'s> {
    pub(super) fn new(sets: &'s Sets, text: &'s str, limit: usize) -> Self {
        Self { sets, text, limit, steps: 0 }
    }

    /// Whether the search took too many steps; its results are not to be used then.
    pub(super) fn is_over(&self) -> bool {
        self.steps > STEPS_MAX
    }

    /// Counts steps that were taken elsewhere.
    pub(super) fn count(&mut self, steps: usize) {
        self.steps += steps;
    }

    /// Where matches of nodes in sequence end, in order.
    pub(super) fn sequence(&mut self, nodes: &[Node], from: usize) -> Vec<usize> {
        let mut ends = vec![from];
        for node in nodes {
            ends = self.all(&ends, |searched, from| searched.node(node, from));
        }
        ends
    }

    /// Where matches of something end that begin at one of several places, in order.
    pub(super) fn all(
        &mut self,
        starts: &[usize],
        mut ends: impl FnMut(&mut Self, usize) -> Vec<usize>,
    ) -> Vec<usize> {
        if let [start] = starts {
            return ends(self, *start);
        }
        let mut all: Vec<usize> = starts.iter().flat_map(|start| ends(self, *start)).collect();
        self.steps += all.len();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Where rounds of something end that begin at a place, in order.
    pub(super) fn rounds(
        &mut self,
        (least, most): (u32, Option<u32>),
        from: usize,
        mut ends: impl FnMut(&mut Self, usize) -> Vec<usize>,
    ) -> Vec<usize> {
        let mut found = Vec::new();
        let mut last = vec![from];
        let mut done = 0;
        while !last.is_empty() && !self.is_over() {
            if done >= least {
                // Places that are known have no new ones behind them.
                last.retain(|end| found.binary_search(end).is_err());
                found.extend(&last);
                found.sort_unstable();
            }
            if most.is_some_and(|most| done >= most) {
                break;
            }
            last = self.all(&last, &mut ends);
            done += 1;
        }
        found
    }

    fn node(&mut self, node: &Node, from: usize) -> Vec<usize> {
        self.steps += 1;
        if self.is_over() {
            return Vec::new();
        }
        let here = |is_there: bool| if is_there { vec![from] } else { Vec::new() };
        match node {
            Node::Empty => vec![from],
            Node::Character(_) | Node::Any | Node::Set { .. } => {
                self.one(node, from).into_iter().collect()
            }
            Node::Place(place) => here(self.is_at(*place, from)),
            Node::Sequence(nodes) => self.sequence(nodes, from),
            Node::Choice(branches) => {
                let mut ends: Vec<usize> =
                    branches.iter().flat_map(|branch| self.node(branch, from)).collect();
                ends.sort_unstable();
                ends.dedup();
                ends
            }
            Node::Group(node, _) => self.node(node, from),
            Node::Repeat { node, least, most, .. } => match **node {
                Node::Character(_) | Node::Any | Node::Set { .. } => {
                    self.characters(node, (*least, *most), from)
                }
                _ => self.rounds((*least, *most), from, |searched, from| searched.node(node, from)),
            },
            // Outside of pieces, which know the group.
            Node::Back(_) => Vec::new(),
            Node::Look { node, is_ahead, is_negated } => {
                let found =
                    if *is_ahead { self.is_before(node, from) } else { self.is_behind(node, from) };
                here(found != *is_negated)
            }
        }
    }

    /// Where repetitions of a single character end.
    fn characters(
        &mut self,
        node: &Node,
        (least, most): (u32, Option<u32>),
        from: usize,
    ) -> Vec<usize> {
        let mut ends = vec![from];
        let mut end = from;
        while most.is_none_or(|most| ends.len() <= most as usize) {
            let Some(next) = self.one(node, end) else { break };
            ends.push(next);
            end = next;
        }
        self.steps += ends.len();
        ends.drain(..ends.len().min(least as usize));
        ends
    }

    /// Whether a node matches from a place on, also behind the limit.
    fn is_before(&mut self, node: &Node, at: usize) -> bool {
        let limit = std::mem::replace(&mut self.limit, self.text.len());
        let found = !self.node(node, at).is_empty();
        self.limit = limit;
        found
    }

    /// Whether a node matches up to a place.
    fn is_behind(&mut self, node: &Node, at: usize) -> bool {
        let limit = std::mem::replace(&mut self.limit, at);
        let before = self.text.get(..at).unwrap_or_default();
        let starts = before.char_indices().rev().map(|(start, _)| start);
        let most = longest(node).unwrap_or(usize::MAX);
        let found = [at]
            .into_iter()
            .chain(starts)
            .take(most.saturating_add(1))
            .any(|start| self.node(node, start).contains(&at));
        self.limit = limit;
        found
    }

    /// The end of one character that matches.
    fn one(&self, node: &Node, at: usize) -> Option<usize> {
        let next = self.text.get(at..self.limit)?.chars().next()?;
        let flags = self.sets.flags;
        let matches = match node {
            Node::Character(wanted) => *wanted == next || flags.ignores_case && same(*wanted, next),
            Node::Any => next != '\n' || !flags.stops_at_lines,
            Node::Set { members, is_negated } => {
                let set = self.sets.compiled.get(&translate::set(members, *is_negated, flags))?;
                set.is_match(next.encode_utf8(&mut [0; 4]))
            }
            _ => false,
        };
        matches.then(|| at + next.len_utf8())
    }

    /// Whether two parts of the text are the same.
    pub(super) fn is_same(&self, left: &str, right: &str) -> bool {
        left == right
            || self.sets.flags.ignores_case
                && left.chars().count() == right.chars().count()
                && left.chars().zip(right.chars()).all(|(left, right)| same(left, right))
    }

    fn is_at(&self, place: Place, at: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        let after = self.text[at..].chars().next();
        let is_word =
            |next: Option<char>| next.is_some_and(|next| next.is_alphanumeric() || next == '_');
        let has_lines = self.sets.flags.has_lines;
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

/// The most characters that a node matches; `None` if there is no bound.
fn longest(node: &Node) -> Option<usize> {
    match node {
        Node::Character(_) | Node::Any | Node::Set { .. } => Some(1),
        Node::Empty | Node::Place(_) | Node::Look { .. } => Some(0),
        Node::Sequence(nodes) => nodes.iter().map(longest).sum(),
        Node::Choice(nodes) => {
            nodes.iter().map(longest).collect::<Option<Vec<_>>>()?.into_iter().max()
        }
        Node::Repeat { node, most, .. } => Some(longest(node)? * (*most)? as usize),
        Node::Group(node, _) => longest(node),
        Node::Back(_) => None,
    }
}

fn same(left: char, right: char) -> bool {
    left.to_lowercase().eq(right.to_lowercase())
}
