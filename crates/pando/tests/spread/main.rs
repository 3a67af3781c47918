//! SQL on three servers of one process: answers do not depend on where rows are, nor on their moving meanwhile.

mod bundles;
mod errands;
mod joins;
mod restless;
mod spent;
mod sql_files;
mod statements;
mod tpch;
