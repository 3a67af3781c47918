//! PostgreSQL's Describe: the parameters and the result columns of a statement, without executing it.
//!
//! The type of a parameter is, in this order: what the client declares; what its place in the statement says (`$1::date`,
//! the column that it is inserted into or assigned to); what the engine infers from the expression around it; text.

mod places;
mod series;

use super::{Session, explain};
use crate::analysis;
use crate::context::{Frame, Inner};
use crate::dml::statement::node_of;
use crate::session::settings::show_fields;
use crate::short::Short;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, LimitClause, Statement as Ast};
use futures::future::BoxFuture;
use parser::commands::{Command, SettingStatement};
use parser::placeholders::placeholder;
use parser::walk::{visit_expressions, visit_expressions_mut};
use parser::{Body, Statement};
use scan::tables::Tables;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use store::catalog::SqlType;
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
        match statement.command() {
            Some(Command::Explain(explain)) => {
                let Some(inner) = statement.inner() else { return Ok(nothing(given)) };
                let described = Box::pin(self.describe(&inner, given)).await?;
                return Ok(Description { fields: Some(explain::fields(explain)), ..described });
            }
            Some(Command::Setting(SettingStatement::Show(name))) => {
                return Ok(Description { fields: Some(show_fields(name)), ..nothing(given) });
            }
            Some(_) => return Ok(nothing(given)),
            None => {}
        }
        let mut conversation = self.conversation.lock().await;
        let snapshot = self.shared.store.snapshot();
        let frame = self.frame_of(&[], statement);
        let tables: &dyn Tables = match conversation.open() {
            Some(open) => &open.transaction,
            None => &snapshot,
        };
        self.context.see(tables, &frame);
        if matches!(statement.body(), Body::Change) && !is_short(&frame, tables, statement) {
            let (planner, node) = (frame.planner(tables), node_of(&frame)?);
            let (parameters, fields) =
                analysis::changes::describe(&frame, &planner, node, given).await?;
            return Ok(Description { parameters, fields });
        }
        if matches!(statement.body(), Body::Query)
            && !is_short(&frame, tables, statement)
            && let Some(query) = analysis::query_of(&frame, statement)
        {
            let planner = frame.planner(tables);
            if let Some((parameters, fields)) =
                analysis::describe(&frame, &planner, query, given).await?
            {
                return Ok(Description { parameters, fields: Some(fields) });
            }
            if statement.ast().is_none() {
                return Err(analysis::missing(&frame, &planner, query).await);
            }
        }
        let Some(ast) = statement.ast() else { return Ok(nothing(given)) };
        if let Ok(Some(short)) = Short::recognise(&frame, tables, ast) {
            return Ok(described(&short, given));
        }
        describe(&frame, tables, ast, given).await
    }
}

/// The description of a statement on the short path.
pub(super) fn described(short: &Short, given: &[Option<SqlType>]) -> Description {
    let mut known = Known(given.iter().cloned().enumerate().collect());
    short.parameters().for_each(|(number, sql_type)| known.learn(number, &sql_type));
    let count = known.0.keys().max().map_or(0, |last| last + 1);
    known.description(count, short.fields())
}

/// The description of a statement without a result, whose parameters are what the client says.
fn nothing(given: &[Option<SqlType>]) -> Description {
    Known(given.iter().cloned().enumerate().collect()).description(given.len(), None)
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
    known.look_at_limits(ast);
    series::look_at(ast, &mut |number, sql_type| known.learn(number, sql_type));
    let count = known.0.keys().max().map_or(0, |last| last + 1);
    let fields = match ast {
        Ast::Query(_) => known.infer(frame, tables, ast, count).await?,
        _ => None,
    };
    Ok(known.description(count, fields))
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

    /// LIMIT and OFFSET take whole numbers.
    fn look_at_limits(&mut self, ast: &Ast) {
        let Ast::Query(query) = ast else { return };
        let Some(LimitClause::LimitOffset { limit, offset, .. }) = &query.limit_clause else {
            return;
        };
        let offset = offset.as_ref().map(|offset| &offset.value);
        for number in limit.iter().chain(offset).filter_map(placeholder) {
            self.learn(number, &SqlType::BigInt);
        }
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
