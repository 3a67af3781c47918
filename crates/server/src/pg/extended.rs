//! The extended protocol: statements are parsed, bound and executed by messages of their own.
//!
//! Execute outside a transaction commits by itself when Sync comes right behind it. Otherwise more may
//! come that belongs to it, and everything up to Sync is one transaction.

use super::connection::{Connection, Stream};
use super::error::Ending;
use super::frontend::{Bind, Format, Message, Target};
use super::rows::write_rows;
use super::simple::{ROWS_PER_PIECE, tag_of};
use super::{oid, parameters};
use futures::StreamExt;
use query::arrow::array::RecordBatch;
use query::{
    ConnectionStatement, Description, Error, Field, Outcome, Rows, ScalarValue, SqlState, SqlType,
    Statement,
};
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::Instant;

/// A prepared statement.
pub(crate) struct Prepared {
    /// `None` for a text without a statement.
    pub(crate) statement: Option<(Statement, query::Prepared)>,
    /// The parameter types that the client said.
    given: Vec<Option<SqlType>>,
    description: OnceLock<Arc<Description>>,
}

impl Prepared {
    /// Whether the client was told of other columns than there are now.
    fn promised_others(&self, rows: &Rows) -> bool {
        let promised = self.description.get().and_then(|known| known.fields.as_ref());
        let types = |fields: &[Field]| -> Vec<u32> {
            fields.iter().map(|field| oid::info(&field.sql_type).oid).collect()
        };
        promised.is_some_and(|promised| types(promised) != types(&rows.fields))
    }
}

/// A prepared statement with values, and how far its rows have been fetched.
pub(crate) struct Portal {
    prepared: Arc<Prepared>,
    values: Vec<ScalarValue>,
    formats: Vec<Format>,
    state: State,
    /// What a cursor's rows are, when they have all been fetched.
    fields: Option<Vec<Field>>,
    /// Whether it lives on after its transaction.
    pub(crate) hold: bool,
}

impl Portal {
    /// A cursor over rows.
    pub(crate) fn cursor(rows: Rows, formats: Vec<Format>, hold: bool) -> Self {
        let prepared =
            Prepared { statement: None, given: Vec::new(), description: OnceLock::new() };
        let state = State::Open(Fetching { rows, pending: None, sent: 0 });
        Self {
            prepared: Arc::new(prepared),
            values: Vec::new(),
            formats,
            state,
            fields: None,
            hold,
        }
    }

    /// Whether it was declared to send values in binary.
    pub(crate) fn is_binary_cursor(&self) -> bool {
        self.prepared.statement.is_none() && self.formats == [Format::Binary]
    }

    /// Rows that were sent last.
    fn sent(&self) -> usize {
        match &self.state {
            State::Open(fetching) => fetching.sent,
            State::Done { sent, .. } => *sent,
            State::Bound => 0,
        }
    }

    /// The columns of its rows, as far as they are known.
    pub(crate) fn fields(&self) -> Option<&[Field]> {
        match &self.state {
            State::Open(fetching) => Some(&fetching.rows.fields),
            _ => self.fields.as_deref(),
        }
    }
}

enum State {
    Bound,
    Open(Fetching),
    /// All rows are fetched; the tag to answer once more with, and how many rows came last.
    Done {
        tag: String,
        sent: usize,
    },
}

/// Rows on their way to the client.
struct Fetching {
    rows: Rows,
    /// A batch, and how many of its rows have been sent.
    pending: Option<(RecordBatch, usize)>,
    sent: usize,
}

/// What was asked is answered, or has failed; or the connection ends.
pub(crate) type Answer<T = ()> = Result<Result<T, Error>, Ending>;

macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Ok(Err(error)),
        }
    };
}
pub(crate) use attempt;

impl<S: Stream> Connection<S> {
    pub(crate) async fn extended(&mut self, message: Message) -> Answer {
        match message {
            Message::Parse { name, query, types } => Ok(self.parse(name, &query, &types)),
            Message::Bind(bind) => self.bind(bind).await,
            Message::Describe(Target::Statement(name)) => self.describe_statement(&name).await,
            Message::Describe(Target::Portal(name)) => self.describe_portal(&name).await,
            Message::Execute { portal, rows_max } => self.execute(&portal, rows_max).await,
            Message::Close(target) => {
                match target {
                    Target::Statement(name) => drop(self.statements.remove(&name)),
                    Target::Portal(name) => drop(self.portals.remove(&name)),
                }
                self.wire.out.close_complete();
                Ok(Ok(()))
            }
            _ => Ok(Err(Error::new(SqlState::ProtocolViolation, "unexpected message"))),
        }
    }

    fn parse(&mut self, name: String, text: &str, types: &[u32]) -> Result<(), Error> {
        if !name.is_empty() && self.statements.contains_key(&name) {
            let message = format!("prepared statement \"{name}\" already exists");
            return Err(Error::new(SqlState::DuplicatePreparedStatement, message));
        }
        let mut statements = self.session.parse(text)?;
        if statements.len() > 1 {
            let message = "cannot insert multiple commands into a prepared statement";
            return Err(Error::new(SqlState::SyntaxError, message));
        }
        let statement = statements.pop().map(|statement| {
            let prepared = self.session.prepare_statement(statement.clone());
            (statement, prepared)
        });
        let given = types.iter().map(|oid| oid::parameter_type(*oid)).collect();
        let prepared = Prepared { statement, given, description: OnceLock::new() };
        self.statements.insert(name, Arc::new(prepared));
        self.wire.out.parse_complete();
        Ok(())
    }

    fn statement(&self, name: &str) -> Result<Arc<Prepared>, Error> {
        self.statements.get(name).cloned().ok_or_else(|| {
            let message = match name {
                "" => "unnamed prepared statement does not exist".to_owned(),
                name => format!("prepared statement \"{name}\" does not exist"),
            };
            Error::new(SqlState::InvalidSqlStatementName, message)
        })
    }

    /// What a statement takes and gives; found out once.
    async fn description(&mut self, prepared: &Prepared) -> Result<Arc<Description>, Error> {
        if let Some(known) = prepared.description.get() {
            return Ok(Arc::clone(known));
        }
        let nothing = Description { parameters: Vec::new(), fields: None };
        let description = match &prepared.statement {
            None => nothing,
            Some((statement, planned)) => match statement.for_connection().transpose()? {
                // What a cursor gives can be another thing the next time: it is not kept.
                Some(ConnectionStatement::Fetch { name, .. }) => {
                    let fields = self.portals.get(&name).and_then(Portal::fields);
                    let fields = fields.map(<[Field]>::to_vec);
                    return Ok(Arc::new(Description { fields, ..nothing }));
                }
                Some(ConnectionStatement::Declare { query, .. }) => {
                    let planned = self.session.prepare_statement(*query);
                    let described = planned.describe(&prepared.given).await?;
                    Description { fields: None, ..described }
                }
                Some(_) => nothing,
                None if statement.is_client_copy() => nothing,
                None => planned.describe(&prepared.given).await?,
            },
        };
        Ok(Arc::clone(prepared.description.get_or_init(|| Arc::new(description))))
    }

    async fn bind(&mut self, bind: Bind) -> Answer {
        if !bind.portal.is_empty() && self.portals.contains_key(&bind.portal) {
            let message = format!("cursor \"{}\" already exists", bind.portal);
            return Ok(Err(Error::new(SqlState::DuplicateCursor, message)));
        }
        let prepared = attempt!(self.statement(&bind.statement));
        attempt!(self.refuse_if_failed(&prepared).await);
        let known =
            bind.values.len() == prepared.given.len() && prepared.given.iter().all(Option::is_some);
        let values = if known {
            let types: Vec<SqlType> = prepared.given.iter().flatten().cloned().collect();
            attempt!(parameters::decode(&bind, &types))
        } else {
            let description = attempt!(self.description(&prepared).await);
            attempt!(parameters::decode(&bind, &description.parameters))
        };
        let formats = bind.result_formats;
        let state = State::Bound;
        let portal = Portal { prepared, values, formats, state, fields: None, hold: false };
        self.portals.insert(bind.portal, portal);
        self.wire.out.bind_complete();
        Ok(Ok(()))
    }

    /// In a failed transaction only the statements that end it are taken.
    async fn refuse_if_failed(&mut self, prepared: &Prepared) -> Result<(), Error> {
        match &prepared.statement {
            Some((statement, _)) if !statement.ends_transaction() => {
                self.session.refuse_if_failed().await
            }
            _ => Ok(()),
        }
    }

    async fn describe_statement(&mut self, name: &str) -> Answer {
        let prepared = attempt!(self.statement(name));
        attempt!(self.refuse_if_failed(&prepared).await);
        let description = attempt!(self.description(&prepared).await);
        let types = description.parameters.iter().map(|sql_type| oid::info(sql_type).oid);
        self.wire.out.parameter_description(types);
        match &description.fields {
            Some(fields) => self.wire.out.row_description(fields, &[]),
            None => self.wire.out.no_data(),
        }
        Ok(Ok(()))
    }

    async fn describe_portal(&mut self, name: &str) -> Answer {
        let Some(portal) = self.portals.get(name) else { return Ok(Err(no_portal(name))) };
        if let Some(fields) = portal.fields() {
            self.wire.out.row_description(fields, &portal.formats);
            return Ok(Ok(()));
        }
        let prepared = Arc::clone(&portal.prepared);
        let description = attempt!(self.description(&prepared).await);
        let Some(portal) = self.portals.get(name) else { return Ok(Err(no_portal(name))) };
        match &description.fields {
            Some(fields) => self.wire.out.row_description(fields, &portal.formats),
            None => self.wire.out.no_data(),
        }
        Ok(Ok(()))
    }

    async fn execute(&mut self, name: &str, rows_max: u32) -> Answer {
        let Some(mut portal) = self.portals.remove(name) else { return Ok(Err(no_portal(name))) };
        let since = Instant::now();
        let answer = self.execute_portal(&mut portal, rows_max).await;
        if let Some((statement, _)) = &portal.prepared.statement {
            let rows = portal.sent();
            self.count(statement.kind(), &statement.text, since, rows);
        }
        self.portals.insert(name.to_owned(), portal);
        answer
    }

    async fn execute_portal(&mut self, portal: &mut Portal, rows_max: u32) -> Answer {
        if let State::Bound = portal.state {
            let Some((statement, prepared)) = &portal.prepared.statement else {
                self.wire.out.empty_query();
                return Ok(Ok(()));
            };
            if statement.is_client_copy() {
                let statement = statement.clone();
                return self.copy(&statement).await;
            }
            if let Some(wanted) = statement.for_connection() {
                let (formats, values) = (portal.formats.clone(), portal.values.clone());
                return self.steer(attempt!(wanted), &formats, &values, false).await;
            }
            if self.wire.frames.peek() != Some(b'S') {
                self.session.begin_implicit().await;
            }
            let outcome = attempt!(prepared.execute(&portal.values).await);
            self.notices();
            portal.state = match outcome {
                Outcome::Rows(rows) if portal.prepared.promised_others(&rows) => {
                    let message = "cached plan must not change result type";
                    return Ok(Err(Error::new(SqlState::FeatureNotSupported, message)));
                }
                Outcome::Rows(rows) => State::Open(Fetching { rows, pending: None, sent: 0 }),
                Outcome::Done(tag) => {
                    let tag = tag.to_string();
                    self.wire.out.command_complete(&tag);
                    portal.state = State::Done { tag, sent: 0 };
                    return Ok(Ok(()));
                }
            };
        }
        match &mut portal.state {
            State::Open(fetching) => {
                fetching.sent = 0;
                let limit = if rows_max == 0 { usize::MAX } else { rows_max as usize };
                let done = attempt!(self.fetch(fetching, &portal.formats, limit).await?);
                if done {
                    let tag = tag_of(fetching.rows.command, fetching.sent);
                    self.notices();
                    self.wire.out.command_complete(&tag);
                    let (tag, sent) = (tag_of(fetching.rows.command, 0), fetching.sent);
                    portal.state = State::Done { tag, sent };
                } else {
                    self.wire.out.portal_suspended();
                }
            }
            State::Done { tag, .. } => self.wire.out.command_complete(tag),
            State::Bound => {}
        }
        Ok(Ok(()))
    }

    /// Sends up to so many rows of a cursor; how many there were comes back.
    pub(crate) async fn fetch_rows(
        &mut self,
        portal: &mut Portal,
        formats: &[Format],
        count: Option<usize>,
    ) -> Answer<usize> {
        let State::Open(fetching) = &mut portal.state else { return Ok(Ok(0)) };
        fetching.sent = 0;
        if attempt!(self.fetch(fetching, formats, count.unwrap_or(usize::MAX)).await?) {
            let sent = fetching.sent;
            portal.fields = Some(fetching.rows.fields.clone());
            portal.state = State::Done { tag: "FETCH 0".to_owned(), sent };
            return Ok(Ok(sent));
        }
        Ok(Ok(fetching.sent))
    }

    /// Sends up to so many rows; whether there are no more.
    async fn fetch(
        &mut self,
        from: &mut Fetching,
        formats: &[Format],
        limit: usize,
    ) -> Answer<bool> {
        let mut left = limit;
        loop {
            let (batch, start) = match from.pending.take() {
                Some(pending) => pending,
                None => match from.rows.stream.next().await {
                    None => return Ok(Ok(true)),
                    Some(batch) => (attempt!(batch.map_err(Error::from)), 0),
                },
            };
            let mut start = start;
            while start < batch.num_rows() && left > 0 {
                let end = batch.num_rows().min(start.saturating_add(ROWS_PER_PIECE.min(left)));
                let fields = &from.rows.fields;
                attempt!(write_rows(&mut self.wire.out, &batch, start..end, fields, formats));
                from.sent += end - start;
                left -= end - start;
                start = end;
                self.wire.flush_if_full().await?;
            }
            if start < batch.num_rows() {
                from.pending = Some((batch, start));
                return Ok(Ok(false));
            }
            if left == 0 {
                return Ok(Ok(false));
            }
        }
    }
}

fn no_portal(name: &str) -> Error {
    let message = format!("portal \"{name}\" does not exist");
    Error::new(SqlState::InvalidCursorName, message)
}
