//! PostgreSQL's Describe: the parameters and the result columns of a statement, without executing it.
//!
//! The type of a parameter is what the client declares, or else what its place in the statement says, as PostgreSQL finds it.

use super::{Session, explain};
use crate::analysis;
use crate::context::Inner;
use crate::dml::statement::node_of;
use crate::session::settings::show_fields;
use crate::short::Short;
use futures::future::BoxFuture;
use parser::commands::{Command, SettingStatement};
use parser::{Body, Statement};
use scan::tables::Tables;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::Result;
use values::field::Field;

/// The parameters and the result columns of a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The types of `$1`, `$2`, ...
    pub parameters: Vec<SqlType>,
    /// The columns of its rows; `None` where it gives none.
    pub fields: Option<Vec<Field>>,
}

impl Session {
    /// A description with the present definitions of its parameters' types.
    pub fn renewed(&self, known: &Arc<Description>) -> Arc<Description> {
        if known.parameters.iter().all(|of| of.user_type().is_none()) {
            return Arc::clone(known);
        }
        let inner = self.inner();
        let Some(conversation) = inner.conversation.try_lock() else { return Arc::clone(known) };
        let catalog = conversation.catalog(&inner.shared.store);
        let parameters = known.parameters.iter().map(|of| catalog.renewed(of)).collect();
        Arc::new(Description { parameters, fields: known.fields.clone() })
    }

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
            Some(Command::Call(call)) => {
                let (types, fields) = Box::pin(self.description_of_call(statement, call)).await?;
                let mut known = Known(given.iter().cloned().enumerate().collect());
                types.iter().for_each(|(number, of)| known.learn(*number, of));
                let count = types.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
                return Ok(known.description(count.max(given.len()), fields));
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
        if let Some(rows) = statement.rows()
            && let Ok(Some(short)) = Short::recognise(&frame, tables, rows)
            && !short.is_misled(given)
        {
            return Ok(described(&short, given));
        }
        if matches!(statement.body(), Body::Change) {
            let (planner, node) = (frame.planner(tables), node_of(&frame)?);
            let (parameters, fields) =
                analysis::changes::describe(&frame, &planner, node, given).await?;
            return Ok(Description { parameters, fields });
        }
        if matches!(statement.body(), Body::Query) {
            let planner = frame.planner(tables);
            let query = analysis::query_of(statement)?;
            let (parameters, fields) = analysis::describe(&frame, &planner, query, given).await?;
            return Ok(Description { parameters, fields: Some(fields) });
        }
        Ok(nothing(given))
    }
}

/// The description of a statement on the short path.
pub(super) fn described(short: &Short, given: &[Option<SqlType>]) -> Description {
    let mut known = Known(given.iter().cloned().enumerate().collect());
    for (number, sql_type) in short.parameters() {
        known.learn(number, &sql_type);
    }
    let count = known.0.keys().max().map_or(0, |last| last + 1);
    known.description(count, short.fields())
}

/// The description of a statement without a result, whose parameters are what the client says.
fn nothing(given: &[Option<SqlType>]) -> Description {
    Known(given.iter().cloned().enumerate().collect()).description(given.len(), None)
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

    fn types(&self, count: usize) -> Vec<Option<SqlType>> {
        (0..count).map(|number| self.0.get(&number).cloned().flatten()).collect()
    }

    fn description(self, count: usize, fields: Option<Vec<Field>>) -> Description {
        let parameters = self.types(count);
        let parameters = parameters.into_iter().map(|known| known.unwrap_or(SqlType::Text));
        Description { parameters: parameters.collect(), fields }
    }
}
