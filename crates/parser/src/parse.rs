//! Splits scripts into statements and parses statements.

use crate::errors::{of_analyzer, of_grammar};
use crate::statement::{Body, Statement, changes_rows, without_password};
use grammar::Script;
use values::error::{Error, Result, SqlState};

/// Splits a script into statements and parses each. Empty statements (`;;`) are skipped.
///
/// # Errors
/// 42601 and other errors of a statement that cannot be parsed, with the position in the script.
pub fn parse(script: &str) -> Result<Vec<Statement>> {
    let pieces = grammar::split(script).unwrap_or_else(|| vec![(0, script)]);
    let piece = |(at, text)| grammar::parse(text).map(|script| Piece { at, text, script });
    let parsed: Result<Vec<_>, _> = pieces.into_iter().map(piece).collect();
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(error) if error.is_depth() => return Err(of_grammar(&error)),
        // The error of the whole script names what is around the place. Some statements have semicolons in them.
        Err(_) => {
            let whole = grammar::parse(script).map_err(|error| of_grammar(&error))?;
            again(script, &whole)?
        }
    };
    let (mut before, mut offset) = (0, 0);
    let statement = |piece: Piece<'_>| {
        offset += script[before..piece.at].chars().count();
        before = piece.at;
        piece.statement(offset)
    };
    Ok(parsed.into_iter().map(statement).collect())
}

/// A statement of a script.
struct Piece<'a> {
    /// The byte at which it begins.
    at: usize,
    text: &'a str,
    script: Script,
}

impl Piece<'_> {
    fn statement(self, offset: usize) -> Statement {
        let Self { text, script, .. } = self;
        let body = body(text, &script);
        let shown = without_password(text, &body);
        Statement::new(shown, offset, script, body)
    }
}

/// The statements of a parsed script, each parsed by itself.
fn again<'a>(script: &'a str, whole: &Script) -> Result<Vec<Piece<'a>>> {
    let piece = |statement: &grammar::tree::RawStmt| {
        let from = usize::try_from(statement.stmt_location).unwrap_or(0);
        let length = usize::try_from(statement.stmt_len).ok().filter(|length| *length > 0);
        let to = length.map_or(script.len(), |length| from + length);
        let text = grammar::solid(script.get(from..to).unwrap_or_default());
        let at = text.as_ptr() as usize - script.as_ptr() as usize;
        let script = grammar::parse(text).map_err(|error| of_grammar(&error))?;
        Ok(Piece { at, text, script })
    };
    whole.statements().iter().map(piece).collect()
}

/// What a statement is.
fn body(text: &str, script: &Script) -> Body {
    let node = match script.statements() {
        [statement] => statement.stmt.as_ref().and_then(|node| node.node.as_ref()),
        _ => None,
    };
    let Some(node) = node else {
        return Body::Refused(Error::unsupported("this statement is not supported"));
    };
    match commands::read(node) {
        Ok(Some(command)) => Body::Command(command),
        Ok(None) if changes_rows(node) => Body::Change,
        Ok(None) => Body::Query,
        Err(error) => Body::Refused(of_analyzer(error, text)),
    }
}

/// Parses a text that consists of one statement.
///
/// # Errors
/// As [`parse`]; 42601 if the text has no or several statements.
pub fn one(sql: &str) -> Result<Statement> {
    let mut statements = parse(sql)?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err(Error::new(SqlState::SyntaxError, "expected exactly one statement")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_statement_of_a_script_has_its_text_and_offset() {
        let script = "select 1;\n ;-- note; more\n select ';' as semicolon ;";
        let parsed = parse(script).expect("parses");
        let texts: Vec<_> = parsed.iter().map(|s| (s.offset, s.text.as_str())).collect();
        assert_eq!(texts, [(0, "select 1"), (27, "select ';' as semicolon")]);
    }

    #[test]
    fn no_text_contains_a_password() {
        for script in [
            "CREATE USER u PASSWORD 'secret'",
            "ALTER USER u ENCRYPTED PASSWORD E'secret'",
            "CREATE USER MAPPING FOR u SERVER s OPTIONS (password 'secret')",
        ] {
            let parsed = parse(script);
            assert!(!format!("{:?}", parsed.map(|all| all[0].text.clone())).contains("secret"));
        }
        let parsed = parse("SELECT password, 'secret' FROM users").expect("parses");
        assert_eq!(parsed[0].text, "SELECT password, 'secret' FROM users");
    }

    #[test]
    fn errors_have_the_position_in_the_script() {
        for (script, message, position) in [
            ("select 1;\nselect 2 from )", "syntax error at or near \")\"", 25),
            ("select 1 from; select 2", "syntax error at or near \";\"", 14),
            ("SELECT 1 FRM x y", "syntax error at or near \"x\"", 14),
            ("SELECT 'ä' FROM t WHERE 'ü' 'x'", "syntax error at or near \"'x'\"", 29),
            ("SELECT 1 FROM", "syntax error at end of input", 14),
            ("SELECT FROM WHERE", "syntax error at or near \"WHERE\"", 13),
            ("SELECT 'abc", "unterminated quoted string at or near \"'abc\"", 8),
            ("SELECT 1 /* abc", "unterminated /* comment at or near \"/* abc\"", 10),
            ("SELECT $x$abc", "unterminated dollar-quoted string at or near \"$x$abc\"", 8),
        ] {
            let error = parse(script).expect_err(script);
            assert_eq!(error.state(), SqlState::SyntaxError, "{script}");
            assert_eq!((error.message(), error.position()), (message, Some(position)), "{script}");
        }
    }

    #[test]
    fn semicolons_in_a_statement_do_not_end_it() {
        let function = "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END";
        let parsed = parse(&format!("{function}; SELECT 3")).expect("parses");
        let texts: Vec<&str> = parsed.iter().map(|statement| statement.text.as_str()).collect();
        assert_eq!(texts, [function, "SELECT 3"]);
    }

    #[test]
    fn deep_nesting_is_refused() {
        for (open, close) in
            [("-(", ")"), ("(", ")"), ("case when true then ", " end"), ("not ", "")]
        {
            for depth in [257, 1_000, 100_000] {
                let script = format!("select {}1{}", open.repeat(depth), close.repeat(depth));
                assert!(parse(&script).is_err(), "{open} {depth}");
            }
        }
        let error = parse(&format!("select {}1{}", "abs(".repeat(300), ")".repeat(300)));
        assert_eq!(error.expect_err("too deep").state(), SqlState::StatementTooComplex);
    }
}
