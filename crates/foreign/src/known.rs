//! Definitions that this process has seen, and how plans name them to other servers.
//!
//! A plan carries the id of a function and the version of its definition, not the source. The receiver has the definition
//! from an earlier plan, or finds it in its catalog by [`Definitions`].

use crate::definition::{Definition, Version};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use store::catalog::SqlType;
use store::catalog::stable::{self, Stable};
use values::error::{Error, Result, SqlState};

/// Finds the present definition of the function with an id.
pub trait FindDefinition: Send + Sync {
    /// The definition; `None` if there is no such function. `actual` are the types of the arguments and of the result of a
    /// polymorphic one.
    fn find(&self, id: u32, actual: &[SqlType]) -> Option<Arc<Definition>>;
}

/// Where a server finds definitions: an extension of the engine's configuration.
#[derive(Clone)]
pub struct Definitions(pub Arc<dyn FindDefinition>);

impl std::fmt::Debug for Definitions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Definitions")
    }
}

/// The definitions that plans of this process use, by version.
static KNOWN: Mutex<BTreeMap<Version, Weak<Definition>>> = Mutex::new(BTreeMap::new());

/// Makes a definition known to plans of other servers that name it.
pub(crate) fn remember(definition: &Arc<Definition>) {
    let mut known = KNOWN.lock();
    if known.get(&definition.version()).is_some_and(|held| held.strong_count() > 0) {
        return;
    }
    known.retain(|_, held| held.strong_count() > 0);
    known.insert(definition.version(), Arc::downgrade(definition));
}

/// The length of the form in plans, without types.
const FORM_BYTES: usize = 4 + 32;

/// The form of a definition in plans: the id in four bytes, the lowest first, the version, and the types of a polymorphic
/// function.
pub fn encode(definition: &Definition, out: &mut Vec<u8>) {
    out.extend_from_slice(&definition.id.to_le_bytes());
    out.extend_from_slice(&definition.version().0);
    if !definition.actual.is_empty() {
        definition.actual.encode(out);
    }
}

/// The definition that a plan names.
///
/// # Errors
/// 08P01: the bytes have another form; 40001: the function has been replaced or dropped.
pub fn decode(bytes: &[u8], definitions: Option<&Definitions>) -> Result<Arc<Definition>> {
    let unknown =
        || Error::new(SqlState::ProtocolViolation, "a plan names a function in an unknown form");
    let (form, types) = bytes.split_first_chunk::<FORM_BYTES>().ok_or_else(unknown)?;
    let (id, version) = form.split_first_chunk::<4>().ok_or_else(unknown)?;
    let actual: Vec<SqlType> = match types {
        [] => Vec::new(),
        types => stable::decode(types).map_err(|_| unknown())?,
    };
    let id = u32::from_le_bytes(*id);
    let mut held = [0; 32];
    held.copy_from_slice(version);
    let version = Version(held);
    if let Some(known) = KNOWN.lock().get(&version).and_then(Weak::upgrade)
        && known.id == id
    {
        return Ok(known);
    }
    let found = definitions.and_then(|definitions| definitions.0.find(id, &actual));
    found.filter(|found| found.version() == version).ok_or_else(|| {
        let message = "a function was replaced or dropped while a statement called it";
        Error::new(SqlState::SerializationFailure, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Language;
    use crate::signature::{Returns, Signature};
    use store::catalog::Volatility;

    fn definition(source: &str) -> Arc<Definition> {
        let (parameters, returns) = (Vec::new(), Returns::value(SqlType::Text));
        let (is_strict, volatility) = (false, Volatility::Immutable);
        let signature = Signature { parameters, returns, is_strict, volatility };
        let language = Language::JavaScript;
        Arc::new(Definition::new(7, "f", language, signature, source, None).expect("a script"))
    }

    struct One(Arc<Definition>);

    impl FindDefinition for One {
        fn find(&self, id: u32, _: &[SqlType]) -> Option<Arc<Definition>> {
            (id == self.0.id).then(|| Arc::clone(&self.0))
        }
    }

    #[test]
    fn a_plan_finds_what_it_names() {
        let (named, other) = (definition("return 'a'"), definition("return 'b'"));
        let mut form = Vec::new();
        encode(&named, &mut form);
        let state = |found: Result<Arc<Definition>>| found.map(drop).map_err(|e| e.state());
        assert_eq!(state(decode(&form, None)), Err(SqlState::SerializationFailure));
        let replaced = Definitions(Arc::new(One(other)));
        assert_eq!(state(decode(&form, Some(&replaced))), Err(SqlState::SerializationFailure));
        let found = decode(&form, Some(&Definitions(Arc::new(One(Arc::clone(&named))))));
        assert_eq!(found.expect("it is there").version(), named.version());
        remember(&named);
        assert_eq!(state(decode(&form, None)), Ok(()));
        assert_eq!(state(decode(&form[1..], None)), Err(SqlState::ProtocolViolation));
    }

    #[test]
    fn a_plan_has_the_types_of_a_polymorphic_function() {
        let one = definition("return 'c'");
        let named =
            Definition::new(7, "f", one.language, one.signature.clone(), "return 'c'", None);
        let named = Arc::new(named.expect("a script").of_types(&[SqlType::Integer, SqlType::Text]));
        let mut form = Vec::new();
        encode(&named, &mut form);
        assert!(form.len() > FORM_BYTES);
        let found = decode(&form, Some(&Definitions(Arc::new(One(Arc::clone(&named))))));
        assert_eq!(found.expect("it is there").version(), named.version());
        form.push(1);
        let state = decode(&form, None).map(drop).map_err(|error| error.state());
        assert_eq!(state, Err(SqlState::ProtocolViolation));
    }
}
