//! Parses GRANT and REVOKE.

use super::words::{Parsed, expect_word, identifiers, peek_word, role_name, take_word};
use super::{Grant, GrantedOn, ObjectKind, RoleName, RoleStatement};
use crate::names::fold;
use datafusion::sql::sqlparser::parser::{IsOptional, Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

/// Marks a privilege on single columns in the words of the privilege.
const COLUMNS: &str = "()";

/// GRANT or REVOKE, after that word.
pub(super) fn grant_or_revoke(parser: &mut Parser<'_>, revoke: bool) -> Parsed<RoleStatement> {
    let mut option = revoke && option_for(parser, "GRANT")?;
    let mut admin = revoke && !option && option_for(parser, "ADMIN")?;
    let words = parser.parse_comma_separated(words)?;
    if !take_word(parser, "ON") {
        let roles = words.into_iter().map(|words| words.join(" ")).collect();
        let members = grantees(parser, revoke)?;
        admin |= !revoke && with_option(parser, "ADMIN")?;
        end(parser)?;
        return Ok(RoleStatement::Membership { revoke, roles, members, admin });
    }
    let of_columns = words.iter().any(|words| words.last().is_some_and(|last| last == COLUMNS));
    let words: Vec<String> = words.iter().map(|words| words.join(" ").to_uppercase()).collect();
    let all = matches!(words.as_slice(), [one] if one == "ALL" || one == "ALL PRIVILEGES");
    let privileges = if all { None } else { Some(words) };
    let (kind, on) = granted_on(parser)?;
    let roles = grantees(parser, revoke)?;
    option |= !revoke && with_option(parser, "GRANT")?;
    end(parser)?;
    Ok(RoleStatement::Privileges(Grant { revoke, privileges, of_columns, kind, on, roles, option }))
}

/// `GRANT OPTION FOR` or `ADMIN OPTION FOR`.
fn option_for(parser: &mut Parser<'_>, word: &str) -> Parsed<bool> {
    if !take_word(parser, word) {
        return Ok(false);
    }
    expect_word(parser, "OPTION")?;
    expect_word(parser, "FOR").map(|()| true)
}

/// `WITH GRANT OPTION` or `WITH ADMIN OPTION`.
fn with_option(parser: &mut Parser<'_>, word: &str) -> Parsed<bool> {
    if !take_word(parser, "WITH") {
        return Ok(false);
    }
    expect_word(parser, word)?;
    expect_word(parser, "OPTION").map(|()| true)
}

/// GRANTED BY, CASCADE and RESTRICT, which have no effect: the grantor is always the owner.
fn end(parser: &mut Parser<'_>) -> Parsed<()> {
    if take_word(parser, "GRANTED") {
        expect_word(parser, "BY")?;
        role_name(parser)?;
    }
    let _ = take_word(parser, "CASCADE") || take_word(parser, "RESTRICT");
    Ok(())
}

/// The words of one privilege, or the name of one role.
fn words(parser: &mut Parser<'_>) -> Parsed<Vec<String>> {
    let mut words = vec![fold(&parser.parse_identifier()?)];
    while take_word(parser, "PRIVILEGES") {
        words.push("privileges".to_owned());
    }
    if parser.peek_token().token == Token::LParen {
        parser.parse_parenthesized_column_list(IsOptional::Mandatory, false)?;
        words.push(COLUMNS.to_owned());
    }
    Ok(words)
}

/// TO or FROM, and the roles.
fn grantees(parser: &mut Parser<'_>, revoke: bool) -> Parsed<Vec<RoleName>> {
    expect_word(parser, if revoke { "FROM" } else { "TO" })?;
    parser.parse_comma_separated(|parser| {
        take_word(parser, "GROUP");
        role_name(parser)
    })
}

/// The objects after ON, and their kind.
fn granted_on(parser: &mut Parser<'_>) -> Parsed<(ObjectKind, GrantedOn)> {
    if take_word(parser, "ALL") {
        let kind = match peek_word(parser).as_deref() {
            Some("TABLES") => ObjectKind::Table,
            Some("SEQUENCES") => ObjectKind::Sequence,
            _ => return parser.expected("TABLES or SEQUENCES", parser.peek_token()),
        };
        parser.next_token();
        expect_word(parser, "IN")?;
        expect_word(parser, "SCHEMA")?;
        return Ok((kind, GrantedOn::AllIn(identifiers(parser)?)));
    }
    let kind = match peek_word(parser).as_deref() {
        Some("TABLE") => Some(ObjectKind::Table),
        Some("SEQUENCE") => Some(ObjectKind::Sequence),
        Some("SCHEMA") => Some(ObjectKind::Schema),
        Some("DATABASE") => Some(ObjectKind::Database),
        Some(
            other @ ("FUNCTION" | "PROCEDURE" | "ROUTINE" | "LANGUAGE" | "TYPE" | "DOMAIN"
            | "TABLESPACE" | "FOREIGN" | "LARGE"),
        ) => {
            let message = format!("privileges on {} are not supported", other.to_lowercase());
            return Err(ParserError::ParserError(message));
        }
        _ => None,
    };
    if kind.is_some() {
        parser.next_token();
    }
    let names = parser.parse_comma_separated(|parser| {
        let name = parser.parse_object_name(false)?;
        Ok(name.0.iter().filter_map(|part| part.as_ident()).map(fold).collect())
    })?;
    Ok((kind.unwrap_or(ObjectKind::Table), GrantedOn::Named(names)))
}
