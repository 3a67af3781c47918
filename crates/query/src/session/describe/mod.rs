//! PostgreSQL's Describe: the parameters and the result columns of a statement, without executing it.
//!
//! The type of a parameter is, in this order: what the client declares; what its place in the statement says (`$1::date`,
//! the column that it is inserted into or assigned to); what the engine infers from the expression around it; text.

mod places;
mod series;

use super::write_source::{from_of, probe};
use super::{Session, explain};
use crate::analysis;
use crate::context::{Frame, Inner};
use crate::dml::assignment::assigned_column;
use crate::dml::select::target_of;
use crate::dml::{declared_column, target};
use crate::session::settings::show_fields;
use crate::short::Short;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::{
    Assignment, BinaryOperator, Expr, Insert, OnConflictAction, OnInsert, Query, SelectItem,
    SetExpr, Statement as Ast, TableObject,
};
use futures::future::BoxFuture;
use parser::Statement;
use parser::names::fold;
use parser::placeholders::placeholder;
use parser::walk::{visit_expressions, visit_expressions_mut};
use scan::tables::Tables;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use store::TableView;
use store::catalog::{Privileges, SqlType, Table};
use values::error::{Result, SqlState};
use values::field::Field;
use values::types;

/// Rounds of inference at most. Each uses the types that the rounds before have found.
const ROUNDS: usize = 4;

/// The parameters and the result columns of a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The types of `$1`, `$2`, ...
    pub parameters: Vec<SqlType>,
    /// The columns of its rows; `None` where it gives none.
    pub fields: Option<Vec<Field>>,
}

impl Session {
    /// Describes a statement. `given` are the types that the client says, as far as it does.
    ///
    /// # Errors
    /// As planning the statement.
    pub fn describe<'a>(
        &'a self,
        statement: &'a Statement,
        given: &'a [Option<SqlType>],
    ) -> BoxFuture<'a, Result<Description>> {
        let (statement, given) = (statement.clone(), given.to_vec());
        Box::pin(self.on_executor(|session, _| async move {
            session.inner().describe(&statement, &given).await
        }))
    }
}

impl Inner {
    async fn describe(
        &self,
        statement: &Statement,
        given: &[Option<SqlType>],
    ) -> Result<Description> {
        let mut conversation = self.conversation.lock().await;
        let snapshot = self.shared.store.snapshot();
        let frame = self.frame_of(&[], statement);
        let tables: &dyn Tables = match conversation.open() {
            Some(open) => &open.transaction,
            None => &snapshot,
        };
        let explained = statement.ast().filter(|ast| matches!(ast, Ast::Explain { .. }));
        let is_query = match statement.ast() {
            Some(Ast::Query(_)) => !is_short(&frame, tables, statement),
            Some(Ast::Explain { .. }) => statement.query().is_some(),
            Some(_) => false,
            None => !statement.is_client_copy() && statement.query().is_some(),
        };
        if is_query {
            self.context.see(tables, &frame);
            let planner = frame.planner(tables);
            let query = analysis::query_of(statement)?;
            let (parameters, fields) = analysis::describe(&frame, &planner, query, given).await?;
            let fields = explained.map_or(fields, explain::fields);
            return Ok(Description { parameters, fields: Some(fields) });
        }
        let Some(ast) = statement.ast() else {
            return Ok(
                Known(given.iter().cloned().enumerate().collect()).description(given.len(), None)
            );
        };
        if let Ok(Some(short)) = Short::recognise(&frame, tables, ast) {
            let mut known = Known(given.iter().cloned().enumerate().collect());
            short.parameters().for_each(|(number, sql_type)| known.learn(number, &sql_type));
            let count = known.0.keys().max().map_or(0, |last| last + 1);
            return Ok(known.description(count, short.fields()));
        }
        self.context.see(tables, &frame);
        if let Some(view) = changed_table(&frame, tables, ast)? {
            let planner = frame.planner(tables);
            if let Some((parameters, fields)) =
                analysis::changes::describe(&frame, &planner, &view, given).await?
            {
                return Ok(Description { parameters, fields });
            }
        }
        describe(&frame, tables, ast, given).await
    }
}

/// The table that an INSERT, UPDATE or DELETE changes.
fn changed_table(frame: &Frame<'_>, tables: &dyn Tables, ast: &Ast) -> Result<Option<TableView>> {
    use datafusion::sql::sqlparser::ast::FromTable::{WithFromKeyword, WithoutKeyword};
    let name = match ast {
        Ast::Insert(Insert { table: TableObject::TableName(name), .. }) => name.clone(),
        Ast::Update(update) => target_of(&update.table)?.0,
        Ast::Delete(delete) => match &delete.from {
            WithFromKeyword(from) | WithoutKeyword(from) => match &from[..] {
                [relation] => target_of(relation)?.0,
                _ => return Ok(None),
            },
        },
        _ => return Ok(None),
    };
    Ok(tables.table(target(frame, tables, &name, Privileges::default())?.id))
}

fn is_short(frame: &Frame<'_>, tables: &dyn Tables, statement: &Statement) -> bool {
    statement.ast().is_some_and(|ast| matches!(Short::recognise(frame, tables, ast), Ok(Some(_))))
}

async fn describe(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    ast: &Ast,
    given: &[Option<SqlType>],
) -> Result<Description> {
    let mut known = Known(given.iter().cloned().enumerate().collect());
    known.look_at_casts(ast);
    series::look_at(ast, &mut |number, sql_type| known.learn(number, sql_type));
    let count = known.0.keys().max().map_or(0, |last| last + 1);
    let fields = match ast {
        Ast::Explain { statement, .. } => {
            let described = Box::pin(describe(frame, tables, statement, given)).await?;
            return Ok(Description { fields: Some(explain::fields(ast)), ..described });
        }
        Ast::ShowVariable { variable } => Some(show_fields(variable)),
        Ast::Insert(insert) => known.look_at_insert(frame, tables, insert, count).await?,
        Ast::Update(update) => {
            let (name, called) = target_of(&update.table)?;
            let table = target(frame, tables, &name, Privileges::default())?;
            known.look_at_assignments(&table, &update.assignments)?;
            let from =
                update.from.as_ref().map_or(String::new(), |from| format!(", {}", from_of(from)));
            let values = update.assignments.iter().map(|set| set.value.to_string());
            let values: Vec<String> = values.filter(|value| value.contains('$')).collect();
            let values = if values.is_empty() { "1".to_owned() } else { values.join(", ") };
            let selection = update.selection.as_ref();
            let probe = probe(&values, &update.table.to_string(), &from, selection);
            known.infer_probe(frame, tables, &probe, count).await?;
            known.returning(frame, tables, &table, &called, update.returning.as_deref())?
        }
        Ast::Delete(delete) => {
            use datafusion::sql::sqlparser::ast::FromTable;
            let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
            let Some(first) = from.first() else { return Ok(known.description(count, None)) };
            let (name, called) = target_of(first)?;
            let table = target(frame, tables, &name, Privileges::default())?;
            let others = delete.using.iter().flatten().map(|other| format!(", {other}"));
            let others: String = others.collect();
            let probe = probe("1", &first.to_string(), &others, delete.selection.as_ref());
            known.infer_probe(frame, tables, &probe, count).await?;
            known.returning(frame, tables, &table, &called, delete.returning.as_deref())?
        }
        _ => None,
    };
    Ok(known.description(count, fields))
}

fn expression_of(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

/// The known types of parameters, by their number from zero.
struct Known(BTreeMap<usize, Option<SqlType>>);

impl Known {
    fn learn(&mut self, number: usize, sql_type: &SqlType) {
        let known = self.0.entry(number).or_default();
        if known.is_none() {
            *known = Some(sql_type.clone());
        }
    }

    /// Finds all parameters, and the types of those that are cast at once.
    fn look_at_casts(&mut self, ast: &Ast) {
        let _ = visit_expressions(ast, |expression| {
            if let Expr::Cast { expr, data_type, .. } = expression
                && let (Some(number), Ok(sql_type)) =
                    (placeholder(expr), types::of_parameter(data_type))
            {
                self.learn(number, &sql_type);
            }
            if let Some(number) = placeholder(expression) {
                self.0.entry(number).or_default();
            }
            ControlFlow::<()>::Continue(())
        });
    }

    async fn look_at_insert(
        &mut self,
        frame: &Frame<'_>,
        tables: &dyn Tables,
        insert: &Insert,
        count: usize,
    ) -> Result<Option<Vec<Field>>> {
        let TableObject::TableName(name) = &insert.table else { return Ok(None) };
        let table = target(frame, tables, name, Privileges::default())?;
        let mut given = Vec::new();
        for name in &insert.columns {
            if let Some(name) = name.0.last().and_then(|part| part.as_ident()) {
                given.push(declared_column(&table, &fold(name))?);
            }
        }
        if given.is_empty() {
            given = (0..table.columns.len()).filter(|i| !table.columns[*i].hidden).collect();
        }
        if let Some(source) = &insert.source {
            self.look_at_source(&table, &given, source);
            let is_known = self.0.values().all(Option::is_some);
            if !(is_known && matches!(&*source.body, SetExpr::Values(_))) {
                self.infer(frame, tables, &Ast::Query(source.clone()), count).await?;
            }
        }
        if let Some(OnInsert::OnConflict(conflict)) = &insert.on
            && let OnConflictAction::DoUpdate(update) = &conflict.action
        {
            self.look_at_assignments(&table, &update.assignments)?;
        }
        let called = insert.table_alias.as_ref().map_or(table.name.clone(), |a| fold(&a.alias));
        self.returning(frame, tables, &table, &called, insert.returning.as_deref())
    }

    /// Parameters that stand alone in a row of VALUES or in a select list have their column's type.
    fn look_at_source(&mut self, table: &Table, given: &[usize], source: &Query) {
        let rows: Vec<Vec<Option<&Expr>>> = match &*source.body {
            SetExpr::Values(values) => {
                values.rows.iter().map(|row| row.content.iter().map(Some).collect()).collect()
            }
            SetExpr::Select(select) => vec![select.projection.iter().map(expression_of).collect()],
            _ => return,
        };
        for row in rows {
            for (expression, column) in row.into_iter().zip(given) {
                if let Some(number) = expression.and_then(placeholder) {
                    self.learn(number, &table.columns[*column].sql_type);
                }
            }
        }
    }

    fn look_at_assignments(&mut self, table: &Table, assignments: &[Assignment]) -> Result<()> {
        for assignment in assignments {
            if let Some(number) = placeholder(&assignment.value) {
                let column = assigned_column(table, &assignment.target)?;
                self.learn(number, &table.columns[column].sql_type);
            }
        }
        Ok(())
    }

    fn returning(
        &self,
        frame: &Frame<'_>,
        tables: &dyn Tables,
        table: &Arc<Table>,
        called: &str,
        items: Option<&[SelectItem]>,
    ) -> Result<Option<Vec<Field>>> {
        let planner = frame.planner(tables);
        crate::dml::returning_fields(&planner, table, called, items)
    }

    async fn infer_probe(
        &mut self,
        frame: &Frame<'_>,
        tables: &dyn Tables,
        probe: &str,
        count: usize,
    ) -> Result<()> {
        if count > 0 {
            let ast = parser::parse_sql(probe)?;
            self.infer(frame, tables, &ast, count).await?;
        }
        Ok(())
    }

    /// Asks the engine for the types of parameters that are not known yet, and for the columns.
    async fn infer(
        &mut self,
        frame: &Frame<'_>,
        tables: &dyn Tables,
        ast: &Ast,
        count: usize,
    ) -> Result<Option<Vec<Field>>> {
        // What is learnt of one may tell of another: `coalesce($1, n) + $2`.
        for _ in 0..ROUNDS {
            let known = self.0.values().flatten().count();
            if known == self.0.len() {
                break;
            }
            let (ast, arrays) = without_any(ast.clone());
            let mut planner = frame.planner(tables);
            let planned = planner.plan_described(ast, &self.types(count)).await;
            if let Err(error) = &planned
                && error.state() == SqlState::AmbiguousFunction
            {
                return Err(error.clone());
            }
            if let Ok(plan) = planned {
                self.look_at_plan(&plan, &arrays);
                places::look_at(&plan, &mut |number, sql_type| self.learn(number, sql_type));
            }
            if self.0.values().flatten().count() == known {
                break;
            }
        }
        for number in 0..count {
            self.learn(number, &SqlType::Text);
        }
        let mut planner = frame.planner(tables);
        let plan = planner.plan_described(ast.clone(), &self.types(count)).await?;
        let (_, fields) = planner.shown(plan)?;
        Ok(Some(fields))
    }

    fn types(&self, count: usize) -> Vec<Option<SqlType>> {
        (0..count).map(|number| self.0.get(&number).cloned().flatten()).collect()
    }

    fn look_at_plan(&mut self, plan: &LogicalPlan, arrays: &[usize]) {
        let Ok(inferred) = plan.get_parameter_fields() else { return };
        for (name, field) in inferred {
            let number = name.strip_prefix('$').and_then(|number| number.parse::<usize>().ok());
            if let (Some(number), Some(field)) = (number.and_then(|n| n.checked_sub(1)), field) {
                let sql_type = types::of_field(&field);
                if arrays.contains(&number) {
                    self.learn(number, &SqlType::Array(Box::new(sql_type)))
                } else {
                    self.learn(number, &sql_type)
                }
            }
        }
    }

    fn description(self, count: usize, fields: Option<Vec<Field>>) -> Description {
        let parameters = self.types(count);
        let parameters = parameters.into_iter().map(|known| known.unwrap_or(SqlType::Text));
        Description { parameters: parameters.collect(), fields }
    }
}

/// The statement with `x = $1` for `x = ANY($1)`, from which the engine infers the item type, and the parameters that are
/// arrays of that type.
fn without_any(mut ast: Ast) -> (Ast, Vec<usize>) {
    let mut arrays = Vec::new();
    let _ = visit_expressions_mut(&mut ast, |expression| {
        if let Expr::AnyOp { left, right, .. } | Expr::AllOp { left, right, .. } = expression
            && let Some(number) = placeholder(right)
        {
            arrays.push(number);
            let (left, right) = (left.clone(), right.clone());
            *expression = Expr::BinaryOp { left, op: BinaryOperator::Eq, right };
        }
        ControlFlow::<()>::Continue(())
    });
    (ast, arrays)
}
