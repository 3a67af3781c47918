//! Expands asterisks that clash with another column: `SELECT *, upper(name) AS name FROM t`.
//!
//! DataFusion rejects two columns of one name. The expanded columns get unique aliases later
//! ([`repeated_names`](super::repeated_names)).

use super::dialect::column_names;
use super::scopes::{Relation, Scopes};
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Join, JoinConstraint, JoinOperator, Select, SelectItem,
    SelectItemQualifiedWildcardKind, WildcardAdditionalOptions,
};
use parser::names::fold;

/// Expands the asterisks of a select that include the name of another of its columns.
pub(super) fn rewrite(select: &mut Select, scopes: &Scopes<'_>) {
    let other = select.projection.iter().filter_map(|item| match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(fold(alias)),
        _ => None,
    });
    let other: Vec<String> = other.collect();
    if other.is_empty() || other.len() == select.projection.len() {
        return;
    }
    let joins = select.from.iter().flat_map(|from| &from.joins);
    let may_share = joins.into_iter().any(shares_columns);
    let stands_for = |item: &SelectItem| match item {
        SelectItem::Wildcard(options) if is_plain(options) && !may_share => {
            columns(scopes.innermost().iter())
        }
        SelectItem::QualifiedWildcard(
            SelectItemQualifiedWildcardKind::ObjectName(name),
            options,
        ) if is_plain(options) => {
            let name = fold(name.0.last()?.as_ident()?);
            columns(scopes.innermost().iter().filter(|relation| relation.name == name))
        }
        _ => None,
    };
    let clashes = |columns: &Vec<(&Relation, &String)>| {
        columns.iter().any(|(_, column)| other.contains(column))
    };
    let expanded: Vec<_> =
        select.projection.iter().map(|item| stands_for(item).filter(clashes)).collect();
    if expanded.iter().all(Option::is_none) {
        return;
    }
    let items = std::mem::take(&mut select.projection).into_iter().zip(expanded);
    select.projection = items
        .flat_map(|(item, expanded)| match expanded {
            Some(columns) => columns.into_iter().map(as_item).collect(),
            None => vec![named(item)],
        })
        .collect();
}

/// An item with an explicit alias.
fn named(item: SelectItem) -> SelectItem {
    match item {
        SelectItem::UnnamedExpr(expr) => {
            let alias = Ident::with_quote('"', column_names::shown(&expr));
            SelectItem::ExprWithAlias { expr, alias }
        }
        other => other,
    }
}

fn is_plain(options: &WildcardAdditionalOptions) -> bool {
    options.to_string().is_empty()
}

/// The columns of the relations; `None` if those of one are unknown.
fn columns<'a>(
    relations: impl Iterator<Item = &'a Relation>,
) -> Option<Vec<(&'a Relation, &'a String)>> {
    let mut all = Vec::new();
    for relation in relations {
        all.extend(relation.columns.as_ref()?.iter().map(|column| (relation, column)));
    }
    Some(all)
}

fn as_item((relation, column): (&Relation, &String)) -> SelectItem {
    let parts = relation.qualifier.iter().chain([&relation.name, column]);
    let parts = parts.map(|part| Ident::with_quote('"', part)).collect();
    SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts))
}

/// Whether a join merges columns of the same name (USING, NATURAL).
fn shares_columns(join: &Join) -> bool {
    use JoinOperator as J;
    match &join.join_operator {
        J::Join(by)
        | J::Inner(by)
        | J::Left(by)
        | J::LeftOuter(by)
        | J::Right(by)
        | J::RightOuter(by)
        | J::FullOuter(by)
        | J::CrossJoin(by) => {
            matches!(by, JoinConstraint::Using(_) | JoinConstraint::Natural)
        }
        _ => true,
    }
}
