//! COPY with files of the server.

use futures::TryStreamExt;
use query::{Database, Options, Session};

async fn count(session: &Session, table: &str) -> usize {
    let rows = session.query(&format!("SELECT * FROM {table}")).await.expect("asked");
    let batches: Vec<_> = rows.stream.try_collect().await.expect("rows");
    batches.iter().map(|batch| batch.num_rows()).sum()
}

/// PostgreSQL's statements do as there: names of columns are in a file only where they say so. Without a format it is
/// the file's name that says what it is, and the names are there.
#[tokio::test]
async fn the_first_line_is_names_only_where_the_statement_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let path = path.to_str().expect("text");
    let session = Database::open(Options::default()).expect("opened").session();
    session.execute("CREATE TABLE t (a text PRIMARY KEY, b text)").await.expect("created");
    session.execute("INSERT INTO t VALUES ('x', 'y'), ('z', NULL)").await.expect("inserted");
    for (options, lines) in [(" (FORMAT csv)", 2), (" (FORMAT csv, HEADER)", 3), ("", 3)] {
        session.execute(&format!("COPY t TO '{path}'{options}")).await.expect("written");
        let text = std::fs::read_to_string(path).expect("a file");
        assert_eq!(text.lines().count(), lines, "{options}: {text}");
        session.execute("TRUNCATE t").await.expect("emptied");
        session.execute(&format!("COPY t FROM '{path}'{options}")).await.expect("read");
        assert_eq!(count(&session, "t").await, 2, "{options}");
    }
    assert_eq!(count(&session, &format!("'{path}'")).await, 2, "as it is queried");
}

/// Text and CSV are PostgreSQL's, with its forms of values and its errors. A file whose extension says nothing is text.
#[tokio::test]
async fn text_and_csv_are_as_postgresql_writes_and_reads_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.data");
    let path = path.to_str().expect("text");
    let session = Database::open(Options::default()).expect("opened").session();
    let values = "true, timestamp '2024-02-29 12:00', interval '1 day 02:00', '\\x0aff'::bytea, ARRAY[1, NULL, 3], \
                  E'a\\tb,\"c\"', NULL::int, 1.50";
    let text =
        "t\t2024-02-29 12:00:00\t1 day 02:00:00\t\\\\x0aff\t{1,NULL,3}\ta\\tb,\"c\"\t\\N\t1.50\n";
    let csv =
        "t,2024-02-29 12:00:00,1 day 02:00:00,\\x0aff,\"{1,NULL,3}\",\"a\tb,\"\"c\"\"\",,1.50\n";
    let create = "CREATE TABLE t (b bool, ts timestamp, iv interval, y bytea, ia int[], t text, n int, d numeric(5,2))";
    session.execute(create).await.expect("created");
    for (options, expected) in [("", text), (" (FORMAT text)", text), (" (FORMAT csv)", csv)] {
        session.execute("TRUNCATE t").await.expect("emptied");
        session
            .execute(&format!("COPY (SELECT {values}) TO '{path}'{options}"))
            .await
            .expect("written");
        assert_eq!(std::fs::read_to_string(path).expect("a file"), expected, "{options}");
        session.execute(&format!("COPY t FROM '{path}'{options}")).await.expect("read");
        session.execute(&format!("COPY t TO '{path}'{options}")).await.expect("written again");
        assert_eq!(std::fs::read_to_string(path).expect("a file"), expected, "{options}");
    }
    std::fs::write(path, "t\t2024-01-01\n").expect("written");
    let error =
        session.execute(&format!("COPY t FROM '{path}'")).await.map(|_| ()).expect_err("refused");
    assert_eq!(
        (error.state().code(), error.message()),
        ("22P04", "missing data for column \"iv\"")
    );
    let binary = session.execute(&format!("COPY t TO '{path}' (FORMAT binary)")).await;
    assert_eq!(binary.map(|_| ()).expect_err("refused").state().code(), "0A000");
    let interval = session.execute(&format!("COPY t TO '{path}' (FORMAT parquet)")).await;
    assert_eq!(interval.map(|_| ()).expect_err("refused").state().code(), "0A000");
}

/// Columns that are computed are not in the file, and are computed again from what is.
#[tokio::test]
async fn computed_columns_are_left_out_and_computed_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let path = path.to_str().expect("text");
    let session = Database::open(Options::default()).expect("opened").session();
    let create = "CREATE TABLE t (a int PRIMARY KEY, b int GENERATED ALWAYS AS (a * 2) STORED)";
    session.execute(create).await.expect("created");
    session.execute("INSERT INTO t VALUES (1), (2)").await.expect("inserted");
    session.execute(&format!("COPY t TO '{path}' (FORMAT csv)")).await.expect("written");
    assert_eq!(std::fs::read_to_string(path).expect("a file"), "1\n2\n");
    session.execute("TRUNCATE t").await.expect("emptied");
    session.execute(&format!("COPY t FROM '{path}' (FORMAT csv)")).await.expect("read");
    assert_eq!(count(&session, "t").await, 2);
    let doubled = session.query("SELECT a FROM t WHERE b = a * 2").await.expect("asked");
    let doubled: Vec<_> = doubled.stream.try_collect().await.expect("rows");
    assert_eq!(doubled.iter().map(|batch| batch.num_rows()).sum::<usize>(), 2);
    let refused = session.execute(&format!("COPY t (a, b) FROM '{path}' (FORMAT csv)")).await;
    assert_eq!(refused.map(|_| ()).expect_err("refused").state().code(), "42P10");
}
