//! Files of blocks: chunks and checkpoints, which are written once and then only read.
//!
//! A block is a header of 64 bytes and a body, filled up with zeros to a multiple of 64. The last
//! block is the end, and nothing follows it.
//!
//! | offset | bytes | field of the header |
//! |---|---|---|
//! | 0 | 4 | CRC32C of the header from offset 4 on |
//! | 4 | 4 | CRC32C of the body and its filling |
//! | 8 | 4 | format version |
//! | 12 | 2 | kind of the body; 0 is the end, others are the writer's |
//! | 14 | 2 | zeros |
//! | 16 | 8 | length of the body |
//! | 24 | 8 | number of the block in the file, from 0 |
//! | 32 | 8 | number of the file |
//! | 40 | 8 | title: what the file is |
//! | 48 | 8 | zeros |
//! | 56 | 8 | file set |
//!
//! Bodies begin at multiples of 64, so that Arrow arrays can be used where they are.

use crate::disk::{Contents, DiskFile, is_full};
use crate::record::{FileSet, HEADER_BYTES, eight};
use crate::{Directory, Error};
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The newest format version that this program reads, and the one that it writes.
const FORMAT: u32 = 1;

/// The kind of the last block.
const END: u16 = 0;

/// Blocks begin at multiples of this.
const ALIGNMENT: usize = 64;

/// Blocks are collected to this size before they are written, in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// What identifies a file of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// What the file is.
    pub title: [u8; 8],
    /// The number in the name of the file.
    pub number: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header {
    body_crc: u32,
    kind: u16,
    body_bytes: u64,
    number: u64,
    label: Label,
    set: FileSet,
}

impl Header {
    fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[4..8].copy_from_slice(&self.body_crc.to_le_bytes());
        bytes[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.kind.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.body_bytes.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.number.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.label.number.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.label.title);
        bytes[56..64].copy_from_slice(&self.set.bits().to_le_bytes());
        let crc = crc32c::crc32c(&bytes[4..]);
        bytes[..4].copy_from_slice(&crc.to_le_bytes());
        bytes
    }
}

/// Writes a file of blocks.
#[derive(Debug)]
pub struct BlockWriter {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    label: Label,
    set: FileSet,
    buffer: Vec<u8>,
    written: u64,
    blocks: u64,
}

impl BlockWriter {
    /// Creates a file in a data directory.
    ///
    /// # Errors
    /// [`Error::Full`]; those of the disk.
    pub fn create(directory: &Directory, path: &Path, label: Label) -> Result<Self, Error> {
        let file = directory.disk().create(path, 0).map_err(|error| failed(path, 0, &error))?;
        let (path, set) = (path.to_owned(), directory.set());
        Ok(Self { file, path, label, set, buffer: Vec::new(), written: 0, blocks: 0 })
    }

    /// Appends a block. Its kind is not 0.
    ///
    /// # Errors
    /// [`Error::Full`]; those of the disk.
    pub fn put(&mut self, kind: u16, body: &[u8]) -> Result<(), Error> {
        assert!(kind != END, "the end is written by finish");
        self.append(kind, body)
    }

    /// Ends the file and makes it durable, except its name. Returns its size in bytes.
    ///
    /// # Errors
    /// [`Error::Full`]; those of the disk.
    pub fn finish(mut self) -> Result<u64, Error> {
        self.append(END, &[])?;
        self.write()?;
        self.file.sync().map_err(|error| failed(&self.path, 0, &error))?;
        Ok(self.written)
    }

    fn append(&mut self, kind: u16, body: &[u8]) -> Result<(), Error> {
        let filled = body.len().next_multiple_of(ALIGNMENT);
        let filling = &[0; ALIGNMENT][..filled - body.len()];
        let header = Header {
            body_crc: crc32c::crc32c_append(crc32c::crc32c(body), filling),
            kind,
            body_bytes: body.len() as u64,
            number: self.blocks,
            label: self.label,
            set: self.set,
        };
        self.buffer.extend_from_slice(&header.encode());
        self.buffer.extend_from_slice(body);
        self.buffer.extend_from_slice(filling);
        self.blocks += 1;
        if self.buffer.len() >= BUFFER_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), Error> {
        let written = self.file.write_at(&self.buffer, self.written);
        written.map_err(|error| failed(&self.path, self.buffer.len(), &error))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

fn failed(path: &Path, bytes: usize, error: &std::io::Error) -> Error {
    match is_full(error) {
        true => Error::Full { path: path.to_owned(), bytes: bytes as u64 },
        false => Error::io("write", path, error),
    }
}

/// A file of blocks that has been read, and every byte of it checked.
#[derive(Debug, Clone)]
pub struct Blocks {
    path: PathBuf,
    contents: Arc<dyn Contents>,
    blocks: Vec<(u16, Range<usize>)>,
}

impl Blocks {
    /// Opens and checks a file.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Newer`]; those of the disk.
    pub fn open(directory: &Directory, path: &Path, label: Label) -> Result<Self, Error> {
        let contents = open(directory, path)?;
        let blocks = check(contents.bytes(), path, label, directory.set())?;
        Ok(Self { path: path.to_owned(), contents, blocks })
    }

    /// Returns all that [`Self::open`] refuses in a file: it goes on after a block with a damaged body.
    /// After a damaged header it is not known where the next block begins.
    pub fn damages(directory: &Directory, path: &Path, label: Label) -> Vec<Error> {
        let contents = match open(directory, path) {
            Ok(contents) => contents,
            Err(error) => return vec![error],
        };
        let (bytes, mut damages, mut at) = (contents.bytes(), Vec::new(), 0);
        for number in 0.. {
            match block(bytes, at, path, label, directory.set(), number) {
                Ok(block) => {
                    damages.extend(block.flaw);
                    at = block.end;
                    if block.kind == END {
                        break;
                    }
                }
                Err(error) => {
                    damages.push(error);
                    break;
                }
            }
        }
        // Of a file that is whole up to its end, the rest may be wrong.
        if damages.is_empty() {
            damages.extend(check(bytes, path, label, directory.set()).err());
        }
        damages
    }

    /// Returns the number of blocks, the end not included.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns the kind and the body of a block; `None` after the last.
    pub fn get(&self, number: usize) -> Option<(u16, &[u8])> {
        let (kind, place) = self.blocks.get(number)?;
        Some((*kind, &self.contents.bytes()[place.clone()]))
    }

    /// Returns the kinds and bodies of all blocks.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &[u8])> {
        (0..self.len()).filter_map(|number| self.get(number))
    }

    /// Returns the contents of the file, and where the body of a block is in them; `None` after the
    /// last.
    pub fn place(&self, number: usize) -> Option<(&Arc<dyn Contents>, Range<usize>)> {
        let (_, place) = self.blocks.get(number)?;
        Some((&self.contents, place.clone()))
    }

    /// Returns the size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.contents.bytes().len() as u64
    }

    /// Returns the error of a block whose body cannot be decoded.
    pub fn damaged(&self, number: usize, flaw: impl Into<String>) -> Error {
        let offset = self.blocks.get(number).map_or(self.bytes(), |(_, at)| at.start as u64);
        Error::damaged(&self.path, offset, flaw)
    }
}

fn open(directory: &Directory, path: &Path) -> Result<Arc<dyn Contents>, Error> {
    directory.disk().map(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::damaged(path, 0, "the file is missing"),
        _ => Error::io("read", path, &error),
    })
}

/// Finds the blocks of a file, and checks every byte.
fn check(
    bytes: &[u8],
    path: &Path,
    label: Label,
    set: FileSet,
) -> Result<Vec<(u16, Range<usize>)>, Error> {
    let mut blocks = Vec::new();
    let mut at = 0;
    loop {
        let number = blocks.len() as u64;
        let block = block(bytes, at, path, label, set, number);
        let Block { kind, body, end, flaw } = block?;
        if let Some(flaw) = flaw {
            return Err(flaw);
        }
        at = end;
        if kind != END {
            blocks.push((kind, body));
        } else if at == bytes.len() {
            return Ok(blocks);
        } else {
            return Err(Error::damaged(path, at as u64, "it continues after its end"));
        }
    }
}

/// A block whose header is valid.
struct Block {
    kind: u16,
    body: Range<usize>,
    /// Where the next one begins.
    end: usize,
    /// What is wrong with its body.
    flaw: Option<Error>,
}

/// Reads the block at a place.
fn block(
    bytes: &[u8],
    at: usize,
    path: &Path,
    label: Label,
    set: FileSet,
    number: u64,
) -> Result<Block, Error> {
    let damaged = |flaw: &str| Error::damaged(path, at as u64, flaw);
    let head = bytes.get(at..).and_then(<[u8]>::first_chunk::<HEADER_BYTES>);
    let head = head.ok_or_else(|| damaged("it ends early"))?;
    let header = decode(head).map_err(|flaw| match flaw {
        Flaw::Checksum => damaged("the checksum of a block's header does not fit"),
        Flaw::Newer(found) => Error::Newer { path: path.to_owned(), found, known: FORMAT },
    })?;
    if (header.label, header.set) != (label, set) {
        return Err(damaged("it is another file, or of another data directory"));
    }
    if header.number != number {
        return Err(damaged("its blocks are out of order"));
    }
    let start = at + HEADER_BYTES;
    let length = usize::try_from(header.body_bytes).ok();
    let filled = length.and_then(|length| length.checked_next_multiple_of(ALIGNMENT));
    let end = filled.and_then(|filled| start.checked_add(filled));
    let body = end.and_then(|end| bytes.get(start..end));
    let (Some(length), Some(end), Some(body)) = (length, end, body) else {
        return Err(damaged("it ends early"));
    };
    let is_whole = crc32c::crc32c(body) == header.body_crc;
    let flaw = (!is_whole).then(|| damaged("the checksum of a block's body does not fit"));
    Ok(Block { kind: header.kind, body: start..start + length, end, flaw })
}

enum Flaw {
    Checksum,
    Newer(u32),
}

fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Header, Flaw> {
    let four =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    if four(0) != crc32c::crc32c(&bytes[4..]) {
        return Err(Flaw::Checksum);
    }
    if four(8) > FORMAT {
        return Err(Flaw::Newer(four(8)));
    }
    let mut title = [0; 8];
    title.copy_from_slice(&bytes[40..48]);
    Ok(Header {
        body_crc: four(4),
        kind: u16::from_le_bytes([bytes[12], bytes[13]]),
        body_bytes: eight(bytes, 16),
        number: eight(bytes, 24),
        label: Label { title, number: eight(bytes, 32) },
        set: FileSet::from_bits(eight(bytes, 56)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewDirectory;
    use crate::disk::{Disk, MemoryDisk};

    const LABEL: Label = Label { title: *b"TESTFILE", number: 9 };

    fn written() -> (MemoryDisk, Directory, PathBuf) {
        let disk = MemoryDisk::new();
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let home = Path::new("/data");
        let directory =
            Directory::open_or_create(&shared, home, "a test", NewDirectory::alone(7), &[]);
        let directory = directory.expect("created");
        let path = home.join("file");
        let mut writer = BlockWriter::create(&directory, &path, LABEL).expect("created");
        writer.put(1, b"one").expect("written");
        writer.put(2, &[7; 64]).expect("written");
        writer.put(3, &[]).expect("written");
        assert_eq!(writer.finish().expect("durable"), 64 * 4 + 64 * 2);
        (disk, directory, path)
    }

    fn read(directory: &Directory, path: &Path) -> Result<Vec<(u16, Vec<u8>)>, Error> {
        let blocks = Blocks::open(directory, path, LABEL)?;
        Ok(blocks.iter().map(|(kind, body)| (kind, body.to_vec())).collect())
    }

    #[test]
    fn blocks_are_read_back_at_aligned_places() {
        let (_, directory, path) = written();
        let blocks = Blocks::open(&directory, &path, LABEL).expect("valid");
        let found: Vec<(u16, &[u8])> = blocks.iter().collect();
        assert_eq!(found, [(1, &b"one"[..]), (2, &[7; 64]), (3, &[])]);
        assert!(
            (0..3).all(|number| blocks.place(number).is_some_and(|(_, at)| at.start % 64 == 0))
        );
        let other = Label { number: 8, ..LABEL };
        let error = Blocks::open(&directory, &path, other).expect_err("renamed").to_string();
        assert!(error.contains("it is another file"), "{error}");
    }

    #[test]
    fn every_flipped_bit_and_every_truncation_is_refused() {
        let (disk, directory, path) = written();
        let length = disk.read(&path).expect("a file").len();
        let refused = |what: &str| {
            let error = read(&directory, &path).expect_err(what).to_string();
            assert!(error.contains("/data/file is damaged at byte"), "{what}: {error}");
        };
        for bit in 0..length * 8 {
            disk.tamper(&path, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
            refused(&format!("bit {bit}"));
            disk.tamper(&path, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
        }
        let whole = disk.read(&path).expect("a file");
        for length in 0..length {
            disk.tamper(&path, |bytes| bytes.truncate(length));
            refused(&format!("{length} bytes"));
            disk.tamper(&path, |bytes| bytes.clone_from(&whole));
        }
        disk.tamper(&path, |bytes| bytes.push(0));
        refused("one byte more");
    }

    #[test]
    fn all_damages_of_a_file_are_found() {
        let (disk, directory, path) = written();
        let places = || {
            let found = Blocks::damages(&directory, &path, LABEL);
            let place = |error: &Error| match error {
                Error::Damaged { offset, .. } => Some(*offset),
                _ => None,
            };
            found.iter().map(place).collect::<Vec<_>>()
        };
        assert_eq!(places(), []);
        // The bodies of the first two blocks, and the header of the end.
        for at in [64, 192, 320] {
            disk.tamper(&path, |bytes| bytes[at] ^= 1);
        }
        assert_eq!(places(), [Some(0), Some(128), Some(320)]);
        for at in [64, 192, 320] {
            disk.tamper(&path, |bytes| bytes[at] ^= 1);
        }
        disk.tamper(&path, |bytes| bytes.push(0));
        assert_eq!(places(), [Some(384)]);
        disk.remove(&path).expect("removed");
        assert_eq!(places(), [Some(0)]);
    }

    /// The bytes of format 1. They must not change.
    #[test]
    fn a_block_has_the_bytes_of_its_format() {
        let (disk, _, path) = written();
        let bytes = disk.read(&path).expect("a file");
        let hex: String = bytes[..72].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            concat!(
                "fb16b30a84f30fc7",
                "01000000",
                "0100",
                "0000",
                "0300000000000000",
                "0000000000000000",
                "0900000000000000",
                "5445535446494c45",
                "0000000000000000",
                "0700000000000000",
                "6f6e650000000000",
            )
        );
    }
}
