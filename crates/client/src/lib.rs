//! A PostgreSQL client with an image of its own: statements on one row by its key go straight to the server that owns it.
//!
//! Any server answers any statement, and asks the row's owner where that is another one. A [`Client`] spares that way: it
//! begins with one server and sends everything there; with each answer to a misdirected statement it is told whose the keys around
//! that one are, and soon asks owners only (requirement A2 of `PAPERS.md`; RP\*, Litwin et al.). What it knows may be out of date:
//! that costs a message between servers, never an answer. Statements on more than one row go to the first server.
//!
//! It is [`tokio_postgres`] underneath: types, rows, errors, TLS and passwords are its own.
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
//! // Many at a time: each server gets its own, and they do not wait for one another.
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
