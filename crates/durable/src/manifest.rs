//! The form of a checkpoint: a file of blocks.
//!
//! | kind of block | body |
//! |---|---|
//! | 1, first | position, index, timestamp, id counters, floor of chunk files, sequences, catalog |
//! | 2 | a table: id, number of tiles; each its low bound, and if it is here the id and accesses of its bucket |
//! | 3 | the state of the next bucket of the table, newest versions (`state_form`) |
//! | 5, if there is anything | what belongs to a cluster: prepared parts of transactions, each as of its command; frozen keys; adopted moves; facts |
//! | 4, last | the chunk files that are referred to |

use crate::cluster_state::{ClusterState, Frozen, PreparedPart};
use crate::cut::{BucketCut, Cut, TableCut, TileCut};
use crate::runs::{Decoder, Flaw};
use crate::state::{IdCounters, SequenceState, TEMPORARY_BUCKETS};
use crate::state_form::{self, Detail};
use crate::writes_form;
use bucket::BucketState;
use catalog::stable::{Malformed, Source, Stable};
use catalog::{Catalog, RelationId, TableId};
use journal::{BlockWriter, Blocks, Directory, Error, Label, Position};
use sdds::{Bound, BucketId, Timestamp, TransactionId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

const HEAD: u16 = 1;
const TABLE: u16 = 2;
const BUCKET: u16 = 3;
const FILES: u16 = 4;
const CLUSTER: u16 = 5;

/// What is known of a checkpoint without its tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its number.
    pub number: u64,
    /// The position of the journal.
    pub position: Position,
    /// Chunk files from this number on may be referred to by the journal after the position.
    pub floor: u64,
    /// The chunk files that it refers to.
    pub files: BTreeSet<u64>,
}

/// Returns the label of a checkpoint.
pub(crate) fn label(number: u64) -> Label {
    Label { title: *b"PANDOCKP", number }
}

/// Writes a cut, durably except the name of the file. Its chunks have been written. Returns what is
/// known of it, and its size in bytes.
///
/// # Errors
/// [`Error::Full`]; those of the disk.
pub(crate) fn write(
    directory: &Directory,
    path: &Path,
    number: u64,
    floor: u64,
    cut: &Cut,
) -> Result<(Summary, u64), Error> {
    let mut writer = BlockWriter::create(directory, path, label(number))?;
    writer.put(HEAD, &encode_head(cut, floor))?;
    for table in &cut.tables {
        writer.put(TABLE, &encode_table(table))?;
        for bucket in table.tiles.iter().filter_map(|tile| tile.bucket.as_ref()) {
            let mut body = Vec::new();
            state_form::encode(&bucket.state, Detail::NewestVersions, &mut body);
            writer.put(BUCKET, &body)?;
        }
    }
    if !cut.cluster.is_empty() {
        writer.put(CLUSTER, &encode_cluster(&cut.catalog, &cut.cluster))?;
    }
    let chunks = cut.chunks();
    let places = chunks.iter().filter_map(|chunk| chunk.place());
    let files: BTreeSet<u64> = places.map(|place| place.file).collect();
    let mut body = Vec::new();
    files.iter().copied().collect::<Vec<u64>>().encode(&mut body);
    writer.put(FILES, &body)?;
    let bytes = writer.finish()?;
    Ok((Summary { number, position: cut.position, floor, files }, bytes))
}

fn encode_head(cut: &Cut, floor: u64) -> Vec<u8> {
    let mut out = Vec::new();
    cut.position.0.encode(&mut out);
    cut.index.encode(&mut out);
    cut.timestamp.encode(&mut out);
    cut.counters.bucket.encode(&mut out);
    cut.counters.relation.encode(&mut out);
    cut.counters.row.encode(&mut out);
    floor.encode(&mut out);
    (cut.sequences.len() as u64).encode(&mut out);
    for (id, state) in &cut.sequences {
        id.encode(&mut out);
        state.last.encode(&mut out);
        state.called.encode(&mut out);
    }
    cut.catalog.encode(&mut out);
    out
}

fn encode_table(table: &TableCut) -> Vec<u8> {
    let mut out = Vec::new();
    table.id.encode(&mut out);
    (table.tiles.len() as u64).encode(&mut out);
    for tile in &table.tiles {
        tile.low.encode(&mut out);
        tile.bucket.is_some().encode(&mut out);
        if let Some(bucket) = &tile.bucket {
            bucket.id.encode(&mut out);
            bucket.accesses.encode(&mut out);
        }
    }
    out
}

fn encode_cluster(catalog: &Catalog, cluster: &ClusterState) -> Vec<u8> {
    let mut parts: Vec<(TransactionId, Vec<u8>)> = Vec::new();
    for (transaction, PreparedPart { catalog: changes, writes }) in &cluster.prepared {
        let mut part = Vec::new();
        if writes_form::encode_shared(catalog, changes, writes, &mut part).is_some() {
            parts.push((*transaction, part));
        }
    }
    let mut out = Vec::new();
    (parts.len() as u64).encode(&mut out);
    for (transaction, part) in parts {
        transaction.encode(&mut out);
        out.extend(part);
    }
    cluster.frozen.values().cloned().collect::<Vec<Frozen>>().encode(&mut out);
    cluster.adopted.encode(&mut out);
    cluster.facts.encode(&mut out);
    // Earlier versions do not know it: it is there only if it is needed.
    for (transaction, part) in &cluster.prepared {
        let mut required = Vec::new();
        if writes_form::encode_required(&part.writes, &mut required) {
            transaction.encode(&mut out);
            out.extend(required);
        }
    }
    out
}

fn decode_cluster(body: &[u8], with: &mut Decoder<'_>) -> Result<ClusterState, Flaw> {
    let mut from = Source::new(body);
    let mut cluster = ClusterState::default();
    for _ in 0..u64::decode(&mut from)? {
        let transaction = TransactionId::decode(&mut from)?;
        let (catalog, writes) = writes_form::decode(&mut from, with)?;
        cluster.prepared.insert(transaction, PreparedPart { catalog, writes });
    }
    let frozen = Vec::<Frozen>::decode(&mut from)?;
    cluster.frozen = frozen.into_iter().map(|frozen| (frozen.of, frozen)).collect();
    cluster.adopted = BTreeMap::decode(&mut from)?;
    cluster.facts = BTreeMap::decode(&mut from)?;
    while !from.is_at_end() {
        let transaction = TransactionId::decode(&mut from)?;
        let required = writes_form::decode_required(&mut from)?;
        let part = cluster.prepared.get_mut(&transaction);
        let part = part.ok_or(Malformed("what belongs to a cluster continues after its end"))?;
        writes_form::require(&mut part.writes, required);
    }
    Ok(cluster)
}

/// A checkpoint whose bytes have been checked.
#[derive(Debug)]
pub struct Manifest {
    blocks: Blocks,
    number: u64,
}

impl Manifest {
    /// Opens and checks a file.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Newer`]; those of the disk.
    pub(crate) fn open(directory: &Directory, path: &Path, number: u64) -> Result<Self, Error> {
        Ok(Self { blocks: Blocks::open(directory, path, label(number))?, number })
    }

    /// Returns the size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.blocks.bytes()
    }

    /// Returns what is known of it without its tables.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn summary(&self) -> Result<Summary, Error> {
        let (_, floor, cut) = self.head()?;
        let last = self.blocks.len().saturating_sub(1);
        let files = self.body(last, FILES)?;
        let files: Result<Vec<u64>, _> = catalog::stable::decode(files);
        let files = files.map_err(|error| self.blocks.damaged(last, error.to_string()))?;
        let files = files.into_iter().collect();
        Ok(Summary { number: self.number, position: cut.position, floor, files })
    }

    /// Returns the state that it contains.
    ///
    /// # Errors
    /// [`Error::Damaged`], also of chunk files.
    pub fn read(&self, with: &mut Decoder<'_>) -> Result<Cut, Error> {
        let (mut next, _, mut cut) = self.head()?;
        while let Some((TABLE, body)) = self.blocks.get(next) {
            let table = decode_table(body);
            let mut table = table.map_err(|error| self.blocks.damaged(next, error.to_string()))?;
            next += 1;
            for bucket in table.tiles.iter_mut().filter_map(|tile| tile.bucket.as_mut()) {
                let mut from = Source::new(self.body(next, BUCKET)?);
                let state = state_form::decode(&mut from, with);
                bucket.state = Arc::new(state.map_err(|flaw| self.damaged(next, flaw))?);
                next += 1;
            }
            cut.tables.push(table);
        }
        if let Some((CLUSTER, body)) = self.blocks.get(next) {
            cut.cluster = decode_cluster(body, with).map_err(|flaw| self.damaged(next, flaw))?;
            next += 1;
        }
        if next + 1 != self.blocks.len() {
            return Err(self.blocks.damaged(next, "a block is out of place"));
        }
        Ok(cut)
    }

    fn damaged(&self, block: usize, flaw: Flaw) -> Error {
        match flaw {
            Flaw::Form(flaw) => self.blocks.damaged(block, flaw),
            Flaw::Chunk(error) => error,
        }
    }

    fn body(&self, number: usize, kind: u16) -> Result<&[u8], Error> {
        match self.blocks.get(number) {
            Some((of, body)) if of == kind => Ok(body),
            _ => Err(self.blocks.damaged(number, "a block is out of place")),
        }
    }

    /// Returns the number of the block after the head, the floor, and a cut without tables.
    fn head(&self) -> Result<(usize, u64, Cut), Error> {
        let decoded = decode_head(&mut Source::new(self.body(0, HEAD)?));
        let (floor, cut) = decoded.map_err(|error| self.blocks.damaged(0, error.to_string()))?;
        Ok((1, floor, cut))
    }
}

fn decode_head(from: &mut Source<'_>) -> Result<(u64, Cut), Malformed> {
    let (position, index) = (Position(u64::decode(from)?), u64::decode(from)?);
    let timestamp = Timestamp::decode(from)?;
    let counters = IdCounters {
        bucket: u64::decode(from)?,
        temporary_bucket: TEMPORARY_BUCKETS,
        relation: u32::decode(from)?,
        row: i64::decode(from)?,
    };
    let floor = u64::decode(from)?;
    let mut sequences = BTreeMap::new();
    for _ in 0..u64::decode(from)? {
        let id = RelationId::decode(from)?;
        let (last, called) = (i64::decode(from)?, bool::decode(from)?);
        sequences.insert(id, SequenceState { last, called });
    }
    let catalog = Catalog::decode(from)?;
    let (cluster, tables) = (ClusterState::default(), Vec::new());
    let cut = Cut { position, index, timestamp, catalog, counters, sequences, cluster, tables };
    Ok((floor, cut))
}

fn decode_table(body: &[u8]) -> Result<TableCut, Malformed> {
    let mut from = Source::new(body);
    let id = TableId::decode(&mut from)?;
    let mut tiles: Vec<TileCut> = Vec::new();
    for _ in 0..u64::decode(&mut from)? {
        let low = Bound::decode(&mut from)?;
        let is_next = match tiles.last() {
            None => low == Bound::NegInf,
            Some(last) => last.low < low && low != Bound::PosInf,
        };
        if !is_next {
            return Err(Malformed("the tiles of a table are out of order"));
        }
        let bucket = match bool::decode(&mut from)? {
            false => None,
            true => Some(BucketCut {
                id: BucketId::decode(&mut from)?,
                accesses: u64::decode(&mut from)?,
                state: Arc::new(BucketState::default()),
            }),
        };
        tiles.push(TileCut { low, bucket });
    }
    if tiles.is_empty() {
        return Err(Malformed("a table has no tiles"));
    }
    Ok(TableCut { id, tiles })
}
