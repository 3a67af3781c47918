//! The ways in which a tree becomes simpler: a clause is absent, a part is replaced by a simpler one of its kind, a list
//! or a nest is shorter.

use crate::tree::{Kind, Node};

/// One simplification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The indices of parts from the root to the part that changes.
    path: Vec<usize>,
    change: Change,
    /// By how many bytes the text gets shorter.
    pub(crate) gain: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    /// This text replaces the part.
    Text(String),
    /// The part below it at this path replaces the part.
    Hoist(Vec<usize>),
    /// The parts of a list from here on, so many, are absent.
    Remove(usize, usize),
    /// A nest has so many brackets.
    Times(usize),
}

/// How many descendants may replace a part.
const HOISTS_MAX: usize = 12;

/// All simplifications of a tree, those that gain most first.
pub(crate) fn edits(root: &Node) -> Vec<Edit> {
    let mut edits = Vec::new();
    collect(root, &mut Vec::new(), &mut edits);
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.gain));
    edits
}

fn collect(node: &Node, path: &mut Vec<usize>, edits: &mut Vec<Edit>) {
    let bytes = node.bytes();
    let mut add = |change, left: usize| {
        if left < bytes {
            edits.push(Edit { path: path.clone(), change, gain: bytes - left });
        }
    };
    match node {
        Node::Text(_) => {}
        Node::Group { kind, .. } => {
            for text in kind.simplest() {
                let left = text.len();
                add(Change::Text(text), left);
            }
            let mut found = Vec::new();
            same_kind(node, *kind, &mut Vec::new(), &mut found);
            for (path, left) in found {
                add(Change::Hoist(path), left);
            }
        }
        Node::List { parts, least, .. } => {
            let mut size = parts.len().saturating_sub(*least);
            while size > 0 {
                for start in (0..parts.len()).step_by(size) {
                    let end = (start + size).min(parts.len());
                    if parts.len() - (end - start) >= *least {
                        let removed: usize = parts[start..end].iter().map(Node::bytes).sum();
                        add(Change::Remove(start, end), bytes - removed.max(1).min(bytes));
                    }
                }
                size /= 2;
            }
        }
        Node::Nest { times, open, close, body } => {
            let brackets = open.len() + close.len();
            for fewer in [0, times / 8, times / 2, times * 3 / 4, times.saturating_sub(1)] {
                add(Change::Times(fewer), body.bytes() + fewer * brackets);
            }
        }
    }
    for (index, part) in node.parts().iter().enumerate() {
        path.push(index);
        collect(part, path, edits);
        path.pop();
    }
}

/// The highest descendants of a kind, and those directly below them.
fn same_kind(node: &Node, kind: Kind, path: &mut Vec<usize>, found: &mut Vec<(Vec<usize>, usize)>) {
    if matches!(kind, Kind::Fixed | Kind::Clause) {
        return;
    }
    for (index, part) in node.parts().iter().enumerate() {
        if found.len() == HOISTS_MAX {
            return;
        }
        path.push(index);
        if matches!(part, Node::Group { kind: other, .. } if *other == kind) {
            found.push((path.clone(), part.bytes()));
        }
        same_kind(part, kind, path, found);
        path.pop();
    }
}

/// The tree after a simplification.
pub(crate) fn apply(root: &Node, edit: &Edit) -> Node {
    let mut simpler = root.clone();
    let mut node = &mut simpler;
    for index in &edit.path {
        node = &mut node.parts_mut()[*index];
    }
    match &edit.change {
        Change::Text(text) => *node = Node::text(text.as_str()),
        Change::Hoist(path) => {
            let below = path.iter().fold(&*node, |node, index| &node.parts()[*index]);
            *node = below.clone();
        }
        Change::Remove(start, end) => {
            if let Node::List { parts, .. } = node {
                parts.drain(*start..*end);
            }
        }
        Change::Times(fewer) => {
            if let Node::Nest { times, .. } = node {
                *times = *fewer;
            }
        }
    }
    simpler
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Type;

    /// The smallest tree that keeps a word.
    fn reduced(mut tree: Node, word: &str) -> String {
        while let Some(simpler) = edits(&tree)
            .iter()
            .map(|edit| apply(&tree, edit))
            .find(|simpler| simpler.to_string().contains(word))
        {
            tree = simpler;
        }
        tree.to_string()
    }

    #[test]
    fn only_what_is_needed_is_left() {
        let int = Kind::Expression(Type::Int);
        let number = |text: &str| Node::group(int, vec![Node::text(text)]);
        let bad = Node::form(int, "bad({})", [number("12345")]);
        let sum = Node::form(int, "({} + {})", [number("777"), bad]);
        let list = Node::commas(vec![number("888"), sum, number("999")]);
        let clause = Node::clause(" WHERE {}", [number("555")]);
        let tree = Node::form(Kind::Query(1), "SELECT {} FROM t{}", [list, clause]);
        assert_eq!(reduced(tree, "bad("), "SELECT bad(1) FROM t");
    }

    #[test]
    fn nests_get_shallower() {
        let body = Box::new(Node::text("1"));
        let nest = Node::Nest { open: "(".into(), close: ")".into(), times: 1000, body };
        assert_eq!(reduced(nest, "((((("), "(((((1)))))");
    }
}
