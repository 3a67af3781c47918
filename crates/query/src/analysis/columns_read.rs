//! The columns that the query of a view reads, also those on which its rows do not depend.

use super::{bind, unread};
use analyzer::tree::{Body, From, Kind, Query, Relation, RelationId, Source, walk};
use catalog_views::pg_catalog::oids;
use planner::Planner;
use std::collections::HashMap;
use store::catalog::{Table, View};
use values::error::Result;

/// Whether the query of a view reads a column of a table.
///
/// # Errors
/// What is wrong with the query.
pub(crate) async fn reads_column(
    planner: &Planner<'_>,
    view: &View,
    (table, column): (&Table, &str),
) -> Result<bool> {
    let planner = planner.of_view(view);
    let script = grammar::parse(&view.sql).map_err(|_| unread(&view.sql))?;
    let statement = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    let statement = statement.ok_or_else(|| unread(&view.sql))?;
    let (bound, relations) = bind(&planner, statement, &[], &view.sql, false).await?;
    let oid = u32::try_from(oids::relation(table.id.relation())).ok();
    let mut found = HashMap::new();
    let mut note = |relation: &Relation| {
        let Source::Table(handle) = relation.source else { return };
        let source = relations.sources().get(handle as usize);
        let source = source.filter(|source| source.oid.is_some() && source.oid == oid);
        let place = source.and_then(|source| source.source.schema().index_of(column).ok());
        found.extend(place.map(|place| (relation.id, place)));
    };
    each_relation(&bound.query, &mut note);
    each_part(&bound.query, &mut |kind| {
        if let Kind::Subquery(subquery) = kind {
            each_relation(&subquery.query, &mut note);
        }
    });
    let mut reads = false;
    each_part(&bound.query, &mut |kind| reads |= is_read(kind, &found));
    Ok(reads)
}

/// Whether a part of an expression is one of some relations' columns, or a whole row of such a relation.
fn is_read(kind: &Kind, columns: &HashMap<RelationId, usize>) -> bool {
    match kind {
        Kind::Column(relation, place) => columns.get(relation) == Some(place),
        Kind::WholeRow(relation) => columns.contains_key(relation),
        _ => false,
    }
}

/// Calls a function for each part of the expressions of a query, also of its queries.
fn each_part(query: &Query, note: &mut dyn FnMut(&Kind)) {
    walk::query_expressions(query, &mut |expr| {
        walk::contains(expr, &mut |part| {
            note(&part.kind);
            false
        });
    });
}

/// Calls a function for each relation in FROM of a query, also of the queries in its WITH and FROM. Queries in expressions
/// are left out.
fn each_relation(query: &Query, note: &mut dyn FnMut(&Relation)) {
    for cte in &query.with {
        each_relation(&cte.query, note);
    }
    match &query.body {
        Body::Select(select) => select.from.iter().for_each(|from| each_of_from(from, note)),
        Body::Values(_) => {}
        Body::SetOperation(operation) => grammar::growing(|| {
            each_relation(&operation.left, note);
            each_relation(&operation.right, note);
        }),
    }
}

fn each_of_from(from: &From, note: &mut dyn FnMut(&Relation)) {
    match from {
        From::Relation(relation) => {
            note(relation);
            if let Source::Query(query) = &relation.source {
                grammar::growing(|| each_relation(query, note));
            }
        }
        From::Join { left, right, .. } => {
            each_of_from(left, note);
            each_of_from(right, note);
        }
    }
}
