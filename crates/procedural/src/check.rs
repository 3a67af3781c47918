//! What is wrong with a source in PL/pgSQL, as far as it is found when the function is made.

use catalog_views::relation_names::find_named;
use catalog_views::search_path::SearchPath;
use grammar::tree::NodeEnum;
use parser::types;
use planner::Planner;
use plpgsql::tree::Block;
use plpgsql::{Checked, Lookup};
use std::sync::Arc;
use store::catalog::{Catalog, Function, Relation};
use user_types::Visible;
use values::error::{Error, Result, SqlState};

/// Checks the source of a function.
///
/// # Errors
/// What is wrong with it; positions count the characters of the source.
pub fn check_function(planner: &Planner<'_>, function: &Function) -> Result<()> {
    let names: Vec<String> = function.parameters.iter().map(|of| of.name.clone()).collect();
    let result = system_catalog::Oid(function.result_id);
    let of = Checked {
        name: &function.name,
        parameters: &names,
        returns_set: function.returns_set,
        is_void: result.catalog_name() == "void",
        has_outputs: function.outputs().next().is_some(),
        is_procedure: function.is_procedure,
        is_trigger: result == system_catalog::Oid::TRIGGER,
    };
    let block = plpgsql::parse(&function.body)?;
    let (catalog, path) = (planner.tables.catalog(), planner.search_path);
    plpgsql::check(&block, &of, &Names { catalog, path })
}

/// Checks the source of a DO block, which has a name in errors.
///
/// # Errors
/// As of [`check_function`].
pub fn check_block(
    catalog: &Arc<Catalog>,
    path: SearchPath<'_>,
    block: &Block,
    name: &str,
) -> Result<()> {
    let of = Checked {
        name,
        parameters: &[],
        returns_set: false,
        is_void: true,
        has_outputs: false,
        is_procedure: false,
        is_trigger: false,
    };
    plpgsql::check(block, &of, &Names { catalog, path })
}

/// The names of a catalog.
struct Names<'a> {
    catalog: &'a Arc<Catalog>,
    path: SearchPath<'a>,
}

impl Lookup for Names<'_> {
    fn syntax(&self, text: &str) -> Result<()> {
        parser::parse(text).map(drop)
    }

    fn type_name(&self, name: &str) -> Result<()> {
        let text = format!("SELECT NULL::{name}");
        parser::parse(&text).map_err(|error| {
            let error = error.without_position();
            error.within(format_args!("invalid type name \"{name}\""))
        })?;
        let Ok(script) = grammar::parse(&text) else { return Ok(()) };
        let statement = script.statements().first();
        let select = statement.and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
        let Some(NodeEnum::SelectStmt(select)) = select else { return Ok(()) };
        let target = select.target_list.first().and_then(|node| node.node.as_ref());
        let Some(NodeEnum::ResTarget(target)) = target else { return Ok(()) };
        let value = target.val.as_ref().and_then(|node| node.node.as_ref());
        let Some(NodeEnum::TypeCast(cast)) = value else { return Ok(()) };
        let Some(written) = &cast.type_name else { return Ok(()) };
        if types::of_name(written).is_some() || analyzer::declared_type(written).is_ok() {
            return Ok(());
        }
        let text = name.split(['(', '[']).next().unwrap_or(name).trim();
        let Ok(known) = parser::object_name(text) else { return Ok(()) };
        let catalog = self.catalog;
        let types = Visible::new(catalog, self.path.schemas());
        let is_known = types.find(known.schema.as_deref(), &known.name).is_some()
            || matches!(find_named(catalog, self.path, &known), Ok(Some(_)) | Err(_));
        match is_known {
            true => Ok(()),
            false => {
                let message = format!("type \"{text}\" does not exist");
                Err(Error::new(SqlState::UndefinedObject, message))
            }
        }
    }

    fn relation(&self, name: &str, column: Option<&str>) -> Result<()> {
        let Ok(named) = parser::object_name(name) else { return Ok(()) };
        if matches!(named.schema.as_deref(), Some("pg_catalog" | "information_schema"))
            || named.name.starts_with("pg_")
        {
            return Ok(());
        }
        let found = find_named(self.catalog, self.path, &named)?;
        let Some(relation) = found else {
            let message = format!("relation \"{name}\" does not exist");
            return Err(Error::new(SqlState::UndefinedTable, message));
        };
        match (relation, column) {
            (Relation::Table(table), Some(column)) if table.column(column).is_none() => {
                let message = format!("column \"{column}\" of relation \"{name}\" does not exist");
                Err(Error::new(SqlState::UndefinedColumn, message))
            }
            _ => Ok(()),
        }
    }
}
