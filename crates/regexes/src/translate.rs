//! Trees as the syntax of the crate `regex`.

use super::escapes::push;
use super::flags::Flags;
use super::syntax::{Node, Place};

/// The tree as text; `None` if it has back references or lookaround.
pub(super) fn translate(node: &Node, flags: Flags) -> Option<String> {
    let mut out = String::from(if flags.ignores_case { "(?i)" } else { "" });
    write(node, flags, &mut out).then_some(out)
}

/// A set as `regex` writes it.
pub(super) fn set(members: &str, is_negated: bool, flags: Flags) -> String {
    let line = if flags.stops_at_lines { r"\n" } else { "" };
    match (members.is_empty(), is_negated) {
        (_, true) => format!("[^{members}{line}]"),
        (true, false) => r"[^\s\S]".to_owned(),
        (false, false) => format!("[{members}]"),
    }
}

/// Any character as `regex` writes it.
pub(super) fn any(flags: Flags) -> &'static str {
    if flags.stops_at_lines { r"[^\n]" } else { "(?s:.)" }
}

fn write(node: &Node, flags: Flags, out: &mut String) -> bool {
    match node {
        Node::Empty => out.push_str("(?:)"),
        Node::Character(character) => push(*character, out),
        Node::Any => out.push_str(any(flags)),
        Node::Set { members, is_negated } => out.push_str(&set(members, *is_negated, flags)),
        Node::Place(place) => out.push_str(match place {
            Place::Start if flags.has_lines => "(?m:^)",
            Place::End if flags.has_lines => "(?m:$)",
            Place::Start | Place::TextStart => r"\A",
            Place::End | Place::TextEnd => r"\z",
            Place::WordStart => r"\b{start}",
            Place::WordEnd => r"\b{end}",
            Place::WordBoundary => r"\b",
            Place::NoWordBoundary => r"\B",
        }),
        Node::Sequence(nodes) => return nodes.iter().all(|node| write(node, flags, out)),
        Node::Choice(branches) => {
            out.push_str("(?:");
            for (index, branch) in branches.iter().enumerate() {
                out.push_str(if index > 0 { "|" } else { "" });
                if !write(branch, flags, out) {
                    return false;
                }
            }
            out.push(')');
        }
        Node::Repeat { node, least, most, is_lazy, .. } => {
            out.push_str("(?:");
            let short = *is_lazy && *most == Some(1);
            if !(if short { write(&shortest(node), flags, out) } else { write(node, flags, out) }) {
                return false;
            }
            let bound = match most {
                Some(most) => format!("){{{least},{most}}}"),
                None => format!("){{{least},}}"),
            };
            out.push_str(&bound);
            out.push_str(if *is_lazy { "?" } else { "" });
        }
        Node::Group(node, number) => {
            out.push_str(if number.is_some() { "(" } else { "(?:" });
            if !write(node, flags, out) {
                return false;
            }
            out.push(')');
        }
        Node::Back(_) | Node::Look { .. } => return false,
    }
    true
}

/// The tree with repetitions that prefer short matches.
fn shortest(node: &Node) -> Node {
    match node {
        Node::Repeat { node, least, most, is_fixed, .. } => Node::Repeat {
            node: Box::new(shortest(node)),
            least: *least,
            most: *most,
            is_lazy: true,
            is_fixed: *is_fixed,
        },
        Node::Sequence(nodes) => Node::Sequence(nodes.iter().map(shortest).collect()),
        Node::Choice(nodes) => Node::Choice(nodes.iter().map(shortest).collect()),
        Node::Group(node, number) => Node::Group(Box::new(shortest(node)), *number),
        other => other.clone(),
    }
}

/// Whether the longest match may be another than the one that alternatives and repetitions prefer, or, if `of_groups`,
/// whether its groups may be others.
pub(super) fn has_preferences(node: &Node, of_groups: bool) -> bool {
    match node {
        Node::Choice(_) => true,
        Node::Repeat { node, is_lazy, most, .. } => {
            let is_single = matches!(**node, Node::Character(_) | Node::Any | Node::Set { .. });
            let has_groups = *most != Some(1) || may_be_empty(node) || has_preferences(node, true);
            *is_lazy || !is_single && (!of_groups || has_groups)
        }
        Node::Sequence(nodes) => nodes.iter().any(|node| has_preferences(node, of_groups)),
        Node::Group(node, _) => has_preferences(node, of_groups),
        _ => false,
    }
}

/// Whether a match is as long as possible: a choice is, and else the first repetition decides.
pub(super) fn prefers_long(node: &Node) -> Option<bool> {
    match node {
        Node::Choice(_) => Some(true),
        Node::Repeat { node, is_fixed: true, .. } => prefers_long(node),
        Node::Repeat { is_lazy, .. } => Some(!is_lazy),
        Node::Sequence(nodes) => nodes.iter().find_map(prefers_long),
        Node::Group(node, _) => prefers_long(node),
        _ => None,
    }
}

/// Whether a node may match no character.
fn may_be_empty(node: &Node) -> bool {
    match node {
        Node::Character(_) | Node::Any | Node::Set { .. } => false,
        Node::Empty | Node::Place(_) | Node::Look { .. } | Node::Back(_) => true,
        Node::Sequence(nodes) => nodes.iter().all(may_be_empty),
        Node::Choice(nodes) => nodes.iter().any(may_be_empty),
        Node::Repeat { node, least, .. } => *least == 0 || may_be_empty(node),
        Node::Group(node, _) => may_be_empty(node),
    }
}
