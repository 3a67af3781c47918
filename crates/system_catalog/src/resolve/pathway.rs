//! Conversions between types.

use crate::Oid;
use crate::casts::{self, CastContext, CastMethod};

/// How a value of one type becomes a value of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// By a function.
    Function(Oid),
    /// Not at all.
    Relabel,
    /// By its text.
    Text,
    /// Item by item.
    Items,
    /// Field by field, from a row whose fields are known.
    Row,
}

/// The conversion from one type to another that a context allows. `None` if there is none.
pub fn pathway(from: Oid, to: Oid, context: CastContext) -> Option<Path> {
    let (from, to) = (from.base(), to.base());
    if from == to {
        return Some(Path::Relabel);
    }
    // The rows of any type are records, and a row that is written out is one of any composite type that fits.
    if to == Oid::RECORD && from.is_composite() {
        return Some(Path::Relabel);
    }
    if from == Oid::RECORD && to.is_composite() {
        return Some(Path::Row);
    }
    // The rows of a table of a composite type are values of it.
    if from.of_type() == Some(to) {
        return Some(Path::Relabel);
    }
    if let Some((needed, method)) = casts::listed(from, to) {
        if needed > context {
            return (context == CastContext::Procedural).then_some(Path::Text);
        }
        return Some(match method {
            CastMethod::Function(function) => Path::Function(function),
            CastMethod::Relabel => Path::Relabel,
            CastMethod::Text => Path::Text,
        });
    }
    // Arrays convert as their items do, but not to the vectors of the catalogs.
    if let (Some(from_item), Some(to_item)) = (from.element(), to.element())
        && !matches!(to, Oid::INT2VECTOR | Oid::OIDVECTOR)
    {
        return match pathway(from_item, to_item, context)? {
            _ if from_item.of_type() == Some(to_item) => None,
            Path::Relabel => Some(Path::Relabel),
            Path::Row => None,
            _ => Some(Path::Items),
        };
    }
    // Any type is written as text when it is stored in a text column, and read from text by a cast.
    let is_text = |oid: Oid| oid.category() == 'S';
    match context {
        CastContext::Assignment | CastContext::Explicit if is_text(to) => Some(Path::Text),
        CastContext::Explicit if is_text(from) => Some(Path::Text),
        CastContext::Procedural => Some(Path::Text),
        _ => None,
    }
}

/// Whether a value of one type can stand where another is expected. Literals of unknown type can stand for any.
pub fn can_coerce(from: Oid, to: Oid, context: CastContext) -> bool {
    if from == to || from == Oid::UNKNOWN || to == Oid::ANY {
        return true;
    }
    if to.is_polymorphic() {
        return fits_polymorphic(from, to);
    }
    if from == Oid::RECORD_ARRAY && to == Oid::RECORD_ARRAY {
        return true;
    }
    pathway(from, to, context).is_some()
}

/// Whether a type can be the argument of a polymorphic parameter. That all parameters agree is checked later.
fn fits_polymorphic(from: Oid, to: Oid) -> bool {
    match to {
        Oid::ANYARRAY | Oid::ANYCOMPATIBLEARRAY => from.element().is_some(),
        Oid::ANYNONARRAY | Oid::ANYCOMPATIBLENONARRAY => from.element().is_none(),
        Oid::ANYENUM => from.is_enum(),
        Oid::ANYRANGE | Oid::ANYCOMPATIBLERANGE => from.category() == 'R',
        Oid::ANYMULTIRANGE | Oid::ANYCOMPATIBLEMULTIRANGE => {
            from.catalog_name().ends_with("multirange")
        }
        _ => true,
    }
}

/// Whether two types have the same representation: a cast in this direction does nothing.
pub(super) fn is_binary(from: Oid, to: Oid) -> bool {
    if from == to || to == Oid::ANY || to == Oid::ANYELEMENT || to == Oid::ANYCOMPATIBLE {
        return true;
    }
    match to {
        Oid::ANYARRAY | Oid::ANYCOMPATIBLEARRAY if from.element().is_some() => return true,
        Oid::ANYNONARRAY | Oid::ANYCOMPATIBLENONARRAY if from.element().is_none() => return true,
        Oid::ANYRANGE | Oid::ANYCOMPATIBLERANGE if from.category() == 'R' => return true,
        Oid::ANYENUM if from.is_enum() => return true,
        _ => {}
    }
    matches!(casts::listed(from, to), Some((CastContext::Implicit, CastMethod::Relabel)))
}
