//! Catalog queries of psql, drivers and tools, as they send them.
//!
//! Each file under `tests/introspection` belongs to one client and has sqllogictest's format. `${name}` stands for the OID of
//! a relation. A query after `statement ok` must not fail; after `query T` its rows are compared too, with columns separated
//! by `|`. The relations are those of `tables.ddl`, and of the file of the client's name that ends in `.ddl`.

use futures::TryStreamExt;
use query::text::TextColumn;
use query::{Database, Error, Options, Session};
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType, Record, Runner, parse_with_name};
use std::path::{Path, PathBuf};

/// The relations that the queries of all files are about.
const TABLES: &str = include_str!("introspection/tables.ddl");

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("tests/introspection").expect("the folder");
    let paths = entries.map(|entry| entry.expect("a file").path());
    let mut files: Vec<_> = paths.filter(|p| p.extension().is_some_and(|e| e == "slt")).collect();
    files.sort();
    files
}

async fn rows(session: &Session, sql: &str) -> Result<Vec<String>, Error> {
    let rows = session.query(sql).await?;
    let batches: Vec<_> = rows.stream.try_collect().await?;
    let mut lines = Vec::new();
    for batch in &batches {
        let columns: Vec<TextColumn<'_>> =
            batch.columns().iter().map(|c| TextColumn::new(c)).collect::<Result<_, Error>>()?;
        for row in 0..batch.num_rows() {
            let mut line = String::new();
            for (index, column) in columns.iter().enumerate() {
                if index > 0 {
                    line.push('|');
                }
                column.write(row, &mut line);
            }
            lines.push(line);
        }
    }
    Ok(lines)
}

/// A database with the relations that the queries of a file are about.
async fn database_for(file: &Path) -> Database {
    let database = Database::open(Options::default()).expect("opened");
    let session = database.session();
    session.execute(TABLES).await.expect("the tables are created");
    let own = file.with_extension("ddl");
    if own.exists() {
        let own = std::fs::read_to_string(own).expect("readable");
        session.execute(&own).await.expect("the tables of the file are created");
    }
    database
}

/// `${name}` of each relation, and its OID.
async fn ids(session: &Session) -> Result<Vec<(String, String)>, Error> {
    let all = "SELECT relname, oid FROM pg_class WHERE relnamespace NOT IN (11, 13000)";
    let pair = |line: &String| {
        let (name, oid) = line.split_once('|').expect("two columns");
        (format!("${{{name}}}"), oid.to_owned())
    };
    Ok(rows(session, all).await?.iter().map(pair).collect())
}

struct Client(Session);

#[async_trait::async_trait]
impl AsyncDB for Client {
    type Error = Error;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Error> {
        let rows = rows(&self.0, sql).await?.into_iter().map(|line| vec![line]).collect();
        Ok(DBOutput::Rows { types: vec![DefaultColumnType::Text], rows })
    }

    async fn shutdown(&mut self) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_query_of_every_client_is_answered() {
    let (mut failures, mut count) = (String::new(), 0);
    for file in files() {
        let database = database_for(&file).await;
        let ids = ids(&database.session()).await.expect("the catalog answers");
        let mut script = std::fs::read_to_string(&file).expect("readable");
        for (name, oid) in &ids {
            script = script.replace(name, oid);
        }
        let mut runner = Runner::new(|| async { Ok(Client(database.session())) });
        runner.with_normalizer(String::clone);
        let records = parse_with_name(&script, file.to_string_lossy());
        for record in records.expect("sqllogictest's format") {
            count += usize::from(matches!(record, Record::Statement { .. } | Record::Query { .. }));
            if let Err(error) = runner.run_async(record).await {
                failures += &format!("{}\n", error.display(false));
            }
        }
    }
    assert!(failures.is_empty(), "of {count} queries, these failed:\n{failures}");
    assert_ne!(count, 0, "there are no queries");
}
