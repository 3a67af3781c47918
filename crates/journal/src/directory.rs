//! The data directory of a server: what is where, who has it open, and which directories are refused.
//!
//! ```text
//! DIRECTORY/
//!   IDENTITY           which program and format it is of, and the file set; written last
//!   LOCK               locked by the server that has it open, whose name is in it
//!   journal/           segments
//!   ...                what the owner of the journal adds
//! ```
//!
//! `IDENTITY` is text: lines `pando data directory`, `format N`, `set HEX` and `checksum HEX`, the
//! CRC32C of the lines before. In format 2 there is a line `group N` after the set, the number of
//! the server, which is that of the group that it has founded; format 1 is of server 0.

use crate::disk::{Disk, Lock, Locking, is_full};
use crate::{Error, FileSet};
use sdds::ServerId;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the file that identifies a data directory.
pub(crate) const IDENTITY: &str = "IDENTITY";
const UNFINISHED_IDENTITY: &str = "IDENTITY.new";
const LOCK: &str = "LOCK";
const JOURNAL: &str = "journal";

/// The first line of the identity.
const TITLE: &str = "pando data directory";

/// The format version of a directory of server 0.
const FORMAT_ALONE: u32 = 1;

/// The newest format version of the directory that this program opens.
const FORMAT: u32 = 2;

/// What is decided when a directory is created.
#[derive(Debug, Clone, Copy)]
pub struct NewDirectory {
    /// Bits for its identity.
    pub random: u64,
    /// The server whose data it keeps.
    pub server: ServerId,
}

impl NewDirectory {
    /// The directory of a single server, or of the first one of a cluster.
    pub fn alone(random: u64) -> Self {
        Self { random, server: ServerId(0) }
    }
}

/// An open data directory. Dropping it releases the lock.
#[derive(Debug)]
pub struct Directory {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    set: FileSet,
    server: ServerId,
    /// `None` for a reader of a directory that has no lock file.
    _lock: Option<Box<dyn Lock>>,
}

impl Directory {
    /// Opens a data directory, or creates it if the path does not exist. Its parent must exist.
    /// `holder` names this process to others, for example `process 123`; `parts` are the names of
    /// further directories in it.
    ///
    /// # Errors
    /// [`Error::Locked`], and refusals of directories that are no data directories:
    /// [`Error::Empty`], [`Error::Foreign`], [`Error::Incomplete`], [`Error::Newer`],
    /// [`Error::Damaged`].
    pub fn open_or_create(
        disk: &Arc<dyn Disk>,
        path: &Path,
        holder: &str,
        new: NewDirectory,
        parts: &[&str],
    ) -> Result<Self, Error> {
        match disk.create_directory(path) {
            Ok(()) => Self::create(disk, path, holder, new, parts),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Self::open(disk, path, holder, parts)
            }
            Err(error) => Err(Error::io("create", path, &error)),
        }
    }

    fn create(
        disk: &Arc<dyn Disk>,
        path: &Path,
        holder: &str,
        new: NewDirectory,
        parts: &[&str],
    ) -> Result<Self, Error> {
        let lock = lock(&**disk, path, holder)?;
        for part in parts.iter().chain(&[JOURNAL]) {
            let part = path.join(part);
            let created = disk.create_directory(&part);
            created.map_err(|error| Error::io("create", &part, &error))?;
        }
        // The identity says that everything else is there.
        sync_directory(&**disk, path)?;
        let (set, server) = (FileSet::from_bits(new.random), new.server);
        let text = identity(set, server);
        let (unfinished, finished) = (path.join(UNFINISHED_IDENTITY), path.join(IDENTITY));
        write_file(&**disk, &unfinished, text.as_bytes())?;
        let renamed = disk.rename(&unfinished, &finished);
        renamed.map_err(|error| Error::io("rename", &unfinished, &error))?;
        for directory in [Some(path), path.parent()].into_iter().flatten() {
            sync_directory(&**disk, directory)?;
        }
        Ok(Self { disk: Arc::clone(disk), path: path.to_owned(), set, server, _lock: Some(lock) })
    }

    fn open(
        disk: &Arc<dyn Disk>,
        path: &Path,
        holder: &str,
        parts: &[&str],
    ) -> Result<Self, Error> {
        let found = Self::find(disk, path, parts, || lock(&**disk, path, holder).map(Some))?;
        // The process that created it may have been killed before it did this.
        for directory in [Some(path), path.parent()].into_iter().flatten() {
            sync_directory(&**disk, directory)?;
        }
        Ok(found)
    }

    /// Opens an existing data directory to read it. Nothing is changed in it; other readers may have
    /// it open, too. A server that is started meanwhile is refused.
    ///
    /// # Errors
    /// As [`Self::open_or_create`].
    pub fn open_to_read(disk: &Arc<dyn Disk>, path: &Path, parts: &[&str]) -> Result<Self, Error> {
        Self::find(disk, path, parts, || lock_to_read(&**disk, path))
    }

    /// Locks a directory and checks what it is.
    fn find(
        disk: &Arc<dyn Disk>,
        path: &Path,
        parts: &[&str],
        lock: impl Fn() -> Result<Option<Box<dyn Lock>>, Error>,
    ) -> Result<Self, Error> {
        let names = disk.list(path).map_err(|error| Error::io("list", path, &error))?;
        let has = |name: &str| names.iter().any(|other| other == name);
        if !has(IDENTITY) {
            if has(LOCK) {
                // Another process may be creating it.
                drop(lock()?);
            }
            return Err(refusal(&**disk, path, &names, parts));
        }
        let lock = lock()?;
        let file = path.join(IDENTITY);
        let bytes = disk.read(&file).map_err(|error| Error::io("read", &file, &error))?;
        let (set, server) = read_identity(&file, &bytes)?;
        if let Some(part) = parts.iter().chain(&[JOURNAL]).find(|part| !has(part)) {
            return Err(Error::Incomplete {
                path: path.to_owned(),
                missing: format!("the directory {part} is missing"),
                advice: "restore it from a backup or a replica",
            });
        }
        Ok(Self { disk: Arc::clone(disk), path: path.to_owned(), set, server, _lock: lock })
    }

    /// Returns the disk that it is on.
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the identity of its files.
    pub fn set(&self) -> FileSet {
        self.set
    }

    /// Returns the server whose data it keeps.
    pub fn server(&self) -> ServerId {
        self.server
    }

    /// Returns the server of a data directory without opening it; `None` if there is nothing at the path.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Newer`], those of the disk. `None` is returned for a directory without an
    /// identity, which cannot be opened either.
    pub fn server_of(disk: &dyn Disk, path: &Path) -> Result<Option<ServerId>, Error> {
        let file = path.join(IDENTITY);
        match disk.read(&file) {
            Ok(bytes) => read_identity(&file, &bytes).map(|(_, server)| Some(server)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &file, &error)),
        }
    }

    /// Returns the names in it that belong neither to it nor to `parts`.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn strangers(&self, parts: &[&str]) -> Result<Vec<String>, Error> {
        let names = self.disk.list(&self.path);
        let mut names = names.map_err(|error| Error::io("list", &self.path, &error))?;
        let ours = [IDENTITY, LOCK, JOURNAL];
        names.retain(|name| !ours.contains(&&**name) && !parts.contains(&&**name));
        Ok(names)
    }

    /// Returns the directory of segments.
    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }
}

/// Why a directory without an identity is refused.
fn refusal(disk: &dyn Disk, path: &Path, names: &[String], parts: &[&str]) -> Error {
    let is_written = |part: &&str| {
        // What cannot be listed may have data.
        names.iter().any(|name| name == part)
            && disk.list(&path.join(part)).map_or(true, |files| !files.is_empty())
    };
    let has_data = parts.iter().chain(&[JOURNAL]).any(is_written);
    let path = path.to_owned();
    let ours = |name: &String| {
        [LOCK, JOURNAL, UNFINISHED_IDENTITY].contains(&name.as_str()) || parts.contains(&&**name)
    };
    match names.iter().find(|name| !ours(name)) {
        Some(found) if *found != "lost+found" || names.len() > 1 => {
            Error::Foreign { path, found: found.clone() }
        }
        None if has_data => Error::Incomplete {
            path,
            missing: format!("the file {IDENTITY} is missing"),
            advice: "keep what is there, and restore the file from a copy or the directory from a backup",
        },
        None if !names.is_empty() => Error::Incomplete {
            path,
            missing: "its creation was interrupted".to_owned(),
            advice: "remove it and start again, it has no data yet",
        },
        _ => Error::Empty { path },
    }
}

fn lock(disk: &dyn Disk, path: &Path, holder: &str) -> Result<Box<dyn Lock>, Error> {
    let file = path.join(LOCK);
    match disk.lock(&file, holder).map_err(|error| Error::io("lock", &file, &error))? {
        Locking::Locked(lock) => Ok(lock),
        Locking::HeldBy(holder) => Err(Error::Locked { path: path.to_owned(), holder }),
    }
}

/// Locks a directory to read it. Without a lock file nobody has it open.
fn lock_to_read(disk: &dyn Disk, path: &Path) -> Result<Option<Box<dyn Lock>>, Error> {
    let file = path.join(LOCK);
    match disk.lock_to_read(&file) {
        Ok(Locking::Locked(lock)) => Ok(Some(lock)),
        Ok(Locking::HeldBy(holder)) => Err(Error::Locked { path: path.to_owned(), holder }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("lock", &file, &error)),
    }
}

/// Returns the text of an identity.
fn identity(set: FileSet, server: ServerId) -> String {
    let lines = match server {
        ServerId(0) => format!("{TITLE}\nformat {FORMAT_ALONE}\nset {set}\n"),
        server => format!("{TITLE}\nformat {FORMAT}\nset {set}\ngroup {server}\n"),
    };
    let checksum = crc32c::crc32c(lines.as_bytes());
    format!("{lines}checksum {checksum:08x}\n")
}

fn read_identity(path: &Path, bytes: &[u8]) -> Result<(FileSet, ServerId), Error> {
    let damaged = |flaw: &str| Error::damaged(path, 0, flaw);
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is no text"))?;
    let (lines, checksum) = text.split_once("checksum ").ok_or_else(|| damaged("it ends early"))?;
    let expected = format!("{:08x}\n", crc32c::crc32c(lines.as_bytes()));
    if checksum != expected {
        return Err(damaged("its checksum does not fit"));
    }
    let mut lines = lines.lines();
    if lines.next() != Some(TITLE) {
        return Err(damaged("it is of another program"));
    }
    let format = lines.next().and_then(|line| line.strip_prefix("format ")?.parse().ok());
    let format: u32 = format.ok_or_else(|| damaged("it has no format"))?;
    if format > FORMAT {
        return Err(Error::Newer { path: path.to_owned(), found: format, known: FORMAT });
    }
    let set =
        lines.next().and_then(|line| u64::from_str_radix(line.strip_prefix("set ")?, 16).ok());
    let set = set.map(FileSet::from_bits).ok_or_else(|| damaged("it has no file set"))?;
    let server = match format {
        FORMAT_ALONE => Some(0),
        _ => lines.next().and_then(|line| line.strip_prefix("group ")?.parse().ok()),
    };
    Ok((set, server.map(ServerId).ok_or_else(|| damaged("it has no group"))?))
}

/// Writes a new file durably, except its name.
///
/// # Errors
/// Those of the disk.
pub fn write_file(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |error: std::io::Error| {
        let directory = path.parent().unwrap_or(path).to_owned();
        match is_full(&error) {
            true => Error::Full { path: directory, bytes: bytes.len() as u64 },
            false => Error::io("write", path, &error),
        }
    };
    let file = disk.create(path, bytes.len() as u64).map_err(failed)?;
    file.write_at(bytes, 0).map_err(failed)?;
    file.sync().map_err(failed)
}

/// Makes the names in a directory durable.
///
/// # Errors
/// Those of the disk.
pub fn sync_directory(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    disk.sync_directory(path).map_err(|error| Error::io("sync", path, &error))
}
