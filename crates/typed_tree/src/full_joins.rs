//! Full joins that PostgreSQL refuses: it joins by equality of both sides, or else by conditions that are constants.

use crate::read::is_volatile;
use crate::walk::contains;
use crate::{Call, Expr, From, Kind, Literal, RelationId};
use std::collections::HashSet;
use system_catalog::{Oid, operators};

/// Whether PostgreSQL has no way to compute the full join of two sides. Conditions that it may simplify are not refused.
pub fn is_refused(left: &From, right: &From, condition: &Expr) -> bool {
    let mut sides = Sides::default();
    add_relations(left, &mut sides.left);
    add_relations(right, &mut sides.right);
    let mut parts = Vec::new();
    add_parts(condition, &mut parts);
    let mut is_refused = false;
    for part in parts {
        match sides.form_of(part) {
            Form::Equality | Form::Other => return false,
            Form::Refused => is_refused = true,
            Form::True => {}
        }
    }
    is_refused
}

/// What a part of a condition is to PostgreSQL.
#[derive(PartialEq, Eq)]
enum Form {
    /// It is always true.
    True,
    /// Rows are joined by it.
    Equality,
    /// Rows cannot be joined by it.
    Refused,
    /// It may become any of these.
    Other,
}

/// The relations of both sides.
#[derive(Default)]
struct Sides {
    left: HashSet<RelationId>,
    right: HashSet<RelationId>,
}

impl Sides {
    fn form_of(&self, part: &Expr) -> Form {
        match &part.kind {
            Kind::Literal(Literal::Boolean(true)) => Form::True,
            Kind::Column(..) => Form::Refused,
            Kind::Call(call) if is_equality(call) && self.are_apart(call) => {
                match contains(part, &mut is_volatile) {
                    true => Form::Refused,
                    false => Form::Equality,
                }
            }
            Kind::Call(call) | Kind::IsDistinct(call) => refused_if(is_compared(call)),
            Kind::Not(value) if matches!(value.kind, Kind::IsDistinct(_)) => self.form_of(value),
            Kind::IsNull(value) | Kind::IsNotNull(value) => refused_if(is_plain(value)),
            Kind::Or(branches) => self.form_of_branches(branches),
            _ => Form::Other,
        }
    }

    /// PostgreSQL takes out what all branches have in common.
    fn form_of_branches(&self, branches: &[Expr]) -> Form {
        let (mut are_known, mut has_unequal) = (true, false);
        for branch in branches {
            let mut parts = Vec::new();
            add_parts(branch, &mut parts);
            let forms: Vec<Form> = parts.iter().map(|part| self.form_of(part)).collect();
            let is_known = |form: &Form| matches!(form, Form::Equality | Form::Refused);
            are_known &= forms.iter().all(is_known);
            has_unequal |= forms.iter().all(|form| *form == Form::Refused);
        }
        refused_if(are_known && has_unequal)
    }

    /// Whether each operand has columns of one side only.
    fn are_apart(&self, call: &Call) -> bool {
        let [first, second] = &call.arguments[..] else { return false };
        let (first, second) = (relations_of(first), relations_of(second));
        let is_in = |of: &HashSet<_>, side: &HashSet<_>| !of.is_empty() && of.is_subset(side);
        is_in(&first, &self.left) && is_in(&second, &self.right)
            || is_in(&first, &self.right) && is_in(&second, &self.left)
    }
}

fn refused_if(is_refused: bool) -> Form {
    if is_refused { Form::Refused } else { Form::Other }
}

fn add_relations(item: &From, relations: &mut HashSet<RelationId>) {
    match item {
        From::Relation(relation) => {
            relations.insert(relation.id);
        }
        From::Join { left, right, .. } => grammar::growing(|| {
            add_relations(left, relations);
            add_relations(right, relations);
        }),
    }
}

fn add_parts<'a>(condition: &'a Expr, parts: &mut Vec<&'a Expr>) {
    match &condition.kind {
        Kind::And(all) => all.iter().for_each(|part| grammar::growing(|| add_parts(part, parts))),
        _ => parts.push(condition),
    }
}

fn is_equality(call: &Call) -> bool {
    call.operator.and_then(operators::of).is_some_and(|operator| operator.name == "=")
}

/// Whether a call depends on columns and stays what it is when PostgreSQL has simplified it.
fn is_compared(call: &Call) -> bool {
    let is_truth = |value: &Expr| value.sql_type.oid == Oid::BOOL;
    let is_of_columns = |value: &Expr| !relations_of(value).is_empty();
    call.arguments.iter().all(is_plain)
        && call.arguments.iter().any(is_of_columns)
        && !call.arguments.iter().any(is_truth)
        && call.executed.is_none()
}

/// Whether a value consists of columns, constants and calls of PostgreSQL's functions.
fn is_plain(value: &Expr) -> bool {
    !contains(value, &mut |part| match &part.kind {
        Kind::Literal(literal) => *literal == Literal::Null,
        Kind::Call(call) => call.executed.is_some(),
        Kind::Column(..) | Kind::Cast(_) => false,
        _ => true,
    })
}

fn relations_of(value: &Expr) -> HashSet<RelationId> {
    let mut found = HashSet::new();
    contains(value, &mut |part| {
        if let Kind::Column(relation, _) | Kind::WholeRow(relation) = part.kind {
            found.insert(relation);
        }
        false
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Relation, Source};

    fn relation(id: u32) -> From {
        From::Relation(Box::new(Relation {
            id: RelationId(id),
            alias: String::new(),
            columns: Vec::new(),
            is_lateral: false,
            source: Source::Table(id),
        }))
    }

    fn column(relation: u32) -> Expr {
        Expr::new(Kind::Column(RelationId(relation), 0), Oid::INT4, -1)
    }

    fn compared(name: &str, left: Expr, right: Expr) -> Expr {
        let operator = operators::exact(name, Oid::INT4, Oid::INT4).expect("an operator");
        let call = Call::of_system(operator.function, vec![left, right]);
        Expr::new(Kind::Call(Call { operator: Some(operator.oid), ..call }), Oid::BOOL, -1)
    }

    fn truth(value: bool) -> Expr {
        Expr::new(Kind::Literal(Literal::Boolean(value)), Oid::BOOL, -1)
    }

    fn both(first: Expr, second: Expr) -> Expr {
        Expr::new(Kind::And(vec![first, second]), Oid::BOOL, -1)
    }

    fn either(first: Expr, second: Expr) -> Expr {
        Expr::new(Kind::Or(vec![first, second]), Oid::BOOL, -1)
    }

    fn refused(condition: &Expr) -> bool {
        is_refused(&relation(1), &relation(2), condition)
    }

    #[test]
    fn joins_without_equality_of_both_sides_are_refused() {
        let (less, equal) =
            (|| compared("<", column(1), column(2)), || compared("=", column(1), column(2)));
        let one = || Expr::new(Kind::Literal(Literal::Integer(1)), Oid::INT4, -1);
        assert!(refused(&less()));
        assert!(refused(&both(less(), truth(true))));
        assert!(refused(&compared("=", column(1), one())));
        assert!(refused(&compared("=", column(1), column(1))));
        assert!(refused(&either(equal(), less())));
        assert!(refused(&Expr::new(Kind::IsNull(Box::new(column(1))), Oid::BOOL, -1)));
    }

    #[test]
    fn equalities_and_constants_are_not_refused() {
        let (less, equal) =
            (|| compared("<", column(1), column(2)), || compared("=", column(1), column(2)));
        assert!(!refused(&equal()));
        assert!(!refused(&both(less(), equal())));
        assert!(!refused(&truth(true)));
        assert!(!refused(&truth(false)));
        assert!(!refused(&both(less(), truth(false))));
        assert!(!refused(&either(both(equal(), less()), both(equal(), less()))));
        assert!(!refused(&compared("<", column(1), Expr::null(Oid::INT4))));
    }
}
