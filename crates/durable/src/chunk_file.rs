//! The form of a chunk file: blocks, of which each layout is followed by the chunks that have it.
//!
//! | kind of block | body |
//! |---|---|
//! | 1 | a layout ([`bucket::Layout`]) |
//! | 2 | a chunk: an Arrow IPC stream of one batch, whose fields are named by their positions |
//!
//! Chunks are numbered from 0, layouts not counted. The arrays of a chunk are used where they are in
//! the file.

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Field, Schema};
use bucket::arrays::compact_views;
use bucket::{Chunk, Layout};
use bytes::Bytes;
use catalog::{ipc, stable};
use journal::disk::Contents;
use journal::{BlockWriter, Blocks, Directory, Error, Label};
use std::path::Path;
use std::sync::Arc;

const LAYOUT: u16 = 1;
const CHUNK: u16 = 2;

/// Returns the label of a chunk file.
pub(crate) fn label(number: u64) -> Label {
    Label { title: *b"PANDOCHU", number }
}

/// Writes chunks into a new file, durably except its name.
///
/// # Errors
/// [`Error::Full`]; those of the disk.
pub(crate) fn write(
    directory: &Directory,
    path: &Path,
    number: u64,
    chunks: &[&Arc<Chunk>],
) -> Result<(), Error> {
    let mut writer = BlockWriter::create(directory, path, label(number))?;
    let mut previous: Option<&Arc<Layout>> = None;
    for chunk in chunks {
        if !previous.is_some_and(|layout| Arc::ptr_eq(layout, chunk.layout())) {
            writer.put(LAYOUT, &stable::encode(&**chunk.layout()))?;
            previous = Some(chunk.layout());
        }
        writer.put(CHUNK, &encode(chunk))?;
    }
    writer.finish().map(drop)
}

fn encode(chunk: &Chunk) -> Vec<u8> {
    let columns: Vec<ArrayRef> = chunk.columns().iter().map(compact_views).collect();
    let schema = Arc::new(schema(chunk.layout()));
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns);
    let stream = batch.and_then(|batch| ipc::write(&schema, &[batch]));
    stream.expect("the columns of a chunk have the types of its layout")
}

fn schema(layout: &Layout) -> Schema {
    let columns = layout.columns.iter().enumerate();
    let field = |(at, column): (usize, &bucket::LayoutColumn)| {
        Field::new(at.to_string(), column.data_type.clone(), true)
    };
    Schema::new(columns.map(field).collect::<Vec<_>>())
}

/// A chunk file that has been checked.
#[derive(Debug)]
pub(crate) struct ChunkFile {
    blocks: Blocks,
    /// The block and the layout of each chunk.
    chunks: Vec<(usize, Arc<Layout>)>,
}

impl ChunkFile {
    /// Opens and checks a file.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Newer`]; those of the disk.
    pub(crate) fn open(directory: &Directory, path: &Path, number: u64) -> Result<Self, Error> {
        let blocks = Blocks::open(directory, path, label(number))?;
        let mut chunks = Vec::new();
        let mut layout: Option<Arc<Layout>> = None;
        for (number, (kind, body)) in blocks.iter().enumerate() {
            match (kind, &layout) {
                (LAYOUT, _) => {
                    let decoded: Result<Layout, _> = stable::decode(body);
                    let decoded = decoded.map_err(|e| blocks.damaged(number, e.to_string()))?;
                    layout = Some(Arc::new(decoded));
                }
                (CHUNK, Some(layout)) => chunks.push((number, Arc::clone(layout))),
                _ => return Err(blocks.damaged(number, "a block is out of place")),
            }
        }
        Ok(Self { blocks, chunks })
    }

    /// Returns the size of the file in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.blocks.bytes()
    }

    /// Returns the number of chunks.
    pub(crate) fn len(&self) -> u32 {
        self.chunks.len() as u32
    }

    /// Returns a chunk by its number.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn chunk(&self, index: u32) -> Result<Chunk, Error> {
        let found = self.chunks.get(index as usize);
        let (block, layout) = found.ok_or_else(|| {
            self.blocks.damaged(self.blocks.len(), format!("chunk {index} is missing"))
        })?;
        let damaged = |flaw: &str| self.blocks.damaged(*block, flaw);
        let (contents, place) =
            self.blocks.place(*block).ok_or_else(|| damaged("a chunk is missing"))?;
        let bytes = Bytes::from_owner(Owner(Arc::clone(contents))).slice(place);
        let expected = schema(layout);
        let check = |found: &Schema| match *found == expected {
            true => Ok(()),
            false => Err(ipc::malformed("it has other columns than its layout")),
        };
        let (_, batches) = ipc::read(bytes, check).map_err(|error| damaged(&error.to_string()))?;
        let [batch] = &batches[..] else { return Err(damaged("a chunk is not one batch")) };
        let is_null = |at: &usize| batch.column(*at).null_count() > 0;
        if batch.num_rows() == 0 || layout.key.iter().any(is_null) {
            return Err(damaged("a chunk has no rows, or no keys"));
        }
        let chunk = Chunk::new(layout, batch.columns().to_vec());
        chunk.map_err(|error| damaged(&error.to_string()))
    }
}

/// Keeps the contents of a file while arrays use them.
struct Owner(Arc<dyn Contents>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}
