//! The common type of values that meet in one place (`select_common_type`).

use super::pathway::can_coerce;
use crate::Oid;
use crate::casts::CastContext;

/// Two types that have no common one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mixed(pub Oid, pub Oid);

/// The type to which values of these types are converted in UNION, CASE, VALUES, arrays and the like. Literals of unknown
/// type become text if nothing else decides.
///
/// # Errors
/// Two types that are not of one category.
pub fn common_type(types: &[Oid]) -> Result<Oid, Mixed> {
    let Some(first) = types.first() else { return Ok(Oid::TEXT) };
    if *first != Oid::UNKNOWN && types.iter().all(|other| other == first) {
        return Ok(*first);
    }
    let mut chosen = Oid::UNKNOWN;
    for other in types.iter().map(|oid| oid.base()).filter(|oid| *oid != Oid::UNKNOWN) {
        if chosen == Oid::UNKNOWN {
            chosen = other;
        } else if other != chosen {
            if other.category() != chosen.category() {
                return Err(Mixed(chosen, other));
            }
            let forth = can_coerce(chosen, other, CastContext::Implicit);
            let back = can_coerce(other, chosen, CastContext::Implicit);
            if !chosen.is_preferred() && forth && !back {
                chosen = other;
            }
        }
    }
    Ok(if chosen == Oid::UNKNOWN { Oid::TEXT } else { chosen })
}
