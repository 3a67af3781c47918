//! Definitions that follow a new name of a label of an enum, or of an attribute of a composite type. They are kept as texts,
//! and get the new name at the places without which they cannot be planned.

use super::follow::{names_of, view_of};
use crate::context::Frame;
use grammar::words::Word;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Relation, Table, UserType, View};
use table_rows::reworded::{self, refused};
use user_types::{refuse_other_mentions, replacements};
use values::error::Result;

/// Replaces a type, and a word in the definitions of relations that mention it.
///
/// # Errors
/// 0A000 for a definition that would not mean the same.
pub(super) async fn replace(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    new: UserType,
    word: &Word,
) -> Result<()> {
    let before = Arc::clone(transaction.catalog());
    refuse_other_mentions(&before, &word.written(), "a new name")?;
    let mut views = Vec::new();
    let all = before.relations().filter_map(|relation| view_of(&before, relation.id()));
    for view in all.collect::<Vec<_>>() {
        if word.may_be_in(&view.sql)
            && let Some(names) = names_of(frame, transaction, &view).await
        {
            views.push((view, names));
        }
    }
    for change in replacements(&before, new) {
        transaction.change_catalog(change)?;
    }
    // A view can be planned when those that it reads can.
    while let Some((first, _)) = views.first() {
        let (what, count) = (format!("view {}", first.name), views.len());
        let mut rest = Vec::new();
        for (view, names) in views {
            if !follow_view(frame, transaction, (&view, &names), word).await? {
                rest.push((view, names));
            }
        }
        if rest.len() == count {
            return Err(refused(&what));
        }
        views = rest;
    }
    for relation in before.relations() {
        let next = reworded::relation(&frame.planner(transaction), relation.id(), word)?;
        if let Some(next) = next {
            transaction.change_catalog(CatalogChange::Replace(next))?;
        }
    }
    Ok(())
}

/// Gives a view the first text that can be planned and has the same columns. Returns whether there is one.
async fn follow_view(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    (view, names): (&View, &Vec<String>),
    word: &Word,
) -> Result<bool> {
    for sql in word.texts(&view.sql) {
        let mut next = View { sql, ..view.clone() };
        // A column may have the name of an attribute.
        if word.is_name() {
            next.columns.clone_from(names);
        }
        if names_of(frame, transaction, &next).await.as_ref() != Some(names) {
            continue;
        }
        let replaced = match transaction.catalog().relation_by_id(view.id) {
            Some(Relation::Table(table)) => {
                let mut table = Table::clone(table);
                table.materialized.iter_mut().for_each(|of| of.sql.clone_from(&next.sql));
                table.version += 1;
                Relation::Table(Arc::new(table))
            }
            _ => Relation::View(Arc::new(next.clone())),
        };
        if next.sql != view.sql {
            transaction.change_catalog(CatalogChange::Replace(replaced))?;
        }
        return Ok(true);
    }
    Ok(false)
}
