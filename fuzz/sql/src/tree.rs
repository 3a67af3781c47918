//! The syntax tree of a statement, in the form that the reducer needs: which parts may be dropped, and which may be
//! exchanged for others.
//!
//! The tree is generic. What a `SELECT` is, only the grammar knows; here it is a group of texts and of parts that have
//! kinds. Depth that comes from generated statements is small: a deep nest of the same brackets is one node.

use std::fmt;

/// SQL types that statements are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Type {
    Bool,
    Int,
    Bigint,
    Numeric,
    Double,
    Text,
    Date,
    Timestamp,
    Timestamptz,
    Interval,
    Jsonb,
    Ints,
    Texts,
    Bytea,
    Uuid,
}

impl Type {
    /// All types.
    pub(crate) const ALL: [Self; 15] = [
        Self::Bool,
        Self::Int,
        Self::Bigint,
        Self::Numeric,
        Self::Double,
        Self::Text,
        Self::Date,
        Self::Timestamp,
        Self::Timestamptz,
        Self::Interval,
        Self::Jsonb,
        Self::Ints,
        Self::Texts,
        Self::Bytea,
        Self::Uuid,
    ];

    /// Its name in SQL.
    pub(crate) fn sql(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Bigint => "bigint",
            Self::Numeric => "numeric",
            Self::Double => "double precision",
            Self::Text => "text",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
            Self::Timestamptz => "timestamptz",
            Self::Interval => "interval",
            Self::Jsonb => "jsonb",
            Self::Ints => "int[]",
            Self::Texts => "text[]",
            Self::Bytea => "bytea",
            Self::Uuid => "uuid",
        }
    }

    /// A constant of the type that is as simple as can be.
    pub(crate) fn simplest(self) -> &'static str {
        match self {
            Self::Bool => "true",
            Self::Int => "1",
            Self::Bigint => "1::bigint",
            Self::Numeric => "1.5",
            Self::Double => "1::double precision",
            Self::Text => "'a'",
            Self::Date => "'2001-01-01'::date",
            Self::Timestamp => "'2001-01-01'::timestamp",
            Self::Timestamptz => "'2001-01-01'::timestamptz",
            Self::Interval => "'1 day'::interval",
            Self::Jsonb => "'1'::jsonb",
            Self::Ints => "ARRAY[1]",
            Self::Texts => "ARRAY['a']",
            Self::Bytea => "'a'::bytea",
            Self::Uuid => "'00000000-0000-0000-0000-000000000000'::uuid",
        }
    }
}

/// What a part is. Parts of one kind may replace each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An expression.
    Expression(Type),
    /// A query with so many columns.
    Query(usize),
    /// An entry of FROM.
    Relation,
    /// A part that may be absent.
    Clause,
    /// A part that has no other form.
    Fixed,
}

impl Kind {
    /// The simplest parts of this kind.
    pub(crate) fn simplest(self) -> Vec<String> {
        match self {
            Self::Expression(of) => {
                vec![of.simplest().to_owned(), format!("NULL::{}", of.sql())]
            }
            Self::Query(columns) => vec![format!("SELECT {}", vec!["1"; columns].join(", "))],
            Self::Clause => vec![String::new()],
            Self::Relation | Self::Fixed => Vec::new(),
        }
    }
}

/// A part of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    /// Text that stays as it is.
    Text(String),
    /// Parts that follow each other.
    Group { kind: Kind, parts: Vec<Node> },
    /// Parts that may be dropped until so many are left.
    List { parts: Vec<Node>, separator: &'static str, least: usize },
    /// A part in many brackets of the same form.
    Nest { open: String, close: String, times: usize, body: Box<Node> },
}

impl Node {
    /// Text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A part of a kind.
    pub(crate) fn group(kind: Kind, parts: Vec<Self>) -> Self {
        Self::Group { kind, parts }
    }

    /// A part of a kind: the form, with a part in place of each `{}`.
    pub(crate) fn form(kind: Kind, form: &str, holes: impl IntoIterator<Item = Self>) -> Self {
        let mut texts = form.split("{}");
        let mut parts = vec![Self::text(texts.next().unwrap_or_default())];
        for (hole, text) in holes.into_iter().zip(texts) {
            parts.push(hole);
            parts.push(Self::text(text));
        }
        Self::Group { kind, parts }
    }

    /// A part that may be absent.
    pub(crate) fn clause(form: &str, holes: impl IntoIterator<Item = Self>) -> Self {
        Self::form(Kind::Clause, form, holes)
    }

    /// Parts with commas between them, of which one has to stay.
    pub(crate) fn commas(parts: Vec<Self>) -> Self {
        Self::List { parts, separator: ", ", least: 1 }
    }

    /// Nothing.
    pub(crate) fn nothing() -> Self {
        Self::Text(String::new())
    }

    /// The words, literals, symbols and spaces of a statement whose grammar is unknown.
    pub(crate) fn tokens(statement: &str) -> Self {
        let parts = crate::tokens::split(statement).map(Self::text).collect();
        Self::List { parts, separator: "", least: 1 }
    }

    /// The parts of a node.
    pub(crate) fn parts(&self) -> &[Self] {
        match self {
            Self::Text(_) => &[],
            Self::Group { parts, .. } | Self::List { parts, .. } => parts,
            Self::Nest { body, .. } => std::slice::from_ref(body),
        }
    }

    /// The parts of a node, to change.
    pub(crate) fn parts_mut(&mut self) -> &mut [Self] {
        match self {
            Self::Text(_) => &mut [],
            Self::Group { parts, .. } | Self::List { parts, .. } => parts,
            Self::Nest { body, .. } => std::slice::from_mut(body),
        }
    }

    /// The length of its text.
    pub(crate) fn bytes(&self) -> usize {
        let below: usize = self.parts().iter().map(Self::bytes).sum();
        match self {
            Self::Text(text) => text.len(),
            Self::Group { .. } => below,
            Self::List { parts, separator, .. } => {
                below + separator.len() * parts.len().saturating_sub(1)
            }
            Self::Nest { open, close, times, .. } => below + (open.len() + close.len()) * times,
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Group { parts, .. } => parts.iter().try_for_each(|part| part.fmt(f)),
            Self::List { parts, separator, .. } => {
                for (index, part) in parts.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { separator })?;
                    part.fmt(f)?;
                }
                Ok(())
            }
            Self::Nest { open, close, times, body } => {
                (0..*times).try_for_each(|_| f.write_str(open))?;
                body.fmt(f)?;
                (0..*times).try_for_each(|_| f.write_str(close))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_prints_its_texts_in_order() {
        let one = || Node::form(Kind::Expression(Type::Int), "({} + {})", [1, 2].map(number));
        let list = Node::commas(vec![one(), one()]);
        let body = Box::new(list);
        let nest = Node::Nest { open: "f(".into(), close: ")".into(), times: 2, body };
        assert_eq!(nest.to_string(), "f(f((1 + 2), (1 + 2)))");
        assert_eq!(nest.bytes(), nest.to_string().len());
    }

    fn number(value: i32) -> Node {
        Node::text(value.to_string())
    }
}
