//! Parses CREATE, ALTER and DROP of ROLE, USER and GROUP.

use super::words::{
    Parsed, expect_word, identifier, identifiers, peek_word, role_name, skip, take_word,
};
use super::{RoleName, RoleOption, RoleStatement};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;
use std::mem::discriminant;

/// CREATE ROLE, after the word ROLE, USER or GROUP.
pub(super) fn create(parser: &mut Parser<'_>) -> Parsed<RoleStatement> {
    parser.prev_token();
    let is_user = take_word(parser, "USER");
    if !is_user {
        parser.next_token();
    }
    let name = identifier(parser)?;
    take_word(parser, "WITH");
    let mut options = role_options(parser)?;
    if is_user && !options.iter().any(|option| matches!(option, RoleOption::Login(_))) {
        options.push(RoleOption::Login(true));
    }
    Ok(RoleStatement::Create { name, options })
}

/// ALTER ROLE, after the word ROLE, USER or GROUP.
pub(super) fn alter(parser: &mut Parser<'_>) -> Parsed<RoleStatement> {
    let name = role_name(parser)?;
    if take_word(parser, "RENAME") {
        expect_word(parser, "TO")?;
        let to = identifier(parser)?;
        return match name {
            RoleName::Named(name) => Ok(RoleStatement::Rename { name, to }),
            _ => parser.expected("a role's name", parser.peek_token()),
        };
    }
    if matches!(peek_word(parser).as_deref(), Some("SET" | "RESET" | "IN")) {
        skip(parser);
        return Ok(RoleStatement::Unsupported("ALTER ROLE ... SET"));
    }
    take_word(parser, "WITH");
    Ok(RoleStatement::Alter { name, options: role_options(parser)? })
}

/// DROP ROLE, after the word ROLE, USER or GROUP.
pub(super) fn drop_roles(parser: &mut Parser<'_>) -> Parsed<RoleStatement> {
    let if_exists = parser.parse_keywords(&[Keyword::IF, Keyword::EXISTS]);
    Ok(RoleStatement::Drop { names: identifiers(parser)?, if_exists })
}

fn role_options(parser: &mut Parser<'_>) -> Parsed<Vec<RoleOption>> {
    let mut options = Vec::new();
    while let Some(word) = peek_word(parser) {
        parser.next_token();
        let is_enabled = !word.starts_with("NO");
        let option = match word.as_str() {
            "SUPERUSER" | "NOSUPERUSER" => RoleOption::Superuser(is_enabled),
            "LOGIN" | "NOLOGIN" => RoleOption::Login(is_enabled),
            "CREATEROLE" | "NOCREATEROLE" => RoleOption::CreateRole(is_enabled),
            "CREATEDB" | "NOCREATEDB" => RoleOption::CreateDatabase(is_enabled),
            "INHERIT" | "NOINHERIT" => RoleOption::Inherit(is_enabled),
            // The capabilities that these deny do not exist.
            "NOREPLICATION" | "NOBYPASSRLS" => continue,
            "REPLICATION" => RoleOption::Unsupported("REPLICATION"),
            "BYPASSRLS" => RoleOption::Unsupported("BYPASSRLS"),
            "ENCRYPTED" => {
                expect_word(parser, "PASSWORD")?;
                RoleOption::Password(password(parser)?)
            }
            "PASSWORD" => RoleOption::Password(password(parser)?),
            "IN" => {
                if !take_word(parser, "ROLE") {
                    expect_word(parser, "GROUP")?;
                }
                RoleOption::InRole(identifiers(parser)?)
            }
            "ROLE" | "USER" => RoleOption::Members(identifiers(parser)?, false),
            "ADMIN" => RoleOption::Members(identifiers(parser)?, true),
            "CONNECTION" => {
                expect_word(parser, "LIMIT")?;
                RoleOption::ConnectionLimit(limit(parser)?)
            }
            "VALID" => {
                expect_word(parser, "UNTIL")?;
                RoleOption::ValidUntil(parser.parse_literal_string()?)
            }
            _ => {
                parser.prev_token();
                let message = format!("unrecognized role option \"{}\"", word.to_lowercase());
                return Err(ParserError::ParserError(message));
            }
        };
        let same = |other: &RoleOption| discriminant(other) == discriminant(&option);
        if !matches!(option, RoleOption::Members(..)) && options.iter().any(same) {
            let message = "conflicting or redundant options";
            return Err(ParserError::ParserError(message.to_owned()));
        }
        options.push(option);
    }
    Ok(options)
}

fn password(parser: &mut Parser<'_>) -> Parsed<Option<String>> {
    if parser.parse_keyword(Keyword::NULL) {
        return Ok(None);
    }
    parser.parse_literal_string().map(Some)
}

/// The connection limit; -1 means no limit.
fn limit(parser: &mut Parser<'_>) -> Parsed<Option<u32>> {
    if parser.consume_token(&Token::Minus) {
        let number = parser.peek_token();
        return match parser.parse_literal_uint()? {
            1 => Ok(None),
            _ => parser.expected("a number of connections", number),
        };
    }
    let number = parser.peek_token();
    match u32::try_from(parser.parse_literal_uint()?) {
        Ok(limit) if limit <= i32::MAX.unsigned_abs() => Ok(Some(limit)),
        _ => parser.expected("a number of connections", number),
    }
}
