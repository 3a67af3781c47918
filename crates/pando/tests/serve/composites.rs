//! Composite types with clients, and after a restart.

use super::harness::{connect, serve};
use tempfile::TempDir;
use tokio_postgres::types::{Kind, Type};
use tokio_postgres::{Client, SimpleQueryMessage};

const MADE: [&str; 8] = [
    "CREATE TYPE mood AS ENUM ('sad', 'happy')",
    "CREATE TYPE cost AS (net numeric(8,2), m mood)",
    "ALTER TYPE cost RENAME ATTRIBUTE m TO felt; ALTER TYPE cost ADD ATTRIBUTE note text",
    "CREATE TYPE bill AS (total cost, parts cost[])",
    "CREATE TABLE sale (id int PRIMARY KEY, b bill DEFAULT ROW(ROW(1, 'sad', 'none'), NULL), c cost)",
    "INSERT INTO sale (id, c.net) VALUES (1, 2.5); INSERT INTO sale VALUES (2, NULL, '(3,happy,\"a b\")')",
    "CREATE FUNCTION felt(sale) RETURNS text LANGUAGE sql AS 'SELECT ($1.c).felt::text'",
    "COMMENT ON TYPE bill IS 'what it costs'",
];

const READ: &str = "
    SELECT s, s.felt, (b).total.note FROM sale s ORDER BY id;
    SELECT attribute_name, attribute_udt_name FROM information_schema.attributes ORDER BY udt_name, ordinal_position;
    SELECT obj_description('bill'::regtype, 'pg_type')";

async fn read(client: &Client) -> Vec<String> {
    let rows = client.simple_query(READ).await.expect("rows").into_iter();
    let values = rows.filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let values = values.flat_map(|row| {
        let all = (0..row.len()).map(|at| row.get(at).unwrap_or("NULL").to_owned());
        all.collect::<Vec<_>>()
    });
    values.collect()
}

/// The names of the attributes of a type, as the driver finds them in the catalogs.
fn attributes(of: &Type) -> Vec<&str> {
    match of.kind() {
        Kind::Composite(fields) => fields.iter().map(|field| field.name()).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn composite_types_have_attributes_for_drivers_and_come_back_after_a_kill() {
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    let settings = ["--data", data.to_str().expect("text")];
    let mut served = serve(&settings);
    let client = connect(&served, "anybody", None).await.expect("connected");
    for sql in MADE {
        client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }
    let expected = read(&client).await;
    let rows = [
        r#"(1,"(""(1.00,sad,none)"",)","(2.50,,)")"#,
        "NULL",
        "none",
        r#"(2,,"(3.00,happy,""a b"")")"#,
        "happy",
        "NULL",
    ];
    assert_eq!(expected[..6], rows);
    served.process.kill().expect("killed");
    served.process.wait().expect("ended");

    let served = serve(&settings);
    let client = connect(&served, "anybody", None).await.expect("connected");
    assert_eq!(read(&client).await, expected);
    let prepared = client.prepare("SELECT s, b FROM sale s WHERE c = $1::cost").await;
    let prepared = prepared.expect("prepared");
    assert_eq!(attributes(&prepared.params()[0]), ["net", "felt", "note"]);
    assert_eq!(attributes(prepared.columns()[0].type_()), ["id", "b", "c"]);
    assert_eq!(attributes(prepared.columns()[1].type_()), ["total", "parts"]);
    let listed = client.prepare("SELECT 1 FROM sale WHERE c IN ($1, $2)").await.expect("prepared");
    assert!(listed.params().iter().all(|of| attributes(of) == ["net", "felt", "note"]));
    // A type that the client gives, with a value that it sends as a text.
    let cost = prepared.params()[0].clone();
    let typed = client.prepare_typed("SELECT ($1).net::text", &[cost]).await.expect("prepared");
    assert_eq!(attributes(&typed.params()[0]), ["net", "felt", "note"]);
}
