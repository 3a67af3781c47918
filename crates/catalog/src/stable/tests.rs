//! The bytes of format 1. They must not change: what is on disks was written with them.

use super::*;
use crate::*;
use ::arrow::array::{ArrayRef, Int32Array};
use ::arrow::datatypes::DataType;
use sdds::{Bound, GroupId, Key, KeyRange};
use std::fmt::{Debug, Write};
use std::sync::Arc;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Checks the bytes of a value, that they are read back, and that damage causes no panic.
fn golden<T: Stable + Debug>(value: &T, expected: &str) {
    let bytes = encode(value);
    assert_eq!(hex(&bytes), expected, "{value:?}");
    round_trip(value);
}

fn round_trip<T: Stable + Debug>(value: &T) {
    let bytes = encode(value);
    let back: T = decode(&bytes).expect("decoded");
    assert_eq!(format!("{back:?}"), format!("{value:?}"));
    for length in 0..bytes.len() {
        assert!(decode::<T>(&bytes[..length]).is_err(), "{length} bytes of {value:?}");
    }
    let mut flipped = bytes;
    for bit in 0..flipped.len() * 8 {
        flipped[bit / 8] ^= 1 << (bit % 8);
        let _ = decode::<T>(&flipped);
        flipped[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn numbers_have_their_bytes() {
    golden(&0u64, "00");
    golden(&300u64, "ac02");
    golden(&u64::MAX, "ffffffffffffffffff01");
    golden(&-1i64, "01");
    golden(&i64::MIN, "ffffffffffffffffff01");
    golden(&vec![Some(1u32), None], "02010100");
    golden(&"aä".to_owned(), "0361c3a4");
    let error = decode::<u32>(&encode(&(1u64 << 32))).expect_err("too large");
    assert_eq!(error.to_string(), "a number has more than 32 bits");
    assert!(decode::<u64>(&[0xff; 10]).is_err());
}

#[test]
fn keys_have_their_bytes() {
    let key = Key::from(&[1, 2][..]);
    golden(&Bound::At(key.clone()), "01020102");
    let range = KeyRange::new(Bound::At(key), Bound::PosInf).expect("not empty");
    golden(&range, "0102010202");
    assert!(decode::<KeyRange>(&[2, 0]).is_err(), "an empty range");
}

#[test]
fn types_have_their_bytes() {
    let types = [
        (SqlType::Boolean, "00"),
        (SqlType::SmallInt, "01"),
        (SqlType::Integer, "02"),
        (SqlType::BigInt, "03"),
        (SqlType::Real, "04"),
        (SqlType::Double, "05"),
        (SqlType::Numeric { precision: 12, scale: -2 }, "060cfe"),
        (SqlType::Text, "07"),
        (SqlType::Varchar(Some(300)), "0801ac02"),
        (SqlType::Char(3), "0903"),
        (SqlType::Bytea, "0a"),
        (SqlType::Date, "0b"),
        (SqlType::Time, "0c"),
        (SqlType::Timestamp, "0d"),
        (SqlType::TimestampTz, "0e"),
        (SqlType::Interval, "0f"),
        (SqlType::Uuid, "10"),
        (SqlType::Json, "11"),
        (SqlType::Jsonb, "12"),
        (SqlType::Array(Box::new(SqlType::Integer)), "1302"),
        (SqlType::Precise(Box::new(SqlType::Timestamp), 300), "150dac02"),
        (SqlType::System(SystemType::Oid), "3800"),
        (SqlType::System(SystemType::Regclass), "3808"),
        (SqlType::System(SystemType::Name), "380f"),
        (SqlType::System(SystemType::Jsonpath), "381b"),
        (SqlType::System(SystemType::Tid), "381c"),
    ];
    types.iter().for_each(|(value, expected)| golden(value, expected));
    round_trip(&SqlType::Other(DataType::UInt64));
    let error = decode::<SqlType>(&[0x13; 100_000]).expect_err("nested too deep");
    assert_eq!(error.to_string(), "it is nested too deep");
}

fn table() -> Table {
    let column = |id: u32, name: &str, missing: Option<ArrayRef>| Column {
        id: ColumnId(id),
        name: name.to_owned(),
        sql_type: SqlType::Integer,
        nullable: id > 0,
        default: (id == 1).then(|| "1".to_owned()),
        identity: (id == 0).then_some(Identity::ByDefault),
        generated: None,
        hidden: false,
        missing,
        comment: None,
    };
    Table {
        id: TableId(5),
        schema: "s".to_owned(),
        name: "t".to_owned(),
        columns: vec![column(0, "a", None), column(1, "b", None)],
        key: vec![ColumnId(0)],
        checks: vec![Check {
            name: "c".to_owned(),
            expression: "a > 0".to_owned(),
            is_valid: true,
        }],
        foreign_keys: Vec::new(),
        bucket_size: 65536,
        colocate_with: Some(TableId(4)),
        on_commit: OnCommit::PreserveRows,
        home: GroupId(0),
        next_column: 2,
        version: 3,
        materialized: None,
        key_constraint: None,
        is_unlogged: false,
        extension: TableExtension::default(),
        comment: Some("x".to_owned()),
    }
}

/// A table with a foreign key, and a check that is NOT VALID.
fn constrained_table() -> Table {
    let mut table = table();
    table.checks[0].is_valid = false;
    table.foreign_keys.push(ForeignKey {
        name: "f".to_owned(),
        columns: vec![ColumnId(1)],
        references: TableId(5),
        referenced: vec![ColumnId(0)],
        index: None,
        on_delete: ReferentialAction::Cascade,
        on_update: ReferentialAction::SetNull,
        on_delete_set: Vec::new(),
        is_full: true,
        timing: Timing::InitiallyDeferred,
        is_valid: false,
    });
    table
}

fn materialized_view() -> Table {
    let (sql, search_path) = ("q".to_owned(), vec!["s".to_owned()]);
    Table { materialized: Some(Materialized { sql, search_path, is_populated: true }), ..table() }
}

fn named_key_table() -> Table {
    Table { key_constraint: Some("k".to_owned()), ..table() }
}

fn unlogged_table() -> Table {
    Table { is_unlogged: true, ..named_key_table() }
}

/// A table of a composite type whose check has a comment.
fn extended_table() -> Table {
    let comments = vec![("c".to_owned(), "x".to_owned())];
    let reads = vec![RelationId(9)];
    let extension = TableExtension { of_type: Some(TypeId(7)), comments, reads };
    Table { extension, ..unlogged_table() }
}

fn sequence() -> Sequence {
    Sequence {
        id: RelationId(6),
        schema: "s".to_owned(),
        name: "q".to_owned(),
        start: 1,
        increment: -1,
        min: -9,
        max: 9,
        cycle: true,
        owned_by: Some((TableId(5), ColumnId(0))),
        comment: None,
    }
}

fn index() -> Index {
    let column = |id: u32| IndexColumn {
        descending: id == 1,
        nulls_first: id == 0,
        ..IndexColumn::new(ColumnId(id))
    };
    let new = Index::new(TableId(8), "i".to_owned(), &table(), vec![column(1), column(0)]);
    Index { is_unique: true, is_constraint: true, ..new }
}

fn computed_index() -> Index {
    let expression = |text: &str, sql_type| IndexExpression {
        text: text.to_owned(),
        shown: "s".to_owned(),
        name: "n".to_owned(),
        sql_type,
        columns: vec![ColumnId(1)],
    };
    let column = IndexColumn {
        operator_class: Some("o".to_owned()),
        ..IndexColumn::new(IndexKey::Expression(expression("e", SqlType::Text)))
    };
    let predicate = Some(expression("p", SqlType::Boolean));
    Index { columns: vec![column], included: vec![ColumnId(0)], predicate, ..index() }
}

fn deferrable_index() -> Index {
    Index { timing: Timing::InitiallyDeferred, ..index() }
}

fn deferrable_key() -> Index {
    Index { timing: Timing::InitiallyImmediate, is_primary: true, ..index() }
}

fn view() -> View {
    View {
        id: RelationId(7),
        schema: "s".to_owned(),
        name: "v".to_owned(),
        sql: "SELECT 1".to_owned(),
        columns: vec!["c".to_owned()],
        search_path: vec!["s".to_owned()],
        comment: None,
        options: ViewOptions::default(),
    }
}

fn view_with_options() -> View {
    let check = Some(CheckOption::Cascaded);
    let defaults = vec![("c".to_owned(), "1".to_owned())];
    let options =
        ViewOptions { check, security_invoker: false, defaults, ..ViewOptions::default() };
    View { options, ..view() }
}

fn commented_view() -> View {
    let mut view = view();
    view.options.set_comment(1, Some("x".to_owned()));
    view
}

fn role() -> Role {
    Role {
        superuser: true,
        connection_limit: Some(2),
        valid_until: Some(-3),
        verifier: Some("v".to_owned()),
        member_of: [("g".to_owned(), true)].into(),
        database: Privileges::CREATE,
        relations: [(RelationId(5), Privileges::SELECT)].into(),
        schemas: [("s".to_owned(), Privileges::USAGE)].into(),
        ..Role::new("r")
    }
}

fn trigger() -> Trigger {
    Trigger {
        id: RelationId(10),
        table: TableId(5),
        name: "t".to_owned(),
        function: RelationId(9),
        is_before: true,
        is_instead: false,
        constraint: None,
        old_table: None,
        new_table: None,
        is_row: true,
        events: TriggerEvents { insert: true, update: true, ..TriggerEvents::default() },
        columns: vec![ColumnId(1)],
        condition: Some("n".to_owned()),
        arguments: vec!["a".to_owned()],
        state: TriggerState::Enabled,
        comment: None,
    }
}

fn extended_trigger() -> Trigger {
    Trigger { is_before: false, constraint: Some(Timing::InitiallyDeferred), ..trigger() }
}

fn function() -> Function {
    Function {
        id: RelationId(9),
        schema: "s".to_owned(),
        name: "f".to_owned(),
        is_procedure: false,
        language: "sql".to_owned(),
        parameters: vec![Parameter {
            name: "a".to_owned(),
            mode: ParameterMode::In,
            type_id: 23,
            default: Some("1".to_owned()),
        }],
        result_id: 23,
        result_relation: None,
        returns_set: false,
        body: "SELECT 1".to_owned(),
        is_sql_body: false,
        volatility: Volatility::Volatile,
        is_strict: true,
        is_security_definer: false,
        is_leakproof: false,
        parallel: Parallel::Unsafe,
        cost: None,
        rows: None,
        settings: Vec::new(),
        comment: Some("x".to_owned()),
        extension: Extension::default(),
    }
}

fn extension() -> Extension {
    let aggregate = Aggregate {
        transition: FunctionId::User(RelationId(5)),
        state_id: 23,
        initial: Some("0".to_owned()),
        combine: Some(FunctionId::System(177)),
        finish: None,
    };
    Extension { symbol: Some("g".to_owned()), aggregate: Some(aggregate), ..Default::default() }
}

fn details() -> AggregateDetails {
    let moving = MovingAggregate {
        transition: FunctionId::User(RelationId(6)),
        inverse: FunctionId::System(177),
        state_id: 20,
        initial: None,
        finish: None,
        space: 3,
    };
    AggregateDetails {
        kind: AggregateKind::Hypothetical,
        direct_arguments: 1,
        finish_takes_all: true,
        modifies: Some(Modifies::Shareable),
        sort_operator: Some(97),
        moving: Some(moving),
        ..AggregateDetails::default()
    }
}

#[test]
fn arrow_types_have_their_bytes() {
    let types = [
        (DataType::Boolean, "01"),
        (DataType::Int16, "02"),
        (DataType::Int32, "03"),
        (DataType::Int64, "04"),
        (DataType::Float32, "05"),
        (DataType::Float64, "06"),
        (DataType::Decimal128(38, 10), "07260a"),
        (DataType::Utf8View, "08"),
        (DataType::BinaryView, "09"),
        (DataType::Date32, "0a"),
        (SqlType::Time.arrow(), "0b"),
        (SqlType::Timestamp.arrow(), "0c"),
        (SqlType::TimestampTz.arrow(), "0d"),
        (SqlType::Interval.arrow(), "0e"),
        (SqlType::Array(Box::new(SqlType::Text)).arrow(), "0f08"),
    ];
    types.iter().for_each(|(value, expected)| golden(value, expected));
    round_trip(&DataType::UInt64);
    let named = ::arrow::datatypes::Field::new("other", DataType::Int32, false);
    round_trip(&DataType::List(Arc::new(named)));
}

#[test]
fn indexes_have_their_bytes() {
    let indexes = [
        (
            index(),
            "0303080173016902 0005656e7472790a00000000000000 0103726f770a00000000000000 01000080800400000002010005 02010100000001 01000100",
        ),
        (
            computed_index(),
            "032d080173016902 0005656e7472790a00000000000000 0103726f770a00000000000000 01000080800400000002010005 010101650173016e070101 0000 01016f 0100 0101700173016e000101 01000100",
        ),
        (
            deferrable_index(),
            "0365080173016902 0005656e7472790a00000000000000 0103726f770a00000000000000 01000080800400000002010005 02 0001010000 0000000100 00 00 01000100 02",
        ),
        (
            deferrable_key(),
            "0366080173016902 0005656e7472790a00000000000000 0103726f770a00000000000000 01000080800400000002010005 02 0001010000 0000000100 00 00 01000100 01",
        ),
    ];
    for (index, expected) in indexes {
        let create = CatalogChange::Create(Relation::Index(Arc::new(index)));
        golden(&create, &expected.replace(' ', ""));
    }
}

#[test]
fn views_with_options_have_their_bytes() {
    let change = CatalogChange::Replace(Relation::View(Arc::new(view_with_options())));
    let expected = "046707017301760853454c454354203101016301017300 0101 00 01 0163 0131";
    golden(&change, &expected.replace(' ', ""));
}

#[test]
fn views_with_comments_have_their_bytes() {
    let change = CatalogChange::Replace(Relation::View(Arc::new(commented_view())));
    let expected = "0488 01 01 0178 0107017301760853454c454354203101016301017300";
    golden(&change, &expected.replace(' ', ""));
}

#[test]
fn comments_on_what_is_in_no_schema_have_their_bytes() {
    let comment = |on, comment| CatalogChange::PutComment { on, comment };
    let role = comment(crate::Shared::Role("r".to_owned()), Some("c".to_owned()));
    golden(&role, "5f010172010163");
    golden(&comment(crate::Shared::Database, None), "5f0000");
}

#[test]
fn changes_have_their_bytes() {
    let schema = || Schema { name: "s".to_owned(), comment: Some("c".to_owned()) };
    let changes = [
        (CatalogChange::CreateSchema(schema()), "00017301 0163"),
        (CatalogChange::ReplaceSchema(schema()), "01017301 0163"),
        (CatalogChange::DropSchema("s".to_owned()), "020173"),
        (
            CatalogChange::Create(Relation::Table(Arc::new(table()))),
            "03000501730174020001610200000101000000000101620201010131000000000001000101630561203e2030808004010400000203010178",
        ),
        (
            CatalogChange::Create(Relation::Table(Arc::new(constrained_table()))),
            "032805017301740200016102000001010000000001016202010101310000000000010001016305612             03e2030808004010400000203010178 010163 01 0166 0101 05 0100 00 02 03 00 01 02 00",
        ),
        (
            CatalogChange::Create(Relation::Table(Arc::new(named_key_table()))),
            "0386 016b 000501730174020001610200000101000000000101620201010131000000000001000101630561203e2030808004010400000203010178",
        ),
        (
            CatalogChange::Create(Relation::Table(Arc::new(unlogged_table()))),
            "0387 86 016b 000501730174020001610200000101000000000101620201010131000000000001000101630561203e2030808004010400000203010178",
        ),
        (
            CatalogChange::Create(Relation::Table(Arc::new(extended_table()))),
            "0396 0107 0101630178 0109 87 86 016b 000501730174020001610200000101000000000101620201010131000000000001000101630561203e2030808004010400000203010178",
        ),
        (
            CatalogChange::Create(Relation::Table(Arc::new(materialized_view()))),
            "03640501730174020001610200000101000000000101620201010131000000000001000101630561203e2030808004010400000203010178 0171 010173 01",
        ),
        (
            CatalogChange::Replace(Relation::View(Arc::new(view()))),
            "040107017301760853454c454354203101016301017300",
        ),
        (
            CatalogChange::Create(Relation::Sequence(Arc::new(sequence()))),
            "03020601730171020111120101050000",
        ),
        (CatalogChange::Drop(RelationId(5)), "0505"),
        (CatalogChange::Truncate(TableId(5)), "0605"),
        (CatalogChange::PutRole(role()), "070172010000000102010501010176010167014001050101017320"),
        (CatalogChange::RenameRole { from: "a".to_owned(), to: "b".to_owned() }, "0801610162"),
        (CatalogChange::DropRole("a".to_owned()), "090161"),
        (
            CatalogChange::SetPrivileges {
                role: "a".to_owned(),
                object: Object::Relation(RelationId(5)),
                privileges: Privileges::SELECT.union(Privileges::INSERT.grant_option()),
            },
            "0a01610205818008",
        ),
        (
            CatalogChange::PutFunction(function()),
            "3c0901730166000373716c 0101610017010131 170000 0853454c4543542031 00 02010000000000 00 010178",
        ),
        (CatalogChange::DropFunction(RelationId(9)), "3d09"),
        (
            CatalogChange::PutExtended(function(), extension()),
            "5a0901730166000373716c 0101610017010131 170000 0853454c4543542031 00 02010000000000 00 010178                 010167 01 0005 17 010130 0101b101 00",
        ),
        (
            CatalogChange::PutAggregate(function(), Extension::default(), details()),
            "5b0901730166000373716c 0101610017010131 170000 0853454c4543542031 00 02010000000000 00 010178 00 00 02 01 01 0101 0161 00 01 0006 01b101 14 00 00 03 00 00",
        ),
    ];
    for (change, expected) in &changes {
        golden(change, &expected.replace(' ', ""));
    }
}

#[test]
fn changes_of_triggers_keep_their_bytes() {
    let changes = [
        (
            CatalogChange::PutTrigger(trigger()),
            "460a 05 0174 09 01 01 01010000 0101 01016e 010161 00 00",
        ),
        (
            CatalogChange::PutTrigger(extended_trigger()),
            "460a 05 0174 09 02 00 00 0102 0000 01 01010000 0101 01016e 010161 00 00",
        ),
        (CatalogChange::DropTrigger { table: TableId(5), id: RelationId(10) }, "47050a"),
    ];
    for (change, expected) in &changes {
        golden(change, &expected.replace(' ', ""));
    }
}

#[test]
fn a_catalog_is_read_back_with_its_names_and_values() {
    let mut table = table();
    let one: ArrayRef = Arc::new(Int32Array::from(vec![Some(7)]));
    table.columns[1].missing = Some(one);
    table.schema = DEFAULT_SCHEMA.to_owned();
    let catalog = Catalog::new()
        .apply(&CatalogChange::Create(Relation::Table(Arc::new(table))))
        .and_then(|catalog| catalog.apply(&CatalogChange::PutRole(role())))
        .expect("valid changes");
    let function = Function { schema: DEFAULT_SCHEMA.to_owned(), ..function() };
    let catalog = catalog.apply(&CatalogChange::PutFunction(function)).expect("a valid change");
    let catalog = catalog.apply(&CatalogChange::PutTrigger(trigger())).expect("a valid change");
    let bytes = encode(&catalog);
    let back: Catalog = decode(&bytes).expect("decoded");
    assert_eq!(back.triggers_of(TableId(5)).len(), 1);
    assert!(back.relation(DEFAULT_SCHEMA, "t").is_some());
    assert_eq!(back.functions_named(DEFAULT_SCHEMA, "f").len(), 1);
    assert_eq!(format!("{back:?}"), format!("{catalog:?}"));
}

/// Types of users have ordinals of their own, also among relations, and are part of the types of columns.
#[test]
fn types_of_users() {
    let mood = UserType {
        id: TypeId(7),
        array: TypeId(8),
        schema: "public".to_owned(),
        name: "mood".to_owned(),
        kind: UserTypeKind::Enum(labels(["a".to_owned()])),
        comment: None,
    };
    let bytes = "0708067075626c6963046d6f6f6400010161808080802000";
    golden(&mood, bytes);
    golden(&SqlType::User(Arc::new(mood.clone())), &format!("37{bytes}"));
    golden(&CatalogChange::CreateType(mood.clone()), &format!("37{bytes}"));
    golden(&CatalogChange::DropType(TypeId(7)), "3907");
    let domain = Domain {
        base: Box::new(SqlType::User(Arc::new(mood.clone()))),
        nullable: false,
        default: Some("'a'".to_owned()),
        checks: vec![DomainCheck {
            name: "c".to_owned(),
            expression: "true".to_owned(),
            is_valid: true,
            comment: None,
        }],
    };
    let mut unchecked = domain.clone();
    unchecked.checks[0].is_valid = false;
    golden(
        &UserTypeKind::Domain(Domain { base: Box::new(SqlType::Text), ..unchecked }),
        "0407000103276127010163047472756501000100",
    );
    let mut commented = domain.clone();
    commented.checks[0].comment = Some("x".to_owned());
    golden(
        &UserTypeKind::Domain(Domain { base: Box::new(SqlType::Text), ..commented }),
        "0307000103276127010163047472756501010178",
    );
    let domain = UserType {
        id: TypeId(9),
        name: "d".to_owned(),
        kind: UserTypeKind::Domain(domain),
        ..mood.clone()
    };
    round_trip(&domain);
    let attribute = |name: &str, sql_type| Attribute { name: name.to_owned(), sql_type };
    let attributes = vec![attribute("a", SqlType::Integer), attribute("m", SqlType::Boolean)];
    let composite = UserType {
        id: TypeId(11),
        array: TypeId(12),
        name: "c".to_owned(),
        kind: UserTypeKind::Composite(attributes),
        ..mood.clone()
    };
    golden(&composite, "0b0c067075626c696301630202016102016d0000");
    let changes = [mood, domain, composite].map(CatalogChange::CreateType);
    let catalog = changes
        .iter()
        .try_fold(Catalog::new(), |catalog, change| catalog.apply(change))
        .expect("valid changes");
    let back: Catalog = decode(&encode(&catalog)).expect("decoded");
    assert_eq!(back.user_types().count(), 3);
    assert!(catalog.apply(&CatalogChange::DropSchema("public".to_owned())).is_err());
}
