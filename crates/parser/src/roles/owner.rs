//! Parses ALTER ... OWNER TO, REASSIGN OWNED and DROP OWNED.

use super::words::{Parsed, expect_word, peek_word, role_name, take_word};
use super::{ObjectKind, RoleName, RoleStatement};
use crate::names::fold;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::Parser;

/// `ALTER TABLE t OWNER TO role`, after ALTER. The SQL parser handles all other ALTER TABLE.
pub(super) fn owner(parser: &mut Parser<'_>) -> Parsed<Option<RoleStatement>> {
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

/// `OWNED BY roles`.
fn owned_by(parser: &mut Parser<'_>) -> Parsed<Option<Vec<RoleName>>> {
    if !take_word(parser, "OWNED") {
        return Ok(None);
    }
    expect_word(parser, "BY")?;
    parser.parse_comma_separated(role_name).map(Some)
}

/// `REASSIGN OWNED BY roles TO role`, after REASSIGN.
pub(super) fn reassign(parser: &mut Parser<'_>) -> Parsed<Option<RoleStatement>> {
    let Some(from) = owned_by(parser)? else { return Ok(None) };
    expect_word(parser, "TO")?;
    Ok(Some(RoleStatement::Reassign { from, to: role_name(parser)? }))
}

/// `DROP OWNED BY roles`, after DROP.
pub(super) fn drop_owned(parser: &mut Parser<'_>) -> Parsed<Option<RoleStatement>> {
    let Some(roles) = owned_by(parser)? else { return Ok(None) };
    let _ = take_word(parser, "CASCADE") || take_word(parser, "RESTRICT");
    Ok(Some(RoleStatement::DropOwned(roles)))
}
