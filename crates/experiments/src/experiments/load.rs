//! `pando bench load`: TPC-H's lineitem from a Parquet file into a table with its primary key.
//!
//! The peer loads it with the primary key and without: without the key it neither sorts nor checks rows. The last line is
//! the size of the columns in Arrow.

use crate::parquet_files;
use crate::peer::PeerArgs;
use crate::report::Report;
use crate::statistics::Times;
use anyhow::{Result, ensure};
use arrow::array::{Array, AsArray};
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use serde_json::json;
use std::path::Path;
use workloads::{Embedded, tpch};

/// Options of `pando bench load`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LoadArgs {
    /// TPC-H's scale factor
    #[arg(long, default_value_t = 1.0, value_parser = tpch::parse_scale)]
    pub(crate) scale: f64,
    /// Measured loads
    #[arg(long, default_value_t = 3)]
    pub(crate) runs: u32,
    /// The peer.
    #[command(flatten)]
    pub(crate) peer: PeerArgs,
}

const TABLE: &str = "lineitem";
const MIB: f64 = 1024.0 * 1024.0;
/// Bytes of the view of a text.
const VIEW_BYTES: usize = 16;
/// A text of at most so many bytes is stored in its view.
const INLINE_BYTES: usize = 12;

/// Measurements of one way of loading.
struct Loaded<'a> {
    who: &'a str,
    how: &'a str,
    times: Times,
    rows: u64,
    bytes: Option<u64>,
}

pub(super) async fn run(args: &LoadArgs, report: Report) -> Result<()> {
    let peer = args.peer.start()?;
    let directory = tempfile::tempdir()?;
    report.progress("writing the Parquet file");
    let arrow_bytes: u64 = tpch::table(TABLE, args.scale).batches.map(|b| arrow_bytes(&b)).sum();
    let (file, rows) = parquet_files::write(tpch::table(TABLE, args.scale), directory.path())?;
    report.heading(&format!("{:<20} {:<34} {:>12} {:>10}", "", "", "rows/s", "MiB"))?;
    for how in ["INSERT INTO SELECT", "COPY FROM"] {
        let loaded = ours(args, how, &file, rows).await?;
        print(report, args, &loaded)?;
    }
    if let Some(mut peer) = peer {
        let name = peer.name.clone();
        for (how, keyed) in [("with the primary key", true), ("without a key", false)] {
            let table = tpch::table(TABLE, args.scale);
            let create = if keyed { table.create_sql } else { without_key(&table.create_sql) };
            let mut loaded = Loaded { who: &name, how, times: Times::default(), rows, bytes: None };
            for _ in 0..args.runs {
                loaded.times.push(peer.load(TABLE, &file, Some(&create))?);
                loaded.bytes = peer.memory()?;
                peer.drop_table(TABLE)?;
            }
            print(report, args, &loaded)?;
        }
    }
    let text = format!("{:<55} {:>12} {:>10.1}", "columns in Arrow", "", arrow_bytes as f64 / MIB);
    report.result(
        &text,
        json!({"experiment": "load", "scale": args.scale, "arrow_bytes": arrow_bytes}),
    )?;
    Ok(())
}

async fn ours<'a>(args: &LoadArgs, how: &'a str, file: &Path, rows: u64) -> Result<Loaded<'a>> {
    let pando = Embedded::open()?;
    let load = match how {
        "COPY FROM" => format!("COPY {TABLE} FROM '{}' WITH (FORMAT parquet)", file.display()),
        _ => format!("INSERT INTO {TABLE} SELECT * FROM '{}'", file.display()),
    };
    let mut loaded = Loaded { who: "pando", how, times: Times::default(), rows, bytes: None };
    for _ in 0..args.runs {
        pando.execute(&tpch::table(TABLE, args.scale).create_sql).await?;
        loaded.times.push(pando.execute(&load).await?);
        let count = pando.number(&format!("SELECT count(*) FROM {TABLE}")).await?;
        ensure!(count == rows, "{count} rows instead of {rows} after {how}");
        loaded.bytes = Some(pando.bytes(TABLE).await?);
        pando.execute(&format!("DROP TABLE {TABLE}")).await?;
    }
    Ok(loaded)
}

fn print(report: Report, args: &LoadArgs, loaded: &Loaded<'_>) -> Result<()> {
    let seconds = loaded.times.median().as_secs_f64();
    let rows_a_second = loaded.rows as f64 / seconds;
    let held = loaded.bytes.map_or(String::new(), |bytes| format!("{:.1}", bytes as f64 / MIB));
    let text = format!("{:<20} {:<34} {rows_a_second:>12.0} {held:>10}", loaded.who, loaded.how);
    let values = json!({
        "experiment": "load", "scale": args.scale, "who": loaded.who, "how": loaded.how,
        "rows": loaded.rows, "runs": args.runs, "seconds_median": seconds,
        "rows_per_second": rows_a_second, "bytes": loaded.bytes,
    });
    report.result(&text, values)?;
    Ok(())
}

/// The statement without its primary key.
fn without_key(create: &str) -> String {
    let columns = create.rsplit_once(",\n    PRIMARY KEY").map_or(create, |(columns, _)| columns);
    format!("{columns}\n)")
}

/// Bytes of a batch in Arrow, with texts as views.
fn arrow_bytes(batch: &RecordBatch) -> u64 {
    let column_bytes = |column: &dyn Array| match column.data_type() {
        DataType::Utf8View => {
            let beyond = |n: u32| if n as usize > INLINE_BYTES { n as usize } else { 0 };
            let lengths = column.as_string_view().lengths();
            lengths.map(|n| VIEW_BYTES + beyond(n)).sum::<usize>()
        }
        other => other.primitive_width().unwrap_or_default() * column.len(),
    };
    batch.columns().iter().map(|column| column_bytes(column) as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use workloads::person;

    #[test]
    fn only_the_primary_key_is_removed() {
        let create = without_key(&tpch::table(TABLE, 0.01).create_sql);
        assert!(create.ends_with("l_comment varchar(44) NOT NULL\n)"), "{create}");
    }

    #[test]
    fn long_texts_take_more_than_their_view() {
        let batch = person::table(1).batches.next().unwrap();
        let long = |column: usize| batch.column(column).as_string_view().value(0).len();
        let beyond = |n: usize| if n > INLINE_BYTES { n } else { 0 };
        let expected = 4 + 2 * VIEW_BYTES + beyond(long(1)) + beyond(long(2));
        assert_eq!(arrow_bytes(&batch), expected as u64);
    }
}
