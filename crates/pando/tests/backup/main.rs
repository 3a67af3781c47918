//! `pando backup` and `pando restore`, with files.

mod consistency;
mod errors;
mod formats;
mod harness;
mod incremental;
mod round_trip;
mod single_table;
