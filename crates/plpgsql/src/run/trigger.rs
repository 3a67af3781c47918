//! Functions of triggers: the rows NEW and OLD, and the row that RETURN gives.

use super::host::Host;
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
    /// RETURN in a function of a trigger: a record, or NULL.
    pub(super) fn return_changed_row(&mut self, value: Option<&Sql>) -> Result<Flow<H::Value>> {
        let Some(value) = value else {
            let message = "missing expression at or near \";\"";
            return Err(Error::new(SqlState::SyntaxError, message));
        };
        let text = value.text.trim();
        let row = match text.to_lowercase().as_str() {
            "null" => None,
            name => self.first_row(&alternatives(name))?,
        };
        self.returned_row = Some(row);
        Ok(Flow::Return(None))
    }

    /// The first of some records that is a row.
    fn first_row(&self, names: &[&str]) -> Result<Option<Vec<H::Value>>> {
        for name in names {
            let fields = self.scopes.fields(name).ok_or_else(|| {
                let what = "RETURN of something else than a record or NULL in a trigger";
                Error::unsupported(format!("{what} is not supported"))
            })?;
            if fields.is_some() && !self.scopes.is_unset(name) {
                return Ok(fields);
            }
        }
        Ok(None)
    }
}

/// The names in `coalesce(new, old)`; a text of another form as it is.
fn alternatives(text: &str) -> Vec<&str> {
    let arguments = text.strip_prefix("coalesce").map(str::trim);
    let arguments = arguments.and_then(|text| text.strip_prefix('(')?.strip_suffix(')'));
    arguments.map_or_else(|| vec![text], |all| all.split(',').map(str::trim).collect())
}
