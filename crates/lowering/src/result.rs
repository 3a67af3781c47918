//! The columns of a result.

use crate::Surroundings;
use crate::refusal::Result;
use crate::scope::Lowering;
use crate::types::{self, is_id, is_long_id, is_named_id};
use analyzer::system::{Oid, SqlType};
use analyzer::tree::{Body, Cte, Expr, From, Kind, Output, Query, Relation, RelationId, Source};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::metadata::FieldMetadata;
use datafusion::logical_expr::{Expr as Engine, LogicalPlan, LogicalPlanBuilder, cast};
use functions::casts::labels;
use std::collections::BTreeMap;
use store::catalog::{SqlType as Held, UserType};
use values::field::{Field, Origin};
use values::types::{TYPE_KEY, of_field, oids, plan_field};

/// The plan with the columns converted to the types of results, and their description.
pub(crate) fn described(
    lowering: &Lowering<'_>,
    query: &Query,
    plan: LogicalPlan,
) -> Result<(LogicalPlan, Vec<Field>)> {
    let plan = converted(lowering, query, plan)?;
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
    if !is_converted(sql_type) {
        return Ok((value.expr.alias(&output.name), field));
    }
    let (value, name) = result_value(lowering, value.expr, sql_type)?;
    let metadata: BTreeMap<String, String> =
        name.map(|name| (TYPE_KEY.to_owned(), name)).into_iter().collect();
    let metadata = Some(FieldMetadata::from(metadata));
    Ok((value.alias_with_metadata(&output.name, metadata), field))
}

fn converted(lowering: &Lowering<'_>, query: &Query, plan: LogicalPlan) -> Result<LogicalPlan> {
    if !query.columns.iter().any(|column| is_converted(column.sql_type)) {
        return Ok(plan);
    }
    let columns = plan.schema().iter().zip(&query.columns).map(|((relation, field), known)| {
        let column = Engine::Column((relation, field).into());
        if !is_converted(known.sql_type) {
            return Ok(column);
        }
        let (value, name) = result_value(lowering, column, known.sql_type)?;
        let metadata: BTreeMap<String, String> =
            name.map(|name| (TYPE_KEY.to_owned(), name)).into_iter().collect();
        let metadata = Some(FieldMetadata::from(metadata));
        Ok(value.alias_qualified_with_metadata(relation.cloned(), field.name(), metadata))
    });
    let columns: Vec<Engine> = columns.collect::<Result<_>>()?;
    Ok(LogicalPlanBuilder::from(plan).project(columns)?.build()?)
}

/// Whether results hold the values of a type otherwise than plans do.
fn is_converted(sql_type: SqlType) -> bool {
    let oid = sql_type.oid;
    let is_vector = matches!(oid, Oid::NAME | Oid::CHAR | Oid::INT2VECTOR | Oid::OIDVECTOR);
    (is_id(oid) && !is_long_id(oid)) || is_vector || oid.element() == Some(Oid::OID) || is_path(oid)
}

/// Whether values are JSON paths, which have a form of their own in results.
fn is_path(oid: Oid) -> bool {
    oid == Oid::JSONPATH || oid.element() == Some(Oid::JSONPATH)
}

/// The value in a result, and the name of its type if the Arrow type does not imply it.
fn result_value(
    lowering: &Lowering<'_>,
    column: Engine,
    sql_type: SqlType,
) -> Result<(Engine, Option<String>)> {
    let call = |name: &str, arguments: Vec<Engine>| match lowering.around.functions.scalar(name) {
        Some(function) => Ok(function.call(arguments)),
        None => crate::refusal::missing(format!("function {name}")),
    };
    let oid = sql_type.oid;
    if is_path(oid) {
        return crate::refusal::missing("a result of type jsonpath");
    }
    let name = oid.catalog_name();
    Ok(match oid {
        Oid::NAME => (column, Some("name".to_owned())),
        Oid::CHAR => (column, Some("\"char\"".to_owned())),
        Oid::INT2VECTOR | Oid::OIDVECTOR => {
            let blank = datafusion::logical_expr::lit(" ");
            (call("array_to_string", vec![column, blank])?, None)
        }
        oid if is_named_id(oid) => (call(&format!("{name}out"), vec![column])?, None),
        oid if is_id(oid) => (cast(column, DataType::UInt32), Some("oid".to_owned())),
        _ => (cast(column, oids()), Some("oid[]".to_owned())),
    })
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

/// A plan whose columns of enums have their labels, as clients get them. `fields` describe the columns.
///
/// # Errors
/// The engine refuses the plan.
pub fn with_labels(plan: LogicalPlan, fields: &[Field]) -> datafusion::common::Result<LogicalPlan> {
    let is_enum = |field: &Field| labels_of(&field.sql_type).is_some();
    if !fields.iter().any(is_enum) {
        return Ok(plan);
    }
    let columns = plan.schema().iter().zip(fields).map(|((relation, field), known)| {
        let column = Engine::Column((relation, field).into());
        match labels_of(&known.sql_type) {
            Some(user) => {
                let label = labels::of(user).call(vec![column]);
                label.alias_qualified(relation.cloned(), field.name())
            }
            None => column,
        }
    });
    let columns: Vec<Engine> = columns.collect();
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

/// The plan whose fields name the types of its columns: who reads a view knows only these. A computed column has the field of
/// its Arrow type otherwise, in which an enum is a number.
pub fn with_types(plan: LogicalPlan, fields: &[Field]) -> datafusion::common::Result<LogicalPlan> {
    let mut is_changed = false;
    let columns = plan.schema().iter().zip(fields).map(|((relation, field), known)| {
        let column = Engine::Column((relation, field).into());
        let metadata = plan_field(field.name(), &known.sql_type, true).metadata().clone();
        let named = of_field(field);
        // A domain stays one: the description has its base type.
        if metadata.is_empty() || named == known.sql_type || named.user_type().is_some() {
            return column;
        }
        is_changed = true;
        let metadata = Some(FieldMetadata::from(metadata));
        column.alias_qualified_with_metadata(relation.cloned(), field.name(), metadata)
    });
    let columns: Vec<Engine> = columns.collect();
    match is_changed {
        true => LogicalPlanBuilder::from(plan).project(columns)?.build(),
        false => Ok(plan),
    }
}

/// A column over rows at hand with the labels of an enum.
pub fn label(column: Engine, field: &Field) -> Engine {
    match labels_of(&field.sql_type) {
        Some(user) => labels::of(user).call(vec![column.unalias()]).alias(&field.name),
        None => column,
    }
}

fn labels_of(sql_type: &Held) -> Option<&std::sync::Arc<UserType>> {
    sql_type.user_type().filter(|user| user.has_labels())
}
