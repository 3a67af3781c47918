//! The options of COPY with the client.

mod options;

pub use options::{Form, Header, Options};
