//! CURRENT_DATE and the like.

use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::ValueFunction;

impl Lowering<'_> {
    pub(crate) fn value_function(
        &self,
        function: ValueFunction,
        sql_type: SqlType,
    ) -> Result<Typed> {
        let is_local = matches!(
            function,
            ValueFunction::Date | ValueFunction::LocalTimestamp | ValueFunction::LocalTime
        );
        if is_local && !self.zone().is_utc() {
            let now = self.registered("now", Vec::new(), Oid::TIMESTAMPTZ.into())?;
            let value = self.plain(now, SqlType::plain(sql_type.oid))?;
            return match (0..6).contains(&sql_type.modifier) {
                true => self.adjusted("moment_precision", value, sql_type),
                false => Ok(value.named(sql_type)),
            };
        }
        let name = match function {
            ValueFunction::Date => "current_date",
            ValueFunction::Timestamp | ValueFunction::LocalTimestamp => "now",
            ValueFunction::LocalTime => "current_time",
            ValueFunction::Time => return missing("CURRENT_TIME"),
            ValueFunction::User => "current_user",
            ValueFunction::SessionUser => "session_user",
            ValueFunction::Catalog => "current_catalog",
            ValueFunction::Schema => "current_schema",
        };
        let is_rounded = matches!(sql_type.oid, Oid::TIMESTAMP | Oid::TIMESTAMPTZ | Oid::TIME)
            && (0..6).contains(&sql_type.modifier);
        let value = self.registered(name, Vec::new(), SqlType::plain(sql_type.oid))?;
        match is_rounded {
            true => self.adjusted("moment_precision", value, sql_type),
            false => Ok(value.named(sql_type)),
        }
    }
}
