//! A data directory with everything that one can contain.

use pando::{Database, Options};
use query::{DataDirectory, Durability};
use std::path::Path;

/// Makes a directory with two checkpoints, chunk files, and commands after them.
pub(crate) async fn made(data: &Path) {
    let directory = DataDirectory::new(data, Durability::Sync);
    let options = Options { data: Some(directory), ..Options::default() };
    let database = Database::open(options).expect("opened");
    let session = database.session();
    let run = async |sql: &str| {
        session.execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    };
    run("CREATE TABLE t (id bigint PRIMARY KEY, note text)").await;
    for round in 0..3 {
        let (from, to) = (round * 10_000, round * 10_000 + 9_999);
        run(&format!("INSERT INTO t SELECT i, 'note ' || i FROM generate_series({from}, {to}) i"))
            .await;
        run(&format!("DELETE FROM t WHERE id = {from}")).await;
        if round < 2 {
            database.store().checkpoint().expect("written");
        }
    }
    drop(session);
    database.close().expect("closed");
}

/// Makes a directory with a checkpoint of what some statements leave.
pub(crate) async fn made_by(data: &Path, statements: &[&str]) {
    let directory = DataDirectory::new(data, Durability::Sync);
    let options = Options { data: Some(directory), ..Options::default() };
    let database = Database::open(options).expect("opened");
    let session = database.session();
    for sql in statements {
        session.execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    database.store().checkpoint().expect("written");
    drop(session);
    database.close().expect("closed");
}
