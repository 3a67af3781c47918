//! The types and functions of users that expressions of a table can name.

use crate::refused::Refused;
use crate::routines::Routines;
use analyzer::system::Oid;
use analyzer::tree::Column;
use analyzer::{Catalog, Domain, Routine, RowsOf, Table, TargetRelation};
use parser::types;
use planner::Planner;
use std::collections::BTreeSet;
use std::sync::Arc;
use store::catalog::{RelationId, SqlType};
use user_types::Visible;
use values::error::Error;

/// The types and functions of users that names can mean; a catalog without relations.
pub struct Types {
    types: Visible,
    routines: Option<Routines>,
}

impl Types {
    /// Those that a statement can name.
    pub fn of(planner: &Planner<'_>) -> Self {
        let types = Visible::new(planner.tables.catalog(), planner.search_path.schemas());
        Self { types, routines: Routines::of(planner).map(Routines::without_relations) }
    }

    /// Those that a statement can name, for an expression of which [`Self::called`] says what it calls.
    pub(crate) fn noting_calls(planner: &Planner<'_>) -> Self {
        let types = Visible::new(planner.tables.catalog(), planner.search_path.schemas());
        Self { types, routines: Routines::of(planner).map(Routines::noting_calls) }
    }

    /// The functions that were called.
    pub(crate) fn called(&self) -> BTreeSet<RelationId> {
        self.routines.as_ref().map(Routines::called).unwrap_or_default()
    }

    /// The types of a table's columns: what an index is computed with, where no catalog is.
    pub fn of_columns(table: &store::catalog::Table) -> Self {
        Self { types: Visible::of_columns(table), routines: None }
    }
}

impl Catalog for Types {
    fn relation(&self, _: Option<&str>, _: &str) -> Result<Option<Table>, analyzer::Error> {
        Ok(None)
    }

    fn target(&self, _: Option<&str>, _: &str) -> Result<Option<TargetRelation>, analyzer::Error> {
        Ok(None)
    }

    fn user_type(&self, schema: Option<&str>, name: &str) -> Option<Oid> {
        let (user, is_array) = self.types.find(schema, name)?;
        let oid = types::of_held(&SqlType::User(user))?.oid;
        if is_array { oid.array() } else { Some(oid) }
    }

    fn row_type(&self, rows: &RowsOf) -> Option<Oid> {
        types::of_rows(rows, &self.types)
    }

    fn domain(&self, oid: Oid) -> Option<Domain> {
        let user = user_types::definition_of(oid)?;
        let domain = user.domain()?;
        let checks = domain.checks.iter();
        Some(Domain {
            name: user.name.clone(),
            nullable: domain.nullable,
            checks: checks.map(|check| (check.name.clone(), check.expression.clone())).collect(),
        })
    }

    fn routines(
        &self,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Vec<Arc<Routine>>, analyzer::Error> {
        self.routines.as_ref().map_or(Ok(Vec::new()), |routines| routines.named(schema, name))
    }

    fn may_call(&self, routine: &Routine) -> Result<(), analyzer::Error> {
        self.routines.as_ref().map_or(Ok(()), |routines| routines.may_call(routine))
    }
}

/// A table with all of its columns.
pub fn table_of(table: &store::catalog::Table, handle: u32) -> Result<Table, Refused> {
    let mut columns = Vec::with_capacity(table.columns.len());
    for column in &table.columns {
        let sql_type = types::of_held(&column.sql_type).ok_or_else(|| {
            let what = format!("column {} of this type is not supported", column.name);
            Refused::Missing(Error::unsupported(what))
        })?;
        columns.push(Column { name: column.name.clone(), sql_type });
    }
    let all = || table.columns.iter().enumerate();
    let defaults = all().filter_map(|(at, column)| Some((at, column.default.clone()?)));
    Ok(Table {
        handle,
        schema: Some(table.schema.clone()),
        name: table.name.clone(),
        is_view: false,
        columns,
        key: if table.has_hidden_key() { Vec::new() } else { table.key_indices() },
        hidden: all().filter(|(_, column)| column.hidden).map(|(at, _)| at).collect(),
        defaults: defaults.collect(),
        identities: all()
            .filter(|(_, column)| column.identity.is_some())
            .map(|(at, _)| at)
            .collect(),
        rows_of: Some(table.id.0),
    })
}
