//! Golden scripts of plans: the output of `EXPLAIN`, in `tests/plans/*.txt`.
//!
//! `UPDATE_GOLDENFILES=1 cargo test --profile quick --test plans` rewrites the output; review the difference before you commit it.

mod scripts;

use datafusion::arrow::array::AsArray;
use futures::TryStreamExt;
use goldenscript::Context;
use query::{Database, Error, Options, Session};

async fn open() -> Session {
    let options = Options { threads: Some(2), bucket_size: Some(4 << 10), ..Options::default() };
    Database::open(options).expect("opened").session()
}

/// The lines of the plan; other statements than `EXPLAIN` have no output.
async fn answer(session: &Session, sql: &str, _: &Context) -> Result<String, Error> {
    if !sql.to_lowercase().starts_with("explain") {
        session.execute(sql).await?;
        return Ok(String::new());
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

#[test]
fn plans_are_what_the_scripts_say() {
    scripts::run_all("tests/plans", || scripts::InSession::new(open, answer));
}
