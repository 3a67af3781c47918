//! What functions return: values, records, and sets of them.

use super::context::Called;
use super::host::{Answer, Host};
use super::programs::{Compute, Place};
use super::scope::unassigned;
use super::{Flow, Given, Machine, within_loops};
use crate::parse::constructed;
use crate::tree::{Block, Kind, Sql, Statement};
use values::error::{Error, Result, SqlState};

/// Types whose names say what they are: those of a record must be as its column definition list says.
const USUAL_TYPES: [&str; 9] = [
    "smallint",
    "integer",
    "bigint",
    "text",
    "character varying",
    "boolean",
    "double precision",
    "numeric",
    "date",
];

/// The message for a row that has other columns than expected.
const OTHER_COLUMNS: &str = "returned record type does not match expected record type";

/// The form of a function's result.
#[derive(Debug, Clone, Copy)]
pub struct Form<'a> {
    /// The places of the parameters that make the result.
    pub outputs: &'a [usize],
    /// The types of the columns of a row; of a plain value, that one.
    pub types: &'a [String],
    /// Whether a row is returned, not a plain value.
    pub is_row: bool,
    /// Whether the plain value is a row of a composite type, whose attributes have the types.
    pub is_composite: bool,
    /// Whether a set is returned.
    pub is_set: bool,
    /// Whether nothing is returned.
    pub is_void: bool,
}

/// Calls a function with its parameters; `$n` is the n-th. The answer are the rows of its result: one, unless
/// it returns a set.
///
/// # Errors
/// Errors of the host, and of the function itself.
pub async fn call<H: Host>(
    block: &Block,
    of: Called<'_>,
    parameters: Vec<Given<H::Value>>,
    form: Form<'_>,
    host: &mut H,
) -> Result<Vec<Vec<H::Value>>> {
    host.set_conflict(block.conflict);
    let outputs = form.outputs;
    let (machine, prints_strict) = (Machine::new(host, of, parameters), block.prints_strict);
    let mut machine = Machine { outputs, form: Some(form), prints_strict, ..machine };
    let flow = machine.block(block).await.and_then(within_loops);
    let has_returned = match flow.map_err(|error| machine.located(error))? {
        Flow::Return(Some(value)) => {
            machine.rows.push(vec![value]);
            true
        }
        Flow::Return(None) => true,
        _ => false,
    };
    if form.is_set {
        return Ok(machine.rows);
    }
    if form.is_void {
        return Ok(vec![vec![machine.host.of_text(Some(String::new()))]]);
    }
    if !form.outputs.is_empty() {
        return Ok(vec![machine.scopes.at(form.outputs)]);
    }
    match machine.rows.pop() {
        Some(row) if has_returned => Ok(vec![row]),
        _ => Err(machine.located(without_return())),
    }
}

/// As [`call`], of a function that returns one plain value.
///
/// # Errors
/// As of [`call`].
pub async fn value<H: Host>(
    block: &Block,
    of: Called<'_>,
    parameters: Vec<Given<H::Value>>,
    form: Form<'_>,
    host: &mut H,
) -> Result<H::Value> {
    host.set_conflict(block.conflict);
    if let Some(value) = only_value(block, &parameters, form, host) {
        return Ok(value);
    }
    let outputs = form.outputs;
    let (machine, prints_strict) = (Machine::new(host, of, parameters), block.prints_strict);
    let mut machine = Machine { outputs, form: Some(form), prints_strict, ..machine };
    let flow = machine.block(block).await.and_then(within_loops);
    let flow = flow.map_err(|error| machine.located(error))?;
    if form.is_void {
        return Ok(machine.host.of_text(Some(String::new())));
    }
    let value = match flow {
        _ if !form.outputs.is_empty() => machine.scopes.at(form.outputs).pop(),
        Flow::Return(value) => value,
        _ => None,
    };
    value.ok_or_else(|| machine.located(without_return()))
}

/// The value of a function that consists of RETURN of an expression, which has a program. `None` of others, and of errors.
fn only_value<H: Host>(
    block: &Block,
    parameters: &[Given<H::Value>],
    form: Form<'_>,
    host: &mut H,
) -> Option<H::Value> {
    let [Statement { kind: Kind::Return(Some(sql)), .. }] = block.body.as_slice() else {
        return None;
    };
    let is_plain = block.declarations.is_empty()
        && block.handlers.is_empty()
        && form.outputs.is_empty()
        && !(form.is_row || form.is_composite || form.is_set || form.is_void);
    if !is_plain {
        return None;
    }
    let programs = host.programs();
    programs.begin(parameters.iter().map(|(_, of, _)| of));
    let known = programs.get(sql.id).filter(|known| known.to.is_none())?;
    // An error comes again where it is said.
    if !known.program.is_pure() {
        return None;
    }
    let value = known.program.compute(&|number| match known.places.get(number)?.as_ref()? {
        Place { scope: 0, slot, field: None } => parameters.get(*slot).map(|(.., value)| value),
        Place { .. } => None,
    });
    value?.ok()
}

/// The error for a function that ends without RETURN.
fn without_return() -> Error {
    Error::new(
        SqlState::FunctionExecutedNoReturnStatement,
        "control reached end of function without RETURN",
    )
}

impl<H: Host> Machine<'_, H> {
    /// Whether RETURN has a plain value.
    pub(super) fn returns_value(&self) -> bool {
        self.returned_row.is_none() && self.row_form().is_none() && !self.returns_composite()
    }

    /// The form of the result, if rows are returned.
    pub(super) fn row_form(&self) -> Option<Form<'_>> {
        self.form.filter(|form| form.is_row)
    }

    /// RETURN of a row.
    pub(super) async fn return_row(&mut self, value: &Sql) -> Result<Flow<H::Value>> {
        let row = self.record_of(value).await?;
        self.rows.push(row);
        Ok(Flow::Return(None))
    }

    /// Whether RETURN has a row of a composite type.
    pub(super) fn returns_composite(&self) -> bool {
        self.form.is_some_and(|form| form.is_composite && !form.is_set && form.outputs.is_empty())
    }

    /// RETURN of a row of a composite type. The caller checks its fields.
    pub(super) async fn return_composite(&mut self, value: &Sql) -> Result<Flow<H::Value>> {
        // The fields of a record have types that a row of them does not have.
        if let Some(Some(fields)) = self.record_named(value)
            && !self.scopes.is_unset(value.text.trim())
        {
            self.rows.push(fields);
            return Ok(Flow::Return(None));
        }
        // So have the fields of a row that is written as such.
        if let Some((fields, unknown)) = constructed(&value.text)
            && unknown.len() > 1
            && value.names.iter().all(|name| self.scopes.row_named(name).is_none())
        {
            let text = format!("SELECT {fields}");
            let query = Sql { text, id: usize::MAX - value.id, ..value.clone() };
            let variables = self.scopes.variables(&query);
            let answer = self.host.execute(&query, &variables, Some(1)).await;
            let answer = answer.map_err(|error| self.of_fields(value, error))?;
            let row = answer.rows.into_iter().next().unwrap_or_default();
            if let Some(form) = self.form {
                self.check_types(OTHER_COLUMNS, &row, (form.types, &unknown), |_| false)?;
            }
            self.rows.push(row);
            return Ok(Flow::Return(None));
        }
        let value = self.value(value, None).await?;
        if !self.host.is_null(&value) && self.host.fields(&value).is_none() {
            let message =
                "cannot return non-composite value from function returning composite type";
            return Err(Error::new(SqlState::DatatypeMismatch, message));
        }
        Ok(Flow::Return(Some(value)))
    }

    /// Refuses a row whose fields have other types than expected, where both are among those that are compared, or no type:
    /// with the expected types are the fields that are constants without one.
    fn check_types(
        &self,
        message: &str,
        row: &[H::Value],
        (expected, unknown): (&[String], &[bool]),
        is_compared: impl Fn(&str) -> bool,
    ) -> Result<()> {
        for (at, (value, expected)) in row.iter().zip(expected).enumerate() {
            let is_unknown = unknown.get(at) == Some(&true);
            let given = match is_unknown {
                true => "unknown".to_owned(),
                false => plain(&self.host.type_of(value)),
            };
            let expected = plain(expected);
            if is_unknown || given != expected && is_compared(&given) && is_compared(&expected) {
                let detail = format!(
                    "Returned type {given} does not match expected type {expected} in column {}.",
                    at + 1
                );
                return Err(Error::new(SqlState::DatatypeMismatch, message).with_detail(detail));
            }
        }
        Ok(())
    }

    /// RETURN NEXT.
    pub(super) async fn return_next(&mut self, value: Option<&Sql>) -> Result<()> {
        let row = match value {
            Some(value) if self.row_form().is_some() => self.record_of(value).await?,
            Some(value) => vec![self.value(value, None).await?],
            None => self.scopes.at(self.outputs),
        };
        self.rows.push(row);
        Ok(())
    }

    /// The fields of a record, if an expression is nothing but its name; `None` within that for a record without a row.
    fn record_named(&self, value: &Sql) -> Option<Option<Vec<H::Value>>> {
        let name = value.text.trim().trim_matches('"');
        match value.names.as_slice() {
            [only] if only.eq_ignore_ascii_case(name) => self.scopes.fields(only),
            _ => None,
        }
    }

    /// The fields of a record: a variable, or the value of an expression.
    async fn record_of(&mut self, value: &Sql) -> Result<Vec<H::Value>> {
        let width = self.row_form().map_or(1, |form| form.types.len());
        let nulls = |host: &H| vec![host.of_text(None); width];
        let name = value.text.trim();
        if name.eq_ignore_ascii_case("null") {
            return Ok(nulls(&*self.host));
        }
        let row = match self.record_named(value) {
            Some(Some(fields)) => fields,
            Some(None) => {
                return Err(unassigned(name));
            }
            None => {
                let text = format!("SELECT ({}).*", value.text);
                let query = Sql { text, id: usize::MAX - value.id, ..value.clone() };
                let variables = self.scopes.variables(&query);
                let answer = self.host.execute(&query, &variables, Some(1)).await;
                let answer = answer.map_err(|error| match error.state() {
                    SqlState::WrongObjectType => Error::new(
                        SqlState::DatatypeMismatch,
                        "cannot return non-composite value from function returning composite type",
                    ),
                    _ => error,
                })?;
                answer.rows.into_iter().next().unwrap_or_else(|| nulls(&*self.host))
            }
        };
        if let Some(form) = self.form.filter(|form| form.outputs.is_empty()) {
            let is_usual = |name: &str| form.is_composite || USUAL_TYPES.contains(&name);
            let unknown = constructed(&value.text).map(|(_, unknown)| unknown).unwrap_or_default();
            self.check_types(OTHER_COLUMNS, &row, (form.types, &unknown), is_usual)?;
        }
        if row.len() == width {
            return Ok(row);
        }
        Err(mismatch(OTHER_COLUMNS, row.len(), width))
    }

    /// RETURN QUERY: the rows must have the types of the result.
    pub(super) fn check_query(&self, answer: &Answer<H::Value>) -> Result<()> {
        let Some(form) = self.form else { return Ok(()) };
        let message = "structure of query does not match function result type";
        if answer.columns.len() != form.types.len() {
            return Err(mismatch(message, answer.columns.len(), form.types.len()));
        }
        match answer.rows.first() {
            Some(first) => self.check_types(message, first, (form.types, &[]), |_| true),
            None => Ok(()),
        }
    }
}

/// The name of a type without its length or digits.
fn plain(name: &str) -> String {
    match (name.find('('), name.find(')')) {
        (Some(open), Some(close)) if open < close => {
            format!("{}{}", name[..open].trim_end(), &name[close + 1..])
        }
        _ => name.to_owned(),
    }
}

fn mismatch(message: &str, given: usize, expected: usize) -> Error {
    let detail = format!(
        "Number of returned columns ({given}) does not match expected column count ({expected})."
    );
    Error::new(SqlState::DatatypeMismatch, message).with_detail(detail)
}
