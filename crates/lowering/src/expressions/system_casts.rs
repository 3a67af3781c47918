//! Conversions of types of the system catalogs: object ids, names of objects, and `"char"`.

use crate::refusal::{Result, unsupported};
use crate::scope::Lowering;
use crate::typed::Typed;
use crate::types;
use ::functions::casts::system::{
    CHAR_OF_INT4, CHAR_OF_TEXT, INT4_OF_CHAR, INT4_OF_OID, OID_OF_INT4, OID_OF_INT8,
};
use analyzer::system::{Oid, SqlType};
use catalog_views::functions::{OBJECT_IDS, OBJECT_NAMES};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;

impl Lowering<'_> {
    /// An integer as an object id or as a `"char"`, one of these as an integer, and a text as a `"char"`. `None` for other
    /// conversions.
    pub(super) fn of_system(&self, value: &Typed, sql_type: SqlType) -> Result<Option<Typed>> {
        let is_id = |oid| types::is_id(oid) && !types::is_long_id(oid);
        let name = match (value.sql_type.oid, sql_type.oid) {
            (Oid::INT2 | Oid::INT4, to) if is_id(to) => OID_OF_INT4,
            (Oid::INT8, to) if is_id(to) => OID_OF_INT8,
            (from, Oid::INT4) if is_id(from) => INT4_OF_OID,
            (Oid::CHAR, Oid::INT4) => INT4_OF_CHAR,
            (Oid::INT4, Oid::CHAR) => CHAR_OF_INT4,
            (Oid::CHAR, Oid::CHAR) => return Ok(None),
            (from, Oid::CHAR) if types::is_text(from) || from == Oid::BPCHAR => CHAR_OF_TEXT,
            (from, to) if to == Oid::CHAR || from == Oid::CHAR && types::is_integer(to) => {
                return unsupported(format!("a conversion of {} to {sql_type}", value.sql_type));
            }
            _ => return Ok(None),
        };
        if is_id(sql_type.oid)
            && let Some(number) = value.value()
            && let Ok(ScalarValue::Int64(Some(number))) = number.cast_to(&DataType::Int64)
            && u32::try_from(number).is_ok()
        {
            return Ok(Some(Typed::constant(ScalarValue::Int64(Some(number)), sql_type)));
        }
        self.hidden(name, vec![value.clone()], sql_type).map(Some)
    }

    /// The texts of names of objects, the ids of objects with such texts as names, and both of arrays. `None` for other
    /// conversions.
    pub(crate) fn by_names(&self, value: &Typed, sql_type: SqlType) -> Result<Option<Typed>> {
        let item_of = |oid: Oid| oid.element().filter(|item| types::is_named_id(*item));
        let (from, to) = (value.sql_type.oid, sql_type.oid);
        if value.is_null() || types::has_names(value.sql_type) && types::has_names(sql_type) {
            return Ok(None);
        }
        if types::is_named_id(from) {
            let name = format!("{}out", from.catalog_name());
            let text = self.registered(&name, vec![value.clone()], Oid::TEXT.into())?;
            return self.relabelled(text, sql_type).map(Some);
        }
        if types::is_named_id(to) {
            let name = format!("{}in", to.catalog_name());
            return self.registered(&name, vec![value.clone()], sql_type).map(Some);
        }
        if let Some(item) = item_of(from) {
            if to.element().is_some_and(types::is_id) {
                return Ok(None);
            }
            let names = self.of_items(OBJECT_NAMES, item, value.clone(), Oid::TEXT_ARRAY.into())?;
            return match to {
                Oid::TEXT_ARRAY => Ok(Some(names)),
                _ => self.plain(names, sql_type).map(Some),
            };
        }
        let Some(item) = item_of(to) else { return Ok(None) };
        let texts = match from.element() {
            Some(item) if types::is_text(item) => value.clone(),
            None if types::is_text(from) => self.plain(value.clone(), Oid::TEXT_ARRAY.into())?,
            _ => return Ok(None),
        };
        self.of_items(OBJECT_IDS, item, texts, sql_type).map(Some)
    }

    /// The names or the ids of the objects of an array.
    fn of_items(
        &self,
        function: &str,
        item: Oid,
        array: Typed,
        sql_type: SqlType,
    ) -> Result<Typed> {
        let kind = ScalarValue::Utf8View(Some(item.catalog_name().to_owned()));
        let kind = Typed::constant(kind, Oid::TEXT.into());
        self.registered(function, vec![kind, array], sql_type)
    }
}
