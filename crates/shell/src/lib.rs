//! The interactive client: a SQL shell on a database of this process or on a server.
//!
//! [`Shell`] runs scripts and conversations at a [`Place`]. [`output`] formats results. [`protocol`] is the client side
//! of PostgreSQL's protocol, and works with any server that speaks it.

mod error;
mod interrupt;
pub mod output;
pub mod protocol;
pub mod quantity;
mod shell;
pub mod terminal;
mod waiting;

pub use error::SqlError;
pub use shell::{Flow, Local, Place, Remote, Shell, Source, StartServer};
