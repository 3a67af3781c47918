//! What names mean for the user of a statement, or for the owner of a view.

use analyzer::system::{Oid, SqlType as BoundType};
use analyzer::tree::Column;
use analyzer::{Catalog, Domain, Routine, RowsOf, Table, TargetRelation};
use catalog_views::pg_catalog::class::Class;
use catalog_views::relation_names::find_in;
use catalog_views::shape::Shape;
use datafusion::arrow::datatypes::{FieldRef, Schema};
use datafusion::common::TableReference;
use datafusion::datasource::provider_as_source;
use lowering::SourceTable;
use parking_lot::Mutex;
use parser::types;
use planner::{Conflict, NamedParameter, Planner, unique_names};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use store::catalog::{OWN_TEMPORARY_SCHEMA, Relation, RelationId};
use table_rows::routines::Routines;
use table_rows::{Refused, Types};

/// A name in a query: the schema, if it is written, and the relation.
pub(super) type Name = (Option<String>, String);

/// The relations that names mean; what reads them is kept elsewhere.
pub(super) struct Named {
    tables: HashMap<Name, Table>,
    /// The names of relations with columns of types that the analyzer does not have.
    strange: HashMap<Name, String>,
    /// Names that do not exist.
    absent: HashSet<Name>,
    /// Names that the analyzer asked for and that were not looked up.
    wanted: Mutex<Vec<Name>>,
    schemas: HashSet<String>,
    types: Types,
    routines: Option<Routines>,
    /// The names of parameters.
    names: Vec<NamedParameter>,
}

impl Named {
    /// Executes volatile functions in SQL that read tables, since others change them.
    pub(super) fn execute_volatile(&mut self) {
        if let Some(routines) = &mut self.routines {
            routines.execute_volatile();
        }
    }

    /// Notes which functions are called.
    pub(super) fn note_calls(&mut self) {
        self.routines = self.routines.take().map(Routines::noting_calls);
    }

    /// The functions that were called since [`Self::note_calls`].
    pub(super) fn called(&self) -> BTreeSet<RelationId> {
        self.routines.as_ref().map(Routines::called).unwrap_or_default()
    }

    /// No relations yet.
    pub(super) fn none(planner: &Planner<'_>) -> Self {
        let (tables, strange, absent, wanted) = Default::default();
        let catalog = planner.tables.catalog();
        Self {
            tables,
            strange,
            absent,
            wanted,
            types: Types::of(planner),
            schemas: catalog
                .schemas()
                .map(|of| of.name.clone())
                .chain([OWN_TEMPORARY_SCHEMA.into()])
                .collect(),
            routines: Routines::of(planner),
            names: planner.names.to_vec(),
        }
    }

    /// Looks up what the analyzer asked for in vain. Returns whether it finds more now.
    pub(super) async fn look_up_more(
        &mut self,
        planner: &Planner<'_>,
        sources: &mut Vec<SourceTable>,
    ) -> Result<bool, Refused> {
        let wanted = std::mem::take(&mut *self.wanted.lock());
        let found = !wanted.is_empty();
        for name in wanted {
            self.look_up(planner, name, sources).await?;
        }
        Ok(found)
    }

    fn is_known(&self, name: &Name) -> bool {
        self.tables.contains_key(name)
            || self.strange.contains_key(name)
            || self.absent.contains(name)
    }

    pub(super) async fn look_up(
        &mut self,
        planner: &Planner<'_>,
        name: Name,
        sources: &mut Vec<SourceTable>,
    ) -> Result<(), Refused> {
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
        let columns = match columns_of(&provider.schema(), shape) {
            Ok(columns) => columns,
            Err(what) => {
                self.strange.insert(name, what);
                return Ok(());
            }
        };
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
        let has_row_id = planner.row_ids && known.is_some_and(has_row_id);
        let reference = match schema {
            Some(schema) => TableReference::partial(schema, relation),
            None => TableReference::bare(relation),
        };
        let handle = sources.len() as u32;
        sources.push(SourceTable {
            name: reference,
            source: provider_as_source(provider),
            oid: class.and_then(|class| u32::try_from(class.oid()).ok()),
            hidden: usize::from(has_row_id),
        });
        let is_view = shape.is_some_and(|shape| shape.kind == "v")
            || matches!(known, Some(Relation::View(_)));
        let schema = known.map(Relation::schema).or(schema).map(str::to_owned);
        let hidden = has_row_id.then(|| columns.len() - 1).into_iter().collect();
        let (defaults, identities) = Default::default();
        let name_shown = relation.to_owned();
        let rows_of = known.map(|known| known.id().0);
        let table = Table {
            handle,
            schema,
            name: name_shown,
            is_view,
            columns,
            key,
            hidden,
            defaults,
            identities,
            rows_of,
        };
        self.tables.insert(name, table);
        Ok(())
    }
}

/// The columns of a relation; what one is whose type the analyzer does not have.
fn columns_of(schema: &Schema, shape: Option<&Shape>) -> Result<Vec<Column>, String> {
    let column = |field: &FieldRef| {
        let declared = shape.and_then(|shape| {
            let place = shape.position(field.name())?;
            types::of_system_name(shape.columns[place].type_name)
        });
        match declared.or_else(|| types::of_column(field)) {
            Some(sql_type) => {
                Ok(Column { name: unique_names::shown(field.name()).to_owned(), sql_type })
            }
            None => Err(format!("column {} of type {}", field.name(), field.data_type())),
        }
    };
    schema.fields().iter().map(column).collect()
}

/// Whether the rows of a relation are told apart by a row id.
fn has_row_id(relation: &Relation) -> bool {
    matches!(relation, Relation::Table(table) if table.has_hidden_key())
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

impl Catalog for Named {
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

    fn row_type(&self, rows: &RowsOf) -> Option<Oid> {
        self.types.row_type(rows)
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

    fn record(&self, name: &str) -> Vec<(String, u32, BoundType)> {
        let numbered = self.names.iter().zip(1..);
        let fields = numbered.filter(|(known, _)| known.qualifier.as_deref() == Some(name));
        let fields = fields.map(|(known, number)| {
            Some((known.name.clone(), number, types::of_held(&known.sql_type)?))
        });
        fields.collect::<Option<_>>().unwrap_or_default()
    }

    fn columns_hide(&self) -> bool {
        self.names.iter().any(|known| known.conflict == Conflict::Column)
    }

    fn variables_hide(&self) -> bool {
        self.names.iter().any(|known| known.conflict == Conflict::Parameter)
    }

    fn may_call(&self, routine: &Routine) -> Result<(), analyzer::Error> {
        self.routines.as_ref().map_or(Ok(()), |routines| routines.may_call(routine))
    }

    fn target(&self, _: Option<&str>, _: &str) -> Result<Option<TargetRelation>, analyzer::Error> {
        Ok(None)
    }
}
