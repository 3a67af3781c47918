//! The types that polymorphic arguments stand for (`enforce_generic_type_consistency`).

use super::common::common_type;
use super::pathway::can_coerce;
use crate::Oid;
use crate::casts::CastContext;

/// What the polymorphic types of a function stand for in a call.
#[derive(Debug, Clone, Copy, Default)]
pub struct Polymorphic {
    /// `anyelement`.
    element: Option<Oid>,
    /// `anyarray`.
    array: Option<Oid>,
    /// `anyrange`.
    range: Option<Oid>,
    /// `anycompatible`.
    common: Option<Oid>,
    /// `anycompatiblearray`.
    common_array: Option<Oid>,
}

impl Polymorphic {
    /// Finds out what the polymorphic types among `declared` stand for, given the types of the arguments.
    ///
    /// # Errors
    /// The arguments disagree; the message says how.
    pub fn of(declared: &[Oid], given: &[Oid]) -> Result<Self, String> {
        let mut found = Self::default();
        let mut common = Vec::new();
        for (declared, given) in declared.iter().zip(given) {
            if *given == Oid::UNKNOWN {
                if matches!(*declared, Oid::ANYCOMPATIBLE | Oid::ANYCOMPATIBLENONARRAY) {
                    common.push(*given);
                }
                continue;
            }
            match *declared {
                Oid::ANYELEMENT | Oid::ANYNONARRAY | Oid::ANYENUM => {
                    agree(&mut found.element, *given, "anyelement")?;
                }
                Oid::ANYARRAY => agree(&mut found.array, *given, "anyarray")?,
                Oid::ANYRANGE => agree(&mut found.range, *given, "anyrange")?,
                Oid::ANYCOMPATIBLE | Oid::ANYCOMPATIBLENONARRAY => common.push(*given),
                Oid::ANYCOMPATIBLEARRAY => common.extend(given.element()),
                _ => {}
            }
        }
        if let Some(array) = found.array {
            let item = array.element().ok_or_else(|| {
                format!("argument declared anyarray is not an array but type {array}")
            })?;
            match found.element {
                Some(element) if element != item => {
                    return Err(
                        "argument declared anyarray is not consistent with argument declared anyelement"
                            .to_owned(),
                    );
                }
                _ => found.element = Some(item),
            }
        } else if let Some(element) = found.element {
            found.array = element.array();
        }
        let uses = |one: fn(&Oid) -> bool| declared.iter().any(one);
        if uses(|oid| oid.is_polymorphic_common()) {
            let mixed = |one: Oid, other: Oid| {
                format!(
                    "arguments of anycompatible family cannot be cast to a common type: {one} and {other}"
                )
            };
            let item = common_type(&common).map_err(|of| mixed(of.0, of.1))?;
            // A category may have types that are not converted into each other: `record` and `record[]`.
            let fits = |oid: &&Oid| can_coerce(oid.base(), item, CastContext::Implicit);
            if let Some(other) = common.iter().find(|oid| !fits(oid)) {
                return Err(mixed(item, *other));
            }
            found.common = Some(item);
            found.common_array = item.array();
        }
        Ok(found)
    }

    /// Whether the arguments decide what `anyelement` and `anyarray` stand for.
    pub fn is_decided(&self) -> bool {
        self.element.is_some()
            || self.array.is_some()
            || self.common.is_some()
            || self.range.is_some()
    }

    /// The type that a declared type stands for. `None` if the arguments do not decide it.
    pub fn actual(&self, declared: Oid) -> Option<Oid> {
        match declared {
            Oid::ANYELEMENT | Oid::ANYNONARRAY | Oid::ANYENUM => self.element,
            Oid::ANYARRAY => self.array,
            Oid::ANYRANGE | Oid::ANYMULTIRANGE => self.range,
            Oid::ANYCOMPATIBLE | Oid::ANYCOMPATIBLENONARRAY => self.common,
            Oid::ANYCOMPATIBLEARRAY => self.common_array,
            other => Some(other),
        }
    }
}

fn agree(known: &mut Option<Oid>, given: Oid, name: &str) -> Result<(), String> {
    match *known {
        Some(known) if known != given => {
            Err(format!("arguments declared \"{name}\" are not all alike: {known} versus {given}"))
        }
        _ => {
            *known = Some(given);
            Ok(())
        }
    }
}
