//! The columns of a result.

use crate::Surroundings;
use crate::refusal::Result;
use crate::scope::Lowering;
use crate::types;
use analyzer::system::SqlType;
use analyzer::tree::{Body, Cte, Expr, From, Kind, Output, Query, Relation, RelationId, Source};
use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::metadata::FieldMetadata;
use datafusion::logical_expr::{Expr as Engine, LogicalPlan, LogicalPlanBuilder};
use std::collections::BTreeMap;
use store::catalog::SystemType;
use values::field::{Field, Origin};
use values::types::{SYSTEM_TYPE_KEY, TYPE_KEY, plan_field};

/// The plan with columns that name their types, and their description.
pub(crate) fn described(
    lowering: &Lowering<'_>,
    query: &Query,
    plan: LogicalPlan,
) -> Result<(LogicalPlan, Vec<Field>)> {
    let plan = with_type_names(query, plan)?;
    let fields = query.columns.iter().zip(plan.schema().fields()).enumerate();
    let fields = fields.map(|(index, (column, field))| {
        let sql_type = types::shown(column.sql_type, field.data_type());
        Field {
            declared: column.sql_type.modifier >= 0,
            origin: origin(query, index, lowering.around, &mut Vec::new()),
            ..Field::new(column.name.clone(), sql_type)
        }
    });
    let fields = fields.collect();
    Ok((plan, fields))
}

/// A column of a result over rows at hand, and its description.
pub(crate) fn column(lowering: &mut Lowering<'_>, output: &Output) -> Result<(Engine, Field)> {
    let value = lowering.expr(&output.expr)?;
    let sql_type = output.expr.sql_type;
    let field = Field {
        declared: sql_type.modifier >= 0,
        ..Field::new(output.name.clone(), types::shown(sql_type, &value.data_type))
    };
    let names = type_name(sql_type)?.map(|name| BTreeMap::from([(TYPE_KEY.to_owned(), name)]));
    Ok((value.expr.alias_with_metadata(&output.name, names.map(FieldMetadata::from)), field))
}

/// The plan whose columns name their types where the Arrow types do not imply them.
fn with_type_names(query: &Query, plan: LogicalPlan) -> Result<LogicalPlan> {
    let columns = plan.schema().fields().iter().zip(&query.columns);
    let names = columns.map(|(field, column)| names_of(field, column.sql_type));
    let names = names.collect::<Result<Vec<_>>>()?;
    if names.iter().all(BTreeMap::is_empty) {
        return Ok(plan);
    }
    let columns = plan.schema().iter().zip(names).map(|((relation, field), names)| {
        let column = Engine::Column((relation, field).into());
        if names.is_empty() {
            return column;
        }
        let names = Some(FieldMetadata::from(names));
        column.alias_qualified_with_metadata(relation.cloned(), field.name(), names)
    });
    let columns: Vec<Engine> = columns.collect();
    Ok(LogicalPlanBuilder::from(plan).project(columns)?.build()?)
}

/// What the field of a column has to say of its type. A value that is only taken for one of another type has the field of
/// the column that it comes from.
fn names_of(field: &FieldRef, sql_type: SqlType) -> Result<BTreeMap<String, String>> {
    let mut names = BTreeMap::new();
    let known = |key: &str| field.metadata().get(key);
    let is_of_system = |name: &String| SystemType::of_name(name.trim_end_matches("[]")).is_some();
    match type_name(sql_type)? {
        Some(name) => names.insert(TYPE_KEY.to_owned(), name),
        None if known(TYPE_KEY).is_some_and(is_of_system) => {
            names.insert(TYPE_KEY.to_owned(), String::new())
        }
        None => None,
    };
    if known(SYSTEM_TYPE_KEY).is_some() && !sql_type.oid.is_of_users() {
        names.insert(SYSTEM_TYPE_KEY.to_owned(), sql_type.oid.catalog_name().to_owned());
    }
    names.retain(|key, name| known(key) != Some(&*name));
    Ok(names)
}

/// The name of a type of the system catalogs, as fields of plans have it; `None` for other types, also for domains and `char`.
///
/// # Errors
/// Missing for JSON paths, which have a form of their own in results.
fn type_name(sql_type: SqlType) -> Result<Option<String>> {
    let held = types::system(sql_type).filter(|_| !sql_type.oid.is_of_users());
    let Some(held) = held else { return Ok(None) };
    match held.system_type() {
        Some(SystemType::Jsonpath) => crate::refusal::missing("a result of type jsonpath"),
        Some(SystemType::Cstring | SystemType::Bpchar) => Ok(None),
        _ => Ok(plan_field("", &held, true).metadata().get(TYPE_KEY).cloned()),
    }
}

/// The column of a table that a result column returns unchanged. `ctes` are the queries in WITH around the query.
fn origin<'a>(
    query: &'a Query,
    column: usize,
    around: &Surroundings<'_>,
    ctes: &mut Vec<&'a Cte>,
) -> Option<Origin> {
    ctes.extend(&query.with);
    let Body::Select(select) = &query.body else { return None };
    let expr = &select.output.get(column)?.expr;
    let (relation, column) = match &expr.kind {
        Kind::Column(relation, column) => (*relation, *column),
        Kind::GroupKey(id, key) if *id == select.id => column_of(select.group_by.get(*key)?)?,
        _ => return None,
    };
    let relation = select.from.iter().find_map(|item| relation_in(item, relation))?;
    match &relation.source {
        Source::Table(handle) => {
            let table = around.sources.get(usize::try_from(*handle).ok()?)?;
            Some(Origin { table: table.oid?, column: i16::try_from(column + 1).ok()? })
        }
        Source::Query(query) => origin(query, column, around, ctes),
        Source::Cte(id) => {
            let cte = ctes.iter().find(|cte| cte.id == *id)?;
            origin(&cte.query, column, around, ctes)
        }
        _ => None,
    }
}

fn column_of(expr: &Expr) -> Option<(RelationId, usize)> {
    match expr.kind {
        Kind::Column(relation, column) => Some((relation, column)),
        _ => None,
    }
}

fn relation_in(item: &From, id: RelationId) -> Option<&Relation> {
    match item {
        From::Relation(relation) => (relation.id == id).then_some(relation),
        From::Join { left, right, .. } => relation_in(left, id).or_else(|| relation_in(right, id)),
    }
}
