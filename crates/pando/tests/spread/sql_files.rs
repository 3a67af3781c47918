//! The SQL test files of `query` on clusters, with tiny buckets that keep moving.

use crate::random_moves::RandomMoves;
use arrow::array::{Array, ArrayRef, StringArray};
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::TryStreamExt;
use pando::text::TextColumn;
use pando::{Options, Outcome, Session, as_texts};
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType, Runner};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use workloads::InProcess;

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
        let options = FormatOptions::new().with_null("NULL");
        let mut texts = Vec::new();
        for batch in &batches {
            let batch = &as_texts(batch)?;
            let columns = batch.columns().iter().map(written).collect::<Result<Vec<_>, _>>()?;
            let columns: Vec<_> = columns
                .iter()
                .map(|column| ArrayFormatter::try_new(column, &options))
                .collect::<Result<_, _>>()?;
            for row in 0..batch.num_rows() {
                let value = |column: &ArrayFormatter<'_>| match column.value(row).to_string() {
                    empty if empty.is_empty() => "(empty)".to_owned(),
                    text => text,
                };
                texts.push(columns.iter().map(value).collect());
            }
        }
        Ok(DBOutput::Rows { types, rows: texts })
    }

    async fn shutdown(&mut self) {}
}

/// Rows as PostgreSQL writes them, which Arrow writes in another way. Other values are unchanged.
fn written(column: &ArrayRef) -> Result<ArrayRef, pando::Error> {
    let is_row = match column.data_type() {
        DataType::List(item) => matches!(item.data_type(), DataType::Struct(_)),
        of => matches!(of, DataType::Struct(_)),
    };
    if !is_row {
        return Ok(Arc::clone(column));
    }
    let values = TextColumn::new(column)?;
    let text = |row| {
        let mut text = String::new();
        values.write(row, &mut text).then_some(text)
    };
    Ok(Arc::new((0..column.len()).map(text).collect::<StringArray>()))
}

/// Files that depend on buckets and plans of a single server.
const OF_ONE_SERVER: &[&str] = &["catalog.slt"];

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
