//! The figures of a data directory: the tables `pando.log` and `pando.checkpoints`, and `/metrics`.

use super::harness::{Served, connect, get, serve};
use super::stored::made;
use tempfile::TempDir;
use tokio_postgres::{Client, Row};

async fn rows(client: &Client, sql: &str) -> Vec<Row> {
    client.query(sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// The value of a metric without labels.
fn metric(served: &Served, name: &str) -> f64 {
    let metrics = get(&served.http, "/metrics");
    let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("no {name}: {metrics}")).parse().expect("a number")
}

#[tokio::test]
async fn a_server_without_data_has_no_figures_of_it() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    client.batch_execute("CREATE TABLE t (id int PRIMARY KEY)").await.expect("made");
    for table in ["pando.log", "pando.checkpoints"] {
        assert!(rows(&client, &format!("SELECT * FROM {table}")).await.is_empty(), "{table}");
    }
    let metrics = get(&served.http, "/metrics");
    assert!(!metrics.contains("pando_log_") && metrics.ends_with("# EOF\n"), "{metrics}");
}

#[tokio::test]
async fn checkpoint_makes_one() {
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    let served = serve(&["--data", data.to_str().expect("text")]);
    let client = connect(&served, "u", None).await.expect("connected");
    client.batch_execute("CREATE TABLE t (id int PRIMARY KEY)").await.expect("made");
    let kept = "SELECT number FROM pando.checkpoints ORDER BY number";
    let before = rows(&client, kept).await.len();
    client.batch_execute("CHECKPOINT").await.expect("a checkpoint");
    assert_eq!(rows(&client, kept).await.len(), before + 1);
}

#[tokio::test]
async fn the_log_its_checkpoints_and_the_recovery_are_described() {
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    made(&data).await;
    let served = serve(&["--data", data.to_str().expect("text")]);
    let client = connect(&served, "u", None).await.expect("connected");
    let before = rows(&client, "SELECT appended_position FROM pando.log").await;
    for id in 100_000..100_010 {
        client.batch_execute(&format!("INSERT INTO t VALUES ({id}, 'x')")).await.expect("written");
    }
    let log = "SELECT durability, bytes, appended_position, durable_position, segments, free_bytes,
        commits, syncs, commits_per_sync, flush_p50_us, flush_p99_us, flush_max_us,
        recovered_tables, recovered_rows, recovered_checkpoint, recovered_commands,
        recovered_bytes, recovery_ms, recovery FROM pando.log";
    let all = rows(&client, log).await;
    let [row] = &all[..] else { panic!("{} rows", all.len()) };
    let number = |column: &str| row.get::<_, i64>(column);
    assert_eq!(row.get::<_, &str>("durability"), "sync");
    assert_eq!(number("appended_position"), before[0].get::<_, i64>(0) + 10);
    assert_eq!(number("appended_position"), number("durable_position"));
    assert_eq!((number("commits"), number("segments")), (10, 1));
    assert!(number("bytes") > 10 * 64 && number("free_bytes") > 1 << 20);
    assert!((1..=10).contains(&number("syncs")) && row.get::<_, f64>("commits_per_sync") >= 1.0);
    let times = ["flush_p50_us", "flush_p99_us", "flush_max_us"].map(number);
    assert!(times[0] > 0 && times.is_sorted(), "{times:?}");
    assert_eq!((number("recovered_tables"), number("recovered_rows")), (1, 29_997));
    assert_eq!((number("recovered_checkpoint"), number("recovered_commands")), (2, 2));
    assert!(number("recovered_bytes") > 0 && number("recovery_ms") >= 0);
    assert!(row.get::<_, &str>("recovery").starts_with("recovered 29997 rows of 1 tables"));

    let checkpoints = "SELECT number, position, bytes, chunk_files, age_seconds,
        made BETWEEN now() - interval '1 hour' AND now() AS is_new FROM pando.checkpoints";
    let kept = rows(&client, checkpoints).await;
    let column = |name: &str| kept.iter().map(|row| row.get(name)).collect::<Vec<i64>>();
    assert_eq!(column("number"), [1, 2]);
    assert!(column("position").is_sorted() && column("position")[1] < number("durable_position"));
    assert!(column("bytes").iter().chain(&column("chunk_files")).all(|value| *value > 0));
    assert!(column("age_seconds").iter().all(|age| (0..3600).contains(age)));
    assert!(kept.iter().all(|row| row.get::<_, bool>("is_new")));

    for (name, expected) in [
        ("pando_log_commits_total", number("commits")),
        ("pando_log_syncs_total", number("syncs")),
        ("pando_log_written_bytes_total", number("bytes")),
        ("pando_log_appended_position", number("appended_position")),
        ("pando_log_durable_position", number("durable_position")),
        ("pando_log_flush_duration_seconds_count", number("syncs")),
        ("pando_log_flush_duration_seconds_bucket{le=\"+Inf\"}", number("syncs")),
        ("pando_checkpoints", 2),
        ("pando_checkpoint_position", column("position")[1]),
        ("pando_checkpoint_bytes", column("bytes")[1]),
        ("pando_recovery_rows", 29_997),
        ("pando_recovery_commands", 2),
        ("pando_recovery_read_bytes", number("recovered_bytes")),
    ] {
        assert_eq!(metric(&served, name), expected as f64, "{name}");
    }
    assert!(metric(&served, "pando_checkpoint_age_seconds") < 3600.0);
    assert!(metric(&served, "pando_log_flush_duration_seconds_sum") > 0.0);
    assert!(metric(&served, "pando_recovery_duration_seconds") > 0.0);
    assert!(get(&served.http, "/metrics").ends_with("# EOF\n"));
}
