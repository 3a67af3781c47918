//! Hostile programs: each ends with a clear error, shortly after its limit.

mod calls;
mod making;
mod scripts;
mod sets;
mod user_types;
mod wasm;
