//! Tests of the whole store.

mod cluster;
#[path = "../../tests/shared/model.rs"]
mod model;
mod moves;
mod peers;
mod prepared;
mod replay;
#[path = "../../tests/shared/tables.rs"]
mod tables;

use crate::test_tables::keyed;
use crate::{Options, Snapshot, Store, TableView, key};
use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::Int64Type;
use catalog::{CatalogChange, Relation, Table, TableId};
use sdds::{Key, KeyRange};
use std::collections::BTreeMap;
use std::sync::Arc;
use tables::{contents, contents_of, key_of, quiet, store_with, table_at};
