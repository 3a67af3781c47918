//! Rows by key of other servers.

use super::{Found, NodePeers};
use crate::directory::File;
use arrow::array::{Array, ArrayRef};
use futures::future::join_all;
use messages::{RowsAnswer, RowsRequest, batches, invalid_message, unexpected};
use sdds::{GroupId, Key, KeyRange};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::catalog::Table;
use store::{Error, Reader};

impl NodePeers {
    pub(super) async fn get_rows(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        keys: &[Key],
        columns: &[usize],
    ) -> Result<Found, Error> {
        let file = self.node.files.of(table);
        let by_owner = self.by_owner(&file, keys).await?;
        let asked = by_owner.into_iter().map(|(owner, places)| {
            let (file, columns) = (&file, columns.iter().map(|column| *column as u32).collect());
            let request = RowsRequest::Get {
                reader: self.wire(reader, owner),
                target: self.view.target(table),
                keys: places.iter().map(|place| keys[*place].clone()).collect(),
                columns,
            };
            async move {
                // A coordinator reads its own keys itself: only its session has the uncommitted
                // writes.
                let leader = self.node.membership.leader_of(owner);
                let is_asking = reader.transaction.is_some_and(|t| t.coordinator == leader);
                let range = KeyRange::point(&keys[places[0]]);
                if leader == self.node.membership.here {
                    return Err(Error::NotOwned { range });
                }
                if is_asking {
                    return Err(self.view.misrouted(range));
                }
                let found = self.get_from(file, &request, owner).await;
                let asked = places.iter().map(|place| &keys[*place]);
                let found =
                    found.map_err(|e| e.missing(|| store::key::describe_rows(table, asked)));
                let (columns, positions) = found?;
                let place = |position: usize| {
                    places
                        .get(position)
                        .copied()
                        .ok_or_else(|| invalid_message("an invalid position"))
                };
                let positions: Result<Vec<usize>, Error> =
                    positions.into_iter().map(place).collect();
                Ok((columns, positions?))
            }
        });
        merge(join_all(asked).await, table, columns)
    }

    pub(super) async fn entries_of(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        range: &KeyRange,
        limit: usize,
    ) -> Result<Vec<Key>, Error> {
        if self.node.membership.is_here(owner) {
            return Err(Error::NotOwned { range: range.clone() });
        }
        let file = self.node.files.of(table);
        let request = RowsRequest::Entries {
            reader: self.wire(reader, owner),
            target: self.view.target(table),
            range: range.clone(),
            limit: u32::try_from(limit).unwrap_or(u32::MAX),
        };
        self.view.count(&file);
        match self.node.calls.ask_leader(owner, &request).await? {
            RowsAnswer::Keys(keys) => Ok(keys),
            RowsAnswer::NotOwned { range, adjustment } => {
                self.view.learn(&file, adjustment);
                Err(Error::NotOwned { range })
            }
            other => Err(unexpected(&other)),
        }
    }

    pub(super) async fn newest_row(
        &self,
        table: &Arc<Table>,
        key: &Key,
        columns: &[usize],
    ) -> Result<Option<Vec<ArrayRef>>, Error> {
        let file = self.node.files.of(table);
        let owner = self.view.other_owner(&file, key).await?;
        let columns = columns.iter().map(|column| *column as u32).collect();
        let request =
            RowsRequest::Newest { target: self.view.target(table), key: key.clone(), columns };
        let found = self.get_from(&file, &request, owner).await;
        let (values, positions) = found.map_err(|error| missing(error, table, key))?;
        Ok((!positions.is_empty()).then_some(values))
    }

    async fn get_from(
        &self,
        file: &File,
        request: &RowsRequest,
        owner: GroupId,
    ) -> Result<Found, Error> {
        self.view.count(file);
        match self.node.calls.ask_leader(owner, request).await? {
            RowsAnswer::Found { rows, positions, adjustment } => {
                self.view.learn(file, adjustment);
                let columns = match rows {
                    Some(rows) => batches::read(&rows)?.columns().to_vec(),
                    None => Vec::new(),
                };
                if columns.iter().any(|column| column.len() != positions.len()) {
                    return Err(invalid_message("the numbers of rows and positions differ"));
                }
                Ok((columns, positions.into_iter().map(|position| position as usize).collect()))
            }
            RowsAnswer::NotOwned { range, adjustment } => {
                self.view.learn(file, adjustment);
                Err(self.view.misrouted(range))
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Positions of keys by group: the owner, or one that knows more.
    async fn by_owner(
        &self,
        file: &File,
        keys: &[Key],
    ) -> Result<BTreeMap<GroupId, Vec<usize>>, Error> {
        let mut owners: BTreeMap<GroupId, Vec<usize>> = BTreeMap::new();
        for (place, key) in keys.iter().enumerate() {
            for (_, owner) in self.view.parts(file, &KeyRange::point(key)).await? {
                owners.entry(owner).or_default().push(place);
            }
        }
        Ok(owners)
    }
}

/// Concatenates the rows of several owners.
fn merge(
    found: Vec<Result<Found, Error>>,
    table: &Table,
    columns: &[usize],
) -> Result<Found, Error> {
    let mut parts: Vec<Vec<ArrayRef>> = vec![Vec::new(); columns.len()];
    let mut all = Vec::new();
    for found in found {
        let (values, positions) = found?;
        if !positions.is_empty() {
            parts.iter_mut().zip(values).for_each(|(column, values)| column.push(values));
            all.extend(positions);
        }
    }
    let mut merged = Vec::with_capacity(columns.len());
    for (parts, column) in parts.iter().zip(columns) {
        let empty = arrow::array::new_empty_array(&table.columns[*column].sql_type.arrow());
        let mut arrays: Vec<&dyn Array> = vec![&*empty];
        arrays.extend(parts.iter().map(AsRef::as_ref));
        merged.push(arrow::compute::concat(&arrays)?);
    }
    Ok((merged, all))
}

/// Adds the row to the error of an unreachable server.
pub(super) fn missing(error: Error, table: &Table, key: &Key) -> Error {
    error.missing(|| store::key::describe_rows(table, std::iter::once(key)))
}
