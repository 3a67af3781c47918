//! CURRENT_DATE and the like.

use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::ValueFunction;

impl Lowering<'_> {
    pub(super) fn value_function(
        &self,
        function: ValueFunction,
        sql_type: SqlType,
    ) -> Result<Typed> {
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
        if is_rounded {
            return missing(format!("values of type {sql_type}"));
        }
        self.registered(name, Vec::new(), sql_type)
    }
}
