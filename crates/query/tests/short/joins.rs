//! Prepared joins of two tables by a key or an index: the answers are the planner's, also within transactions.

use super::{Choices, long, short};
use datafusion::common::ScalarValue;
use proptest::prelude::*;
use query::{Database, Options, Session};

/// Tables that are joined.
const JOINED: &str = "CREATE TABLE p (id integer PRIMARY KEY, name text, grp smallint);
    CREATE TABLE c (pid bigint, n smallint, note text, v integer, PRIMARY KEY (pid, n));
    CREATE INDEX ON c (v);
    CREATE INDEX ON c (note, n DESC);
    CREATE INDEX ON p (grp);
    INSERT INTO p SELECT g, nullif('p' || g % 5, 'p2'), nullif(g % 9, 4) FROM generate_series(1, 60) g;
    INSERT INTO c SELECT g % 37, g % 23, nullif('p' || g % 6, 'p3'), nullif(g % 70, 9)
        FROM generate_series(1, 700) g ON CONFLICT DO NOTHING";

/// An inner join, with orders that are complete.
fn inner_join(
    choices: &mut Choices,
    number: &mut impl FnMut(&mut Choices, u64) -> String,
) -> (String, &'static [&'static str]) {
    match choices.below(10) {
        9 => (
            format!("p, c WHERE p.id = {} AND pid = {}", number(choices, 60), number(choices, 40)),
            &["n"],
        ),
        0 => (
            format!("c JOIN p ON p.id = c.pid WHERE c.pid = {} AND n > 3", number(choices, 40)),
            &["n, pid", "n DESC", "name, v, n"],
        ),
        1 => (
            format!("p JOIN c ON c.pid = p.id WHERE p.id = {}", number(choices, 60)),
            &["n", "c.n DESC", "note NULLS FIRST, n"],
        ),
        2 => (
            format!("p, c WHERE grp = {} AND pid = id AND c.n < p.grp", number(choices, 9)),
            &["id, n", "v DESC, id, n"],
        ),
        3 => (
            format!("p JOIN c ON note = name AND n >= grp WHERE p.id = {}", number(choices, 60)),
            &["pid, n"],
        ),
        4 => (
            format!(
                "c JOIN p ON id = pid WHERE v = {} AND name <> 'p1' AND {} = 1",
                number(choices, 70),
                number(choices, 6)
            ),
            &["pid, n"],
        ),
        5 => (
            format!(
                "p JOIN c ON note = name WHERE p.id IN (1, {}) AND n = grp",
                number(choices, 60)
            ),
            &["id, pid, n"],
        ),
        6 => (
            format!("c JOIN p ON p.grp = c.n WHERE c.pid = {} AND c.n > 2", number(choices, 40)),
            &["n, id", "id, n"],
        ),
        7 => (
            format!(
                "p JOIN c ON c.n BETWEEN p.grp AND {} AND pid = id WHERE p.id = {}",
                number(choices, 20),
                number(choices, 60)
            ),
            &["n"],
        ),
        _ => (
            format!("c JOIN p ON id = pid AND note = name WHERE pid = {}", number(choices, 40)),
            &["n"],
        ),
    }
}

/// A left join, with orders that are complete.
fn left_join(
    choices: &mut Choices,
    number: &mut impl FnMut(&mut Choices, u64) -> String,
) -> (String, &'static [&'static str]) {
    match choices.below(4) {
        0 => (
            format!("p LEFT JOIN c ON pid = 3 AND n > {} WHERE id = 7", number(choices, 23)),
            &["n"],
        ),
        1 => (
            format!("p LEFT JOIN c ON pid = id AND n > {} WHERE grp = 3", number(choices, 23)),
            &["id, n", "v, id, n", "n DESC NULLS LAST, id"],
        ),
        2 => (
            format!("c LEFT JOIN p ON id = v AND name = note WHERE pid = {}", number(choices, 40)),
            &["n", "id, n"],
        ),
        _ => (
            format!("c LEFT JOIN p ON id = v WHERE pid = {} AND name IS NULL", number(choices, 40)),
            &["n"],
        ),
    }
}

/// A join without its limit, whether its order is complete, and its parameters.
fn join_of_tables(choices: &mut Choices) -> (String, bool, Vec<ScalarValue>) {
    let mut parameters = Vec::new();
    let mut number = |choices: &mut Choices, end| choices.number(end, &mut parameters);
    let (from, orders) = match choices.below(4) {
        0 => left_join(choices, &mut number),
        _ => inner_join(choices, &mut number),
    };
    let columns =
        choices.of(&["*", "p.*, n", "name, c.n AS m, pid", "v, v AS w", "c.note", "count(*)"]);
    if columns == "count(*)" || choices.below(3) == 0 {
        return (format!("SELECT {columns} FROM {from}"), columns == "count(*)", parameters);
    }
    (format!("SELECT {columns} FROM {from} ORDER BY {}", choices.of(orders)), true, parameters)
}

async fn compare_joins(session: &Session, choices: &mut Choices) {
    let (sql, is_complete, parameters) = join_of_tables(choices);
    let (columns, mut all) = long(session, &sql, &parameters).await.expect(&sql);
    let (of, mut same) = short(session, &sql, &parameters).await.expect(&sql);
    if !is_complete {
        all.sort();
        same.sort();
    }
    assert_eq!((of, same), (columns.clone(), all.clone()), "{sql} {parameters:?}");
    let limited = format!("{sql} LIMIT {} OFFSET {}", choices.below(9), choices.below(3));
    let expected = long(session, &limited, &parameters).await.expect(&limited);
    let (of, found) = short(session, &limited, &parameters).await.expect(&limited);
    if is_complete {
        assert_eq!((of, found), expected, "{limited} {parameters:?}");
    } else {
        assert_eq!(found.len(), expected.1.len(), "{limited} {parameters:?}");
        assert!(found.iter().all(|row| all.contains(row)), "{limited} {parameters:?}");
    }
}

async fn run_joins(seed: u64) {
    let mut choices = Choices(seed);
    let database =
        Database::open(Options { threads: Some(2), ..Options::default() }).expect("opened");
    let (session, other) = (database.session(), database.session());
    session.execute(JOINED).await.expect("tables");
    for _ in 0..6 {
        for _ in 0..6 {
            compare_joins(&session, &mut choices).await;
        }
        session.execute("BEGIN").await.expect("begun");
        let change = choices.of(&[
            "DELETE FROM c WHERE n % 5 = 1",
            "UPDATE p SET grp = grp + 1 WHERE id < 20",
            "UPDATE c SET v = v + 1 WHERE pid < 9",
            "INSERT INTO c SELECT 5, g + 30, 'p1', 7 FROM generate_series(1, 40) g ON CONFLICT DO NOTHING",
        ]);
        session.execute(change).await.expect(change);
        for _ in 0..4 {
            compare_joins(&session, &mut choices).await;
            compare_joins(&other, &mut choices).await;
        }
        let end = choices.of(&["ROLLBACK", "COMMIT"]);
        session.execute(end).await.expect(end);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn joins_are_those_of_the_planner(seed in any::<u64>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(run_joins(seed));
    }
}
