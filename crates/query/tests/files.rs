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
