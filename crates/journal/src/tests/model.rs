//! Random runs with crashes against a model: the list of commands that were appended.

use super::*;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    /// Appends a command of this length.
    Append(usize),
    /// Appends, and waits until it is durable.
    Commit(usize),
    /// Appends, and writes it in this thread.
    WriteHere(usize),
    /// Removes segments up to the last durable command.
    Retire,
    /// Stops and starts.
    Restart,
    /// A power cut, and a start.
    Crash(u64),
    /// A kill, and a start.
    Kill,
}

fn step() -> impl Strategy<Value = Step> {
    let length = || prop_oneof![4 => 0usize..300, 1 => 300usize..3000];
    prop_oneof![
        6 => length().prop_map(Step::Append),
        6 => length().prop_map(Step::Commit),
        6 => length().prop_map(Step::WriteHere),
        1 => Just(Step::Retire),
        1 => Just(Step::Restart),
        1 => any::<u64>().prop_map(Step::Crash),
        1 => Just(Step::Kill),
    ]
}

/// The commands that must be there, and those that may.
#[derive(Default)]
struct Model {
    commands: Commands,
    durable: usize,
    /// A checkpoint contains the commands up to this position.
    kept_after: Position,
    seed: u64,
}

impl Model {
    fn append(&mut self, journal: &Journal, length: usize) -> Position {
        self.append_in(journal, length, room(journal, length))
    }

    fn append_here(&mut self, journal: &Journal, length: usize) -> Position {
        self.append_in(journal, length, room(journal, length).map(Room::written_here))
    }

    fn append_in(
        &mut self,
        journal: &Journal,
        length: usize,
        room: Result<Room, Error>,
    ) -> Position {
        self.seed += 1;
        let room = room.expect("room");
        let position = append_in(journal, room, self.seed, length).expect("appended");
        let (kind, body) = appended(self.seed, length);
        self.commands.push((position.0, kind, body));
        position
    }

    fn start(&mut self, disk: &MemoryDisk) -> Journal {
        let directory = Arc::new(open(disk).expect("opened"));
        let (found, recovered) = read_after(&directory, self.kept_after).expect("valid");
        let skipped = self.commands.iter().filter(|c| c.0 <= self.kept_after.0).count();
        let length = skipped + found.len();
        assert!(length >= self.durable && length <= self.commands.len());
        assert_eq!(found[..], self.commands[skipped..length]);
        self.commands.truncate(length);
        self.durable = length;
        Journal::start(directory, &recovered, small(), Box::new(|_| ())).expect("started")
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn a_journal_is_the_list_of_its_commands(steps in prop::collection::vec(step(), 1..60)) {
        let mut disk = MemoryDisk::new();
        let mut model = Model::default();
        let mut journal = model.start(&disk);
        for step in steps {
            match step {
                Step::Append(length) => drop(model.append(&journal, length)),
                Step::Commit(length) => {
                    let position = model.append(&journal, length);
                    journal.wait_committed(position).expect("durable");
                    model.durable = model.commands.len();
                }
                Step::WriteHere(length) => {
                    let position = model.append_here(&journal, length);
                    journal.write_here(position);
                    assert!(journal.durable_position() >= position);
                    model.durable = model.commands.len();
                }
                Step::Retire => {
                    if let Some((position, ..)) = model.commands[..model.durable].last() {
                        model.kept_after = Position(*position);
                        journal.retire(model.kept_after).expect("removed");
                    }
                }
                Step::Restart => {
                    drop(journal);
                    model.durable = model.commands.len();
                    journal = model.start(&disk);
                }
                Step::Crash(seed) => {
                    disk = disk.crash(seed);
                    drop(std::mem::replace(&mut journal, model.start(&disk)));
                }
                Step::Kill => {
                    disk = disk.kill();
                    drop(std::mem::replace(&mut journal, model.start(&disk)));
                }
            }
        }
    }
}
