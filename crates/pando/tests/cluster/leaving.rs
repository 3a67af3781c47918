//! A server is drained and stopped while clients write.

use crate::harness::{ROWS, Server, filled, number, pando, run, soon, three, told, until};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio_postgres::Client;

/// The results of a client that writes in a loop.
#[derive(Default)]
struct Written {
    statements: i64,
    longest: Duration,
}

/// Starts a client that increments its rows one after another until it is stopped: every `stride`-th id, starting with `from`.
/// Every fourth transaction changes two distant rows.
fn writer(client: Client, from: i64, stop: &Arc<AtomicBool>) -> JoinHandle<Written> {
    let stop = Arc::clone(stop);
    tokio::spawn(async move {
        let mut written = Written::default();
        let mut id = from;
        while !stop.load(Ordering::Relaxed) {
            id = (id + 4 * 97) % ROWS;
            let far = (id + ROWS / 2) % ROWS;
            let begun = Instant::now();
            if written.statements % 4 == 0 {
                let both = format!(
                    "BEGIN; UPDATE t SET n = n + 1 WHERE id = {}; UPDATE t SET n = n + 1 WHERE id = {}; COMMIT",
                    id + 1,
                    far + 1
                );
                soon(client.batch_execute(&both)).await.expect("both are changed");
                written.statements += 2;
            } else {
                let one = format!("UPDATE t SET n = n + 1 WHERE id = {}", id + 1);
                assert_eq!(run(&client, &one).await, 1);
                written.statements += 1;
            }
            written.longest = written.longest.max(begun.elapsed());
        }
        written
    })
}

/// Stops clients, and returns their number of writes and the longest wait.
async fn ended(writers: Vec<JoinHandle<Written>>, stop: &AtomicBool) -> Written {
    stop.store(true, Ordering::Relaxed);
    let mut all = Written::default();
    for writer in writers {
        let written = soon(writer).await.expect("no statement fails");
        all.statements += written.statements;
        all.longest = all.longest.max(written.longest);
    }
    all
}

fn drain(through: &Server, name: &str, more: &[&str]) -> (bool, String, String) {
    let mut command = pando(&["drain", name, "--url", &through.url()]);
    told(&command.args(more).output().expect("pando runs"))
}

// Clients continue while the test waits for a process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_drained_and_stopped_without_errors() {
    let [first, second, mut third] = three();
    let client = first.connect().await;
    filled(&client, 3).await;
    let [stop, stop_at_third] = [(), ()].map(|()| Arc::new(AtomicBool::new(false)));
    let others =
        vec![writer(first.connect().await, 0, &stop), writer(second.connect().await, 1, &stop)];
    let of_third = vec![writer(third.connect().await, 2, &stop_at_third)];
    let begun = Instant::now();
    let (is_content, shown, stderr) = drain(&second, "three", &[]);
    assert!(is_content, "{stderr}");
    assert!(shown.contains(" buckets (") && shown.contains("empty: it can be"), "{shown}");
    let emptied = begun.elapsed();
    let state = "FROM pando.servers WHERE name = 'three'";
    assert_eq!(number(&client, &format!("SELECT count(*) {state} AND state = 'empty'")).await, 1);
    let through_third = ended(of_third, &stop_at_third).await;
    third.signal("-TERM");
    assert!(third.end().success());
    run(&client, "CREATE TABLE after (id bigint PRIMARY KEY)").await;
    run(&client, "INSERT INTO after SELECT n FROM generate_series(1, 100) n").await;
    assert_eq!(number(&client, &format!("SELECT count(*) {state}")).await, 0, "it has gone");
    let written = ended(others, &stop).await;
    let statements = through_third.statements + written.statements;
    assert_eq!(number(&client, "SELECT sum(n)::bigint FROM t").await, statements);
    assert_eq!(number(&client, "SELECT count(*) FROM t").await, ROWS);
    let longest = through_third.longest.max(written.longest);
    eprintln!("emptied in {emptied:?}; of {statements} updates the longest took {longest:?}");
}

#[tokio::test]
async fn a_drained_server_gets_a_share_again() {
    let servers = three();
    let client = servers[0].connect().await;
    filled(&client, 3).await;
    let state = "FROM pando.servers WHERE name = 'two'";
    let (is_content, shown, _) = drain(&servers[1], "two", &["--no-wait"]);
    assert!(is_content && shown.contains("pando status"), "{shown}");
    until(&client, &format!("SELECT state = 'empty' {state}")).await;
    assert!(drain(&servers[1], "two", &["--weight", "1"]).0);
    until(&client, &format!("SELECT rows > {} {state}", ROWS / 5)).await;
    let (is_content, _, stderr) = drain(&servers[1], "four", &[]);
    assert!(
        !is_content && stderr.contains("\"four\"") && stderr.contains("one, two, three"),
        "{stderr}"
    );
}
