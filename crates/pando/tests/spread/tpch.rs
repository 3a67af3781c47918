//! TPC-H's queries on three servers against DuckDB's answers: with default settings, with hash-partitioned joins, and with
//! operator bundles.

use pando::Options;
use workloads::{Embedded, Expected, InProcess, tpch};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answers_are_those_of_one_server() {
    let servers = InProcess::start(3, Options::default()).await.expect("three servers");
    let expected = Expected::at(0.01).expect("answers at this scale");
    let loader = Embedded { session: servers.servers()[0].database.session() };
    for source in tpch::tables(0.01) {
        let bytes = (source.rows * 2).max(4096);
        loader.load(source.with_bucket_size(bytes)).await.expect("loaded");
    }
    let begun = std::time::Instant::now();
    let spread = "SELECT count(*) FROM pando.shares WHERE \"table\" = 'lineitem'";
    while loader.number(spread).await.expect("a number") < 3 {
        assert!(begun.elapsed().as_secs() < 60, "lineitem does not spread");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let mut wrong = Vec::new();
    for (server, setting) in [
        (1, "RESET pando.broadcast_bytes"),
        (2, "SET pando.broadcast_bytes = 0"),
        (2, "SET pando.bundling = none"),
        (1, "SET pando.bundling = optimal"),
        (0, "SET pando.bundling = excessive"),
    ] {
        let asked = Embedded { session: servers.servers()[server].database.session() };
        asked.session.execute(setting).await.expect("set");
        for n in 1..=tpch::QUERIES {
            let checked = match asked.answer(tpch::query(n)).await {
                Ok(answer) => expected.check(n, &answer),
                Err(error) => Err(error.context(format!("query {n} after {setting}"))),
            };
            wrong.extend(checked.err().map(|error| format!("{error:#}")));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
