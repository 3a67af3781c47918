//! A PostgreSQL client with an image: statements on one row by its key are sent directly to the
//! server that owns it.
//!
//! Any server answers any statement, and asks the row's owner if that is another server. A
//! [`Client`] avoids this hop. It begins with one server and sends everything there. With each
//! answer to a misdirected statement it learns the owners of the surrounding keys, and soon asks
//! owners only (requirement A2 of `PAPERS.md`; RP\*, Litwin et al.). An outdated image costs a
//! message between servers, never a wrong answer. Statements on more than one row are sent to the
//! first server.
//!
//! It is built on [`tokio_postgres`], which provides types, rows, errors, TLS and authentication.
//!
//! ```no_run
//! # async fn example() -> Result<(), client::Error> {
//! use client::Client;
//! use tokio_postgres::NoTls;
//!
//! let config = "postgres://app@127.0.0.1:5433/pando".parse()?;
//! let client = Client::connect(config, NoTls).await?;
//! let select = client.prepare("SELECT owner, balance FROM accounts WHERE number = $1").await?;
//! for row in client.query(&select, &[&17_i64]).await? {
//!     println!("{} has {}", row.get::<_, &str>(0), row.get::<_, i64>(1));
//! }
//! // Many executions at a time, pipelined to each server.
//! let pay = client.prepare("UPDATE accounts SET balance = balance + $2 WHERE number = $1").await?;
//! let payments = [(17_i64, 5_i64), (18, 7), (90_000, 1)];
//! let given = payments.iter().map(|(number, amount)| vec![number as _, amount as _]);
//! let changed = client.execute_all(&pay, given).await?;
//! assert_eq!(changed, [1, 1, 1]);
//! # Ok(())
//! # }
//! ```

mod adjustment;
mod connector;
mod error;
mod key_part;
mod knowledge;
mod requests;
mod servers;

pub use error::Error;
pub use requests::{Client, Counters, Parameters, Statement};
