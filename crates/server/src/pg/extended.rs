//! The extended query protocol: separate messages parse, bind and execute statements.
//!
//! Execute outside a transaction commits immediately if Sync follows directly. Otherwise everything
//! up to Sync is one transaction.

use super::connection::Connection;
use super::error::{Answer, attempt};
use super::portal::{Kind, Portal, State};
use super::prepared::{Prepared, changed_result};
use super::reading::Reading;
use super::wire::Stream;
use super::{oid, parameters};
use frontend::{Bind, Format, Message, Target};
use query::{
    ConnectionStatement, Direction, Error, Listing, Outcome, Rows, SqlState, SqlType, Statement,
};
use std::sync::Arc;
use std::time::Instant;

impl<S: Stream> Connection<S> {
    pub(crate) async fn extended(&mut self, message: Message) -> Answer {
        match message {
            Message::Parse { name, query, types } => Ok(self.parse(name, &query, &types).await),
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

    async fn parse(&mut self, name: String, text: &str, types: &[u32]) -> Result<(), Error> {
        let mut given = Vec::with_capacity(types.len());
        for oid in types {
            given.push(match oid::parameter_type(*oid) {
                None if *oid != 0 => self.session.type_of_client(*oid).await?,
                known => known,
            });
        }
        let mut planned = self.texts.get(text, types);
        if planned.is_none() {
            let mut statements = self.session.parse(text).await?;
            if statements.len() > 1 {
                let message = "cannot insert multiple commands into a prepared statement";
                return Err(Error::new(SqlState::SyntaxError, message));
            }
            planned = statements.pop().map(|statement| self.planned(statement));
            planned.iter().for_each(|planned| self.texts.put(text, types, planned));
        }
        let prepared = self.prepare(&name, text, planned, given, false)?;
        self.statements.insert(name, prepared);
        self.wire.out.parse_complete();
        Ok(())
    }

    async fn bind(&mut self, bind: Bind) -> Answer {
        if !bind.portal.is_empty() && self.portals.contains_key(&bind.portal) {
            let message = format!("cursor \"{}\" already exists", bind.portal);
            return Ok(Err(Error::new(SqlState::DuplicateCursor, message)));
        }
        let prepared = attempt!(self.statement(&bind.statement));
        attempt!(self.refuse_if_failed(&prepared).await);
        // A value alone does not say that it is of another type.
        let is_plain = |of: &SqlType| of.user_type().is_none() && of.system_type().is_none();
        let is_known = |given: &Option<SqlType>| given.as_ref().is_some_and(is_plain);
        let known =
            bind.values.len() == prepared.given.len() && prepared.given.iter().all(is_known);
        let values = if known {
            let types: Vec<SqlType> = prepared.given.iter().flatten().cloned().collect();
            attempt!(parameters::decode(&bind, &types, self.session.style()))
        } else {
            let description = attempt!(self.description(&prepared).await);
            attempt!(parameters::decode(&bind, &description.parameters, self.session.style()))
        };
        let formats = bind.result_formats;
        // No format or a single one applies to all columns.
        if formats.len() > 1
            && let Some(fields) = &attempt!(self.description(&prepared).await).fields
            && fields.len() != formats.len()
        {
            let (given, columns) = (formats.len(), fields.len());
            let message =
                format!("bind message has {given} result formats but query has {columns} columns");
            return Ok(Err(Error::new(SqlState::ProtocolViolation, message)));
        }
        let is_binary = matches!(formats[..], [Format::Binary]);
        let listing = (!bind.portal.is_empty()).then(|| {
            let text = prepared.statement.as_ref().map_or("", |(statement, _)| &statement.text);
            self.session.list_cursor(&bind.portal, text, is_binary, false, false)
        });
        let portal = Portal {
            prepared,
            values,
            formats,
            state: State::Bound,
            kind: Kind::Bound,
            savepoints: self.savepoints.len(),
            is_committed: false,
            listing,
        };
        self.portals.insert(bind.portal, portal);
        self.wire.out.bind_complete();
        Ok(Ok(()))
    }

    /// In a failed transaction only statements that end it are accepted.
    async fn refuse_if_failed(&mut self, prepared: &Prepared) -> Result<(), Error> {
        match &prepared.statement {
            Some((statement, _)) if !statement.ends_transaction() => {
                self.session.refuse_if_failed()
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
        self.session.works_on(&portal.prepared.text);
        let answer = self.execute_portal(name, &mut portal, rows_max).await?;
        if let Some((statement, _)) = &portal.prepared.statement {
            let rows = *answer.as_ref().unwrap_or(&0);
            self.count(statement.kind(), &statement.text, since, rows);
        }
        if answer.is_ok() {
            self.portals.insert(name.to_owned(), portal);
        }
        Ok(answer.map(drop))
    }

    /// Executes a portal if it was not executed before, and sends up to `rows_max` of its rows (0
    /// for all). Returns the number of rows.
    async fn execute_portal(
        &mut self,
        name: &str,
        portal: &mut Portal,
        rows_max: u32,
    ) -> Answer<usize> {
        if let State::Bound = portal.state {
            let prepared = Arc::clone(&portal.prepared);
            let Some((statement, planned)) = &prepared.statement else {
                self.wire.out.empty_query();
                return Ok(Ok(0));
            };
            if statement.is_client_copy() {
                portal.state = State::Ran;
                return Ok(self.copy(statement).await?.map(|()| 0));
            }
            let outcome = match attempt!(statement.for_connection().transpose()) {
                Some(ConnectionStatement::Execute(execute)) => {
                    attempt!(self.begin_unless_last().await);
                    self.execute_by_statement(&execute, &portal.values).await
                }
                Some(wanted) => {
                    let (formats, values) = (portal.formats.clone(), portal.values.clone());
                    let text = statement.text.clone();
                    return self.steer(wanted, &text, &formats, &values, false).await;
                }
                None => {
                    attempt!(self.begin_unless_last().await);
                    prepared.listing.iter().for_each(Listing::executed);
                    planned.execute(&portal.values).await
                }
            };
            self.notices();
            portal.state = match attempt!(outcome) {
                Outcome::Rows(rows) if prepared.promised_others(&rows) => {
                    return Ok(Err(changed_result()));
                }
                Outcome::Rows(rows) => State::Open(Box::new(Reading::new(rows, None))),
                Outcome::Done(tag) => {
                    portal.state = State::Ran;
                    self.done(statement, &tag).await;
                    return Ok(Ok(0));
                }
            };
        } else if let State::Open(reading) = &portal.state {
            self.session.resume(&reading.rows);
        }
        self.send_rows_of(name, portal, rows_max).await
    }

    /// Sends rows of an executed portal.
    async fn send_rows_of(
        &mut self,
        name: &str,
        portal: &mut Portal,
        rows_max: u32,
    ) -> Answer<usize> {
        let reading = match &mut portal.state {
            State::Open(reading) => reading,
            State::Done(tag) => {
                self.wire.out.command_complete(tag);
                return Ok(Ok(0));
            }
            State::Ran | State::Failed => return Ok(Err(cannot_run(name))),
            State::Bound => return Ok(Ok(0)),
        };
        // A negative number means no limit, too.
        let limit = i32::try_from(rows_max).ok().filter(|limit| *limit > 0);
        let limit = limit.map(|limit| u64::from(limit.unsigned_abs()));
        let direction = Direction::Forward(limit);
        let sent = attempt!(self.fetch(reading, direction, &portal.formats, false).await?);
        if limit.is_none_or(|limit| (sent as u64) < limit) {
            self.notices();
            self.wire.out.command_complete(&tag_of(reading.rows.command, sent));
            let tag = tag_of(reading.rows.command, 0);
            portal.state = State::Done(tag);
        } else {
            self.session.pause(&reading.rows);
            self.wire.out.portal_suspended();
        }
        Ok(Ok(sent))
    }

    /// Begins an implicit transaction unless Sync follows directly.
    async fn begin_unless_last(&mut self) -> Result<(), query::Error> {
        match self.wire.frames.peek() {
            Some(b'S') => Ok(()),
            _ => self.session.begin_implicit().await,
        }
    }

    /// Reports that a statement is complete.
    pub(crate) async fn done(&mut self, statement: &Statement, tag: &query::Tag) {
        let tag = tag.to_string();
        self.savepoints_changed(statement);
        if statement.ends_transaction() {
            self.transaction_ended(tag == "COMMIT", statement.chains()).await;
        }
        self.wire.out.command_complete(&tag);
    }

    /// Sends rows, or skips them for MOVE. Returns their number.
    pub(crate) async fn fetch(
        &mut self,
        reading: &mut Reading,
        direction: Direction,
        formats: &[Format],
        moves: bool,
    ) -> Answer<usize> {
        let control = reading.rows.control.clone();
        let mut way = attempt!(reading.set_out(direction).await);
        let mut sent = 0;
        while let Some(mut piece) = attempt!(reading.next(&mut way).await) {
            sent += piece.len();
            if moves {
                continue;
            }
            let fields = &reading.rows.fields;
            while attempt!(piece.write(&mut self.wire.out, fields, formats)) {
                attempt!(self.wire.flush_if_full_until(&control).await?);
                // Other connections of this thread are served between two large rows.
                tokio::task::yield_now().await;
                attempt!(control.check());
            }
            attempt!(self.wire.flush_if_full_until(&control).await?);
        }
        Ok(Ok(sent))
    }

    /// Sends all rows of a statement, with their description if `describe` is set.
    pub(crate) async fn send_all(
        &mut self,
        rows: Rows,
        formats: &[Format],
        describe: bool,
    ) -> Answer<usize> {
        if describe {
            self.wire.out.row_description(&rows.fields, formats);
        }
        let mut reading = Reading::new(rows, None);
        let all = Direction::Forward(None);
        let sent = attempt!(self.fetch(&mut reading, all, formats, false).await?);
        self.notices();
        self.wire.out.command_complete(&tag_of(reading.rows.command, sent));
        Ok(Ok(sent))
    }
}

/// The tag of a command that returns rows.
fn tag_of(command: &str, rows: usize) -> String {
    match command {
        "INSERT" => format!("INSERT 0 {rows}"),
        "EXPLAIN" | "SHOW" | "CALL" => command.to_owned(),
        _ => format!("{command} {rows}"),
    }
}

pub(super) fn cannot_run(name: &str) -> Error {
    let message = format!("portal \"{name}\" cannot be run");
    Error::new(SqlState::ObjectNotInPrerequisiteState, message)
}

fn no_portal(name: &str) -> Error {
    let message = format!("portal \"{name}\" does not exist");
    Error::new(SqlState::InvalidCursorName, message)
}
