//! Where statements run, and how every statement is stopped.
//!
//! Each running statement has an [executor](Executors): a few threads of its own, taken from a pool. The operating system
//! divides the processors among the threads of all executors, so a statement of microseconds does not wait behind one of
//! minutes, and no statement can keep another from running, whatever it does between two of its yields. Clients'
//! connections, HTTP and other servers are served by other threads.
//!
//! A statement ends early when its [`Control`] says so: after a cancel request ([`cancel`]), a time-out, or when its client
//! has gone. There are three ways to notice it, each for what the one before does not reach:
//!
//! 1. A task of the statement yields, and finds that it is aborted.
//! 2. Operators ([`stoppable`]), functions and planner passes that may run long call [`check`] and return its error. The control of the
//!    statement that a thread is working for is found in a thread-local variable, which [`Control::scope`] sets whenever it
//!    polls a task of the statement. Tasks that the query engine spawns inherit it.
//! 3. The caller waits no longer than a grace period ([`Control::overdue`]), and abandons the statement. Its threads go on
//!    until they notice; nobody waits for them, and they work at a lower priority.
//!
//! What a statement computes once and reads several times is in [`kept`]. [`InOrder`] gives the sides of a UNION ALL their
//! order. [`short_circuit`] skips what PostgreSQL would not evaluate, and [`waited`] what it would not wait for;
//! [`logical_may_fail`] and [`physical_may_fail`] tell where this matters. An error of a subquery that [comes late](comes_late)
//! is one where a row needs its value.
//!
//! Not here: what a statement does (`query`), and who asks for its end (`server`).

pub mod cancel;
mod control;
mod fallible;
mod first_error;
mod held;
mod in_order;
pub mod kept;
mod late;
mod memory_pool;
mod monitor;
mod one_input;
mod pool;
mod priority;
mod scope;
mod short_circuit;
mod shortage;
mod stoppable;
mod task;
mod waited;

pub use control::{CommitGuard, Control};
pub use fallible::{logical_may_fail, physical_may_fail};
pub use first_error::first_error;
pub use held::Held;
pub use in_order::InOrder;
pub use late::comes_late;
pub use memory_pool::QueryMemory;
pub use pool::{Executors, Lease};
pub use scope::{Scope, check};
pub use short_circuit::short_circuit;
pub use stoppable::{Checks, stoppable};
pub use task::Task;
pub use waited::{waited, waits};
