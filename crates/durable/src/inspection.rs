//! Says what a data directory contains, and whether it is sound, while no server has it open. Nothing
//! is changed in it.
//!
//! Files are read by the code that recovery uses. What recovery never reads is checked, too: the older
//! checkpoint, chunk files that nothing refers to, and the journal before the newest checkpoint.
//! Commands up to the oldest checkpoint are not decoded: chunks that they refer to may be gone. Not
//! here: whether the state that results from the commands is right.

use crate::chunk_files::{self, ChunkFiles, ChunkReader};
use crate::manifest::{self, Manifest, Summary};
use crate::runs::{Decoder, Flaw};
use crate::{CHECKPOINTS, CHUNKS, checkpoint, form};
use bucket::{Layouts, Place};
use journal::disk::Disk;
use journal::{Blocks, Directory, Error, FileSet, Origin, Position, Survey};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// What a data directory contains.
#[derive(Debug)]
pub struct Inspection {
    /// The identity of its files.
    pub set: FileSet,
    /// The journal. Its damages are in [`Self::damages`].
    pub log: Survey,
    /// The commands of the journal by their kinds.
    pub commands: BTreeMap<String, u64>,
    /// The checkpoints, oldest first.
    pub checkpoints: Vec<CheckpointFile>,
    /// The chunk files in the order of their numbers, also those that are missing.
    pub chunks: Vec<ChunksFile>,
    /// Files that belong to nothing, such as unfinished ones.
    pub others: Vec<PathBuf>,
    /// What is damaged; empty if the directory is sound.
    pub damages: Vec<Error>,
}

/// A checkpoint.
#[derive(Debug)]
pub struct CheckpointFile {
    /// Its path.
    pub file: PathBuf,
    /// Its number.
    pub number: u64,
    /// Its size in bytes, without chunks.
    pub bytes: u64,
    /// When it was made, if the disk knows.
    pub made: Option<SystemTime>,
    /// What is known of it without its tables; `None` if its bytes are damaged.
    pub summary: Option<Summary>,
    /// What it contains; `None` if that cannot be read, also because of damaged chunk files.
    pub contents: Option<Contents>,
}

/// What a checkpoint contains.
#[derive(Debug)]
pub struct Contents {
    /// The number of tables, without the files of indexes.
    pub tables: u64,
    /// The number of their rows.
    pub rows: u64,
    /// The index of its last command.
    index: u64,
}

/// A chunk file.
#[derive(Debug)]
pub struct ChunksFile {
    /// Its path.
    pub file: PathBuf,
    /// Its number.
    pub number: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The number of valid chunks.
    pub chunks: u64,
    /// The number of rows in them.
    pub rows: u64,
    /// Whether a checkpoint or a command refers to it.
    pub is_referenced: bool,
    /// Whether it does not exist, and something refers to it.
    pub is_missing: bool,
}

/// Inspects a data directory. `progress` is told how much of the journal has been read, 0 to 1.
///
/// # Errors
/// [`Error::Damaged`] and [`Error::Incomplete`] if its identity or a part of it is damaged or missing.
/// [`Error::Locked`] if a server has it open; other errors if it is no data directory, or cannot be
/// listed.
pub fn inspect(
    disk: &Arc<dyn Disk>,
    path: &Path,
    progress: impl Fn(f64),
) -> Result<Inspection, Error> {
    let parts = [CHUNKS, CHECKPOINTS];
    let directory = Arc::new(Directory::open_to_read(disk, path, &parts)?);
    let others = others(&directory, &parts)?;
    let mut inspector = Inspector::new(&directory)?;
    let manifests = inspector.open_checkpoints()?;
    inspector.read_chunks(&manifests)?;
    let checkpoints = inspector.read_checkpoints(manifests);
    let (mut log, commands) = inspector.read_log(&checkpoints, progress)?;
    let chunks = inspector.list_chunks();
    let mut damages = inspector.damages;
    damages.append(&mut log.damages);
    // What several commands refer to is damaged once.
    let mut known = BTreeSet::new();
    damages.retain(|error| known.insert(error.to_string()));
    Ok(Inspection { set: directory.set(), log, commands, checkpoints, chunks, others, damages })
}

/// Returns the paths of files that are no checkpoints, no chunk files and no part of the directory.
fn others(directory: &Directory, parts: &[&str]) -> Result<Vec<PathBuf>, Error> {
    let strangers = directory.strangers(parts)?;
    let mut others: Vec<PathBuf> =
        strangers.iter().map(|name| directory.path().join(name)).collect();
    for part in parts {
        let parent = directory.path().join(part);
        let names = directory.disk().list(&parent);
        let names = names.map_err(|error| Error::io("list", &parent, &error))?;
        let is_known = |name: &&String| match *part {
            CHUNKS => chunk_files::number_of(name).is_some(),
            _ => checkpoint::number_of(name).is_some(),
        };
        let unknown = names.iter().filter(|name| !is_known(name));
        others.extend(unknown.map(|name| parent.join(name)));
    }
    Ok(others)
}

/// A checkpoint, and its file if the bytes of that are valid.
type Opened = (CheckpointFile, Option<Manifest>);

struct Inspector {
    directory: Arc<Directory>,
    files: Arc<ChunkFiles>,
    reader: ChunkReader,
    layouts: Layouts,
    /// Chunk files on the disk, and those that checkpoints refer to.
    chunks: BTreeMap<u64, ChunksFile>,
    /// Chunk files that something refers to.
    referenced: BTreeSet<u64>,
    damages: Vec<Error>,
}

impl Inspector {
    fn new(directory: &Arc<Directory>) -> Result<Self, Error> {
        let files = ChunkFiles::open(directory)?;
        Ok(Self {
            directory: Arc::clone(directory),
            reader: ChunkReader::new(Arc::clone(&files)),
            files,
            layouts: Layouts::default(),
            chunks: BTreeMap::new(),
            referenced: BTreeSet::new(),
            damages: Vec::new(),
        })
    }

    /// Opens the checkpoints and checks their bytes.
    fn open_checkpoints(&mut self) -> Result<Vec<Opened>, Error> {
        let mut opened = Vec::new();
        for (number, file) in checkpoint::files(&self.directory)? {
            let manifest = Manifest::open(&self.directory, &file, number)
                .and_then(|manifest| Ok((manifest.summary()?, manifest)));
            let (summary, manifest) = match manifest {
                Ok((summary, manifest)) => (Some(summary), Some(manifest)),
                Err(error) => {
                    let label = manifest::label(number);
                    let all = Blocks::damages(&self.directory, &file, label);
                    self.damages.extend(if all.is_empty() { vec![error] } else { all });
                    (None, None)
                }
            };
            let made = self.directory.disk().modified(&file).ok();
            let bytes = self.size(&file);
            let contents = None;
            let checkpoint = CheckpointFile { file, number, bytes, made, summary, contents };
            opened.push((checkpoint, manifest));
        }
        Ok(opened)
    }

    /// Reads the chunk files on the disk and those that checkpoints refer to.
    fn read_chunks(&mut self, opened: &[Opened]) -> Result<(), Error> {
        let present = self.files.numbers()?;
        let summaries = opened.iter().filter_map(|(checkpoint, _)| checkpoint.summary.as_ref());
        let used: BTreeSet<u64> =
            summaries.flat_map(|summary| summary.files.iter().copied()).collect();
        for number in present.union(&used).copied() {
            let (chunks, rows, damages) = self.reader.read_all(number);
            self.damages.extend(damages);
            let mut file = self.chunks_file(number, !present.contains(&number));
            (file.chunks, file.rows) = (chunks, rows);
            self.chunks.insert(number, file);
        }
        self.referenced.extend(used);
        Ok(())
    }

    fn chunks_file(&self, number: u64, is_missing: bool) -> ChunksFile {
        let file = self.files.path(number);
        let bytes = if is_missing { 0 } else { self.size(&file) };
        ChunksFile { file, number, bytes, chunks: 0, rows: 0, is_referenced: false, is_missing }
    }

    /// Decodes the checkpoints whose bytes are valid.
    fn read_checkpoints(&mut self, opened: Vec<Opened>) -> Vec<CheckpointFile> {
        let mut checkpoints = Vec::new();
        for (mut checkpoint, manifest) in opened {
            if let Some(manifest) = manifest {
                match self.decode(|decoder| manifest.read(decoder)) {
                    Ok(cut) => {
                        let mut contents = Contents { tables: 0, rows: 0, index: cut.index };
                        let is_index = |id| cut.catalog.index_by_id(id).is_some();
                        for table in cut.tables.iter().filter(|table| !is_index(table.id)) {
                            contents.tables += 1;
                            contents.rows += table.states().map(|state| state.rows()).sum::<u64>();
                        }
                        checkpoint.contents = Some(contents);
                    }
                    Err(error) => self.damages.push(error),
                }
            }
            checkpoints.push(checkpoint);
        }
        checkpoints
    }

    /// Reads the journal; returns what is in it, and its commands by kind.
    fn read_log(
        &mut self,
        checkpoints: &[CheckpointFile],
        progress: impl Fn(f64),
    ) -> Result<(Survey, BTreeMap<String, u64>), Error> {
        let summaries = checkpoints.iter().filter_map(|checkpoint| checkpoint.summary.as_ref());
        let positions: Vec<Position> = summaries.map(|summary| summary.position).collect();
        // With damaged checkpoints only, it is not known which commands have all of their chunks.
        let after = match checkpoints.is_empty() {
            true => Some(Position::ZERO),
            false => positions.iter().min().copied(),
        };
        let mut commands: BTreeMap<String, u64> = BTreeMap::new();
        let mut previous: Option<(Position, Origin)> = None;
        let directory = Arc::clone(&self.directory);
        let log = journal::survey(&directory, &positions, |command, lacks_records| {
            progress(command.progress);
            let name = form::kind_name(command.kind);
            let name = name.map_or_else(|| format!("kind_{}", command.kind), str::to_owned);
            *commands.entry(name).or_default() += 1;
            let before = previous.replace((command.position, command.origin));
            let before = before.filter(|_| !lacks_records);
            if let Some((_, origin)) = before {
                command.expect(origin.group, origin.index + 1)?;
            }
            let last = before.map_or(Position::ZERO, |(position, _)| position);
            let index = index_between(checkpoints, last, command.position);
            if let Some(index) = index.filter(|_| !lacks_records) {
                command.expect(command.origin.group, index + 1)?;
            }
            if lacks_records || after.is_none_or(|after| command.position <= after) {
                return Ok(());
            }
            let decoded = self.decode(|decoder| form::decode(command.kind, command.body, decoder));
            decoded.map(drop).map_err(|flaw| match flaw {
                Flaw::Form(flaw) => command.damaged(flaw),
                Flaw::Chunk(error) => error,
            })
        })?;
        Ok((log, commands))
    }

    /// Returns all chunk files, also those that commands refer to and that are missing.
    fn list_chunks(&mut self) -> Vec<ChunksFile> {
        let mut chunks = std::mem::take(&mut self.chunks);
        for number in &self.referenced {
            let file = chunks.entry(*number).or_insert_with(|| self.chunks_file(*number, true));
            file.is_referenced = true;
        }
        chunks.into_values().collect()
    }

    /// Executes `work` with what is needed to decode commands and states, and notes which chunk files
    /// are referred to.
    fn decode<T>(&mut self, work: impl FnOnce(&mut Decoder<'_>) -> T) -> T {
        let (reader, referenced) = (&mut self.reader, &mut self.referenced);
        let mut chunk = |place: &Place| {
            referenced.insert(place.file);
            reader.chunk(place)
        };
        work(&mut Decoder { layouts: &mut self.layouts, chunk: &mut chunk })
    }

    /// Returns the size of a file in bytes; 0 if it cannot be read.
    fn size(&self, file: &Path) -> u64 {
        let contents = self.directory.disk().map(file);
        contents.map_or(0, |contents| contents.bytes().len() as u64)
    }
}

/// Returns the index of the last command that is in a checkpoint of which the position is at or after
/// `last` and before `next`.
fn index_between(checkpoints: &[CheckpointFile], last: Position, next: Position) -> Option<u64> {
    let is_between = |checkpoint: &&CheckpointFile| {
        let position = checkpoint.summary.as_ref().map(|summary| summary.position);
        position.is_some_and(|position| last <= position && position < next)
    };
    let checkpoint = checkpoints.iter().find(is_between)?;
    checkpoint.contents.as_ref().map(|contents| contents.index)
}
