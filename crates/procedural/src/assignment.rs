//! Types that variables are declared with, and the assignment of an expression to one.

use analyzer::ASSIGNED;
use grammar::tree::{NodeEnum, TypeName};
use parser::Statement;
use store::catalog::SqlType;
use system_catalog::Oid;
use values::error::{Error, Result, SqlState};
use values::types::BPCHAR;

/// The type of a name.
pub(crate) fn held(of: &str) -> Result<SqlType> {
    let unknown = || Error::new(SqlState::UndefinedObject, format!("type \"{of}\" does not exist"));
    let script = grammar::parse(&format!("SELECT NULL::{of}")).map_err(|_| unknown())?;
    let statement = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    let Some(NodeEnum::SelectStmt(select)) = statement else { return Err(unknown()) };
    let target = select.target_list.first().and_then(|node| node.node.as_ref());
    let Some(NodeEnum::ResTarget(target)) = target else { return Err(unknown()) };
    let value = target.val.as_ref().and_then(|node| node.node.as_ref());
    let Some(NodeEnum::TypeCast(cast)) = value else { return Err(unknown()) };
    cast.type_name.as_ref().and_then(of_name).ok_or_else(unknown)
}

/// The type of a written one. A `char` without a length is not one of the greatest length.
fn of_name(name: &TypeName) -> Option<SqlType> {
    let written = analyzer::declared_type(name).ok()?;
    match written.oid.element().unwrap_or(written.oid) {
        Oid::BPCHAR if written.modifier >= 0 => parser::types::held(written),
        Oid::BPCHAR if written.oid == Oid::BPCHAR => Some(BPCHAR),
        Oid::BPCHAR => Some(SqlType::Array(Box::new(BPCHAR))),
        _ => parser::types::held(written),
    }
}

/// The statement whose value is that of an expression, assigned to a type. `None` for a type that cannot stand in a cast.
pub(crate) fn assigned(expression: &str, to: &str) -> Option<Statement> {
    parser::one(&format!("SELECT pg_catalog.{ASSIGNED}(({expression}), NULL::{to})")).ok()
}
