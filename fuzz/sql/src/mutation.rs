//! Damage to valid statements, token by token, for the parser.

use crate::random::Random;
use crate::script::Step;
use crate::tokens;
use crate::tree::Node;

/// Tokens to insert.
const FOREIGN: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    "'",
    "\"",
    "$1",
    "$$",
    "--",
    "/*",
    "*/",
    "::",
    ".",
    "*",
    "+",
    "-",
    "=",
    "<>",
    "->",
    "||",
    "SELECT",
    "FROM",
    "WHERE",
    "AND",
    "NOT",
    "IN",
    "AS",
    "UNION",
    "WITH",
    "VALUES",
    "NULL",
    "CASE",
    "END",
    "OVER",
    "LATERAL",
    "ORDER BY",
    "LIMIT",
    "0x",
    "1e",
    "99999999999999999999999",
    "E'\\",
    "U&'\\",
    "\u{feff}",
    "é",
    "😀",
    "ARRAY",
    "INTERVAL",
    "CAST",
    "EXISTS",
    "ALL",
    "ROW",
    "USING",
    "@",
    "#",
    "?",
    "~",
    "!",
    "%",
    "^",
    "&",
    "|",
    "{",
    "}",
    "\\",
    "`",
];

/// Damages the text of a step at a few places.
pub(crate) fn damage(random: &mut Random, mut step: Step) -> Step {
    let text = step.node.to_string();
    let mut tokens: Vec<String> = tokens::split(&text).map(str::to_owned).collect();
    for _ in 0..=random.below(3) {
        if tokens.is_empty() {
            break;
        }
        let at = random.below(tokens.len());
        let other = random.below(tokens.len());
        match random.below(7) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[other].clone()),
            2 => tokens.swap(at, other),
            3 => tokens.insert(at, format!(" {} ", random.pick(FOREIGN))),
            4 => tokens[at] = (*random.pick(FOREIGN)).to_owned(),
            5 => tokens.truncate(at + 1),
            _ => {
                let end = (at + random.within(1..=8)).min(tokens.len());
                let part = tokens[at..end].to_vec();
                tokens.splice(other..other, part);
            }
        }
    }
    let parts = tokens.into_iter().map(Node::Text).collect();
    step.label = "damaged";
    step.node = Node::List { parts, separator: "", least: 1 };
    step
}
