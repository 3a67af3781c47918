//! The SQL test files under `tests/sql`, each on buckets of the usual size and on tiny ones.
//!
//! A file is in sqllogictest's form; `statement error CODE` names the SQLSTATE. Answers must not depend on
//! how a table is cut into buckets, nor on how many servers these are.

use futures::TryStreamExt;
use query::{DataDirectory, Database, Durability, Options, Outcome, Session, TransactionStatus};
use servers::Servers;
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType, Runner};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

mod answers;
mod scripts;
mod servers;
mod written;

struct Sql {
    session: Session,
    servers: Option<Arc<Servers>>,
    /// Whether statements are prepared, which makes the short path theirs.
    prepares: bool,
}

impl Sql {
    fn new(session: Session) -> Self {
        Self { session, servers: None, prepares: false }
    }
}

#[async_trait::async_trait]
impl AsyncDB for Sql {
    type Error = query::Error;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, query::Error> {
        let Self { session, servers, prepares } = self;
        if let (Some(servers), TransactionStatus::Idle) = (servers, session.transaction_status()) {
            servers.spread();
        }
        let outcome = match prepares {
            true => session.prepare(sql).await?.execute(&[]).await?,
            false => {
                let statement = session.parse(sql).await?.remove(0);
                session.run(&statement, &[]).await?
            }
        };
        let rows = match outcome {
            Outcome::Done(tag) => return Ok(DBOutput::StatementComplete(tag.rows.unwrap_or(0))),
            Outcome::Rows(rows) => rows,
        };
        let types = vec![DefaultColumnType::Any; rows.fields.len()];
        let batches: Vec<_> = rows.stream.try_collect().await?;
        Ok(DBOutput::Rows { types, rows: written::rows(&batches)? })
    }

    async fn shutdown(&mut self) {}
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new("tests/sql");
    let entries = std::fs::read_dir(folder).expect("the folder of test files");
    let paths = entries.map(|entry| entry.expect("a file").path());
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "slt")).collect();
    files.sort();
    assert!(files.len() >= 8, "the test files are there");
    files
}

async fn run_all(options: Options, prepares: bool) {
    let mut failures = String::new();
    for file in files() {
        let database = Database::open(options.clone()).expect("opened");
        let sql = || Sql { prepares, ..Sql::new(database.session()) };
        let mut runner = Runner::new(|| async { Ok(sql()) });
        if prepares {
            runner.add_label("prepared");
        }
        if let Err(error) = runner.run_file_async(&file).await {
            failures += &format!("{}:\n{}\n", file.display(), error.display(false));
        }
        drop(runner);
    }
    assert!(failures.is_empty(), "{failures}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_buckets_of_the_usual_size() {
    run_all(Options::default(), false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_tiny_buckets() {
    run_all(Options { bucket_size: Some(4 << 10), ..Options::default() }, false).await;
}

/// Every table is cut into three as soon as it is there. Three files are about a single server; two take advisory locks, which
/// servers without a first one do not have.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_several_servers() {
    let mut failures = String::new();
    let of_one = |file: &Path| {
        [
            "catalog.slt",
            "serializable.slt",
            "changed_definitions.slt",
            "advisory_locks.slt",
            "side_effects.slt",
        ]
        .iter()
        .any(|of| file.ends_with(of))
    };
    for file in files().into_iter().filter(|file| !of_one(file)) {
        let servers = Servers::start(3, &Options { threads: Some(2), ..Options::default() });
        let of = || Some(Arc::clone(&servers));
        let session = || servers.database(0).session();
        let mut runner = Runner::new(|| async {
            Ok(Sql { session: session(), servers: of(), prepares: false })
        });
        if let Err(error) = runner.run_file_async(&file).await {
            failures += &format!("{}:\n{}\n", file.display(), error.display(false));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_one_partition() {
    run_all(Options { threads: Some(1), ..Options::default() }, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_prepared_statements() {
    run_all(Options::default(), true).await;
}

/// What a catalog and its tables hold, as texts.
async fn contents(database: &Database) -> Vec<String> {
    let mut sql = Sql::new(database.session());
    let mut all = Vec::new();
    let own = "nspname NOT IN ('pg_catalog', 'information_schema', 'pando')";
    for query in [
        format!(
            "SELECT nspname, relname, relkind, relacl FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace WHERE {own}"
        ),
        format!(
            "SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid) \
             FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace JOIN pg_attribute AS a ON attrelid = c.oid \
             LEFT JOIN pg_attrdef AS d ON adrelid = c.oid AND adnum = attnum WHERE {own}"
        ),
        "SELECT viewname, definition FROM pg_views".to_owned(),
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint".to_owned(),
        "SELECT rolname, rolsuper, rolcanlogin FROM pg_roles".to_owned(),
        format!(
            "SELECT nspname, proname, proargtypes, prosrc, proacl \
             FROM pg_proc JOIN pg_namespace AS n ON n.oid = pronamespace WHERE {own}"
        ),
        "SELECT objoid, description FROM pg_description".to_owned(),
    ] {
        all.extend(rows(&mut sql, &query).await);
    }
    let tables = "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables";
    for table in
        rows(&mut sql, &format!("{tables} WHERE {}", own.replace("nspname", "schemaname"))).await
    {
        let mut found = rows(&mut sql, &format!("SELECT * FROM {table}")).await;
        found.sort();
        all.extend(found.into_iter().map(|row| format!("{table}: {row}")));
    }
    all
}

async fn rows(sql: &mut Sql, query: &str) -> Vec<String> {
    match sql.run(query).await {
        Ok(DBOutput::Rows { rows, .. }) => rows.into_iter().map(|row| row.join("|")).collect(),
        Ok(_) => Vec::new(),
        Err(error) => panic!("{query}: {error}"),
    }
}

/// A restart finds the same catalog and rows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_data_directory() {
    let mut failures = String::new();
    for file in files() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let data = DataDirectory::new(folder.path().join("data"), Durability::Async);
        let options = Options { data: Some(data), ..Options::default() };
        let database = Database::open(options.clone()).expect("opened");
        let mut runner = Runner::new(|| async { Ok(Sql::new(database.session())) });
        if let Err(error) = runner.run_file_async(&file).await {
            failures += &format!("{}:\n{}\n", file.display(), error.display(false));
        }
        drop(runner);
        let before = contents(&database).await;
        drop(database);
        let mut again = Database::open(options.clone());
        // Threads of the first one may end a moment later.
        while again.as_ref().is_err_and(|error| error.state().code() == "55006") {
            tokio::time::sleep(Duration::from_millis(5)).await;
            again = Database::open(options.clone());
        }
        let after = contents(&again.expect("opened again")).await;
        let differs = before.iter().zip(&after).find(|(before, after)| before != after);
        if before.len() != after.len() || differs.is_some() {
            failures += &format!("{}: not as before: {differs:?}\n", file.display());
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
