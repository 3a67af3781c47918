//! The tables that queries are measured on: numbers, dates and texts in pseudo-random order.

use super::Bench;
use anyhow::Result;
use dbsim::RUNS;

/// Number of distinct values of `g`.
pub(super) const GROUPS: u64 = 100;
/// Rows of joined tables.
const SIZES: [u64; 5] = [GROUPS, 1 << 14, 1 << 16, 1 << 18, 1 << 20];
/// Rows of sorted tables.
const SORTED: [u64; 5] = [1 << 11, 1 << 13, 1 << 14, 1 << 15, 1 << 17];
/// One in so many keys matches, if not all do.
const STEP: u64 = 4;
/// Distance of sparse keys.
const APART: u64 = 16;
/// A prime. Cubes modulo this prime are pseudo-random: the processor predicts neither which rows a predicate keeps nor which key
/// is looked up next. It does predict squares: the distance between kept rows then has only three values over hundreds of rows
/// (three-gap theorem).
const PRIME: u64 = 15_485_863;
/// Bucket size in bytes for which a piece has far fewer rows than a batch.
const SMALL_BUCKET: u64 = 262_144;

const COLUMNS: &str = "id bigint PRIMARY KEY, r bigint NOT NULL, g bigint NOT NULL, v bigint NOT NULL, \
    d1 date NOT NULL, d2 date NOT NULL, d3 date NOT NULL, \
    n1 numeric(15,2) NOT NULL, n2 numeric(15,2) NOT NULL, n3 numeric(15,2) NOT NULL, \
    s1 text NOT NULL, s2 text NOT NULL, l1 text NOT NULL, l2 text NOT NULL, c1 text NOT NULL";

/// The columns of `slim`.
const HALF_OF_COLUMNS: &str = "id bigint PRIMARY KEY, r bigint NOT NULL, g bigint NOT NULL, v bigint NOT NULL, d1 date NOT NULL, \
    n1 numeric(15,2) NOT NULL, s1 text NOT NULL, c1 text NOT NULL";

/// Prefixes of texts; a digit follows.
const SHORT: [&str; 2] = ["SHIP ", "MODE "];
const LONG: &str = "the furious packages sleep among quick requests ";

/// The words of `c1`.
const WORDS: &str = "amber basket candle drifting ember feather gentle harbour island jasmine kettle lantern meadow \
    nimble orchard pebble quiver ripple signal thicket umbrella velvet willow yonder zephyr anchor bramble copper dapple \
    eager flicker granite hollow ivory juniper kindle linger mellow nestle opal parcel rustle sturdy";
/// Words of a value of `c1`.
const WORDS_OF_A_TEXT: u64 = 7;
/// A LIKE pattern of two words.
pub(super) const SOUGHT: &str = "%copper%signal%";

/// Texts that are keys of groups, one for each value: column name, prefix, and bytes. The first are stored inline in the column.
pub(super) const TEXT_KEYS: [(&str, &str, f64); 2] =
    [("y", "", 8.0), ("x", "customer number ", 24.0)];

/// Names of columns with keys in order: all keys match, or one in [`STEP`] does. Each key has a run of [`ROWS_OF_A_KEY`] rows.
pub(super) const IN_ORDER: [&str; 2] = ["all", "some"];
/// Rows of a key in the columns [`IN_ORDER`]: one of [`RUNS`].
pub(super) const ROWS_OF_A_KEY: f64 = 4.0;

/// An expression for a text with a number of up to eight digits.
fn text_key(begin: &str, number: &str) -> String {
    format!("'{begin}' || lpad(({number})::text, 8, '0')")
}

/// Mean bytes of `c1`: all words are equally frequent.
pub(super) fn words_bytes() -> f64 {
    let words = WORDS.split(' ').count() as f64;
    let spaces = words - 1.0;
    let each = (WORDS.len() as f64 - spaces) / words;
    let of_a_text = WORDS_OF_A_TEXT as f64;
    of_a_text * each + of_a_text - 1.0
}

/// Bytes of a value of `s1` and `s2`, and of `l1` and `l2`.
pub(super) const TEXT_BYTES: [f64; 2] = [(SHORT[0].len() + 1) as f64, (LONG.len() + 1) as f64];

/// Rows of the joined tables `r0`, `r1`, ..., ascending; at most half of `rows`.
pub(super) fn sizes(rows: u64) -> Vec<u64> {
    up_to_half(rows, &SIZES)
}

/// Rows of the sorted tables `few0`, `few1`, ..., ascending; at most half of `rows`.
pub(super) fn sorted(rows: u64) -> Vec<u64> {
    up_to_half(rows, &SORTED)
}

fn up_to_half(rows: u64, sizes: &[u64]) -> Vec<u64> {
    let half = rows / 2;
    let sizes: Vec<u64> = sizes.iter().copied().filter(|size| *size <= half).collect();
    if sizes.is_empty() { vec![half.max(2)] } else { sizes }
}

/// Index of the first joined table that is not small, if there is one.
pub(super) fn usual(rows: u64) -> usize {
    usize::from(sizes(rows).len() > 1)
}

/// A predicate that keeps this part of the rows, at random.
pub(super) fn keeping(part: f64) -> String {
    keeping_by("r", part)
}

/// A predicate that keeps this part of the rows in runs of mean length `run`, one of [`RUNS`].
pub(super) fn keeping_runs(run: f64, part: f64) -> String {
    if run == 1.0 { keeping(part) } else { keeping_by(&format!("r{run}"), part) }
}

fn keeping_by(column: &str, part: f64) -> String {
    format!("{column} < {:.0}", part * PRIME as f64)
}

/// Creates and fills the tables:
///
/// - `t` has all rows. Its columns: `r` pseudo-random numbers; `g` few values; for each of [`sizes`] `a0`, `a1`, ... with that
///   many dense values, `b0`, ... with sparse ones, `more_a0` and `more_b0`, ... with [`STEP`] times as many; those of
///   [`IN_ORDER`] and [`TEXT_KEYS`] for each size; `r4` and so on, numbers that all rows of one of the [`RUNS`] share; short
///   and long texts of few values, and a text of words.
/// - `one` has one row of `t`.
/// - `pieces` has the columns of `t` that do not depend on sizes, in small buckets. `few0`, `few1`, ... have its first rows,
///   `narrow` has one row, and `slim` one row of half of its columns.
/// - `r0`, `r1`, ... have a row for each value of `a0`, `a1`, ...: `k`, sparse `k16`, in steps `k4` and `k64`, and the texts
///   `y` and `x` as `t` has them in `y0`, `x0`, .... `least` has one row of these.
pub(super) async fn fill(bench: &Bench) -> Result<()> {
    let rows = bench.rows;
    let sizes = sizes(rows);
    let mut columns = COLUMNS.to_owned();
    let mut select = of_each_row();
    for (at, size) in sizes.iter().enumerate() {
        for (name, values) in [("", *size), ("more_", size * STEP)] {
            columns += &format!(", {name}a{at} bigint NOT NULL, {name}b{at} bigint NOT NULL");
            select += &format!(", r % {values}, r % {values} * {APART}");
        }
    }
    for (at, size) in sizes.iter().enumerate() {
        let in_order = format!("(i / {ROWS_OF_A_KEY} % {size})");
        let some = format!("({in_order} * {STEP} + {} % {STEP})", shared_by(ROWS_OF_A_KEY));
        for (name, key) in IN_ORDER.into_iter().zip([in_order, some]) {
            columns += &format!(", {name}{at} bigint NOT NULL, {name}{at}_apart bigint NOT NULL");
            select += &format!(", {key}, {key} * {APART}");
        }
        for (name, begin, _) in TEXT_KEYS {
            columns += &format!(", {name}{at} text NOT NULL");
            select += &format!(", {}", text_key(begin, &format!("r % {size}")));
        }
    }
    for run in &RUNS[1..] {
        columns += &format!(", r{run} bigint NOT NULL");
        select += &format!(", {}", in_runs(*run));
    }
    let from = |rows: u64| {
        let r = scattered("i");
        format!(
            "FROM (SELECT i, {r} AS r FROM (SELECT i::bigint AS i FROM generate_series(0, {rows} - 1) s(i)) s) s"
        )
    };
    let mut statements = vec![
        format!("CREATE TABLE t ({columns})"),
        format!("INSERT INTO t SELECT {select} {}", from(rows)),
        format!("CREATE TABLE pieces ({COLUMNS}) WITH (bucket_size = {SMALL_BUCKET})"),
        format!("INSERT INTO pieces SELECT {} {}", of_each_row(), from(rows)),
        format!("CREATE TABLE one ({columns})"),
        "INSERT INTO one SELECT * FROM t WHERE id = 1".to_owned(),
        format!("CREATE TABLE narrow ({COLUMNS})"),
        format!("INSERT INTO narrow SELECT {} {}", of_each_row(), from(1)),
        format!("CREATE TABLE slim ({HALF_OF_COLUMNS})"),
        "INSERT INTO slim SELECT id, r, g, v, d1, n1, s1, c1 FROM narrow".to_owned(),
    ];
    let names = (0..sizes.len()).map(|at| format!("r{at}")).chain(["least".to_owned()]);
    for (name, size) in names.zip(sizes.iter().chain([&1])) {
        let columns = "id bigint PRIMARY KEY, k bigint NOT NULL, k4 bigint NOT NULL, k16 bigint NOT NULL, k64 bigint NOT NULL, \
            n1 numeric(15,2) NOT NULL, n2 numeric(15,2) NOT NULL, n3 numeric(15,2) NOT NULL, \
            y text NOT NULL, x text NOT NULL";
        let (close, apart) = (STEP, APART * STEP);
        let [y, x] = TEXT_KEYS.map(|(_, begin, _)| text_key(begin, "i"));
        let select = format!(
            "i, i, i * {close}, i * {APART}, i * {apart}, {}, {}, {}, {y}, {x}",
            number(17),
            number(19),
            number(23)
        );
        statements.push(format!("CREATE TABLE {name} ({columns})"));
        statements.push(format!("INSERT INTO {name} SELECT {select} {}", from(*size)));
    }
    for (at, few) in sorted(rows).into_iter().enumerate() {
        statements.push(format!("CREATE TABLE few{at} ({COLUMNS})"));
        statements.push(format!("INSERT INTO few{at} SELECT {} {}", of_each_row(), from(few)));
    }
    for statement in statements {
        bench.session.execute(&statement).await?;
    }
    Ok(())
}

/// An expression that is equal for all rows of a run. Runs have `run` rows on average, from one to nearly twice as many.
fn in_runs(run: f64) -> String {
    let is_next = format!("CASE WHEN i % {run} < {} % {run} THEN 0 ELSE 1 END", shared_by(run));
    scattered(&format!("((i / {run} + {is_next}) * {run})"))
}

/// An expression that is equal for `run` consecutive rows.
fn shared_by(run: f64) -> String {
    scattered(&format!("(i / {run} * {run})"))
}

fn scattered(number: &str) -> String {
    format!("(7 * {number} * {number} % {PRIME} * {number} + 13 * {number}) % {PRIME}")
}

fn number(step: u64) -> String {
    format!("((i * {step} % 9973)::numeric / 100)::numeric(15,2)")
}

/// Expressions for the values of [`COLUMNS`] of row `i`.
fn of_each_row() -> String {
    let day = |step: u64| format!("date '1992-01-01' + (i * {step} % 2500)::int");
    let text = |begin: &str, values: u64| format!("'{begin}' || (r % {values})");
    let words = WORDS.split(' ').count();
    let word =
        |at: u64| format!("split_part('{WORDS}', ' ', (1 + (r + r / 97 * {at}) % {words})::int)");
    let words = (0..WORDS_OF_A_TEXT).map(word).collect::<Vec<_>>().join(" || ' ' || ");
    format!(
        "i, r, r % {GROUPS}, i, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {words}",
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
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;
    use futures::TryStreamExt;
    use query::{Database, Options};
    use std::collections::BTreeSet;

    const ROWS: usize = 1_000_000;

    /// The kept rows of `ROWS`, in order.
    async fn kept(run: f64, part: f64) -> Vec<i64> {
        let session = Database::open(Options::default()).expect("opens").session();
        let predicate = keeping_runs(run, part);
        let (column, _) = predicate.split_once(' ').expect("a comparison");
        let numbers = format!("SELECT i::bigint AS i FROM generate_series(0, {ROWS} - 1) s(i)");
        let rows = format!("SELECT i, {} AS {column} FROM ({numbers}) s", in_runs(run));
        let sql = format!("SELECT i FROM ({rows}) s WHERE {predicate} ORDER BY i");
        let stream = session.query(&sql).await.expect("runs").stream;
        let batches: Vec<_> = stream.try_collect().await.expect("rows");
        let column = |at: usize| batches[at].column(0).as_primitive::<Int64Type>().values();
        (0..batches.len()).flat_map(column).copied().collect()
    }

    #[tokio::test]
    async fn predicates_keep_the_stated_part_for_every_run_length() {
        for run in RUNS {
            for part in [0.05, 0.2, 0.45, 0.95] {
                let of_all = kept(run, part).await.len() as f64 / ROWS as f64;
                assert!((of_all / part - 1.0).abs() < 0.25, "{of_all} for {part} in runs of {run}");
            }
        }
    }

    #[tokio::test]
    async fn distances_of_kept_rows_are_as_random_as_drawn_ones() {
        for (part, drawn) in [(0.05, 56.5), (0.2, 19.5), (0.45, 9.0)] {
            let rows = kept(1.0, part).await;
            let apart: Vec<i64> = rows.windows(2).map(|rows| rows[1] - rows[0]).collect();
            let distances = apart.chunks_exact(200).map(|some| BTreeSet::from_iter(some).len());
            let chunks = distances.len();
            let mean = distances.sum::<usize>() as f64 / chunks as f64;
            assert!(mean > 0.8 * drawn, "{mean} distances among 200, {drawn} if drawn ({part})");
        }
    }
}
