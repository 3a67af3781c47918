//! Options: a name with a value, as PostgreSQL's grammar has them in many statements.

use crate::names::texts;
use crate::{Error, Result};
use grammar::tree::a_const::Val;
use grammar::tree::{AConst, DefElem, Node, NodeEnum};

/// An option as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The name. Unquoted names are in lower case.
    pub name: String,
    /// The words of the value; none if there is no value.
    pub words: Vec<String>,
    /// The byte of the statement at which it begins, or -1.
    pub location: i32,
}

impl Given {
    /// The options of a list.
    pub(crate) fn all(nodes: &[Node]) -> Vec<Self> {
        elements(nodes).map(Self::of).collect()
    }

    fn of(element: &DefElem) -> Self {
        let words = element.arg.as_deref().map_or_else(Vec::new, words);
        let name = match element.defnamespace.as_str() {
            "" => element.defname.clone(),
            namespace => format!("{namespace}.{}", element.defname),
        };
        Self { name, words, location: element.location }
    }
}

/// The options of a list, as nodes.
pub(crate) fn elements(nodes: &[Node]) -> impl Iterator<Item = &DefElem> {
    nodes.iter().filter_map(|node| match &node.node {
        Some(NodeEnum::DefElem(element)) => Some(&**element),
        _ => None,
    })
}

/// The words of an option's value.
pub(crate) fn words(value: &Node) -> Vec<String> {
    match &value.node {
        Some(NodeEnum::List(list)) => list.items.iter().flat_map(words).collect(),
        Some(NodeEnum::AStar(_)) => vec!["*".to_owned()],
        // A name that is no constant.
        Some(NodeEnum::TypeName(name)) => {
            let parts: Vec<String> = texts(&name.names).iter().map(|part| quoted(part)).collect();
            vec![parts.join(".")]
        }
        Some(NodeEnum::RangeVar(range)) if !range.schemaname.is_empty() => {
            vec![format!("{}.{}", range.schemaname, range.relname)]
        }
        Some(NodeEnum::RangeVar(range)) => vec![range.relname.clone()],
        _ => text(value).into_iter().collect(),
    }
}

/// A name as it is written in SQL.
fn quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    match name.chars().all(|letter| is_plain(letter) || letter == '_') {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// The text of a constant or a word.
pub(crate) fn text(value: &Node) -> Option<String> {
    Some(match value.node.as_ref()? {
        NodeEnum::String(text) => text.sval.clone(),
        NodeEnum::Integer(number) => number.ival.to_string(),
        NodeEnum::Float(number) => number.fval.clone(),
        NodeEnum::Boolean(value) => value.boolval.to_string(),
        NodeEnum::AConst(constant) => return constant_text(constant),
        _ => return None,
    })
}

/// The text of a constant; `None` for NULL.
pub(crate) fn constant_text(constant: &AConst) -> Option<String> {
    Some(match constant.val.as_ref()? {
        Val::Sval(text) => text.sval.clone(),
        Val::Ival(number) => number.ival.to_string(),
        Val::Fval(number) => number.fval.clone(),
        Val::Boolval(value) => value.boolval.to_string(),
        Val::Bsval(bits) => bits.bsval.clone(),
    })
}

/// The whole number of an option; `None` if it has no value.
///
/// # Errors
/// 42601 for another value.
pub(crate) fn integer(element: &DefElem) -> Result<Option<i64>> {
    let Some(value) = element.arg.as_deref() else { return Ok(None) };
    let number = text(value).and_then(|text| text.parse().ok());
    let wrong = || {
        let message = match text(value) {
            Some(text) => format!("value \"{text}\" is out of range for type bigint"),
            None => format!("{} requires an integer value", element.defname),
        };
        Error::new("22003", message).at(element.location)
    };
    number.map(Some).ok_or_else(wrong)
}

/// Whether an option is on. Without a value it is.
pub(crate) fn is_on(element: &DefElem) -> bool {
    let text = element.arg.as_deref().and_then(text);
    !matches!(text.as_deref(), Some("false" | "off" | "0" | "no"))
}

/// Refuses an option that is given twice.
///
/// # Errors
/// 42601.
pub(crate) fn refuse_repeated(nodes: &[Node]) -> Result<()> {
    let mut seen: Vec<&str> = Vec::new();
    for element in elements(nodes) {
        if seen.contains(&element.defname.as_str()) {
            return Err(
                Error::new("42601", "conflicting or redundant options").at(element.location)
            );
        }
        seen.push(&element.defname);
    }
    Ok(())
}
