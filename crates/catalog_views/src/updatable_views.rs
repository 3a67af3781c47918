//! Which views can be changed, and which of their columns, as `information_schema` and functions tell.
//!
//! This looks at the texts of views. A statement that changes a view binds its text, and decides by the same rules
//! ([`grammar::updatable`]).

use crate::relation_names::find_in;
use crate::search_path::SearchPath;
use crate::shape;
use grammar::tree::{NodeEnum, SelectStmt};
use grammar::updatable::{CallKind, NO_COLUMNS, NOT_SINGLE, base, column};
use store::catalog::{Catalog, Relation, RelationId, View};
use system_catalog::functions::{self, FunctionKind};

/// How many views may lead to a table.
const VIEWS_DEEP: usize = 256;

/// What can be done with the rows of a relation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Updatable {
    /// UPDATE.
    pub update: bool,
    /// INSERT.
    pub insert: bool,
    /// DELETE.
    pub delete: bool,
}

impl Updatable {
    const ALL: Self = Self { update: true, insert: true, delete: true };
    const DELETE: Self = Self { update: false, insert: false, delete: true };

    /// The bits of `pg_relation_is_updatable`.
    pub fn bits(self) -> i32 {
        i32::from(self.update) << 2 | i32::from(self.insert) << 3 | i32::from(self.delete) << 4
    }

    fn or(self, other: Self) -> Self {
        Self {
            update: self.update || other.update,
            insert: self.insert || other.insert,
            delete: self.delete || other.delete,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            update: self.update && other.update,
            insert: self.insert && other.insert,
            delete: self.delete && other.delete,
        }
    }
}

/// Why WITH CHECK OPTION does not apply to a view; `None` if it does.
pub fn obstacle(catalog: &Catalog, path: SearchPath<'_>, view: &View) -> Option<&'static str> {
    let Some(query) = query_of(view) else { return Some(NOT_SINGLE) };
    match Base::of(catalog, path, view, &query) {
        Err(why) => Some(why),
        Ok(base) if base.columns.iter().all(Option::is_none) => Some(NO_COLUMNS),
        Ok(_) => None,
    }
}

/// What can be done with the rows of a relation.
pub fn of_relation(catalog: &Catalog, path: SearchPath<'_>, relation: &Relation) -> Updatable {
    let Relation::View(view) = relation else {
        return of_columns(catalog, path, relation, &[None])[0];
    };
    // A view takes values if one of its columns does.
    let names = query_of(view).map_or_else(Vec::new, |query| names_of(view, &query).collect());
    let names: Vec<Option<String>> = names.into_iter().chain([None]).collect();
    let all = of_columns(catalog, path, relation, &names).into_iter();
    all.fold(Updatable::default(), Updatable::or)
}

/// What can be done with columns of a relation, by their names; with rows whose columns take no values, for no name.
pub fn of_columns(
    catalog: &Catalog,
    path: SearchPath<'_>,
    relation: &Relation,
    names: &[Option<String>],
) -> Vec<Updatable> {
    reached(catalog, path, relation, names, &mut Vec::new())
}

/// `above` are the views that lead to the relation.
fn reached(
    catalog: &Catalog,
    path: SearchPath<'_>,
    relation: &Relation,
    names: &[Option<String>],
    above: &mut Vec<RelationId>,
) -> Vec<Updatable> {
    let nothing = vec![Updatable::default(); names.len()];
    let view = match relation {
        Relation::Table(table) if table.materialized.is_none() => {
            return vec![Updatable::ALL; names.len()];
        }
        Relation::View(view) => view,
        _ => return nothing,
    };
    if above.contains(&view.id) || above.len() >= VIEWS_DEEP {
        return nothing;
    }
    above.push(view.id);
    let Some(query) = query_of(view) else { return nothing };
    let Ok(base) = Base::of(catalog, path, view, &query) else { return nothing };
    let own: Vec<Option<String>> = names_of(view, &query).collect();
    let below = names.iter().map(|name| {
        let at = own.iter().position(|own| name.is_some() && own == name)?;
        base.columns.get(at)?.clone()
    });
    let below: Vec<Option<String>> = below.collect();
    let reached = grammar::growing(|| reached(catalog, path, base.relation, &below, above));
    let here = below.iter().map(|below| match below {
        Some(_) => Updatable::ALL,
        None => Updatable::DELETE,
    });
    here.zip(reached).map(|(here, below)| here.and(below)).collect()
}

/// The name of a view's column at a position, if its text shows it.
pub(crate) fn column_name(view: &View, at: usize) -> Option<String> {
    names_of(view, &*query_of(view)?).nth(at)?
}

/// The names of a view's columns, as far as its text shows them.
fn names_of<'a>(
    view: &'a View,
    query: &'a SelectStmt,
) -> impl Iterator<Item = Option<String>> + 'a {
    query.target_list.iter().enumerate().map(|(at, item)| {
        let written = match &item.node {
            Some(NodeEnum::ResTarget(target)) if !target.name.is_empty() => {
                Some(target.name.as_str())
            }
            _ => None,
        };
        let given = view.columns.get(at).map(String::as_str);
        given.or(written).or_else(|| column(item)).map(str::to_owned)
    })
}

/// The relation of a view.
struct Base<'a> {
    relation: &'a Relation,
    /// For each column of the view, the column of the relation that it is, if it is one.
    columns: Vec<Option<String>>,
}

impl<'a> Base<'a> {
    fn of(
        catalog: &'a Catalog,
        path: SearchPath<'_>,
        view: &View,
        query: &SelectStmt,
    ) -> Result<Self, &'static str> {
        let path = SearchPath::new(&view.search_path, path.own());
        let range = base(query, &|schema, name| kind_of(catalog, path, schema, name))?;
        let schema = Some(range.schemaname.as_str()).filter(|schema| !schema.is_empty());
        let name = range.relname.as_str();
        let relation = match schema {
            None if is_implicit(name) => None,
            schema => find_in(catalog, path, schema, name),
        };
        let mut known: Vec<String> = match relation.ok_or(NOT_SINGLE)? {
            Relation::Table(table) if table.materialized.is_none() => {
                let shown = table.columns.iter().filter(|column| !column.hidden);
                shown.map(|column| column.name.clone()).collect()
            }
            Relation::View(inner) => match query_of(inner) {
                Some(query) => names_of(inner, &query).map(Option::unwrap_or_default).collect(),
                None => Vec::new(),
            },
            _ => return Err(NOT_SINGLE),
        };
        let own = known.clone();
        let renamed = range.alias.iter().flat_map(|alias| &alias.colnames);
        for (name, renamed) in known.iter_mut().zip(renamed) {
            if let Some(NodeEnum::String(renamed)) = &renamed.node {
                name.clone_from(&renamed.sval);
            }
        }
        let columns = query.target_list.iter().map(|item| {
            let meant = column(item)?;
            let at = known.iter().position(|name| name == meant)?;
            Some(own[at].clone())
        });
        let columns = columns.collect();
        Ok(Self { relation: relation.ok_or(NOT_SINGLE)?, columns })
    }
}

/// Whether a name without a schema is that of a system table.
fn is_implicit(name: &str) -> bool {
    shape::of("pg_catalog", name).is_some_and(|shape| !shape.is_function())
}

/// What a function makes of rows.
fn kind_of(catalog: &Catalog, path: SearchPath<'_>, schema: Option<&str>, name: &str) -> CallKind {
    let system = functions::named(name).next();
    if let Some(function) = system.filter(|_| schema.is_none_or(|schema| schema == "pg_catalog")) {
        return match (function.kind, function.returns_set) {
            (FunctionKind::Aggregate, _) => CallKind::Aggregate,
            (_, true) => CallKind::Set,
            _ => CallKind::Plain,
        };
    }
    let schemas = path.of_function(schema).into_iter();
    match schemas.flat_map(|schema| catalog.functions_named(schema, name)).next() {
        Some(function) if function.extension.aggregate.is_some() => CallKind::Aggregate,
        Some(function) if function.returns_set => CallKind::Set,
        _ => CallKind::Plain,
    }
}

/// The parse tree of a view's query.
fn query_of(view: &View) -> Option<Box<SelectStmt>> {
    let script = grammar::parse(&view.sql).ok()?;
    let statement = script.statements().first()?.stmt.as_ref()?.node.as_ref()?;
    match statement {
        NodeEnum::SelectStmt(query) => Some(query.clone()),
        _ => None,
    }
}
