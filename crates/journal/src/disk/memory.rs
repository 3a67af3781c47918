//! A disk in memory: it loses what was not synced when it crashes, and fails on request.
//!
//! A crash keeps or loses each sector that was written since the last sync of its file, and each
//! name that was changed since the last sync of its directory, as a seed decides. Names are changed
//! one by one: a renamed file may come back under both names or the old one.

use super::{Contents, Disk, DiskFile, Lock, Locking};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

const SECTOR: usize = 512;

/// A fault of a [`MemoryDisk`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The write of this number fails; the first is 0. It writes half of its sectors.
    Write(u64),
    /// The sync of this number, of a file or a directory, fails; the first is 0. What it should have
    /// made durable is lost in a crash, even if it is synced again.
    Sync(u64),
}

/// A disk in memory. Clones are the same disk.
#[derive(Debug, Clone)]
pub struct MemoryDisk(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// Current names, and those that survive a crash.
    names: BTreeMap<PathBuf, Node>,
    durable_names: BTreeMap<PathBuf, Node>,
    locks: BTreeMap<PathBuf, String>,
    fault: Option<Fault>,
    writes: u64,
    syncs: u64,
    capacity: u64,
    /// After a crash, files that are still open fail.
    is_dead: bool,
}

#[derive(Debug, Clone)]
enum Node {
    Directory,
    File(Arc<Mutex<Bytes>>),
}

#[derive(Debug, Default, Clone)]
struct Bytes {
    current: Vec<u8>,
    durable: Vec<u8>,
    /// Sectors that a sync would make durable.
    dirty: BTreeSet<usize>,
}

impl Default for MemoryDisk {
    fn default() -> Self {
        Self::of(BTreeMap::new(), u64::MAX)
    }
}

impl MemoryDisk {
    /// Creates an empty disk without limits.
    pub fn new() -> Self {
        Self::default()
    }

    fn of(names: BTreeMap<PathBuf, Node>, capacity: u64) -> Self {
        Self(Arc::new(Mutex::new(State {
            durable_names: names.clone(),
            names,
            locks: BTreeMap::new(),
            fault: None,
            writes: 0,
            syncs: 0,
            capacity,
            is_dead: false,
        })))
    }

    /// Plans a fault; it replaces the previous one.
    pub fn plan(&self, fault: Fault) {
        self.0.lock().fault = Some(fault);
    }

    /// Limits the sum of the sizes of all files, in bytes.
    pub fn limit(&self, bytes: u64) {
        self.0.lock().capacity = bytes;
    }

    /// Returns the numbers of writes and of syncs so far.
    pub fn operations(&self) -> (u64, u64) {
        let state = self.0.lock();
        (state.writes, state.syncs)
    }

    /// Returns what a power cut leaves; `seed` decides what was written of what was not synced. Files
    /// that are open on this disk fail from now on.
    pub fn crash(&self, seed: u64) -> Self {
        let mut state = self.0.lock();
        state.is_dead = true;
        let mut coin = Coin(seed);
        let mut left = BTreeMap::new();
        let paths: BTreeSet<&PathBuf> =
            state.names.keys().chain(state.durable_names.keys()).collect();
        for path in paths {
            let (now, durable) = (state.names.get(path), state.durable_names.get(path));
            let survivor = if coin.toss() { now } else { durable };
            match survivor {
                Some(Node::Directory) => drop(left.insert(path.clone(), Node::Directory)),
                Some(Node::File(bytes)) => {
                    let bytes = bytes.lock().after_crash(&mut coin);
                    left.insert(path.clone(), Node::File(Arc::new(Mutex::new(bytes))));
                }
                None => {}
            }
        }
        // A directory that is gone has taken its files with it.
        let gone: Vec<PathBuf> = left
            .keys()
            .filter(|path| path.parent().is_some_and(|of| is_named(of) && !left.contains_key(of)))
            .cloned()
            .collect();
        gone.iter().for_each(|path| drop(left.remove(path)));
        Self::of(left, state.capacity)
    }

    /// Returns what a kill of the process leaves: everything that was written. What was not synced can
    /// still be lost by a crash.
    pub fn kill(&self) -> Self {
        let mut state = self.0.lock();
        state.is_dead = true;
        let mut copies: BTreeMap<*const Mutex<Bytes>, Node> = BTreeMap::new();
        let mut copied = |node: &Node| match node {
            Node::Directory => Node::Directory,
            Node::File(bytes) => {
                let copy = || Node::File(Arc::new(Mutex::new(bytes.lock().clone())));
                copies.entry(Arc::as_ptr(bytes)).or_insert_with(copy).clone()
            }
        };
        let mut all = |names: &BTreeMap<PathBuf, Node>| -> BTreeMap<PathBuf, Node> {
            names.iter().map(|(path, node)| (path.clone(), copied(node))).collect()
        };
        let (names, durable_names) = (all(&state.names), all(&state.durable_names));
        let left = Self::of(names, state.capacity);
        left.0.lock().durable_names = durable_names;
        left
    }

    /// Replaces a file by changed bytes, durably: damage, or a file of another origin.
    pub fn tamper(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.0.lock();
        let mut bytes = match state.names.get(path) {
            Some(Node::File(bytes)) => bytes.lock().current.clone(),
            _ => Vec::new(),
        };
        change(&mut bytes);
        let bytes = Bytes { durable: bytes.clone(), current: bytes, dirty: BTreeSet::new() };
        let node = Node::File(Arc::new(Mutex::new(bytes)));
        state.names.insert(path.to_owned(), node.clone());
        state.durable_names.insert(path.to_owned(), node);
    }

    /// Returns the paths of all files, sorted.
    pub fn files(&self) -> Vec<PathBuf> {
        let state = self.0.lock();
        let files = state.names.iter().filter(|(_, node)| matches!(node, Node::File(_)));
        files.map(|(path, _)| path.clone()).collect()
    }

    fn state(&self) -> io::Result<parking_lot::MutexGuard<'_, State>> {
        let state = self.0.lock();
        if state.is_dead { Err(io::Error::other("the disk has crashed")) } else { Ok(state) }
    }
}

/// Whether a path names a directory other than the roots, which always exist.
fn is_named(path: &Path) -> bool {
    !path.as_os_str().is_empty() && path != Path::new("/")
}

/// A source of decisions: splitmix64.
struct Coin(u64);

impl Coin {
    fn toss(&mut self) -> bool {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) & 1 == 1
    }
}

impl Bytes {
    fn after_crash(&self, coin: &mut Coin) -> Self {
        let mut left = self.durable.clone();
        for sector in &self.dirty {
            if coin.toss() {
                copy_sector(&self.current, &mut left, *sector);
            }
        }
        Self { current: left.clone(), durable: left, dirty: BTreeSet::new() }
    }

    fn write(&mut self, bytes: &[u8], offset: usize) {
        let end = offset + bytes.len();
        if self.current.len() < end {
            self.current.resize(end, 0);
        }
        self.current[offset..end].copy_from_slice(bytes);
        self.dirty.extend(offset / SECTOR..end.div_ceil(SECTOR));
    }

    fn sync(&mut self) {
        self.durable.resize(self.current.len(), 0);
        for sector in std::mem::take(&mut self.dirty) {
            copy_sector(&self.current, &mut self.durable, sector);
        }
    }
}

fn copy_sector(from: &[u8], to: &mut Vec<u8>, sector: usize) {
    let (start, end) = (sector * SECTOR, (sector * SECTOR + SECTOR).min(from.len()));
    if to.len() < end {
        to.resize(end, 0);
    }
    to[start..end].copy_from_slice(&from[start..end]);
}

impl State {
    fn file(&self, path: &Path) -> io::Result<Arc<Mutex<Bytes>>> {
        match self.names.get(path) {
            Some(Node::File(bytes)) => Ok(Arc::clone(bytes)),
            Some(Node::Directory) => Err(ErrorKind::IsADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    fn used(&self) -> u64 {
        let sizes = self.names.values().map(|node| match node {
            Node::Directory => 0,
            Node::File(bytes) => bytes.lock().current.len() as u64,
        });
        sizes.sum()
    }

    fn refuse_full(&self, more: u64) -> io::Result<()> {
        let is_full = self.used() + more > self.capacity;
        if is_full { Err(ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    /// Whether the sync that begins now fails.
    fn fails_to_sync(&mut self) -> bool {
        self.syncs += 1;
        self.fault == Some(Fault::Sync(self.syncs - 1))
    }
}

fn failed() -> io::Error {
    io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error())
}

impl Disk for MemoryDisk {
    fn create(&self, path: &Path, bytes: u64) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state()?;
        if state.names.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        state.refuse_full(bytes)?;
        let current = vec![0; bytes as usize];
        let file = Bytes { durable: current.clone(), current, dirty: BTreeSet::new() };
        let file = Arc::new(Mutex::new(file));
        state.names.insert(path.to_owned(), Node::File(Arc::clone(&file)));
        Ok(Arc::new(MemoryFile { disk: self.clone(), bytes: file }))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let bytes = self.state()?.file(path)?;
        Ok(Arc::new(MemoryFile { disk: self.clone(), bytes }))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = self.state()?.file(path)?;
        let bytes = file.lock();
        Ok(bytes.current.clone())
    }

    fn read_start(&self, path: &Path, bytes: usize) -> io::Result<Vec<u8>> {
        let mut start = self.read(path)?;
        start.truncate(bytes);
        Ok(start)
    }

    fn map(&self, path: &Path) -> io::Result<Arc<dyn Contents>> {
        Ok(Arc::new(self.read(path)?))
    }

    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        self.state()?.file(path)?;
        Ok(SystemTime::UNIX_EPOCH)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let state = self.state()?;
        if is_named(directory) && !state.names.contains_key(directory) {
            return Err(ErrorKind::NotFound.into());
        }
        let inside = state.names.keys().filter(|path| path.parent() == Some(directory));
        let names = inside.filter_map(|path| path.file_name());
        Ok(names.map(|name| name.to_string_lossy().into_owned()).collect())
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state()?;
        if state.names.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        state.names.insert(path.to_owned(), Node::Directory);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state()?;
        let node = state.names.remove(from).ok_or(ErrorKind::NotFound)?;
        state.names.insert(to.to_owned(), node);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.state()?.names.remove(path).ok_or(ErrorKind::NotFound)?;
        Ok(())
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state()?;
        if state.fails_to_sync() {
            return Err(failed());
        }
        let inside = |of: &PathBuf| of.parent() == Some(path);
        state.durable_names.retain(|of, _| !inside(of));
        let now: Vec<_> = state.names.iter().filter(|(of, _)| inside(of)).collect();
        let now: Vec<_> = now.into_iter().map(|(of, node)| (of.clone(), node.clone())).collect();
        state.durable_names.extend(now);
        Ok(())
    }

    fn lock(&self, path: &Path, holder: &str) -> io::Result<Locking> {
        let mut state = self.state()?;
        if let Some(holder) = state.locks.get(path) {
            return Ok(Locking::HeldBy(holder.clone()));
        }
        let file = || Node::File(Arc::default());
        state.names.entry(path.to_owned()).or_insert_with(file);
        state.locks.insert(path.to_owned(), holder.to_owned());
        Ok(Locking::Locked(Box::new(MemoryLock { disk: self.clone(), path: path.to_owned() })))
    }

    fn lock_to_read(&self, path: &Path) -> io::Result<Locking> {
        self.state()?.file(path)?;
        self.lock(path, "a reader")
    }
}

#[derive(Debug)]
struct MemoryFile {
    disk: MemoryDisk,
    bytes: Arc<Mutex<Bytes>>,
}

impl DiskFile for MemoryFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.disk.state()?;
        let growth =
            (offset + bytes.len() as u64).saturating_sub(self.bytes.lock().current.len() as u64);
        state.refuse_full(growth)?;
        state.writes += 1;
        if state.fault == Some(Fault::Write(state.writes - 1)) {
            let half = (offset as usize + bytes.len() / 2) / SECTOR * SECTOR;
            let written = half.saturating_sub(offset as usize);
            self.bytes.lock().write(&bytes[..written], offset as usize);
            return Err(failed());
        }
        self.bytes.lock().write(bytes, offset as usize);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.state()?;
        if state.fails_to_sync() {
            self.bytes.lock().dirty.clear();
            return Err(failed());
        }
        self.bytes.lock().sync();
        Ok(())
    }
}

#[derive(Debug)]
struct MemoryLock {
    disk: MemoryDisk,
    path: PathBuf,
}

impl Lock for MemoryLock {}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.disk.0.lock().locks.remove(&self.path);
    }
}
