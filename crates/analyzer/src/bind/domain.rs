//! Values of domains.

use super::Binder;
use crate::error::{Error, Result};
use crate::system::casts::CastContext;
use crate::system::functions::{self, Volatility};
use crate::system::{Oid, SqlType};
use crate::tree::{Call, Cast, Conversion, Expr, Kind, Literal};

/// The function that returns its first argument if the second is true or NULL, and names the domain and the check otherwise.
const CHECKED: &str = "pando_domain_check";
/// The function that returns its argument unless it is NULL, with the name of the domain.
const NOT_NULL: &str = "pando_domain_not_null";

impl Binder<'_> {
    /// Converts a value to a domain: to its base type, under the domain's conditions.
    pub(super) fn in_domain(
        &mut self,
        value: Expr,
        oid: Oid,
        context: CastContext,
    ) -> Result<Option<Expr>> {
        let Some(known) = oid.definition() else { return Ok(None) };
        let base = known.base.unwrap_or(SqlType::plain(oid));
        if context == CastContext::Assignment {
            // Who writes the row checks it, and its length.
            let base = SqlType::plain(base.oid);
            let Some(value) = self.coerce(value, base, context)? else { return Ok(None) };
            let location = value.location.0;
            return Ok(Some(relabelled(value, SqlType::plain(oid), location)));
        }
        let domain = self.catalog.domain(oid);
        // A parameter is read as a value of the domain, which refuses texts that are too long.
        let is_read =
            matches!(value.kind, Kind::Parameter(_)) && value.sql_type.oid == Oid::UNKNOWN;
        let context = if is_read { CastContext::Implicit } else { context };
        // Errors name the domain of the value, not those that it is over.
        let shown = self.outer_domain.take();
        let shown = shown.or_else(|| domain.as_ref().map(|domain| domain.name.clone()));
        self.outer_domain.clone_from(&shown);
        let value = self.coerce(value, base, context);
        self.outer_domain = None;
        let Some(value) = value? else { return Ok(None) };
        let Some((domain, shown)) = domain.zip(shown) else {
            return Err(Error::missing("a cast to this domain").at(value.location.0));
        };
        let location = value.location.0;
        let text = |text: &str| {
            Expr::new(Kind::Literal(Literal::Text(text.to_owned())), Oid::TEXT, location)
        };
        let mut checked = value.clone();
        if !domain.nullable {
            checked = call(NOT_NULL, vec![checked, text(&shown)], base)?;
        }
        if !domain.checks.is_empty() && is_volatile(&value) {
            return Err(Error::missing("a cast of a volatile value to a domain").at(location));
        }
        for (name, condition) in &domain.checks {
            let condition = self.with_domain_value(&value, condition)?;
            let arguments = vec![checked, condition, text(&shown), text(name)];
            checked = call(CHECKED, arguments, base)?;
        }
        let is_length = |cast: &Cast| cast.conversion == Conversion::Length;
        if matches!(&checked.kind, Kind::Cast(cast) if is_length(cast)) {
            // The length is that of the base type.
            checked = relabelled(checked, base, location);
        }
        checked.sql_type = SqlType::plain(oid);
        checked.location.0 = location;
        Ok(Some(checked))
    }

    /// A condition of a domain for a value.
    fn with_domain_value(&mut self, value: &Expr, condition: &str) -> Result<Expr> {
        self.domain_values.push(value.clone());
        let bound = self.default_argument(condition);
        self.domain_values.pop();
        self.coerce_to_bool(bound?, "CHECK")
    }
}

/// A value as one of another type that is held in the same way.
fn relabelled(value: Expr, sql_type: SqlType, location: i32) -> Expr {
    let cast = Cast { value: Box::new(value), conversion: Conversion::Relabel, is_explicit: false };
    Expr::new(Kind::Cast(cast), sql_type, location)
}

/// A call of one of the functions that check values.
fn call(name: &str, arguments: Vec<Expr>, sql_type: SqlType) -> Result<Expr> {
    let function = functions::named(name).next().ok_or_else(|| Error::missing("a domain"))?;
    let location = arguments.first().map_or(-1, |first| first.location.0);
    let call = Call::of_system(function.oid, arguments);
    Ok(Expr::new(Kind::Call(call), sql_type, location))
}

/// Whether a value may be another one when it is computed twice.
fn is_volatile(value: &Expr) -> bool {
    super::contains(value, &mut |part: &Expr| match &part.kind {
        Kind::Call(call) if let Some(executed) = &call.executed => executed.is_volatile,
        Kind::Call(call) => functions::of(call.function)
            .is_none_or(|function| function.volatility == Volatility::Volatile),
        Kind::Subquery(_) => true,
        _ => false,
    })
}
