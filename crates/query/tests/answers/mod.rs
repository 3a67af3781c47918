//! Golden scripts of statements with the answers of PostgreSQL 15, in `tests/sql/answers/*.txt`.
//!
//! The first line of an answer has the types of the columns, the others are the rows, as text. `[describe] > STATEMENT`
//! is not run: its answer is the types of the parameters, in parentheses, and of the columns. `!> STATEMENT` fails with
//! that SQLSTATE.

use crate::scripts;
use futures::TryStreamExt;
use goldenscript::Context;
use query::text::TextColumn;
use query::{Database, Error, Field, Options, Outcome, Session, SqlType};

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

async fn described(session: &Session, sql: &str) -> Result<String, Error> {
    let description = session.prepare(sql).await?.describe(&[]).await?;
    let parameters = description.parameters.iter().map(|sql_type| shown(sql_type, false));
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    let fields = types(&description.fields.unwrap_or_default());
    Ok(format!("({parameters}) {fields}").trim_end().to_owned())
}

async fn answered(session: &Session, sql: &str) -> Result<String, Error> {
    let statement = session.parse(sql).await?.remove(0);
    let Outcome::Rows(rows) = session.run(&statement, &[]).await? else { return Ok(String::new()) };
    let mut lines = vec![types(&rows.fields)];
    let batches: Vec<_> = rows.stream.try_collect().await?;
    for batch in &batches {
        let columns = batch.columns().iter().zip(&*rows.fields);
        let columns = columns.map(|(array, field)| TextColumn::of_field(array, field));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let value = |column: &TextColumn<'_>| {
                let mut text = String::new();
                if column.write(row, &mut text) { text } else { "NULL".to_owned() }
            };
            let values: Vec<String> = columns.iter().map(value).collect();
            lines.push(format!("  {}", values.join(" | ")).trim_end().to_owned());
        }
    }
    Ok(lines.join("\n"))
}

/// The answer of a statement, or its SQLSTATE.
async fn answer(session: &Session, sql: &str, context: &Context) -> Result<String, String> {
    let answer = if context.tags.contains("describe") {
        described(session, sql).await
    } else {
        answered(session, sql).await
    };
    answer.map_err(|error| error.state().code().to_owned())
}

#[test]
fn answers_are_postgresqls() {
    let open = async || Database::open(Options::default()).expect("opened").session();
    scripts::run_all("tests/sql/answers", || scripts::InSession::new(open, answer));
}
