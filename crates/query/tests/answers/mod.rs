//! Statements with the answers of PostgreSQL 15: the types of parameters and columns, and the values as text.
//!
//! A file of `tests/sql/answers` has statements in order. `> SELECT ...` is run and `? SELECT ...` is only described;
//! behind come the types of the columns (of the parameters before them, in parentheses) and the rows, or `!` and a
//! SQLSTATE. A statement that answers nothing has succeeded.

use futures::TryStreamExt;
use query::text::TextColumn;
use query::{Database, Error, Field, Options, Outcome, Session, SqlType};
use std::path::PathBuf;

/// A type as clients know it: digits and lengths only where they were declared.
fn shown(sql_type: &SqlType, declared: bool) -> String {
    let name = sql_type.to_string();
    match name.split_once('(') {
        Some((name, rest)) if !declared => {
            format!("{name}{}", rest.split_once(')').map_or("", |(_, rest)| rest))
        }
        _ => name,
    }
}

fn types(fields: &[Field]) -> String {
    let names = fields.iter().map(|field| match field.sql_type {
        ref other if *other == query::NAME => "name".to_owned(),
        ref sql_type => shown(sql_type, field.declared),
    });
    names.collect::<Vec<_>>().join(", ")
}

async fn described(session: &Session, sql: &str) -> Result<Vec<String>, Error> {
    let description = session.prepare(sql).await?.describe(&[]).await?;
    let parameters = description.parameters.iter().map(|sql_type| shown(sql_type, false));
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    let fields = types(&description.fields.unwrap_or_default());
    Ok(vec![format!("< ({parameters}) {fields}")])
}

async fn answered(session: &Session, sql: &str) -> Result<Vec<String>, Error> {
    let statement = session.parse(sql)?.remove(0);
    let Outcome::Rows(rows) = session.run(&statement, &[]).await? else { return Ok(Vec::new()) };
    let mut lines = vec![format!("< {}", types(&rows.fields))];
    let batches: Vec<_> = rows.stream.try_collect().await?;
    for batch in &batches {
        let columns = batch.columns().iter().zip(&rows.fields);
        let columns = columns.map(|(array, field)| TextColumn::of_field(array, field));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let value = |column: &TextColumn<'_>| {
                let mut text = String::new();
                if column.write(row, &mut text) { text } else { "NULL".to_owned() }
            };
            let values: Vec<String> = columns.iter().map(value).collect();
            lines.push(format!("  {}", values.join(" | ")));
        }
    }
    Ok(lines)
}

async fn failures(file: &PathBuf) -> String {
    let database = Database::open(Options::default()).expect("opened");
    let session = database.session();
    let text = std::fs::read_to_string(file).expect("a file of text");
    let mut failures = String::new();
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let is_statement = |line: &&str| line.starts_with(['>', '?', '#']);
    let starts: Vec<usize> = (0..lines.len()).filter(|at| is_statement(&lines[*at])).collect();
    for (position, start) in starts.iter().enumerate() {
        let end = starts.get(position + 1).copied().unwrap_or(lines.len());
        let (statement, expected) = (lines[*start], &lines[start + 1..end]);
        let answer = match statement.split_at(2) {
            ("> ", sql) => answered(&session, sql).await,
            ("? ", sql) => described(&session, sql).await,
            _ => continue,
        };
        let answer = answer.unwrap_or_else(|error| vec![format!("! {}", error.state().code())]);
        let trimmed = |line: &str| line.trim_end().to_owned();
        let answer: Vec<String> = answer.iter().map(|line| trimmed(line)).collect();
        if answer != expected.iter().map(|line| trimmed(line)).collect::<Vec<_>>() {
            failures += &format!("{}\n{statement}\n{}\n", file.display(), answer.join("\n"));
        }
    }
    failures
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_postgresqls() {
    let folder = std::fs::read_dir("tests/sql/answers").expect("the folder of answers");
    let mut all = String::new();
    for entry in folder {
        all += &failures(&entry.expect("a file").path()).await;
    }
    assert!(all.is_empty(), "{all}");
}
