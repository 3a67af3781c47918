//! The relations that a query names.

use super::routines::Routines;
use super::targets::Named;
use super::{Refused, targets, types};
use crate::context::Frame;
use analyzer::system::{Oid, SqlType as BoundType};
use analyzer::tree::Column;
use analyzer::{Catalog, Domain, Routine, Table};
use catalog_views::pg_catalog::class::Class;
use catalog_views::relation_names::find_in;
use datafusion::arrow::datatypes::Schema;
use datafusion::common::TableReference;
use datafusion::datasource::{TableProvider, provider_as_source};
use grammar::tree::{NodeEnum, NodeRef, RangeVar};
use lowering::SourceTable;
use parking_lot::Mutex;
use planner::{NamedParameter, Planner, unique_names};
use scan::provider::{BucketTable, Columns as BucketColumns};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use store::TableView;
use store::catalog::{Privileges, Relation, SqlType};
use user_types::Visible;
use values::error::Error;

/// A name in a query: the schema, if it is written, and the relation.
type Name = (Option<String>, String);

/// The relations that a query names, with what reads them.
pub(super) struct Relations {
    tables: HashMap<Name, Table>,
    /// The names of relations with columns of types that the analyzer does not have.
    strange: HashMap<Name, String>,
    /// Names that do not exist.
    absent: HashSet<Name>,
    /// Names that the analyzer asked for and that were not looked up.
    wanted: Mutex<Vec<Name>>,
    sources: Vec<SourceTable>,
    /// The tables and views that the statement changes, with all of their columns.
    targets: HashMap<Name, (Table, ChangeTarget)>,
    schemas: HashSet<String>,
    types: Types,
    routines: Option<Routines>,
    /// The names of parameters.
    names: Vec<NamedParameter>,
}

/// What a statement changes.
#[derive(Debug, Clone)]
pub(crate) enum ChangeTarget {
    /// A table.
    Table(TableView),
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

/// The types and functions of users that names can mean; a catalog without relations.
pub(super) struct Types {
    types: Visible,
    routines: Option<Routines>,
}

impl Types {
    pub(super) fn of(planner: &Planner<'_>) -> Self {
        let types = Visible::new(planner.tables.catalog(), planner.search_path.schemas());
        Self { types, routines: Routines::of(planner) }
    }

    /// The types of a table's columns: what an index is computed with, where no catalog is.
    pub(super) fn of_columns(table: &store::catalog::Table) -> Self {
        Self { types: Visible::of_columns(table), routines: None }
    }
}

impl Catalog for Types {
    fn relation(&self, _: Option<&str>, _: &str) -> Result<Option<Table>, analyzer::Error> {
        Ok(None)
    }

    fn target(&self, _: Option<&str>, _: &str) -> Result<Option<Table>, analyzer::Error> {
        Ok(None)
    }

    fn user_type(&self, schema: Option<&str>, name: &str) -> Option<Oid> {
        let (user, is_array) = self.types.find(schema, name)?;
        let oid = types::of_held(&SqlType::User(Arc::clone(user)))?.oid;
        if is_array { oid.array() } else { Some(oid) }
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

impl Relations {
    /// Looks up the names that can only be relations.
    pub(super) async fn of(planner: &Planner<'_>, query: &NodeEnum) -> Result<Self, Refused> {
        let mut relations = Self::none(planner);
        for name in names(query) {
            relations.look_up(planner, name).await?;
        }
        Ok(relations)
    }

    /// No relations yet.
    pub(super) fn none(planner: &Planner<'_>) -> Self {
        Self {
            tables: HashMap::new(),
            strange: HashMap::new(),
            absent: HashSet::new(),
            wanted: Mutex::default(),
            sources: Vec::new(),
            targets: HashMap::new(),
            types: Types::of(planner),
            schemas: planner.tables.catalog().schemas().map(|known| known.name.clone()).collect(),
            routines: Routines::of(planner),
            names: planner.names.to_vec(),
        }
    }

    /// Looks up what the analyzer asked for in vain. Returns whether it finds more now.
    pub(super) async fn look_up_more(&mut self, planner: &Planner<'_>) -> Result<bool, Refused> {
        let wanted = std::mem::take(&mut *self.wanted.lock());
        let found = !wanted.is_empty();
        for name in wanted {
            self.look_up(planner, name).await?;
        }
        Ok(found)
    }

    /// Looks up the tables and views that a statement changes.
    pub(super) async fn look_up_targets(
        &mut self,
        frame: &Frame<'_>,
        planner: &Planner<'_>,
        statement: &NodeEnum,
        is_executed: bool,
    ) -> Result<(), Refused> {
        for (range, (needed, event)) in targets::of(statement) {
            let needed = if is_executed { needed } else { Privileges::default() };
            let found = targets::named(frame, planner, range, (needed, event))?;
            let name = name_of(range);
            let Some(found) = found.filter(|_| !self.targets.contains_key(&name)) else { continue };
            let (target, rows): (_, Arc<dyn TableProvider>) = match found {
                Named::Table(table) => {
                    let Some(view) = planner.tables.table(table.id) else { continue };
                    let rows = BucketTable::new(view.clone(), BucketColumns::All);
                    (ChangeTarget::Table(view), Arc::new(rows))
                }
                Named::View(view) => {
                    let rows = Box::pin(planner.view(&view)).await?;
                    let table = view.as_table(columns_of(&rows.schema()));
                    (ChangeTarget::View(Arc::new(table)), rows)
                }
            };
            let handle = self.sources.len() as u32;
            let table = table_of(target.table(), handle)?;
            self.sources.push(SourceTable {
                name: TableReference::bare("?target"),
                source: provider_as_source(rows),
                oid: None,
            });
            self.targets.insert(name, (table, target));
        }
        Ok(())
    }

    /// What a statement changes, by its handle.
    pub(super) fn target_of(&self, handle: u32) -> Option<&ChangeTarget> {
        let mut targets = self.targets.values();
        targets.find(|(table, _)| table.handle == handle).map(|(_, view)| view)
    }

    /// What reads the relations, by their handles.
    pub(super) fn sources(&self) -> &[SourceTable] {
        &self.sources
    }

    fn is_known(&self, name: &Name) -> bool {
        self.tables.contains_key(name)
            || self.strange.contains_key(name)
            || self.absent.contains(name)
    }

    async fn look_up(&mut self, planner: &Planner<'_>, name: Name) -> Result<(), Refused> {
        if self.is_known(&name) {
            return Ok(());
        }
        let (schema, relation) = (name.0.as_deref(), name.1.as_str());
        let found = match planner.relation(schema, relation).await? {
            None if schema.is_none() && is_file(relation) => Some(planner.file(relation).await?),
            found => found,
        };
        let Some(provider) = found else {
            self.absent.insert(name);
            return Ok(());
        };
        let shape = catalog_views::shape::of(schema.unwrap_or("pg_catalog"), relation);
        let mut columns = Vec::new();
        for field in provider.schema().fields() {
            let declared = shape.and_then(|shape| {
                let place = shape.position(field.name())?;
                types::of_system_name(shape.columns[place].type_name)
            });
            match declared.or_else(|| types::of_column(field)) {
                Some(sql_type) => {
                    let name = unique_names::shown(field.name()).to_owned();
                    columns.push(Column { name, sql_type });
                }
                None => {
                    let what = format!("column {} of type {}", field.name(), field.data_type());
                    self.strange.insert(name, what);
                    return Ok(());
                }
            }
        }
        let catalog = planner.tables.catalog();
        let is_transition = planner.transition(schema, relation).is_some();
        let known = match catalog_views::is_implicit(relation) && schema.is_none() {
            _ if is_transition => None,
            true => None,
            false => find_in(catalog, planner.search_path, schema, relation),
        };
        let class = Class::by_name(catalog, planner.search_path, schema, relation);
        let class = class.filter(|_| !is_transition);
        let key = known.map_or_else(Vec::new, primary_key);
        let reference = match schema {
            Some(schema) => TableReference::partial(schema, relation),
            None => TableReference::bare(relation),
        };
        let handle = self.sources.len() as u32;
        self.sources.push(SourceTable {
            name: reference,
            source: provider_as_source(provider),
            oid: class.and_then(|class| u32::try_from(class.oid()).ok()),
        });
        let is_view = shape.is_some_and(|shape| shape.kind == "v")
            || matches!(known, Some(Relation::View(_)));
        let schema = known.map(Relation::schema).or(schema).map(str::to_owned);
        let (hidden, defaults) = Default::default();
        let name_shown = relation.to_owned();
        let table =
            Table { handle, schema, name: name_shown, is_view, columns, key, hidden, defaults };
        self.tables.insert(name, table);
        Ok(())
    }
}

/// The names and types of a relation's columns.
pub(crate) fn columns_of(schema: &Schema) -> impl Iterator<Item = (String, SqlType)> {
    let fields = schema.fields().iter();
    fields.map(|of| (unique_names::shown(of.name()).to_owned(), values::types::of_field(of)))
}

/// A table with all of its columns.
pub(super) fn table_of(table: &store::catalog::Table, handle: u32) -> Result<Table, Refused> {
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
        key: Vec::new(),
        hidden: all().filter(|(_, column)| column.hidden).map(|(at, _)| at).collect(),
        defaults: defaults.collect(),
    })
}

/// The positions of a primary key's columns among those that statements see.
fn primary_key(relation: &Relation) -> Vec<usize> {
    let Relation::Table(table) = relation else { return Vec::new() };
    let shown: Vec<_> = table.columns.iter().filter(|column| !column.hidden).collect();
    let place = |id| shown.iter().position(|column| column.id == id);
    match table.has_hidden_key() {
        true => Vec::new(),
        false => table.key.iter().filter_map(|id| place(*id)).collect(),
    }
}

/// Whether a name that is no relation's is that of a file.
fn is_file(name: &str) -> bool {
    name.contains(['.', '/', '*'])
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
        let name = (schema.map(str::to_owned), name.to_owned());
        if let Some(what) = self.strange.get(&name) {
            return Err(analyzer::Error::missing(what));
        }
        if !self.is_known(&name) {
            self.wanted.lock().push(name);
            return Ok(None);
        }
        Ok(self.tables.get(&name).cloned())
    }

    fn has_schema(&self, name: &str) -> bool {
        self.schemas.contains(name)
    }

    fn user_type(&self, schema: Option<&str>, name: &str) -> Option<Oid> {
        self.types.user_type(schema, name)
    }

    fn domain(&self, oid: Oid) -> Option<Domain> {
        self.types.domain(oid)
    }

    fn routines(
        &self,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Vec<Arc<Routine>>, analyzer::Error> {
        match &self.routines {
            Some(routines) => routines.named(schema, name),
            None => Ok(Vec::new()),
        }
    }

    fn variable(&self, qualifier: Option<&str>, name: &str) -> Option<(u32, BoundType)> {
        let is_meant =
            |known: &NamedParameter| known.name == name && known.qualifier.as_deref() == qualifier;
        let place = self.names.iter().position(is_meant)?;
        Some((place as u32 + 1, types::of_held(&self.names[place].sql_type)?))
    }

    fn columns_hide(&self) -> bool {
        self.names.iter().any(|known| known.yields)
    }

    fn may_call(&self, routine: &Routine) -> Result<(), analyzer::Error> {
        self.routines.as_ref().map_or(Ok(()), |routines| routines.may_call(routine))
    }

    fn target(&self, schema: Option<&str>, name: &str) -> Result<Option<Table>, analyzer::Error> {
        let name = (schema.map(str::to_owned), name.to_owned());
        Ok(self.targets.get(&name).map(|(table, _)| table.clone()))
    }
}
