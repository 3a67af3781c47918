//! Generated tables, queries with known answers, and databases in this process to run them on.
//!
//! [`tpch`] and [`person`] generate tables. [`Expected`] has the answers to TPC-H's queries. [`Embedded`] is a database
//! in this process and [`InProcess`] a cluster in this process. [`endless`] has statements to be stopped.

mod answer;
mod coefficients;
mod embedded;
pub mod endless;
mod expected;
mod in_process;
pub mod person;
mod source;
pub mod tpch;

pub use answer::{Answer, Kind, Row};
pub use coefficients::coefficients;
pub use embedded::{Embedded, drain, sole_number};
pub use expected::Expected;
pub use in_process::{InProcess, Member, server_name};
pub use source::TableSource;
