//! Functions of triggers: the rows NEW and OLD, and the row that RETURN gives.

use super::host::Host;
use super::rows::content;
use super::scope::{Content, Slot};
use super::{Called, Flow, Given, Machine, within_loops};
use crate::tree::{Block, Sql};
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// A row: names, types and values.
pub type Row<V> = Vec<(String, String, V)>;

/// What a function of a trigger begins with.
#[derive(Debug, Clone)]
pub struct Triggered<V> {
    /// TG_OP and the like.
    pub variables: Vec<Given<V>>,
    /// NEW.
    pub new: TriggerRow<V>,
    /// OLD.
    pub old: TriggerRow<V>,
    /// The type of both, as it is written in a cast.
    pub row_type: Arc<str>,
}

/// NEW or OLD.
#[derive(Debug, Clone)]
pub struct TriggerRow<V> {
    /// Its fields; `None` if its name is that of something else.
    pub fields: Option<Row<V>>,
    /// Whether the change has no such row: it reads as NULL in all columns, and is NULL when it is returned.
    pub is_absent: bool,
}

/// Runs a function of a trigger. Returns the values of the row that it returns; `None` for NULL.
///
/// # Errors
/// Errors of the host, and of the function itself; 2F005 if it returns nothing.
pub async fn run_trigger<H: Host>(
    block: &Block,
    of: Called<'_>,
    triggered: Triggered<H::Value>,
    host: &mut H,
) -> Result<Option<Vec<H::Value>>> {
    host.set_conflict(block.conflict);
    let machine = Machine::new(host, of, triggered.variables);
    let prints_strict = block.prints_strict;
    let mut machine = Machine { returned_row: Some(None), prints_strict, ..machine };
    for (name, row) in [("new", triggered.new), ("old", triggered.old)] {
        let content = row.fields.map_or(Content::Record(None), Content::Row);
        let slot = Slot::new(name.to_owned(), content);
        let row_type = Some(Arc::clone(&triggered.row_type));
        machine.scopes.declare(Slot { is_unset: row.is_absent, row_type, ..slot });
    }
    let flow = machine.block(block).await.and_then(within_loops);
    match flow.map_err(|error| machine.located(error))? {
        Flow::Return(_) => Ok(machine.returned_row.flatten()),
        _ => Err(machine.located(Error::new(
            SqlState::FunctionExecutedNoReturnStatement,
            "control reached end of trigger procedure without RETURN",
        ))),
    }
}

impl<H: Host> Machine<'_, H> {
    /// RETURN in a function of a trigger, of a record or NULL; `None` if it is another expression.
    pub(super) fn return_changed_row(
        &mut self,
        value: Option<&Sql>,
    ) -> Result<Option<Flow<H::Value>>> {
        let Some(value) = value else {
            let message = "missing expression at or near \";\"";
            return Err(Error::new(SqlState::SyntaxError, message));
        };
        let text = value.text.trim();
        let row = match text.to_lowercase().as_str() {
            "null" => Some(None),
            name => self.first_row(&alternatives(name)),
        };
        Ok(row.map(|row| {
            self.returned_row = Some(row);
            Flow::Return(None)
        }))
    }

    /// RETURN of an expression in a function of a trigger. In it, the names of records stand for rows of the table.
    pub(super) async fn return_changed_value(&mut self, value: &Sql) -> Result<Flow<H::Value>> {
        let mut rows = Vec::new();
        for name in &value.names {
            if let Some(row) = self.row_of_table(name).await {
                let of = self.host.type_of(&row);
                rows.push(Slot::new(name.as_str(), content(&*self.host, of, row)));
            }
        }
        let depth = self.scopes.depth();
        self.scopes.open(None);
        rows.into_iter().for_each(|row| self.scopes.declare(row));
        let row = self.value(value, None).await;
        self.scopes.close_to(depth);
        let row = row?;
        let fields = self.host.fields(&row);
        if fields.is_none() && !self.host.is_null(&row) {
            let message =
                "cannot return non-composite value from function returning composite type";
            return Err(Error::new(SqlState::DatatypeMismatch, message));
        }
        self.returned_row = Some(fields);
        Ok(Flow::Return(None))
    }

    /// The record of a name as a row of the table, if its fields are as those of one.
    async fn row_of_table(&mut self, name: &str) -> Option<H::Value> {
        if let Some(row) = self.typed_row(name).await {
            return Some(row);
        }
        let fields = self.scopes.fields(name)??;
        let (of, _) = self.scopes.typed_row("new")?;
        let like = self.null_of(&of).await.ok()?;
        let has_all = self.host.attributes(&like)?.len() == fields.len();
        if has_all { self.row_of_fields(fields, &like).await.ok() } else { None }
    }

    /// The first of some records that is a row; `None` if one of them is no record.
    fn first_row(&self, names: &[&str]) -> Option<Option<Vec<H::Value>>> {
        for name in names {
            let fields = self.scopes.fields(name)?;
            if fields.is_some() && !self.scopes.is_unset(name) {
                return Some(fields);
            }
        }
        Some(None)
    }
}

/// The names in `coalesce(new, old)`; a text of another form as it is.
fn alternatives(text: &str) -> Vec<&str> {
    let arguments = text.strip_prefix("coalesce").map(str::trim);
    let arguments = arguments.and_then(|text| text.strip_prefix('(')?.strip_suffix(')'));
    arguments.map_or_else(|| vec![text], |all| all.split(',').map(str::trim).collect())
}
