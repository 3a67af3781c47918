//! Tests of whole stores in memory.

#[path = "../../../bucket/src/test_tables.rs"]
mod test_tables;

mod commits;
mod indexes;
mod locks;
mod memory;
mod regressions;
#[path = "../shared/tables.rs"]
mod tables;
mod threads;
mod wire;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::Int64Type;
use catalog::{CatalogChange, Relation, Table, TableId};
use sdds::{Key, KeyRange};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Options, Snapshot, Store, TableView, key};
use tables::{contents, key_of, quiet, store_with, table_at};
use test_tables::keyed;
