//! Conditions and aggregates of users are evaluated by the owners of the rows: only results travel.

use crate::joins::{rows, until_nothing_is_left};
use crate::random_moves::RandomMoves;
use crate::statements::{execute, servers, until_spread};
use pando::{Database, Options, Session};

const TABLE: &[&str] = &[
    "CREATE TABLE t (id bigint PRIMARY KEY, k int, v bigint, n numeric(10, 2), d double precision, s text, day date, \
     at timestamptz, a int[], u uuid)",
    "INSERT INTO t SELECT i, i % 7, i % 1000, i % 30 / 4.0, 1 + i % 3 * 1e-6, (i % 500)::text, date '2024-01-01' + i % 90, \
     timestamptz '2024-01-01 00:30+00' + i % 1000 * interval '1 hour', ARRAY[i % 5, i % 3], \
     md5((i % 10)::text)::uuid FROM generate_series(1, 6000) AS g(i)",
    "CREATE FUNCTION plus(a bigint, b bigint) RETURNS bigint LANGUAGE javascript IMMUTABLE STRICT AS 'return a + b'",
    "CREATE FUNCTION times(a double precision, b double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT \
     RETURN a * b",
    "CREATE FUNCTION longer(a bigint, b text) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN greatest(a, length(b))",
    "CREATE FUNCTION larger(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN greatest(a, b)",
    "CREATE FUNCTION shown(a bigint) RETURNS text LANGUAGE sql IMMUTABLE RETURN '<' || a || '>'",
    "CREATE AGGREGATE total(bigint) (SFUNC = plus, STYPE = bigint, COMBINEFUNC = plus)",
    "CREATE AGGREGATE product(double precision) (SFUNC = times, STYPE = double precision, INITCOND = '1', COMBINEFUNC = times)",
    "CREATE AGGREGATE longest(text) (SFUNC = longer, STYPE = bigint, COMBINEFUNC = larger, FINALFUNC = shown)",
    "CREATE AGGREGATE gathered(bigint) (SFUNC = plus, STYPE = bigint)",
];

/// Queries whose conditions the owners evaluate.
const CONDITIONS: &[&str] = &[
    "s::int > 250",
    "v::text LIKE '%7'",
    "'<' || v || '>' = '<17>'",
    "n::int = 3",
    "d::numeric > 1.0000015",
    "at::date = '2024-01-05'",
    "at::text LIKE '%02:30:00%'",
    "date_trunc('day', at) = '2024-01-05'",
    "extract(month FROM day) = 2",
    "extract(hour FROM at) = 4",
    "to_char(at, 'HH24 TZ') = '03 EST'",
    "at + interval '1 day' > '2024-02-01'",
    "3 = ANY (a)",
    "2 <> ALL (a)",
    "u = 'c4ca4238-a0b9-2382-0dcc-509a6f75849b'",
    "u IN ('c4ca4238-a0b9-2382-0dcc-509a6f75849b', 'c81e728d-9d4c-2f63-6f06-7f89cc14862c')",
];

const AGGREGATES: &[&str] = &[
    "SELECT total(v), round(product(d)::numeric, 6), longest(s) FROM t",
    "SELECT k, total(v) FILTER (WHERE s::int > 20), longest(s) FROM t GROUP BY k",
    "SELECT total(v), longest(s) FROM t WHERE id < 0",
    "SELECT a.k, total(b.v) FROM t a JOIN t b ON a.id = b.v GROUP BY a.k HAVING total(b.v) > 1000",
];

/// Whether an operator of the statement's own server stands over the rows of others.
async fn stays_here(session: &Session, sql: &str, operator: &str) -> bool {
    let plan = rows(session, &format!("EXPLAIN {sql}")).await.join("\n");
    assert!(plan.contains("RemoteFragment"), "{sql}: {plan}");
    plan.lines().filter(|line| line.contains("RemoteFragment")).any(|line| !line.contains(operator))
}

async fn answers_are_those_of_one_server(sessions: &[Session], alone: &Session) {
    let conditions =
        CONDITIONS.iter().map(|of| format!("SELECT count(*), sum(id)::bigint FROM t WHERE {of}"));
    for sql in conditions.chain(AGGREGATES.iter().map(|sql| (*sql).to_owned())) {
        let expected = rows(alone, &sql).await;
        for session in sessions {
            assert_eq!(rows(session, &sql).await, expected, "{sql}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners_evaluate_conditions_and_aggregates() {
    let servers = servers().await;
    let alone = Database::open(Options::default()).expect("a server").session();
    for statement in TABLE {
        execute(&servers.servers()[1].database, statement).await;
        alone.execute(statement).await.expect(statement);
    }
    until_spread(&servers, "t").await;
    let sessions: Vec<Session> = servers.servers().iter().map(|of| of.database.session()).collect();
    for session in sessions.iter().chain([&alone]) {
        session.execute("SET timezone = 'America/New_York'").await.expect("set");
    }
    for condition in CONDITIONS {
        let plan = rows(&sessions[0], &format!("EXPLAIN SELECT id FROM t WHERE {condition}")).await;
        let is_filtered_here = plan.iter().any(|line| line.trim_start().starts_with("FilterExec"));
        assert!(!is_filtered_here, "{condition}: {}", plan.join("\n"));
    }
    for (call, is_gathered) in [("total(v)", false), ("longest(s)", false), ("gathered(v)", true)] {
        let sql = format!("SELECT {call} FROM t");
        assert_eq!(stays_here(&sessions[2], &sql, "AggregateExec").await, is_gathered, "{call}");
    }
    answers_are_those_of_one_server(&sessions, &alone).await;
    let random_moves = RandomMoves::over(&servers);
    answers_are_those_of_one_server(&sessions, &alone).await;
    drop(random_moves);
    until_nothing_is_left(&servers).await;
}
