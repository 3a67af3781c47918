//! Types of the system catalogs as clients see them: in the descriptions of columns and parameters, and in both formats.

use super::harness::{connect, serve};
use bytes::{BufMut, BytesMut};
use std::error::Error;
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// The bytes of a value.
struct Raw(Vec<u8>);

impl<'a> FromSql<'a> for Raw {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw.to_vec()))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// An id of an object, also as a value of a type for names of objects.
#[derive(Debug)]
struct Id(u32);

impl ToSql for Id {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_u32(self.0);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A statement with the types of its parameters and of its columns, as PostgreSQL 15 describes them.
type Case = (&'static str, Vec<Type>, Vec<Type>);

fn cases() -> Vec<Case> {
    let read = |sql, columns| (sql, Vec::new(), columns);
    vec![
        read(
            "SELECT oid, relname, relkind, relfrozenxid, relam FROM pg_class",
            vec![Type::OID, Type::NAME, Type::CHAR, Type::XID, Type::OID],
        ),
        read(
            "SELECT 'pg_class'::regclass, 'int4'::regtype, 'now'::regproc, 'now()'::regprocedure, 'public'::regnamespace",
            vec![
                Type::REGCLASS,
                Type::REGTYPE,
                Type::REGPROC,
                Type::REGPROCEDURE,
                Type::REGNAMESPACE,
            ],
        ),
        read(
            "SELECT 1::oid, 'x'::name, 'c'::\"char\", '1 2'::int2vector, '1 2'::oidvector, '1'::xid",
            vec![Type::OID, Type::NAME, Type::CHAR, Type::INT2_VECTOR, Type::OID_VECTOR, Type::XID],
        ),
        read(
            "SELECT ARRAY[1::oid], ARRAY['x'::name], ARRAY['pg_class'::regclass], ARRAY['c'::\"char\"]",
            vec![Type::OID_ARRAY, Type::NAME_ARRAY, Type::REGCLASS_ARRAY, Type::CHAR_ARRAY],
        ),
        read(
            "SELECT a, b, c, d, e, f FROM c",
            vec![Type::OID, Type::NAME, Type::REGCLASS, Type::CHAR, Type::OID_ARRAY, Type::XID],
        ),
        read("SELECT a, c FROM v", vec![Type::OID, Type::REGCLASS]),
        read("SELECT 'pg_class'::regclass UNION SELECT oid FROM pg_class", vec![Type::REGCLASS]),
        read("SELECT table_name FROM information_schema.tables", vec![Type::NAME]),
        read("SELECT pg_notify('a', 'b')", vec![Type::VOID]),
        (
            "SELECT $1::regclass, $2::oid, $3::name, $4::regtype[]",
            vec![Type::REGCLASS, Type::OID, Type::NAME, Type::REGTYPE_ARRAY],
            vec![Type::REGCLASS, Type::OID, Type::NAME, Type::REGTYPE_ARRAY],
        ),
        (
            "SELECT relname FROM pg_class WHERE oid = $1 AND relname = $2",
            vec![Type::OID, Type::NAME],
            vec![Type::NAME],
        ),
        (
            "INSERT INTO c (a, c) VALUES ($1, $2) RETURNING c, a",
            vec![Type::OID, Type::REGCLASS],
            vec![Type::REGCLASS, Type::OID],
        ),
        ("SELECT nextval($1)", vec![Type::REGCLASS], vec![Type::INT8]),
    ]
}

#[tokio::test]
async fn columns_and_parameters_are_described_as_postgresql_describes_them() {
    let served = serve(&[]);
    let client = connect(&served, "anybody", None).await.expect("trusted on this machine");
    client
        .batch_execute(
            "CREATE TABLE c (a oid, b name, c regclass, d \"char\", e oid[], f xid);
             CREATE VIEW v AS SELECT a, c FROM c",
        )
        .await
        .expect("created");
    for (sql, parameters, columns) in cases() {
        let statement = client.prepare(sql).await.expect(sql);
        let found: Vec<Type> = statement.columns().iter().map(|of| of.type_().clone()).collect();
        assert_eq!((statement.params(), &found[..]), (&parameters[..], &columns[..]), "{sql}");
    }
}

#[tokio::test]
async fn names_of_objects_are_ids_in_binary_and_names_in_text() {
    let served = serve(&[]);
    let client = connect(&served, "anybody", None).await.expect("trusted on this machine");
    let sql = "SELECT 'pg_class'::regclass, 'x'::name, 'c'::\"char\", '1 2'::int2vector, \
               ARRAY['pg_class'::regclass], 4294967295::oid, NULL::regclass";
    let row = client.query_one(sql, &[]).await.expect("a row");
    let bytes = |at: usize| row.get::<_, Option<Raw>>(at).map(|raw| raw.0);
    let numbers = |numbers: &[u32]| -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
    };
    assert_eq!(bytes(0), Some(numbers(&[1259])));
    assert_eq!(bytes(1), Some(b"x".to_vec()));
    assert_eq!(bytes(2), Some(b"c".to_vec()));
    let items = [numbers(&[1, 0, 21, 2, 0, 2]), vec![0, 1], numbers(&[2]), vec![0, 2]];
    assert_eq!(bytes(3), Some(items.concat()));
    assert_eq!(bytes(4), Some(numbers(&[1, 0, Type::REGCLASS.oid(), 1, 1, 4, 1259])));
    assert_eq!(bytes(5), Some(numbers(&[u32::MAX])));
    assert_eq!(bytes(6), None);

    let messages = client.simple_query(sql).await.expect("an answer");
    let row = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let row = row.expect("a row");
    let texts: Vec<Option<&str>> = (0..row.len()).map(|at| row.get(at)).collect();
    let wanted = ["pg_class", "x", "c", "1 2", "{pg_class}", "4294967295"];
    let wanted: Vec<Option<&str>> = wanted.into_iter().map(Some).chain([None]).collect();
    assert_eq!(texts, wanted);

    let row = client.query_one("SELECT $1::regclass::text, $1", &[&Id(1259)]).await;
    let row = row.expect("a row");
    assert_eq!(row.get::<_, &str>(0), "pg_class");
    assert_eq!(row.get::<_, Raw>(1).0, numbers(&[1259]));
}
