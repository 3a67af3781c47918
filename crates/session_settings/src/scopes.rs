//! The lifetime of a setting's value: SET outlives its transaction if that commits, SET LOCAL never does, and a rollback
//! undoes both. The modes of a transaction end with it in all cases.

use crate::Settings;
use arc_swap::ArcSwap;
use std::sync::Arc;
use values::error::Result;

/// The settings of a transaction that has changed some.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The settings when the transaction began.
    before: Arc<Settings>,
    /// The settings after a commit.
    lasting: Arc<Settings>,
}

impl Scope {
    /// Whether changes stay after a commit.
    pub fn is_lasting(&self) -> bool {
        self.before != self.lasting
    }
}

/// A transaction's settings at a savepoint.
#[derive(Debug, Clone)]
pub struct Mark {
    scope: Option<Scope>,
    current: Arc<Settings>,
}

/// Changes settings outside a transaction.
///
/// # Errors
/// Those of the change.
pub fn change(
    current: &ArcSwap<Settings>,
    change: impl FnOnce(&mut Settings) -> Result<()>,
) -> Result<()> {
    let now = current.load();
    let mut changed = Settings::clone(&now);
    change(&mut changed)?;
    current.store(Arc::new(changed.with_modes_of(&now)));
    Ok(())
}

/// Changes settings in a transaction. If `local`, the change ends with it.
///
/// # Errors
/// Those of the change.
pub fn change_in(
    scope: &mut Option<Scope>,
    current: &ArcSwap<Settings>,
    local: bool,
    change: impl Fn(&mut Settings) -> Result<()>,
) -> Result<()> {
    let now = current.load_full();
    let mut changed = Settings::clone(&now);
    change(&mut changed)?;
    let scope = scope.get_or_insert_with(|| Scope { before: Arc::clone(&now), lasting: now });
    if !local {
        let mut lasting = Settings::clone(&scope.lasting);
        change(&mut lasting)?;
        scope.lasting = Arc::new(lasting.with_modes_of(&scope.before));
    }
    current.store(Arc::new(changed));
    Ok(())
}

/// Ends the scope of a transaction.
pub fn end(scope: Option<Scope>, current: &ArcSwap<Settings>, committed: bool) {
    if let Some(scope) = scope {
        store(current, if committed { scope.lasting } else { scope.before });
    }
}

/// Stores settings that were before. Those of users that have been made since stay, without values.
fn store(current: &ArcSwap<Settings>, mut before: Arc<Settings>) {
    let now = current.load_full();
    let missing: Vec<&str> = now.missing_in(&before).collect();
    if !missing.is_empty() {
        let mut kept = Settings::clone(&before);
        kept.kept.extend(missing.into_iter().map(|name| (name.to_owned(), String::new())));
        before = Arc::new(kept);
    }
    current.store(before);
}

/// The settings at a savepoint.
pub fn mark(scope: &Option<Scope>, current: &ArcSwap<Settings>) -> Mark {
    Mark { scope: scope.clone(), current: current.load_full() }
}

/// Restores the settings at a savepoint.
pub fn go_back(scope: &mut Option<Scope>, current: &ArcSwap<Settings>, mark: &Mark) {
    if scope.is_some() {
        scope.clone_from(&mark.scope);
        store(current, Arc::clone(&mark.current));
    }
}

/// Ends what lasts until a savepoint is released: the access mode of the transaction.
pub fn release(current: &ArcSwap<Settings>, mark: &Mark) {
    let now = current.load();
    if now.modes.read_only != mark.current.modes.read_only {
        let mut changed = Settings::clone(&now);
        changed.modes.read_only = mark.current.modes.read_only;
        current.store(Arc::new(changed));
    }
}
