//! RETURNING.

use crate::bind::Binder;
use crate::bind::scope::Clause;
use crate::error::{Error, Result};
use crate::system::Oid;
use crate::tree::walk::{children_mut, query_expressions_mut};
use crate::tree::{Expr, From, Kind, Output, RelationId};
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
            if output.expr.sql_type.oid == Oid::UNKNOWN {
                let expr = output.expr.clone();
                output.expr = self.coerce_implicitly(expr, Oid::TEXT)?;
            }
        }
        Ok(Some(output))
    }
}

/// Columns and rows of other relations, to which expressions refer as to further columns of the target.
pub(super) struct OtherColumns {
    relations: Vec<RelationId>,
    target: RelationId,
    /// The number of the target's own columns.
    width: usize,
    /// The further columns.
    pub(super) outputs: Vec<Output>,
}

impl OtherColumns {
    /// None yet, of the relations of FROM.
    pub(super) fn new(from: &[From], target: RelationId, width: usize) -> Self {
        let mut relations = Vec::new();
        from.iter().for_each(|from| add_relations(from, &mut relations));
        relations.retain(|relation| *relation != target);
        Self { relations, target, width, outputs: Vec::new() }
    }

    /// Replaces references to the other relations, also within subqueries.
    pub(super) fn replace(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            Kind::Column(relation, _) | Kind::WholeRow(relation)
                if self.relations.contains(relation) =>
            {
                expr.kind = Kind::Column(self.target, self.place(expr));
            }
            Kind::Field(field) if self.is_other_row(&field.row) => {
                if let Kind::WholeRow(relation) = field.row.kind {
                    expr.kind = Kind::Column(relation, field.field);
                    self.replace(expr);
                }
            }
            _ => grammar::growing(|| {
                if let Kind::Subquery(subquery) = &mut expr.kind {
                    query_expressions_mut(&mut subquery.query, &mut |part| self.replace(part));
                }
                children_mut(expr, &mut |part| self.replace(part));
            }),
        }
    }

    fn is_other_row(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, Kind::WholeRow(relation) if self.relations.contains(relation))
    }

    fn place(&mut self, expr: &Expr) -> usize {
        let known = self.outputs.iter().position(|known| known.expr.kind == expr.kind);
        self.width
            + known.unwrap_or_else(|| {
                let name = format!("?other{}", self.outputs.len());
                self.outputs.push(Output { name, expr: expr.clone() });
                self.outputs.len() - 1
            })
    }
}

fn add_relations(from: &From, relations: &mut Vec<RelationId>) {
    match from {
        From::Relation(relation) => relations.push(relation.id),
        From::Join { left, right, .. } => {
            add_relations(left, relations);
            add_relations(right, relations);
        }
    }
}
