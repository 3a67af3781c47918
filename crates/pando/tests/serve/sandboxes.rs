//! Functions of users in other languages: hostile ones harm only their statement, and all are kept.

use crate::harness::{connect, serve};
use std::time::{Duration, Instant};
use tokio_postgres::NoTls;
use tokio_postgres::error::SqlState;

/// (module (func (export "f") (param i64) (result i64) (loop (br 0)) unreachable))
const ENDLESS: &str = "\\x0061736d0100000001060160017e017e0302010007050101660000\
                       0a0a010800\
                       03400c000b000b";

/// (module (func (export "add") (param i64 i64) (result i64) (i64.add (local.get 0) (local.get 1))))
const ADD: &str =
    "\\x0061736d0100000001070160027e7e017e030201000707010361646400000a09010700200020017c0b";

#[tokio::test]
async fn endless_functions_end_with_their_statement_and_others_go_on() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("a connection");
    let other = connect(&served, "u", None).await.expect("a connection");
    let script = format!(
        "CREATE FUNCTION f(a bigint) RETURNS bigint LANGUAGE wasm STRICT AS '{ENDLESS}';
         CREATE FUNCTION g(a bigint) RETURNS bigint LANGUAGE javascript AS 'while (true) ;';
         CREATE FUNCTION h(a bigint) RETURNS bigint LANGUAGE javascript IMMUTABLE AS
            $$ return /^(a+)+$/.test('a'.repeat(50) + 'b') ? 1 : 2 $$;
         CREATE FUNCTION m(a bigint) RETURNS bigint LANGUAGE javascript AS
            'const all = []; for (;;) all.push([a])';
         CREATE TABLE t (id bigint PRIMARY KEY);
         INSERT INTO t SELECT n FROM generate_series(1, 10000) n"
    );
    client.batch_execute(&script).await.expect("made");
    client.batch_execute("SET statement_timeout = '300ms'").await.expect("set");
    for call in [
        "SELECT f(id) FROM t",
        "SELECT count(*) FROM t WHERE g(id) = 1",
        "SELECT count(*) FROM t WHERE h(id) = 1",
        "SELECT h(1)",
        "UPDATE t SET id = f(id)",
    ] {
        let began = Instant::now();
        let running = client.batch_execute(call);
        let answers = async {
            for _ in 0..3 {
                other.batch_execute("SELECT count(*) FROM t").await.expect("others go on");
            }
        };
        let (ended, ()) = tokio::join!(running, answers);
        let error = ended.expect_err("it ends");
        assert_eq!(error.code(), Some(&SqlState::QUERY_CANCELED), "{call}: {error}");
        assert!(began.elapsed() < Duration::from_secs(20), "{call}: {:?}", began.elapsed());
    }
    client.batch_execute("SET statement_timeout = '20s'").await.expect("set");
    let error = client.batch_execute("SELECT m(1)").await.expect_err("it needs too much");
    assert_eq!(error.code(), Some(&SqlState::OUT_OF_MEMORY), "{error}");
    let token = client.cancel_token();
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        token.cancel_query(NoTls).await.expect("sent");
    };
    let (ended, ()) = tokio::join!(client.batch_execute("SELECT f(id) FROM t"), cancel);
    assert_eq!(ended.expect_err("it ends").code(), Some(&SqlState::QUERY_CANCELED));
    client.batch_execute("SELECT 1").await.expect("the connection works");
}

#[tokio::test]
async fn functions_are_there_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let data = ["--data", data.to_str().expect("text")];
    let served = serve(&data);
    let client = connect(&served, "u", None).await.expect("a connection");
    let script = format!(
        "CREATE FUNCTION plus(a bigint, b bigint) RETURNS bigint LANGUAGE wasm STRICT AS '{ADD}', 'add';
         CREATE FUNCTION twice(a int) RETURNS int LANGUAGE javascript AS 'return a * 2';
         CREATE AGGREGATE total(bigint) (SFUNC = plus, STYPE = bigint, COMBINEFUNC = plus)"
    );
    client.batch_execute(&script).await.expect("made");
    drop(served);
    let served = serve(&data);
    let client = connect(&served, "u", None).await.expect("a connection");
    let query = "SELECT total(plus(n, 1)), twice(4) FROM generate_series(1::bigint, 3::bigint) n";
    let row = client.query_one(query, &[]).await.expect("a row");
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i32>(1)), (9, 8));
}

#[tokio::test]
async fn superusers_create_functions_in_javascript_and_others_call_them() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("a connection");
    client.batch_execute("CREATE USER admin SUPERUSER PASSWORD 'p'").await.expect("made");
    let admin = connect(&served, "admin", Some("p")).await.expect("a connection");
    let script = "CREATE USER other PASSWORD 'p'; GRANT CREATE ON SCHEMA public TO other;
         CREATE FUNCTION twice(a int) RETURNS int LANGUAGE javascript AS 'return a * 2'";
    admin.batch_execute(script).await.expect("made");
    let other = connect(&served, "other", Some("p")).await.expect("a connection");
    let row = other.query_one("SELECT twice(4)", &[]).await.expect("a row");
    assert_eq!(row.get::<_, i32>(0), 8);
    let create = "CREATE FUNCTION mine(a int) RETURNS int LANGUAGE javascript AS 'return a'";
    let error = other.batch_execute(create).await.expect_err("it is untrusted");
    assert_eq!(error.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE));
    let create = format!(
        "CREATE FUNCTION plus(a bigint, b bigint) RETURNS bigint LANGUAGE wasm STRICT AS '{ADD}', 'add'"
    );
    other.batch_execute(&create).await.expect("made");
}

#[tokio::test]
async fn sources_are_read_from_files() {
    let served = serve(&[]);
    let client = connect(&served, "pando", None).await.expect("a connection");
    let folder = tempfile::tempdir().expect("a folder");
    let digits: Vec<u8> = ADD.bytes().skip(2).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("digits"), 16);
    let module: Result<Vec<u8>, _> = digits.chunks(2).map(byte).collect();
    std::fs::write(folder.path().join("a module.wasm"), module.expect("hex")).expect("written");
    std::fs::write(folder.path().join("twice.js"), "return a * 2").expect("written");
    let url = format!("file://{}", folder.path().display());
    let script = format!(
        "CREATE FUNCTION add(a bigint, b bigint) RETURNS bigint LANGUAGE wasm STRICT AS '{url}/a%20module.wasm';
         CREATE FUNCTION twice(a int) RETURNS int LANGUAGE javascript AS '{url}/twice.js'"
    );
    client.batch_execute(&script).await.expect("made");
    let row = client.query_one("SELECT add(1, 2), twice(4)", &[]).await.expect("a row");
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i32>(1)), (3, 8));
    for (source, state) in [
        (format!("{url}/none.wasm"), SqlState::UNDEFINED_FILE),
        (url.clone(), SqlState::UNDEFINED_FILE),
        (String::from("s3://"), SqlState::IO_ERROR),
    ] {
        let sql = format!("CREATE FUNCTION f() RETURNS int LANGUAGE javascript AS '{source}'");
        let error = client.batch_execute(&sql).await.expect_err("there is no such file");
        assert_eq!(error.code(), Some(&state), "{source}: {error:?}");
    }
}
