//! `obj_description`, `col_description` and `shobj_description`: the texts of COMMENT ON.

use super::Scope;
use crate::catalog_tables::{declared, tables};
use crate::names::comment_on;
use crate::pg_catalog::class::Class;
use crate::pg_catalog::{constraints, oids};
use crate::session_context::SessionContext;
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, function};
use std::sync::Arc;
use store::catalog::{Catalog, Relation, Table, UserType};
use values::cells::Form;

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let (objects, columns) = (Arc::clone(session), Arc::clone(session));
    let shared = Arc::clone(session);
    vec![
        function("obj_description", 1..=2, Form::Text, move |row| {
            Ok(of_object(&Scope::of(&*objects), row).into())
        }),
        function("col_description", 2..=2, Form::Text, move |row| {
            Ok(of_column(&Scope::of(&*columns), row).into())
        }),
        function("shobj_description", 2..=2, Form::Text, move |row| {
            Ok(of_shared(&Scope::of(&*shared), row).into())
        }),
    ]
}

/// The comment of the object with an id, in the system table of the second argument or in any.
fn of_object(scope: &Scope, row: &Row<'_>) -> Option<String> {
    let oid = row.number(0)?;
    let catalog = row.text(1).map(|name| name.trim_start_matches("pg_catalog."));
    match catalog {
        Some("pg_class") => of_relation(scope, oid),
        Some("pg_trigger") => of_trigger(&scope.catalog, oid),
        Some("pg_proc") => of_function(&scope.catalog, oid),
        Some("pg_namespace") => of_schema(&scope.catalog, oid),
        Some("pg_type") => of_type(&scope.catalog, oid),
        Some("pg_constraint") => of_constraint(&scope.catalog, oid),
        Some(_) => None,
        None => of_relation(scope, oid)
            .or_else(|| of_function(&scope.catalog, oid))
            .or_else(|| of_trigger(&scope.catalog, oid))
            .or_else(|| of_schema(&scope.catalog, oid))
            .or_else(|| of_type(&scope.catalog, oid))
            .or_else(|| of_constraint(&scope.catalog, oid)),
    }
}

/// The comment of what is in no schema.
fn of_shared(scope: &Scope, row: &Row<'_>) -> Option<String> {
    let table = match row.text(1)?.trim_start_matches("pg_catalog.") {
        "pg_authid" => oids::PG_AUTHID,
        "pg_database" => oids::PG_DATABASE,
        _ => return None,
    };
    let wanted = (table, row.number(0)?);
    let mut comments = scope.catalog.shared_comments();
    comments.find(|(on, _)| oids::shared(on) == wanted).map(|(_, comment)| comment.to_owned())
}

fn of_relation(scope: &Scope, oid: i64) -> Option<String> {
    match Class::by_oid(&scope.catalog, oid)? {
        Class::Relation(Relation::Table(table)) => table.comment.clone(),
        Class::Relation(Relation::View(view)) => view.comment.clone(),
        Class::Relation(Relation::Sequence(sequence)) => sequence.comment.clone(),
        Class::Relation(Relation::Index(index)) => index.file.comment.clone(),
        Class::KeyIndex(_) | Class::System(_) | Class::Composite(_) => None,
    }
}

fn of_function(catalog: &Catalog, oid: i64) -> Option<String> {
    crate::pg_catalog::routines::of_user(catalog, oid)?.comment.clone()
}

fn of_trigger(catalog: &Catalog, oid: i64) -> Option<String> {
    let mut all = catalog.triggers();
    all.find(|trigger| oids::relation(trigger.id) == oid)?.comment.clone()
}

fn of_type(catalog: &Catalog, oid: i64) -> Option<String> {
    let (user, is_array) = crate::pg_catalog::user_types::by_oid(catalog, oid)?;
    user.comment.clone().filter(|_| !is_array)
}

fn of_constraint(catalog: &Catalog, oid: i64) -> Option<String> {
    let of_table = |table: &Arc<Table>| {
        let mut comments = table.extension.comments.iter();
        let found = comments.find(|(name, _)| constraints::oid(table, name) == oid)?;
        Some(found.1.clone())
    };
    let of_domain = |user: &Arc<UserType>| {
        let mut checks = user.domain()?.checks.iter();
        checks.find(|of| constraints::domain_check(user, &of.name) == oid)?.comment.clone()
    };
    tables(catalog).find_map(of_table).or_else(|| catalog.user_types().find_map(of_domain))
}

fn of_schema(catalog: &Catalog, oid: i64) -> Option<String> {
    comment_on(catalog.schemas().find(|schema| oids::schema(&schema.name) == oid)?)
}

fn of_column(scope: &Scope, row: &Row<'_>) -> Option<String> {
    let (oid, wanted) = (row.number(0)?, row.number(1)?);
    match Class::by_oid(&scope.catalog, oid)? {
        Class::Relation(Relation::Table(table)) => {
            declared(table).find(|(number, _)| *number == wanted)?.1.comment.clone()
        }
        Class::Relation(Relation::View(view)) => {
            let mut comments = view.options.comments.iter();
            comments.find(|(number, _)| i64::from(*number) == wanted).map(|(_, text)| text.clone())
        }
        _ => None,
    }
}
