//! The file system of the operating system.

use super::{Contents, Disk, DiskFile, Lock, Locking};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// Data directories hold rows and password verifiers: only their owner may read them.
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

/// The file system of the operating system.
#[derive(Debug, Default, Clone, Copy)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create(&self, path: &Path, bytes: u64) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)?;
        allocate(&file, bytes)?;
        Ok(Arc::new(RealFile(file)))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(RealFile(OpenOptions::new().write(true).open(path)?)))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn read_start(&self, path: &Path, bytes: usize) -> io::Result<Vec<u8>> {
        let mut start = Vec::with_capacity(bytes);
        File::open(path)?.take(bytes as u64).read_to_end(&mut start)?;
        Ok(start)
    }

    fn map(&self, path: &Path) -> io::Result<Arc<dyn Contents>> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Arc::new(Vec::new()));
        }
        // SAFETY: The file is in the data directory, whose lock this process holds, and the caller
        // promises that it does not change any more. A process that changes it regardless can crash
        // this one or change what it reads, as it could through the memory of a debugger.
        let map = unsafe { memmap2::Mmap::map(&file)? };
        Ok(Arc::new(Mapped(map)))
    }

    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        std::fs::metadata(path)?.modified()
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(directory)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort_unstable();
        Ok(names)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        DirBuilder::new().mode(DIRECTORY_MODE).create(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn lock(&self, path: &Path, holder: &str) -> io::Result<Locking> {
        let options =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let mut file = options.open(path)?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0)?;
                file.write_all(holder.as_bytes())?;
                Ok(Locking::Locked(Box::new(LockedFile(file))))
            }
            Err(TryLockError::WouldBlock) => held(file),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn lock_to_read(&self, path: &Path) -> io::Result<Locking> {
        let file = File::open(path)?;
        match file.try_lock_shared() {
            Ok(()) => Ok(Locking::Locked(Box::new(LockedFile(file)))),
            Err(TryLockError::WouldBlock) => held(file),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Reads who holds a lock.
fn held(mut file: File) -> io::Result<Locking> {
    let mut holder = String::new();
    file.rewind()?;
    file.read_to_string(&mut holder)?;
    Ok(Locking::HeldBy(holder))
}

/// Allocates room. File systems that cannot do this get a file with holes.
fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => file.set_len(bytes),
        done => Ok(done?),
    }
}

#[derive(Debug)]
struct RealFile(File);

impl DiskFile for RealFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// The lock belongs to the open file, and ends when that is closed.
#[derive(Debug)]
struct LockedFile(#[expect(dead_code, reason = "held, not read")] File);

impl Lock for LockedFile {}

#[derive(Debug)]
struct Mapped(memmap2::Mmap);

impl Contents for Mapped {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
}
