//! Statements.

use super::cursor::Cursor;
use super::rows::{rows, using};
use super::{block, call, cursors, loops, raise};
use crate::tokens::Kind as Token;
use crate::tree::{Into, Kind, Operand, Rows, Sql, Statement, Step};
use std::sync::Arc;
use values::error::Result;

/// The statements up to one of these words.
pub(super) fn statements(cursor: &mut Cursor<'_>, ends: &[&str]) -> Result<Vec<Statement>> {
    cursor.nested(|cursor| block::until(cursor, ends))
}

pub(super) fn statement(cursor: &mut Cursor<'_>) -> Result<Statement> {
    let (position, line) = (cursor.position(), cursor.line());
    let label = cursor.label()?;
    let kind = kind(cursor, label)?;
    Ok(Statement { kind, position, line })
}

fn kind(cursor: &mut Cursor<'_>, label: Option<String>) -> Result<Kind> {
    let word = match cursor.kind() {
        Some(Token::Word(word)) => word.clone(),
        Some(_) => String::new(),
        None => return Err(cursor.unexpected()),
    };
    let is_assigned = is_assignment(cursor);
    Ok(match word.as_str() {
        _ if is_assigned => return assignment(cursor),
        "begin" | "declare" => return block::nested(cursor, label),
        "loop" | "while" | "for" | "foreach" => return loops::any(cursor, label),
        "if" => return conditional(cursor),
        "case" => return case(cursor),
        "exit" | "continue" => {
            cursor.advance();
            let is_continue = word == "continue";
            let label = match cursor.is("when") || cursor.is(";") {
                true => None,
                false => Some(cursor.name()?),
            };
            let when = match cursor.accept("when") {
                true => Some(cursor.sql_until(&[";"])?),
                false => None,
            };
            cursor.expect(&[";"])?;
            Kind::Leave { is_continue, label, when }
        }
        "return" => return returned(cursor),
        "raise" => return raise::raise(cursor),
        "assert" => {
            cursor.advance();
            let condition = cursor.sql_until(&[",", ";"])?;
            let message = match cursor.accept(",") {
                true => Some(cursor.sql_until(&[";"])?),
                false => None,
            };
            cursor.expect(&[";"])?;
            Kind::Assert(condition, message)
        }
        "perform" => {
            cursor.advance();
            let query = cursor.sql_until(&[";"])?;
            cursor.expect(&[";"])?;
            let text = format!("SELECT {}", query.text);
            Kind::Perform(cursor.made(text, &query))
        }
        "execute" => return dynamic(cursor),
        "get" => return diagnostics(cursor),
        "null" if cursor.is_ahead(1, ";") => {
            cursor.advance();
            cursor.advance();
            Kind::Null
        }
        "open" => return cursors::open(cursor),
        "fetch" | "move" => return cursors::fetch(cursor),
        "close" => return cursors::close(cursor),
        "call" => return call::call(cursor),
        "commit" | "rollback" => return end_of_transaction(cursor),
        _ => return of_sql(cursor),
    })
}

/// COMMIT or ROLLBACK.
fn end_of_transaction(cursor: &mut Cursor<'_>) -> Result<Kind> {
    let commits = cursor.is("commit");
    cursor.advance();
    if cursor.is("and") {
        let is_plain = cursor.is_ahead(1, "no");
        if !is_plain {
            return Err(cursor.missing("AND CHAIN"));
        }
        cursor.expect(&["and", "no", "chain"])?;
    }
    cursor.expect(&[";"])?;
    Ok(Kind::EndTransaction { commits })
}

/// Whether a name with `:=` or `=` follows.
fn is_assignment(cursor: &Cursor<'_>) -> bool {
    let mut at = 0;
    loop {
        match cursor.ahead(at) {
            Some(Token::Word(_) | Token::Quoted(_) | Token::Number) => at += 1,
            _ => return false,
        }
        if cursor.is_ahead(at, ".") {
            at += 1;
            continue;
        }
        return cursor.is_ahead(at, ":=") || cursor.is_ahead(at, "=") || cursor.is_ahead(at, "[");
    }
}

fn assignment(cursor: &mut Cursor<'_>) -> Result<Kind> {
    let first = cursor.place();
    let target = cursor.target()?;
    let mut steps = Vec::new();
    loop {
        if cursor.accept("[") {
            steps.push(subscript(cursor)?);
        } else if cursor.accept(".") {
            steps.push(Step::Field(cursor.name()?));
        } else {
            break;
        }
    }
    if !(cursor.accept(":=") || cursor.accept("=")) {
        return Err(cursor.unexpected());
    }
    let mut value = cursor.sql_until(&[";"])?;
    let text: Arc<str> = cursor.text_between(first, cursor.place()).into();
    cursor.expect(&[";"])?;
    for sql in steps.iter_mut().flat_map(texts_of).chain([&mut value]) {
        sql.assignment = Some(Arc::clone(&text));
    }
    Ok(match steps.is_empty() {
        true => Kind::Assign(target, value),
        false => Kind::AssignItem(target, steps, value),
    })
}

/// The expressions of a step.
fn texts_of(step: &mut Step) -> Vec<&mut Sql> {
    match step {
        Step::Item(at) => vec![at],
        Step::Slice(from, to) => from.iter_mut().chain(to).collect(),
        Step::Field(_) => Vec::new(),
    }
}

/// A subscript behind `[`.
fn subscript(cursor: &mut Cursor<'_>) -> Result<Step> {
    let from = match cursor.is(":") {
        true => None,
        false => Some(cursor.sql_until(&["]", ":"])?),
    };
    if !cursor.accept(":") {
        cursor.expect(&["]"])?;
        return Ok(match from {
            Some(item) => Step::Item(item),
            None => Step::Slice(None, None),
        });
    }
    let to = match cursor.is("]") {
        true => None,
        false => Some(cursor.sql_until(&["]"])?),
    };
    cursor.expect(&["]"])?;
    Ok(Step::Slice(from, to))
}

fn conditional(cursor: &mut Cursor<'_>) -> Result<Kind> {
    cursor.expect(&["if"])?;
    let mut branches = Vec::new();
    loop {
        let condition = cursor.sql_until(&["then"])?;
        cursor.expect(&["then"])?;
        branches.push((condition, statements(cursor, &["elsif", "elseif", "else", "end"])?));
        if !(cursor.accept("elsif") || cursor.accept("elseif")) {
            break;
        }
    }
    let otherwise = match cursor.accept("else") {
        true => statements(cursor, &["end"])?,
        false => Vec::new(),
    };
    cursor.expect(&["end", "if", ";"])?;
    Ok(Kind::If(branches, otherwise))
}

/// CASE. With an operand, each WHEN is a comparison with the variable that has its value.
fn case(cursor: &mut Cursor<'_>) -> Result<Kind> {
    cursor.expect(&["case"])?;
    let operand = match cursor.is("when") {
        true => None,
        false => {
            let value = cursor.sql_until(&["when"])?;
            Some(Operand { variable: format!("__case__variable_{}__", value.id), value })
        }
    };
    let mut branches = Vec::new();
    while cursor.accept("when") {
        let mut condition = cursor.sql_until(&["then"])?;
        cursor.expect(&["then"])?;
        if let Some(Operand { variable, .. }) = &operand {
            let text = format!("{variable} IN ({})", condition.text);
            condition = cursor.made(text, &condition);
            condition.names.push(variable.clone());
        }
        branches.push((condition, statements(cursor, &["when", "else", "end"])?));
    }
    let otherwise = match cursor.accept("else") {
        true => Some(statements(cursor, &["end"])?),
        false => None,
    };
    cursor.expect(&["end", "case", ";"])?;
    Ok(Kind::Case(operand, branches, otherwise))
}

fn returned(cursor: &mut Cursor<'_>) -> Result<Kind> {
    cursor.expect(&["return"])?;
    if cursor.accept("next") {
        let value = value_or_none(cursor)?;
        return Ok(Kind::ReturnNext(value));
    }
    if cursor.accept("query") {
        let rows = rows(cursor, &[";"])?;
        cursor.expect(&[";"])?;
        return Ok(Kind::ReturnQuery(rows));
    }
    Ok(Kind::Return(value_or_none(cursor)?))
}

fn value_or_none(cursor: &mut Cursor<'_>) -> Result<Option<Sql>> {
    if cursor.accept(";") {
        return Ok(None);
    }
    let value = cursor.sql_until(&[";"])?;
    cursor.expect(&[";"])?;
    Ok(Some(value))
}

/// EXECUTE with INTO and USING in either order.
fn dynamic(cursor: &mut Cursor<'_>) -> Result<Kind> {
    cursor.expect(&["execute"])?;
    let text = cursor.sql_until(&["into", "using", ";"])?;
    let (mut into, mut values) = (None, Vec::new());
    loop {
        if cursor.is("into") && into.is_none() {
            into = Some(self::into(cursor)?);
        } else if cursor.is("using") && values.is_empty() {
            values = using(cursor, &["into", ";"])?;
        } else {
            break;
        }
    }
    cursor.expect(&[";"])?;
    Ok(Kind::Execute(Rows::Dynamic(text, values), into))
}

/// INTO [STRICT] targets.
fn into(cursor: &mut Cursor<'_>) -> Result<Into> {
    cursor.expect(&["into"])?;
    let is_strict = cursor.accept("strict");
    let mut targets = vec![cursor.target()?];
    while cursor.accept(",") {
        targets.push(cursor.target()?);
    }
    Ok(Into { is_strict, targets })
}

/// A statement of SQL, whose INTO is taken out of it.
fn of_sql(cursor: &mut Cursor<'_>) -> Result<Kind> {
    let (first, position) = (cursor.place(), cursor.position());
    let is_known = matches!(cursor.kind(), Some(Token::Word(_)) | Some(Token::Symbol("(")));
    if !is_known {
        return Err(cursor.unexpected());
    }
    let is_insert = cursor.is("insert") || cursor.is("merge");
    let mut depth = 0_usize;
    let mut found = None;
    while let Some(kind) = cursor.kind() {
        match kind {
            Token::Symbol(";") if depth == 0 => break,
            Token::Symbol("(") => depth += 1,
            Token::Symbol(")") => depth = depth.saturating_sub(1),
            Token::Word(word) if word == "into" && depth == 0 => {
                let is_of_insert = is_insert && cursor.place() == first + 1;
                if !is_of_insert && found.is_none() {
                    let start = cursor.place();
                    found = Some((into(cursor)?, start, cursor.place()));
                    continue;
                }
            }
            _ => {}
        }
        cursor.advance();
    }
    if cursor.is_at_end() {
        return Err(cursor.unexpected());
    }
    let mut sql = cursor.sql_between(first, cursor.place(), position);
    let found = found.map(|(into, from, to)| {
        sql.text = cursor.blanked((first, cursor.place()), (from, to));
        sql.names = cursor.names_in([first..from, to..cursor.place()]);
        into
    });
    cursor.expect(&[";"])?;
    Ok(Kind::Execute(Rows::Query(sql), found))
}

fn diagnostics(cursor: &mut Cursor<'_>) -> Result<Kind> {
    cursor.expect(&["get"])?;
    let is_stacked = cursor.accept("stacked");
    if !is_stacked {
        cursor.accept("current");
    }
    cursor.expect(&["diagnostics"])?;
    let mut items = Vec::new();
    loop {
        let target = cursor.target()?;
        if !(cursor.accept(":=") || cursor.accept("=")) {
            return Err(cursor.unexpected());
        }
        let known = match is_stacked {
            true => &STACKED[..],
            false => &["row_count", "pg_context", "pg_routine_oid"][..],
        };
        let position = cursor.position();
        let item = cursor.name()?;
        if !known.contains(&item.as_str()) {
            return Err(cursor.wrong(not_allowed(is_stacked, &item)).at(position));
        }
        items.push((target, item));
        if !cursor.accept(",") {
            break;
        }
    }
    cursor.expect(&[";"])?;
    Ok(Kind::Diagnostics { is_stacked, items })
}

/// Why GET DIAGNOSTICS does not have an item.
fn not_allowed(is_stacked: bool, item: &str) -> String {
    let (shown, kind) = (item.to_uppercase(), if is_stacked { "STACKED" } else { "CURRENT" });
    match STACKED.contains(&item) || ["row_count", "pg_context", "pg_routine_oid"].contains(&item) {
        true => format!("diagnostics item {shown} is not allowed in GET {kind} DIAGNOSTICS"),
        false => format!("unrecognized GET DIAGNOSTICS item at or near \"{item}\""),
    }
}

/// The items of GET STACKED DIAGNOSTICS.
const STACKED: [&str; 10] = [
    "returned_sqlstate",
    "message_text",
    "pg_exception_detail",
    "pg_exception_hint",
    "pg_exception_context",
    "column_name",
    "constraint_name",
    "pg_datatype_name",
    "table_name",
    "schema_name",
];
