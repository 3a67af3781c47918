//! SQL on three servers of one process: answers do not depend on where rows are, nor on their moving meanwhile.

mod fragments;
mod joins;
mod metrics;
mod pushdowns;
mod restless;
mod sql_files;
mod statements;
mod tpch;
