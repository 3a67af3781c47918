//! All 22 queries of TPC-H against DuckDB's answers, on tables of few buckets and of hundreds.

use workloads::{Embedded, Expected, TableSource, tpch};

/// Approximate number of buckets of a large table.
const BUCKETS: u64 = 400;
/// Least number of buckets, if rows are shorter than [`ROW_BYTES`].
const BUCKETS_MIN: u64 = 200;
/// Approximate bytes of a row.
const ROW_BYTES: u64 = 200;
/// Least bucket size.
const BUCKET_BYTES_MIN: u64 = 4096;

#[tokio::test(flavor = "multi_thread")]
async fn the_smallest_scale_in_usual_buckets() {
    answers(0.01, |table| table).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_smallest_scale_in_hundreds_of_buckets() {
    answers(0.01, in_small_buckets).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenth_in_usual_buckets() {
    answers(0.1, |table| table).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenth_in_hundreds_of_buckets() {
    let pando = answers(0.1, in_small_buckets).await;
    for table in ["customer", "part", "partsupp", "orders", "lineitem"] {
        let sql = format!("SELECT count(*) FROM pando.buckets WHERE \"table\" = '{table}'");
        let buckets = pando.number(&sql).await.unwrap();
        assert!(buckets >= BUCKETS_MIN, "{table} has {buckets} buckets");
    }
}

fn in_small_buckets(table: TableSource) -> TableSource {
    let bytes = table.rows * ROW_BYTES / BUCKETS;
    table.with_bucket_size(bytes.max(BUCKET_BYTES_MIN))
}

/// Loads the tables, runs all queries, and fails with the queries whose answers are wrong.
async fn answers(scale: f64, table: fn(TableSource) -> TableSource) -> Embedded {
    let expected = Expected::at(scale).expect("answers at this scale");
    let pando = Embedded::open().expect("a database");
    for source in tpch::tables(scale) {
        pando.load(table(source)).await.expect("loaded");
    }
    let mut wrong = Vec::new();
    for n in 1..=tpch::QUERIES {
        let checked = match pando.answer(tpch::query(n)).await {
            Ok(answer) => expected.check(n, &answer),
            Err(error) => Err(error.context(format!("query {n}"))),
        };
        wrong.extend(checked.err().map(|error| format!("{error:#}")));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    pando
}
