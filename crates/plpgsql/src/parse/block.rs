//! Blocks: declarations, statements and handlers.

use super::conditions::{is_state, states};
use super::cursor::Cursor;
use super::cursors;
use super::statement::{statement, statements};
use super::types::type_name;
use crate::tokens::Kind as Token;
use crate::tree::{Block, Condition, Conflict, Declaration, Declared, Handler, Kind, Statement};
use values::error::{Error, Result, SqlState};

/// The block of a whole source, behind its label.
pub(super) fn outermost(cursor: &mut Cursor<'_>, label: Option<String>) -> Result<Block> {
    block(cursor, label)
}

/// DECLARE ... BEGIN ... EXCEPTION ... END, without the semicolon.
pub(super) fn block(cursor: &mut Cursor<'_>, label: Option<String>) -> Result<Block> {
    let mut declarations = Vec::new();
    while cursor.accept("declare") {
        while !cursor.is("begin") && !cursor.is("declare") {
            declarations.push(declaration(cursor)?);
        }
    }
    cursor.expect(&["begin"])?;
    let body = statements(cursor, &["end", "exception"])?;
    let mut handlers = Vec::new();
    if cursor.accept("exception") {
        while cursor.accept("when") {
            let mut conditions = vec![condition(cursor)?];
            while cursor.accept("or") {
                conditions.push(condition(cursor)?);
            }
            cursor.expect(&["then"])?;
            let body = statements(cursor, &["end", "when"])?;
            handlers.push(Handler { conditions: conditions.concat(), body });
        }
    }
    cursor.expect(&["end"])?;
    end_label(cursor, label.as_deref())?;
    let (conflict, prints_strict) = (Conflict::Error, false);
    Ok(Block { conflict, prints_strict, label, declarations, body, handlers })
}

/// The label behind END, which must be that of the beginning.
pub(super) fn end_label(cursor: &mut Cursor<'_>, label: Option<&str>) -> Result<()> {
    if cursor.is(";") || cursor.is_at_end() {
        return Ok(());
    }
    let error = cursor.position();
    let name = cursor.name()?;
    let message = match label {
        Some(label) if label == name => return Ok(()),
        Some(label) => format!("end label \"{name}\" differs from block's label \"{label}\""),
        None => format!("end label \"{name}\" specified for unlabeled block"),
    };
    Err(cursor.wrong(message).at(error))
}

fn declaration(cursor: &mut Cursor<'_>) -> Result<Declaration> {
    let (position, line) = (cursor.position(), cursor.line());
    let name = cursor.name()?;
    if cursor.accept("alias") {
        cursor.expect(&["for"])?;
        let of = cursor.target()?.parts.join(".");
        cursor.expect(&[";"])?;
        return Ok(Declaration { name, kind: Declared::Alias(of), position, line });
    }
    if cursors::is_declared(cursor) {
        let kind = cursors::declared(cursor)?;
        return Ok(Declaration { name, kind, position, line });
    }
    let is_constant = cursor.accept("constant");
    let of = type_name(cursor)?;
    if cursor.accept("collate") {
        cursor.target()?;
    }
    let not_null = cursor.accept("not");
    if not_null {
        cursor.expect(&["null"])?;
    }
    let has_default = cursor.accept(":=") || cursor.accept("=") || cursor.accept("default");
    let default = if has_default { Some(cursor.sql_until(&[";"])?) } else { None };
    if not_null && default.is_none() {
        let message =
            format!("variable \"{name}\" must have a default value, since it's declared NOT NULL");
        return Err(cursor.error(SqlState::NullValueNotAllowed, message));
    }
    cursor.expect(&[";"])?;
    let kind = Declared::Variable { of, is_constant, not_null, default };
    Ok(Declaration { name, kind, position, line })
}

/// A condition of WHEN. A name may stand for several SQLSTATEs.
fn condition(cursor: &mut Cursor<'_>) -> Result<Vec<Condition>> {
    if cursor.accept("others") {
        return Ok(vec![Condition::Others]);
    }
    if cursor.accept("sqlstate") {
        let state = match cursor.kind() {
            Some(Token::Text(state)) => state.clone(),
            _ => return Err(cursor.unexpected()),
        };
        if !is_state(&state) {
            return Err(cursor.wrong("invalid SQLSTATE code"));
        }
        cursor.advance();
        return Ok(vec![Condition::State(state)]);
    }
    let name = cursor.name()?;
    let states = states(&name);
    if states.is_empty() {
        let message = format!("unrecognized exception condition \"{name}\"");
        return Err(Error::new(SqlState::UndefinedObject, message));
    }
    Ok(states.into_iter().map(|state| Condition::State(state.to_owned())).collect())
}

/// A block as a statement.
pub(super) fn nested(cursor: &mut Cursor<'_>, label: Option<String>) -> Result<Kind> {
    let block = cursor.nested(|cursor| block(cursor, label))?;
    cursor.expect(&[";"])?;
    Ok(Kind::Block(block))
}

/// The statements up to one of these words.
pub(super) fn until(cursor: &mut Cursor<'_>, ends: &[&str]) -> Result<Vec<Statement>> {
    let mut all = Vec::new();
    while !ends.iter().any(|end| cursor.is(end)) {
        all.push(statement(cursor)?);
    }
    Ok(all)
}
