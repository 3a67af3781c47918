//! AND and OR.

use datafusion::logical_expr::{Expr, Operator};

/// AND or OR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Logic {
    /// AND.
    And,
    /// OR.
    Or,
}

impl Logic {
    /// Two conditions joined.
    pub fn join(self, left: Expr, right: Expr) -> Expr {
        match self {
            Self::And => left.and(right),
            Self::Or => left.or(right),
        }
    }

    /// The comparison of which several with one column are a list.
    pub fn listed(self) -> Operator {
        match self {
            Self::And => Operator::NotEq,
            Self::Or => Operator::Eq,
        }
    }
}
