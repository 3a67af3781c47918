//! Views through which statements change a table.
//!
//! The columns of such a view are expressions over the row of the table, and so are those of a view on it: a statement on
//! the view becomes one on the table. What the view's query says is bound when the statement is.

use super::assignment::forget_locations;
use crate::bind::from::{part_of, rename};
use crate::bind::scope::{Clause, Item, Scope};
use crate::bind::{Binder, Catalog, Table};
use crate::error::{Error, Result};
use crate::system::Oid;
use crate::system::functions::{self, FunctionKind};
use crate::tree::{Column, Expr, Kind, Output, RelationId, ViewCheck};
use grammar::tree::{RangeVar, SelectStmt};
use grammar::updatable::{self, AGGREGATES, CallKind, NO_COLUMNS, NOT_SINGLE, SETS};
use std::sync::Arc;

/// What a statement changes.
#[derive(Debug, Clone)]
pub enum TargetRelation {
    /// A table, with all of its columns.
    Table(Table),
    /// A table through a view.
    View(Arc<ChangedView>),
}

/// A view through which a statement changes a table.
#[derive(Debug, Clone)]
pub struct ChangedView {
    /// The number by which the catalog knows what its query can name.
    pub number: u32,
    /// The schema.
    pub schema: String,
    /// The name.
    pub name: String,
    /// The names of its first columns, in place of those of the query.
    pub columns: Vec<String>,
    /// The names of columns and their DEFAULT, as SQL.
    pub defaults: Vec<(String, String)>,
    /// The query.
    pub query: Box<SelectStmt>,
    /// WITH CHECK OPTION.
    pub check: Option<CheckOption>,
    /// The only relation in its FROM, if that is a table or a view.
    pub base: Option<TargetRelation>,
}

/// Of which views new rows must fulfil the conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOption {
    /// The view.
    Local,
    /// The view and those below it.
    Cascaded,
}

/// What a statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Insert,
    Update,
    Delete,
    Merge,
}

/// A view whose columns are expressions over the row of a table.
#[derive(Debug)]
pub(super) struct BoundView {
    columns: Vec<ViewColumn>,
    /// The defaults of the views; those of an outer view hide those of an inner one.
    defaults: Vec<(Place, String)>,
    /// The conditions of the views, the innermost first.
    pub(super) filters: Vec<Expr>,
    /// What new rows must fulfil, the innermost first.
    pub(super) checks: Vec<ViewCheck>,
}

#[derive(Debug, Clone)]
struct ViewColumn {
    name: String,
    /// The value, over the row of the table.
    value: Expr,
    place: Place,
}

/// Where a value of a view's column goes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// The position of a column of the table.
    Column(usize),
    /// Nowhere: the name of the view and the column, and why.
    Nowhere { view: String, column: String, why: &'static str },
}

impl Place {
    /// # Errors
    /// 0A000 if there is none.
    fn column(&self, event: Event) -> Result<usize> {
        match self {
            Self::Column(at) => Ok(*at),
            Self::Nowhere { view, column, why } => Err(event.column_refused(view, column, why)),
        }
    }
}

impl TargetRelation {
    /// The table that is changed in the end.
    fn table(&self) -> Option<&Table> {
        match self {
            Self::Table(table) => Some(table),
            Self::View(view) => view.base.as_ref()?.table(),
        }
    }
}

impl Event {
    fn refused(self, view: &str, why: &str) -> Error {
        let (what, doing, trigger) = match self {
            Self::Insert => ("insert into", "inserting into", "INSERT"),
            Self::Update => ("update", "updating", "UPDATE"),
            Self::Delete => ("delete from", "deleting from", "DELETE"),
            Self::Merge => {
                let message = format!("cannot execute MERGE on relation \"{view}\"");
                return Error::new("0A000", message)
                    .detail("This operation is not supported for views.");
            }
        };
        Error::new("55000", format!("cannot {what} view \"{view}\"")).detail(why).hint(format!(
            "To enable {doing} the view, provide an INSTEAD OF {trigger} trigger or an unconditional ON {trigger} DO INSTEAD rule."
        ))
    }

    fn column_refused(self, view: &str, column: &str, why: &str) -> Error {
        let what = if self == Self::Insert { "insert into" } else { "update" };
        Error::new("0A000", format!("cannot {what} column \"{column}\" of view \"{view}\""))
            .detail(why)
    }
}

impl BoundView {
    /// The changed table, with the defaults of the views.
    pub(super) fn table(&self, view: &ChangedView) -> Result<Table> {
        let table = view.base.as_ref().and_then(TargetRelation::table);
        let mut table = table.ok_or_else(|| Error::missing("this view"))?.clone();
        for (place, default) in &self.defaults {
            if let Place::Column(at) = place {
                table.defaults.insert(*at, default.clone());
            }
        }
        Ok(table)
    }

    /// The positions in the table of the columns that have a default of a view.
    pub(super) fn with_defaults(&self, event: Event) -> Result<Vec<usize>> {
        self.defaults.iter().map(|(place, _)| place.column(event)).collect()
    }

    /// The name of a statement for the rows.
    pub(super) fn item(&self, name: &str, schema: Option<String>) -> Item {
        let columns = self.columns.iter().map(|of| (of.name.clone(), of.value.clone()));
        Item {
            name: name.to_owned(),
            schema,
            columns: columns.collect(),
            relation: None,
            aliased: None,
            is_named: true,
            shows_columns: true,
            is_lateral_only: false,
            allows_lateral: true,
        }
    }

    /// Whether DEFAULT means a value of a view, not what the table makes of it.
    pub(super) fn has_default(&self, column: usize) -> bool {
        self.defaults.iter().any(|(place, _)| *place == Place::Column(column))
    }

    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    /// The position of a column in the view.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The position in the table of a column of the view.
    pub(super) fn place(&self, at: usize, event: Event) -> Result<usize> {
        self.columns[at].place.column(event)
    }

    /// The name in the view of a column of the table.
    pub(super) fn name_of(&self, column: usize) -> Option<&str> {
        let is_it = |of: &&ViewColumn| matches!(of.place, Place::Column(at) if at == column);
        self.columns.iter().find(is_it).map(|of| of.name.as_str())
    }
}

/// The names that the query of a view sees: the columns of its relation.
struct Below {
    item: Item,
    /// What becomes of values for these columns.
    places: Vec<Place>,
    /// The parts of the views below.
    defaults: Vec<(Place, String)>,
    filters: Vec<Expr>,
    checks: Vec<ViewCheck>,
}

/// The select list and the condition of a view.
type Parts = (Vec<Output>, Option<Expr>);

impl<'a> Binder<'a> {
    /// Binds the query of a view over the row of a relation, which is the changed table. `is_checked` says that a view
    /// above checks this one, too.
    ///
    /// # Errors
    /// The view is not updatable.
    pub(super) fn bind_view(
        &mut self,
        view: &ChangedView,
        relation: RelationId,
        event: Event,
        is_checked: bool,
    ) -> Result<BoundView> {
        let refused = |why: &'static str| event.refused(&view.name, why);
        let catalog = self.catalog.of_view(view.number).unwrap_or(self.catalog);
        let range = updatable::base(&view.query, &|schema, name| kind_of(catalog, schema, name));
        let range = range.map_err(&refused)?;
        let base = view.base.as_ref().ok_or_else(|| refused(NOT_SINGLE))?;
        if event == Event::Merge {
            return Err(refused(NOT_SINGLE));
        }
        let is_cascaded = is_checked || view.check == Some(CheckOption::Cascaded);
        let mut below = grammar::growing(|| self.below(range, base, relation, event, is_cascaded))?;
        let item = below.item.clone();
        let parts = self.within_view(catalog, item, |binder| binder.parts_of_view(&view.query));
        // The text of the view is not the statement's.
        let parts = parts.map_err(|error| Error { position: None, ..error })?;
        let (output, filter) = parts.map_err(&refused)?;
        let columns = view_columns(view, output, &below);
        if event != Event::Delete && !columns.iter().any(|(_, is_plain)| *is_plain) {
            return Err(refused(NO_COLUMNS));
        }
        let columns: Vec<ViewColumn> = columns.into_iter().map(|(column, _)| column).collect();
        for (name, default) in &view.defaults {
            if let Some(column) = columns.iter().find(|column| column.name == *name) {
                below.defaults.retain(|(place, _)| *place != column.place);
                below.defaults.push((column.place.clone(), default.clone()));
            }
        }
        let Below { defaults, mut filters, mut checks, .. } = below;
        if let Some(condition) = filter {
            if is_cascaded || view.check.is_some() {
                let (view, condition) = (view.name.clone(), condition.clone());
                checks.push(ViewCheck { view, condition });
            }
            filters.push(condition);
        }
        Ok(BoundView { columns, defaults, filters, checks })
    }

    /// The columns of a view's relation.
    fn below(
        &mut self,
        range: &RangeVar,
        base: &TargetRelation,
        relation: RelationId,
        event: Event,
        is_checked: bool,
    ) -> Result<Below> {
        let alias = range.alias.as_ref();
        let shown = alias.map_or(range.relname.as_str(), |alias| alias.aliasname.as_str());
        let mut below = match base {
            TargetRelation::Table(table) => {
                let schema = table.schema.as_deref().filter(|_| alias.is_none());
                self.know_system_columns(relation, table, event);
                let mut items = part_of(relation, shown, schema, table).items;
                let item = items.pop().ok_or_else(|| Error::missing("this view"))?;
                let all = (0..table.columns.len()).filter(|at| !table.hidden.contains(at));
                let places = all.map(Place::Column).collect();
                let (defaults, filters, checks) = Default::default();
                Below { item, places, defaults, filters, checks }
            }
            TargetRelation::View(view) => {
                let bound = self.bind_view(view, relation, event, is_checked)?;
                let schema = alias.is_none().then(|| view.schema.clone());
                let places = bound.columns.iter().map(|column| column.place.clone()).collect();
                let item = bound.item(shown, schema);
                let BoundView { defaults, filters, checks, .. } = bound;
                Below { item, places, defaults, filters, checks }
            }
        };
        if let Some(alias) = alias {
            let item = &mut below.item;
            let named = item.columns.iter().map(|(name, value)| {
                let (name, sql_type) = (name.clone(), value.sql_type);
                Column { name, sql_type }
            });
            let mut named: Vec<Column> = named.collect();
            rename(&mut named, alias, range.location)?;
            for ((name, _), column) in item.columns.iter_mut().zip(named) {
                *name = column.name;
            }
            item.aliased = Some(range.relname.clone());
        }
        Ok(below)
    }

    /// Lets the query of a view name `tableoid`, and `ctid` where the changed row has one.
    fn know_system_columns(&mut self, relation: RelationId, table: &Table, event: Event) {
        self.tables.insert(relation, false);
        let is_there = event != Event::Insert || table.hidden.is_empty();
        let address = table.address().filter(|_| is_there);
        self.addresses.extend(address.map(|address| (relation, address)));
    }

    /// Binds a part of a view: it sees the columns of the view's relation and what the view's owner can name, and nothing
    /// of the statement.
    fn within_view<T>(
        &mut self,
        catalog: &'a dyn Catalog,
        item: Item,
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let statement = std::mem::replace(&mut self.catalog, catalog);
        let hidden = std::mem::take(&mut self.scopes);
        // The relation of the table stays at its level.
        self.scopes.extend(hidden.iter().map(|scope| Scope::new(scope.select)));
        if let Some(scope) = self.scopes.last_mut() {
            scope.items.push(item);
        }
        let parameters = std::mem::take(&mut self.parameters);
        let expansions = std::mem::take(&mut self.expansions);
        let values = std::mem::take(&mut self.domain_values);
        let bound = bind(self);
        self.catalog = statement;
        self.scopes = hidden;
        self.parameters = parameters;
        self.expansions = expansions;
        self.domain_values = values;
        bound
    }

    /// The select list and the condition of a view, or why it is not updatable.
    fn parts_of_view(
        &mut self,
        query: &SelectStmt,
    ) -> Result<std::result::Result<Parts, &'static str>> {
        let mut output =
            self.in_clause(Clause::Targets, |binder| binder.targets(&query.target_list))?;
        let filter = self.condition(query.where_clause.as_deref(), Clause::Where, "WHERE")?;
        if let Some(scope) = self.scopes.last() {
            if !scope.aggregates.is_empty() || !scope.windows.is_empty() {
                return Ok(Err(AGGREGATES));
            }
            if !scope.sets.is_empty() {
                return Ok(Err(SETS));
            }
        }
        for output in &mut output {
            if output.expr.sql_type.oid == Oid::UNKNOWN {
                output.expr = self.coerce_implicitly(output.expr.clone(), Oid::TEXT)?;
            }
        }
        Ok(Ok((output, filter)))
    }
}

/// What a function makes of rows.
fn kind_of(catalog: &dyn Catalog, schema: Option<&str>, name: &str) -> CallKind {
    let system = functions::named(name).next();
    if let Some(function) = system.filter(|_| schema.is_none_or(|schema| schema == "pg_catalog")) {
        return match (function.kind, function.returns_set) {
            (FunctionKind::Aggregate, _) => CallKind::Aggregate,
            (_, true) => CallKind::Set,
            _ => CallKind::Plain,
        };
    }
    let found = catalog.routines(schema, name).unwrap_or_default();
    match found.first() {
        Some(routine) if routine.aggregate.is_some() => CallKind::Aggregate,
        Some(routine) if routine.returns_set => CallKind::Set,
        _ => CallKind::Plain,
    }
}

/// The columns of a view, each with whether it is a column of the view's relation.
fn view_columns(view: &ChangedView, output: Vec<Output>, below: &Below) -> Vec<(ViewColumn, bool)> {
    let items = &view.query.target_list;
    // Otherwise there is a `*`.
    let is_written_out = items.len() == output.len();
    let column = |(at, output): (usize, Output)| {
        let is_reference = !is_written_out || updatable::column(&items[at]).is_some();
        let mut value = output.expr;
        let mut known = below.item.columns.iter().zip(&below.places);
        let found = known.find(|((_, known), _)| is_reference && known.kind == value.kind);
        let name = view.columns.get(at).cloned().unwrap_or(output.name);
        let place = found.map(|(_, place)| place.clone());
        let is_plain = place.is_some();
        let place = place.unwrap_or_else(|| Place::Nowhere {
            view: view.name.clone(),
            column: name.clone(),
            why: why_nowhere(is_reference, &value),
        });
        forget_locations(&mut value);
        (ViewColumn { name, value, place }, is_plain)
    };
    output.into_iter().enumerate().map(column).collect()
}

const SYSTEM: &str = "View columns that refer to system columns are not updatable.";

/// Why no value can be assigned to a view's column.
fn why_nowhere(is_reference: bool, value: &Expr) -> &'static str {
    let is_address = is_reference && value.sql_type.oid == Oid::TID;
    match &value.kind {
        Kind::TableOid(_) => SYSTEM,
        Kind::Cast(_) if is_address => SYSTEM,
        Kind::WholeRow(_) | Kind::NamedRow(..) if is_reference => {
            "View columns that return whole-row references are not updatable."
        }
        _ => "View columns that are not columns of their base relation are not updatable.",
    }
}
