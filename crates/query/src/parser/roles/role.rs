//! Reads CREATE, ALTER and DROP ROLE or USER, and ALTER ... OWNER TO.

use super::grant::grant_or_revoke;
use super::{ObjectKind, RoleName, RoleOption, RoleStatement};
use crate::parser::names::fold;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use std::mem::discriminant;

type Parsed<T> = Result<T, ParserError>;

/// A statement about roles, if the parser stands before one; else it stands where it stood.
pub(crate) fn parse(parser: &mut Parser<'_>) -> Parsed<Option<RoleStatement>> {
    let start = parser.index();
    let first = parser.next_token();
    let statement = match keyword(&first) {
        Some(Keyword::CREATE) if is_role(parser) => create(parser).map(Some),
        Some(Keyword::DROP) if is_role(parser) => drop_roles(parser).map(Some),
        Some(Keyword::ALTER) if is_role(parser) => alter(parser).map(Some),
        Some(Keyword::ALTER) if take_word(parser, "DEFAULT") => {
            skip(parser);
            Ok(Some(RoleStatement::Unsupported("ALTER DEFAULT PRIVILEGES")))
        }
        Some(Keyword::ALTER) => owner(parser),
        Some(Keyword::DROP) => drop_owned(parser),
        _ if is_word(&first, "reassign") => reassign(parser),
        Some(Keyword::GRANT) => grant_or_revoke(parser, false).map(Some),
        Some(Keyword::REVOKE) => grant_or_revoke(parser, true).map(Some),
        _ => Ok(None),
    };
    if let Ok(None) = statement {
        while parser.index() > start {
            parser.prev_token();
        }
    }
    statement
}

/// The statement's text without the password in it. Where that stands in the text is not known: what is
/// shown says what was done.
pub(crate) fn redacted(text: &str, statement: &RoleStatement) -> String {
    match (statement.password(), statement) {
        (None, _) => text.to_owned(),
        (Some(_), RoleStatement::Create { name, .. }) => {
            format!("CREATE ROLE {name} PASSWORD <hidden>")
        }
        (Some(_), _) => "ALTER ROLE PASSWORD <hidden>".to_owned(),
    }
}

pub(super) fn keyword(token: &TokenWithSpan) -> Option<Keyword> {
    match &token.token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.keyword),
        _ => None,
    }
}

fn is_word(token: &TokenWithSpan, wanted: &str) -> bool {
    matches!(&token.token, Token::Word(word)
        if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted))
}

/// The next word in capitals, where it is one without quotes.
pub(super) fn peek_word(parser: &Parser<'_>) -> Option<String> {
    match parser.peek_token().token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_uppercase()),
        _ => None,
    }
}

/// Takes a word if it is the next one.
pub(super) fn take_word(parser: &mut Parser<'_>, wanted: &str) -> bool {
    let found = peek_word(parser).is_some_and(|word| word == wanted);
    if found {
        parser.next_token();
    }
    found
}

pub(super) fn expect_word(parser: &mut Parser<'_>, wanted: &str) -> Parsed<()> {
    match take_word(parser, wanted) {
        true => Ok(()),
        false => parser.expected(wanted, parser.peek_token()),
    }
}

fn is_role(parser: &mut Parser<'_>) -> bool {
    take_word(parser, "ROLE") || take_word(parser, "GROUP") || {
        // CREATE USER MAPPING belongs to foreign servers.
        let mapping = matches!(&parser.peek_nth_token(1).token,
            Token::Word(word) if word.value.eq_ignore_ascii_case("mapping"));
        !mapping && take_word(parser, "USER")
    }
}

pub(super) fn identifier(parser: &mut Parser<'_>) -> Parsed<String> {
    parser.parse_identifier().map(|ident| fold(&ident))
}

pub(super) fn identifiers(parser: &mut Parser<'_>) -> Parsed<Vec<String>> {
    parser.parse_comma_separated(identifier)
}

pub(super) fn role_name(parser: &mut Parser<'_>) -> Parsed<RoleName> {
    let ident = parser.parse_identifier()?;
    let name = fold(&ident);
    Ok(match (ident.quote_style, name.as_str()) {
        (None, "public") => RoleName::Public,
        (None, "current_user" | "current_role") => RoleName::Current,
        (None, "session_user") => RoleName::Session,
        _ => RoleName::Named(name),
    })
}

fn create(parser: &mut Parser<'_>) -> Parsed<RoleStatement> {
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

fn alter(parser: &mut Parser<'_>) -> Parsed<RoleStatement> {
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

/// Goes to the end of a statement that is understood so far.
fn skip(parser: &mut Parser<'_>) {
    while parser.peek_token().token != Token::EOF {
        parser.next_token();
    }
}

/// `OWNED BY roles`, if that is what follows.
fn owned_by(parser: &mut Parser<'_>) -> Parsed<Option<Vec<RoleName>>> {
    if !take_word(parser, "OWNED") {
        return Ok(None);
    }
    expect_word(parser, "BY")?;
    parser.parse_comma_separated(role_name).map(Some)
}

fn reassign(parser: &mut Parser<'_>) -> Parsed<Option<RoleStatement>> {
    let Some(from) = owned_by(parser)? else { return Ok(None) };
    expect_word(parser, "TO")?;
    Ok(Some(RoleStatement::Reassign { from, to: role_name(parser)? }))
}

fn drop_owned(parser: &mut Parser<'_>) -> Parsed<Option<RoleStatement>> {
    let Some(roles) = owned_by(parser)? else { return Ok(None) };
    let _ = take_word(parser, "CASCADE") || take_word(parser, "RESTRICT");
    Ok(Some(RoleStatement::DropOwned(roles)))
}

fn drop_roles(parser: &mut Parser<'_>) -> Parsed<RoleStatement> {
    let if_exists = parser.parse_keywords(&[Keyword::IF, Keyword::EXISTS]);
    Ok(RoleStatement::Drop { names: identifiers(parser)?, if_exists })
}

fn role_options(parser: &mut Parser<'_>) -> Parsed<Vec<RoleOption>> {
    let mut options = Vec::new();
    while let Some(word) = peek_word(parser) {
        parser.next_token();
        let wanted = !word.starts_with("NO");
        let option = match word.as_str() {
            "SUPERUSER" | "NOSUPERUSER" => RoleOption::Superuser(wanted),
            "LOGIN" | "NOLOGIN" => RoleOption::Login(wanted),
            "CREATEROLE" | "NOCREATEROLE" => RoleOption::CreateRole(wanted),
            "CREATEDB" | "NOCREATEDB" => RoleOption::CreateDatabase(wanted),
            "INHERIT" | "NOINHERIT" => RoleOption::Inherit(wanted),
            // What they would take away does not exist.
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

/// How many; -1 is any number.
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

/// `ALTER TABLE t OWNER TO role`; everything else about tables is for the SQL parser.
fn owner(parser: &mut Parser<'_>) -> Parsed<Option<RoleStatement>> {
    let kind = match peek_word(parser).as_deref() {
        Some("TABLE") => ObjectKind::Table,
        Some("VIEW") => ObjectKind::View,
        Some("SEQUENCE") => ObjectKind::Sequence,
        Some("SCHEMA") => ObjectKind::Schema,
        _ => return Ok(None),
    };
    parser.next_token();
    let if_exists = parser.parse_keywords(&[Keyword::IF, Keyword::EXISTS]);
    let Ok(name) = parser.parse_object_name(false) else { return Ok(None) };
    if !take_word(parser, "OWNER") || !take_word(parser, "TO") {
        return Ok(None);
    }
    let name = name.0.iter().filter_map(|part| part.as_ident()).map(fold).collect();
    Ok(Some(RoleStatement::Owner { kind, name, owner: role_name(parser)?, if_exists }))
}
