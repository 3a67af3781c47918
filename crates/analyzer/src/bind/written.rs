//! Arguments that functions write.

use crate::system::Oid;
use crate::system::functions::{AggregateKind, Function};

/// The type under which a function takes a label of an enum that it writes, or an array of them. `None` for other values
/// and functions.
pub(super) fn as_written(function: &Function, declared: Oid, given: Oid) -> Option<Oid> {
    let text = match given.element() {
        Some(item) if item.is_enum() => Oid::TEXT_ARRAY,
        Some(item) if item.is_composite() && item.has_labels() => Oid::RECORD_ARRAY,
        None if given.is_enum() => Oid::TEXT,
        None if given.is_composite() && given.has_labels() => Oid::RECORD,
        _ => return None,
    };
    let writes = match declared {
        Oid::ANY => {
            function.name != "pg_typeof" && function.aggregate != AggregateKind::Hypothetical
        }
        Oid::ANYELEMENT | Oid::ANYNONARRAY | Oid::ANYARRAY | Oid::RECORD => {
            matches!(function.result, Oid::TEXT | Oid::JSON | Oid::JSONB)
        }
        _ => false,
    };
    writes.then_some(text)
}
