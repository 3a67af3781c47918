//! The host of PL/pgSQL, over what runs statements.

use crate::arrays;
use crate::assignment::held;
use crate::composite;
use crate::current::{self, Current};
use crate::cursors::{CursorOf, Held};
use crate::done::Done;
use crate::in_place;
use crate::known::{Key, Known, Shared, parameters};
use crate::parts::Parts;
use crate::program::Program;
use crate::scalar::Caller;
use crate::shapes::Shapes;
use crate::statements::Statements;
use crate::subquery;
use crate::value::{Value, answer, assignable, named, schema_of, written};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::common::ScalarValue;
use grammar::tree::NodeEnum;
use parser::commands::locking::locks_rows;
use parser::{Body, Statement};
use planner::{Conflict, NamedParameter};
use plpgsql::tree::Sql;
use plpgsql::{Answer, CursorQuery, Host, ItemPlace, Move, Programs, Raised, Severity, Variable};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;
use store::catalog::SqlType;
use system_catalog::functions::{self, Function, Volatility};
use values::error::{Error, Result, SqlState};
use values::field::Field;
use values::types::REFCURSOR;

/// The turns of loops after which the end of the statement is noticed.
const TURNS: u32 = 16;

/// The turns of loops after which others run: letting them takes as long as many turns.
const TURNS_OF_OTHERS: u32 = 4096;

/// A host that remembers what it has planned.
pub struct StatementHost<S> {
    pub(crate) statements: S,
    pub(crate) known: HashMap<Key, Known>,
    pub(crate) nulls: HashMap<String, Value>,
    turns: u32,
    /// What names mean that are both a variable's and a column's.
    pub(crate) conflict: Conflict,
    pub(crate) programs: Programs<Program>,
    /// Who calls the functions of its expressions, once one does.
    pub(crate) caller: Option<Arc<dyn Caller>>,
    /// What other hosts of its function have found out.
    pub(crate) shared: Option<Shared>,
    /// Whether texts mean something else than when it began.
    pub(crate) has_moved: bool,
    /// The shapes of texts that were executed.
    pub(crate) shapes: Shapes,
}

impl<S: Statements> StatementHost<S> {
    /// A host that has planned nothing yet.
    pub fn new(statements: S) -> Self {
        let (known, nulls) = Default::default();
        Self {
            statements,
            known,
            nulls,
            turns: 0,
            conflict: Conflict::Error,
            programs: Programs::default(),
            caller: None,
            shared: None,
            has_moved: false,
            shapes: Shapes::default(),
        }
    }

    pub(crate) async fn run(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
        limit: Option<usize>,
    ) -> Result<(Vec<Field>, Answer<Value>)> {
        let done = self.done(statement, names, values, limit).await?;
        match done.fields {
            Some(fields) => {
                let answer = answer(&fields, &done.batches)?;
                Ok((fields, answer))
            }
            None => {
                let (columns, rows, nulls) = Default::default();
                let count = done.count;
                Ok((Vec::new(), Answer { columns, rows, nulls, count, has_rows: false }))
            }
        }
    }

    /// Runs a statement. What was planned is forgotten if texts mean something else afterwards.
    async fn done(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
        limit: Option<usize>,
    ) -> Result<Done> {
        // The interpreter's futures stay small, also where statements stand within each other.
        let done = Box::pin(self.statements.run(statement, names, values, limit)).await;
        if self.statements.has_moved() {
            self.has_moved = true;
            self.forget();
        }
        done
    }

    /// UPDATE or DELETE of the row on which a cursor stands: of the row with its key.
    async fn execute_current(
        &mut self,
        sql: &Sql,
        current: Current,
        variables: &[Variable<Value>],
        limit: Option<usize>,
    ) -> Result<Answer<Value>> {
        let named =
            variables.iter().find(|of| of.name == current.cursor && of.value.of == REFCURSOR);
        let name = named.and_then(|variable| self.text(&variable.value));
        let name = name.unwrap_or_else(|| current.cursor.clone());
        let (query, row) = self.statements.held()?.cursors().lock().current(&name)?;
        let not_simple = || {
            let table = current.table.rsplit('.').next().unwrap_or_default().trim_matches('"');
            let message =
                format!("cursor \"{name}\" is not a simply updatable scan of table \"{table}\"");
            Error::new(SqlState::chosen("24000"), message)
        };
        if !current::scans(&query, &current) {
            return Err(not_simple());
        }
        let Some(row) = row else {
            let message = format!("cursor \"{name}\" is not positioned on a row");
            return Err(Error::new(SqlState::chosen("24000"), message));
        };
        let keys = parser::one(&current.keys()).map_err(inside)?;
        let (_, keys) = self.run(&keys, &[], &[], None).await.map_err(inside)?;
        let keys = keys.rows.iter().filter_map(|row| self.text(row.first()?)).collect::<Vec<_>>();
        let row = answer(&row.fields, &[row.rows])?;
        let mut all = variables.to_vec();
        for key in &keys {
            let mut named = row.columns.iter().zip(row.rows.iter().flatten());
            let found = named.find(|(name, _)| *name == key && current::selects(&query, key));
            let Some((_, value)) = found else { return Err(current::without_key(&name)) };
            let (qualifier, name) = (None, current::parameter(key));
            all.push(Variable { qualifier, name, value: value.clone() });
        }
        if keys.is_empty() {
            return Err(current::without_key(&name));
        }
        let rewritten =
            Sql { id: usize::MAX / 2 - sql.id, text: current.text(&keys), ..sql.clone() };
        let statement = self.statement_of(&rewritten)?;
        let (names, values) = parameters(&all, self.conflict);
        let done = self.run(&statement, &names, &values, limit).await;
        done.map(|(_, answer)| answer).map_err(inside)
    }

    /// A statement of the function, read once.
    fn statement_of(&mut self, sql: &Sql) -> Result<Statement> {
        let key = (sql.id, None);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.statement.clone());
        }
        let statement = parser::one(&sql.text).map_err(inside)?;
        let is_expression = matches!(statement.body(), Body::Query)
            && statement.query().is_some_and(subquery::is_expression);
        let known = Known { is_expression, ..Known::new(statement.clone()) };
        self.known.insert(key, known);
        Ok(statement)
    }
}

pub(crate) fn text_value(text: Option<String>) -> Value {
    Value { scalar: ScalarValue::Utf8View(text), of: SqlType::Text }
}

/// The values of `$1`, `$2`, ...
fn numbered(given: &[Value]) -> Vec<Variable<Value>> {
    let variable = |(at, value): (usize, &Value)| Variable {
        qualifier: None,
        name: format!("${}", at + 1),
        value: value.clone(),
    };
    given.iter().enumerate().map(variable).collect()
}

/// Positions in a text of the function are none in the client's statement.
pub(crate) fn inside(error: Error) -> Error {
    error.without_position()
}

impl<S: Statements> Host for StatementHost<S> {
    type Value = Value;
    type Savepoint = (S::Savepoint, <S::Held as Held>::Mark);
    type Program = Program;
    type Parts = Parts;

    fn program(
        &self,
        sql: &Sql,
        variables: &[Variable<Value>],
        to: Option<&str>,
    ) -> Option<Arc<Program>> {
        let known = self.known.get(&(sql.id, to.map(str::to_owned)))?;
        let (names, scalar) = known.scalar.as_ref().filter(|_| known.converts || to.is_none())?;
        let is_same = |(name, variable): (&NamedParameter, &Variable<Value>)| {
            name.name == variable.name && name.qualifier == variable.qualifier
        };
        if names.len() != variables.len() || !names.iter().zip(variables).all(is_same) {
            return None;
        }
        let compiled = known.compiled.as_ref().filter(|compiled| compiled.is_of(names));
        let program = match (scalar, &self.caller, compiled) {
            (Some(scalar), ..) if !scalar.has_calls() => Program::Scalar(Arc::clone(scalar)),
            (Some(scalar), Some(caller), _) => {
                Program::Calling(Arc::clone(scalar), Arc::clone(caller))
            }
            (_, _, Some(compiled)) => Program::Compiled(Arc::clone(compiled)),
            _ => return None,
        };
        Some(Arc::new(program))
    }

    fn programs(&mut self) -> &mut Programs<Program> {
        &mut self.programs
    }

    fn set_conflict(&mut self, conflict: plpgsql::tree::Conflict) {
        use plpgsql::tree::Conflict as Chosen;
        self.conflict = match conflict {
            Chosen::Error => Conflict::Error,
            Chosen::Column => Conflict::Column,
            Chosen::Variable => Conflict::Parameter,
        };
    }

    async fn evaluate(
        &mut self,
        sql: &Sql,
        variables: &[Variable<Value>],
        to: Option<&str>,
    ) -> Result<Value> {
        let (value, converts) = self.evaluated(sql, variables, to).await?;
        match to {
            Some(to) if !converts => self.convert(value, to).await,
            _ => Ok(value),
        }
    }

    async fn execute(
        &mut self,
        sql: &Sql,
        variables: &[Variable<Value>],
        limit: Option<usize>,
    ) -> Result<Answer<Value>> {
        if let Some(current) = current::of(sql) {
            return Box::pin(self.execute_current(sql, current, variables, limit)).await;
        }
        let statement = self.statement_of(sql)?;
        let (names, values) = parameters(variables, self.conflict);
        if let Some(answer) = self.answer_of_expression(sql, &names, &values).await? {
            return Ok(answer);
        }
        let done = self.run(&statement, &names, &values, limit).await;
        done.map(|(_, answer)| answer).map_err(inside)
    }

    async fn parts(&mut self, query: CursorQuery<'_, Value>) -> Result<(Parts, bool)> {
        let (statement, (names, values)) = match query {
            CursorQuery::Written(sql, variables) => {
                if let Some(current) = current::of(sql) {
                    let done = self.execute_current(sql, current, variables, None);
                    return Ok((Parts::from(Box::pin(done).await?), false));
                }
                (self.statement_of(sql)?, parameters(variables, self.conflict))
            }
            CursorQuery::Text(text, given) => {
                let statement = parser::one(text).map_err(inside)?;
                (statement, parameters(&numbered(given), self.conflict))
            }
        };
        let done = self.done(&statement, &names, &values, None).await;
        let parts = done.and_then(Parts::of).map_err(inside)?;
        Ok((parts, matches!(statement.body(), Body::Query)))
    }

    fn only_reads(&mut self, sql: &Sql) -> bool {
        self.statement_of(sql).is_ok_and(|statement| matches!(statement.body(), Body::Query))
    }

    fn is_change(&mut self, sql: &Sql) -> bool {
        use NodeEnum::{DeleteStmt, InsertStmt, MergeStmt, UpdateStmt};
        let Ok(statement) = self.statement_of(sql) else { return false };
        let change = statement.change();
        matches!(change, Some(InsertStmt(_) | UpdateStmt(_) | DeleteStmt(_) | MergeStmt(_)))
    }

    async fn execute_text(
        &mut self,
        text: &str,
        given: &[Value],
        limit: Option<usize>,
    ) -> Result<Answer<Value>> {
        if given.is_empty()
            && let Some(answer) = self.answer_of_shape(text, limit).await?
        {
            return Ok(answer);
        }
        let statements = parser::parse(text).map_err(inside)?;
        let (names, values) = parameters(&numbered(given), self.conflict);
        let (columns, rows, nulls) = Default::default();
        let mut last = Answer { columns, rows, nulls, count: 0, has_rows: false };
        for statement in &statements {
            last = self.run(statement, &names, &values, limit).await.map_err(inside)?.1;
        }
        Ok(last)
    }

    fn begin_loop(&mut self, query: &str, only_reads: bool) -> Result<()> {
        let held = self.statements.held()?;
        held.running().begin(query, held.search_path(), only_reads);
        Ok(())
    }

    fn end_loop(&mut self) {
        // Without a session there is nothing to end.
        if let Ok(held) = self.statements.held() {
            held.running().end();
        }
    }

    async fn open_cursor(
        &mut self,
        name: Option<String>,
        scrolls: Option<bool>,
        query: CursorQuery<'_, Value>,
    ) -> Result<String> {
        let (statement, (names, values)) = match query {
            CursorQuery::Written(sql, variables) => {
                (self.statement_of(sql)?, parameters(variables, self.conflict))
            }
            CursorQuery::Text(text, given) => {
                let statement = parser::one(text).map_err(inside)?;
                (statement, parameters(&numbered(given), self.conflict))
            }
        };
        let locks = statement.rows().is_some_and(locks_rows);
        if locks && scrolls == Some(true) {
            let message = "DECLARE SCROLL CURSOR ... FOR UPDATE/SHARE is not supported";
            return Err(
                Error::unsupported(message).with_detail("Scrollable cursors must be READ ONLY.")
            );
        }
        if !returns_rows(&statement) {
            let command = statement.text.split_whitespace().next().unwrap_or_default();
            let message = format!("cannot open {} query as cursor", command.to_uppercase());
            return Err(Error::new(SqlState::InvalidCursorDefinition, message));
        }
        let done = self.done(&statement, &names, &values, None).await.map_err(inside)?;
        let fields = done.fields.unwrap_or_default();
        let schema = done.batches.first().map(RecordBatch::schema).or(done.schema);
        let schema = schema.unwrap_or_else(|| schema_of(&fields));
        let rows = concat_batches(&schema, &done.batches)?;
        let held = self.statements.held()?;
        let goes_back = scrolls.unwrap_or(!locks);
        let (search_path, opened) = (held.search_path(), SystemTime::now());
        let of = CursorOf { statement: statement.text, search_path, goes_back, opened };
        held.cursors().lock().open(name, of, fields, rows)
    }

    fn is_open(&self, cursor: &str) -> bool {
        self.statements.held().is_ok_and(|held| held.cursors().lock().is_open(cursor))
    }

    fn fetch(&mut self, cursor: &str, to: Move, moves: bool) -> Result<Answer<Value>> {
        let fetched = self.statements.held()?.cursors().lock().fetch(cursor, to)?;
        let batches = [fetched.rows];
        let batches = if moves { &[] } else { &batches[..] };
        Ok(Answer { count: fetched.count, ..answer(&fetched.fields, batches)? })
    }

    fn stand_on(&mut self, cursor: &str, row: u64) -> Result<()> {
        self.statements.held()?.cursors().lock().stand_on(cursor, row);
        Ok(())
    }

    fn close_cursor(&mut self, cursor: &str) -> Result<()> {
        self.statements.held()?.cursors().lock().close(cursor)
    }

    async fn convert(&mut self, value: Value, to: &str) -> Result<Value> {
        if self.null(to).is_ok_and(|null| null.of == value.of) || value.of.to_string() == to {
            return Ok(value);
        }
        let name = "$1".to_owned();
        let (text, names) = (name.clone(), vec![name.clone()]);
        let sql = Sql { id: 0, text, position: 0, names, assignment: None };
        let variable = Variable { qualifier: None, name, value };
        let converted = self.evaluated(&sql, &[variable], Some(to)).await;
        converted.map(|(value, _)| value).map_err(inside)
    }

    async fn columns_of(&mut self, relation: &str) -> Result<Vec<(String, String)>> {
        let statement =
            parser::one(&format!("SELECT * FROM {relation} LIMIT 0")).map_err(inside)?;
        let (fields, _) = self.run(&statement, &[], &[], None).await.map_err(inside)?;
        let name = |of: &SqlType| match of.user_type() {
            Some(_) => of.to_string(),
            None => written(of),
        };
        Ok(fields.into_iter().map(|field| (field.name, name(&field.sql_type))).collect())
    }

    fn say(&mut self, raised: Raised) {
        let severity = match raised.severity {
            Severity::Debug => "DEBUG",
            Severity::Log => "LOG",
            Severity::Info => "INFO",
            Severity::Notice => "NOTICE",
            Severity::Warning => "WARNING",
        };
        self.statements.say(severity, raised.error);
    }

    async fn savepoint(&mut self) -> Result<Self::Savepoint> {
        let mark = self.statements.held()?.mark();
        Ok((Box::pin(self.statements.savepoint()).await?, mark))
    }

    async fn roll_back(&mut self, (to, mark): Self::Savepoint) -> Result<()> {
        self.statements.held()?.go_back(mark);
        Box::pin(self.statements.roll_back(to)).await
    }

    async fn end_transaction(&mut self, commits: bool) -> Result<()> {
        Box::pin(self.statements.end_transaction(commits)).await?;
        // `now()` says another time.
        self.settle();
        Ok(())
    }

    fn turn(&mut self) -> Result<bool> {
        self.turns = self.turns.wrapping_add(1);
        if !self.turns.is_multiple_of(TURNS) {
            return Ok(false);
        }
        self.statements.check()?;
        Ok(self.turns.is_multiple_of(TURNS_OF_OTHERS) && self.statements.yields())
    }

    async fn give_way(&mut self) {
        tokio::task::yield_now().await;
    }

    fn null(&mut self, of: &str) -> Result<Value> {
        if let Some(value) = self.nulls.get(of) {
            return Ok(value.clone());
        }
        let value = Value::null(&held(of)?);
        self.nulls.insert(of.to_owned(), value.clone());
        Ok(value)
    }

    fn of_text(&self, text: Option<String>) -> Value {
        text_value(text)
    }

    fn of_number(&self, number: i64, of: &str) -> Value {
        match (of, i32::try_from(number)) {
            ("integer", Ok(number)) => {
                Value { scalar: ScalarValue::Int32(Some(number)), of: SqlType::Integer }
            }
            _ => Value { scalar: ScalarValue::Int64(Some(number)), of: SqlType::BigInt },
        }
    }

    fn put_integer(&self, value: &mut Value, number: i32) -> bool {
        match &mut value.scalar {
            ScalarValue::Int32(old) if matches!(value.of, SqlType::Integer) => {
                *old = Some(number);
                true
            }
            _ => false,
        }
    }

    fn of_truth(&self, truth: bool) -> Value {
        Value { scalar: ScalarValue::Boolean(Some(truth)), of: SqlType::Boolean }
    }

    fn truth(&self, value: &Value) -> Option<bool> {
        match value.scalar {
            ScalarValue::Boolean(truth) => truth,
            _ => None,
        }
    }

    fn number(&self, value: &Value) -> Option<i64> {
        match value.scalar {
            ScalarValue::Int16(number) => number.map(i64::from),
            ScalarValue::Int32(number) => number.map(i64::from),
            ScalarValue::Int64(number) => number,
            _ => None,
        }
    }

    fn text(&self, value: &Value) -> Option<String> {
        value.scalar.try_as_str().flatten().map(str::to_owned)
    }

    fn type_of(&self, value: &Value) -> String {
        named(&value.of)
    }

    fn written_type(&self, value: &Value) -> Option<String> {
        assignable(&value.of)
    }

    fn is_null(&self, value: &Value) -> bool {
        value.scalar.is_null()
    }

    fn attributes(&self, value: &Value) -> Option<Arc<[(String, String)]>> {
        composite::attributes(&value.of)
    }

    fn is_of_table(&self, value: &Value) -> bool {
        matches!(&value.of, SqlType::User(user) if user.id.rows_of().is_some())
    }

    fn fields(&self, value: &Value) -> Option<Vec<Value>> {
        composite::fields(value)
    }

    fn row_like(&self, row: &Value, fields: Option<Vec<Value>>) -> Result<Value> {
        let fields = fields.map(|all| all.into_iter().map(|field| field.scalar).collect());
        Ok(Value { scalar: composite::row(&row.of, fields)?, of: row.of.clone() })
    }

    fn items(&self, value: &Value, slice: usize) -> Result<Option<Vec<Value>>> {
        arrays::items(value, slice)
    }

    fn item_type<'t>(&self, of: &'t str) -> Option<&'t str> {
        // An array of several dimensions has the items of one with one. The size of another dimension is not looked at.
        let item = of.strip_suffix("[]")?.trim_end_matches("[]");
        (!item.ends_with(']')).then_some(item)
    }

    fn put_item(&self, array: &mut Value, at: i64, item: &Value) -> Result<bool> {
        in_place::put(&mut array.scalar, Some(at), &item.scalar)
    }

    fn with_item(&self, array: &Value, at: &[ItemPlace], item: Value) -> Result<Value> {
        arrays::with_item(array, at, item)
    }

    fn item(&self, array: &Value, at: &[ItemPlace]) -> Result<Value> {
        arrays::item(array, at)
    }

    fn with_json(
        &self,
        json: &Value,
        path: &[String],
        is_array: bool,
        part: &Value,
    ) -> Result<Value> {
        let empty = if is_array { "[]" } else { "{}" };
        let whole = json.scalar.try_as_str().flatten().unwrap_or(empty);
        let part = part.scalar.try_as_str().flatten().unwrap_or("null");
        let text = values::json::change::assign(whole, path, part)?;
        Ok(Value { scalar: ScalarValue::Utf8View(Some(text)), of: json.of.clone() })
    }

    fn is_folded(&self, sql: &Sql) -> bool {
        let changes = |function: &Function| function.volatility != Volatility::Immutable;
        !sql.names.iter().any(|name| functions::named(name).any(changes))
    }
}

/// Whether a statement may return rows.
fn returns_rows(statement: &Statement) -> bool {
    match statement.body() {
        Body::Query | Body::Refused(_) => true,
        Body::Command(_) => false,
        Body::Change => match statement.change() {
            Some(NodeEnum::InsertStmt(insert)) => insert.returning_clause.is_some(),
            Some(NodeEnum::UpdateStmt(update)) => update.returning_clause.is_some(),
            Some(NodeEnum::DeleteStmt(delete)) => delete.returning_clause.is_some(),
            Some(NodeEnum::SelectStmt(_)) => true,
            _ => false,
        },
    }
}
