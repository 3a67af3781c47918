//! The views about domains.

use super::columns::{all as all_columns, set_column, set_type, shown, udt};
use super::yes;
use crate::names::DATABASE;
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use deparse::definitions;
use store::catalog::{Domain, DomainCheck, SqlType, UserType};
use values::cells::Cell;

fn all<'a>(context: &'a ViewContext<'_>) -> impl Iterator<Item = (&'a UserType, &'a Domain)> {
    context.catalog.user_types().filter_map(|user| Some((&**user, user.domain()?)))
}

fn checks<'a>(
    context: &'a ViewContext<'_>,
) -> impl Iterator<Item = (&'a UserType, &'a DomainCheck)> {
    all(context).flat_map(|(user, domain)| domain.checks.iter().map(move |check| (user, check)))
}

/// The name of a domain.
fn named(user: &UserType) -> [(&'static str, Cell); 3] {
    [
        ("domain_catalog", DATABASE.into()),
        ("domain_schema", user.schema.as_str().into()),
        ("domain_name", user.name.as_str().into()),
    ]
}

/// Sets the type that a domain restricts in the last row.
fn set_restricted(base: &SqlType, rows: &mut TableRows) {
    let schema = base.user_type().map_or("pg_catalog", |of| &of.schema);
    rows.set_last("udt_catalog", DATABASE.into());
    rows.set_last("udt_schema", schema.into());
    rows.set_last("udt_name", udt(base).into());
}

/// The view `domains`.
pub(super) fn domains(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (user, domain) in all(context) {
        rows.row(named(user));
        set_type(&domain.base, rows);
        set_restricted(&domain.base, rows);
        let default = domain.default.as_deref();
        let default = default.and_then(|text| shown(context, text, &domain.base));
        rows.set_last("domain_default", default.into());
        rows.set_last("dtd_identifier", "1".into());
    }
}

/// The view `domain_udt_usage`.
pub(super) fn types(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (user, domain) in all(context) {
        rows.row(named(user));
        set_restricted(&domain.base, rows);
    }
}

/// The view `domain_constraints`.
pub(super) fn constraints(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (user, check) in checks(context) {
        rows.row(named(user));
        set_constraint(user, check, rows);
        rows.set_last("is_deferrable", yes(false));
        rows.set_last("initially_deferred", yes(false));
    }
}

/// Sets the name of a condition in the last row.
fn set_constraint(user: &UserType, check: &DomainCheck, rows: &mut TableRows) {
    rows.set_last("constraint_catalog", DATABASE.into());
    rows.set_last("constraint_schema", user.schema.as_str().into());
    rows.set_last("constraint_name", check.name.as_str().into());
}

/// The conditions of domains in the view `check_constraints`.
pub(super) fn conditions(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (user, check) in checks(context) {
        let definition = definitions::domain_check(check, false);
        let clause = definition.strip_prefix("CHECK ").unwrap_or(&definition);
        rows.row([("check_clause", clause.into())]);
        set_constraint(user, check, rows);
    }
}

/// The view `column_domain_usage`.
pub(super) fn columns(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (name, sql_type) in all_columns(context) {
        let user = sql_type.user_type().filter(|user| user.domain().is_some());
        let Some(user) = user else { continue };
        rows.row(named(user));
        set_column(name, rows);
    }
}
