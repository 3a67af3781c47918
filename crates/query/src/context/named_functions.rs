//! The functions of users that statements name.

use super::Frame;
use parser::commands::RoutineName;
use parser::errors::of_analyzer;
use std::sync::Arc;
use store::catalog::{Catalog, Function, Object, Privileges};
use values::error::{Error, Result, SqlState};

/// The function that a statement names, in its search path.
///
/// # Errors
/// It is ambiguous or of another kind.
pub(crate) fn find(
    frame: &Frame<'_>,
    catalog: &Arc<Catalog>,
    routine: &RoutineName,
) -> Result<Option<Arc<Function>>> {
    let schemas = frame.path().of_function(routine.name.schema.as_deref());
    let routine = routines::known_name(routine, &frame.types(catalog));
    let found = routines::find(catalog, &schemas, &routine);
    found.map_err(|error| of_analyzer(error, frame.text))
}

/// The error for a function that does not exist: 42883; 0A000 for one of the system.
pub(crate) fn undefined(routine: &RoutineName) -> Error {
    if let Some(shown) = routines::of_system(routine) {
        return Error::unsupported(format!("a change of the system's {shown} is not supported"));
    }
    Error::new(SqlState::UndefinedFunction, routines::missing(routine))
}

/// The function that a statement names, of which the user is the owner.
///
/// # Errors
/// 42883 if there is none, 0A000 for one of the system; 42501 if it is another's.
pub(crate) fn owned(
    frame: &Frame<'_>,
    catalog: &Arc<Catalog>,
    routine: &RoutineName,
) -> Result<Arc<Function>> {
    let function = find(frame, catalog, routine)?.ok_or_else(|| undefined(routine))?;
    require_owner(frame, catalog, &function)?;
    Ok(function)
}

pub(crate) fn require_owner(
    frame: &Frame<'_>,
    catalog: &Arc<Catalog>,
    function: &Function,
) -> Result<()> {
    let held = frame.access(catalog).privileges(&Object::Relation(function.id));
    if held.contains(Privileges::OWNER) {
        return Ok(());
    }
    let message = format!("must be owner of {} {}", function.kind(), function.name);
    Err(Error::new(SqlState::InsufficientPrivilege, message))
}
