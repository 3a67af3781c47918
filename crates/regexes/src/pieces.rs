//! A tree cut into pieces, as PostgreSQL decides what the parts of a match are.
//!
//! A match is known as a whole before its groups are. What has no groups, and prefers either long or short matches, is
//! one piece, whatever its parts match. Two pieces in sequence are cut where the first one prefers it.

use super::syntax::Node;
use std::ops::Range;

/// A part of an expression.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) part: Part,
    /// A number of its own.
    pub(super) id: usize,
    /// The group that it is.
    pub(super) group: Option<usize>,
    /// The groups that it has, itself among them.
    pub(super) groups: Range<usize>,
    /// Whether it prefers long matches, or short ones.
    pub(super) prefers_long: Option<bool>,
    /// Whether some of its parts prefer long matches and others short ones.
    is_mixed: bool,
    pub(super) has_back: bool,
}

#[derive(Debug)]
pub(super) enum Part {
    /// Nodes one after the other, whose parts do not matter.
    Plain(Vec<Node>),
    /// A group that is all of another group.
    Only(Box<Piece>),
    Sequence(Box<[Piece; 2]>),
    Choice(Vec<Piece>),
    Repeat {
        piece: Box<Piece>,
        least: u32,
        most: Option<u32>,
    },
    /// What a group matched, several times. The nodes are the group's.
    Back {
        group: usize,
        nodes: Vec<Node>,
        least: u32,
        most: Option<u32>,
    },
}

/// Cuts trees.
#[derive(Debug)]
struct Cutter<'n> {
    /// The node of the whole expression.
    root: &'n Node,
    pieces: usize,
    /// The number of the next group.
    next_group: usize,
}

/// The pieces of an expression.
pub(super) fn pieces_of(root: &Node) -> Piece {
    Cutter { root, pieces: 0, next_group: 1 }.piece(root)
}

/// How an atom is repeated: the bounds, and whether it prefers to be long.
type Repetition = (u32, Option<u32>, Option<bool>);

impl Cutter<'_> {
    fn made(&mut self, part: Part, inner: &[&Piece], prefers_long: Option<bool>) -> Piece {
        self.pieces += 1;
        let first = inner.iter().map(|piece| piece.groups.start).min().unwrap_or(self.next_group);
        let end = inner.iter().map(|piece| piece.groups.end).max().unwrap_or(self.next_group);
        let preferences = inner.iter().map(|piece| piece.prefers_long).chain([prefers_long]);
        let has_back = matches!(part, Part::Back { .. });
        Piece {
            part,
            id: self.pieces,
            group: None,
            groups: first..end,
            prefers_long,
            is_mixed: inner.iter().any(|piece| piece.is_mixed) || are_mixed(preferences),
            has_back: has_back || inner.iter().any(|piece| piece.has_back),
        }
    }

    fn piece(&mut self, node: &Node) -> Piece {
        match node {
            Node::Group(inner, None) => self.piece(inner),
            Node::Group(inner, Some(number)) => {
                self.next_group = number + 1;
                let mut piece = self.piece(inner);
                if piece.group.is_some() {
                    let prefers_long = piece.prefers_long;
                    let only = Part::Only(Box::new(piece));
                    piece = self.made(only, &[], prefers_long);
                    self.inherit(&mut piece);
                }
                piece.group = Some(*number);
                piece.groups = *number..self.next_group;
                piece
            }
            Node::Choice(branches) => {
                let pieces: Vec<Piece> = branches.iter().map(|branch| self.piece(branch)).collect();
                let inner: Vec<&Piece> = pieces.iter().collect();
                let mut choice = self.made(Part::Plain(Vec::new()), &inner, Some(true));
                choice.part = match choice.is_messy() {
                    true => Part::Choice(pieces),
                    false => Part::Plain(vec![node.clone()]),
                };
                choice
            }
            Node::Sequence(nodes) => self.branch(nodes),
            node => self.branch(std::slice::from_ref(node)),
        }
    }

    /// What a group around a group has from it.
    fn inherit(&self, piece: &mut Piece) {
        if let Part::Only(inner) = &piece.part {
            (piece.is_mixed, piece.has_back) = (inner.is_mixed, inner.has_back);
        }
    }

    /// A sequence: what may be one piece before the first atom that may not, that atom, and the rest.
    fn branch(&mut self, nodes: &[Node]) -> Piece {
        let mut before = Vec::new();
        let mut prefers_long = None;
        for (index, node) in nodes.iter().enumerate() {
            let (atom, repetition) = repetition(node);
            if repetition.1 == Some(0) {
                self.skip_groups(atom);
                continue;
            }
            let piece = match atom {
                Node::Back(group) => self.back(*group, repetition),
                Node::Character(_)
                | Node::Any
                | Node::Set { .. }
                | Node::Place(_)
                | Node::Look { .. }
                | Node::Empty => self.made(Part::Plain(vec![atom.clone()]), &[], None),
                atom => self.piece(atom),
            };
            let preferences = [prefers_long, repetition.2, piece.prefers_long];
            if !piece.is_messy() && !are_mixed(preferences.into_iter()) {
                before.push(node.clone());
                prefers_long = preferences.into_iter().flatten().next();
                continue;
            }
            let atom = self.repeated(piece, atom, repetition);
            let rest = nodes.get(index + 1..).filter(|rest| !rest.is_empty());
            let rest = rest.map(|rest| self.branch(rest));
            let all = match rest {
                Some(rest) => self.sequence(atom, rest),
                None => atom,
            };
            if before.is_empty() {
                return all;
            }
            let before = self.made(Part::Plain(before), &[], prefers_long);
            return self.sequence(before, all);
        }
        self.made(Part::Plain(before), &[], prefers_long)
    }

    fn sequence(&mut self, first: Piece, second: Piece) -> Piece {
        let prefers_long = first.prefers_long.or(second.prefers_long);
        let mut sequence = self.made(Part::Plain(Vec::new()), &[&first, &second], prefers_long);
        sequence.part = Part::Sequence(Box::new([first, second]));
        sequence
    }

    /// An atom with its repetition. Of several rounds only the last one matters.
    fn repeated(&mut self, piece: Piece, atom: &Node, (least, most, prefers): Repetition) -> Piece {
        let prefers_long = prefers.or(piece.prefers_long);
        let is_same =
            prefers.is_none() || piece.prefers_long.is_none_or(|long| Some(long) == prefers);
        let is_once = (least, most) == (1, Some(1)) && is_same;
        if matches!(atom, Node::Back(_)) || is_once {
            return piece;
        }
        let again = |least, most| Node::Repeat {
            node: Box::new(atom.clone()),
            least,
            most,
            is_lazy: prefers_long == Some(false),
            is_fixed: false,
        };
        if piece.groups.is_empty() && !piece.has_back {
            return self.made(Part::Plain(vec![again(least, most)]), &[], prefers_long);
        }
        if least > 0 && !piece.has_back {
            let before = vec![again(least - 1, most.map(|most| most - 1))];
            let before = self.made(Part::Plain(before), &[], prefers_long);
            let mut all = self.sequence(before, piece);
            all.prefers_long = prefers_long;
            return all;
        }
        let mut repeat = self.made(Part::Plain(Vec::new()), &[&piece], prefers_long);
        repeat.part = Part::Repeat { piece: Box::new(piece), least, most };
        repeat
    }

    fn back(&mut self, group: usize, (least, most, prefers_long): Repetition) -> Piece {
        let nodes = find_group(self.root, group).into_iter().cloned().collect();
        self.made(Part::Back { group, nodes, least, most }, &[], prefers_long)
    }

    /// Counts the groups of a node that never matches.
    fn skip_groups(&mut self, node: &Node) {
        match node {
            Node::Group(inner, number) => {
                self.next_group = number.map_or(self.next_group, |number| number + 1);
                self.skip_groups(inner);
            }
            Node::Sequence(nodes) | Node::Choice(nodes) => {
                nodes.iter().for_each(|node| self.skip_groups(node));
            }
            Node::Repeat { node, .. } | Node::Look { node, .. } => self.skip_groups(node),
            _ => (),
        }
    }
}

impl Piece {
    /// Whether it matters what its parts match.
    fn is_messy(&self) -> bool {
        self.is_mixed || self.has_back || !self.groups.is_empty()
    }
}

/// A node and how it is repeated.
fn repetition(node: &Node) -> (&Node, Repetition) {
    match node {
        Node::Repeat { node, least, most, is_lazy, is_fixed } => {
            (node, (*least, *most, (!is_fixed).then_some(!is_lazy)))
        }
        node => (node, (1, Some(1), None)),
    }
}

fn are_mixed(preferences: impl Iterator<Item = Option<bool>>) -> bool {
    let (mut long, mut short) = (false, false);
    for preference in preferences.flatten() {
        (long, short) = (long | preference, short | !preference);
    }
    long && short
}

fn find_group(node: &Node, wanted: usize) -> Option<&Node> {
    match node {
        Node::Group(inner, number) if *number == Some(wanted) => Some(inner),
        Node::Sequence(nodes) | Node::Choice(nodes) => {
            nodes.iter().find_map(|node| find_group(node, wanted))
        }
        Node::Repeat { node, .. } | Node::Look { node, .. } | Node::Group(node, _) => {
            find_group(node, wanted)
        }
        _ => None,
    }
}
