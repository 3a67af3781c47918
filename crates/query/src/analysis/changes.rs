//! INSERT, UPDATE and DELETE by way of the analyzer.

use super::relations::Relations;
use super::{Refused, known, lower, lowered, parameters, refused, types};
use crate::context::Frame;
use analyzer::system::SqlType;
use analyzer::tree::{Action, Change, Conflict, ConflictTarget, ConflictUpdate, Kind, RelationId};
use analyzer::{BoundChange, tree};
use datafusion::arrow::datatypes::{Field as ArrowField, Schema, SchemaRef};
use datafusion::common::{DFSchema, DFSchemaRef};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use datafusion::physical_expr::PhysicalExpr;
use grammar::tree::NodeEnum;
use lowering::{Rows, lower_output, lower_over};
use planner::origins::field_of;
use planner::{Planner, refuse_deep};
use scan::provider::row_schema;
use std::sync::Arc;
use store::TableView;
use store::catalog::{self, Table};
use values::error::{Error, Result};
use values::field::Field;

/// A planned INSERT, UPDATE or DELETE.
pub(crate) struct Planned {
    /// The columns that get values, in the order of the query's columns; with UPDATE of those behind the table's.
    pub(crate) targets: Vec<tree::Target>,
    /// The query that returns the rows.
    pub(crate) rows: LogicalPlan,
    /// Whether the query joins other relations.
    pub(crate) joins: bool,
    /// ON CONFLICT.
    pub(crate) conflict: Option<OnConflict>,
    /// RETURNING.
    pub(crate) returning: Option<Returned>,
}

/// A planned ON CONFLICT.
pub(crate) struct OnConflict {
    /// The constraint.
    pub(crate) target: ConflictTarget,
    /// DO UPDATE.
    pub(crate) update: Option<OnConflictUpdate>,
}

/// A planned DO UPDATE. Its expressions are over the row that exists, followed by the row that was to be inserted.
pub(crate) struct OnConflictUpdate {
    /// The columns with their new values.
    pub(crate) values: Vec<(tree::Target, Arc<dyn PhysicalExpr>)>,
    /// WHERE.
    pub(crate) filter: Option<Arc<dyn PhysicalExpr>>,
}

/// A planned RETURNING.
pub(crate) struct Returned {
    /// The written rows, followed by columns of other relations.
    pub(crate) input: SchemaRef,
    /// The columns of the result.
    pub(crate) schema: SchemaRef,
    /// Their descriptions.
    pub(crate) fields: Vec<Field>,
    /// Their values.
    pub(crate) expressions: Vec<Arc<dyn PhysicalExpr>>,
}

/// Plans the statement of a frame, which changes a table. `None` if the analyzer does not know all of it.
///
/// # Errors
/// What is wrong with the statement.
pub(crate) async fn plan(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    view: &TableView,
) -> Result<Option<Planned>> {
    let Some(node) = frame.statement.and_then(|statement| statement.change()) else {
        return Ok(None);
    };
    known(planned(frame, planner, view, node).await)
}

/// The parameters of the statement of a frame, which changes a table, and the columns that it returns. `None` if the
/// analyzer does not know all of it.
///
/// # Errors
/// What is wrong with the statement.
pub(crate) async fn describe(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    view: &TableView,
    given: &[Option<catalog::SqlType>],
) -> Result<Option<(Vec<catalog::SqlType>, Option<Vec<Field>>)>> {
    let Some(node) = frame.statement.and_then(|statement| statement.change()) else {
        return Ok(None);
    };
    known(described(frame, planner, view, node, given).await)
}

async fn described(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    view: &TableView,
    node: &NodeEnum,
    given: &[Option<catalog::SqlType>],
) -> Result<(Vec<catalog::SqlType>, Option<Vec<Field>>), Refused> {
    let declared: Vec<Option<SqlType>> =
        given.iter().map(|given| given.as_ref().and_then(types::of_held)).collect();
    let (bound, relations) = bind(frame, planner, view, node, &declared).await?;
    let statement = Statement { frame, planner, table: view.table(), relations: &relations };
    let fields = statement.fields(&bound.change)?;
    Ok((parameters::described(given, &bound.parameters)?, fields))
}

async fn planned(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    view: &TableView,
    node: &NodeEnum,
) -> Result<Planned, Refused> {
    let declared: Vec<Option<SqlType>> =
        frame.parameters.iter().map(parameters::type_of_value).collect();
    let (bound, relations) = bind(frame, planner, view, node, &declared).await?;
    if bound.parameters.len() > frame.parameters.len() {
        return Err(Refused::Wrong(parameters::undefined(frame.parameters.len() + 1)));
    }
    let statement = Statement { frame, planner, table: view.table(), relations: &relations };
    statement.planned(&bound.change)
}

async fn bind(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    view: &TableView,
    node: &NodeEnum,
    declared: &[Option<SqlType>],
) -> Result<(BoundChange, Relations), Refused> {
    let mut relations = Relations::of(planner, node).await?;
    relations.set_target(view)?;
    loop {
        match grammar::growing(|| analyzer::bind_change(node, &relations, declared)) {
            Ok(bound) => return Ok((bound, relations)),
            // The parse tree did not show this name.
            Err(_) if relations.look_up_more(planner).await? => {}
            Err(error) => return Err(refused(error, frame.text)),
        }
    }
}

/// The surroundings of a bound statement.
struct Statement<'a> {
    frame: &'a Frame<'a>,
    planner: &'a Planner<'a>,
    table: &'a Arc<Table>,
    relations: &'a Relations,
}

impl Statement<'_> {
    fn planned(&self, change: &Change) -> Result<Planned, Refused> {
        let Lowered { targets, rows, joins, conflict, returning } = self.lowered(change)?;
        let conflict = match conflict {
            Some((target, None)) => Some(OnConflict { target, update: None }),
            Some((target, Some(update))) => {
                let LoweredUpdate { schema, targets, exprs, has_filter } = update;
                let mut physical = Vec::with_capacity(exprs.len());
                for expr in exprs {
                    physical.push(self.planner.physical_expression(expr, &schema)?.1);
                }
                let filter = if has_filter { physical.pop() } else { None };
                let values = targets.into_iter().zip(physical).collect();
                Some(OnConflict { target, update: Some(OnConflictUpdate { values, filter }) })
            }
            None => None,
        };
        let returning = match returning {
            Some(output) => {
                let LoweredOutput { input, schema, columns } = output;
                let (mut arrow, mut fields, mut expressions) = (Vec::new(), Vec::new(), Vec::new());
                for (logical, field) in columns {
                    let (_, of) = logical.to_field(&schema).map_err(Error::from)?;
                    let metadata = of.metadata().clone();
                    let of = ArrowField::new(field.name.as_str(), of.data_type().clone(), true);
                    arrow.push(of.with_metadata(metadata));
                    fields.push(field);
                    expressions.push(self.planner.physical_expression(logical, &schema)?.1);
                }
                let schema = Arc::new(Schema::new(arrow));
                Some(Returned { input, schema, fields, expressions })
            }
            None => None,
        };
        Ok(Planned { targets, rows, joins, conflict, returning })
    }

    /// The columns that the statement returns, also while its parameters have no values.
    fn fields(&self, change: &Change) -> Result<Option<Vec<Field>>, Refused> {
        let returning = self.lowered(change)?.returning;
        let fields = |output: LoweredOutput| {
            output.columns.into_iter().map(|(_, field)| field).collect::<Vec<_>>()
        };
        Ok(returning.map(fields))
    }

    fn lowered(&self, change: &Change) -> Result<Lowered, Refused> {
        let (targets, query, joins, conflict) = match &change.action {
            Action::Insert(insert) => (&insert.targets[..], &insert.rows, false, &insert.conflict),
            Action::Update { targets, rows, joins } => (&targets[..], rows, *joins, &None),
            Action::Delete { rows, joins } => (&[][..], rows, *joins, &None),
        };
        let (rows, _) = lower(self.planner, query, self.relations, self.frame.text)?;
        let rows = refuse_deep(rows).map_err(Error::from)?;
        let conflict = match conflict {
            Some(conflict) => Some(self.conflict(change.relation, conflict)?),
            None => None,
        };
        let returning = match &change.returning {
            Some(output) => {
                let shown = match change.action {
                    Action::Insert(_) => usize::MAX,
                    _ => self.table.columns.len() + targets.len(),
                };
                let others = rows.schema().fields().iter().skip(shown);
                let others = others.map(|field| ArrowField::clone(field)).collect();
                let types = query.columns.iter().skip(shown).map(|column| column.sql_type);
                Some(self.returned(change.relation, output, others, types.collect())?)
            }
            None => None,
        };
        Ok(Lowered { targets: targets.to_vec(), rows, joins, conflict, returning })
    }

    /// The types of the table's columns.
    fn types(&self) -> Result<Vec<SqlType>, Refused> {
        let columns = self.table.columns.iter();
        let known = columns.map(|column| types::of_held(&column.sql_type));
        known.collect::<Option<_>>().ok_or_else(|| {
            Refused::Missing(Error::unsupported("a column of this type is not supported"))
        })
    }

    fn returned(
        &self,
        relation: RelationId,
        output: &[tree::Output],
        others: Vec<ArrowField>,
        other_types: Vec<SqlType>,
    ) -> Result<LoweredOutput, Refused> {
        let own = row_schema(self.table);
        let width = own.fields().len();
        let fields = own.fields().iter().map(|field| ArrowField::clone(field)).chain(others);
        let input = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let schema: DFSchemaRef =
            Arc::new(DFSchema::try_from_qualified_schema("?target", &input).map_err(Error::from)?);
        let mut types = self.types()?;
        types.extend(other_types);
        let rows = Rows { schema: &schema, relations: &[(relation, types)] };
        let surroundings = lowered(self.planner, self.relations, self.frame.text);
        let columns = lower_output(output, &rows, &surroundings)?.into_iter().zip(output);
        let columns = columns.map(|((logical, field), output)| match output.expr.kind {
            Kind::Column(_, at) if at < width => {
                (logical, Field { name: field.name, ..field_of(self.table, at) })
            }
            _ => (logical, field),
        });
        let columns = columns.collect();
        Ok(LoweredOutput { input, schema, columns })
    }

    fn conflict(
        &self,
        relation: RelationId,
        conflict: &Conflict,
    ) -> Result<(ConflictTarget, Option<LoweredUpdate>), Refused> {
        let target = conflict.target.clone();
        let Some(update) = &conflict.update else { return Ok((target, None)) };
        let ConflictUpdate { excluded, targets, values, filter } = update;
        let row = row_schema(self.table);
        let schema = DFSchema::try_from_qualified_schema("?target", &row)
            .and_then(|own| own.join(&DFSchema::try_from_qualified_schema("?excluded", &row)?));
        let schema: DFSchemaRef = Arc::new(schema.map_err(Error::from)?);
        let types = self.types()?;
        let relations = [(relation, types.clone()), (*excluded, types)];
        let rows = Rows { schema: &schema, relations: &relations };
        let surroundings = lowered(self.planner, self.relations, self.frame.text);
        let exprs = lower_over(values.iter().chain(filter), &rows, &surroundings)?;
        let (targets, has_filter) = (targets.clone(), filter.is_some());
        Ok((target, Some(LoweredUpdate { schema, targets, exprs, has_filter })))
    }
}

/// A statement with the engine's expressions, in which parameters may have no values.
struct Lowered {
    targets: Vec<tree::Target>,
    rows: LogicalPlan,
    joins: bool,
    conflict: Option<(ConflictTarget, Option<LoweredUpdate>)>,
    returning: Option<LoweredOutput>,
}

/// DO UPDATE: the new values, and WHERE behind them.
struct LoweredUpdate {
    schema: DFSchemaRef,
    targets: Vec<tree::Target>,
    exprs: Vec<Expr>,
    has_filter: bool,
}

/// RETURNING.
struct LoweredOutput {
    input: SchemaRef,
    schema: DFSchemaRef,
    columns: Vec<(Expr, Field)>,
}
