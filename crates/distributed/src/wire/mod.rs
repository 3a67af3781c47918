//! Plan fragments as bytes.
//!
//! [`fragment`] is the message, [`codec`] writes the leaves of its plan, [`folds`] aggregates of users, [`rows`] are Arrow
//! batches, and [`expressions`] are expressions over the rows of a table. [`output`] says what a
//! server does with the rows of a fragment.

mod codec;
mod error;
pub mod expressions;
mod folds;
pub(crate) mod fragment;
pub(crate) mod output;
pub(crate) mod rows;

pub(crate) use codec::Codec;
pub use error::out_of_range;
