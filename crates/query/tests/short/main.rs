//! Prepared queries by key are answered without the planner: the answers are the planner's.

mod joins;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::ScalarValue;
use futures::TryStreamExt;
use proptest::prelude::*;
use query::{Database, Error, Options, Outcome, Rows, Session, SqlState};

/// Columns with their types, and rows.
type Answer = (Vec<String>, Vec<Vec<String>>);

async fn collected(rows: Rows) -> Result<Answer, Error> {
    let columns =
        rows.fields.iter().map(|field| format!("{} {}", field.name, field.sql_type)).collect();
    let schema = rows.stream.schema();
    let batches: Vec<RecordBatch> = rows.stream.try_collect().await?;
    let all = concat_batches(&schema, &batches)?;
    let options = FormatOptions::default().with_null("NULL");
    let texts = all.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    let row = |at| texts.iter().map(|text| text.value(at).to_string()).collect();
    Ok((columns, (0..all.num_rows()).map(row).collect()))
}

/// The answer of a prepared statement.
async fn short(session: &Session, sql: &str, parameters: &[ScalarValue]) -> Result<Answer, Error> {
    match session.prepare(sql).await?.execute(parameters).await? {
        Outcome::Rows(rows) => collected(rows).await,
        Outcome::Done(tag) => panic!("{sql} gave {tag}"),
    }
}

/// The planner's answer.
async fn long(session: &Session, sql: &str, parameters: &[ScalarValue]) -> Result<Answer, Error> {
    collected(session.query_with(sql, parameters).await?).await
}

/// A sequence of choices.
struct Choices(u64);

impl Choices {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    /// A number around the keys, constant or as a parameter of any width.
    fn number(&mut self, end: u64, parameters: &mut Vec<ScalarValue>) -> String {
        let number = self.below(end) as i64 - 3;
        parameters.push(match self.below(8) {
            0 => ScalarValue::Int16(Some(number as i16)),
            1 => ScalarValue::Int32(Some(number as i32)),
            2 => ScalarValue::Int64(Some(number)),
            3 if self.below(4) == 0 => ScalarValue::Int64(None),
            _ => return number.to_string(),
        });
        format!("${}", parameters.len())
    }
}

/// Tables: of one key column, of two, and with indexes.
const TABLES: &str = "CREATE TABLE one (id bigint PRIMARY KEY, a integer, b text);
    CREATE INDEX ON one (a, a);
    CREATE TABLE two (k integer, s text, v smallint, PRIMARY KEY (k, s));
    CREATE INDEX ON two (v);
    CREATE INDEX ON two (k, v DESC);
    CREATE INDEX ON two (s, v) WHERE k > 2;
    CREATE TABLE three (id bigint PRIMARY KEY, a integer, b text, c smallint NOT NULL);
    CREATE INDEX ON three (a, b DESC);
    CREATE INDEX ON three (c DESC);
    CREATE INDEX ON three (b NULLS FIRST, c);
    CREATE INDEX ON three (c, a) WHERE b IS NOT NULL;
    CREATE INDEX ON three (c DESC, a) WHERE a >= 3;
    CREATE INDEX ON three (b, a DESC NULLS LAST) WHERE c < 20 AND a IS NOT NULL;
    CREATE INDEX ON three (a) WHERE b IS NULL AND c <> 5";

async fn change(session: &Session, choices: &mut Choices) {
    let (low, rows) = (choices.below(400), 1 + choices.below(120));
    let high = low + rows;
    let sql = match choices.below(9) {
        6 | 7 => format!(
            "INSERT INTO three SELECT g, nullif(g % 11, 3), nullif('b' || g % 5, 'b2'), g % 30
                FROM generate_series({low}, {high}) g ON CONFLICT DO NOTHING"
        ),
        8 => format!("UPDATE three SET a = a - 1, c = c + 1 WHERE id % 4 = 0 AND id > {low}"),
        0 | 1 => format!(
            "INSERT INTO one SELECT g, nullif(g % 7, 3), 'b' || g % 5 FROM generate_series({low}, {high}) g
                ON CONFLICT DO NOTHING"
        ),
        2 => format!(
            "INSERT INTO two SELECT g % 9, 's' || g % 40, g % 4 FROM generate_series({low}, {high}) g
                ON CONFLICT DO NOTHING"
        ),
        3 => format!("DELETE FROM one WHERE id BETWEEN {low} AND {high}"),
        4 => format!("UPDATE one SET a = a + 1 WHERE id % 3 = 0 AND id < {low}"),
        _ => format!("DELETE FROM two WHERE v = {} AND k < {}", low % 4, low % 9),
    };
    session.execute(&sql).await.expect(&sql);
}

/// A query of the table with indexes, up to its limit. Its order is complete.
fn query_by_index(
    choices: &mut Choices,
    number: &mut impl FnMut(&mut Choices, u64) -> String,
) -> String {
    let condition = match choices.below(17) {
        14 => format!("WHERE a IN ({}, 3, NULL, {})", number(choices, 14), number(choices, 14)),
        15 => format!("WHERE b = 'b1' AND a IN ({}, 4) AND c < 20", number(choices, 10)),
        16 => format!("WHERE c IN (1, {}, 1) AND a > {}", number(choices, 30), choices.below(8)),
        0 => String::new(),
        6 => format!("WHERE a >= {} AND {} IS NOT NULL", number(choices, 14), number(choices, 2)),
        7 => format!("WHERE a > {} AND c <= {}", choices.below(6), number(choices, 30)),
        8 => format!("WHERE c < {} AND a IS NOT NULL", choices.below(30)),
        9 => format!("WHERE c < 20 AND a < {} AND b = 'b1'", number(choices, 10)),
        10 => format!("WHERE b IS NULL AND c <> 5 AND a = {}", number(choices, 12)),
        11 => format!("WHERE b IS NOT NULL AND c = {} AND a > 4", number(choices, 30)),
        12 => {
            format!("WHERE c > 10 AND c <= {} AND {} < 5", choices.below(30), number(choices, 10))
        }
        13 => format!("WHERE b <> 'b3' AND a = {}", number(choices, 12)),
        1 => format!("WHERE a = {}", number(choices, 14)),
        2 => format!("WHERE a = {} AND b >= 'b1'", number(choices, 14)),
        3 => format!("WHERE 'b3' = b AND c < {}", number(choices, 40)),
        4 => format!("WHERE c = {}", number(choices, 40)),
        _ => format!("WHERE id > {} AND a = 5", number(choices, 500)),
    };
    let of_key = match choices.below(5) {
        0 => format!("id > {}", number(choices, 500)),
        1 => format!("id <= {}", number(choices, 500)),
        2 => format!("id > {} AND id < {}", number(choices, 300), number(choices, 500)),
        _ => String::new(),
    };
    let condition = match (&*condition, &*of_key) {
        (condition, "") => condition.to_owned(),
        ("", of_key) => format!("WHERE {of_key}"),
        (condition, of_key) => format!("{condition} AND {of_key}"),
    };
    let order = choices.of(&[
        "id",
        "id DESC",
        "id, a",
        "a, b DESC, id",
        "a DESC, b, id DESC",
        "b DESC, id",
        "b NULLS FIRST, c, id",
        "b DESC NULLS LAST, c DESC, id DESC",
        "b, c, id",
        "c DESC, id",
        "c, id DESC",
        "c NULLS FIRST, id DESC",
        "a, id",
        "c, b, id",
    ]);
    let columns = choices.of(&["*", "b, id", "a AS c, id"]);
    let columns = if order.starts_with('c') { "*" } else { columns };
    format!("SELECT {columns} FROM three {condition} ORDER BY {order}")
}

/// A query of the table with a key of two columns, up to its limit, and whether its order is complete.
fn query_of_two(
    choices: &mut Choices,
    number: &mut impl FnMut(&mut Choices, u64) -> String,
) -> (String, bool) {
    let columns = choices.of(&["*", "s, k", "v"]);
    let (condition, orders): (String, &[&str]) = match choices.below(9) {
        6 => (
            format!("WHERE k = {} AND v = {}", number(choices, 12), number(choices, 5)),
            &["k, s", "s DESC", "v DESC, s", "k DESC, v, s DESC"],
        ),
        7 => (
            format!("WHERE k = {} AND v <= {}", number(choices, 12), number(choices, 5)),
            &["v, s", "v DESC, s DESC", "s", "v DESC NULLS LAST, s"],
        ),
        8 => (
            format!("WHERE v = {} AND s > 's3' AND k > 2", number(choices, 5)),
            &["k, s", "k DESC, s DESC", "s, k", "v, k DESC, s DESC"],
        ),
        0 => (String::new(), &["k, s", "k DESC, s DESC", "k DESC"]),
        1 => (format!("WHERE k = {}", number(choices, 12)), &["s", "k DESC, s DESC", "v"]),
        2 => {
            let k = number(choices, 12);
            let from = choices.of(&["s1", "s2", "s30", ""]);
            (format!("WHERE s > '{from}' AND {k} = k AND s <= 's33'"), &["s", "s DESC"])
        }
        3 => (
            format!("WHERE k = {} AND s IN ('s1', 's21', NULL, 's1')", number(choices, 12)),
            &["k, s", "s DESC"],
        ),
        4 => (
            format!("WHERE k >= {} AND v = {}", number(choices, 12), number(choices, 5)),
            &["k, s", "k DESC, s DESC", "v, k, s"],
        ),
        _ => (format!("WHERE s = 's7' AND k < {}", number(choices, 12)), &["k, s", "k DESC"]),
    };
    let order = choices.of(orders);
    let is_complete = order.contains('s') && order != "v";
    (format!("SELECT {columns} FROM two {condition} ORDER BY {order}"), is_complete)
}

/// A query up to its limit, whether its order is complete, and its parameters.
fn query(choices: &mut Choices) -> (String, bool, Vec<ScalarValue>) {
    let mut parameters = Vec::new();
    let p = &mut parameters;
    let mut number = |choices: &mut Choices, end| choices.number(end, p);
    if choices.below(3) == 0 {
        return (query_by_index(choices, &mut number), true, parameters);
    }
    if choices.below(3) == 0 {
        let (sql, is_complete) = query_of_two(choices, &mut number);
        return (sql, is_complete, parameters);
    }
    let columns = choices.of(&["*", "b", "a, id", "id, id"]);
    let mut conditions = match choices.below(6) {
        0 => vec![],
        1 => vec![format!("id = {}", number(choices, 530))],
        2 => {
            let (low, high) = (number(choices, 530), number(choices, 530));
            vec![format!("id BETWEEN {low} AND {high}")]
        }
        3 => vec![
            format!("{} > id", number(choices, 530)),
            format!("id >= {}", number(choices, 530)),
        ],
        4 => {
            let keys: Vec<_> = (0..1 + choices.below(12)).map(|_| number(choices, 530)).collect();
            vec![format!("id IN ({})", keys.join(", "))]
        }
        _ => vec![format!("id > {}", number(choices, 530))],
    };
    if choices.below(3) == 0 {
        conditions.push(format!("a {} {}", choices.of(&["=", "<", ">="]), number(choices, 8)));
    }
    if choices.below(5) == 0 {
        conditions.push(format!("b {} 'b{}'", choices.of(&["=", "<="]), choices.below(6)));
    }
    let condition = match &conditions[..] {
        [] => String::new(),
        all => format!("WHERE {}", all.join(" AND ")),
    };
    let order = choices.of(&["id", "id DESC", "id ASC NULLS FIRST"]);
    (format!("SELECT {columns} FROM one {condition} ORDER BY {order}"), true, parameters)
}

async fn compare(session: &Session, choices: &mut Choices) {
    let (sql, is_complete, parameters) = query(choices);
    if let Some((from, _)) = sql.split_once(" ORDER BY ")
        && let Some((_, from)) = from.split_once(" FROM ")
    {
        let counted = format!("SELECT count(*) FROM {from}");
        let number = long(session, &counted, &parameters).await.expect(&counted);
        let same = short(session, &counted, &parameters).await.expect(&counted);
        assert_eq!(same, number, "{counted} {parameters:?}");
    }
    let (columns, mut all) = long(session, &sql, &parameters).await.expect(&sql);
    let same = short(session, &sql, &parameters).await.expect(&sql);
    if !is_complete {
        let (of, mut rows) = same;
        rows.sort();
        all.sort();
        assert_eq!((of, rows), (columns, all), "{sql} {parameters:?}");
        return;
    }
    assert_eq!(same, (columns.clone(), all.clone()), "{sql} {parameters:?}");
    let (limit, offset) = (choices.below(40) as usize, choices.below(20) as usize);
    let limited = match choices.below(3) {
        0 => format!("{sql} LIMIT {limit}"),
        1 => format!("{sql} LIMIT {limit} OFFSET {offset}"),
        _ => format!("{sql} OFFSET {offset}"),
    };
    let skipped = if limited.contains("OFFSET") { offset } else { 0 };
    let left = if limited.contains("LIMIT") { limit } else { usize::MAX };
    let expected: Vec<_> = all.into_iter().skip(skipped).take(left).collect();
    for (path, answer) in [
        ("short", short(session, &limited, &parameters).await),
        ("long", long(session, &limited, &parameters).await),
    ] {
        let answer = answer.expect(&limited);
        assert_eq!(answer, (columns.clone(), expected.clone()), "{path}: {limited} {parameters:?}");
    }
}

async fn run(seed: u64) {
    let mut choices = Choices(seed);
    let bucket_size = [Some(4 << 10), None][choices.below(2) as usize];
    let options = Options { threads: Some(2), bucket_size, ..Options::default() };
    let database = Database::open(options).expect("opened");
    let (session, other) = (database.session(), database.session());
    session.execute(TABLES).await.expect("tables");
    for _ in 0..12 {
        change(&session, &mut choices).await;
        compare(&session, &mut choices).await;
        compare(&session, &mut choices).await;
        session.execute("BEGIN").await.expect("begun");
        compare(&session, &mut choices).await;
        change(&other, &mut choices).await;
        compare(&session, &mut choices).await;
        session.execute("SAVEPOINT a").await.expect("a savepoint");
        for _ in 0..choices.below(3) {
            change(&session, &mut choices).await;
        }
        compare(&session, &mut choices).await;
        compare(&session, &mut choices).await;
        let end = choices.of(&["ROLLBACK TO a", "RELEASE a"]);
        session.execute(end).await.expect(end);
        compare(&session, &mut choices).await;
        session.execute("ROLLBACK").await.expect("rolled back");
        compare(&session, &mut choices).await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn answers_are_those_of_the_planner(seed in any::<u64>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(run(seed));
    }
}

/// Numbers of parameters that the tree of a condition does not show: in a limit, and within COALESCE.
#[tokio::test]
async fn values_of_expressions_do_not_take_the_place_of_parameters() {
    let database = Database::open(Options::default()).expect("opened");
    let session = database.session();
    let tables = "CREATE TABLE t (id bigint PRIMARY KEY, v bigint);
        INSERT INTO t SELECT g, 0 FROM generate_series(1, 100) g";
    session.execute(tables).await.expect("tables");
    let big = |value| ScalarValue::Int64(Some(value));
    let sql = "SELECT id FROM t WHERE id > $1 + 1 ORDER BY id LIMIT $2 OFFSET $3";
    let prepared = session.prepare(sql).await.expect(sql);
    assert_eq!(prepared.describe(&[]).await.expect(sql).parameters.len(), 3);
    let (_, rows) = short(&session, sql, &[big(2), big(5), big(1)]).await.expect(sql);
    assert_eq!(rows, [["5"], ["6"], ["7"], ["8"], ["9"]].map(|row| row.map(str::to_owned)));
    let sql = "UPDATE t SET v = COALESCE($2, 0) WHERE id = $1 + 1";
    session.prepare(sql).await.expect(sql).execute(&[big(6), big(70)]).await.expect(sql);
    let (_, rows) = long(&session, "SELECT v FROM t WHERE id = 7", &[]).await.expect("a value");
    assert_eq!(rows, [["70"]].map(|row| row.map(str::to_owned)));
    let sql = "SELECT id FROM t WHERE id = $1 AND $2 <> 0 AND 10 / $2 > 1";
    let (_, rows) = short(&session, sql, &[big(1), big(4)]).await.expect(sql);
    assert_eq!(rows.len(), 1);
}

/// Two tables that are the same: one is changed by prepared statements, the other by the planner's.
const CHANGED: &str =
    "CREATE TABLE {t} (id integer PRIMARY KEY, a integer UNIQUE, b text DEFAULT 'new', c smallint,
        CHECK (c <> 7), d integer GENERATED ALWAYS AS (c * 2) STORED, own integer REFERENCES {t});
    CREATE INDEX ON {t} (b, c)";

/// A change of the table `{t}`, with its parameters.
fn change_of_rows(choices: &mut Choices) -> (String, Vec<ScalarValue>) {
    let mut parameters = Vec::new();
    let mut number = |choices: &mut Choices, end| choices.number(end, &mut parameters);
    let condition = match choices.below(6) {
        0 => format!("id = {}", number(choices, 60)),
        1 => format!("a = {}", number(choices, 60)),
        2 => format!("b = 'b{}'", choices.below(5)),
        3 => format!("b = 'b{}' AND c > {}", choices.below(5), number(choices, 10)),
        4 => format!("id > {} AND id <= 20", number(choices, 25)),
        _ => format!("id = {} AND c = {}", number(choices, 60), number(choices, 10)),
    };
    let sql = match choices.below(8) {
        0..3 => {
            let (id, a, c) = (number(choices, 60), number(choices, 60), number(choices, 10));
            let b = choices.of(&["'b1'", "'b2'", "upper('b3')", "NULL", "DEFAULT", "'b' || 4"]);
            let own = choices.of(&["NULL", "1", "5", "20"]);
            format!("INSERT INTO {{t}} (id, a, b, c, own) VALUES ({id}, {a}, {b}, {c}, {own})")
        }
        3 => format!("DELETE FROM {{t}} WHERE {condition}"),
        4 => format!("UPDATE {{t}} SET own = {} WHERE {condition}", number(choices, 60)),
        5 => format!("UPDATE {{t}} SET a = {} WHERE {condition}", number(choices, 60)),
        6 => format!("UPDATE {{t}} SET c = c + 1, b = b || 'x' WHERE {condition}"),
        _ => format!("UPDATE {{t}} SET b = 'b{}' WHERE {condition}", choices.below(5)),
    };
    let returning = choices.of(&["", " RETURNING id, c", " RETURNING *"]);
    (sql + returning, parameters)
}

/// The rows that a change returns, in order, and its tag, or its error.
async fn effect(outcome: Result<Outcome, Error>) -> (Vec<Vec<String>>, String) {
    match outcome {
        Ok(Outcome::Rows(rows)) => {
            let command = rows.command.to_owned();
            let (_, mut rows) = collected(rows).await.expect("rows");
            rows.sort();
            (rows, command)
        }
        Ok(Outcome::Done(tag)) => (Vec::new(), tag.to_string()),
        Err(error) => (Vec::new(), error.state().code().to_owned()),
    }
}

async fn run_changes(seed: u64) {
    let mut choices = Choices(seed);
    let options = Options { threads: Some(2), bucket_size: Some(4 << 10), ..Options::default() };
    let session = Database::open(options).expect("opened").session();
    let tables = ["first", "second"];
    for table in tables {
        session.execute(&CHANGED.replace("{t}", table)).await.expect("a table");
    }
    let all = |table| format!("SELECT * FROM {table} ORDER BY id");
    for _ in 0..40 {
        let is_block = choices.below(3) == 0;
        let changes: Vec<_> =
            (0..1 + choices.below(3)).map(|_| change_of_rows(&mut choices)).collect();
        let end = choices.of(&["COMMIT", "ROLLBACK"]);
        let mut effects = Vec::new();
        for table in tables {
            let mut of_table = Vec::new();
            if is_block {
                session.execute("BEGIN").await.expect("begun");
            }
            for (sql, parameters) in &changes {
                let sql = sql.replace("{t}", table);
                let outcome = match table {
                    "first" => match session.prepare(&sql).await {
                        Ok(prepared) => prepared.execute(parameters).await,
                        Err(error) => Err(error),
                    },
                    _ => match session.parse(&sql).await {
                        Ok(statements) => session.run(&statements[0], parameters).await,
                        Err(error) => Err(error),
                    },
                };
                of_table.push(effect(outcome).await);
            }
            if is_block {
                session.execute(end).await.expect(end);
            }
            let rows = long(&session, &all(table), &[]).await.expect("rows");
            effects.push((of_table, rows));
        }
        assert_eq!(effects[0], effects[1], "{changes:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn changes_are_those_of_the_planner(seed in any::<u64>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(run_changes(seed));
    }
}

fn list(items: Vec<Option<i64>>) -> ScalarValue {
    let items: Vec<_> = items.into_iter().map(ScalarValue::Int64).collect();
    let item = datafusion::arrow::datatypes::DataType::Int64;
    ScalarValue::List(ScalarValue::new_list_nullable(&items, &item))
}

/// Queries with values that are not of the key's type, or of no type.
fn values_of_other_types() -> Vec<(&'static str, Vec<ScalarValue>)> {
    let text = |text: &str| ScalarValue::Utf8View(Some(text.to_owned()));
    vec![
        (
            "SELECT * FROM one WHERE id = ANY ($1)",
            vec![list(vec![Some(3), None, Some(2), Some(3)])],
        ),
        ("SELECT * FROM one WHERE id = ANY ($1)", vec![list(vec![])]),
        ("SELECT id FROM one WHERE id < 4.5", vec![]),
        ("SELECT id FROM one WHERE id < '5'", vec![]),
        ("SELECT id FROM one WHERE id < $1", vec![ScalarValue::Float64(Some(2.5))]),
        ("SELECT id FROM one WHERE id < $1", vec![text("x")]),
        ("SELECT id FROM one WHERE a = 99999999999", vec![]),
        ("SELECT id FROM one WHERE a < 99999999999 AND id < 3", vec![]),
        ("SELECT id FROM one WHERE id < $1", vec![]),
        ("SELECT id FROM one WHERE id < 5 LIMIT $1", vec![ScalarValue::Int32(Some(2))]),
        ("SELECT id FROM one WHERE id < 5 LIMIT $1", vec![ScalarValue::Int64(None)]),
        ("SELECT id FROM one WHERE id < 5 LIMIT $1", vec![ScalarValue::Int64(Some(-1))]),
        ("SELECT id FROM one WHERE id < 5 OFFSET -1", vec![]),
    ]
}

/// Queries of other forms.
fn forms() -> Vec<(&'static str, Vec<ScalarValue>)> {
    let text = |text: &str| ScalarValue::Utf8View(Some(text.to_owned()));
    vec![
        ("SELECT count(*) FROM one WHERE id > 5", vec![]),
        ("SELECT count(*) AS n FROM one WHERE id BETWEEN 5 AND 700", vec![]),
        ("SELECT count(*) FROM one WHERE id IN (5, 7, 9000)", vec![]),
        ("SELECT count(*) FROM one WHERE id < 90 AND b = 'b7'", vec![]),
        ("SELECT count(*) FROM one WHERE id < $1", vec![ScalarValue::Int64(None)]),
        ("SELECT id FROM one WHERE id > 5 ORDER BY id", vec![]),
        ("SELECT id FROM one ORDER BY id DESC LIMIT 2500 OFFSET 5", vec![]),
        ("SELECT id FROM one WHERE b = 'b2990' ORDER BY id LIMIT 1", vec![]),
        ("SELECT a AS id FROM one WHERE id < 5 ORDER BY id DESC", vec![]),
        ("SELECT id FROM one WHERE id IN (3, NULL) OR id = 7", vec![]),
        ("SELECT id FROM one WHERE id NOT IN (3, 4) AND id < 6", vec![]),
        ("SELECT id FROM one WHERE id = 2 AND id = 3", vec![]),
        ("SELECT id FROM one WHERE id = 2 AND id <= 2", vec![]),
        ("SELECT id FROM one WHERE id IN (1, 2, 3) AND id > 1", vec![]),
        (
            "SELECT x.id AS n, x.b FROM one AS x WHERE x.id BETWEEN 3 AND 7 ORDER BY x.id DESC",
            vec![],
        ),
        ("SELECT one.*, a AS \"A\" FROM one WHERE one.id = 7", vec![]),
        (
            "SELECT x.* FROM public.one x WHERE x.id <= $1::int LIMIT 3",
            vec![ScalarValue::Int16(Some(9))],
        ),
        ("SELECT id FROM one WHERE id = $1::int", vec![ScalarValue::Int64(Some(1 << 40))]),
        ("SELECT id FROM one WHERE b = $1::text AND id < 9", vec![text("b7")]),
        ("SELECT one.id FROM one x WHERE x.id = 1", vec![]),
        ("SELECT a AS id, -id AS a FROM one WHERE id < 9 ORDER BY a DESC", vec![]),
        ("SELECT id AS a, a AS id FROM one WHERE id < 9 ORDER BY id DESC LIMIT 3", vec![]),
        ("SELECT id AS a, b AS a FROM one WHERE id < 9 ORDER BY a DESC", vec![]),
        ("SELECT id AS n FROM one WHERE n < 9", vec![]),
        ("SELECT nothing FROM one WHERE id = 2", vec![]),
        ("SELECT id FROM one WHERE nothing = 2", vec![]),
    ]
}

/// What is not of the key's type is left to the planner, also to its errors.
#[tokio::test]
async fn what_needs_a_conversion_is_the_planners() {
    let session = Database::open(Options::default()).expect("opened").session();
    session.execute(TABLES).await.expect("tables");
    let rows = "INSERT INTO one SELECT g, g, 'b' || g FROM generate_series(1, 3000) g";
    session.execute(rows).await.expect("rows");
    for (sql, parameters) in values_of_other_types().into_iter().chain(forms()) {
        let expected = long(&session, sql, &parameters).await;
        let mut answer = short(&session, sql, &parameters).await;
        if let (Ok((_, rows)), Ok((_, wanted))) = (&mut answer, &expected)
            && !sql.contains("ORDER BY")
            && rows.len() == wanted.len()
        {
            rows.sort();
            let mut wanted = wanted.clone();
            wanted.sort();
            assert_eq!(*rows, wanted, "{sql} {parameters:?}");
            continue;
        }
        assert_eq!(answer, expected, "{sql} {parameters:?}");
    }
}

/// An earlier answer to a query of constants is the answer for other parameters, too, unless the session is another one.
#[tokio::test]
async fn constants_are_answered_again() {
    let session = Database::open(Options::default()).expect("opened").session();
    let int = |number| vec![ScalarValue::Int32(Some(number))];
    for (sql, parameters) in [
        ("SELECT 1", vec![vec![], vec![]]),
        ("SELECT 1 AS a, 'x', NULL, true, -5, version() AS v", vec![vec![], vec![]]),
        ("SELECT $1", vec![int(1), int(2), vec![ScalarValue::from("a")], vec![]]),
        ("SELECT $1::bigint, $1::text", vec![int(1), int(2)]),
        ("SELECT $1::smallint", vec![int(1), int(70_000), int(3)]),
        ("SELECT '2001-02-03'::date", vec![vec![], vec![]]),
    ] {
        let prepared = session.prepare(sql).await.expect(sql);
        for parameters in parameters {
            let expected = long(&session, sql, &parameters).await;
            let answer = match prepared.execute(&parameters).await {
                Ok(Outcome::Rows(rows)) => collected(rows).await,
                Ok(Outcome::Done(tag)) => panic!("{sql} gave {tag}"),
                Err(error) => Err(error),
            };
            assert_eq!(answer, expected, "{sql} {parameters:?}");
        }
    }
    let one = session.prepare("SELECT 1").await.expect("prepared");
    one.execute(&[]).await.expect("executed");
    session.execute("BEGIN").await.expect("begun");
    assert!(session.execute("SELECT 1 / 0").await.is_err());
    let error = one.execute(&[]).await.err().expect("refused");
    assert_eq!(error.state(), SqlState::InFailedSqlTransaction);
    session.execute("ROLLBACK").await.expect("rolled back");
    one.execute(&[]).await.expect("executed");
}

/// A prepared statement means what its names mean when it is executed.
#[tokio::test]
async fn names_mean_what_they_mean_now() {
    let session = Database::open(Options::default()).expect("opened").session();
    let sql = "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'public');
        CREATE SCHEMA s; CREATE TABLE s.t (id int PRIMARY KEY, v text); INSERT INTO s.t VALUES (1, 's')";
    session.execute(sql).await.expect("tables");
    let prepared = session.prepare("SELECT v FROM t WHERE id <= 1").await.expect("prepared");
    for (change, expected) in [
        ("RESET search_path", "public"),
        ("SET search_path = s, public", "s"),
        (
            "CREATE TEMPORARY TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (0, 'own')",
            "own",
        ),
        ("DROP TABLE pg_temp.t", "s"),
        ("BEGIN; SET LOCAL search_path = public", "public"),
        ("UPDATE t SET v = 'new'", "new"),
        ("ROLLBACK", "s"),
    ] {
        session.execute(change).await.expect(change);
        let Outcome::Rows(rows) = prepared.execute(&[]).await.expect(change) else {
            panic!("rows")
        };
        let (_, rows) = collected(rows).await.expect(change);
        assert_eq!(rows, [[expected]], "{change}");
    }
}

/// Parameters in expressions have the types that their places say, as clients are told them.
#[tokio::test]
async fn parameters_of_expressions_have_the_types_of_their_places() {
    let session = Database::open(Options::default()).expect("opened").session();
    let table =
        "CREATE TABLE typed (id integer PRIMARY KEY, ref uuid, name varchar(20), ok boolean)";
    session.execute(table).await.expect("a table");
    for (sql, expected) in [
        (
            "INSERT INTO typed VALUES ($1::INTEGER, $2::UUID, $3::VARCHAR, $4::BOOLEAN)",
            "integer, uuid, character varying, boolean",
        ),
        ("UPDATE typed SET ref = $1::uuid, name = lower($2) WHERE id = $3", "uuid, text, integer"),
        ("UPDATE typed SET ok = $2 WHERE id = $1::smallint + 1", "smallint, boolean"),
        ("SELECT id FROM typed WHERE name = upper($1) AND ref = $2::uuid", "text, uuid"),
        ("DELETE FROM typed WHERE id = $1 AND name = $2 || 'x' RETURNING ref", "integer, text"),
    ] {
        let described = session.prepare(sql).await.expect(sql).describe(&[]).await.expect(sql);
        let types: Vec<String> = described.parameters.iter().map(ToString::to_string).collect();
        assert_eq!(types.join(", "), expected, "{sql}");
    }
}
