//! The changes of a transaction as they are once it is committed.

use crate::{CatalogChange, stable};

/// Changes of which the labels that the transaction has added to enums are like others.
pub fn settled(changes: Vec<CatalogChange>) -> Vec<CatalogChange> {
    let is_new = |change: &CatalogChange| match change {
        CatalogChange::ReplaceType(user) => {
            user.labels().is_some_and(|labels| labels.iter().any(|label| label.is_new))
        }
        _ => false,
    };
    if !changes.iter().any(is_new) {
        return changes;
    }
    // Definitions of tables and of other types have them, too. Their stable form has not.
    stable::decode(&stable::encode(&changes)).unwrap_or(changes)
}
