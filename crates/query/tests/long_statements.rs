//! Long and deep statements: they are answered, or refused with 54001 or 54000, and no stack overflows.
//!
//! Statements run on threads of the stack that the server's threads have.

use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::TryStreamExt;
use query::{Database, Options, Outcome, Session, as_texts};

/// The stack of a thread, in bytes.
const STACK: usize = 64 << 20;

/// The value in the first column and row of the last answer, or the SQLSTATE of the first error.
async fn answer(session: &Session, script: &str) -> String {
    let mut last = String::new();
    let statements = match session.parse(script).await {
        Ok(statements) => statements,
        Err(error) => return error.state().code().to_owned(),
    };
    for statement in statements {
        let batches = match session.run(&statement, &[]).await {
            Ok(Outcome::Rows(rows)) => {
                rows.stream.try_collect::<Vec<_>>().await.map_err(query::Error::from)
            }
            Ok(Outcome::Done(_)) => continue,
            Err(error) => Err(error),
        };
        let batches = match batches {
            Ok(batches) => batches,
            Err(error) => return error.state().code().to_owned(),
        };
        let Some(batch) = batches.iter().find(|batch| batch.num_rows() > 0) else { continue };
        let batch = as_texts(batch).expect("numbers have texts");
        let options = FormatOptions::default();
        let column = ArrayFormatter::try_new(batch.column(0), &options).expect("a known type");
        last = column.value(0).to_string();
    }
    last
}

/// Compares the answers of scripts, each in a new session.
fn check<T: AsRef<str>>(cases: impl IntoIterator<Item = (&'static str, T, &'static str)>) {
    let cases: Vec<_> = cases.into_iter().map(|(n, s, a)| (n, s.as_ref().to_owned(), a)).collect();
    let work = move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_stack_size(STACK)
            .enable_all()
            .build()
            .expect("a runtime");
        let database = Database::open(Options::default()).expect("opened");
        let mut wrong = String::new();
        for (name, script, expected) in cases {
            let session = database.session();
            let task = runtime.spawn(async move { answer(&session, &script).await });
            let answered = runtime.block_on(task).expect("no panic");
            if answered != expected {
                wrong += &format!("{name}: {answered}, not {expected}\n");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
    thread.join().expect("all answers are as expected");
}

/// `first`, then `repeated` a number of times.
fn chain(first: &str, repeated: &str, times: usize) -> String {
    format!("{first}{}", repeated.repeat(times))
}

fn nested(open: &str, middle: &str, close: &str, times: usize) -> String {
    format!("SELECT {}{middle}{}", open.repeat(times), close.repeat(times))
}

const NUMBERS: &str =
    "CREATE TEMP TABLE n AS SELECT g AS i, 'x' AS s FROM generate_series(1, 1000) g;";

fn terms(prefix: &str, term: impl Fn(usize) -> String, between: &str, count: usize) -> String {
    format!("{NUMBERS}{prefix}{}", (0..count).map(term).collect::<Vec<_>>().join(between))
}

#[test]
fn long_chains_are_computed_from_left_to_right() {
    const TIMES: usize = 2_000;
    // PostgreSQL does not parse chains of this length either.
    const TOO_MANY: usize = 10_000;
    check([
        ("sum", chain("SELECT 1", " + 1", TIMES), "2001"),
        ("too many sums", chain("SELECT 1", " + 1", TOO_MANY), "54001"),
        ("difference", chain("SELECT 1", " - 1", TIMES), "-1999"),
        ("quotient", chain("SELECT 1000000", " / 1 - 1", 500), "999500"),
        ("mixed sum", chain("SELECT 1.5", " - 1 + 0.25", 200), "-148.50"),
        ("double", chain("SELECT 0::float8", " + 0.1::float8", 100), "9.99999999999998"),
        ("dates", chain("SELECT DATE '2020-01-01'", " + 1", 366), "2021-01-01"),
        (
            "timestamps",
            chain("SELECT TIMESTAMP '2020-01-01'", " + '1 day'", 366),
            "2021-01-01T00:00:00",
        ),
        ("overflow", chain("SELECT 2147483647", " + 1", 100), "22003"),
        ("text", chain("SELECT length('a'", " || 'b'", TIMES) + ")", "2001"),
        ("text and numbers", chain("SELECT length('a'", " || 1", 100) + ")", "101"),
        ("arrays", chain("SELECT cardinality(ARRAY[1]", " || ARRAY[2]", 100) + ")", "101"),
        ("no operator", chain("SELECT 1", " || 1", 100), "42883"),
        ("or", chain("SELECT false", " OR false", TOO_MANY), "false"),
        ("or null", chain("SELECT NULL", " OR true", TOO_MANY), "true"),
        ("and", chain("SELECT true", " AND true", TOO_MANY), "true"),
        ("not boolean", chain("SELECT true", " AND 1", 100), "42804"),
        (
            "union all",
            chain("SELECT count(*) FROM (SELECT 1", " UNION ALL SELECT 1", TIMES) + ") u",
            "2001",
        ),
        (
            "too many unions",
            chain("SELECT count(*) FROM (SELECT 1", " UNION ALL SELECT 1", TOO_MANY) + ") u",
            "54001",
        ),
        (
            "union",
            chain("SELECT count(*) FROM (SELECT 1 AS a", " UNION SELECT 2", TIMES) + ") u",
            "2",
        ),
        (
            "named union",
            chain("SELECT a FROM (SELECT 'x' AS a", " UNION ALL SELECT 'x'", 100) + ") u LIMIT 1",
            "x",
        ),
        (
            "nested",
            "SELECT (1".to_owned() + &" + 1".repeat(100) + ") * (2" + &" - 1".repeat(100) + ")",
            "-9898",
        ),
    ]);
}

#[test]
fn long_conditions_select_the_same_rows() {
    const COUNT: usize = 2_000;
    let condition = "SELECT count(*) FROM n WHERE ";
    check([
        ("equal", terms(condition, |k| format!("i = {k}"), " OR ", 500), "499"),
        ("reversed", terms(condition, |k| format!("{k} = i"), " OR ", 500), "499"),
        ("different", terms(condition, |k| format!("i <> {k}"), " AND ", 501), "500"),
        (
            "null",
            terms("SELECT count(*) FROM n WHERE i = NULL OR ", |k| format!("i = {k}"), " OR ", 500),
            "499",
        ),
        ("text", terms(condition, |k| format!("s = '{k}'"), " OR ", COUNT), "0"),
        (
            "two columns",
            terms(condition, |k| format!("i = {k} OR s = '{k}'"), " OR ", COUNT),
            "1000",
        ),
        ("less", terms(condition, |k| format!("i < {k}"), " OR ", 500), "498"),
        ("greater", terms(condition, |k| format!("i > {k}"), " AND ", 501), "500"),
        (
            "a join within",
            terms(
                "SELECT count(*) FROM n AS a, n AS b WHERE ",
                |k| if k == COUNT / 2 { "a.i = b.i".to_owned() } else { format!("a.i > -{k} - 1") },
                " AND ",
                COUNT,
            ),
            "1000",
        ),
        (
            "in",
            terms("SELECT count(*) FROM n WHERE i IN (", |k| k.to_string(), ",", COUNT) + ")",
            "1000",
        ),
        (
            "case",
            terms("SELECT count(CASE ", |k| format!("WHEN i = {k} THEN 1"), " ", 500)
                + " END) FROM n",
            "499",
        ),
        (
            "values",
            terms("SELECT count(*) FROM (VALUES ", |k| format!("({k}, 'x')"), ",", 10_000) + ") v",
            "10000",
        ),
        (
            "a view",
            chain("CREATE TEMP VIEW v AS SELECT 10", " - 1", 100) + " AS x; SELECT x FROM v",
            "-90",
        ),
        (
            "a default",
            chain("CREATE TEMP TABLE d (a int DEFAULT 10", " - 1", 100)
                + "); INSERT INTO d DEFAULT VALUES; SELECT a FROM d",
            "-90",
        ),
        (
            "a check",
            chain("CREATE TEMP TABLE c (a int CHECK (a = 0", " OR a = 1", 100)
                + ")); INSERT INTO c VALUES (2)",
            "23514",
        ),
    ]);
}

#[test]
fn long_expressions_over_columns_are_as_short_ones() {
    let row = |expr: &str, repeated: &str| {
        let value = chain(expr, repeated, 99);
        format!("{NUMBERS}SELECT sum(x) FROM (SELECT {value} AS x FROM n) AS rows")
    };
    let grouped = format!(
        "{NUMBERS}SELECT count(*) FROM (SELECT {0}, count(*) FROM n GROUP BY {0}) AS groups",
        chain("i % 2", " + 0", 99)
    );
    check([
        ("integers", row("i", " + i"), "50050000"),
        ("mixed numbers", row("i", " + i - 0.5"), "50000500.0"),
        ("wider results", row("i::smallint", " + 1::bigint"), "599500"),
        ("floats", row("i::float8", " - 0.5"), "451000.0"),
        ("too large", row("i", " * i"), "22003"),
        ("a division by zero", row("i", " / (i - 1)"), "22012"),
        ("nulls", row("nullif(i, 1)", " + 0"), "500499"),
        (
            "texts",
            format!("{NUMBERS}SELECT sum(length({})) FROM n", chain("s", " || i", 99)),
            "287407",
        ),
        (
            "a function that stands for another",
            row("i", " + coalesce(nullif(i, 1), 0)"),
            "50049901",
        ),
        ("groups", grouped, "2"),
        (
            "aggregates",
            format!("{NUMBERS}SELECT {} FROM n", chain("max(i)", " + min(i)", 99)),
            "1099",
        ),
        ("changing values", row("i", " + (random() * 0)::int"), "500500"),
        (
            "outer columns",
            format!("{NUMBERS}SELECT sum((SELECT {})) FROM n", chain("i", " + 1", 99)),
            "599500",
        ),
    ]);
}

#[test]
fn long_cases_and_conditions_over_columns_are_as_short_ones() {
    check([
        (
            "the first of several cases",
            terms("SELECT sum(CASE ", |k| format!("WHEN i > {k} THEN {k}"), " ", 500)
                + " ELSE 7 END) FROM n",
            "0",
        ),
        (
            "a case that does not compute the others",
            terms("SELECT sum(CASE ", |k| format!("WHEN i = {k} + 1 THEN 1 / i"), " ", 100)
                + " WHEN i = 0 THEN 1 / i END) FROM n",
            "1",
        ),
        (
            "unknown or",
            terms(
                "SELECT count(*) FROM n WHERE (nullif(i, i) > 0 OR ",
                |k| format!("i < {k}"),
                " OR ",
                99,
            ) + ") IS NULL",
            "903",
        ),
        (
            "equal floats",
            terms(
                "SELECT count(*) FROM n WHERE ",
                |k| format!("i - 1.0::float8 = -{k}::float8"),
                " OR ",
                99,
            ),
            "1",
        ),
        (
            "a long ON",
            terms(
                "SELECT count(*) FROM n AS a JOIN n AS b ON a.i = b.i AND ",
                |k| format!("a.i + b.i > {k}"),
                " AND ",
                99,
            ),
            "951",
        ),
    ]);
}

#[test]
fn long_unions_have_the_types_of_pairs() {
    let union = |first: &str, rest: &str| {
        let chain =
            chain(&format!("SELECT {first} AS a"), &format!(" UNION ALL SELECT {rest}"), 99);
        format!(
            "SELECT pg_typeof(a)::text || ' ' || min(a)::text FROM ({chain}) AS u GROUP BY pg_typeof(a)"
        )
    };
    check([
        ("integers", union("3", "2"), "integer 2"),
        ("then numerics", union("3", "2.5"), "numeric 2.5"),
        (
            "later numerics",
            chain("SELECT 1::bigint AS a", " UNION ALL SELECT 2", 50)
                + " UNION ALL SELECT 0.5 ORDER BY a LIMIT 1",
            "0.5",
        ),
        ("texts", union("'b'", "'a'"), "text a"),
        ("a text that becomes a number", union("'7'", "8"), "integer 7"),
        ("no number", union("'x'", "8"), "22P02"),
        ("unlike types", union("1", "true"), "42804"),
        ("another number of columns", union("1", "1, 2"), "42601"),
        (
            "names and order",
            chain("SELECT 5 AS a", " UNION SELECT 3", 99) + " ORDER BY a LIMIT 1",
            "3",
        ),
        (
            "a table among them",
            format!(
                "{NUMBERS}SELECT count(*) FROM ({} UNION ALL SELECT i FROM n) AS u",
                chain("SELECT 1", " UNION ALL SELECT 2", 99)
            ),
            "1100",
        ),
    ]);
}

#[test]
fn deep_statements_are_answered_or_refused() {
    for times in [1_000, 20_000, 100_000] {
        // That there is no such operator is found out only if the statement is not too deep.
        let operators = if times > 1_000 { "54001" } else { "42883" };
        check([
            ("parentheses", nested("(", "1", ")", times), "54001"),
            ("functions", nested("abs(", "1", ")", times), "54001"),
            ("case", nested("CASE WHEN true THEN ", "1", " END", times), "54001"),
            ("subqueries", nested("(SELECT ", "1", ")", times), "54001"),
            ("arrays", nested("ARRAY[", "1", "]", times), "54001"),
            ("not", nested("NOT ", "true", "", times), "54001"),
            ("minus", nested("- ", "1", "", times), "54001"),
            ("casts", nested("", "1", "::int", times), "54001"),
            ("tests", nested("", "1", " IS NULL", times), "54001"),
            ("operators", nested("", "1", " @> 1", times), operators),
            ("subscripts", nested("", "('{1}'::int[])", "[1]", times), "54000"),
            ("types", nested("", "NULL::int", "[]", times), ""),
            ("subscripts of a document", nested("", "('{}'::jsonb)", "['a']", times), "54001"),
            (
                "joins",
                nested("", "1 FROM generate_series(1, 1) g", ", generate_series(1, 1)", times),
                "54001",
            ),
            ("except", nested("", "1", " EXCEPT SELECT 2", times), "54001"),
            ("error at the end", nested("", "1", " + 1", times) + " )", "42601"),
        ]);
    }
}

#[test]
fn nesting_is_answered() {
    check([
        ("parentheses", nested("(", "1", ")", 200), "1"),
        ("functions", nested("abs(", "1", ")", 200), "1"),
        ("case", nested("CASE WHEN true THEN ", "1", " END", 100), "1"),
        ("subqueries", nested("(SELECT ", "1", ")", 8), "1"),
        ("too many subqueries", nested("(SELECT ", "1", ")", 20), "54001"),
        ("far too many subqueries", nested("(SELECT ", "1", ")", 100), "54001"),
        ("casts", nested("", "1", "::int", 200), "1"),
        ("six dimensions", "SELECT array_ndims(ARRAY[[[[[[1]]]]]])".to_owned(), "6"),
        ("seven dimensions", "SELECT ARRAY[[[[[[[1]]]]]]]".to_owned(), "54000"),
    ]);
}

#[test]
fn a_view_does_not_read_itself() {
    let views = |count: usize| {
        let view = |k: usize| format!("CREATE TEMP VIEW v{k} AS SELECT x FROM v{};", k - 1);
        let views: String = (1..count).map(view).collect();
        format!("CREATE TEMP VIEW v0 AS SELECT 1 AS x;{views}SELECT x FROM v{}", count - 1)
    };
    check([
        ("many", views(60), "1"),
        (
            "itself",
            "CREATE VIEW a AS SELECT 1 AS x; CREATE OR REPLACE VIEW a AS SELECT * FROM a".to_owned(),
            "42P17",
        ),
        (
            "through another",
            "CREATE VIEW b AS SELECT 1 AS x; CREATE VIEW c AS SELECT * FROM b;
             CREATE OR REPLACE VIEW b AS SELECT * FROM c"
                .to_owned(),
            "42P17",
        ),
        (
            "a common table expression of its name",
            "CREATE VIEW d AS SELECT 1 AS x;
             CREATE OR REPLACE VIEW d AS WITH d AS (SELECT 2 AS x) SELECT x FROM d; SELECT x FROM d"
                .to_owned(),
            "2",
        ),
    ]);
}
