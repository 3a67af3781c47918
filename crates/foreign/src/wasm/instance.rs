//! Instances: modules with memory, within limits.

use super::engine::Running;
use crate::definition::Definition;
use crate::failure::{out_of_memory, raised};
use crate::limits::Limits;
use executor::Held;
use values::error::{Error, Result};
use wasmtime::{
    Func, Instance, Module, ResourceLimiter, Store, Trap, TypedFunc, UpdateDeadline, WasmParams,
    WasmResults,
};

/// What an instance has taken of its limits.
pub(super) struct Taken {
    name: String,
    limits: Limits,
    memory: usize,
    table_items: usize,
    held: Held,
    /// Whether a module of ours is started, which does not count.
    is_ours: bool,
}

/// A module that runs.
pub(super) struct Program<'a> {
    pub(super) definition: &'a Definition,
    pub(super) store: Store<Taken>,
    pub(super) instance: Instance,
    /// Says that it runs.
    pub(super) running: Running,
}

impl<'a> Program<'a> {
    /// Starts a module, which may run code of it.
    pub(super) fn start(definition: &'a Definition, module: &Module) -> Result<Self> {
        let taken = Taken {
            name: definition.name.clone(),
            limits: definition.limits,
            memory: 0,
            table_items: 0,
            held: Held::nothing(),
            is_ours: false,
        };
        let mut store = Store::new(module.engine(), taken);
        store.limiter(|taken| taken);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|_| match executor::check() {
            Ok(()) => Ok(UpdateDeadline::Continue(1)),
            Err(ended) => Err(wasmtime::Error::new(ended)),
        });
        let running = Running::begin();
        let instance = Instance::new(&mut store, module, &[]);
        let instance = instance.map_err(|error| failed(definition, &error))?;
        Ok(Self { definition, store, instance, running })
    }

    /// Starts a module of ours next to it, which imports a function of it.
    pub(super) fn start_ours(&mut self, module: &Module, function: Func) -> Result<Instance> {
        self.store.data_mut().is_ours = true;
        let instance = Instance::new(&mut self.store, module, &[function.into()]);
        self.store.data_mut().is_ours = false;
        instance.map_err(|error| failed(self.definition, &error))
    }

    /// An exported function.
    pub(super) fn export<P: WasmParams, R: WasmResults>(
        &mut self,
        name: &str,
    ) -> Result<TypedFunc<P, R>> {
        let found = self.instance.get_typed_func(&mut self.store, name);
        found.map_err(|error| failed(self.definition, &error))
    }

    /// Calls a function.
    pub(super) fn call<P: WasmParams, R: WasmResults>(
        &mut self,
        function: &TypedFunc<P, R>,
        parameters: P,
    ) -> Result<R> {
        let returned = function.call(&mut self.store, parameters);
        returned.map_err(|error| failed(self.definition, &error))
    }
}

/// The error of a program that did not return.
pub(super) fn failed(definition: &Definition, error: &wasmtime::Error) -> Error {
    if let Some(own) = error.downcast_ref::<Error>() {
        return own.clone();
    }
    match error.downcast_ref::<Trap>() {
        Some(trap) => raised(definition, &trap.to_string()),
        None => raised(definition, &error.root_cause().to_string()),
    }
}

impl ResourceLimiter for Taken {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if self.is_ours {
            return Ok(true);
        }
        let total = self.memory.saturating_add(desired.saturating_sub(current));
        if total > self.limits.memory {
            return Err(wasmtime::Error::new(out_of_memory(&self.name, self.limits.memory)));
        }
        self.held.grow_to(total as u64).map_err(wasmtime::Error::new)?;
        self.memory = total;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self.table_items.saturating_add(desired.saturating_sub(current));
        if total > self.limits.table_items {
            return Err(wasmtime::Error::new(out_of_memory(&self.name, self.limits.memory)));
        }
        self.table_items = total;
        Ok(true)
    }

    fn instances(&self) -> usize {
        2
    }

    fn memories(&self) -> usize {
        2
    }

    fn tables(&self) -> usize {
        16
    }
}
