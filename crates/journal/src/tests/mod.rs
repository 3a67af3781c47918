//! Tests of the whole journal on a disk in memory.

mod damage;
mod directories;
mod faults;
mod model;
mod running;
mod survey;

use crate::disk::{Disk, MemoryDisk};
use crate::{
    Body, Directory, Durability, Error, Journal, NewDirectory, Options, Origin, Position,
    Recovered, Room, recover,
};
use sdds::{Epoch, GroupId};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const HOME: &str = "/data";

fn home() -> PathBuf {
    PathBuf::from(HOME)
}

fn small() -> Options {
    Options { segment_bytes: 4096, ..Options::default() }
}

fn origin(index: u64) -> Origin {
    Origin { group: GroupId(0), epoch: Epoch(1), index }
}

fn open(disk: &MemoryDisk) -> Result<Directory, Error> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Directory::open_or_create(&disk, Path::new(HOME), "a test", NewDirectory::alone(7), &[])
}

/// The commands of a journal: position, kind and body.
type Commands = Vec<(u64, u16, Vec<u8>)>;

fn read_after(directory: &Directory, after: Position) -> Result<(Commands, Recovered), Error> {
    let mut commands = Commands::new();
    let recovered = recover(directory, after, |command| {
        commands.push((command.position.0, command.kind, command.body.to_vec()));
        Ok(())
    })?;
    Ok((commands, recovered))
}

/// Recovers a journal and continues it.
fn start(disk: &MemoryDisk, options: Options) -> Result<(Journal, Commands, Recovered), Error> {
    let directory = Arc::new(open(disk)?);
    let (commands, recovered) = read_after(&directory, Position::ZERO)?;
    let journal = Journal::start(directory, &recovered, options, Box::new(|_| ()))?;
    Ok((journal, commands, recovered))
}

/// Reads the commands of a disk.
fn commands(disk: &MemoryDisk) -> Result<Commands, Error> {
    Ok(read_after(&open(disk)?, Position::ZERO)?.0)
}

/// A body of a length without zeros, different for each seed.
fn body(seed: u64, length: usize) -> Vec<u8> {
    (0..length).map(|at| ((seed as usize * 31 + at * 7) % 251 + 1) as u8).collect()
}

fn room(journal: &Journal, length: usize) -> Result<Room, Error> {
    journal.room_blocking(length + 8)
}

fn append(journal: &Journal, seed: u64, length: usize) -> Result<Position, Error> {
    append_in(journal, room(journal, length)?, seed, length)
}

fn append_in(journal: &Journal, room: Room, seed: u64, length: usize) -> Result<Position, Error> {
    let body = Body::new(body(seed, length));
    journal.append(room, origin(seed), (seed % 7) as u16, &body, &(seed | 1 << 63).to_le_bytes())
}

/// What [`append`] has appended.
fn appended(seed: u64, length: usize) -> (u16, Vec<u8>) {
    let mut bytes = body(seed, length);
    bytes.extend((seed | 1 << 63).to_le_bytes());
    ((seed % 7) as u16, bytes)
}

fn asynchronous() -> Options {
    Options { durability: Durability::Async, ..small() }
}
