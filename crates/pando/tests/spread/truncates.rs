//! TRUNCATE while buckets move.

use crate::random_moves::RandomMoves;
use crate::statements::{execute, number, servers, until_spread};

/// A transaction may not be executed again by its server: it waits for rows that are between two servers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_empties_a_table_whose_buckets_move() {
    let servers = servers().await;
    let of = |server: usize| &servers.servers()[server].database;
    execute(of(0), "CREATE TABLE t (id bigint PRIMARY KEY, v bigint)").await;
    let fill = "INSERT INTO t SELECT i, i FROM generate_series(1, 3000) AS g(i)";
    execute(of(0), fill).await;
    until_spread(&servers, "t").await;
    let random_moves = RandomMoves::over(&servers);
    for round in 0..30 {
        let database = of(round % 3);
        let session = database.session();
        for sql in ["BEGIN", "SELECT 1", "TRUNCATE t", "COMMIT"] {
            session.execute(sql).await.unwrap_or_else(|error| panic!("{round}: {sql}: {error}"));
        }
        assert_eq!(number(database, "SELECT count(*) FROM t").await, 0, "in round {round}");
        execute(database, fill).await;
        assert_eq!(number(database, "SELECT count(*) FROM t").await, 3000, "in round {round}");
    }
    assert!(random_moves.moves() > 0, "buckets have moved");
}
