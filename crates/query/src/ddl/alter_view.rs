//! ALTER VIEW: defaults and names of columns, and options.

use super::create_view::{refuse_unchecked, with_options};
use crate::context::Frame;
use parser::commands::AlterOperation;
use planner::unique_names;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Privileges, Relation, View};
use table_rows::expressions::check_default;
use values::error::{Error, Result, SqlState};
use values::types;

/// Runs an ALTER VIEW.
pub(super) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    view: &Arc<View>,
    operations: &[AlterOperation],
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    frame.access(&catalog).require(&Relation::View(Arc::clone(view)), Privileges::OWNER)?;
    let mut next = View::clone(view);
    for operation in operations {
        match operation {
            AlterOperation::SetDefault { column, value } => {
                set_default(frame, transaction, &mut next, column, value.as_deref()).await?;
            }
            AlterOperation::SetViewOptions(given) => {
                next.options = with_options(next.options, *given);
                if given.check.flatten().is_some() {
                    refuse_unchecked(&catalog, frame.path(), &next)?;
                }
            }
            _ => return Err(Error::unsupported("this form of ALTER VIEW is not supported")),
        }
    }
    transaction.change_catalog(CatalogChange::Replace(Relation::View(Arc::new(next))))?;
    Ok(())
}

/// Gives a column a default, which INSERT into the view uses in place of that of the table's column, or takes it.
async fn set_default(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    view: &mut View,
    column: &str,
    value: Option<&str>,
) -> Result<()> {
    let planner = frame.planner(transaction);
    let plan = planner.view_plan(view).await?;
    let mut fields = plan.schema().fields().iter();
    let field = fields.find(|field| unique_names::shown(field.name()) == column);
    let Some(field) = field else {
        let message = format!("column \"{column}\" of relation \"{}\" does not exist", view.name);
        return Err(Error::new(SqlState::UndefinedColumn, message));
    };
    view.options.defaults.retain(|(name, _)| name != column);
    if let Some(value) = value {
        check_default(&planner, (column, &types::of_field(field)), value)?;
        view.options.defaults.push((column.to_owned(), value.to_owned()));
    }
    Ok(())
}

/// The view whose column has another name, and the names of its columns before.
///
/// # Errors
/// 42703 and 42701 for the names.
pub(super) async fn rename_column(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    view: &View,
    from: &str,
    to: &str,
) -> Result<(View, Vec<String>)> {
    let plan = frame.planner(transaction).view_plan(view).await?;
    let fields = plan.schema().fields().iter();
    let names = fields.map(|field| unique_names::shown(field.name()).to_owned());
    let names: Vec<String> = names.collect();
    let Some(at) = names.iter().position(|name| name == from) else {
        let message = format!("column \"{from}\" does not exist");
        return Err(Error::new(SqlState::UndefinedColumn, message));
    };
    if names.iter().any(|name| name == to) {
        let message = format!("column \"{to}\" of relation \"{}\" already exists", view.name);
        return Err(Error::new(SqlState::DuplicateColumn, message));
    }
    let mut next = View { columns: names.clone(), ..View::clone(view) };
    to.clone_into(&mut next.columns[at]);
    for (column, _) in next.options.defaults.iter_mut().filter(|(column, _)| column == from) {
        to.clone_into(column);
    }
    Ok((next, names))
}
