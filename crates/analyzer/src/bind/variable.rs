//! The assignment of a value to a variable of PL/pgSQL.

use super::Binder;
use super::names;
use crate::error::{Error, Result};
use crate::system::casts::CastContext;
use crate::tree::Expr;
use grammar::tree::{FuncCall, NodeEnum};

/// `pg_catalog.pando_assigned(value, NULL::type)` is a value that is assigned to a variable of this type.
pub const ASSIGNED: &str = "pando_assigned";

impl Binder<'_> {
    /// The value that a call assigns; `None` of any other call.
    pub(super) fn assigned(&mut self, call: &FuncCall) -> Result<Option<Expr>> {
        let is_name = |node| matches!(names::text(node), Some(name) if name == ASSIGNED);
        let ([value, of], true) = (&call.args[..], call.funcname.last().is_some_and(is_name))
        else {
            return Ok(None);
        };
        let NodeEnum::TypeCast(cast) = names::node(Some(of))? else { return Ok(None) };
        let name = cast.type_name.as_ref().ok_or_else(|| Error::missing("this form"))?;
        let (value, to) = (self.required(Some(value))?, self.type_of_name(name)?);
        let (from, location) = (value.sql_type.oid, value.location.0);
        let assigned = self.coerce(value, to, CastContext::Procedural)?;
        assigned.map(Some).ok_or_else(|| super::coerce::cannot_cast(from, to.oid).at(location))
    }
}
