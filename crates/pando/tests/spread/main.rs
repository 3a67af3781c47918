//! SQL on clusters in one process: answers do not depend on where rows are, or on concurrent moves.

mod deferrable;
mod fragments;
mod joins;
mod key_local;
mod locks;
mod metrics;
mod near_data;
mod pushdowns;
mod random_moves;
mod serializable;
mod sql_files;
mod statements;
mod tpch;
mod truncates;
