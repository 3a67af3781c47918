//! Statements that change rows, by way of the analyzer.

use super::relations::{ChangeTarget, Relations};
use super::{Returned, lower, lowered, parameters};
use crate::context::Frame;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::{
    self, Action, Change, Conflict, ConflictTarget, Expr as Tree, Kind, Main, MergeAction,
    Overriding, Query, Target,
};
use datafusion::arrow::datatypes::{DataType, Field as ArrowField, SchemaRef};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use grammar::tree::NodeEnum;
use lowering::{Rows, lower_output, lower_over};
use parser::types;
use planner::origins::field_of;
use planner::over_rows::{AtHand, OverRows};
use planner::results::for_client;
use planner::{Planner, refuse_deep};
use scan::provider::row_schema;
use std::sync::Arc;
use store::catalog::{self, Table};
use table_rows::{Refused, refused};
use values::error::{Error, Result, SqlState};
use values::field::Field;

/// A planned change of a table.
pub(crate) struct Planned {
    /// The table or view.
    pub(crate) target: ChangeTarget,
    /// The query that returns the rows: those to insert, or those of the table, followed by new values and columns of other
    /// relations.
    pub(crate) rows: LogicalPlan,
    /// What is done with them.
    pub(crate) action: PlannedAction,
    /// RETURNING.
    pub(crate) returning: Option<Returning>,
    /// What new rows must fulfil for the views through which they are written.
    pub(crate) checks: Option<Checks>,
}

/// The conditions of views WITH CHECK OPTION, over the written rows, followed by columns of other relations.
pub(crate) struct Checks {
    /// The names of the views.
    pub(crate) views: Vec<String>,
    /// Their conditions.
    pub(crate) conditions: OverRows,
}

/// What a planned change does.
pub(crate) enum PlannedAction {
    /// INSERT of the query's rows.
    Insert {
        /// The columns that get values, in the order of the query's columns.
        targets: Vec<Target>,
        /// OVERRIDING.
        overriding: Overriding,
        /// Whether the query is a VALUES, or one row: its rows are written in their order.
        is_values: bool,
        /// ON CONFLICT.
        conflict: Option<Box<OnConflict>>,
    },
    /// UPDATE.
    Update {
        /// The columns that get the new values.
        targets: Vec<Target>,
        /// Whether the query joins other relations.
        joins: bool,
    },
    /// DELETE.
    Delete {
        /// Whether the query joins other relations.
        joins: bool,
    },
    /// MERGE.
    Merge(Vec<When>),
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
    /// The columns that get the new values.
    pub(crate) targets: Vec<Target>,
    /// The new values.
    pub(crate) values: OverRows,
    /// WHERE.
    pub(crate) filter: Option<OverRows>,
}

/// A planned WHEN clause of MERGE. Its expressions are over the columns of the query.
pub(crate) struct When {
    /// MATCHED, else NOT MATCHED.
    pub(crate) is_matched: bool,
    /// AND.
    pub(crate) condition: Option<OverRows>,
    /// THEN.
    pub(crate) action: WhenAction,
}

/// What a planned WHEN clause does.
pub(crate) enum WhenAction {
    /// DO NOTHING.
    Nothing,
    /// DELETE.
    Delete,
    /// UPDATE of these columns.
    Update(Vec<Target>, OverRows),
    /// INSERT of these columns.
    Insert(Vec<Target>, OverRows, Overriding),
}

/// A planned RETURNING, over the written rows, followed by columns of other relations.
pub(crate) struct Returning {
    /// The descriptions of the columns.
    pub(crate) fields: Vec<Field>,
    /// Their values.
    pub(crate) values: Arc<OverRows>,
}

/// The parameters of a statement that changes rows, and the columns that it returns.
///
/// # Errors
/// What is wrong with the statement.
pub(crate) async fn describe(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    node: &NodeEnum,
    given: &[Option<catalog::SqlType>],
) -> Result<(Vec<catalog::SqlType>, Option<Vec<Field>>)> {
    let declared: Vec<Option<SqlType>> =
        given.iter().map(|given| given.as_ref().and_then(types::of_held)).collect();
    let statement = bound(frame, planner, node, &declared, false).await?;
    let mut returned = Vec::new();
    for named in &statement.tree.changes {
        if let Some(schema) = statement.returned_schema(&named.change, &returned)? {
            returned.push((named.id, empty(schema)?));
        }
    }
    let fields = match &statement.tree.main {
        Main::Query(query) => Some(statement.query(query, &returned)?.1),
        Main::Change(change) => statement.fields(change, &returned)?,
    };
    Ok((parameters::described(given, &statement.parameters)?, fields))
}

/// Binds the statement of a frame, which changes rows.
///
/// # Errors
/// What is wrong with the statement.
pub(crate) async fn bind<'a>(
    frame: &'a Frame<'_>,
    planner: &'a Planner<'_>,
    node: &NodeEnum,
) -> Result<Statement<'a>> {
    let declared = parameters::declared(frame.parameters, frame.parameter_types());
    let statement = bound(frame, planner, node, &declared, true).await?;
    if statement.parameters.len() > frame.parameters.len() {
        return Err(parameters::undefined(frame.parameters.len() + 1));
    }
    Ok(statement)
}

async fn bound<'a>(
    frame: &'a Frame<'_>,
    planner: &'a Planner<'_>,
    node: &NodeEnum,
    declared: &[Option<SqlType>],
    is_executed: bool,
) -> Result<Statement<'a>, Refused> {
    let mut relations = Relations::of(planner, node).await?;
    relations.look_up_targets(frame, planner, node, is_executed).await?;
    loop {
        match grammar::growing(|| analyzer::bind_statement(node, &relations, declared)) {
            Ok(bound) => {
                if let (Some(error), false) = (bound.undecided, is_executed) {
                    return Err(refused(error, frame.text));
                }
                let (tree, parameters) = (bound.statement, bound.parameters);
                return Ok(Statement { frame, planner, relations, tree, parameters, is_executed });
            }
            // The parse tree did not show this name.
            Err(_) if relations.look_up_more(planner).await? => {}
            Err(error) => return Err(refused(error, frame.text)),
        }
    }
}

/// A bound statement in its surroundings.
pub(crate) struct Statement<'a> {
    frame: &'a Frame<'a>,
    planner: &'a Planner<'a>,
    relations: Relations,
    /// The statement.
    pub(crate) tree: tree::Statement,
    parameters: Vec<Option<SqlType>>,
    /// Whether it is executed, not described.
    is_executed: bool,
}

impl Statement<'_> {
    /// Plans what the statement itself returns.
    ///
    /// # Errors
    /// What is wrong with the query.
    pub(crate) fn query(
        &self,
        query: &Query,
        returned: &[Returned],
    ) -> Result<(LogicalPlan, Vec<Field>)> {
        let text = self.frame.text;
        let (planner, relations) = (self.planner, &self.relations);
        let (plan, fields) = lower(planner, query, relations, returned, text, self.is_executed)?;
        Ok((refuse_deep(plan)?, fields))
    }

    /// Plans a change. `returned` are the rows of changes in WITH that it reads. The rows that a change in WITH returns are
    /// those of a relation, else those of a result.
    ///
    /// # Errors
    /// What is wrong with the statement.
    pub(crate) fn planned(
        &self,
        change: &Change,
        returned: &[Returned],
        is_in_with: bool,
    ) -> Result<Planned> {
        let part = self.part(change, returned)?;
        let query = change.rows();
        let rows = self.query(query, returned)?.0;
        let action = match &change.action {
            Action::Insert(insert) => PlannedAction::Insert {
                targets: insert.targets.clone(),
                overriding: insert.overriding,
                is_values: is_values(query),
                conflict: insert
                    .conflict
                    .as_ref()
                    .map(|on| part.conflict(on).map(Box::new))
                    .transpose()?,
            },
            Action::Update { targets, joins, .. } => {
                PlannedAction::Update { targets: targets.clone(), joins: *joins }
            }
            Action::Delete { joins, .. } => PlannedAction::Delete { joins: *joins },
            Action::Merge(merge) => {
                let at_hand = part.at_hand(&rows, 0)?;
                let whens = merge.whens.iter().map(|when| part.when(when, &at_hand));
                PlannedAction::Merge(whens.collect::<Result<_>>()?)
            }
        };
        let returning = match &change.returning {
            Some(_) => {
                let at_hand = part.returned_rows(&rows)?;
                let columns = part.returned_columns(&at_hand, is_in_with)?;
                let (exprs, fields) = columns
                    .into_iter()
                    .map(|(logical, field)| ((field.name.clone(), logical), field))
                    .unzip();
                let values = Arc::new(OverRows::new(self.planner, &at_hand.rows, exprs)?);
                Some(Returning { fields, values })
            }
            None => None,
        };
        let checks = match change.checks.as_slice() {
            [] => None,
            checks => {
                let views = checks.iter().map(|check| check.view.clone()).collect();
                let conditions: Vec<Tree> =
                    checks.iter().map(|check| check.condition.clone()).collect();
                let conditions = part.over(&conditions, &part.returned_rows(&rows)?)?;
                Some(Checks { views, conditions })
            }
        };
        Ok(Planned { target: part.target.clone(), rows, action, returning, checks })
    }

    /// The columns that a change returns, also while parameters have no values.
    fn fields(&self, change: &Change, returned: &[Returned]) -> Result<Option<Vec<Field>>> {
        let part = self.part(change, returned)?;
        let rows = self.query(change.rows(), returned)?.0;
        if change.returning.is_none() {
            return Ok(None);
        }
        let columns = part.returned_columns(&part.returned_rows(&rows)?, false)?;
        Ok(Some(columns.into_iter().map(|(_, field)| field).collect()))
    }

    /// The columns of the rows that a change in WITH returns. `None` if it returns none.
    ///
    /// # Errors
    /// What is wrong with the change.
    fn returned_schema(&self, change: &Change, returned: &[Returned]) -> Result<Option<SchemaRef>> {
        let part = self.part(change, returned)?;
        let rows = self.query(change.rows(), returned)?.0;
        if change.returning.is_none() {
            return Ok(None);
        }
        let at_hand = part.returned_rows(&rows)?;
        let mut fields = Vec::new();
        for (logical, field) in part.returned_columns(&at_hand, true)? {
            let (_, of) = logical.to_field(&at_hand.rows.schema)?;
            let of = of.as_ref().clone();
            fields.push(of.with_name(field.name).with_nullable(true));
        }
        Ok(Some(Arc::new(datafusion::arrow::datatypes::Schema::new(fields))))
    }

    fn part<'a>(&'a self, change: &'a Change, returned: &'a [Returned]) -> Result<Part<'a>> {
        let missing = || Error::new(SqlState::InternalError, "the target of a change is missing");
        let target = self.relations.target_of(change.table).ok_or_else(missing)?;
        Ok(Part { statement: self, change, target, table: target.table(), returned })
    }
}

/// The rows of a relation that has none yet.
fn empty(schema: SchemaRef) -> Result<Arc<dyn datafusion::logical_expr::TableSource>> {
    rows_of(schema, Vec::new())
}

/// The rows that a change in WITH has returned, as a relation.
///
/// # Errors
/// The batches do not have the schema.
pub(crate) fn rows_of(
    schema: SchemaRef,
    batches: Vec<datafusion::arrow::array::RecordBatch>,
) -> Result<Arc<dyn datafusion::logical_expr::TableSource>> {
    let table = datafusion::datasource::MemTable::try_new(schema, vec![batches])?;
    Ok(datafusion::datasource::provider_as_source(Arc::new(table)))
}

/// Whether a query is VALUES, or one row.
fn is_values(query: &Query) -> bool {
    match &query.body {
        tree::Body::Values(_) => true,
        tree::Body::Select(select) => select.from.is_empty(),
        tree::Body::SetOperation(_) => false,
    }
}

/// The column behind those of the rows that INSERT ... ON CONFLICT DO UPDATE writes: 0 for new rows, 1 for others.
pub(crate) fn xmax() -> ArrowField {
    ArrowField::new("?xmax", DataType::Int64, false)
}

/// One change of a statement.
struct Part<'a> {
    statement: &'a Statement<'a>,
    change: &'a Change,
    target: &'a ChangeTarget,
    table: &'a Arc<Table>,
    returned: &'a [Returned],
}

/// Rows at hand, and the relations that they are of.
struct KnownRows {
    rows: AtHand,
    relations: Vec<(tree::RelationId, Vec<SqlType>)>,
    /// The columns of the target's row as a value.
    row: Vec<(usize, String)>,
}

impl Part<'_> {
    /// The types of the table's columns.
    fn types(&self) -> Result<Vec<SqlType>> {
        let columns = self.table.columns.iter();
        let known = columns.map(|column| types::of_held(&column.sql_type));
        known
            .collect::<Option<_>>()
            .ok_or_else(|| Error::unsupported("a column of this type is not supported"))
    }

    /// The rows that were written, with the columns of other relations in the query of rows.
    fn returned_rows(&self, rows: &LogicalPlan) -> Result<KnownRows> {
        match &self.change.action {
            Action::Insert(_) => self.at_hand(rows, usize::MAX),
            Action::Update { targets, .. } => self.at_hand(rows, targets.len()),
            Action::Delete { .. } | Action::Merge(_) => self.at_hand(rows, 0),
        }
    }

    /// The table's columns, with those of other relations in the query of rows, which stand behind a number of new values.
    fn at_hand(&self, rows: &LogicalPlan, new: usize) -> Result<KnownRows> {
        let skipped = self.table.columns.len().saturating_add(new);
        let is_merge = matches!(self.change.action, Action::Merge(_));
        let own = row_schema(self.table);
        let own = own.fields().iter().map(|field| {
            let field = ArrowField::clone(field);
            // A row of a source may have no partner.
            let nullable = field.is_nullable() || is_merge;
            field.with_nullable(nullable)
        });
        let others = rows.schema().fields().iter().skip(skipped);
        let others = others.map(|field| ArrowField::clone(field));
        let xmax = self.updates_conflicting().then(xmax);
        let fields = own.chain(others).chain(xmax.clone()).collect();
        let mut types = self.types()?;
        let others = self.change.rows().columns.iter().skip(skipped);
        types.extend(others.map(|column| column.sql_type));
        types.extend(xmax.map(|_| SqlType::plain(Oid::INT8)));
        let relations = vec![(self.change.relation, types)];
        Ok(KnownRows { rows: AtHand::new(fields)?, relations, row: self.row() })
    }

    /// Whether it is an INSERT that updates rows, which have `xmax` behind their columns.
    fn updates_conflicting(&self) -> bool {
        let Action::Insert(insert) = &self.change.action else { return false };
        insert.conflict.as_ref().is_some_and(|conflict| conflict.update.is_some())
    }

    /// The columns of the table's row as a value.
    fn row(&self) -> Vec<(usize, String)> {
        let columns = self.table.columns.iter().enumerate();
        let shown = columns.filter(|(_, column)| !column.hidden);
        shown.map(|(place, column)| (place, column.name.clone())).collect()
    }

    fn rows<'a>(&'a self, at_hand: &'a KnownRows) -> Rows<'a> {
        let with = &self.change.rows().with;
        let (relations, row) = (&at_hand.relations, &at_hand.row);
        Rows { schema: &at_hand.rows.schema, relations, row, with }
    }

    fn surroundings(&self) -> lowering::Surroundings<'_> {
        let Statement { frame, planner, relations, is_executed, .. } = self.statement;
        lowered(planner, relations, self.returned, frame.text, *is_executed)
    }

    /// The columns that RETURNING shows.
    fn returned_columns(
        &self,
        at_hand: &KnownRows,
        is_in_with: bool,
    ) -> Result<Vec<(Expr, Field)>> {
        let output = self.change.returning.as_deref().unwrap_or_default();
        let (rows, surroundings) = (self.rows(at_hand), self.surroundings());
        if is_in_with {
            let exprs = output.iter().map(|output| &output.expr);
            let exprs = lower_over(exprs, &rows, &surroundings).map_err(Refused::from)?;
            let name = |at| format!("column{}", at + 1);
            let field = |at| Field::new(name(at), catalog::SqlType::Text);
            let columns = exprs.into_iter().enumerate();
            return Ok(columns.map(|(at, expr)| (expr, field(at))).collect());
        }
        let columns = lower_output(output, &rows, &surroundings).map_err(Refused::from)?;
        let columns = columns.into_iter().zip(output);
        let functions = self.statement.planner.functions;
        let columns = columns.map(|((logical, field), output)| {
            let is_of_user = field.sql_type.user_type().is_some();
            let field = match output.expr.kind {
                Kind::Column(_, at) if at < self.table.columns.len() && !is_of_user => {
                    Field { name: field.name, ..field_of(self.table, at) }
                }
                _ => field,
            };
            Ok((for_client(logical, &field, functions)?, field))
        });
        columns.collect()
    }

    /// Plans expressions over rows at hand.
    fn over(&self, exprs: &[Tree], at_hand: &KnownRows) -> Result<OverRows> {
        let lowered = lower_over(exprs, &self.rows(at_hand), &self.surroundings());
        let lowered = lowered.map_err(Refused::from)?.into_iter().enumerate();
        let named = lowered.map(|(at, expr)| (format!("?new{at}"), expr)).collect();
        OverRows::new(self.statement.planner, &at_hand.rows, named)
    }

    fn conflict(&self, conflict: &Conflict) -> Result<OnConflict> {
        let target = conflict.target.clone();
        let Some(update) = &conflict.update else { return Ok(OnConflict { target, update: None }) };
        let row = row_schema(self.table);
        let own = row.fields().iter().map(|field| ArrowField::clone(field));
        let excluded = own.clone().map(|field| {
            let name = format!("?excluded.{}", field.name());
            field.with_name(name)
        });
        let rows = AtHand::new(own.chain(excluded).collect())?;
        let types = self.types()?;
        let relations = vec![(self.change.relation, types.clone()), (update.excluded, types)];
        let both = KnownRows { rows, relations, row: self.row() };
        let filter = update.filter.as_ref().map(std::slice::from_ref);
        let update = OnConflictUpdate {
            targets: update.targets.clone(),
            values: self.over(&update.values, &both)?,
            filter: filter.map(|filter| self.over(filter, &both)).transpose()?,
        };
        Ok(OnConflict { target, update: Some(update) })
    }

    fn when(&self, when: &tree::When, at_hand: &KnownRows) -> Result<When> {
        let condition = when.condition.as_ref().map(std::slice::from_ref);
        let condition = condition.map(|condition| self.over(condition, at_hand)).transpose()?;
        let action = match &when.action {
            MergeAction::Nothing => WhenAction::Nothing,
            MergeAction::Delete => WhenAction::Delete,
            MergeAction::Update { targets, values } => {
                WhenAction::Update(targets.clone(), self.over(values, at_hand)?)
            }
            MergeAction::Insert { targets, values, overriding } => {
                WhenAction::Insert(targets.clone(), self.over(values, at_hand)?, *overriding)
            }
        };
        Ok(When { is_matched: when.is_matched, condition, action })
    }
}
