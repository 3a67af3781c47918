//! Golden scripts of plans: `tests/plans/*.txt` hold statements and, under `----`, what `EXPLAIN` says of each.
//!
//! `UPDATE_GOLDEN=1 cargo test --profile quick --test plans` writes what is said now; look at the difference with
//! your own eyes before you commit it.

use datafusion::arrow::array::AsArray;
use futures::TryStreamExt;
use query::{Database, Options, Session};
use std::fmt::Write;
use std::path::PathBuf;

/// The lines of the plan that a statement is answered with; other statements say what they did.
async fn answer(session: &Session, sql: &str) -> Result<String, query::Error> {
    if !sql.trim_start().to_lowercase().starts_with("explain") {
        session.execute(sql).await?;
        return Ok("done\n".to_owned());
    }
    let batches: Vec<_> = session.query(sql).await?.stream.try_collect().await?;
    let mut text = String::new();
    for batch in &batches {
        for value in batch.columns()[batch.num_columns() - 1].as_string::<i32>().iter().flatten() {
            text += value.trim_end();
            text.push('\n');
        }
    }
    Ok(text)
}

async fn replay(script: &str) -> String {
    let options = Options { threads: Some(2), bucket_size: Some(4 << 10), ..Options::default() };
    let session = Database::open(options).expect("opened").session();
    let mut out = String::new();
    for block in script.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let statement = block.split("\n----").next().unwrap_or(block).trim();
        let comment = statement.lines().all(|line| line.starts_with('#'));
        let _ = match comment {
            true => writeln!(out, "{statement}\n"),
            false => match answer(&session, statement).await {
                Ok(text) => writeln!(out, "{statement}\n----\n{text}"),
                Err(error) => {
                    writeln!(out, "{statement}\n----\nERROR {}: {error}\n", error.state().code())
                }
            },
        };
    }
    out.trim_end().to_owned() + "\n"
}

#[tokio::test]
async fn plans_are_what_the_scripts_say() {
    let folder = std::fs::read_dir("tests/plans").expect("the folder of scripts");
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "there are scripts");
    for path in paths {
        let script = std::fs::read_to_string(&path).expect("readable");
        let now = replay(&script).await;
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &now).expect("writable");
        }
        let script = std::fs::read_to_string(&path).expect("readable");
        assert_eq!(script, now, "{}: see the file's head for how to update it", path.display());
    }
}
