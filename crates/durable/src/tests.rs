//! The bytes of format 1 of every kind of command and of a checkpoint. They must not change.

use super::*;
use crate::test_tables::{keyed, rows};
use bucket::{BucketState, Layout, Layouts, Place, RowEncoder, RowLayout, Run, TableWrites};
use catalog::{Catalog, CatalogChange, Relation, RelationId, Schema, Table, TableId};
use journal::disk::{Disk, MemoryDisk};
use journal::{NewDirectory, Position, recover};
use sdds::{Bound, BucketId, GroupId, Key, KeyRange, MoveId, ServerId, Timestamp, TransactionId};
use std::collections::BTreeMap;
use std::path::Path;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn key(byte: u8) -> Key {
    Key::from(&[byte][..])
}

/// A chunk that is said to be at a place.
fn placed() -> Arc<Chunk> {
    let columns = rows(&[(1, "a"), (2, "b")]).columns().to_vec();
    let chunk = Chunk::new(&Layout::of(&keyed("t")), columns).expect("sorted rows");
    chunk.set_place(Place { file: 7, index: 3, rows: 10..12 });
    Arc::new(chunk)
}

fn writes() -> WriteSet {
    let layout = RowLayout::new(Layout::of(&keyed("t")));
    let encoder = RowEncoder::new(&layout, rows(&[(5, "ab")]).columns());
    let mut table = TableWrites::default();
    table.put(key(1), Some(encoder.encode(0).expect("encoded")));
    table.put(key(2), None);
    table.put_run(Run::new(Timestamp::ZERO, vec![placed()]));
    WriteSet::unit(TableId(4), table)
}

fn state() -> BucketState {
    let mut state = BucketState::default();
    state.load(&Run::new(Timestamp(3), vec![placed()]), Timestamp(3));
    let layout = RowLayout::new(Layout::of(&keyed("t")));
    let encoder = RowEncoder::new(&layout, rows(&[(5, "ab")]).columns());
    let row = |at| Some(encoder.encode(at).expect("encoded"));
    state.write(key(1), row(0), Timestamp(4), Timestamp::ZERO);
    state.write(key(1), row(0), Timestamp(6), Timestamp::ZERO);
    state
}

fn commands() -> Vec<(Command, u16, &'static str)> {
    let schema = Schema { name: "s".to_owned(), comment: None };
    let range = KeyRange::new(Bound::At(key(1)), Bound::PosInf).expect("not empty");
    let table = TableId(4);
    let commit = Command::Commit {
        timestamp: Timestamp(9),
        catalog: vec![CatalogChange::CreateSchema(schema)],
        writes: writes(),
    };
    let of = MoveId { from: GroupId(2), number: 300 };
    let adopt = Command::Adopt { of, table, range: range.clone(), state: state(), accesses: 300 };
    let transaction = TransactionId { coordinator: ServerId(1), number: 130 };
    let schema = Schema { name: "s".to_owned(), comment: None };
    let prepare = Command::Prepare {
        transaction,
        catalog: vec![CatalogChange::CreateSchema(schema)],
        writes: writes(),
    };
    let frozen = Frozen { of, table, range: range.clone(), to: GroupId(3) };
    let install = Command::Install { timestamp: Timestamp(2), catalog: Arc::new(Catalog::new()) };
    vec![
        (
            commit,
            1,
            "010001730001040201010100020004010801001300050000000000000011000000020000006162010200010107030a0c0900000000000000",
        ),
        (Command::Split { table, at: key(5) }, 2, "040105"),
        (Command::Merge { table, low: Bound::NegInf }, 3, "0400"),
        (
            install,
            4,
            "0201067075626c6963000000067075626c6963000000000000010000000001067075626c696320",
        ),
        (
            adopt,
            13,
            "02ac020401010102ac0201030107030a0c02010106010002000401080100130005000000000000001100000002000000616201010401001300050000000000000011000000020000006162",
        ),
        (Command::Release { table, range }, 6, "0401010102"),
        (Command::SequenceAdvance { sequence: RelationId(6), last: -2, called: true }, 7, "060301"),
        (Command::RowIds { below: 64 }, 8, "8001"),
        (
            prepare,
            9,
            "018201010001730001040201010100020004010801001300050000000000000011000000020000006162010200010107030a0c",
        ),
        (Command::Decide { transaction, outcome: Some(Timestamp(9)) }, 10, "0182010109"),
        (Command::Decide { transaction, outcome: None }, 10, "01820100"),
        (Command::Freeze(frozen), 11, "02ac02040101010203"),
        (Command::Thaw { of }, 12, "02ac02"),
        (Command::SetFact { name: "n".to_owned(), value: Some(vec![1, 200]) }, 14, "016e010201c8"),
        (Command::SetFact { name: "n".to_owned(), value: None }, 14, "016e00"),
    ]
}

fn read(kind: u16, body: &[u8]) -> Result<Command, Flaw> {
    let mut layouts = Layouts::default();
    let mut chunk = |place: &Place| match place.file {
        7 => Ok(placed()),
        _ => Err(journal::Error::damaged(Path::new("a file"), 0, "it is missing")),
    };
    decode(kind, body, &mut Decoder { layouts: &mut layouts, chunk: &mut chunk })
}

/// The body of a command with the timestamp of a commit.
fn whole(command: &Command) -> (u16, Vec<u8>) {
    let (kind, mut body) = encode(command, &Catalog::new()).expect("it is logged");
    if let Command::Commit { timestamp, .. } = command {
        body.extend(timestamp.0.to_le_bytes());
    }
    (kind, body)
}

#[test]
fn every_kind_of_command_has_its_bytes() {
    for (command, kind, expected) in commands() {
        let (found, body) = whole(&command);
        assert_eq!((found, hex(&body).as_str()), (kind, expected), "{command}");
    }
}

#[test]
fn commands_are_read_back_and_damage_is_refused_without_a_panic() {
    for (command, ..) in commands() {
        let (kind, mut body) = whole(&command);
        let back = read(kind, &body).expect("decoded");
        assert_eq!(back.to_string(), command.to_string());
        assert_eq!(whole(&back), (kind, body.clone()), "{command}");
        for length in 0..body.len() {
            let _ = read(kind, &body[..length]);
        }
        for bit in 0..body.len() * 8 {
            body[bit / 8] ^= 1 << (bit % 8);
            let _ = read(kind, &body);
            body[bit / 8] ^= 1 << (bit % 8);
        }
    }
    assert!(matches!(read(99, &[]), Err(Flaw::Form(flaw)) if flaw.contains("unknown kind 99")));
}

#[test]
fn what_is_temporary_is_left_out() {
    let schema = catalog::temporary_schema(3);
    let definition = Schema { name: schema.clone(), comment: None };
    let create_schema = CatalogChange::CreateSchema(definition);
    let table = Table { id: TableId(4), schema, ..keyed("t") };
    let create = CatalogChange::Create(Relation::Table(Arc::new(table)));
    let changes = vec![create_schema.clone(), create.clone()];
    let commit = |catalog: Vec<CatalogChange>| Command::Commit {
        timestamp: Timestamp(1),
        catalog,
        writes: writes(),
    };
    let empty = Catalog::new();
    assert!(encode(&commit(changes), &empty).is_none(), "created in the same transaction");
    let with = empty.apply(&create_schema).and_then(|with| with.apply(&create)).expect("valid");
    assert!(encode(&commit(Vec::new()), &with).is_none(), "created before");
    assert!(encode(&Command::Split { table: TableId(4), at: key(5) }, &with).is_none());
    assert!(encode(&commit(Vec::new()), &empty).is_some(), "another table");
}

fn directory(disk: &MemoryDisk) -> Arc<Directory> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let parts = [CHUNKS, CHECKPOINTS];
    let directory = Directory::open_or_create(
        &disk,
        Path::new("/data"),
        "a test",
        NewDirectory::alone(7),
        &parts,
    );
    Arc::new(directory.expect("opened"))
}

fn cut() -> Cut {
    let bucket = BucketCut { id: BucketId(5), accesses: 300, state: Arc::new(state()) };
    let here = TileCut { low: Bound::NegInf, bucket: Some(bucket) };
    let elsewhere = TileCut { low: Bound::At(key(9)), bucket: None };
    Cut {
        position: Position::ZERO,
        index: 12,
        timestamp: Timestamp(6),
        catalog: Catalog::new(),
        counters: IdCounters { bucket: 8, relation: 5, row: 40, ..IdCounters::default() },
        sequences: BTreeMap::from([(RelationId(6), SequenceState { last: 3, called: true })]),
        cluster: ClusterState::default(),
        tables: vec![TableCut { id: TableId(4), tiles: vec![here, elsewhere] }],
    }
}

#[test]
fn a_checkpoint_has_its_bytes_and_is_read_back() {
    let disk = MemoryDisk::new();
    let directory = directory(&disk);
    let recovered = recover(&directory, Position::ZERO, |_| Ok(())).expect("empty");
    let journal = Journal::start(
        Arc::clone(&directory),
        &recovered,
        journal::Options::default(),
        Box::new(|_| ()),
    );
    let chunks = ChunkFiles::open(&directory).expect("opened");
    let (checkpoints, found, _) = Checkpoints::find(&directory).expect("none");
    assert!(found.is_none());
    let journal = Arc::new(journal.expect("started"));
    let durable = Durable::new(Arc::clone(&directory), journal, chunks, checkpoints);
    durable.checkpoint(cut).expect("written");

    let file = disk.read(Path::new("/data/checkpoints/0000000001.checkpoint")).expect("a file");
    let bodies = [0, 128, 256, 384].map(|at| hex(&file[at + 64..at + 128]));
    assert_eq!(
        bodies,
        [
            "000c06080550010106060101067075626c6963000000067075626c6963000000000000010000000001067075626c696320000000000000000000000000000000",
            "0402000105ac02010109000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
            "01030107030a0c010101060100020004010801001300050000000000000011000000020000006162000000000000000000000000000000000000000000000000",
            "01070000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        ]
    );

    let (_, found, _) = Checkpoints::find(&directory).expect("one");
    let found = found.expect("one");
    assert_eq!(found.summary.files, [7].into());
    let (mut layouts, mut chunk) = (Layouts::default(), |_: &Place| Ok(placed()));
    let mut decoder = Decoder { layouts: &mut layouts, chunk: &mut chunk };
    let back = found.manifest.read(&mut decoder).expect("decoded");
    let (expected, back) = (cut(), back);
    assert_eq!((back.index, back.timestamp), (expected.index, expected.timestamp));
    assert_eq!((back.counters, &back.sequences), (expected.counters, &expected.sequences));
    let tiles = &back.tables[0].tiles;
    assert_eq!((tiles.len(), tiles[1].bucket.is_none()), (2, true));
    let bucket = tiles[0].bucket.as_ref().expect("here");
    assert_eq!((bucket.id, bucket.accesses, bucket.state.rows()), (BucketId(5), 300, 3));
}

#[test]
fn chunks_of_every_type_come_back_from_their_file() {
    let disk = MemoryDisk::new();
    let directory = directory(&disk);
    let files = ChunkFiles::open(&directory).expect("opened");
    let (table, batch) = test_tables::every_type();
    let chunk = |batch: &arrow::array::RecordBatch, table: &Table| {
        Arc::new(Chunk::new(&Layout::of(table), batch.columns().to_vec()).expect("sorted"))
    };
    let wide = chunk(&batch, &table);
    let other = chunk(&rows(&[(1, "one"), (2, "two"), (3, "three")]), &keyed("t"));
    let pins = files.write(&[Arc::clone(&wide), Arc::clone(&other)]).expect("written");
    assert_eq!(files.floor(), 1, "the file is not referred to yet");
    drop(pins);
    assert_eq!(files.floor(), 2);
    let mut reader = ChunkReader::new(Arc::clone(&files));
    let back = reader.chunk(wide.place().expect("written")).expect("read");
    assert_eq!(back.columns(), wide.columns());
    let part = other.slice(1..3).expect("rows");
    let back = reader.chunk(part.place().expect("of its whole")).expect("read");
    assert_eq!((back.columns(), back.place()), (part.columns(), part.place()));
    files.remove_unused(2, &Default::default()).expect("removed");
    assert!(ChunkReader::new(files).chunk(wide.place().expect("written")).is_err());
}
