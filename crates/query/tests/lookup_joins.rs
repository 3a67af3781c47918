//! Joins that look rows up: their answers are those of the same joins by keys that no index knows, on one server and on
//! three, for NULLs, repeated keys, keys of several columns, and rows that the transaction has changed.

mod servers;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::util::pretty::pretty_format_batches;
use futures::TryStreamExt;
use query::{Database, Options, Session};
use servers::Servers;

/// More rows than are read without looking them up.
const ROWS: u64 = 12_000;

struct Choices(u64);

impl Choices {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn of<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len() as u64) as usize]
    }
}

async fn run(session: &Session, script: &str) {
    session.execute(script).await.expect(script);
}

async fn answer(session: &Session, sql: &str) -> String {
    let rows = session.query(sql).await.expect(sql);
    let batches: Vec<_> = rows.stream.try_collect().await.expect(sql);
    let text = pretty_format_batches(&batches).expect("a table").to_string();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

async fn tables(session: &Session, seed: u64) {
    let big = format!(
        "CREATE TABLE b (a bigint, t text, c integer, f integer, u uuid UNIQUE, d date, g integer, PRIMARY KEY (a, t));
         CREATE INDEX b_c ON b (c); CREATE INDEX b_ft ON b (f, t DESC); CREATE INDEX b_d ON b (d, c) INCLUDE (f);
         CREATE INDEX b_g ON b (g, c, (a + 1)) WHERE f <> 2;
         INSERT INTO b SELECT i / 2, 't' || i % 7, nullif(i * 31 % 3000, {seed}), i % 5, md5(i::text)::uuid,
             date '2020-01-01' + (i % 2000)::integer, i * 13 % 3000 FROM generate_series(1, {ROWS}) i"
    );
    run(session, &big).await;
    // Keys that are there, keys that are not, NULLs, and each twice.
    let small = "CREATE TABLE s (n integer PRIMARY KEY, a bigint, l integer, t text, c integer, w bigint, u uuid, d date);
        INSERT INTO s SELECT i, nullif(i % 20 * 467, 467 * 3), i % 20 * 331, 't' || i % 9, i % 15 * 211,
            CASE i WHEN 5 THEN 5000000000 ELSE i % 15 * 211 END, md5((i * 97)::text)::uuid,
            nullif(date '2020-01-01' + i * 71, date '2020-01-01' + 142) FROM generate_series(1, 40) i";
    run(session, small).await;
}

/// Conditions by which rows are looked up, and the same ones so that they are not.
const CONDITIONS: [(&str, &str); 10] = [
    ("b.a = s.a", "-b.a = -s.a"),
    ("b.a = s.l", "-b.a = -s.l"),
    ("b.a = s.a AND b.t = s.t", "-b.a = -s.a AND reverse(b.t) = reverse(s.t)"),
    ("b.c = s.c", "-b.c = -s.c"),
    ("b.c = s.w", "-b.c = -s.w"),
    ("b.c = s.c AND b.a = s.a", "-b.c = -s.c AND -b.a = -s.a"),
    (
        "b.f = 3 AND b.t = s.t AND b.a = s.a",
        "b.f = 3 AND reverse(b.t) = reverse(s.t) AND -b.a = -s.a",
    ),
    ("b.u = s.u", "b.u::text || '' = s.u::text || ''"),
    ("b.d = s.d", "b.d + 1 = s.d + 1"),
    ("b.g = s.c AND b.f <> 2", "-b.g = -s.c AND b.f <> 2"),
];

/// Conditions in addition.
const FURTHER: [&str; 4] = ["true", "b.c > s.c + 10", "b.a % 3 = 0", "b.f <> 2 AND s.n % 2 = 0"];

/// Queries with a place for the condition.
const QUERIES: [&str; 8] = [
    "SELECT s.n, b.a, b.t, b.c FROM s JOIN b ON {}",
    "SELECT s.n, b.a, b.t, b.f FROM s LEFT JOIN b ON {}",
    "SELECT s.n, b.a, b.t, b.f FROM b RIGHT JOIN s ON {}",
    "SELECT s.n FROM s WHERE EXISTS (SELECT FROM b WHERE {})",
    "SELECT s.n FROM s WHERE NOT EXISTS (SELECT FROM b WHERE {})",
    "SELECT b.a, b.t FROM b WHERE EXISTS (SELECT FROM s WHERE {})",
    "SELECT s.n, EXISTS (SELECT FROM b WHERE {}) FROM s",
    "SELECT count(*), sum(b.a), min(s.n) FROM s JOIN b ON {} WHERE s.n < 7",
];

/// Compares a query with itself; returns whether its plan looks rows up.
async fn compare(session: &Session, choices: &mut Choices) -> bool {
    let query = choices.of(&QUERIES);
    let (by_key, hidden) = CONDITIONS[choices.below(CONDITIONS.len() as u64) as usize];
    let further = choices.of(&FURTHER);
    let sql = |condition| query.replace("{}", &format!("{condition} AND {further}"));
    let (looked_up, read) = (sql(by_key), sql(hidden));
    assert_eq!(answer(session, &looked_up).await, answer(session, &read).await, "{looked_up}");
    let explained = |sql: &str| format!("EXPLAIN {sql}");
    assert!(!answer(session, &explained(&read)).await.contains("LookupJoin"), "{read}");
    answer(session, &explained(&looked_up)).await.contains("LookupJoin")
}

async fn change(session: &Session, choices: &mut Choices) {
    let row = choices.below(ROWS / 2);
    let sql = match choices.below(4) {
        0 => format!("UPDATE b SET c = {row} % 3000 WHERE a = {}", choices.below(20) * 467),
        1 => format!("DELETE FROM b WHERE a BETWEEN {row} AND {row} + 3"),
        2 => format!(
            "INSERT INTO b VALUES ({row}, 'new', 211, 3, NULL, '2020-03-12') ON CONFLICT DO NOTHING"
        ),
        _ => format!("UPDATE b SET d = NULL, f = 3 WHERE c = {}", choices.below(15) * 211),
    };
    run(session, &sql).await;
}

#[tokio::test]
async fn answers_are_those_of_joins_without_lookups() {
    for seed in 0..4 {
        let choices = &mut Choices(seed);
        let options =
            Options { threads: Some(2), bucket_size: Some(32 << 10), ..Options::default() };
        let session = Database::open(options).expect("opened").session();
        tables(&session, seed).await;
        let mut lookups = 0;
        for round in 0..40 {
            match round % 10 {
                3 => run(&session, "BEGIN").await,
                9 => run(&session, "COMMIT").await,
                _ => change(&session, choices).await,
            }
            lookups += usize::from(compare(&session, choices).await);
        }
        assert!(lookups > 20, "{lookups} of 40 queries look rows up");
    }
}

#[tokio::test]
async fn answers_of_several_servers_are_those_of_joins_without_lookups() {
    let options = Options { threads: Some(2), bucket_size: Some(32 << 10), ..Options::default() };
    let choices = &mut Choices(1);
    let servers = Servers::start(3, &options);
    let session = servers.database(0).session();
    tables(&session, 1).await;
    servers.give("b", 0, 1, Some(1500), Some(3000));
    servers.give("b", 0, 2, Some(4000), None);
    let mut lookups = 0;
    for round in 0..60 {
        let relation = choices.of(&["b", "b_c", "b_ft", "b_d", "b_g", "b_u_key"]);
        let random = choices.below(1 << 30);
        servers.shuffle(relation, random);
        if round % 3 == 0 {
            change(&session, choices).await;
        }
        lookups += usize::from(compare(&session, choices).await);
    }
    assert!(lookups > 20, "{lookups} of 60 queries look rows up");
}

/// A session that repeats a query keeps its plan, with the rows of a table that was read in whole before.
#[tokio::test]
async fn kept_plans_look_rows_up() {
    let session = Database::open(Options::default()).expect("opened").session();
    tables(&session, 0).await;
    let sql = "SELECT s.n, b.t FROM s JOIN b ON b.a = s.a WHERE s.n < $1";
    for count in [3, 30, 5, 40] {
        let parameter = datafusion::common::ScalarValue::Int32(Some(count));
        let rows = session.query_with(sql, &[parameter]).await.expect(sql);
        let batches: Vec<_> = rows.stream.try_collect().await.expect(sql);
        let found: usize = batches.iter().map(|batch| batch.num_rows()).sum();
        let hidden = format!("SELECT count(*) FROM s JOIN b ON -b.a = -s.a WHERE s.n < {count}");
        assert!(answer(&session, &hidden).await.contains(&format!(" {found} ")), "{found}");
        run(&session, "DELETE FROM b WHERE a = 467").await;
    }
}

/// The rows of the right side are in the order of its key, and the plan relies on it.
#[tokio::test]
async fn looked_up_rows_are_in_the_order_that_the_plan_relies_on() {
    let options = Options { threads: Some(2), bucket_size: Some(32 << 10), ..Options::default() };
    let session = Database::open(options).expect("opened").session();
    tables(&session, 0).await;
    let sql = "SELECT b.a FROM s JOIN b ON b.a = s.l ORDER BY b.a, b.t";
    let plan = answer(&session, &format!("EXPLAIN {sql}")).await;
    assert!(plan.contains("LookupJoin") && !plan.contains("SortExec"), "{plan}");
    let rows = session.query(sql).await.expect(sql);
    let batches: Vec<_> = rows.stream.try_collect().await.expect(sql);
    let keys =
        batches.iter().flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values());
    let keys: Vec<i64> = keys.copied().collect();
    assert_eq!(keys.len(), 74);
    assert!(keys.is_sorted(), "{keys:?}");
}

/// The engine sorts the right side below a join, which takes longer than to sort what is looked up.
#[tokio::test]
async fn rows_are_sorted_after_they_are_looked_up() {
    let options = Options { threads: Some(2), bucket_size: Some(32 << 10), ..Options::default() };
    let servers = Servers::start(3, &options);
    let session = servers.database(0).session();
    tables(&session, 0).await;
    servers.give("b", 0, 1, Some(1500), Some(3000));
    for order in ["b.c, b.a, b.t", "b.t DESC, b.c, b.a", "b.f + b.c, b.a, b.t"] {
        let sql = |condition| {
            format!(
                "SELECT b.c, b.t, b.f, s.n FROM s JOIN b ON {condition} WHERE s.n < 30 ORDER BY {order}"
            )
        };
        let (looked_up, read) = (sql("b.a = s.l"), sql("-b.a = -s.l"));
        let plan = answer(&session, &format!("EXPLAIN {looked_up}")).await;
        assert!(plan.contains("LookupJoin"), "{plan}");
        let numbered =
            |sql: &str| format!("SELECT row_number() OVER (), q.c, q.t, q.f FROM ({sql}) q");
        assert_eq!(
            answer(&session, &numbered(&looked_up)).await,
            answer(&session, &numbered(&read)).await
        );
    }
}

/// One message asks an owner for all rows.
#[tokio::test]
async fn rows_of_an_owner_are_asked_for_at_once() {
    let servers = Servers::start(3, &Options { threads: Some(2), ..Options::default() });
    let session = servers.database(0).session();
    tables(&session, 0).await;
    servers.give("b", 0, 1, Some(1000), Some(3000));
    servers.give("b", 0, 2, Some(3000), None);
    servers.take_sent();
    let found = answer(&session, "SELECT count(*) FROM s JOIN b ON b.a = s.l").await;
    assert!(found.contains(" 74 "), "{found}");
    assert_eq!(servers.take_sent().len(), 2);
}
