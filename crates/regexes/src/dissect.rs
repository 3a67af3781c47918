//! What the groups of a match are, decided as PostgreSQL does, and matches with back references and lookaround.
//!
//! Whether a part of the text can belong to a piece is known from where the piece may end. A back reference may end where
//! its group might; whether it is the group's text is seen when the match is taken apart.

use super::ends::{Searched, Sets};
use super::flags::Flags;
use super::pieces::{Part, Piece, pieces_of};
use super::syntax::Node;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use values::error::{Error, Result, SqlState};

/// Where a match and its groups begin and end, in bytes.
pub type Spans = Vec<Option<(usize, usize)>>;

/// An expression whose matches are taken apart.
#[derive(Debug)]
pub(super) struct Dissector {
    root: Piece,
    groups: usize,
    sets: Sets,
}

impl Dissector {
    /// Prepares an expression; `None` if one of its sets cannot be read.
    pub(super) fn new(node: &Node, groups: usize, flags: Flags) -> Option<Self> {
        Some(Self { root: pieces_of(node), groups, sets: Sets::of(node, flags)? })
    }

    /// A match with its groups, of which the whole is known; `None` if that takes too many steps.
    pub(super) fn groups_of(&self, text: &str, (start, end): (usize, usize)) -> Option<Spans> {
        let mut search = Search::new(self, text, end);
        let found = search.dissect(&self.root, start, end) && !search.searched.is_over();
        search.spans[0] = Some((start, end));
        found.then_some(search.spans)
    }

    /// Where the match ends that begins at a place; `None` if that takes too many steps.
    pub(super) fn end_at(&self, text: &str, start: usize) -> Option<usize> {
        let mut search = Search::new(self, text, text.len());
        let ends = search.ends(&self.root, start);
        let end = in_order(&ends, self.root.prefers_long != Some(false)).next();
        end.filter(|_| !search.searched.is_over())
    }

    /// The first match from a place on.
    ///
    /// # Errors
    /// 54000: it takes too many steps.
    pub(super) fn find_at(&self, text: &str, from: usize) -> Result<Option<Spans>> {
        let mut search = Search::new(self, text, text.len());
        for start in (from..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let ends = search.ends(&self.root, start);
            let prefers_long = self.root.prefers_long != Some(false);
            let found = in_order(&ends, prefers_long).find(|end| {
                search.spans.fill(None);
                search.dissect(&self.root, start, *end)
            });
            if search.searched.is_over() {
                let message = "regular expression takes too long";
                let hint = "Back references and lookaround are matched by trial.";
                return Err(Error::new(SqlState::ProgramLimitExceeded, message).with_hint(hint));
            }
            if let Some(end) = found {
                search.spans[0] = Some((start, end));
                return Ok(Some(search.spans));
            }
        }
        Ok(None)
    }
}

/// Places in the order in which they are preferred.
fn in_order(ends: &[usize], prefers_long: bool) -> impl Iterator<Item = usize> + use<'_> {
    let count = ends.len();
    (0..count).map(move |n| if prefers_long { ends[count - 1 - n] } else { ends[n] })
}

struct Search<'s> {
    searched: Searched<'s>,
    spans: Spans,
    /// Where pieces end that begin at a place, in order.
    known: HashMap<(usize, usize), Rc<[usize]>>,
}

impl<'s> Search<'s> {
    fn new(of: &'s Dissector, text: &'s str, limit: usize) -> Self {
        Self {
            searched: Searched::new(&of.sets, text, limit),
            spans: vec![None; of.groups + 1],
            known: HashMap::new(),
        }
    }

    /// Where a piece ends that begins at a place.
    fn ends(&mut self, piece: &Piece, from: usize) -> Rc<[usize]> {
        if let Some(known) = self.known.get(&(piece.id, from)) {
            return Rc::clone(known);
        }
        let ends = match &piece.part {
            Part::Plain(nodes) => self.searched.sequence(nodes, from),
            Part::Only(inner) => self.ends(inner, from).to_vec(),
            Part::Sequence(pieces) => {
                let middles = self.ends(&pieces[0], from);
                self.all(&middles, &pieces[1])
            }
            Part::Choice(pieces) => {
                let ends = pieces.iter().map(|piece| self.ends(piece, from));
                sorted(
                    ends.collect::<Vec<_>>().iter().flat_map(|ends| ends.iter().copied()).collect(),
                )
            }
            Part::Repeat { piece, least, most } => self.rounds(piece, (*least, *most), from),
            Part::Back { nodes, least, most, .. } => {
                self.searched
                    .rounds((*least, *most), from, |searched, from| searched.sequence(nodes, from))
            }
        };
        let ends: Rc<[usize]> = ends.into();
        self.known.insert((piece.id, from), Rc::clone(&ends));
        ends
    }

    /// Where a piece ends that begins at one of several places.
    fn all(&mut self, starts: &[usize], piece: &Piece) -> Vec<usize> {
        let mut all = Vec::new();
        for start in starts {
            all.extend(self.ends(piece, *start).iter());
        }
        self.searched.count(all.len());
        sorted(all)
    }

    fn rounds(
        &mut self,
        piece: &Piece,
        (least, most): (u32, Option<u32>),
        from: usize,
    ) -> Vec<usize> {
        let mut found = Vec::new();
        let mut last = vec![from];
        let mut done = 0;
        while !last.is_empty() && !self.searched.is_over() {
            if done >= least {
                last.retain(|end| !found.contains(end));
                found.extend(&last);
            }
            if most.is_some_and(|most| done >= most) {
                break;
            }
            last = self.all(&last, piece);
            done += 1;
        }
        sorted(found)
    }

    fn is_match(&mut self, piece: &Piece, start: usize, end: usize) -> bool {
        self.ends(piece, start).binary_search(&end).is_ok()
    }

    /// Takes a part of the text apart that a piece may match; returns whether it does.
    fn dissect(&mut self, piece: &Piece, start: usize, end: usize) -> bool {
        self.searched.count(1);
        if self.searched.is_over() {
            return false;
        }
        for group in piece.groups.clone() {
            self.spans[group] = None;
        }
        let found = match &piece.part {
            Part::Plain(_) => true,
            Part::Only(inner) => self.dissect(inner, start, end),
            Part::Sequence(pieces) => {
                let [first, second] = &**pieces;
                let middles = self.ends(first, start);
                in_order(&middles, first.prefers_long != Some(false)).any(|middle| {
                    self.is_match(second, middle, end)
                        && self.dissect(first, start, middle)
                        && self.dissect(second, middle, end)
                })
            }
            Part::Choice(pieces) => pieces
                .iter()
                .any(|piece| self.is_match(piece, start, end) && self.dissect(piece, start, end)),
            Part::Repeat { piece, least, most } => {
                self.repetition(piece, (*least, *most), start, end)
            }
            Part::Back { group, least, most, .. } => {
                let group = self.spans[*group];
                group.is_some_and(|group| self.is_repeated(group, (*least, *most), start, end))
            }
        };
        if !found {
            // What a part has matched on the way is not to be repeated by others.
            for group in piece.groups.clone() {
                self.spans[group] = None;
            }
        } else if let Some(group) = piece.group {
            self.spans[group] = Some((start, end));
        }
        found
    }

    /// Cuts a part of the text into rounds of a piece. Of what its groups match the last round counts.
    fn repetition(
        &mut self,
        piece: &Piece,
        (least, most): (u32, Option<u32>),
        start: usize,
        end: usize,
    ) -> bool {
        let prefers_long = piece.prefers_long != Some(false);
        let may_be_none = least == 0 && start == end;
        if may_be_none && !prefers_long {
            return true;
        }
        let least = least.max(1) as usize;
        let most = most.map_or(usize::MAX, |most| most as usize).max(least);
        // Where each round begins, and where it may still end, the preferred place last.
        let mut rounds: Vec<(usize, Vec<usize>)> = Vec::new();
        // Rounds and a place from which the end is not reached.
        let mut futile: HashSet<(usize, usize)> = HashSet::new();
        let mut at = start;
        loop {
            let done = rounds.len();
            if at == end && done >= least && self.are_rounds(piece, &rounds, end) {
                return true;
            }
            if done < most && !futile.contains(&(done, at)) {
                let left = self.searched.text.get(at..end).map_or(0, |text| text.chars().count());
                let may_be_empty =
                    start == end && done == 0 || done + 1 < least && least - done > left;
                let mut ends = self.ends(piece, at).to_vec();
                ends.retain(|next| *next <= end && (*next > at || may_be_empty));
                if !prefers_long {
                    ends.reverse();
                }
                rounds.push((at, ends));
            }
            loop {
                let Some((before, ends)) = rounds.last_mut() else { return may_be_none };
                if let Some(next) = ends.pop() {
                    at = next;
                    break;
                }
                let before = *before;
                rounds.pop();
                if !piece.has_back {
                    futile.insert((rounds.len(), before));
                }
            }
            self.searched.count(1);
            if self.searched.is_over() {
                return false;
            }
        }
    }

    /// Takes each round apart; the last one ends at a place.
    fn are_rounds(&mut self, piece: &Piece, rounds: &[(usize, Vec<usize>)], end: usize) -> bool {
        let ends = rounds.iter().skip(1).map(|(start, _)| *start).chain([end]);
        let rounds: Vec<(usize, usize)> =
            rounds.iter().map(|(start, _)| *start).zip(ends).collect();
        // Without back references only the groups of the last round matter.
        let first = if piece.has_back { 0 } else { rounds.len().saturating_sub(1) };
        rounds.iter().skip(first).all(|(start, end)| self.dissect(piece, *start, *end))
    }

    /// Whether a part of the text is a group's text, several times.
    fn is_repeated(
        &self,
        (first, last): (usize, usize),
        (least, most): (u32, Option<u32>),
        start: usize,
        end: usize,
    ) -> bool {
        let text = self.searched.text;
        let (Some(group), Some(mut rest)) = (text.get(first..last), text.get(start..end)) else {
            return false;
        };
        if group.is_empty() || rest.is_empty() {
            return rest.is_empty() && (group.is_empty() || least == 0);
        }
        let count = group.chars().count();
        let mut rounds = 0;
        while !rest.is_empty() {
            let length = rest.char_indices().nth(count).map_or(rest.len(), |(at, _)| at);
            let (round, after) = rest.split_at(length);
            if !self.searched.is_same(group, round) {
                return false;
            }
            (rounds, rest) = (rounds + 1, after);
        }
        rounds >= least && most.is_none_or(|most| rounds <= most)
    }
}

fn sorted(mut ends: Vec<usize>) -> Vec<usize> {
    ends.sort_unstable();
    ends.dedup();
    ends
}
