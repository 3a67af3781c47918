//! What is measured upon: numbers, dates and texts, in an order of their own.

use super::Bench;
use anyhow::Result;

/// How many groups the rows fall into.
const GROUPS: u64 = 100;
/// A prime above all numbers of rows: its multiples come to every row once.
const STRIDE: u64 = 15_485_863;
/// Tables that are built into hash tables, and the part of the rows that each has.
pub(super) const BUILDS: [(&str, f64); 3] = [("few", 0.05), ("many", 0.75), ("most", 0.95)];
/// Bytes of a bucket of which a piece has far fewer rows than a batch.
const SMALL_BUCKET: u64 = 131_072;

const COLUMNS: &str = "(id bigint PRIMARY KEY, k bigint NOT NULL, g bigint NOT NULL, v bigint NOT NULL, \
    d1 date NOT NULL, d2 date NOT NULL, d3 date NOT NULL, \
    n1 numeric(15,2) NOT NULL, n2 numeric(15,2) NOT NULL, n3 numeric(15,2) NOT NULL, \
    s1 text NOT NULL, s2 text NOT NULL, l1 text NOT NULL, l2 text NOT NULL)";

/// What the texts begin with; a digit follows.
const SHORT: [&str; 2] = ["SHIP ", "MODE "];
const LONG: &str = "the furious packages sleep among quick requests ";

/// Bytes of the texts `s1` and `s2`, and of `l1` and `l2`.
pub(super) const TEXT_BYTES: [f64; 2] = [(SHORT[0].len() + 1) as f64, (LONG.len() + 1) as f64];

/// `t` has the rows: `k` every number once, `g` few values, two short and two long texts of few values. `pieces` has
/// the same in small buckets, `one` has a row of it, others have parts.
pub(super) async fn fill(bench: &Bench) -> Result<()> {
    let rows = bench.rows;
    let day = |step: u64| format!("date '1992-01-01' + (i * {step} % 2500)::int");
    let number = |step: u64| format!("((i * {step} % 9973)::numeric / 100)::numeric(15,2)");
    let text = |begin: &str, values: u64| format!("'{begin}' || (i % {values})");
    let select = format!(
        "SELECT i, i * {STRIDE} % {rows}, i % {GROUPS}, i, {}, {}, {}, {}, {}, {}, {}, {}, {}, {} \
         FROM (SELECT i::bigint AS i FROM generate_series(0, {rows} - 1) s(i)) s",
        day(7),
        day(11),
        day(13),
        number(17),
        number(19),
        number(23),
        text(SHORT[0], 7),
        text(SHORT[1], 5),
        text(LONG, 7),
        text(LONG, 5),
    );
    let mut statements = vec![
        format!("CREATE TABLE t {COLUMNS}"),
        format!("INSERT INTO t {select}"),
        format!("CREATE TABLE pieces {COLUMNS} WITH (bucket_size = {SMALL_BUCKET})"),
        "INSERT INTO pieces SELECT * FROM t".to_owned(),
        format!("CREATE TABLE one {COLUMNS}"),
        "INSERT INTO one SELECT * FROM t WHERE id = 1".to_owned(),
    ];
    for (name, part) in BUILDS {
        statements.push(format!("CREATE TABLE {name} {COLUMNS}"));
        let below = (100.0 * part).round();
        statements.push(format!("INSERT INTO {name} SELECT * FROM t WHERE k % 100 < {below}"));
    }
    for statement in statements {
        bench.session.execute(&statement).await?;
    }
    Ok(())
}
