//! Expressions of tables in which a word is written in another way, since what it names is called otherwise.

use crate::expressions::plan_one;
use analyzer::RowExpression;
use grammar::words::Word;
use planner::Planner;
use std::sync::Arc;
use store::catalog::{Index, IndexKey, Relation, RelationId, Table};
use values::error::{Error, Result};

/// A table or an index whose expressions can be planned, with a word in another way where they need it. `None` if no text is
/// another one.
///
/// # Errors
/// 0A000 for an expression that cannot be planned with the word in either way.
pub fn relation(planner: &Planner<'_>, id: RelationId, word: &Word) -> Result<Option<Relation>> {
    let catalog = planner.tables.catalog();
    match catalog.relation_by_id(id) {
        Some(Relation::Table(of)) => {
            Ok(table(planner, of, word)?.map(|next| Relation::Table(Arc::new(next))))
        }
        Some(Relation::Index(of)) => {
            let Some(table) = catalog.table_by_id(of.table) else { return Ok(None) };
            Ok(index(planner, (of, table), word)?.map(|next| Relation::Index(Arc::new(next))))
        }
        _ => Ok(None),
    }
}

fn table(planner: &Planner<'_>, table: &Table, word: &Word) -> Result<Option<Table>> {
    let mut next = Table::clone(table);
    let mut is_other = false;
    let of = format!("table {}", table.name);
    let mut follow = |text: &mut String, expression: &dyn Fn(&str) -> bool| -> Result<()> {
        if let Some(new) = text_of(word, text, &of, expression)? {
            *text = new;
            is_other = true;
        }
        Ok(())
    };
    for (at, column) in next.columns.iter_mut().enumerate() {
        if let Some(text) = &mut column.default {
            let is_valid =
                |new: &str| plan_one(planner, table, RowExpression::Default(new, at)).is_ok();
            follow(text, &is_valid)?;
        }
        if let Some(text) = &mut column.generated {
            let is_valid =
                |new: &str| plan_one(planner, table, RowExpression::Generated(new, at)).is_ok();
            follow(text, &is_valid)?;
        }
    }
    for check in &mut next.checks {
        let is_valid = |new: &str| plan_one(planner, table, RowExpression::Check(new)).is_ok();
        follow(&mut check.expression, &is_valid)?;
    }
    next.version += 1;
    Ok(is_other.then_some(next))
}

fn index(
    planner: &Planner<'_>,
    (index, table): (&Index, &Table),
    word: &Word,
) -> Result<Option<Index>> {
    let mut next = Index::clone(index);
    let mut is_other = false;
    let of = format!("index {}", index.file.name);
    let keys = next.columns.iter_mut().filter_map(|column| match &mut column.key {
        IndexKey::Expression(key) => Some((key, false)),
        IndexKey::Column(_) => None,
    });
    for (part, is_predicate) in keys.chain(next.predicate.iter_mut().map(|of| (of, true))) {
        let is_valid = |new: &str| {
            let expression = match is_predicate {
                true => RowExpression::IndexPredicate(new),
                false => RowExpression::IndexKey(new),
            };
            plan_one(planner, table, expression).is_ok()
        };
        for text in [&mut part.text, &mut part.shown] {
            if let Some(new) = text_of(word, text, &of, &is_valid)? {
                *text = new;
                is_other = true;
            }
        }
    }
    Ok(is_other.then_some(next))
}

/// The text of a definition with a word in another way where that is needed; `None` if it stays. `what` has the definition.
///
/// # Errors
/// 0A000 if no text is valid.
fn text_of(
    word: &Word,
    text: &str,
    what: &str,
    is_valid: &dyn Fn(&str) -> bool,
) -> Result<Option<String>> {
    if !word.may_be_in(text) {
        return Ok(None);
    }
    match word.texts(text).into_iter().find(|text| is_valid(text)) {
        Some(found) => Ok((found != text).then_some(found)),
        None => Err(refused(what)),
    }
}

/// The error for a definition that cannot follow.
pub fn refused(what: &str) -> Error {
    Error::unsupported(format!("a new name of what the {what} mentions is not supported"))
}
