//! The tree of a path.

use regexes::Pattern;
use std::sync::Arc;

/// A parsed path.
#[derive(Debug, Clone)]
pub struct Path {
    /// Whether a step that finds nothing is an error, and arrays are not opened by themselves.
    pub(crate) is_strict: bool,
    pub(crate) expr: Expr,
}

/// A value, and steps from it.
#[derive(Debug, Clone)]
pub(crate) struct Expr {
    pub(crate) head: Head,
    pub(crate) steps: Vec<Step>,
}

/// Where an expression begins.
#[derive(Debug, Clone)]
pub(crate) enum Head {
    /// A scalar, as the text of a `jsonb` value.
    Constant(String),
    Variable(String),
    /// `$`
    Root,
    /// `@`
    Current,
    /// `last`
    Last,
    Negative(Box<Expr>),
    Positive(Box<Expr>),
    Arithmetic(char, Box<(Expr, Expr)>),
    Condition(Box<Condition>),
}

/// What finds items in an item.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Key(String),
    /// `.*`
    AnyKey,
    /// `[*]`
    AnyElement,
    /// `[1, 3 to last]`
    Elements(Vec<(Expr, Option<Expr>)>),
    /// `.**{2 to 3}`: the levels below. [`LEAVES`] stands for `last`.
    AnyLevel(u32, u32),
    Filter(Condition),
    Method(Method),
}

/// The level of `.**{last}`.
pub(crate) const LEAVES: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Type,
    Size,
    Double,
    Abs,
    Floor,
    Ceiling,
}

impl Method {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Size => "size",
            Self::Double => "double",
            Self::Abs => "abs",
            Self::Floor => "floor",
            Self::Ceiling => "ceiling",
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Condition {
    And(Box<(Condition, Condition)>),
    Or(Box<(Condition, Condition)>),
    Not(Box<Condition>),
    IsUnknown(Box<Condition>),
    Exists(Expr),
    Compare(Comparison, Expr, Expr),
    StartsWith(Expr, Expr),
    Matches(Expr, Arc<Pattern>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}
