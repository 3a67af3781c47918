//! The table columns that result columns come from, as clients are told.

use futures::TryStreamExt;
use query::{Database, Options};

/// The column's number behind each column of a query on `t(a, b)`, `u(a, c)` and the view `v(x)`; 0 for none.
async fn origins(sql: &str) -> Vec<i16> {
    let session = Database::open(Options::default()).expect("opened").session();
    let script = "CREATE TABLE t (a int PRIMARY KEY, b varchar(20)); \
                  CREATE TABLE u (a int PRIMARY KEY, c text); \
                  CREATE VIEW v AS SELECT b AS x FROM t";
    session.execute(script).await.expect("made");
    let fields = session.query(sql).await.expect("answers").fields;
    fields.iter().map(|field| field.origin.map_or(0, |origin| origin.column)).collect()
}

#[tokio::test]
async fn a_column_keeps_its_origin_and_an_expression_has_none() {
    assert_eq!(origins("SELECT b AS other, a, a + 1, 'x' FROM t ORDER BY 1").await, [2, 1, 0, 0]);
    assert_eq!(origins("SELECT t.b, u.c, u.a FROM t JOIN u ON t.a = u.a").await, [2, 2, 1]);
    assert_eq!(origins("SELECT y.z FROM (SELECT b AS z FROM t LIMIT 3) AS y").await, [2]);
    assert_eq!(origins("WITH w AS (SELECT b FROM t) SELECT * FROM w").await, [2]);
    assert_eq!(origins("SELECT b, count(*) FROM t GROUP BY b").await, [2, 0]);
    assert_eq!(origins("SELECT DISTINCT b, row_number() OVER () FROM t").await, [2, 0]);
    assert_eq!(origins("SELECT a FROM t UNION ALL SELECT a FROM u").await, [0]);
    assert_eq!(origins("SELECT x FROM v").await, [1]);
    assert_eq!(origins("INSERT INTO t VALUES (1, 'x') RETURNING b, a, a + 1").await, [2, 1, 0]);
}

#[tokio::test]
async fn an_origin_names_the_table_as_the_catalog_does() {
    let session = Database::open(Options::default()).expect("opened").session();
    session.execute("CREATE TABLE t (a int PRIMARY KEY)").await.expect("made");
    let own = session.query("SELECT a FROM t").await.expect("answers").fields;
    let origin = own[0].origin.expect("a column of a table");
    let found = format!("SELECT relname FROM pg_class WHERE oid = {}", origin.table);
    let rows = session.query(&found).await.expect("answers").stream;
    let rows: usize = rows
        .try_collect::<Vec<_>>()
        .await
        .expect("rows")
        .iter()
        .map(|batch| batch.num_rows())
        .sum();
    assert_eq!(rows, 1);
    let system = session.query("SELECT relname FROM pg_class").await.expect("answers").fields;
    assert_eq!(system[0].origin.map(|origin| (origin.table, origin.column)), Some((1259, 2)));
}

#[tokio::test]
async fn a_column_has_the_type_that_it_was_declared_with() {
    let session = Database::open(Options::default()).expect("opened").session();
    session.execute("CREATE TABLE t (a varchar(7), b char(3))").await.expect("made");
    let fields = session.query("SELECT a, b FROM t").await.expect("answers").fields;
    let types: Vec<String> = fields.iter().map(|field| field.sql_type.to_string()).collect();
    assert_eq!(types, ["character varying(7)", "character(3)"]);
}
