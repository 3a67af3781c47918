//! The relations that a statement names.

use super::named::{Name, Named};
use super::targets::{self, Resolved};
use crate::context::Frame;
use analyzer::system::{Oid, SqlType as BoundType};
use analyzer::{Catalog, ChangedView, CheckOption, Domain, Routine, RowsOf, Table, TargetRelation};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::TableReference;
use datafusion::datasource::{TableProvider, provider_as_source};
use grammar::tree::{NodeEnum, NodeRef, RangeVar};
use lowering::SourceTable;
use planner::{Planner, unique_names};
use scan::provider::{BucketTable, Columns as BucketColumns};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use store::TableView;
use store::catalog::{self, Privileges, SqlType, View};
use table_rows::{Refused, table_of};

/// The relations that a statement names, with what reads them.
pub(super) struct Relations {
    pub(super) named: Named,
    /// What the queries of views can name through which the statement changes tables, by their numbers.
    views: Vec<(Arc<View>, Named)>,
    sources: Vec<SourceTable>,
    /// What the statement changes. A view that is not updatable leads to no table.
    targets: HashMap<Name, (TargetRelation, Option<Changed>)>,
    /// The rows of its queries that are computed once.
    pub(super) kept: executor::kept::KeptQueries,
}

/// What a statement changes.
#[derive(Debug, Clone)]
pub(crate) enum ChangeTarget {
    /// A table.
    Table(Box<TableView>),
    /// A view, as a table of its columns. Triggers fire instead of its changes.
    View(Arc<store::catalog::Table>),
}

impl ChangeTarget {
    /// The table, or the view as one.
    pub(crate) fn table(&self) -> &Arc<store::catalog::Table> {
        match self {
            Self::Table(view) => view.table(),
            Self::View(table) => table,
        }
    }
}

/// A table or view that a statement changes, with all of its columns.
struct Changed {
    handle: u32,
    target: ChangeTarget,
}

impl Relations {
    /// Looks up the names that can only be relations.
    pub(super) async fn of(planner: &Planner<'_>, query: &NodeEnum) -> Result<Self, Refused> {
        let mut relations = Self::none(planner);
        if procedural::may_change(planner.tables.catalog(), query) {
            relations.named.execute_volatile();
        }
        for name in names(query) {
            relations.named.look_up(planner, name, &mut relations.sources).await?;
        }
        Ok(relations)
    }

    /// No relations yet.
    pub(super) fn none(planner: &Planner<'_>) -> Self {
        let (views, sources, targets, kept) = Default::default();
        Self { named: Named::none(planner), views, sources, targets, kept }
    }

    /// Looks up what the analyzer asked for in vain. Returns whether it finds more now.
    pub(super) async fn look_up_more(&mut self, planner: &Planner<'_>) -> Result<bool, Refused> {
        let mut found = self.named.look_up_more(planner, &mut self.sources).await?;
        for (view, named) in &mut self.views {
            let planner = planner.of_view(view);
            found |= named.look_up_more(&planner, &mut self.sources).await?;
        }
        Ok(found)
    }

    /// Looks up the tables that a statement changes, and the views through which it does.
    pub(super) async fn look_up_targets(
        &mut self,
        frame: &Frame<'_>,
        planner: &Planner<'_>,
        statement: &NodeEnum,
        is_executed: bool,
    ) -> Result<(), Refused> {
        for (range, (needed, event)) in targets::of(statement) {
            let needed = if is_executed { needed } else { Privileges::default() };
            let resolved = targets::resolved(frame, planner, range, (needed, event))?;
            let name = name_of(range);
            if let (Some(resolved), false) = (resolved, self.targets.contains_key(&name)) {
                let target = self.target_relation(planner, resolved).await?;
                self.targets.extend(target.map(|target| (name, target)));
            }
        }
        Ok(())
    }

    /// What a statement changes, as the analyzer sees it.
    async fn target_relation(
        &mut self,
        planner: &Planner<'_>,
        resolved: Resolved,
    ) -> Result<Option<(TargetRelation, Option<Changed>)>, Refused> {
        let (view, query, base) = match resolved {
            Resolved::Table(table) => {
                let Some(view) = planner.tables.table(table.id) else { return Ok(None) };
                let rows = Arc::new(BucketTable::new(view.clone(), BucketColumns::All));
                return self.changed(ChangeTarget::Table(Box::new(view)), rows).map(Some);
            }
            Resolved::Instead(view) => {
                let rows = Box::pin(planner.view(&view)).await?;
                let table = Arc::new(view.as_table(columns_of(&rows.schema())));
                return self.changed(ChangeTarget::View(table), rows).map(Some);
            }
            Resolved::View { view, query, base } => (view, query, base),
        };
        let (base, changed) = match base {
            Some(base) => Box::pin(self.target_relation(planner, *base)).await?.unzip(),
            None => (None, None),
        };
        let number = self.views.len() as u32;
        let named = Named::none(&planner.of_view(&view));
        let target = ChangedView {
            number,
            schema: view.schema.clone(),
            name: view.name.clone(),
            columns: view.columns.clone(),
            defaults: view.options.defaults.clone(),
            query,
            check: view.options.check.map(|check| match check {
                catalog::CheckOption::Local => CheckOption::Local,
                catalog::CheckOption::Cascaded => CheckOption::Cascaded,
            }),
            base,
        };
        self.views.push((view, named));
        Ok(Some((TargetRelation::View(Arc::new(target)), changed.flatten())))
    }

    /// A table, or a view with triggers instead of changes, as the analyzer sees it.
    fn changed(
        &mut self,
        target: ChangeTarget,
        rows: Arc<dyn TableProvider>,
    ) -> Result<(TargetRelation, Option<Changed>), Refused> {
        let handle = self.sources.len() as u32;
        let table = table_of(target.table(), handle)?;
        self.sources.push(SourceTable {
            name: TableReference::bare("?target"),
            source: provider_as_source(rows),
            oid: None,
            hidden: 0,
        });
        Ok((TargetRelation::Table(table), Some(Changed { handle, target })))
    }

    /// What a statement changes, by its handle.
    pub(super) fn target_of(&self, handle: u32) -> Option<&ChangeTarget> {
        let mut changed = self.targets.values().filter_map(|(_, changed)| changed.as_ref());
        changed.find(|changed| changed.handle == handle).map(|changed| &changed.target)
    }

    /// What reads the relations, by their handles.
    pub(super) fn sources(&self) -> &[SourceTable] {
        &self.sources
    }
}

/// The names and types of a relation's columns.
pub(crate) fn columns_of(schema: &Schema) -> impl Iterator<Item = (String, SqlType)> {
    let fields = schema.fields().iter();
    fields.map(|of| (unique_names::shown(of.name()).to_owned(), values::types::of_field(of)))
}

/// The names of relations that the parse tree shows. Where a name is also that of a query in WITH, the scopes decide what
/// it means.
fn names(query: &NodeEnum) -> Vec<Name> {
    let targets = targets::of(query);
    let targets: HashSet<i32> = targets.iter().map(|(range, _)| range.location).collect();
    let (mut names, mut ctes) = (Vec::new(), HashSet::new());
    for (node, ..) in query.nodes() {
        match node {
            // A target is looked up elsewhere, and need not be readable.
            NodeRef::RangeVar(range) if targets.contains(&range.location) => {}
            NodeRef::RangeVar(range) => names.push(name_of(range)),
            NodeRef::CommonTableExpr(cte) => {
                ctes.insert(cte.ctename.clone());
            }
            _ => {}
        }
    }
    names.retain(|(schema, name)| schema.is_some() || !ctes.contains(name));
    names
}

fn name_of(range: &RangeVar) -> Name {
    let schema = Some(range.schemaname.clone()).filter(|schema| !schema.is_empty());
    (schema, range.relname.clone())
}

impl Catalog for Relations {
    fn relation(&self, schema: Option<&str>, name: &str) -> Result<Option<Table>, analyzer::Error> {
        self.named.relation(schema, name)
    }

    fn has_schema(&self, name: &str) -> bool {
        self.named.has_schema(name)
    }

    fn user_type(&self, schema: Option<&str>, name: &str) -> Option<Oid> {
        self.named.user_type(schema, name)
    }

    fn row_type(&self, rows: &RowsOf) -> Option<Oid> {
        self.named.row_type(rows)
    }

    fn domain(&self, oid: Oid) -> Option<Domain> {
        self.named.domain(oid)
    }

    fn routines(
        &self,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Vec<Arc<Routine>>, analyzer::Error> {
        self.named.routines(schema, name)
    }

    fn variable(&self, qualifier: Option<&str>, name: &str) -> Option<(u32, BoundType)> {
        self.named.variable(qualifier, name)
    }

    fn record(&self, name: &str) -> Vec<(String, u32, BoundType)> {
        self.named.record(name)
    }

    fn columns_hide(&self) -> bool {
        self.named.columns_hide()
    }

    fn variables_hide(&self) -> bool {
        self.named.variables_hide()
    }

    fn may_call(&self, routine: &Routine) -> Result<(), analyzer::Error> {
        self.named.may_call(routine)
    }

    fn target(
        &self,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Option<TargetRelation>, analyzer::Error> {
        let name = (schema.map(str::to_owned), name.to_owned());
        Ok(self.targets.get(&name).map(|(target, _)| target.clone()))
    }

    fn of_view(&self, number: u32) -> Option<&dyn Catalog> {
        self.views.get(number as usize).map(|(_, named)| named as &dyn Catalog)
    }
}
