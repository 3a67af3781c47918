//! The SQL test files of `query` on clusters, with tiny buckets that keep moving.

use crate::random_moves::RandomMoves;
use futures::TryStreamExt;
use pando::{Options, Outcome, Session};
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType, Runner};
use std::path::{Path, PathBuf};
use workloads::InProcess;

#[path = "../../../query/tests/written/mod.rs"]
mod written;

struct Sql(Session);

#[async_trait::async_trait]
impl AsyncDB for Sql {
    type Error = pando::Error;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, pando::Error> {
        let statement = self.0.parse(sql).await?.remove(0);
        let rows = match self.0.run(&statement, &[]).await? {
            Outcome::Done(tag) => return Ok(DBOutput::StatementComplete(tag.rows.unwrap_or(0))),
            Outcome::Rows(rows) => rows,
        };
        let types = vec![DefaultColumnType::Any; rows.fields.len()];
        let batches: Vec<_> = rows.stream.try_collect().await?;
        Ok(DBOutput::Rows { types, rows: written::rows(&batches)? })
    }

    async fn shutdown(&mut self) {}
}

/// Files that depend on buckets and plans of a single server.
const OF_ONE_SERVER: &[&str] = &["catalog.slt", "changed_definitions.slt"];

fn files() -> Vec<PathBuf> {
    let folder = Path::new("../query/tests/sql");
    let entries = std::fs::read_dir(folder).expect("the folder of test files");
    let paths = entries.map(|entry| entry.expect("a file").path());
    let is_for_many = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.ends_with(".slt") && !OF_ONE_SERVER.contains(&name)
    };
    let mut files: Vec<_> = paths.filter(is_for_many).collect();
    files.sort();
    assert!(files.len() >= 8, "the test files are there");
    files
}

async fn run_all(count: usize, through: usize, random_moves: bool, settings: &[&str]) {
    let mut failures = String::new();
    for file in files() {
        let options = Options { bucket_size: Some(4 << 10), ..Options::default() };
        let servers = InProcess::start(count, options).await.expect("servers");
        let random_moves = random_moves.then(|| RandomMoves::over(&servers));
        let database = servers.servers()[through].database.clone();
        let open = || async {
            let session = database.session();
            for setting in settings {
                session.execute(setting).await?;
            }
            Ok(Sql(session))
        };
        let mut runner = Runner::new(open);
        if let Err(error) = runner.run_file_async(&file).await {
            failures += &format!("{}:\n{}\n", file.display(), error.display(false));
        }
        drop((runner, random_moves));
        servers.stop();
    }
    assert!(failures.is_empty(), "{failures}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn through_the_first_server() {
    run_all(3, 0, false, &[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn through_another_server_while_buckets_move() {
    run_all(3, 2, true, &[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partitioned_pulled_and_in_a_tree_while_buckets_move() {
    let settings = [
        "SET pando.broadcast_bytes = 0",
        "SET pando.fan_in = 2",
        "SET pando.gather = pull",
        "SET pando.pull_window = 1",
    ];
    run_all(5, 1, true, &settings).await;
}
