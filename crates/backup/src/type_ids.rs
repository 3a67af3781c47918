//! The ids of types of users in signatures of functions, by the names of the types.

use crate::sql_types::{quoted, user_type};
use std::collections::BTreeMap;
use store::catalog::{Catalog, Function, TypeId, UserType};

/// Returns the texts of the types of users that signatures mention, by their ids.
pub(crate) fn forms(catalog: &Catalog) -> BTreeMap<u32, String> {
    let ids = catalog.functions().flat_map(|function| of_signature(function));
    ids.filter_map(|id| Some((id, text(catalog, id)?))).collect()
}

/// Returns the ids that the types have now, by those of before.
pub(crate) fn restored(forms: &BTreeMap<u32, String>, catalog: &Catalog) -> BTreeMap<u32, u32> {
    let id = |text: &String| {
        let (schema, name) = user_type(text)?;
        let user = catalog.type_named(&schema, &name)?;
        Some(if text.ends_with("[]") { user.array.shown() } else { user.id.shown() })
    };
    forms.iter().filter_map(|(old, text)| Some((*old, id(text)?))).collect()
}

/// Gives the types of users in a signature the ids that they have now.
pub(crate) fn renumber(function: &mut Function, ids: &BTreeMap<u32, u32>) {
    let states = function.extension.state_ids_mut();
    let parameters = function.parameters.iter_mut().map(|parameter| &mut parameter.type_id);
    for id in parameters.chain([&mut function.result_id]).chain(states) {
        *id = ids.get(id).copied().unwrap_or(*id);
    }
}

/// The ids of types of users in a signature.
fn of_signature(function: &Function) -> impl Iterator<Item = u32> {
    let parameters = function.parameters.iter().map(|parameter| parameter.type_id);
    let all = parameters.chain([function.result_id]).chain(function.extension.state_ids());
    all.filter(|id| TypeId::may_be_shown(*id)).collect::<Vec<_>>().into_iter()
}

/// The text of a type with an id.
fn text(catalog: &Catalog, id: u32) -> Option<String> {
    let written = |user: &UserType, is_array: bool| {
        let brackets = if is_array { "[]" } else { "" };
        format!("{}.{}{brackets}", quoted(&user.schema), quoted(&user.name))
    };
    if let Some((relation, is_array)) = TypeId::rows_shown(id) {
        return Some(written(&*catalog.type_by_id(TypeId::of_rows(relation))?, is_array));
    }
    catalog.user_types().find_map(|user| match id {
        id if id == user.id.shown() => Some(written(user, false)),
        id if id == user.array.shown() => Some(written(user, true)),
        _ => None,
    })
}
