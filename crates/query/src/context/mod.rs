//! The context of a statement: what the sessions of a database share, the state of a session, the surroundings of a statement.
//!
//! From the bottom up: [`shared`] is what the sessions of a database share, with the query [`engine`]; [`session_context`]
//! is what functions and other sessions see of a session; [`inner`] is the state of a session; [`frame`] is the
//! surroundings of one statement. The transaction of a session is in the crate [`conversation`]. Executing statements is not
//! here: see `dml`, `ddl`, `copy`, `roles` and `session`.

mod borrowed;
pub(crate) mod call_site;
pub(crate) mod engine;
mod frame;
mod inner;
pub(crate) mod kept_functions;
mod listed;
pub(crate) mod named_functions;
pub(crate) mod outcome;
mod owned_types;
mod ownership;
mod parameters;
mod presence;
pub(crate) mod running;
pub(crate) mod session_context;
mod sessions;
mod shared;
pub(crate) mod temporary;
pub(crate) mod triggered;

pub(crate) use borrowed::Loan;
pub(crate) use conversation::{held, transactions};
pub(crate) use executor::cancel;
pub(crate) use frame::{Frame, start};
pub use inner::ProgressCallback;
pub(crate) use inner::{Inner, writes_nothing};
pub(crate) use listed::Listed;
pub(crate) use owned_types::owned_type;
pub(crate) use ownership::own;
pub use parameters::parameter_of_text;
pub(crate) use sessions::Sessions;
pub(crate) use shared::Shared;
