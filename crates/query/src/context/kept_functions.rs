//! Functions that a session has executed: their bodies, and what has been planned for their texts.
//!
//! Expressions that may have other values in the next statement, or that hold the snapshot of this one, are forgotten when it
//! ends.

use super::triggered::TriggerMemory;
use catalog_views::search_path::SearchPath;
use catalog_views::settings::Settings;
use parking_lot::Mutex;
use plan_cache::Basis;
use procedural::{Home, Memory, Prepared};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use store::catalog::{Catalog, RelationId};
use values::error::Result;

/// Functions that a session remembers, at most.
const FUNCTIONS_MAX: usize = 256;

/// Memories of a function, at most: of calls within others, or at the same time.
const MEMORIES_MAX: usize = 8;

/// A function that a session has executed.
pub(crate) struct KeptFunction {
    pub(crate) prepared: Prepared,
    /// What earlier calls have planned.
    memories: Mutex<Vec<Memory>>,
    home: OnceLock<Option<Home>>,
    /// Whether only the session itself can execute it, as far as is known.
    is_of_session: AtomicBool,
}

/// The functions that a session has executed.
#[derive(Default)]
pub(crate) struct KeptFunctions(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// What they hold for.
    basis: Option<Basis>,
    functions: HashMap<RelationId, Arc<KeptFunction>>,
    /// What earlier calls of triggers, by their ids, have planned.
    triggers: HashMap<RelationId, TriggerMemory>,
    /// Whether the statement that runs has used any.
    are_used: bool,
}

impl KeptFunction {
    /// A function of a catalog.
    ///
    /// # Errors
    /// As [`Prepared::of`].
    pub(crate) fn of(catalog: &Catalog, id: RelationId) -> Result<Arc<Self>> {
        let prepared = Prepared::of(catalog, id)?;
        let (memories, home, is_of_session) = Default::default();
        Ok(Arc::new(Self { prepared, memories, home, is_of_session }))
    }

    /// The rows that a procedure is about, if others can execute it, and all its statements are about rows of one place.
    pub(crate) fn home(&self, catalog: &Catalog, path: SearchPath<'_>) -> Option<&Home> {
        let home = self.home.get_or_init(|| self.prepared.home(catalog, path)).as_ref();
        home.filter(|_| !self.is_of_session.load(Ordering::Relaxed))
    }

    /// Notes that only the session itself can execute it.
    pub(crate) fn keep_at_session(&self) {
        self.is_of_session.store(true, Ordering::Relaxed);
    }

    /// What an earlier call has planned.
    pub(crate) fn memory(&self) -> Memory {
        self.memories.lock().pop().unwrap_or_default()
    }

    /// Keeps what a call has planned.
    pub(crate) fn keep(&self, memory: Memory) {
        let mut memories = self.memories.lock();
        if memories.len() < MEMORIES_MAX {
            memories.push(memory);
        }
    }

    /// Forgets what is good for one statement only. An expression that calls the function itself keeps what it has planned when
    /// it is forgotten: nothing is locked meanwhile.
    fn settle(&self) {
        let memories = std::mem::take(&mut *self.memories.lock());
        memories.into_iter().map(Memory::lasting).for_each(|memory| self.keep(memory));
    }
}

impl KeptFunctions {
    /// A function of a catalog.
    ///
    /// # Errors
    /// As [`Prepared::of`].
    pub(crate) fn function(
        &self,
        catalog: &Arc<Catalog>,
        settings: &Arc<Settings>,
        id: RelationId,
    ) -> Result<Arc<KeptFunction>> {
        if let Some(kept) = self.0.lock().under(catalog, settings).functions.get(&id) {
            return Ok(Arc::clone(kept));
        }
        let function = KeptFunction::of(catalog, id)?;
        let mut kept = self.0.lock();
        kept.under(catalog, settings).functions.insert(id, Arc::clone(&function));
        Ok(function)
    }

    /// What earlier calls of a trigger have planned.
    pub(crate) fn trigger(
        &self,
        catalog: &Arc<Catalog>,
        settings: &Arc<Settings>,
        id: RelationId,
    ) -> TriggerMemory {
        self.0.lock().under(catalog, settings).triggers.remove(&id).unwrap_or_default()
    }

    /// Keeps what a call of a trigger has planned.
    pub(crate) fn keep_trigger(
        &self,
        catalog: &Arc<Catalog>,
        settings: &Arc<Settings>,
        id: RelationId,
        memory: TriggerMemory,
    ) {
        self.0.lock().under(catalog, settings).triggers.insert(id, memory);
    }

    /// Forgets what is good for one statement only: it has ended.
    pub(crate) fn settle(&self) {
        let (functions, triggers) = {
            let mut kept = self.0.lock();
            if !std::mem::take(&mut kept.are_used) {
                return;
            }
            let functions: Vec<_> = kept.functions.values().map(Arc::clone).collect();
            (functions, std::mem::take(&mut kept.triggers))
        };
        functions.iter().for_each(|function| function.settle());
        let lasting = |(id, memory): (RelationId, TriggerMemory)| {
            (id, TriggerMemory { texts: memory.texts.lasting(), ..memory })
        };
        let lasting: HashMap<_, _> = triggers.into_iter().map(lasting).collect();
        self.0.lock().triggers.extend(lasting);
    }
}

impl Kept {
    /// What is known under a catalog and settings. What was known under others is forgotten.
    fn under(&mut self, catalog: &Arc<Catalog>, settings: &Arc<Settings>) -> &mut Self {
        let basis = Some(Basis::new(catalog, settings));
        let is_full = self.functions.len() + self.triggers.len() > FUNCTIONS_MAX;
        if is_full || self.basis != basis {
            *self = Self { basis, ..Self::default() };
        }
        self.are_used = true;
        self
    }
}
