//! RETURNING.

use crate::bind::scope::Clause;
use crate::bind::walk::children_mut;
use crate::bind::{Binder, contains};
use crate::error::{Error, Result};
use crate::tree::{Expr, Kind, Output, RelationId};
use grammar::tree::ReturningClause;

impl Binder<'_> {
    pub(super) fn returning(
        &mut self,
        clause: Option<&ReturningClause>,
    ) -> Result<Option<Vec<Output>>> {
        let Some(clause) = clause else { return Ok(None) };
        if !clause.options.is_empty() {
            return Err(Error::missing("RETURNING WITH"));
        }
        let mut output =
            self.in_clause(Clause::Returning, |binder| binder.targets(&clause.exprs))?;
        for output in &mut output {
            if contains(&output.expr, &mut |part| matches!(part.kind, Kind::Subquery(_))) {
                let location = output.expr.location.0;
                return Err(Error::missing("a subquery in RETURNING").at(location));
            }
            let unknown = crate::system::Oid::UNKNOWN;
            if output.expr.sql_type.oid == unknown {
                let expr = output.expr.clone();
                output.expr = self.coerce_implicitly(expr, crate::system::Oid::TEXT)?;
            }
        }
        Ok(Some(output))
    }
}

/// Lets RETURNING refer to columns of other relations as to further columns of the target, which has `width`. Returns these
/// columns.
pub(super) fn only_other_columns(
    returning: &mut Option<Vec<Output>>,
    target: RelationId,
    width: usize,
) -> Result<Vec<Output>> {
    let mut others: Vec<Output> = Vec::new();
    let mut whole_row = None;
    for output in returning.iter_mut().flatten() {
        replace(&mut output.expr, target, width, &mut others, &mut whole_row);
    }
    match whole_row {
        Some(location) => {
            Err(Error::missing("a row of another relation in RETURNING").at(location))
        }
        None => Ok(others),
    }
}

fn replace(
    expr: &mut Expr,
    target: RelationId,
    width: usize,
    others: &mut Vec<Output>,
    whole_row: &mut Option<i32>,
) {
    match &expr.kind {
        Kind::Column(relation, _) if *relation != target => {
            let known = others.iter().position(|known| known.expr.kind == expr.kind);
            let place = known.unwrap_or_else(|| {
                others.push(Output { name: format!("?other{}", others.len()), expr: expr.clone() });
                others.len() - 1
            });
            expr.kind = Kind::Column(target, width + place);
        }
        Kind::WholeRow(relation) if *relation != target => *whole_row = Some(expr.location.0),
        _ => {
            children_mut(expr, &mut |part| replace(part, target, width, others, whole_row));
        }
    }
}
