//! Functions of users in languages of their own: WebAssembly and JavaScript.
//!
//! A [`Definition`] says what a function is; [`Definition::call`] computes a column from a batch of rows. A program sees
//! its arguments and nothing else: there are no imports, files, clocks, sockets or random numbers. So a function gives the
//! same value on every server, and may be sent to where the rows are.
//!
//! Each call has a program instance of its own, within [`Limits`] of memory. It ends when its statement ends: WebAssembly
//! asks at loops and calls whether it may go on, JavaScript after some thousand steps.
//!
//! ```text
//! wasm         plain        numbers of a row as parameters, called for each row
//!              batch        an Arrow IPC stream in linear memory, called once a batch
//! javascript                values of a row as parameters, called for each row
//! ```
//!
//! [`function`] makes a definition a function of the engine, and [`Definitions`] finds it again on another server.
//! Not here: where definitions come from (`lowering`), and who may make them (`query`).

mod border;
mod call;
mod definition;
mod failure;
mod function;
mod known;
mod limits;
mod rows;
mod script;
mod signature;
mod wasm;

pub use border::{BORDER, argument_type, column_type, value_type};
pub use definition::{Definition, Language, Version};
pub use function::{ForeignFunction, function, of_function};
pub use known::{Definitions, FindDefinition, decode, encode};
pub use limits::{Limits, SOURCE_BYTES_MAX};
pub use signature::{Parameter, Returns, Signature};
