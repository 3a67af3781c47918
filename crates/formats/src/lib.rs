//! `to_char`, `to_date`, `to_timestamp` and `to_number`: values written and read by a pattern. `pg_size_pretty` and
//! `pg_size_bytes`: numbers of bytes written and read with units (`sizes`).
//!
//! A pattern is cut into parts once for each distinct text (`pattern`). Moments (dates, times, intervals) and numbers
//! have their own fields. What a field means follows PostgreSQL to the letter, odd cases included; the locale is C.

mod calendar;
mod calls;
mod moment_fields;
mod number_pattern;
mod numerals;
mod pattern;
mod read_moment;
mod read_number;
mod resolve;
mod sizes;
mod write_moment;
mod write_number;

pub use calls::{to_char_in, to_timestamp_in};
use datafusion::logical_expr::ScalarUDF;

/// The functions that are the same for every session.
pub fn all() -> Vec<ScalarUDF> {
    let mut all = calls::all();
    all.extend(sizes::all());
    all
}
