//! Timestamps with time zone in the zone of the session.
//!
//! In UTC the engine's own conversions and functions are used: they know more about order and statistics.

use super::called;
use crate::refusal::Result;
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use datafusion::logical_expr::ScalarUDF;
use functions::datetime::local;
use std::sync::Arc;
use store::catalog::SqlType as Held;
use values::zone::Zone;

impl Lowering<'_> {
    /// The zone of the session.
    pub(crate) fn zone(&self) -> Zone {
        self.style().zone
    }

    /// The local time of a timestamp with time zone.
    pub(crate) fn local_time(&self, moment: Typed) -> Result<Typed> {
        if self.zone().is_utc() {
            let moment = moment.converted(&Held::Timestamp.arrow());
            return Ok(moment.named(Oid::TIMESTAMP.into()));
        }
        in_zone(local::local_time(self.zone()), vec![moment], Oid::TIMESTAMP.into())
    }

    /// The timestamp with time zone of a local time.
    pub(crate) fn instant(&self, local: Typed) -> Result<Typed> {
        if self.zone().is_utc() {
            let local = local.converted(&Held::TimestampTz.arrow());
            return Ok(local.named(Oid::TIMESTAMPTZ.into()));
        }
        in_zone(local::instant(self.zone()), vec![local], Oid::TIMESTAMPTZ.into())
    }

    /// A conversion from or to a timestamp with time zone by the zone of the session; `None` in UTC, and for others.
    pub(crate) fn in_session_zone(&self, value: &Typed, to: Oid) -> Result<Option<Typed>> {
        if self.zone().is_utc() {
            return Ok(None);
        }
        let from = value.sql_type.oid;
        Ok(match (from, to) {
            (Oid::TIMESTAMPTZ, Oid::TIMESTAMP) => Some(self.local_time(value.clone())?),
            (Oid::TIMESTAMPTZ, Oid::DATE | Oid::TIME) => {
                Some(self.plain(self.local_time(value.clone())?, to.into())?)
            }
            (Oid::TIMESTAMP, Oid::TIMESTAMPTZ) => Some(self.instant(value.clone())?),
            (Oid::DATE, Oid::TIMESTAMPTZ) => {
                let midnight = self.plain(value.clone(), Oid::TIMESTAMP.into())?;
                Some(self.instant(midnight)?)
            }
            _ => None,
        })
    }

    /// Operands of a comparison of which one is a timestamp with time zone: the other becomes one, too.
    pub(crate) fn as_moments(&self, left: Typed, right: Typed) -> Result<(Typed, Typed)> {
        let moment = |value: Typed| -> Result<Typed> {
            Ok(self.in_session_zone(&value, Oid::TIMESTAMPTZ)?.unwrap_or(value))
        };
        Ok(match (left.sql_type.oid, right.sql_type.oid) {
            (Oid::TIMESTAMPTZ, _) => (left, moment(right)?),
            (_, Oid::TIMESTAMPTZ) => (moment(left)?, right),
            _ => (left, right),
        })
    }
}

/// A call of a function that knows its zone.
pub(super) fn in_zone(
    function: ScalarUDF,
    arguments: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Typed> {
    let (expr, data_type) = called(&Arc::new(function), arguments)?;
    Typed::of(expr, data_type, sql_type)
}
