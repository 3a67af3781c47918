//! The checkpoints of a data directory: two are kept, and what they do not need is removed.

use crate::chunk_files::ChunkFiles;
use crate::cut::Cut;
use crate::manifest::{self, Manifest, Summary};
use journal::{Directory, Error, Journal, sync_directory};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The directory of checkpoints within a data directory.
pub const CHECKPOINTS: &str = "checkpoints";

/// The ending of the names of checkpoints.
const ENDING: &str = ".checkpoint";
/// The ending of the name of one that is being written.
const UNFINISHED: &str = ".new";

/// Checkpoints that are kept.
const KEPT: usize = 2;

/// A checkpoint that is kept.
#[derive(Debug, Clone)]
pub struct KeptCheckpoint {
    /// What is known of it.
    pub summary: Summary,
    /// Its size in bytes, without chunks.
    pub bytes: u64,
    /// When it was made.
    pub made: SystemTime,
}

/// The checkpoints of a data directory.
#[derive(Debug, Default)]
pub struct Checkpoints {
    /// The valid ones, oldest first.
    kept: Vec<KeptCheckpoint>,
    /// The greatest number in the directory.
    last: u64,
    /// Bytes that the journal had appended at the last checkpoint.
    journal_bytes: u64,
    /// Bytes of the journal that were replayed on top of the checkpoint that was found; 0 once there is a later one.
    replayed: u64,
}

/// The newest checkpoint that is valid.
#[derive(Debug)]
pub struct Found {
    /// Its contents.
    pub manifest: Manifest,
    /// What is known of it.
    pub summary: Summary,
}

fn file_name(number: u64) -> String {
    format!("{number:010}{ENDING}")
}

/// Returns the number in the name of a file; `None` if it is another file.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    let number = name.strip_suffix(ENDING)?.parse().ok()?;
    (file_name(number) == name).then_some(number)
}

fn parent(directory: &Directory) -> PathBuf {
    directory.path().join(CHECKPOINTS)
}

fn names(directory: &Directory) -> Result<Vec<String>, Error> {
    let parent = parent(directory);
    directory.disk().list(&parent).map_err(|error| Error::io("list", &parent, &error))
}

/// Returns the numbers and paths of the checkpoints in a directory, oldest first.
///
/// # Errors
/// Those of the disk.
pub(crate) fn files(directory: &Directory) -> Result<BTreeMap<u64, PathBuf>, Error> {
    let names = names(directory)?;
    let numbers = names.iter().filter_map(|name| number_of(name));
    Ok(numbers.map(|number| (number, parent(directory).join(file_name(number)))).collect())
}

fn modified(directory: &Directory, path: &Path) -> Result<SystemTime, Error> {
    directory.disk().modified(path).map_err(|error| Error::io("read", path, &error))
}

impl Checkpoints {
    /// Finds the checkpoints of a directory; returns the newest valid one, and why newer ones are not
    /// valid.
    ///
    /// # Errors
    /// [`Error::Damaged`] if there are checkpoints and none is valid; [`Error::Newer`]; those of the
    /// disk.
    pub fn find(directory: &Directory) -> Result<(Self, Option<Found>, Option<Error>), Error> {
        let files = files(directory)?;
        let mut found: Option<Found> = None;
        let mut refused = None;
        let mut checkpoints =
            Self { last: files.keys().last().copied().unwrap_or(0), ..Self::default() };
        for (number, path) in files.into_iter().rev() {
            let opened = Manifest::open(directory, &path, number)
                .and_then(|manifest| Ok((manifest.summary()?, manifest)));
            match opened {
                Ok((summary, manifest)) => {
                    let (bytes, made) = (manifest.bytes(), modified(directory, &path)?);
                    let kept = KeptCheckpoint { summary: summary.clone(), bytes, made };
                    checkpoints.kept.insert(0, kept);
                    found.get_or_insert(Found { manifest, summary });
                }
                Err(error @ Error::Newer { .. }) => return Err(error),
                Err(error) => drop(refused.get_or_insert(error)),
            }
        }
        match (&found, refused) {
            (None, Some(error)) => Err(error),
            (_, refused) => Ok((checkpoints, found, refused)),
        }
    }

    /// Notes how many bytes of the journal were replayed on top of the checkpoint that was found.
    pub fn note_replayed(&mut self, bytes: u64) {
        self.replayed = bytes;
    }

    /// Returns a number that is greater than those of all chunk files that were removed.
    pub fn floor(&self) -> u64 {
        self.kept.iter().map(|kept| kept.summary.floor).max().unwrap_or(0)
    }

    /// Returns the checkpoints that are kept, oldest first.
    pub(crate) fn kept(&self) -> &[KeptCheckpoint] {
        &self.kept
    }

    /// Returns the bytes of the journal since the last checkpoint, of those that this process appended in all.
    pub(crate) fn journal_growth(&self, appended: u64) -> u64 {
        (self.replayed + appended).saturating_sub(self.journal_bytes)
    }

    /// Writes a checkpoint and removes what is not needed any more. Returns its size in bytes.
    ///
    /// # Errors
    /// [`Error::Full`]; those of the disk.
    pub(crate) fn make(
        &mut self,
        directory: &Directory,
        journal: &Journal,
        chunks: &Arc<ChunkFiles>,
        floor: u64,
        cut: Cut,
    ) -> Result<u64, Error> {
        let journal_bytes = journal.figures().bytes;
        let _pins = chunks.write(&cut.chunks())?;
        let number = self.last + 1;
        let parent = parent(directory);
        let (finished, unfinished) =
            (parent.join(file_name(number)), parent.join(file_name(number) + UNFINISHED));
        self.remove(directory, &(file_name(number) + UNFINISHED))?;
        let written = manifest::write(directory, &unfinished, number, floor, &cut);
        let (summary, bytes) = match written {
            Ok(written) => written,
            Err(error) => {
                self.remove(directory, &(file_name(number) + UNFINISHED))?;
                return Err(error);
            }
        };
        journal.wait_durable(cut.position)?;
        let renamed = directory.disk().rename(&unfinished, &finished);
        renamed.map_err(|error| Error::io("rename", &unfinished, &error))?;
        sync_directory(&**directory.disk(), &parent)?;
        self.last = number;
        (self.journal_bytes, self.replayed) = (journal_bytes, 0);
        let made = modified(directory, &finished)?;
        self.kept.push(KeptCheckpoint { summary, bytes, made });
        drop(cut);
        self.remove_unneeded(directory, journal, chunks)?;
        Ok(bytes)
    }

    fn remove_unneeded(
        &mut self,
        directory: &Directory,
        journal: &Journal,
        chunks: &ChunkFiles,
    ) -> Result<(), Error> {
        let extra = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..extra);
        let is_kept = |name: &str| {
            let is_one = |number: u64| self.kept.iter().any(|kept| kept.summary.number == number);
            number_of(name).is_some_and(is_one)
        };
        for name in names(directory)?.iter().filter(|name| !is_kept(name)) {
            self.remove(directory, name)?;
        }
        sync_directory(&**directory.disk(), &parent(directory))?;
        // With one checkpoint, the journal from its beginning is what replaces it.
        if let (KEPT, Some(oldest)) = (self.kept.len(), self.kept.first()) {
            journal.retire(oldest.summary.position)?;
            let used: BTreeSet<u64> =
                self.kept.iter().flat_map(|kept| kept.summary.files.clone()).collect();
            chunks.remove_unused(oldest.summary.floor, &used)?;
        }
        Ok(())
    }

    fn remove(&self, directory: &Directory, name: &str) -> Result<(), Error> {
        let path = parent(directory).join(name);
        match directory.disk().remove(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::io("remove", &path, &error))
            }
            _ => Ok(()),
        }
    }
}
