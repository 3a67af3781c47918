//! Golden scripts of errors: every field that a client gets of the error of a statement, in `tests/errors/*.txt`.
//!
//! SQLSTATE and message are PostgreSQL's. `UPDATE_GOLDENFILES=1 cargo test --profile quick --test errors` rewrites the output;
//! compare it with PostgreSQL's before you commit it.

mod scripts;

use futures::TryStreamExt;
use query::{Database, Error, Options, Outcome, Session};
use std::convert::Infallible;
use std::fmt::Write;

/// The tables of the statements.
const TABLES: &str = include_str!("errors/tables.sql");

async fn open() -> Session {
    let session = Database::open(Options::default()).expect("opened").session();
    session.execute(TABLES).await.expect("the tables are created");
    session
}

async fn run(session: &Session, sql: &str) -> Result<(), Error> {
    for statement in session.parse(sql).await? {
        if let Outcome::Rows(rows) = session.run(&statement, &[]).await? {
            rows.stream.try_collect::<Vec<_>>().await?;
        }
    }
    Ok(())
}

/// The fields of an error, one a line.
fn fields(error: &Error) -> String {
    let mut text = format!("{}: {}\n", error.state().code(), error.message());
    let mut line = |label: &str, value: Option<&str>| {
        if let Some(value) = value {
            let _ = writeln!(text, "{label}: {value}");
        }
    };
    line("DETAIL", error.detail());
    line("HINT", error.hint());
    line("CONTEXT", error.context());
    line("POSITION", error.position().map(|position| position.to_string()).as_deref());
    let subject = error.subject();
    line("SCHEMA", subject.schema.as_deref());
    line("TABLE", subject.table.as_deref());
    line("COLUMN", subject.column.as_deref());
    line("CONSTRAINT", subject.constraint.as_deref());
    text
}

#[test]
fn errors_are_what_the_scripts_say() {
    let answer = async |session: &Session, sql: &str, _: &goldenscript::Context| {
        let failed = run(session, sql).await.err();
        Ok::<_, Infallible>(failed.as_ref().map(fields).unwrap_or_default())
    };
    scripts::run_all("tests/errors", || scripts::InSession::new(open, answer));
}
