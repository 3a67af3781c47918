//! CREATE VIEW.

use crate::error::{Error, Result, SqlState};
use crate::planner::relations::{fold, rename_columns, schema_for_new};
use crate::session::Frame;
use datafusion::sql::sqlparser::ast::CreateView;
use std::sync::Arc;
use store::Transaction;
use store::catalog::{CatalogChange, Relation, View};

/// Runs a CREATE VIEW. The query must plan now; it is kept as text and planned anew with each use.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut Transaction,
    create: &CreateView,
) -> Result<&'static str> {
    if create.materialized || create.temporary {
        let message = "materialized and temporary views are not supported";
        return Err(Error::unsupported(message));
    }
    let catalog = Arc::clone(transaction.catalog());
    let (schema, name) = schema_for_new(&catalog, &frame.settings.search_path, &create.name)?;
    let existing = catalog.relation(&schema, &name);
    if create.if_not_exists && existing.is_some() {
        frame.skip_existing(SqlState::DuplicateTable, "relation", &name);
        return Ok("CREATE VIEW");
    }
    let columns: Vec<String> = create.columns.iter().map(|column| fold(&column.name)).collect();
    let plan = frame.planner(transaction).plan_query(create.query.as_ref().clone()).await?;
    rename_columns(plan, &columns)?;
    let id = match existing {
        Some(Relation::View(view)) if create.or_replace => view.id,
        Some(other) if create.or_replace => {
            let message = format!("\"{name}\" is a {}, not a view", other.kind());
            return Err(Error::new(SqlState::WrongObjectType, message));
        }
        _ => frame.session.shared.store.next_relation_id(),
    };
    let view = View {
        id,
        schema,
        name,
        sql: create.query.to_string(),
        columns,
        search_path: frame.settings.search_path.clone(),
        comment: None,
    };
    let view = Relation::View(Arc::new(view));
    transaction.change_catalog(match existing {
        Some(_) if create.or_replace => CatalogChange::Replace(view),
        _ => CatalogChange::Create(view),
    })?;
    Ok("CREATE VIEW")
}
