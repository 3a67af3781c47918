//! TPC-H's queries on three servers against DuckDB's answers: with default settings, with hash-partitioned joins, and with
//! operator bundles.

use pando::Options;
use workloads::{Embedded, Expected, InProcess, tpch};

/// Three servers with the tables at scale 0.01, spread over them.
async fn spread() -> InProcess {
    let servers = InProcess::start(3, Options::default()).await.expect("three servers");
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
    servers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answers_are_those_of_one_server() {
    let servers = spread().await;
    let expected = Expected::at(0.01).expect("answers at this scale");
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

/// The keys of two nations are known before suppliers are read, whichever fragment starts first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filters_of_broadcasts_are_known_before_the_scans_below() {
    let servers = spread().await;
    let mut scans = 0;
    for server in servers.servers() {
        let asked = Embedded { session: server.database.session() };
        asked.session.execute("SET pando.broadcast_bytes = 65536").await.expect("set");
        for _ in 0..10 {
            let explain = format!("EXPLAIN ANALYZE {}", tpch::query(7));
            let plan = asked.answer(&explain).await.expect("runs").rows;
            let lines: Vec<&str> = plan.iter().filter_map(|row| row[0].as_deref()).collect();
            let has_exchange = lines.iter().any(|line| line.contains("Exchange: by=[l_orderkey"));
            assert!(has_exchange, "{}", lines.join("\n"));
            let scan = lines.iter().find(|line| line.contains("table=supplier")).expect("a scan");
            let (rows, all) = (metric(scan, "output_rows"), metric(scan, "hint_rows"));
            assert!(
                rows * 2 < all || all < 10,
                "{rows} of {all} suppliers in\n{}",
                lines.join("\n")
            );
            scans += u32::from(all >= 10);
        }
    }
    assert!(scans > 0, "no server reads suppliers of its own");
}

fn metric(line: &str, name: &str) -> u32 {
    let value = line.split_once(&format!("{name}=")).expect(name).1;
    value.split([',', ']']).next().and_then(|value| value.parse().ok()).expect(name)
}
