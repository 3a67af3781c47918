//! Which relations a text names.

use catalog_views::relation_names::find_in;
use catalog_views::search_path::SearchPath;
use grammar::written::{Context, Names};
use parser::object_name;
use store::catalog::{Catalog, Function, RelationId};
use system_catalog::{Oid, functions};

/// Whether a query names a relation: in FROM, or as a constant of the type `regclass`.
pub fn mentions(catalog: &Catalog, path: SearchPath<'_>, query: &str, id: RelationId) -> bool {
    let Some(names) = Names::of(query) else { return false };
    let is_it = |schema: Option<&str>, name: &str| {
        find_in(catalog, path, schema, name).is_some_and(|found| found.id() == id)
    };
    let in_from = names.relations.iter().filter_map(|relation| relation.name.split()).any(
        |(schema, name)| {
            let is_cte = schema.is_none() && names.ctes.iter().any(|cte| cte == name);
            !is_cte && is_it(schema, name)
        },
    );
    let constants = names.constants.iter().filter(|constant| is_regclass(&constant.context));
    in_from
        || constants
            .filter_map(|constant| object_name(&constant.value).ok())
            .any(|name| is_it(name.schema.as_deref(), &name.name))
}

/// Whether a statement may call a function: one of its calls has the name, and so many arguments.
pub fn may_call(path: SearchPath<'_>, statement: &str, function: &Function) -> bool {
    grammar::calls(statement).into_iter().any(|(schema, name, arguments)| {
        let in_schema = match schema {
            Some(schema) => path.resolve(&schema) == function.schema,
            None => path.of_functions().any(|schema| schema == function.schema),
        };
        name == function.name && in_schema && routines::takes(function, arguments)
    })
}

/// Whether a constant is the name of a relation.
pub(crate) fn is_regclass(context: &Context) -> bool {
    match context {
        Context::Type(name) => name == "regclass",
        Context::Function(name, at) => {
            functions::named(name).any(|of| of.arguments.get(*at) == Some(&Oid::REGCLASS))
        }
    }
}
