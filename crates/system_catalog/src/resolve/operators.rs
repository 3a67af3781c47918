//! The choice of an operator (`oper`).

use super::candidates::{Candidate, best, matching};
use super::pathway::is_binary;
use crate::Oid;
use crate::operators::{self, Operator};

/// The types of an operator's operands.
#[derive(Debug, Clone, Copy)]
pub enum Operands {
    /// Of a prefix operator.
    Right(Oid),
    /// Of a binary operator.
    Both(Oid, Oid),
}

/// Why there is no operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoOperator {
    /// None fits.
    Unknown,
    /// Several fit equally well.
    Ambiguous,
}

/// The operator of a name for operands of these types.
///
/// # Errors
/// None fits, or several fit equally well.
pub fn operator(name: &str, operands: Operands) -> Result<&'static Operator, NoOperator> {
    match operands {
        Operands::Right(right) => prefix(name, right.base()),
        Operands::Both(left, right) => binary(name, left.base(), right.base()),
    }
}

fn prefix(name: &str, right: Oid) -> Result<&'static Operator, NoOperator> {
    let all = || operators::named(name).filter(|operator| operator.left.is_none());
    if let Some(exact) = all().find(|operator| operator.right == right) {
        return Ok(exact);
    }
    choose(all().map(|what| Candidate { what, arguments: vec![what.right] }), &[right])
}

fn binary(name: &str, left: Oid, right: Oid) -> Result<&'static Operator, NoOperator> {
    // A literal of unknown type is taken for the type of the other operand first.
    let (first, second) = match (left, right) {
        (Oid::UNKNOWN, known) => (known, known),
        (known, Oid::UNKNOWN) => (known, known),
        both => both,
    };
    if first != Oid::UNKNOWN {
        if let Some(exact) = operators::exact(name, first, second) {
            return Ok(exact);
        }
        // Types without operators of their own, such as varchar, use those of a type of the same representation.
        if first == second
            && let Some(same) = operators::named(name).find(|operator| {
                operator.left == Some(operator.right)
                    && base(first) == Some(operator.right)
                    && is_binary(first, operator.right)
            })
        {
            return Ok(same);
        }
    }
    let all = operators::named(name)
        .filter_map(|what| Some(Candidate { what, arguments: vec![what.left?, what.right] }));
    choose(all, &[left, right])
}

/// The type whose operators serve a type.
fn base(oid: Oid) -> Option<Oid> {
    (oid == Oid::VARCHAR).then_some(Oid::TEXT)
}

fn choose(
    all: impl Iterator<Item = Candidate<&'static Operator>>,
    given: &[Oid],
) -> Result<&'static Operator, NoOperator> {
    let mut found = matching(all.collect(), given);
    match found.len() {
        0 => Err(NoOperator::Unknown),
        1 => Ok(found.remove(0).what),
        _ => best(found, given).map(|best| best.what).ok_or(NoOperator::Ambiguous),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(name: &str, left: Oid, right: Oid) -> Option<(Option<Oid>, Oid)> {
        binary(name, left, right).ok().map(|operator| (operator.left, operator.right))
    }

    #[test]
    fn operators_are_those_of_postgresql() {
        assert_eq!(types("+", Oid::INT4, Oid::UNKNOWN), Some((Some(Oid::INT4), Oid::INT4)));
        assert_eq!(types("+", Oid::INT4, Oid::INT8), Some((Some(Oid::INT4), Oid::INT8)));
        assert_eq!(types("+", Oid::INT4, Oid::NUMERIC), Some((Some(Oid::NUMERIC), Oid::NUMERIC)));
        assert_eq!(types("=", Oid::VARCHAR, Oid::UNKNOWN), Some((Some(Oid::TEXT), Oid::TEXT)));
        assert_eq!(types("||", Oid::UNKNOWN, Oid::UNKNOWN), Some((Some(Oid::TEXT), Oid::TEXT)));
        assert_eq!(types("||", Oid::INT4, Oid::TEXT), Some((Some(Oid::ANYNONARRAY), Oid::TEXT)));
        assert_eq!(types("-", Oid::DATE, Oid::DATE), Some((Some(Oid::DATE), Oid::DATE)));
        assert_eq!(types("=", Oid::INT4, Oid::TEXT), None);
        assert_eq!(types("=", Oid::UNKNOWN, Oid::UNKNOWN), Some((Some(Oid::TEXT), Oid::TEXT)));
    }
}
