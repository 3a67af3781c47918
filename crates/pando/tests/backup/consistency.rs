//! A backup is one snapshot, while transactions go on.

use super::harness::{connect, values, world};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const ACCOUNTS: i64 = 200;

/// Clients move amounts between rows of two tables, and note each move with a value of a sequence.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sum_that_transactions_keep_is_exact_and_sequences_are_ahead() {
    let world = world(&["--bucket-size", "16KiB"]);
    let client = connect(&world).await;
    let made = "CREATE TABLE a (id int PRIMARY KEY, amount bigint);
                CREATE TABLE b (id int PRIMARY KEY, amount bigint);
                CREATE TABLE note (id bigserial PRIMARY KEY, moved bigint);
                INSERT INTO a SELECT i, 1000 FROM generate_series(1, 200) i;
                INSERT INTO b SELECT i, 1000 FROM generate_series(1, 200) i";
    client.batch_execute(made).await.expect("made");
    let ends = Arc::new(AtomicBool::new(false));
    let mut movers = Vec::new();
    for mover in 0..4_i64 {
        let (client, ends) = (connect(&world).await, Arc::clone(&ends));
        movers.push(tokio::spawn(async move {
            let mut moves = 0;
            while !ends.load(Ordering::Relaxed) {
                let (from, to) =
                    ((moves * 7 + mover) % ACCOUNTS + 1, (moves * 3 + mover * 50) % ACCOUNTS + 1);
                let amount = moves % 13 + 1;
                let sql = format!(
                    "BEGIN; UPDATE a SET amount = amount - {amount} WHERE id = {from};
                     UPDATE b SET amount = amount + {amount} WHERE id = {to};
                     INSERT INTO note (moved) VALUES ({amount}); COMMIT"
                );
                if client.batch_execute(&sql).await.is_err() {
                    client.batch_execute("ROLLBACK").await.expect("rolled back");
                }
                moves += 1;
            }
        }));
    }
    let place = world.place();
    for _ in 0..5 {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        tokio::task::block_in_place(|| world.back_up(&place.url));
    }
    ends.store(true, Ordering::Relaxed);
    for mover in movers {
        mover.await.expect("ended");
    }
    let backups = super::harness::files(&place.folder.join("backups"));
    assert_eq!(backups.len(), 5);
    for (number, backup) in backups.iter().enumerate() {
        let name = backup.file_stem().expect("a name").to_str().expect("text");
        let data = world.path(&format!("data {number}"));
        let output =
            super::harness::run(&["restore", &place.url, "--data", &data, "--backup", name]);
        assert!(output.status.success(), "{}", super::harness::err(&output));
        let restored = super::harness::world(&["--data", &data]);
        let client = connect(&restored).await;
        let read = "SELECT (SELECT sum(amount) FROM a) + (SELECT sum(amount) FROM b) = 400000,
                           (SELECT sum(amount) FROM b) - 200000 = (SELECT coalesce(sum(moved), 0) FROM note),
                           (SELECT count(*) FROM note) > 0;
                    SELECT nextval('note_id_seq') > (SELECT max(id) FROM note)";
        assert_eq!(values(&client, read).await, ["t", "t", "t", "t"], "backup {name}");
    }
}
