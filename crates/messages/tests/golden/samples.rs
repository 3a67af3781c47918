//! One sample of each message.

use bytes::Bytes;
use messages::{
    Adjustment, DirectoryAnswer, DirectoryRequest, Envelope, Heartbeat, HeartbeatAnswer, ImageInfo,
    MoveAnswer, MoveInfo, MoveOrder, MoveRequest, RootAnswer, RootRequest, RowsAnswer, RowsRequest,
    ServerReport, Target, TransactionAnswer, TransactionRequest, WireReader, WireWrite, decode,
};
use messages::{Member, Members, ServerLoad, TableLoad};
use sdds::balancing::Sizes;
use sdds::directory::{Content, Entry, Image, Level, Message, Owner as GroupOwner, Request, Root};
use sdds::{
    Bound, ClientId, Epoch, GroupId, Key, KeyRange, MoveId, RequestId, ServerId, Timestamp,
};
use std::num::NonZeroU64;
use store::catalog::{Catalog, CatalogChange, RelationId, Sequence, TableId};
use store::locks::{Mode, Owner, Party, Space};
use store::{
    Error, ExchangeId, Failure, Finding, IndexChanges, LockPolicy, MoveSetting, MoveSettings,
    RequiredLocks, RowLocks, TableTotal, Traffic, TransactionId,
};

fn key(byte: u8) -> Key {
    Key::from(&[byte][..])
}

fn range() -> KeyRange {
    KeyRange::new(Bound::At(key(1)), Bound::PosInf).expect("not empty")
}

fn entry() -> Entry {
    Entry { range: range(), owner: GroupOwner { group: GroupId(2), epoch: Epoch(3) } }
}

fn adjustment() -> Adjustment {
    Adjustment::of(TableId(5), 1, vec![entry()])
}

pub(super) fn transaction() -> TransactionId {
    TransactionId { coordinator: ServerId(1), number: 300 }
}

fn party() -> Party {
    Party { server: ServerId(1), number: 9 }
}

fn owner() -> Owner {
    Owner { party: party(), transaction: 4 }
}

fn locks() -> RequiredLocks {
    RequiredLocks { owner: owner(), count: 2 }
}

fn sequence() -> Sequence {
    Sequence {
        id: RelationId(6),
        schema: "public".into(),
        name: "s".into(),
        start: 1,
        increment: -1,
        min: -10,
        max: 10,
        cycle: true,
        owned_by: None,
        comment: None,
    }
}

fn member() -> Member {
    Member {
        server: ServerId(1),
        name: "two".into(),
        address: "b:1".into(),
        pg: Some("b:2".into()),
        weight: 100,
        is_lost: false,
        keeps_data: true,
        has_started: true,
        has_left: false,
        start: 3,
    }
}

pub(super) fn members() -> Members {
    let moves = MoveSettings { is_paused: true, bytes_per_second: NonZeroU64::new(1000) };
    Members { version: 8, list: vec![member()], moves }
}

fn load() -> ServerLoad {
    let (table, bytes, rows, buckets) = (TableId(5), 1000, 10, 2);
    let table = TableLoad { table, bytes, rows, buckets, accesses: 3, bucket_size: 4096 };
    ServerLoad { tables: vec![table], is_moving: true, newest: Timestamp(7) }
}

fn reader() -> WireReader {
    WireReader {
        timestamp: Timestamp(7),
        transaction: Some(transaction()),
        changes: vec![CatalogChange::DropSchema("old".into())],
        savepoint: 1,
        has_written: true,
        locks: Some(party()),
        waits: true,
    }
}

fn target() -> Target {
    Target { table: TableId(5), version: 2, hops: 1 }
}

fn blob<T: From<Bytes>>() -> T {
    Bytes::from_static(&[0xab, 0xcd]).into()
}

fn of() -> MoveId {
    MoveId { from: GroupId(2), number: 11 }
}

fn adopt() -> Message<()> {
    Message::Adopt { range: range(), epoch: Epoch(3), from: GroupId(2), content: Content::Rows }
}

/// Index 5 loses the entry 1 and gets the entry 2 of row 3.
fn entries() -> IndexChanges {
    decode(&[1, 5, 1, 1, 1, 1, 1, 2, 1, 3]).expect("changes of one index")
}

pub(super) fn envelope() -> Envelope {
    Envelope { from: Some(ServerId(1)), to: Some(ServerId(300)), request: RootRequest::Now.into() }
}

pub(super) fn root_requests() -> Vec<RootRequest> {
    let (server, name, address) = (ServerId(1), "two".to_owned(), "b:1".to_owned());
    let heartbeat = Heartbeat {
        server,
        start: 3,
        oldest: Timestamp(5),
        settled: Timestamp(4),
        members: 8,
        load: load(),
        pg: Some("b:2".into()),
    };
    let number = (Space::Two, -1);
    vec![
        RootRequest::Join {
            start: 3,
            name: name.clone(),
            address: address.clone(),
            weight: 100,
            keeps_data: true,
        },
        RootRequest::Return { start: 3, server, name: name.clone(), address, cluster: 7 },
        RootRequest::Leave { server, start: 3, is_empty: true },
        RootRequest::Heartbeat(heartbeat),
        RootRequest::Members,
        RootRequest::Now,
        RootRequest::Next { count: 300 },
        RootRequest::Decide {
            transaction: transaction(),
            others: vec![GroupId(2)],
            members: Some(8),
            locks: Some(locks()),
        },
        RootRequest::Outcome { transaction: transaction() },
        RootRequest::SequenceNext { sequence: sequence(), count: 32 },
        RootRequest::SequenceSet { sequence: sequence(), last: -1, called: true },
        RootRequest::SequenceLast { sequence: sequence() },
        RootRequest::SetWeight { name, weight: 0 },
        RootRequest::ChangeMoves { change: MoveSetting::BytesPerSecond(NonZeroU64::new(1000)) },
        RootRequest::LockNumber {
            owner: owner(),
            number,
            mode: Mode::Exclusive,
            waits: true,
            sent: 300,
            settled: 299,
        },
        RootRequest::UnlockNumbers {
            owner: owner(),
            one: Some((number, Mode::Share)),
            sent: 301,
            settled: 301,
        },
        RootRequest::Start,
    ]
}

pub(super) fn root_answers() -> Vec<RootAnswer> {
    let order = MoveOrder {
        table: TableId(5),
        to: GroupId(2),
        size_max: 1000,
        sizes: Sizes::of(1000, 10),
        reason: "because".into(),
    };
    let heartbeat = HeartbeatAnswer {
        now: Timestamp(9),
        horizon: Timestamp(5),
        generation: 3,
        members: Some(members()),
        totals: vec![(TableId(5), TableTotal { rows: 10, bytes: 1000 })],
        orders: vec![order],
    };
    vec![
        RootAnswer::Done,
        RootAnswer::Joined {
            member: member(),
            members: members(),
            catalog: Box::new(Catalog::new()),
            timestamp: Timestamp(9),
            cluster: Some(7),
        },
        RootAnswer::Heartbeat(Box::new(heartbeat)),
        RootAnswer::Members(members()),
        RootAnswer::Timestamp(Timestamp(9)),
        RootAnswer::Outcome(Some(Timestamp(9))),
        RootAnswer::Value(Some(-1)),
        RootAnswer::Locked(true),
        RootAnswer::Start(3),
    ]
}

pub(super) fn rows_requests() -> Vec<RowsRequest> {
    let rows = RowLocks { keys: vec![key(1)], mode: Mode::ForUpdate, policy: LockPolicy::Skip };
    let exchange = ExchangeId { coordinator: ServerId(1), number: 12 };
    let write = WireWrite::Delete(vec![key(1)]);
    vec![
        RowsRequest::Get {
            reader: reader(),
            target: target(),
            keys: vec![key(1)],
            columns: vec![0, 2],
        },
        RowsRequest::Newest { target: target(), key: key(1), columns: vec![0] },
        RowsRequest::Entries { reader: reader(), target: target(), range: range(), limit: 10 },
        RowsRequest::Unchanged { table: TableId(5), since: Timestamp(5), now: Timestamp(9) },
        RowsRequest::RowOperation { target: target(), key: key(1), operation: blob() },
        RowsRequest::Write { reader: reader(), target: target(), write, step: 2 },
        RowsRequest::DmlPushdown { reader: reader(), target: target(), pushdown: blob(), step: 2 },
        RowsRequest::Lock { reader: reader(), target: target(), rows, step: 2 },
        RowsRequest::Waits,
        RowsRequest::Run { reader: reader(), hops: 1, fragment: blob() },
        RowsRequest::Take { exchange, part: 3 },
        RowsRequest::Describe { name: "runs".into() },
        RowsRequest::Report,
        RowsRequest::Publish { notifications: blob() },
        RowsRequest::Call { target: target(), key: key(1), id: transaction(), call: blob() },
        RowsRequest::EndCall { id: transaction() },
    ]
}

pub(super) fn writes() -> Vec<WireWrite> {
    vec![
        WireWrite::Insert(blob()),
        WireWrite::Load(blob()),
        WireWrite::Upsert(blob()),
        WireWrite::Delete(vec![key(1)]),
        WireWrite::Require(vec![key(1)]),
    ]
}

fn report() -> ServerReport {
    let info = MoveInfo {
        table: TableId(5),
        range: range(),
        to: GroupId(2),
        reason: "because".into(),
        state: "copying".into(),
        bytes: 1000,
        sent: 500,
        micros: 20,
        frozen_micros: 10,
        frozen_rows: 1,
    };
    let image = ImageInfo {
        table: TableId(5),
        entries: vec![entry()],
        finding: Finding { requests: 4, forwards: 3, adjustments: 2, broadcasts: 1 },
        bytes: 100,
        pages: 1,
    };
    ServerReport {
        load: load(),
        memory: 1000,
        moves: vec![info],
        images: vec![image],
        coordinated: 1,
        participating: 2,
        traffic: Traffic::default(),
    }
}

pub(super) fn rows_answers() -> Vec<RowsAnswer> {
    vec![
        RowsAnswer::Done,
        RowsAnswer::NotOwned { range: range(), adjustment: adjustment() },
        RowsAnswer::Found { rows: Some(blob()), positions: vec![0, 300], adjustment: adjustment() },
        RowsAnswer::Keys(vec![key(1)]),
        RowsAnswer::Unchanged(Some(vec![range()])),
        RowsAnswer::Written { rows: 1, entries: entries() },
        RowsAnswer::Changed {
            rows: 1,
            rest: vec![range()],
            entries: entries(),
            adjustment: adjustment(),
        },
        RowsAnswer::Locked(vec![true, false]),
        RowsAnswer::Waits(vec![(party(), Party { server: ServerId(2), number: 8 })]),
        RowsAnswer::Batch(blob()),
        RowsAnswer::Adjustment(adjustment()),
        RowsAnswer::Report(Box::new(report())),
        RowsAnswer::Called(blob()),
    ]
}

pub(super) fn transaction_requests() -> Vec<TransactionRequest> {
    let transaction = transaction();
    vec![
        TransactionRequest::RollbackTo { transaction, savepoint: 1, step: 2 },
        TransactionRequest::RollBack { transaction },
        TransactionRequest::Prepare { reader: reader(), newest: Timestamp(8) },
        TransactionRequest::Commit { transaction, timestamp: Timestamp(9) },
        TransactionRequest::IsRunning { transaction },
    ]
}

pub(super) fn transaction_answers() -> Vec<TransactionAnswer> {
    vec![TransactionAnswer::Done, TransactionAnswer::Running(true)]
}

pub(super) fn move_requests() -> Vec<MoveRequest> {
    vec![
        MoveRequest::In { of: of(), table: TableId(5), range: range() },
        MoveRequest::Piece { number: 11, piece: blob(), ends_round: true },
        MoveRequest::Adopt {
            number: 11,
            rest: Some(blob()),
            adopt: adopt(),
            accesses: 3,
            seen: Timestamp(8),
            complete_from: Timestamp(5),
        },
        MoveRequest::Drop { number: 11 },
        MoveRequest::Outcome { of: of() },
    ]
}

pub(super) fn move_answers() -> Vec<MoveAnswer> {
    vec![MoveAnswer::Done, MoveAnswer::Begun(11), MoveAnswer::Adopted(true)]
}

pub(super) fn directory_requests() -> Vec<DirectoryRequest> {
    vec![
        DirectoryRequest::ListOwned { table: TableId(5), range: range() },
        DirectoryRequest::FindOwners { table: TableId(5), range: range(), hops: 2 },
        DirectoryRequest::Message { table: TableId(5), message: adopt() },
    ]
}

pub(super) fn directory_answers() -> Vec<DirectoryAnswer> {
    vec![DirectoryAnswer::Done, DirectoryAnswer::Owners(vec![entry()])]
}

pub(super) fn directory_messages() -> Vec<(&'static str, Message<()>)> {
    let (id, client) = (RequestId(1), ClientId(2));
    let request = Request {
        id,
        client,
        range: range(),
        operation: (),
        forwards: 1,
        adjustment: vec![entry()],
    };
    let content = Content::Page(Image::new(GroupId(2)));
    let (level, epoch, from) = (Level::Pages, Epoch(3), GroupId(2));
    vec![
        ("Request", Message::Request(request)),
        ("Ask", Message::Ask { id, client, range: range() }),
        ("Adopt", Message::Adopt { range: range(), epoch, from, content }),
        ("Adopted", Message::Adopted { level, range: range(), epoch }),
        ("Record", Message::Record { level: Level::Rows, entry: entry(), from }),
        ("Recorded", Message::Recorded { range: range(), epoch }),
        ("Root", Message::Root(Root::new(GroupId(2)))),
    ]
}

pub(super) fn errors() -> Vec<(&'static str, Error)> {
    let (schema, table, key) = ("public".to_owned(), "t".to_owned(), "(a)=(1)".to_owned());
    let column = "a".to_owned();
    let null_key = store::bucket::Error::NullKey { schema, table: table.clone(), column };
    let failure = Failure {
        sql_state: "22012".into(),
        message: "division by zero".into(),
        constraint: Some("c".into()),
        ..Failure::default()
    };
    let catalog = store::catalog::Error::Conflict { relation: "t".into() };
    vec![
        (
            "DuplicateKey",
            Error::DuplicateKey {
                schema: "public".into(),
                table: table.clone(),
                constraint: "t_pkey".into(),
                key: key.clone(),
            },
        ),
        ("Conflict", Error::Conflict { table: table.clone(), key: key.clone() }),
        ("SchemaConflict", Error::SchemaConflict { relation: table.clone() }),
        ("OutOfMemory", Error::OutOfMemory { requested: 1, used: 2, limit: 300 }),
        (
            "SequenceExhausted",
            Error::SequenceExhausted { sequence: "s".into(), end: "maximum".into(), limit: -1 },
        ),
        ("NotOwned", Error::NotOwned { range: range() }),
        ("Astray", Error::Astray { range: range() }),
        (
            "Unreachable",
            Error::Unreachable {
                server: "two".into(),
                reason: "gone".into(),
                is_lost: true,
                keys: key.clone(),
            },
        ),
        (
            "Remote",
            Error::Remote {
                sql_state: "55000".into(),
                message: "no".into(),
                detail: Some("why".into()),
                hint: None,
            },
        ),
        ("Failed", Error::Failed(Box::new(failure))),
        ("Catalog", Error::Catalog(catalog)),
        ("Bucket", Error::Bucket(null_key)),
        ("Locked", Error::Locked { table: table.clone() }),
        ("Unserializable", Error::Unserializable),
        ("TableLocked", Error::TableLocked { table }),
    ]
}
