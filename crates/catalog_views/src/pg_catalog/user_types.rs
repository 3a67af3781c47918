//! Types of users: their rows in `pg_type` and `pg_enum`, and their names.

use super::{oids, quote_ident, roles, type_catalog};
use crate::rows::TableRows;
use crate::search_path::SearchPath;
use crate::view_context::ViewContext;
use std::sync::Arc;
use store::catalog::{
    Attribute, Catalog, Domain, LABEL_DISTANCE, Object, Relation, RelationId, TypeId, UserType,
    UserTypeKind, View,
};
use values::cells::Cell;

/// `enum_in`, `enum_out`, `enum_recv` and `enum_send`.
const OF_ENUMS: [i64; 4] = [3506, 3507, 3532, 3533];
/// `array_in`, `array_out`, `array_recv` and `array_send`.
const OF_ARRAYS: [i64; 4] = [750, 751, 2400, 2401];
/// `domain_in` and `domain_recv`.
const OF_DOMAINS: [i64; 2] = [2597, 2598];
/// `record_in`, `record_out`, `record_recv` and `record_send`.
const OF_ROWS: [i64; 4] = [2290, 2291, 2402, 2403];
/// `array_subscript_handler` and `array_typanalyze`.
const SUBSCRIPTS_OF_ARRAYS: i64 = 6179;
const STATISTICS_OF_ARRAYS: i64 = 3816;

/// The rows of `pg_type`. `default_of` is the default of a domain as it is shown.
pub(super) fn types(
    context: &ViewContext<'_>,
    rows: &mut TableRows,
    default_of: &dyn Fn(&Domain) -> Option<String>,
) {
    for user in context.catalog.user_types() {
        type_row(context, user, rows, default_of);
        array_row(context, user, rows);
    }
}

fn named(context: &ViewContext<'_>, user: &UserType, oid: i64, name: String, rows: &mut TableRows) {
    rows.row([
        ("oid", oid.into()),
        ("typname", name.into()),
        ("typnamespace", oids::schema(&user.schema).into()),
        ("typowner", roles::owner(context.catalog, &Object::Relation(user.id.object())).into()),
        ("typisdefined", true.into()),
        ("typdelim", ",".into()),
        ("typtypmod", Cell::Number(-1)),
    ]);
}

fn functions([input, output, receive, send]: [i64; 4], rows: &mut TableRows) {
    rows.set_last("typinput", input.into());
    rows.set_last("typoutput", output.into());
    rows.set_last("typreceive", receive.into());
    rows.set_last("typsend", send.into());
}

fn type_row(
    context: &ViewContext<'_>,
    user: &UserType,
    rows: &mut TableRows,
    default_of: &dyn Fn(&Domain) -> Option<String>,
) {
    named(context, user, oids::user_type(user.id), user.name.clone(), rows);
    rows.set_last("typarray", oids::user_type(user.array).into());
    match &user.kind {
        UserTypeKind::Enum(_) => {
            rows.set_last("typlen", 4_i64.into());
            rows.set_last("typbyval", true.into());
            rows.set_last("typtype", "e".into());
            rows.set_last("typcategory", "E".into());
            rows.set_last("typalign", "i".into());
            rows.set_last("typstorage", "p".into());
            functions(OF_ENUMS, rows);
        }
        UserTypeKind::Composite(_) => {
            rows.set_last("typlen", Cell::Number(-1));
            rows.set_last("typtype", "c".into());
            rows.set_last("typcategory", "C".into());
            rows.set_last("typrelid", oids::user_type(user.id).into());
            rows.set_last("typalign", "d".into());
            rows.set_last("typstorage", "x".into());
            functions(OF_ROWS, rows);
        }
        UserTypeKind::Domain(domain) => {
            let (base, modifier) = type_catalog::of_sql(&domain.base);
            let known = type_catalog::by_oid(type_catalog::of_sql(domain.base.representation()).0);
            rows.set_last("typlen", known.map_or(-1, |known| known.length).into());
            rows.set_last("typbyval", known.is_some_and(|known| known.by_value).into());
            rows.set_last("typtype", "d".into());
            rows.set_last("typcategory", known.map_or("U", |known| known.category).into());
            rows.set_last("typalign", known.map_or("i", |known| known.align).into());
            rows.set_last("typstorage", known.map_or("x", |known| known.storage).into());
            rows.set_last("typcollation", known.map_or(0, |known| known.collation).into());
            rows.set_last("typbasetype", base.into());
            rows.set_last("typtypmod", modifier.into());
            rows.set_last("typnotnull", (!domain.nullable).into());
            let default = default_of(domain);
            rows.set_last("typdefault", default.clone().into());
            rows.set_last("typdefaultbin", default.into());
            let [input, receive] = OF_DOMAINS;
            functions(
                [
                    input,
                    known.map_or(0, |known| known.output),
                    receive,
                    known.map_or(0, |known| known.send),
                ],
                rows,
            );
        }
    }
}

/// The composite types.
pub(crate) fn composites<'a>(
    context: &'a ViewContext<'_>,
) -> impl Iterator<Item = (&'a UserType, &'a [Attribute])> {
    let types = context.catalog.user_types();
    types.filter_map(|user| Some((&**user, user.attributes()?)))
}

pub(super) fn array_row(context: &ViewContext<'_>, user: &UserType, rows: &mut TableRows) {
    named(context, user, oids::user_type(user.array), format!("_{}", user.name), rows);
    rows.set_last("typlen", Cell::Number(-1));
    rows.set_last("typtype", "b".into());
    rows.set_last("typcategory", "A".into());
    rows.set_last("typelem", oids::user_type(user.id).into());
    rows.set_last("typsubscript", SUBSCRIPTS_OF_ARRAYS.into());
    rows.set_last("typanalyze", STATISTICS_OF_ARRAYS.into());
    let is_row = user.attributes().is_some();
    rows.set_last("typalign", if is_row { "d" } else { "i" }.into());
    rows.set_last("typstorage", "x".into());
    functions(OF_ARRAYS, rows);
}

/// `pg_enum`.
pub(super) fn labels(context: &ViewContext<'_>, rows: &mut TableRows) {
    for user in context.catalog.user_types() {
        for label in user.labels().unwrap_or_default() {
            rows.row([
                ("oid", oids::check(user.id.object(), &label.order.to_string()).into()),
                ("enumtypid", oids::user_type(user.id).into()),
                ("enumsortorder", Cell::Double(label.order as f64 / LABEL_DISTANCE as f64)),
                ("enumlabel", label.name.as_str().into()),
            ]);
        }
    }
}

/// The type with an id, and whether the id is that of arrays of it.
pub(crate) fn by_oid(catalog: &Catalog, oid: i64) -> Option<(Arc<UserType>, bool)> {
    let id = u32::try_from(oid).ok().filter(|id| TypeId::may_be_shown(*id))?;
    if let Some((relation, is_array)) = TypeId::rows_shown(id) {
        return Some((of_rows(catalog, relation)?, is_array));
    }
    catalog.user_types().find_map(|user| match id {
        id if id == user.id.shown() => Some((Arc::clone(user), false)),
        id if id == user.array.shown() => Some((Arc::clone(user), true)),
        _ => None,
    })
}

/// The type of the rows of a relation; that of a view without its attributes.
fn of_rows(catalog: &Catalog, relation: RelationId) -> Option<Arc<UserType>> {
    let of_view = || match catalog.relation_by_id(relation)? {
        Relation::View(view) => Some(rows_of_view(view)),
        Relation::Table(_) | Relation::Sequence(_) | Relation::Index(_) => None,
    };
    catalog.type_by_id(TypeId::of_rows(relation)).or_else(of_view)
}

fn rows_of_view(view: &View) -> Arc<UserType> {
    Arc::new(UserType::of_rows(view.id, (&view.schema, &view.name), Vec::new()))
}

/// The type with a name, also that of the rows of a relation.
fn named_in(catalog: &Catalog, schema: &str, name: &str) -> Option<Arc<UserType>> {
    let of_view = || match catalog.relation(schema, name)? {
        Relation::View(view) => Some(rows_of_view(view)),
        Relation::Table(_) | Relation::Sequence(_) | Relation::Index(_) => None,
    };
    catalog.type_named(schema, name).or_else(of_view)
}

/// Whether the name of a type alone finds it. Types of the system are always found.
pub(crate) fn is_visible(catalog: &Catalog, path: SearchPath<'_>, oid: i64) -> bool {
    by_oid(catalog, oid).is_none_or(|(user, _)| is_found(catalog, path, &user))
}

fn is_found(catalog: &Catalog, path: SearchPath<'_>, user: &UserType) -> bool {
    let found = path.schemas().find_map(|schema| named_in(catalog, schema, &user.name));
    found.is_some_and(|found| found.id == user.id)
}

/// The schema of the type that a name means in one search path, if the name does not find it in another.
pub(crate) fn hidden_schema(
    catalog: &Catalog,
    (meant, now): (SearchPath<'_>, SearchPath<'_>),
    name: &str,
) -> Option<String> {
    let name = name.strip_prefix('_').filter(|_| is_unknown(catalog, meant, name)).unwrap_or(name);
    let user = meant.schemas().find_map(|schema| named_in(catalog, schema, name))?;
    (!is_found(catalog, now, &user)).then(|| quote_ident(&user.schema))
}

fn is_unknown(catalog: &Catalog, path: SearchPath<'_>, name: &str) -> bool {
    path.schemas().all(|schema| named_in(catalog, schema, name).is_none())
}

/// The name of a type, as `format_type` writes it. `None` if no user's type has the id.
pub(crate) fn format(catalog: &Catalog, path: SearchPath<'_>, oid: i64) -> Option<String> {
    let (user, is_array) = by_oid(catalog, oid)?;
    let name = quote_ident(&user.name);
    let name = match is_found(catalog, path, &user) {
        true => name,
        false => format!("{}.{name}", quote_ident(&user.schema)),
    };
    Some(if is_array { format!("{name}[]") } else { name })
}

/// The id of the type that a text names.
pub(crate) fn by_name(catalog: &Catalog, path: SearchPath<'_>, text: &str) -> Option<i64> {
    let text = text.trim();
    let (text, brackets) = match text.strip_suffix("[]") {
        Some(item) => (item, true),
        None => (text, false),
    };
    let name = parser::object_name(text).ok()?;
    let find = |name_of_type: &str| match &name.schema {
        Some(schema) => named_in(catalog, schema, name_of_type),
        None => path.schemas().find_map(|schema| named_in(catalog, schema, name_of_type)),
    };
    let found = find(&name.name).map(|user| (user, brackets));
    let (user, is_array) = found.or_else(|| Some((find(name.name.strip_prefix('_')?)?, true)))?;
    Some(oids::user_type(if is_array { user.array } else { user.id }))
}
