//! Sessions that other sessions see, cancel and end; named cursors and prepared statements.

use super::harness::{Served, connect, serve};
use std::time::Duration;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, SimpleQueryMessage};

/// The values of all rows of a text of statements, in order.
async fn values(client: &Client, sql: &str) -> Vec<String> {
    let messages = client.simple_query(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let rows = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    rows.flat_map(|row| (0..row.len()).map(|i| row.get(i).unwrap_or("NULL").to_owned())).collect()
}

async fn refusal(client: &Client, sql: &str) -> String {
    let error = client.simple_query(sql).await.map(drop).expect_err(sql);
    let error = error.as_db_error().expect("an answer");
    format!("{} {}", error.code().code(), error.message())
}

async fn two(served: &Served) -> (Client, Client, String) {
    let one = connect(served, "u", None).await.expect("connected");
    let other = connect(served, "u", None).await.expect("connected");
    let process = values(&one, "SELECT pg_backend_pid()").await.remove(0);
    (one, other, process)
}

/// Waits until a query of the activity of a session returns a row.
async fn until_answer(client: &Client, what: &str, process: &str, answer: &str) {
    let sql = format!("SELECT {what} FROM pg_stat_activity WHERE pid = {process}");
    for _ in 0..500 {
        if values(client, &sql).await == [answer] {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} never was {answer}");
}

/// Waits until a session is in a state.
async fn until(client: &Client, process: &str, state: &str) {
    until_answer(client, "state", process, state).await;
}

#[tokio::test]
async fn a_session_that_ends_itself_gets_the_error_at_once() {
    let served = serve(&[]);
    for _ in 0..20 {
        let one = connect(&served, "u", None).await.expect("connected");
        assert_eq!(
            refusal(&one, "SELECT pg_terminate_backend(pg_backend_pid())").await,
            "57P01 terminating connection due to administrator command"
        );
    }
}

#[tokio::test]
async fn temporary_tables_end_with_their_session() {
    let served = serve(&[]);
    let (one, other, _) = two(&served).await;
    let there = "SELECT count(*) FROM pg_class WHERE relpersistence = 't'";
    values(&one, "CREATE TEMP TABLE t (a serial PRIMARY KEY); INSERT INTO t VALUES (1)").await;
    assert_eq!(values(&other, there).await, ["3"], "a table, its key's index, its sequence");
    let name =
        values(&one, "SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()").await;
    assert_eq!(
        refusal(&other, &format!("SELECT * FROM {}.t", name[0])).await,
        "0A000 cannot access temporary tables of other sessions"
    );
    values(&one, "DISCARD ALL").await;
    assert_eq!(values(&other, there).await, ["0"]);
    values(&one, "CREATE TEMP TABLE t (a int)").await;
    drop(one);
    for _ in 0..500 {
        if values(&other, "SELECT nspname FROM pg_namespace WHERE nspname ~ '^pg_temp'")
            .await
            .is_empty()
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the table never went");
}

#[tokio::test]
async fn a_session_is_shown_cancelled_and_ended_by_its_process_number() {
    let served = serve(&[]);
    let (one, other, process) = two(&served).await;
    let sleep = one.simple_query("SELECT pg_sleep(60)");
    let cancel = async {
        until(&other, &process, "active").await;
        let query = format!("SELECT query FROM pg_stat_activity WHERE pid = {process}");
        assert_eq!(values(&other, &query).await, ["SELECT pg_sleep(60)"]);
        values(&other, &format!("SELECT pg_cancel_backend({process})")).await
    };
    let (slept, cancelled) = tokio::join!(sleep, cancel);
    assert_eq!(cancelled, ["t"]);
    let error = slept.map(drop).expect_err("cancelled");
    assert_eq!(error.code().map(|code| code.code()), Some("57014"));
    one.simple_query("BEGIN").await.expect("begun");
    until(&other, &process, "idle in transaction").await;
    one.simple_query("SELECT 1 / 0").await.map(drop).expect_err("divided by zero");
    until(&other, &process, "idle in transaction (aborted)").await;
    assert_eq!(values(&other, &format!("SELECT pg_terminate_backend({process})")).await, ["t"]);
    one.simple_query("SELECT 1").await.map(drop).expect_err("ended");
    until_answer(&other, "count(*)", &process, "0").await;
    assert_eq!(values(&other, &format!("SELECT pg_terminate_backend({process})")).await, ["f"]);
}

#[tokio::test]
async fn a_cursor_has_the_position_of_postgresqls() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let numbers = "SELECT g FROM generate_series(1, 5) AS s(g) ORDER BY 1";
    client.simple_query("BEGIN").await.expect("begun");
    client.simple_query(&format!("DECLARE c SCROLL CURSOR FOR {numbers}")).await.expect("declared");
    for (fetch, expected) in [
        ("2 FROM c", "1 2"),
        ("PRIOR c", "1"),
        ("PRIOR c", ""),
        ("ALL FROM c", "1 2 3 4 5"),
        ("BACKWARD ALL FROM c", "5 4 3 2 1"),
        ("LAST c", "5"),
        ("0 c", "5"),
        ("ABSOLUTE -2 c", "4"),
        ("RELATIVE -1 c", "3"),
        ("ABSOLUTE 9 c", ""),
        ("BACKWARD 2 c", "5 4"),
        ("FIRST c", "1"),
    ] {
        assert_eq!(values(&client, &format!("FETCH {fetch}")).await.join(" "), expected, "{fetch}");
    }
    client.simple_query("MOVE 2 FROM c").await.expect("moved");
    assert_eq!(values(&client, "FETCH c").await, ["4"]);
    client.simple_query(&format!("DECLARE d CURSOR FOR {numbers}")).await.expect("declared");
    assert_eq!(values(&client, "FETCH ABSOLUTE 2 d").await, ["2"]);
    assert_eq!(values(&client, "FETCH PRIOR d").await, ["1"]);
    let declare = format!("DECLARE e NO SCROLL CURSOR FOR {numbers}; SAVEPOINT s");
    client.simple_query(&declare).await.expect("declared");
    assert_eq!(values(&client, "FETCH ABSOLUTE 2 e").await, ["2"]);
    assert_eq!(refusal(&client, "FETCH PRIOR e").await, "55000 cursor can only scan forward");
    client.simple_query("ROLLBACK TO s").await.expect("undone");
    assert_eq!(refusal(&client, "FETCH e").await, "55000 portal \"e\" cannot be run");
    client.simple_query("ROLLBACK TO s").await.expect("undone");
    let joined =
        format!("SELECT g FROM ({numbers}) AS a JOIN (VALUES (1), (2)) AS b (g) USING (g)");
    client.simple_query(&format!("DECLARE f CURSOR FOR {joined}")).await.expect("declared");
    client.simple_query("FETCH 2 f").await.expect("fetched");
    assert_eq!(refusal(&client, "FETCH PRIOR f").await, "55000 cursor can only scan forward");
    client.simple_query("ROLLBACK").await.expect("undone");
    assert_eq!(refusal(&client, "FETCH c").await, "34000 cursor \"c\" does not exist");
}

#[tokio::test]
async fn a_rollback_to_a_savepoint_closes_the_cursors_since() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let declare = |name: &str| format!("DECLARE {name} CURSOR FOR VALUES (1), (2);");
    let (a, b, c) = (declare("a"), declare("b"), declare("c"));
    let begun = format!("BEGIN; {a} SAVEPOINT s; {b} SAVEPOINT t; {c} RELEASE t;");
    client.simple_query(&begun).await.expect("declared");
    let names = "SELECT name FROM pg_cursors ORDER BY name";
    assert_eq!(values(&client, names).await, ["a", "b", "c"]);
    client.simple_query("ROLLBACK TO s").await.expect("undone");
    assert_eq!(values(&client, names).await, ["a"]);
    client.simple_query(&b).await.expect("declared again");
    client.simple_query("RELEASE s; SAVEPOINT s; ROLLBACK TO s").await.expect("undone");
    assert_eq!(values(&client, names).await, ["a", "b"]);
    for (query, refused) in [
        ("DECLARE x SCROLL CURSOR FOR TABLE pg_class FOR UPDATE", "0A000 DECLARE SCROLL CURSOR"),
        (
            "DECLARE x CURSOR WITH HOLD FOR TABLE pg_class FOR SHARE",
            "0A000 DECLARE CURSOR WITH HOLD",
        ),
        ("DECLARE x INSENSITIVE CURSOR FOR TABLE pg_class FOR UPDATE", "42P11 DECLARE INSENSITIVE"),
    ] {
        assert!(refusal(&client, query).await.starts_with(refused), "{query}");
        client.simple_query("ROLLBACK TO s").await.expect("undone");
    }
}

/// Its rows are computed before they are fetched: their error had failed the transaction, and nobody was told it.
#[tokio::test]
async fn an_error_of_a_cursor_is_that_of_its_fetch() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let declare =
        "BEGIN; DECLARE c CURSOR FOR SELECT 1 / (g - 3) FROM generate_series(1, 5) AS s(g)";
    client.simple_query(declare).await.expect("declared");
    assert_eq!(values(&client, "SELECT 7 FROM pg_sleep(0.2)").await, ["7"]);
    assert_eq!(refusal(&client, "FETCH ALL c").await, "22012 division by zero");
    assert!(refusal(&client, "SELECT 7").await.starts_with("25P02"));
}

#[tokio::test]
async fn a_cursor_with_hold_survives_a_commit_but_not_a_rollback() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let declare = "DECLARE h CURSOR WITH HOLD FOR VALUES (1), (2)";
    client.simple_query(&format!("BEGIN; {declare}; COMMIT")).await.expect("held");
    let listed = "SELECT name, is_holdable, is_scrollable FROM pg_cursors";
    assert_eq!(values(&client, listed).await, ["h", "t", "t"]);
    assert_eq!(values(&client, "FETCH ALL h").await, ["1", "2"]);
    client.simple_query("CLOSE h").await.expect("closed");
    client.simple_query(&format!("BEGIN; {declare}")).await.expect("declared");
    client.simple_query("ROLLBACK").await.expect("undone");
    assert_eq!(refusal(&client, "FETCH h").await, "34000 cursor \"h\" does not exist");
    assert_eq!(values(&client, "SELECT count(*) FROM pg_cursors").await, ["0"]);
}

/// Its warning had made the connection forget the savepoints: no later rollback closed cursors.
#[tokio::test]
async fn begin_in_a_transaction_keeps_its_savepoints() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    client.simple_query("CREATE TABLE t (a int PRIMARY KEY)").await.expect("made");
    let begun = "BEGIN; DECLARE a CURSOR FOR VALUES (1); SAVEPOINT s; INSERT INTO t VALUES (1)";
    client.simple_query(begun).await.expect("begun");
    let names = "SELECT name FROM pg_cursors ORDER BY name";
    for (begin, declare) in [
        ("BEGIN", "DECLARE b CURSOR FOR TABLE t"),
        ("START TRANSACTION", "DECLARE b CURSOR WITH HOLD FOR TABLE t"),
    ] {
        client.simple_query(begin).await.expect("only a warning");
        client.simple_query(declare).await.expect("declared");
        assert_eq!(values(&client, names).await, ["a", "b"]);
        client.simple_query("ROLLBACK TO s").await.expect("undone");
        assert_eq!(values(&client, names).await, ["a"]);
    }
    client.simple_query("BEGIN; RELEASE s").await.expect("released");
    let released = "3B001 savepoint \"s\" does not exist";
    assert_eq!(refusal(&client, "ROLLBACK TO s").await, released);
    client.simple_query("ROLLBACK").await.expect("undone");
    assert_eq!(values(&client, "SELECT count(*) FROM t").await, ["0"]);
}

/// One that was declared behind savepoints had ended with a rollback to one of a later transaction.
#[tokio::test]
async fn savepoints_of_later_transactions_leave_a_held_cursor() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let declare = "SAVEPOINT s; SAVEPOINT t; DECLARE h CURSOR WITH HOLD FOR VALUES (1), (2), (3);";
    for commit in ["COMMIT; BEGIN", "COMMIT AND CHAIN"] {
        client.simple_query(&format!("BEGIN; {declare} {commit}")).await.expect("held");
        client.simple_query("SAVEPOINT u").await.expect("set");
        assert_eq!(values(&client, "FETCH h").await, ["1"]);
        client.simple_query("ROLLBACK TO u").await.expect("undone");
        assert_eq!(values(&client, "FETCH h").await, ["2"]);
        client
            .simple_query("RELEASE u; SAVEPOINT s; ROLLBACK TO s; ROLLBACK")
            .await
            .expect("ended");
        assert_eq!(values(&client, "FETCH h").await, ["3"]);
        client.simple_query("CLOSE h").await.expect("closed");
    }
}

/// It had counted as one that succeeds.
#[tokio::test]
async fn a_commit_that_fails_closes_its_cursors() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let tables = "CREATE TABLE p (a int PRIMARY KEY); \
                  CREATE TABLE c (a int REFERENCES p DEFERRABLE INITIALLY DEFERRED)";
    client.simple_query(tables).await.expect("made");
    let begun =
        "BEGIN; DECLARE h CURSOR WITH HOLD FOR VALUES (1); SAVEPOINT s; INSERT INTO c VALUES (1)";
    client.simple_query(begun).await.expect("begun");
    assert!(refusal(&client, "COMMIT").await.starts_with("23503"));
    assert_eq!(refusal(&client, "FETCH h").await, "34000 cursor \"h\" does not exist");
    assert_eq!(values(&client, "SELECT count(*) FROM pg_cursors").await, ["0"]);
}

#[tokio::test]
async fn a_cursor_with_hold_needs_no_transaction_block() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let declare = "DECLARE h CURSOR WITH HOLD FOR VALUES (1), (2)";
    client.simple_query(declare).await.expect("declared");
    assert_eq!(values(&client, "FETCH 1 h").await, ["1"]);
    assert_eq!(values(&client, "FETCH ALL h").await, ["2"]);
    client.simple_query("CLOSE h").await.expect("closed");
    client.execute(declare, &[]).await.expect("declared by a prepared statement");
    assert_eq!(values(&client, "FETCH ALL h").await, ["1", "2"]);
    client.simple_query("CLOSE h").await.expect("closed");
    let failing = format!("{declare}; SELECT 1 / 0");
    assert_eq!(refusal(&client, &failing).await, "22012 division by zero");
    assert_eq!(refusal(&client, "FETCH h").await, "34000 cursor \"h\" does not exist");
}

/// PostgreSQL refuses what would take rows or columns away from a cursor.
#[tokio::test]
async fn a_relation_that_a_cursor_reads_keeps_its_rows_and_columns() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let tables =
        "CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2); CREATE VIEW v AS SELECT * FROM t";
    client.simple_query(tables).await.expect("created");
    let in_use = |what: &str| {
        format!(
            "55006 cannot {what} \"t\" because it is being used by active queries in this session"
        )
    };
    let declare = "BEGIN; DECLARE c CURSOR FOR SELECT * FROM v; SAVEPOINT s";
    client.simple_query(declare).await.expect("declared");
    for (statement, what) in [
        ("TRUNCATE t", "TRUNCATE"),
        ("ALTER TABLE t ADD COLUMN b int", "ALTER TABLE"),
        ("DROP TABLE t CASCADE", "DROP TABLE"),
        ("CREATE INDEX ON t (a)", "CREATE INDEX"),
    ] {
        assert_eq!(refusal(&client, statement).await, in_use(what), "{statement}");
        client.simple_query("ROLLBACK TO s").await.expect("undone");
    }
    assert_eq!(values(&client, "FETCH ALL c").await, ["1", "2"]);
    assert_eq!(refusal(&client, "TRUNCATE t").await, in_use("TRUNCATE"), "its end is no matter");
    client.simple_query("ROLLBACK TO s; CLOSE c; TRUNCATE t; ROLLBACK").await.expect("closed");
    let hold = "BEGIN; DECLARE h CURSOR WITH HOLD FOR SELECT * FROM t; SAVEPOINT s";
    client.simple_query(hold).await.expect("declared");
    assert_eq!(refusal(&client, "TRUNCATE t").await, in_use("TRUNCATE"));
    client.simple_query("ROLLBACK TO s; COMMIT; TRUNCATE t").await.expect("it has its rows");
    assert_eq!(values(&client, "FETCH ALL h").await, ["1", "2"]);
}

#[tokio::test]
async fn a_named_prepared_statement_takes_values() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let prepare = "PREPARE p (int, text) AS SELECT $1 + 1, $2 || 'x'";
    client.simple_query(prepare).await.expect("prepared");
    assert_eq!(values(&client, "EXECUTE p(1, 'a')").await, ["2", "ax"]);
    assert_eq!(values(&client, "EXECUTE p(1 + 1, upper('b'))").await, ["3", "Bx"]);
    assert_eq!(values(&client, "EXECUTE p(NULL, NULL)").await, ["NULL", "NULL"]);
    let listed = "SELECT name, statement, parameter_types, from_sql, custom_plans \
                  FROM pg_prepared_statements";
    assert_eq!(values(&client, listed).await, ["p", prepare, "{integer,text}", "t", "3"]);
    let wrong = "42601 wrong number of parameters for prepared statement \"p\"";
    assert_eq!(refusal(&client, "EXECUTE p(1)").await, wrong);
    let again = "42P05 prepared statement \"p\" already exists";
    assert_eq!(refusal(&client, "PREPARE p AS SELECT 1").await, again);
    let unknown = "42704 type \"nosuch\" does not exist";
    assert_eq!(refusal(&client, "PREPARE q (int, nosuch) AS SELECT $1").await, unknown);
    assert!(!values(&client, "EXPLAIN EXECUTE p(1, 'a')").await.is_empty());
    client.simple_query("DEALLOCATE p").await.expect("forgotten");
    let gone = "26000 prepared statement \"p\" does not exist";
    assert_eq!(refusal(&client, "EXECUTE p(1, 'a')").await, gone);
}

#[tokio::test]
async fn arguments_of_execute_are_assigned_to_parameters() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let prepare = "PREPARE w (int) AS SELECT $1 + 1;
        PREPARE t (text, varchar(2), numeric(5, 2)) AS SELECT $1, $2, $3;
        PREPARE d (date, bool) AS SELECT $1, $2";
    for statement in prepare.split(';') {
        client.simple_query(statement).await.expect("prepared");
    }
    for (execute, expected) in [
        ("EXECUTE w(2.5)", vec!["4"]),
        ("EXECUTE w(-2.5)", vec!["-2"]),
        ("EXECUTE w('7')", vec!["8"]),
        ("EXECUTE w(1 + 1.6)", vec!["4"]),
        // Lengths and precisions of parameters do not count.
        ("EXECUTE t(5, 'abc', 1.2345)", vec!["5", "abc", "1.2345"]),
        ("EXECUTE t(true, 12345, 1e3)", vec!["true", "12345", "1000"]),
        ("EXECUTE t(date '2024-01-31', NULL, '1.50')", vec!["2024-01-31", "NULL", "1.50"]),
        ("EXECUTE d('2024-02-29', false)", vec!["2024-02-29", "f"]),
        ("EXECUTE d(timestamp '2024-02-29 10:00', 'yes')", vec!["2024-02-29", "t"]),
    ] {
        assert_eq!(values(&client, execute).await, expected, "{execute}");
    }
    let wrong = "42804 parameter $1 of type";
    for (execute, of, to) in [
        ("EXECUTE w(true)", "boolean", "integer"),
        ("EXECUTE w('5'::text)", "text", "integer"),
        ("EXECUTE d(5, true)", "integer", "date"),
    ] {
        let expected = format!("{wrong} {of} cannot be coerced to the expected type {to}");
        assert_eq!(refusal(&client, execute).await, expected, "{execute}");
    }
    let syntax = "22P02 invalid input syntax for type integer: \"2.5\"";
    assert_eq!(refusal(&client, "EXECUTE w('2.5')").await, syntax);
}

#[tokio::test]
async fn parameters_have_types_of_users() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let create = "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
        CREATE TABLE m (id int PRIMARY KEY, v mood);
        INSERT INTO m VALUES (1, 'ok'), (2, 'happy'), (3, 'sad');
        CREATE DOMAIN pos AS int CHECK (value > 0)";
    client.batch_execute(create).await.expect("made");
    let compare =
        "PREPARE c (mood) AS SELECT $1 > 'sad', $1::text, id FROM m WHERE v >= $1 ORDER BY id";
    client.simple_query(compare).await.expect("prepared");
    assert_eq!(values(&client, "EXECUTE c('ok')").await, ["t", "ok", "1", "t", "ok", "2"]);
    assert_eq!(values(&client, "EXECUTE c(NULL)").await, [""; 0]);
    let wrong = "22P02 invalid input value for enum mood: \"bogus\"";
    assert_eq!(refusal(&client, "EXECUTE c('bogus')").await, wrong);
    client.simple_query("PREPARE e AS SELECT id FROM m WHERE v = $1").await.expect("prepared");
    assert_eq!(values(&client, "EXECUTE e('happy')").await, ["2"]);
    let any = "PREPARE a (mood[]) AS SELECT id FROM m WHERE v = ANY ($1) ORDER BY id";
    client.simple_query(any).await.expect("prepared");
    assert_eq!(values(&client, "EXECUTE a('{ok,sad}')").await, ["1", "3"]);
    let change = "PREPARE u (mood, mood) AS UPDATE m SET v = $1 WHERE v = $2 RETURNING id, v";
    client.simple_query(change).await.expect("prepared");
    assert_eq!(values(&client, "EXECUTE u('happy', 'sad')").await, ["3", "happy"]);
    // The same text, with a number.
    client.simple_query("PREPARE n (bigint) AS SELECT $1").await.expect("prepared");
    client.simple_query("PREPARE l (mood) AS SELECT $1").await.expect("prepared");
    for _ in 0..3 {
        assert_eq!(values(&client, "EXECUTE n(2)").await, ["2"]);
        assert_eq!(values(&client, "EXECUTE l('ok')").await, ["ok"]);
    }
    client.simple_query("PREPARE d (pos) AS SELECT $1 + 1").await.expect("prepared");
    assert_eq!(values(&client, "EXECUTE d(4)").await, ["5"]);
    let refused = "23514 value for domain pos violates check constraint \"pos_check\"";
    assert_eq!(refusal(&client, "EXECUTE d(-4)").await, refused);
}

#[tokio::test]
async fn a_repeated_cast_of_a_parameter_is_the_cast_of_its_type() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    client.batch_execute("CREATE DOMAIN pos AS int CHECK (value > 0)").await.expect("made");
    let pos = client.prepare_typed("SELECT $1::pos", &[Type::INT4]).await.expect("prepared");
    let oid = client.prepare_typed("SELECT $1::oid", &[Type::INT4]).await.expect("prepared");
    let wide = client.prepare_typed("SELECT $1::oid", &[Type::INT8]).await.expect("prepared");
    for _ in 0..3 {
        assert_eq!(client.query_one(&pos, &[&5]).await.expect("positive").get::<_, i32>(0), 5);
        let refused = client.query_one(&pos, &[&-5]).await.expect_err("negative");
        assert_eq!(refused.code().map(|code| code.code()), Some("23514"));
        assert_eq!(client.query_one(&oid, &[&7]).await.expect("an id").get::<_, u32>(0), 7);
        assert_eq!(client.query_one(&oid, &[&-1]).await.expect("an id").get::<_, u32>(0), u32::MAX);
        assert_eq!(client.query_one(&wide, &[&7_i64]).await.expect("an id").get::<_, u32>(0), 7);
        let refused = client.query_one(&wide, &[&5_000_000_000_i64]).await.expect_err("too great");
        assert_eq!(refused.code().map(|code| code.code()), Some("22003"));
    }
}

#[tokio::test]
async fn a_parameter_of_a_domain_is_refused_if_it_is_too_long() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let create = "CREATE DOMAIN us AS varchar(3); CREATE DOMAIN uus AS us;
        CREATE DOMAIN uc AS char(3); CREATE TABLE d (a us, k int)";
    client.batch_execute(create).await.expect("made");
    for statement in [
        "PREPARE cast_us AS SELECT $1::us",
        "PREPARE cast_uus AS SELECT $1::uus",
        "PREPARE cast_uc AS SELECT $1::uc",
        "PREPARE of_us (us) AS SELECT $1",
        "PREPARE adds AS INSERT INTO d VALUES ($1, 1)",
        "PREPARE casts AS INSERT INTO d VALUES ($1::us, 1)",
    ] {
        client.simple_query(statement).await.expect(statement);
    }
    let long = "22001 value too long for type character varying(3)";
    for execute in [
        "EXECUTE cast_us('abcdef')",
        "EXECUTE cast_uus('abcdef')",
        "EXECUTE of_us('abcdef')",
        "EXECUTE of_us('abcdef'::text)",
        "EXECUTE adds('abcdef')",
        "EXECUTE casts('abcdef')",
    ] {
        assert_eq!(refusal(&client, execute).await, long, "{execute}");
    }
    let long = "22001 value too long for type character(3)";
    assert_eq!(refusal(&client, "EXECUTE cast_uc('abcdef')").await, long);
    assert_eq!(values(&client, "SELECT count(*) FROM d").await, ["0"]);
    for (execute, expected) in [
        ("EXECUTE cast_us('abc   ')", "abc"),
        ("EXECUTE cast_uc('ab   ')", "ab "),
        ("EXECUTE of_us('abcdef'::us)", "abc"),
        ("EXECUTE of_us(NULL)", "NULL"),
    ] {
        assert_eq!(values(&client, execute).await, [expected], "{execute}");
    }
}

#[tokio::test]
async fn changes_with_parameters_are_described_before_they_have_values() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let create = "CREATE TABLE t (k int PRIMARY KEY, v int, note text)";
    client.batch_execute(create).await.expect("made");
    let upsert = "INSERT INTO t VALUES ($1, $2, $3) ON CONFLICT (k) DO UPDATE SET v = t.v + $4 \
                  WHERE t.v < $5 RETURNING v + $6 AS more, note";
    let upsert = client.prepare(upsert).await.expect("prepared");
    let types: Vec<String> = upsert.params().iter().map(|param| param.name().to_owned()).collect();
    assert_eq!(types, ["int4", "int4", "text", "int4", "int4", "int4"]);
    for wanted in [11, 13] {
        let rows = client.query(&upsert, &[&1, &1, &"a", &2, &50, &10]).await.expect("written");
        assert_eq!((rows[0].get::<_, i32>(0), rows[0].get::<_, &str>(1)), (wanted, "a"));
    }
    let update = "UPDATE t SET v = $1 WHERE k = $2 AND note <> $3 RETURNING v - $4";
    let update = client.prepare(update).await.expect("prepared");
    let rows = client.query(&update, &[&7, &1, &"b", &3]).await.expect("written");
    assert_eq!(rows[0].get::<_, i32>(0), 4);
}

#[tokio::test]
async fn changes_in_with_and_merges_are_prepared() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let create = "CREATE TABLE t (k int PRIMARY KEY, v int); CREATE TABLE u (k int PRIMARY KEY, v int); \
                  INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)";
    client.batch_execute(create).await.expect("made");
    let moved = "WITH moved AS (DELETE FROM t WHERE v < $1 RETURNING *) \
                 INSERT INTO u SELECT k + $2, v FROM moved RETURNING k";
    let moved = client.prepare(moved).await.expect("prepared");
    let types: Vec<String> = moved.params().iter().map(|param| param.name().to_owned()).collect();
    assert_eq!(types, ["int4", "int4"]);
    let rows = client.query(&moved, &[&15, &100]).await.expect("moved");
    assert_eq!(rows.iter().map(|row| row.get::<_, i32>(0)).collect::<Vec<_>>(), [101]);
    let merge = "MERGE INTO t USING (SELECT $1::int AS k) s ON t.k = s.k \
                 WHEN MATCHED THEN UPDATE SET v = $2 WHEN NOT MATCHED THEN INSERT VALUES (s.k, $2)";
    let merge = client.prepare(merge).await.expect("prepared");
    assert_eq!(client.execute(&merge, &[&2, &21]).await.expect("merged"), 1);
    assert_eq!(client.execute(&merge, &[&4, &40]).await.expect("merged"), 1);
    assert_eq!(
        values(&client, "SELECT k, v FROM t ORDER BY k").await,
        ["2", "21", "3", "30", "4", "40"]
    );
    let prepare = "PREPARE m (int) AS MERGE INTO t USING u ON t.k = u.k \
                   WHEN MATCHED THEN DO NOTHING WHEN NOT MATCHED THEN INSERT VALUES (u.k, $1)";
    client.batch_execute(prepare).await.expect("prepared");
    assert!(!values(&client, "EXPLAIN EXECUTE m(5)").await.is_empty());
    assert!(
        !values(&client, "EXPLAIN INSERT INTO t OVERRIDING USER VALUE VALUES (9, 9)")
            .await
            .is_empty()
    );
    client
        .batch_execute("BEGIN; SAVEPOINT s; EXECUTE m(5); ROLLBACK TO s; COMMIT")
        .await
        .expect("none");
    assert_eq!(values(&client, "SELECT count(*) FROM t").await, ["3"]);
    client.batch_execute("EXECUTE m(6)").await.expect("merged");
    assert_eq!(values(&client, "SELECT v FROM t WHERE k = 101").await, ["6"]);
    let cursor =
        "DECLARE c CURSOR WITH HOLD FOR WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d";
    let refused = "0A000 DECLARE CURSOR must not contain data-modifying statements in WITH";
    assert_eq!(refusal(&client, cursor).await, refused);
}

#[tokio::test]
async fn arguments_of_execute_need_no_other_rows() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    client.simple_query("PREPARE q (int) AS SELECT $1 + 1").await.expect("prepared");
    assert_eq!(values(&client, "EXECUTE q (length('abc') * (ARRAY[4])[1])").await, ["13"]);
    for (argument, refused) in [
        ("(SELECT 1)", "0A000 cannot use subquery in EXECUTE parameter"),
        ("1 + EXISTS (SELECT 1)::int", "0A000 cannot use subquery in EXECUTE parameter"),
        ("sum(1)", "42803 aggregate functions are not allowed in EXECUTE parameters"),
        ("(ARRAY[count(*)])[1]", "42803 aggregate functions are not allowed in EXECUTE parameters"),
        ("grouping(1)", "42803 grouping operations are not allowed in EXECUTE parameters"),
        ("sum(1) OVER ()", "42P20 window functions are not allowed in EXECUTE parameters"),
        ("unnest(ARRAY[1])", "0A000 set-returning functions are not allowed in EXECUTE parameters"),
    ] {
        assert_eq!(refusal(&client, &format!("EXECUTE q ({argument})")).await, refused);
    }
}

/// They had kept the types of their parameters as these were when the statements were described.
#[tokio::test]
async fn prepared_statements_follow_changes_of_types() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let made = "CREATE TYPE mood AS ENUM ('a'); CREATE DOMAIN few AS int; \
        CREATE TABLE t (id int PRIMARY KEY, m mood, f few); \
        PREPARE i AS INSERT INTO t VALUES ($1, $2, $3) RETURNING m; \
        PREPARE s AS SELECT id FROM t WHERE m = ANY ($1) ORDER BY id; EXECUTE i (1, 'a', 1)";
    client.simple_query(made).await.expect("made");
    assert_eq!(values(&client, "EXECUTE s ('{a}')").await, ["1"]);
    let changed = "ALTER TYPE mood ADD VALUE 'z'; ALTER DOMAIN few ADD CHECK (VALUE < 5)";
    client.simple_query(changed).await.expect("changed");
    assert_eq!(values(&client, "EXECUTE i (2, 'z', 2)").await, ["z"]);
    assert_eq!(values(&client, "EXECUTE s ('{z,a}')").await, ["1", "2"]);
    let refused = "23514 value for domain few violates check constraint \"few_check\"";
    assert_eq!(refusal(&client, "EXECUTE i (3, 'z', 7)").await, refused);
    client.simple_query("ALTER TYPE mood RENAME VALUE 'z' TO 'y'").await.expect("renamed");
    assert_eq!(values(&client, "EXECUTE i (4, 'y', 3)").await, ["y"]);
    assert!(refusal(&client, "EXECUTE i (5, 'z', 3)").await.starts_with("22P02"));
}
