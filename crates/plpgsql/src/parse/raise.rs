//! RAISE.

use super::conditions::{is_state, states};
use super::cursor::Cursor;
use crate::tokens::Kind as Token;
use crate::tree::{Kind, Level, Raise};
use values::error::{Error, Result, SqlState};

const OPTIONS: [&str; 9] =
    ["errcode", "message", "detail", "hint", "column", "constraint", "datatype", "table", "schema"];

pub(super) fn raise(cursor: &mut Cursor<'_>) -> Result<Kind> {
    cursor.expect(&["raise"])?;
    let mut raise = Raise {
        level: None,
        condition: None,
        name: None,
        format: None,
        values: Vec::new(),
        options: Vec::new(),
    };
    if cursor.accept(";") {
        return Ok(Kind::Raise(Box::new(raise)));
    }
    raise.level = Some(level(cursor));
    match cursor.kind().cloned() {
        Some(Token::Text(format)) => {
            cursor.advance();
            while cursor.accept(",") {
                raise.values.push(cursor.sql_until(&[",", ";", "using"])?);
            }
            let wanted = places(&format);
            let given = raise.values.len();
            if wanted != given {
                let few = if given < wanted { "few" } else { "many" };
                let message = format!("too {few} parameters specified for RAISE");
                return Err(cursor.wrong(message).without_position());
            }
            raise.format = Some(format);
        }
        Some(Token::Word(word)) if word == "sqlstate" => {
            cursor.advance();
            let state = match cursor.kind() {
                Some(Token::Text(state)) if is_state(state) => state.clone(),
                _ => return Err(cursor.wrong("invalid SQLSTATE code")),
            };
            cursor.advance();
            raise.condition = Some(state);
        }
        Some(Token::Word(word)) if word != "using" => {
            let known = states(&word).first().copied();
            let state = known.ok_or_else(|| {
                let message = format!("unrecognized exception condition \"{word}\"");
                Error::new(SqlState::UndefinedObject, message)
            })?;
            cursor.advance();
            raise.condition = Some(state.to_owned());
            raise.name = Some(word);
        }
        _ => {}
    }
    if cursor.accept("using") {
        options(cursor, &mut raise)?;
    }
    cursor.expect(&[";"])?;
    Ok(Kind::Raise(Box::new(raise)))
}

fn level(cursor: &mut Cursor<'_>) -> Level {
    let levels = [
        ("debug", Level::Debug),
        ("log", Level::Log),
        ("info", Level::Info),
        ("notice", Level::Notice),
        ("warning", Level::Warning),
        ("exception", Level::Exception),
    ];
    let found = levels.into_iter().find(|(name, _)| cursor.accept(name));
    found.map_or(Level::Exception, |(_, level)| level)
}

fn options(cursor: &mut Cursor<'_>, raise: &mut Raise) -> Result<()> {
    loop {
        let position = cursor.position();
        let name = cursor.name()?;
        if !OPTIONS.contains(&name.as_str()) {
            let message = format!("unrecognized RAISE statement option at or near \"{name}\"");
            return Err(cursor.wrong(message).at(position));
        }
        if !(cursor.accept("=") || cursor.accept(":=")) {
            return Err(cursor.unexpected());
        }
        raise.options.push((name, cursor.sql_until(&[",", ";"])?));
        if !cursor.accept(",") {
            return Ok(());
        }
    }
}

/// The number of places for values: `%%` is none.
fn places(format: &str) -> usize {
    format.replace("%%", "").matches('%').count()
}
