//! What is measured upon: numbers, dates and texts, in an order of their own.

use super::Bench;
use anyhow::Result;

/// How many groups the rows fall into by `g`, and by `m`.
pub(super) const GROUPS: u64 = 100;
pub(super) const MANY_GROUPS: u64 = 65_536;
/// A prime above all numbers of rows: its multiples come to every row once.
const STRIDE: u64 = 15_485_863;
/// Tables that are built into hash tables, and the part of the rows that each has.
pub(super) const BUILDS: [(&str, f64); 3] = [("few", 0.05), ("many", 0.75), ("most", 0.95)];
/// Bytes of a bucket of which a piece has far fewer rows than a batch.
const SMALL_BUCKET: u64 = 131_072;

const COLUMNS: &str = "(id bigint PRIMARY KEY, k bigint NOT NULL, g bigint NOT NULL, m bigint NOT NULL, v bigint NOT NULL, \
    d1 date NOT NULL, d2 date NOT NULL, d3 date NOT NULL, \
    n1 numeric(15,2) NOT NULL, n2 numeric(15,2) NOT NULL, n3 numeric(15,2) NOT NULL, \
    s1 text NOT NULL, s2 text NOT NULL, l1 text NOT NULL, l2 text NOT NULL, c1 text NOT NULL)";

/// What the texts begin with; a digit follows.
const SHORT: [&str; 2] = ["SHIP ", "MODE "];
const LONG: &str = "the furious packages sleep among quick requests ";

/// What `c1` is made of, each time of other words, and how many of them.
const WORDS: &str = "amber basket candle drifting ember feather gentle harbour island jasmine kettle lantern meadow \
    nimble orchard pebble quiver ripple signal thicket umbrella velvet willow yonder zephyr anchor bramble copper dapple \
    eager flicker granite hollow ivory juniper kindle linger mellow nestle opal parcel rustle sturdy";
const WORDS_OF_A_TEXT: u64 = 7;
/// A pattern of two of them.
pub(super) const SOUGHT: &str = "%copper%signal%";

/// Bytes of `c1` on average: each word is as often there as another.
pub(super) fn words_bytes() -> f64 {
    let words = WORDS.split(' ').count() as f64;
    let spaces = words - 1.0;
    let each = (WORDS.len() as f64 - spaces) / words;
    let of_a_text = WORDS_OF_A_TEXT as f64;
    of_a_text * each + of_a_text - 1.0
}

/// Bytes of the texts `s1` and `s2`, and of `l1` and `l2`.
pub(super) const TEXT_BYTES: [f64; 2] = [(SHORT[0].len() + 1) as f64, (LONG.len() + 1) as f64];

/// `t` has the rows: `k` every number once, `g` few values and `m` many, two short and two long texts of few values, and one of words. `pieces` has
/// the same in small buckets, `one` has a row of it, others have parts.
pub(super) async fn fill(bench: &Bench) -> Result<()> {
    let rows = bench.rows;
    let day = |step: u64| format!("date '1992-01-01' + (i * {step} % 2500)::int");
    let number = |step: u64| format!("((i * {step} % 9973)::numeric / 100)::numeric(15,2)");
    let text = |begin: &str, values: u64| format!("'{begin}' || (i % {values})");
    let words = WORDS.split(' ').count();
    let word =
        |at: u64| format!("split_part('{WORDS}', ' ', (1 + i * {} % {words})::int)", 7 + 4 * at);
    let words = (0..WORDS_OF_A_TEXT).map(word).collect::<Vec<_>>().join(" || ' ' || ");
    let select = format!(
        "SELECT i, i * {STRIDE} % {rows}, i % {GROUPS}, i * {STRIDE} % {MANY_GROUPS}, i, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {words} \
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
