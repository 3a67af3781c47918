//! Opens a store with a data directory: reads the newest checkpoint, replays the journal after it
//! ([`super::replay`]), and continues the journal.
//!
//! Nobody sees the store, and nothing is written, before everything has been read.

use super::replay::Replay;
use super::{Options, Store, maintenance};
use crate::publishing::Publisher;
use crate::{Error, Failure};
use bucket::Place;
use durable::{Checkpoints, ChunkFiles, Cut, Decoder, Durable, Found};
use journal::disk::{Disk, RealDisk};
use journal::{Directory, Durability, Journal, NewDirectory, Position};
use sdds::{ServerId, Timestamp};
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Growth of the journal after which a store makes a checkpoint unless it is told otherwise, in bytes.
pub const CHECKPOINT_BYTES: u64 = 256 << 20;

/// Where the data of a store is, and how durable its commits are.
#[derive(Debug, Clone)]
pub struct Data {
    /// The data directory. It is created if it does not exist; its parent must exist.
    pub path: PathBuf,
    /// The disk that it is on.
    pub disk: Arc<dyn Disk>,
    /// How the journal works; [`Durability::Memory`] is refused.
    pub journal: journal::Options,
    /// What other processes that try to open the directory are told about this one.
    pub holder: String,
    /// A checkpoint is made when the journal has grown by this, in bytes.
    pub checkpoint_bytes: u64,
    /// Is told how far recovery is.
    pub progress: Progress,
    /// The identity of a directory that is created; random bits by default.
    pub identity: u64,
}

/// What a recovery reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoveryStage {
    /// The checkpoint, with its chunks.
    Checkpoint,
    /// The journal after it.
    Journal,
}

/// Is called for each chunk and each command during recovery, with the part of the stage that has been
/// read, 0 to 1.
#[derive(Clone)]
pub struct Progress(pub Arc<dyn Fn(RecoveryStage, f64) + Send + Sync>);

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}

impl Data {
    /// A directory of the file system, with usual settings.
    pub fn at(path: impl Into<PathBuf>, durability: Durability) -> Self {
        Self {
            path: path.into(),
            disk: Arc::new(RealDisk),
            journal: journal::Options { durability, ..journal::Options::default() },
            holder: format!("process {}", std::process::id()),
            checkpoint_bytes: CHECKPOINT_BYTES,
            progress: Progress(Arc::new(|_, _| ())),
            identity: RandomState::new().hash_one(Instant::now()),
        }
    }
}

/// Returns the server whose data a directory keeps; `None` if there is no data directory at the path.
///
/// # Errors
/// Damage, newer formats, and errors of the disk.
pub fn server_of(path: &Path) -> Result<Option<ServerId>, Error> {
    Ok(Directory::server_of(&RealDisk, path)?)
}

/// What was found in a data directory. Its text is one line for people.
#[derive(Debug, Clone)]
pub struct Recovery {
    /// The number and the position of the checkpoint; `None` without one.
    pub checkpoint: Option<(u64, Position)>,
    /// Why the newest checkpoint was not used, but the one before.
    pub refused: Option<String>,
    /// Commands that were replayed.
    pub commands: u64,
    /// Bytes of checkpoint, chunks and journal that were read.
    pub bytes: u64,
    /// Where a torn end of the journal was cut off: file and offset. No acknowledged commit was in it.
    pub cut: Option<(PathBuf, u64)>,
    /// Tables that were found, temporary ones not included.
    pub tables: u64,
    /// Rows that were found.
    pub rows: u64,
    /// How long it took.
    pub took: Duration,
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tables, rows, commands) = (self.tables, self.rows, self.commands);
        write!(f, "recovered {rows} rows of {tables} tables: ")?;
        match &self.checkpoint {
            Some((number, _)) => write!(f, "checkpoint {number} and {commands} commands")?,
            None => write!(f, "{commands} commands")?,
        }
        let (megabytes, seconds) = (self.bytes as f64 / 1e6, self.took.as_secs_f64());
        write!(f, ", {megabytes:.1} MB in {seconds:.2} s")?;
        if let Some(refused) = &self.refused {
            write!(f, "; the newest checkpoint was not used: {refused}")?;
        }
        if let Some((file, offset)) = &self.cut {
            let file = file.display();
            write!(f, "; an unfinished write was cut off at byte {offset} of {file}")?;
        }
        Ok(())
    }
}

impl Store {
    /// Opens a store with a data directory, and returns what was found in it. Another process cannot
    /// open the directory until the store is dropped.
    ///
    /// When the journal stops ([`Journal::until_stopped`]), memory and disk may differ: the process must
    /// end.
    ///
    /// # Errors
    /// Directories that are in use, no data directories, damaged or of newer formats: the message
    /// says where and what to do.
    pub fn open_durable(options: &Options, data: Data) -> Result<(Arc<Self>, Recovery), Error> {
        assert!(data.journal.durability != Durability::Memory, "memory needs no data directory");
        let begin = Instant::now();
        let parts = [durable::CHUNKS, durable::CHECKPOINTS];
        let Data { path, disk, journal: journal_options, holder, checkpoint_bytes, .. } = data;
        let progress = data.progress;
        let new = NewDirectory { random: data.identity, server: options.server };
        let directory = Directory::open_or_create(&disk, &path, &holder, new, &parts)?;
        refuse_other_server(&directory, options.server)?;
        let directory = Arc::new(directory);
        let chunks = ChunkFiles::open(&directory)?;
        let (mut checkpoints, found, refused) = Checkpoints::find(&directory)?;
        chunks.skip_to(checkpoints.floor());

        let store = Self::new(options);
        let mut replay = Replay::new(&store, Arc::clone(&chunks));
        let (mut bytes, mut restored) = (0, Timestamp::ZERO);
        if let Some(found) = &found {
            let cut = read_checkpoint(found, &mut replay, &progress)?;
            restored = cut.timestamp;
            replay.restore(cut);
            bytes += found.manifest.bytes();
        }
        let after = found.as_ref().map_or(Position::ZERO, |found| found.summary.position);
        let mut replayed = 0;
        let recovered = journal::recover(&directory, after, |command| {
            (progress.0)(RecoveryStage::Journal, command.progress);
            replayed += command.body.len() as u64;
            replay.take(&command)
        })?;
        checkpoints.note_replayed(replayed);
        bytes += recovered.bytes + replay.bytes();
        replay.finish(recovered.last);
        // A checkpoint has the newest versions only.
        let newest = store.snapshots.newest().timestamp;
        let readable_from = if options.in_cluster { restored } else { newest };
        store.readable_from.store(readable_from.0, Ordering::Release);
        store.holds.lock().required.forget(newest);

        let publisher =
            Publisher::new(Arc::clone(&store.snapshots), Arc::clone(&store.holds), recovered.last);
        let listener = Arc::clone(&publisher);
        let listener = Box::new(move |position| listener.advance(position));
        let journal =
            Journal::start(Arc::clone(&directory), &recovered, journal_options, listener)?;
        let journal = Arc::new(journal);
        let mut machine = store.machine();
        machine.log.continue_in(Arc::clone(&journal));
        machine.publisher = journal.is_synchronous().then_some(publisher);
        drop(machine);
        let durable = Arc::new(Durable::new(directory, journal, chunks, checkpoints));
        let _ = store.durable.set(durable);
        let store = Arc::new(store);
        if options.background {
            maintenance::start(&store, Arc::clone(&store.queue));
            maintenance::start_checkpoints(&store, checkpoint_bytes);
        }
        let files = &store.snapshots.newest().files;
        let recovery = Recovery {
            checkpoint: found.map(|found| (found.summary.number, found.summary.position)),
            refused: refused.map(|error| error.to_string()),
            commands: recovered.commands,
            bytes,
            cut: recovered.cut,
            tables: files.len() as u64,
            rows: files.values().map(|file| file.holdings().rows).sum(),
            took: begin.elapsed(),
        };
        Ok((store, recovery))
    }
}

/// Reads the state of a checkpoint. Chunk files are most of it, and are counted for the progress.
fn read_checkpoint(
    found: &Found,
    replay: &mut Replay<'_>,
    progress: &Progress,
) -> Result<Cut, journal::Error> {
    let all = found.summary.files.len().max(1) as f64;
    let mut begun = BTreeSet::new();
    replay.decode(|decoder| {
        let mut chunk = |place: &Place| {
            begun.insert(place.file);
            (progress.0)(RecoveryStage::Checkpoint, begun.len() as f64 / all);
            (decoder.chunk)(place)
        };
        found.manifest.read(&mut Decoder { layouts: decoder.layouts, chunk: &mut chunk })
    })
}

/// Refuses the directory of another server.
fn refuse_other_server(directory: &Directory, expected: ServerId) -> Result<(), Error> {
    let found = directory.server();
    if found == expected {
        return Ok(());
    }
    Err(Error::Failed(Box::new(Failure {
        sql_state: "55000".to_owned(),
        message: format!(
            "{} is the data directory of server {found} of a cluster, not of server {expected}",
            directory.path().display()
        ),
        hint: Some("Start it with --join and the address of the cluster.".to_owned()),
        ..Failure::default()
    })))
}
