//! A session that repeats a query executes the plan of before: the answers are those of a session that plans it.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::common::ScalarValue;
use futures::TryStreamExt;
use query::{Database, Options, Outcome, Rows, Session};

async fn texts(rows: Rows) -> Result<String, query::Error> {
    let types = rows.fields.iter().map(|field| format!("{} {}", field.name, field.sql_type));
    let types = types.collect::<Vec<_>>().join(", ");
    let batches: Vec<RecordBatch> = rows.stream.try_collect().await?;
    Ok(format!("{types}\n{}", pretty_format_batches(&batches)?))
}

async fn answer(session: &Session, sql: &str, parameters: &[ScalarValue]) -> String {
    let answer = match session.query_with(sql, parameters).await {
        Ok(rows) => texts(rows).await,
        Err(error) => Err(error),
    };
    answer.unwrap_or_else(|error| format!("{}: {error}", error.state().code()))
}

async fn run(session: &Session, script: &str) {
    session.execute(script).await.expect(script);
}

struct Choices(u64);

impl Choices {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

const TABLES: &str = "CREATE TABLE a (id integer PRIMARY KEY, k integer, v text);
    CREATE TABLE b (id bigint PRIMARY KEY, k integer, v text);
    CREATE TABLE c (k integer, s text, n numeric(8, 2), PRIMARY KEY (k, s))";

/// Indexes, which some databases have.
const INDEXES: &str = "CREATE INDEX ON a (k, v); CREATE INDEX ON a (lower(v)) WHERE k < 20;
    CREATE INDEX ON b ((k + 1)) WHERE k > 3; CREATE UNIQUE INDEX ON c (s DESC, k)";

/// Queries with two parameters of integers.
const QUERIES: [&str; 23] = [
    "SELECT id FROM a WHERE k = $1 AND id > $2 ORDER BY id",
    "SELECT k FROM a WHERE k > $1 AND k < $2 ORDER BY k LIMIT 3",
    "SELECT min(k), max(k) FROM a WHERE k < $1 AND k > $2",
    "SELECT id FROM b WHERE k + 1 = $1 AND k > 3 AND id <> $2 ORDER BY id",
    "SELECT id FROM a WHERE k = $1 OR id = $2 OR lower(v) = 'a3' AND k < 20 ORDER BY id",
    "SELECT a.id, b.v FROM a JOIN b ON b.id = a.k WHERE a.id = $1 OR a.id = $2 ORDER BY 1, 2",
    "SELECT a.id, b.v, c.n FROM a JOIN b ON b.id = a.k JOIN c ON c.k = b.k WHERE a.id BETWEEN $1 AND $2 ORDER BY 1, 2, 3",
    "SELECT a.id, b.id FROM a LEFT JOIN b ON b.k = a.k AND b.id < $1 WHERE a.id < $2 ORDER BY 1, 2",
    "SELECT count(*), sum(a.k), min(v) FROM a WHERE id > $1 AND k < $2",
    "SELECT k, count(*) FROM b WHERE id >= $1 AND id <= $2 GROUP BY k ORDER BY k",
    "SELECT v FROM a WHERE k IN ($1, $2) ORDER BY id DESC LIMIT 3",
    "SELECT id + 1 AS n, v FROM b x WHERE x.id > $1 AND k <> $2 ORDER BY x.id LIMIT 5",
    "SELECT a.v FROM a, b WHERE a.id = b.id AND b.id = $1 UNION ALL SELECT v FROM b WHERE id = $2 ORDER BY 1",
    "SELECT DISTINCT c.s FROM c JOIN a ON a.k = c.k WHERE c.k > $1 AND c.k < $2 ORDER BY 1",
    "SELECT id FROM a WHERE id IN (SELECT k FROM c WHERE k > $1) AND id < $2 ORDER BY id",
    "SELECT a.id + $1 AS n FROM a JOIN b ON b.id = a.id WHERE a.id < $2 ORDER BY 1",
    "SELECT count(*) FROM a WHERE k = $1 AND $2 > 3",
    "SELECT a.id FROM a JOIN b ON a.k = b.k WHERE a.id / $1 > 2 AND b.id < $2 ORDER BY 1",
    "SELECT a.v, now() > '2020-01-01' FROM a JOIN b ON b.id = a.id WHERE a.id = $1 OR b.id = $2 ORDER BY 1",
    "SELECT id, v FROM a WHERE k = $1 ORDER BY v DESC, id LIMIT $2",
    "SELECT id FROM b WHERE k > $1 ORDER BY v, id LIMIT 4 OFFSET $2",
    "SELECT a.id, b.v FROM a JOIN b ON b.k = a.k WHERE a.id < $1 AND b.id < $2 ORDER BY b.v, a.id, b.id LIMIT 6",
    "SELECT k, count(*) FROM a WHERE id < $1 GROUP BY k ORDER BY 2 DESC, 1 LIMIT $2",
];

/// Queries without parameters.
const PLAIN: [&str; 8] = [
    "SELECT k FROM a ORDER BY k DESC NULLS LAST LIMIT 4",
    "SELECT max(k), min(k) FROM a",
    "SELECT s, k FROM c ORDER BY s DESC, k LIMIT 5",
    "SELECT count(*) FROM a",
    "SELECT a.id, b.v, c.s FROM a JOIN b ON b.id = a.k JOIN c ON c.k = a.k ORDER BY 1, 2, 3",
    "SELECT max(id), min(k) FROM b",
    "SELECT a.v, x.n FROM a JOIN (SELECT k, count(*) n FROM c GROUP BY k) x ON x.k = a.k ORDER BY 1, 2",
    "SELECT * FROM a CROSS JOIN (SELECT count(*) FROM b) x ORDER BY 1, 2",
];

async fn change(session: &Session, choices: &mut Choices) {
    let (low, rows) = (choices.below(300), choices.below(80));
    let high = low + rows;
    let sql = match choices.below(8) {
        0 | 1 => format!(
            "INSERT INTO a SELECT g, nullif(g % 40, 3), 'a' || g % 9 FROM generate_series({low}, {high}) g ON CONFLICT DO NOTHING"
        ),
        2 => format!(
            "INSERT INTO b SELECT g, g % 30, 'b' || g FROM generate_series({low}, {high}) g ON CONFLICT DO NOTHING"
        ),
        3 => format!(
            "INSERT INTO c SELECT g % 40, 's' || g, g / 7.0 FROM generate_series({low}, {high}) g ON CONFLICT DO NOTHING"
        ),
        4 => format!("DELETE FROM a WHERE id BETWEEN {low} AND {high}"),
        5 => format!("UPDATE b SET k = k + 1 WHERE id BETWEEN {low} AND {high}"),
        6 => format!("DELETE FROM c WHERE k > {}", low % 40),
        _ => format!("UPDATE a SET v = v || 'x' WHERE id % 17 = {}", low % 17),
    };
    run(session, &sql).await;
}

fn value(choices: &mut Choices) -> ScalarValue {
    let number = choices.below(320) as i64 - 5;
    match choices.below(12) {
        0 => ScalarValue::Int32(None),
        1 => ScalarValue::Int64(Some(number)),
        2 => ScalarValue::from(number.to_string()),
        _ => ScalarValue::Int32(Some(number as i32)),
    }
}

#[tokio::test]
async fn answers_of_kept_plans_are_those_of_new_ones() {
    for seed in 0..3 {
        let choices = &mut Choices(seed);
        let database = Database::open(Options { threads: Some(2), ..Options::default() });
        let database = database.expect("opened");
        let session = database.session();
        run(&session, TABLES).await;
        if seed > 0 {
            run(&session, INDEXES).await;
        }
        for step in 0..60 {
            change(&session, choices).await;
            let transaction = step % 5 == 4;
            if transaction {
                run(&session, "BEGIN").await;
                change(&session, choices).await;
            }
            for _ in 0..3 {
                let sql = QUERIES[choices.below(QUERIES.len() as u64) as usize];
                // A negative number of rows fails, and so would the transaction.
                let is_number_of_rows = sql.contains("LIMIT $2") || sql.contains("OFFSET $2");
                let second = match is_number_of_rows {
                    true => ScalarValue::Int64(Some(choices.below(9) as i64)),
                    false => value(choices),
                };
                let parameters = [value(choices), second];
                let plain = PLAIN[choices.below(PLAIN.len() as u64) as usize];
                let found =
                    [answer(&session, sql, &parameters).await, answer(&session, plain, &[]).await];
                // Other settings, no plan of before.
                run(&session, &format!("SET application_name = 'new{step}'")).await;
                let planned =
                    [answer(&session, sql, &parameters).await, answer(&session, plain, &[]).await];
                run(&session, "SET application_name = ''").await;
                assert_eq!(found, planned, "seed {seed}, step {step}: {sql} {parameters:?}");
            }
            if transaction {
                run(&session, if step % 2 == 0 { "COMMIT" } else { "ROLLBACK" }).await;
            }
        }
    }
}

/// Two executions of one query at a time have values of their own.
#[tokio::test]
async fn portals_of_one_query_do_not_share_values() {
    let session = Database::open(Options::default()).expect("opened").session();
    run(&session, TABLES).await;
    run(
        &session,
        "INSERT INTO a SELECT g, g, 'a' || g FROM generate_series(1, 100) g;
         INSERT INTO b SELECT g, g, 'b' || g FROM generate_series(1, 100) g",
    )
    .await;
    let sql = "SELECT a.v, b.v FROM a JOIN b ON b.id = a.k WHERE a.id = $1";
    let statement = session.prepare(sql).await.expect("prepared");
    for _ in 0..3 {
        let mut open = Vec::new();
        for id in [1, 7, 42] {
            match statement.execute(&[ScalarValue::from(id)]).await.expect("executed") {
                Outcome::Rows(rows) => open.push((id, rows)),
                Outcome::Done(tag) => panic!("{tag}"),
            }
        }
        for (id, rows) in open.into_iter().rev() {
            let texts = texts(rows).await.expect("rows");
            assert!(texts.contains(&format!("| a{id} ")), "{id}: {texts}");
            assert!(texts.contains(&format!("| b{id} ")), "{id}: {texts}");
        }
    }
}

/// What a plan depends on besides rows: definitions, privileges, settings.
#[tokio::test]
async fn a_plan_is_not_used_under_other_definitions_or_settings() {
    let session = Database::open(Options::default()).expect("opened").session();
    run(&session, TABLES).await;
    run(&session, "INSERT INTO a VALUES (1, 1, 'one'); INSERT INTO b VALUES (1, 1, 'one')").await;
    let sql = "SELECT * FROM a JOIN b ON a.id = b.id";
    let three = async |expected: &str| {
        for _ in 0..3 {
            let found = answer(&session, sql, &[]).await;
            assert!(found.contains(expected), "{expected}: {found}");
        }
    };
    three("| one |").await;
    run(&session, "ALTER TABLE b ADD COLUMN w integer DEFAULT 7").await;
    three("w integer").await;
    run(&session, "CREATE SCHEMA s; CREATE TABLE s.a (id integer PRIMARY KEY, other text)").await;
    run(&session, "INSERT INTO s.a VALUES (1, 'of s'); SET search_path = s, public").await;
    three("of s").await;
    run(&session, "SET search_path = public").await;
    three("| one |").await;
    run(&session, "CREATE TEMP TABLE a (id integer PRIMARY KEY, passing integer)").await;
    three("passing integer").await;
    run(&session, "DROP TABLE pg_temp.a; CREATE USER chief SUPERUSER PASSWORD 'secret'; CREATE ROLE r; SET ROLE r").await;
    three("42501").await;
    run(&session, "RESET ROLE; GRANT SELECT ON a, b TO r; SET ROLE r").await;
    three("| one |").await;
    run(&session, "RESET ROLE; DROP TABLE a").await;
    three("42P01").await;
}

/// A plan for few rows is not used for many.
#[tokio::test]
async fn a_table_may_grow_and_shrink() {
    let session = Database::open(Options::default()).expect("opened").session();
    run(&session, TABLES).await;
    let sql = "SELECT count(*), sum(a.k) FROM a JOIN b ON b.id = a.id WHERE a.id >= $1";
    for rows in [0, 10, 5_000, 200_000, 100] {
        run(
            &session,
            &format!(
                "TRUNCATE a, b; INSERT INTO a SELECT g, 1, 'x' FROM generate_series(1, {rows}) g;
             INSERT INTO b SELECT g, 1, 'x' FROM generate_series(1, {rows}) g"
            ),
        )
        .await;
        for from in [1, 2, 3] {
            let found = answer(&session, sql, &[ScalarValue::from(from)]).await;
            let expected = (rows - from + 1).max(0);
            assert!(found.contains(&format!("| {expected} ")), "{rows} rows: {found}");
            // A limit keeps the plan good for any number of rows.
            let last = "SELECT a.id + 1 AS next FROM a ORDER BY a.id DESC LIMIT 2";
            let found = answer(&session, last, &[]).await;
            let is_there = found.contains(&format!("| {} ", rows + 1));
            assert_eq!(is_there, rows > 0, "{rows} rows: {found}");
        }
    }
}
