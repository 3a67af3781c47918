//! Prepared statements on one row by its key, on several servers: what they answer is the same wherever the row is.

mod servers;

use bytes::Bytes;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::common::ScalarValue;
use futures::TryStreamExt;
use query::{Error, Options, Outcome, Prepared, Session};
use sdds::{ServerId, TransactionId};
use servers::Servers;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::catalog::Relation;

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY, v integer CHECK (v < 500), name text NOT NULL DEFAULT 'none');
    INSERT INTO t SELECT i, i, 'n' || i FROM generate_series(0, 9) s(i)";

/// Three servers; keys from 3 on are the second's, those from 6 on the third's.
async fn three() -> (Arc<Servers>, Vec<Session>) {
    let servers = Servers::start(3, &Options { threads: Some(1), ..Options::default() });
    let sessions: Vec<_> = (0..3).map(|group| servers.database(group).session()).collect();
    sessions[0].execute(TABLE).await.expect("a table");
    servers.give("t", 0, 1, Some(3), Some(6));
    servers.give("t", 0, 2, Some(6), None);
    (servers, sessions)
}

async fn prepared(session: &Session, sql: &str) -> Prepared {
    session.prepare(sql).await.expect(sql)
}

async fn answer_of(prepared: &Prepared, parameters: &[ScalarValue]) -> Result<String, Error> {
    match prepared.execute(parameters).await? {
        Outcome::Done(tag) => Ok(tag.to_string()),
        Outcome::Rows(rows) => {
            let batches: Vec<_> = rows.stream.try_collect().await?;
            let lines = pretty_format_batches(&batches)?.to_string();
            Ok(lines.lines().filter(|line| line.starts_with('|')).skip(1).collect())
        }
    }
}

fn id(value: i64) -> ScalarValue {
    ScalarValue::Int64(Some(value))
}

/// The same statements with keys on each of the servers: in a database of one's own, and sent to each of the three.
#[tokio::test]
async fn answers_do_not_depend_on_where_the_row_is() {
    let script: [(&str, &[ScalarValue]); 17] = [
        ("SELECT * FROM t WHERE id = $1", &[]),
        ("UPDATE t SET v = v + 1 WHERE id = $1", &[]),
        ("UPDATE t SET v = -v, name = $2 WHERE id = $1", &[ScalarValue::Utf8(None)]),
        ("UPDATE t SET name = $2, v = v * 2 WHERE id = $1", &[]),
        ("SELECT name, v FROM t WHERE id = $1", &[]),
        ("UPDATE t SET v = v + $2 WHERE id = $1", &[ScalarValue::Int32(Some(3))]),
        ("UPDATE t SET v = v * $2 - $2 WHERE id = $1", &[ScalarValue::Int16(Some(2))]),
        (
            "UPDATE t SET v = v + $2, name = name || $3 WHERE id = $1",
            &[ScalarValue::Int64(Some(-1)), ScalarValue::Utf8View(Some("!".to_owned()))],
        ),
        ("UPDATE t SET v = v + $2 WHERE id = $1", &[ScalarValue::Int32(Some(100_000))]),
        ("UPDATE t SET v = 500 WHERE id = $1", &[]),
        ("UPDATE t SET v = v + 2147483640 WHERE id = $1", &[]),
        ("INSERT INTO t (id, v) VALUES ($1, 1)", &[]),
        ("DELETE FROM t WHERE id = $1", &[]),
        ("DELETE FROM t WHERE id = $1", &[]),
        ("SELECT * FROM t WHERE id = $1", &[]),
        ("INSERT INTO t (id, v) VALUES ($1, 1000)", &[]),
        ("INSERT INTO t (id, v) VALUES ($1, 5)", &[]),
    ];
    async fn all(
        session: &Session,
        script: &[(&str, &[ScalarValue])],
        key: i64,
    ) -> Vec<Result<String, Error>> {
        let mut answers = Vec::new();
        for (sql, given) in script {
            let mut parameters = vec![id(key)];
            match given {
                [] if sql.contains("$2") => parameters.push(ScalarValue::from("given")),
                given => parameters.extend(given.iter().cloned()),
            }
            answers.push(answer_of(&prepared(session, sql).await, &parameters).await);
        }
        answers
    }
    let alone = Servers::start(1, &Options { threads: Some(1), ..Options::default() });
    let alone = alone.database(0).session();
    alone.execute(TABLE).await.expect("a table");
    // With this every statement is planned.
    alone.execute("SET intervalstyle = sql_standard").await.expect("set");
    let mut expected = BTreeMap::new();
    for key in [1, 4, 8] {
        expected.insert(key, all(&alone, &script, key).await);
    }
    for from in 0..3 {
        let (servers, sessions) = three().await;
        for (key, expected) in &expected {
            servers.take_sent();
            let answers = all(&sessions[from], &script, *key).await;
            for ((sql, _), (answer, expected)) in script.iter().zip(answers.iter().zip(expected)) {
                assert_eq!(answer, expected, "{sql} with {key}, sent to {from}");
            }
            let is_here = *key as usize / 3 == from;
            assert_eq!(servers.take_sent().is_empty(), is_here, "{key}, sent to {from}");
        }
    }
}

/// A client with an image of its own is told whose keys are whose when it has asked somebody else, and only then.
#[tokio::test]
async fn clients_with_images_are_told_where_rows_are() {
    let (_servers, sessions) = three().await;
    let session = &sessions[0];
    let told = |session: &Session| {
        let notices = session.take_notices();
        notices
            .into_iter()
            .filter_map(|notice| notice.error.detail().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let select = prepared(session, "SELECT v FROM t WHERE id = $1").await;
    answer_of(&select, &[id(8)]).await.expect("a row");
    assert!(told(session).is_empty(), "nobody has asked for it");
    session.execute("SET pando.adjustments = on").await.expect("set");
    answer_of(&select, &[id(2)]).await.expect("a row");
    assert!(told(session).is_empty(), "the row is here");
    answer_of(&select, &[id(8)]).await.expect("a row");
    let key = |id: u64| format!("{:016x}", id + (1 << 63));
    let expected = format!(
        r#"{{"entries":[[null,"{three}",1,0],["{three}","{six}",1,1],["{six}",null,1,2]],"here":0,"key":[{{"parameter":0,"type":"int8"}}],"#,
        three = key(3),
        six = key(6)
    );
    let [first] = &told(session)[..] else { panic!("one adjustment") };
    assert!(first.starts_with(&expected), "{first}");
    assert!(first.contains(r#""servers":[[0,"s0:5433"],[1,"s1:5433"],[2,"s2:5433"]]"#), "{first}");
    assert!(first.contains(r#""statement":"SELECT v FROM t WHERE id = $1""#), "{first}");
    for (sql, parameters) in [
        ("UPDATE t SET v = v + $1 WHERE id = $2", vec![ScalarValue::Int32(Some(1)), id(8)]),
        ("DELETE FROM t WHERE id = 7", vec![]),
        ("INSERT INTO t (id, v) VALUES ($1, 1)", vec![id(7)]),
    ] {
        answer_of(&prepared(session, sql).await, &parameters).await.expect(sql);
        let [one] = &told(session)[..] else { panic!("one adjustment of {sql}") };
        let part = if sql.contains('7') {
            format!(r#""key":[{{"bytes":"{}"}}]"#, key(7))
        } else {
            format!(r#""key":[{{"parameter":{},"type":"int8"}}]"#, parameters.len() - 1)
        };
        assert!(one.contains(&part), "{one}");
    }
    session.execute("BEGIN").await.expect("begun");
    answer_of(&select, &[id(8)]).await.expect("a row");
    assert!(told(session).is_empty(), "a transaction stays with its coordinator");
}

#[tokio::test]
async fn what_depends_on_the_session_is_computed_there() {
    let (servers, sessions) = three().await;
    let as_text = prepared(&sessions[0], "UPDATE t SET name = v::text || '!' WHERE id = $1").await;
    servers.take_sent();
    assert_eq!(answer_of(&as_text, &[id(8)]).await.expect("updated"), "UPDATE 1");
    let row = prepared(&sessions[1], "SELECT * FROM t WHERE id = $1").await;
    assert_eq!(answer_of(&row, &[id(8)]).await.expect("a row"), "| 8  | 8 | 8!   |");
}

/// Every update that has been acknowledged counts, whoever has sent it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_update_is_lost() {
    const EACH: i32 = 40;
    let (_servers, sessions) = three().await;
    sessions[0].execute("UPDATE t SET v = 0").await.expect("updated");
    let mut clients = Vec::new();
    for session in sessions.iter().cycle().take(6) {
        let session = session.clone();
        clients.push(tokio::spawn(async move {
            let update = prepared(&session, "UPDATE t SET v = v + 1 WHERE id = $1").await;
            for turn in 0..EACH {
                let key = if turn % 2 == 0 { 4 } else { 8 };
                assert_eq!(answer_of(&update, &[id(key)]).await.expect("updated"), "UPDATE 1");
            }
        }));
    }
    for client in clients {
        client.await.expect("it ends");
    }
    for session in &sessions {
        let row = prepared(session, "SELECT v FROM t WHERE id = $1").await;
        for key in [4, 8] {
            let expected = format!("| {} |", 6 * EACH / 2);
            assert_eq!(answer_of(&row, &[id(key)]).await.expect("a row"), expected);
        }
    }
}

/// A server forgets what an UPDATE meant when its table has become another one.
#[tokio::test]
async fn definitions_may_change_in_between() {
    let (_servers, sessions) = three().await;
    let update = prepared(&sessions[0], "UPDATE t SET v = v + 1 WHERE id = $1").await;
    let row = prepared(&sessions[0], "SELECT v FROM t WHERE id = $1").await;
    for (change, expected) in [
        ("ALTER TABLE t ADD COLUMN more integer DEFAULT 7", "| 9 |"),
        ("ALTER TABLE t DROP COLUMN name", "| 10 |"),
        ("ALTER TABLE t ALTER COLUMN v SET NOT NULL", "| 11 |"),
    ] {
        assert_eq!(answer_of(&update, &[id(8)]).await.expect("updated"), "UPDATE 1");
        assert_eq!(answer_of(&row, &[id(8)]).await.expect("a row"), expected, "{change}");
        sessions[1].execute(change).await.expect(change);
    }
}

/// Bytes from another server that say nothing, or something that does not fit, change nothing.
#[tokio::test]
async fn operations_that_make_no_sense_are_refused() {
    let (servers, sessions) = three().await;
    let key = |value: i64| {
        let column = id(value).to_array().expect("a value");
        store::key::encode_columns(&[column]).expect("a key").remove(0)
    };
    for sql in [
        "UPDATE t SET v = v + 1, name = 'x' WHERE id = $1",
        "DELETE FROM t WHERE id = $1",
        "INSERT INTO t VALUES ($1, 1, 'new')",
    ] {
        servers.take_sent();
        let number = if sql.starts_with("INSERT") { 20 } else { 7 };
        answer_of(&prepared(&sessions[0], sql).await, &[id(number)]).await.expect(sql);
        let sent = servers.take_sent().pop().expect("an operation");
        let fragments = servers.database(2).fragments();
        for end in 0..sent.len() {
            let cut = fragments.row_operation(key(number), sent.slice(..end)).await;
            assert!(cut.is_err() || end + 8 >= sent.len(), "{sql}, {end} of {} bytes", sent.len());
        }
        for place in 0..sent.len() {
            let mut changed = sent.to_vec();
            changed[place] ^= 0x55;
            // It may say something else that is allowed; it must not end the server.
            let _ = fragments.row_operation(key(number), changed.into()).await;
        }
        let elsewhere = fragments.row_operation(key(1), sent.clone()).await;
        assert!(elsewhere.is_err(), "{sql}: the row is not here");
    }
    let row = prepared(&sessions[1], "SELECT * FROM t WHERE id = $1").await;
    assert_eq!(answer_of(&row, &[id(1)]).await.expect("a row"), "| 1  | 1 | n1   |");
}

/// The same of calls of procedures.
#[tokio::test]
async fn calls_that_make_no_sense_are_refused() {
    let (servers, sessions) = three().await;
    let key = |value: i64| {
        let column = id(value).to_array().expect("a value");
        store::key::encode_columns(&[column]).expect("a key").remove(0)
    };
    let raise =
        "CREATE PROCEDURE raise(of bigint) LANGUAGE sql AS 'UPDATE t SET v = 5 WHERE id = of'";
    sessions[1].execute(raise).await.expect("created");
    servers.take_sent();
    sessions[0].execute("CALL raise(7)").await.expect("called");
    let sent = servers.take_sent().pop().expect("a call");
    let catalog = servers.database(2).store().catalog();
    let Some(Relation::Table(table)) = catalog.relation("public", "t") else { panic!("no table") };
    let fragments = servers.database(2).fragments();
    let call = |key, bytes: Bytes| {
        let id = TransactionId { coordinator: ServerId(0), number: 1 };
        fragments.call(id, table.id, key, bytes)
    };
    for end in 0..sent.len() {
        let cut = call(key(7), sent.slice(..end)).await;
        assert!(cut.is_err(), "{end} of {} bytes", sent.len());
    }
    for place in 0..sent.len() {
        let mut changed = sent.to_vec();
        changed[place] ^= 0x55;
        let _ = call(key(7), changed.into()).await;
    }
    assert!(call(key(1), sent.clone()).await.is_err(), "the row is not here");
    call(key(7), sent).await.expect("as before");
    let row = prepared(&sessions[1], "SELECT v FROM t WHERE id = $1").await;
    assert_eq!(answer_of(&row, &[id(7)]).await.expect("a row"), "| 5 |");
}
