//! EXPLAIN ANALYZE reports the metrics of every server, for every way of combining rows.

use crate::joins::rows;
use crate::statements::{execute, servers, until_spread};
use serde_json::Value;

/// Output rows of the scans on this server, and rows read by other servers as they report.
fn rows_read(node: &Value) -> (u64, u64) {
    let figure = |name: &str| node["Metrics"][name].as_u64();
    let (mut here, mut elsewhere) = match node["Node Type"].as_str() {
        Some("BucketScan") => (figure("output_rows").expect("is counted"), 0),
        Some("RemoteFragment") => {
            assert!(figure("server_time").is_some_and(|time| time > 0), "{node}");
            assert!(figure("server_compute").is_some_and(|time| time > 0), "{node}");
            (0, figure("server_rows_read").expect("is reported"))
        }
        _ => (0, 0),
    };
    for below in node["Plans"].as_array().into_iter().flatten() {
        let (more_here, more_elsewhere) = rows_read(below);
        (here, elsewhere) = (here + more_here, elsewhere + more_elsewhere);
    }
    (here, elsewhere)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_server_reports_its_metrics() {
    let servers = servers().await;
    let first = &servers.servers()[0].database;
    execute(first, "CREATE TABLE m (id bigint PRIMARY KEY, k bigint)").await;
    execute(first, "INSERT INTO m SELECT i, i % 50 FROM generate_series(1, 6000) AS s(i)").await;
    until_spread(&servers, "m").await;
    let session = servers.servers()[1].database.session();
    session.execute("SET pando.broadcast_bytes = 0").await.expect("set");
    let grouped = "SELECT k, count(*) FROM m GROUP BY k";
    for (setting, query, scanned) in [
        ("optimal", grouped, 6000),
        ("none", grouped, 6000),
        ("optimal", "SELECT sum(id) FROM m WHERE id % 2 = 0", 3000),
        ("optimal", "SELECT count(*) FROM m JOIN m AS n ON m.k = n.id", 12_000),
    ] {
        session.execute(&format!("SET pando.bundling = {setting}")).await.expect("set");
        let explained = format!("EXPLAIN (ANALYZE, FORMAT JSON) {query}");
        let lines = rows(&session, &explained).await;
        let plan: Value = serde_json::from_str(lines[0].trim_end_matches(" | ")).expect("JSON");
        let (here, elsewhere) = rows_read(&plan[0]["Plan"]);
        assert!(elsewhere > 0, "others have rows, too: {plan:#}");
        assert_eq!(here + elsewhere, scanned, "{query}: {plan:#}");
    }
}
