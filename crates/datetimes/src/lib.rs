//! PostgreSQL's dates, times and intervals as numbers: their texts, their ranges, their fields, and time zones.
//!
//! - [`datetime`] and [`interval`] read texts, [`calendar`] counts days, [`moments`] knows the ranges of dates and
//!   timestamps and their infinities, [`zone`] the time zones, [`fields`] what EXTRACT gives.
//! - [`output`] writes times of day and intervals.
//!
//! Not here: arrays of values, the output of dates and timestamps, and errors with SQLSTATEs (`values`).

pub mod calendar;
mod clock;
pub mod datetime;
mod digits;
mod error;
pub mod fields;
pub mod interval;
mod interval_fields;
mod interval_parts;
mod iso_interval;
pub mod moments;
mod order;
pub mod output;
mod tokens;
mod words;
pub mod zone;

pub use error::DatetimeError;
pub use interval_fields::Fields as IntervalFields;
pub use order::DateOrder;
