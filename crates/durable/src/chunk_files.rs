//! The chunk files of a data directory: their numbers, which are in use, and their removal.

use crate::chunk_file::{self, ChunkFile};
use bucket::{Chunk, Place};
use journal::{Blocks, Directory, Error, sync_directory};
use parking_lot::Mutex;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// The directory of chunk files within a data directory.
pub const CHUNKS: &str = "chunks";

/// The ending of the names of chunk files.
const ENDING: &str = ".chunks";

/// The chunk files of a data directory.
#[derive(Debug)]
pub struct ChunkFiles {
    directory: Arc<Directory>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The number of the next file.
    next: u64,
    /// Files whose command has not been applied yet.
    pinned: BTreeSet<u64>,
}

/// Keeps a chunk file that nothing in the log refers to yet. Dropping it lets the file be removed
/// unless something does.
#[derive(Debug)]
pub struct Pins {
    files: Arc<ChunkFiles>,
    number: Option<u64>,
}

impl Drop for Pins {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.files.state.lock().pinned.remove(&number);
        }
    }
}

fn file_name(number: u64) -> String {
    format!("{number:010}{ENDING}")
}

/// Returns the number in the name of a file; `None` if it is another file.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    let number = name.strip_suffix(ENDING)?.parse().ok()?;
    (file_name(number) == name).then_some(number)
}

impl ChunkFiles {
    /// Begins after the greatest number in the directory.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn open(directory: &Arc<Directory>) -> Result<Arc<Self>, Error> {
        let state = Mutex::new(State { next: 1, pinned: BTreeSet::new() });
        let files = Self { directory: Arc::clone(directory), state };
        let last = files.numbers()?.last().copied().unwrap_or(0);
        files.state.lock().next = last + 1;
        Ok(Arc::new(files))
    }

    /// Gives no file a number below this: files that were removed have had them.
    pub fn skip_to(&self, number: u64) {
        let mut state = self.state.lock();
        state.next = state.next.max(number);
    }

    /// Returns the path of a file.
    pub(crate) fn path(&self, number: u64) -> PathBuf {
        self.parent().join(file_name(number))
    }

    fn parent(&self) -> PathBuf {
        self.directory.path().join(CHUNKS)
    }

    /// Returns the numbers of the files in the directory.
    pub(crate) fn numbers(&self) -> Result<BTreeSet<u64>, Error> {
        let parent = self.parent();
        let names = self.directory.disk().list(&parent);
        let names = names.map_err(|error| Error::io("list", &parent, &error))?;
        Ok(names.iter().filter_map(|name| number_of(name)).collect())
    }

    /// Writes the chunks that have no place yet into a new file, durably, and gives them their places.
    ///
    /// # Errors
    /// [`Error::Full`]; those of the disk.
    pub fn write(self: &Arc<Self>, chunks: &[Arc<Chunk>]) -> Result<Pins, Error> {
        let new: Vec<&Arc<Chunk>> = chunks.iter().filter(|chunk| chunk.place().is_none()).collect();
        if new.is_empty() {
            return Ok(Pins { files: Arc::clone(self), number: None });
        }
        let number = {
            let mut state = self.state.lock();
            let number = state.next;
            state.next += 1;
            state.pinned.insert(number);
            number
        };
        let pins = Pins { files: Arc::clone(self), number: Some(number) };
        let path = self.path(number);
        let written = chunk_file::write(&self.directory, &path, number, &new)
            .and_then(|()| sync_directory(&**self.directory.disk(), &self.parent()));
        if let Err(error) = written {
            let _ = self.directory.disk().remove(&path);
            return Err(error);
        }
        for (index, chunk) in new.into_iter().enumerate() {
            let (index, rows) = (index as u32, 0..chunk.rows() as u32);
            chunk.set_place(Place { file: number, index, rows });
        }
        Ok(pins)
    }

    /// Returns a number that every file has which is not referred to yet, or later ones.
    pub fn floor(&self) -> u64 {
        let state = self.state.lock();
        state.pinned.first().copied().unwrap_or(state.next)
    }

    /// Removes the files below a number that are not in use.
    ///
    /// # Errors
    /// Those of the disk. What remains is removed by the next call.
    pub fn remove_unused(&self, floor: u64, used: &BTreeSet<u64>) -> Result<(), Error> {
        for number in self.numbers()?.range(..floor).filter(|number| !used.contains(number)) {
            let path = self.path(*number);
            let removed = self.directory.disk().remove(&path);
            removed.map_err(|error| Error::io("remove", &path, &error))?;
        }
        Ok(())
    }
}

/// Reads chunks by their places, each file and chunk once.
#[derive(Debug)]
pub struct ChunkReader {
    files: Arc<ChunkFiles>,
    open: BTreeMap<u64, ChunkFile>,
    chunks: BTreeMap<(u64, u32), Arc<Chunk>>,
    bytes: u64,
}

impl ChunkReader {
    /// Begins to read the files of a directory.
    pub fn new(files: Arc<ChunkFiles>) -> Self {
        Self { files, open: BTreeMap::new(), chunks: BTreeMap::new(), bytes: 0 }
    }

    /// Returns the bytes of the files that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads all chunks of a file; returns their number and that of their rows, and what is damaged.
    pub(crate) fn read_all(&mut self, number: u64) -> (u64, u64, Vec<Error>) {
        let (mut chunks, mut rows, mut damages) = (0, 0, Vec::new());
        match self.file(number).map(ChunkFile::len) {
            Ok(length) => {
                for index in 0..length {
                    match self.whole(number, index) {
                        Ok(chunk) => (chunks, rows) = (chunks + 1, rows + chunk.rows() as u64),
                        Err(error) => damages.push(error),
                    }
                }
            }
            Err(Error::Damaged { .. }) => {
                let path = self.files.path(number);
                let label = chunk_file::label(number);
                damages = Blocks::damages(&self.files.directory, &path, label);
            }
            Err(error) => damages.push(error),
        }
        (chunks, rows, damages)
    }

    /// Returns the chunk at a place.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Newer`]; those of the disk.
    pub fn chunk(&mut self, place: &Place) -> Result<Arc<Chunk>, Error> {
        let whole = self.whole(place.file, place.index)?;
        let rows = place.rows.start as usize..place.rows.end as usize;
        if rows == (0..whole.rows()) {
            return Ok(whole);
        }
        let path = self.files.path(place.file);
        let damaged = |flaw: String| Error::damaged(&path, 0, flaw);
        if rows.is_empty() || rows.end > whole.rows() {
            let flaw = format!("chunk {} does not have the rows {rows:?}", place.index);
            return Err(damaged(flaw));
        }
        whole.slice(rows).map(Arc::new).map_err(|error| damaged(error.to_string()))
    }

    fn whole(&mut self, number: u64, index: u32) -> Result<Arc<Chunk>, Error> {
        if let Some(chunk) = self.chunks.get(&(number, index)) {
            return Ok(Arc::clone(chunk));
        }
        let chunk = Arc::new(self.file(number)?.chunk(index)?);
        chunk.set_place(Place { file: number, index, rows: 0..chunk.rows() as u32 });
        self.chunks.insert((number, index), Arc::clone(&chunk));
        Ok(chunk)
    }

    fn file(&mut self, number: u64) -> Result<&ChunkFile, Error> {
        match self.open.entry(number) {
            Entry::Occupied(file) => Ok(file.into_mut()),
            Entry::Vacant(place) => {
                let path = self.files.path(number);
                let file = ChunkFile::open(&self.files.directory, &path, number)?;
                self.bytes += file.bytes();
                Ok(place.insert(file))
            }
        }
    }
}
