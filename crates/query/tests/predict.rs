//! What the simulator is told of plans: pieces, rows that are looked at, and terms.

use datafusion::arrow::array::AsArray;
use dbsim::plan::{Kind, Operator, Task};
use futures::TryStreamExt;
use query::{Database, Options, Session};

/// 10,000 rows: `id` is the key, `n` has a hundred values in an order of their own, `price` is numeric, `t` 20 bytes of text.
async fn session() -> Session {
    let database = Database::open(Options { threads: Some(1), ..Options::default() });
    let session = database.expect("opens").session();
    let columns = "(id bigint PRIMARY KEY, n integer, price numeric(15,2), t text)";
    for (table, bucket_size) in [("large", 64 << 20), ("small", 65_536)] {
        let sql = format!("CREATE TABLE {table} {columns} WITH (bucket_size = {bucket_size})");
        session.execute(&sql).await.expect("created");
        let rows = "SELECT i, (i * 37) % 100, i, 'a text of twenty ' || (100 + i % 900) FROM generate_series(1, 10000) s(i)";
        session.execute(&format!("INSERT INTO {table} {rows}")).await.expect("filled");
    }
    session
}

/// The operators of a query, the scan first.
async fn operators(sql: &str) -> Vec<Operator> {
    let plan = session().await.plan_to_predict(sql).await.expect("a plan");
    plan.operators().to_vec()
}

/// The last operator of a query.
async fn last_operator(sql: &str) -> Operator {
    operators(sql).await.pop().expect("an operator")
}

/// What an operator computes: of how many values of how many bytes.
fn terms(operator: &Operator) -> Vec<(Task, f64, f64)> {
    operator.terms.iter().map(|term| (term.task, term.values, term.bytes)).collect()
}

#[tokio::test]
async fn pieces_are_counted_and_zone_maps_leave_some() {
    let all = &operators("SELECT sum(price) FROM large").await[0];
    assert_eq!((all.rows_looked_at(), all.pieces), (10_000.0, 2.0));
    assert_eq!(
        all.in_place_rows, 8192.0,
        "pieces of more than half a batch are handed on as they lie"
    );
    let small = &operators("SELECT sum(price) FROM small").await[0];
    assert!(small.pieces > 5.0 && small.in_place_rows == 0.0, "{small:?}");
    let some = &operators("SELECT sum(price) FROM small WHERE price < 1000").await[0];
    assert!(some.pieces < small.pieces, "{} of {} pieces", some.pieces, small.pieces);
    assert!(some.rows_looked_at() >= 999.0 && some.rows_looked_at() < 5_000.0, "{some:?}");
    assert_eq!(some.in_place_rows, 0.0);
}

#[tokio::test]
async fn rows_that_are_copied_are_counted_with_their_runs() {
    // 37 i modulo 100 is below 60 here and there, for two rows in a row at most.
    let most = &operators("SELECT sum(price) FROM large WHERE n < 60").await[0];
    assert_eq!((most.rows, most.in_place_rows), (6000.0, 0.0));
    assert_eq!(most.gathered_rows, 1085.0, "those of the last piece, which is small");
    assert_eq!(most.run_rows, Some(6000.0 / 3702.0));
    // The key's order is that of the rows: the first piece is handed on as it lies, some of the second are one run.
    let first = &operators("SELECT sum(price) FROM large WHERE id + 0 <= 9000").await[0];
    assert_eq!((first.rows, first.in_place_rows, first.gathered_rows), (9000.0, 8192.0, 808.0));
    assert_eq!(first.run_rows, Some(808.0));
}

#[tokio::test]
async fn a_predicate_compares_all_rows_and_searches_those_that_are_left() {
    let sql = "SELECT sum(price) FROM large WHERE t LIKE '%twenty%' AND n < 50 AND price >= 0";
    let scan = &operators(sql).await[0];
    // The texts of the rows that are left are looked at where they lie, and not copied.
    let [
        (Task::Compare, n, 4.0),
        (Task::Compare, price, 16.0),
        (Task::Pass, 10_000.0, 0.0),
        (Task::Fetch, fetched, 0.0),
        (Task::Search, t, bytes),
    ] = terms(scan)[..]
    else {
        panic!("{:?}", scan.terms)
    };
    assert_eq!((n, price, fetched), (10_000.0, 10_000.0, t));
    assert_eq!(scan.terms[3].part, 0.5);
    assert_eq!(t, 5_000.0, "half of the rows are searched: they are counted");
    assert_eq!(bytes, 20.0);
}

#[tokio::test]
async fn tables_may_be_empty() {
    let session = session().await;
    session
        .execute("CREATE TABLE empty (id bigint PRIMARY KEY, n integer, t text)")
        .await
        .expect("created");
    for sql in [
        "SELECT id FROM empty",
        "SELECT id FROM empty WHERE t LIKE '%x%' AND n + 1 > 7 ORDER BY t, n LIMIT 3",
        "SELECT n, count(*) FROM empty GROUP BY n HAVING count(*) > 1",
        "SELECT sum(n) FROM empty",
        "SELECT e.id FROM empty e JOIN large l ON e.id = l.n JOIN small s ON l.id = s.id",
        "SELECT l.id FROM large l LEFT JOIN empty e ON e.id = l.n AND e.n > 7",
        "SELECT id, rank() OVER (PARTITION BY n ORDER BY t) FROM empty",
        "SELECT id FROM large WHERE n > (SELECT max(n) FROM empty) UNION ALL SELECT id FROM empty",
        "SELECT id FROM empty WHERE id = 9",
    ] {
        for analyze in ["", "ANALYZE, "] {
            let explain = format!("EXPLAIN ({analyze}PREDICT 'smart-disk') {sql}");
            session.execute(&explain).await.unwrap_or_else(|error| panic!("{explain}: {error}"));
        }
    }
}

#[tokio::test]
async fn texts_are_as_long_as_they_are() {
    let session = session().await;
    let columns = "(id bigint PRIMARY KEY, short varchar(100), long text, list text[])";
    session.execute(&format!("CREATE TABLE texts {columns}")).await.expect("created");
    let bytes = async |column: &str| {
        let sql = format!("SELECT id FROM texts WHERE {column}::text LIKE '%x%'");
        let plan = session.plan_to_predict(&sql).await.expect("a plan");
        let term = |term: &dbsim::plan::Term| (term.task == Task::Search).then_some(term.bytes);
        plan.operators()[0].terms.iter().find_map(term).expect("a search")
    };
    assert_eq!(bytes("long").await, 24.0, "nothing is known of it");
    let rows = "SELECT i, CASE WHEN i % 2 = 0 THEN 'ninechars' END, repeat('x', 40 + i % 3), ARRAY['an element'] \
        FROM generate_series(1, 3000) s(i)";
    session.execute(&format!("INSERT INTO texts {rows}")).await.expect("filled");
    assert_eq!((bytes("short").await, bytes("long").await), (4.5, 41.0));
    let of_list = bytes("list").await;
    assert!((10.0..=60.0).contains(&of_list), "{of_list} bytes are left for it");
}

#[tokio::test]
async fn few_rows_are_chosen_before_the_next_comparison() {
    let scan = &operators("SELECT sum(price) FROM large WHERE n = 7 AND price >= 0").await[0];
    let [
        (Task::Compare, 10_000.0, 4.0),
        (Task::Pass, 10_000.0, 0.0),
        (Task::Choose, chosen, 16.0),
        (Task::Compare, few, 16.0),
    ] = terms(scan)[..]
    else {
        panic!("{:?}", scan.terms)
    };
    assert_eq!(few, 100.0, "they are counted");
    assert_eq!(chosen, few);
}

#[tokio::test]
async fn columns_are_brought_along_once() {
    let sql = "SELECT sum(price) FROM large WHERE n > 7 AND n < 90 AND price > 0 AND price < 9000";
    let scan = &operators(sql).await[0];
    let bytes: Vec<f64> = scan.terms.iter().map(|term| term.bytes).collect();
    assert_eq!(bytes, [4.0, 0.0, 16.0, 0.0], "{:?}", scan.terms);
    assert_eq!((scan.columns, scan.read_row_bytes, scan.row_bytes), (2.0, 20.0, 16.0));
}

#[tokio::test]
async fn numbers_are_compared_with_each_of_a_list_unless_it_is_long() {
    for (column, listed, compared) in
        [("n", 5, 5.0), ("n", 32, 32.0), ("n", 33, 4.0), ("id", 16, 16.0), ("id", 17, 4.0)]
    {
        let list: Vec<String> = (0..listed).map(|number| (number * 7).to_string()).collect();
        let list = list.join(", ");
        let scan =
            &operators(&format!("SELECT price FROM large WHERE {column} IN ({list})")).await[0];
        let [(Task::Compare, rows, _), (Task::Among, among, 0.0)] = terms(scan)[..] else {
            panic!("{column} in {listed}: {:?}", scan.terms)
        };
        assert_eq!(among, compared * rows, "{column} in {listed}");
        assert_eq!(scan.listed, f64::from(listed));
    }
}

#[tokio::test]
async fn orders_by_several_keys_or_a_text_compare_more() {
    for (by, texts) in
        [("n", None), ("n, price", Some(0.0)), ("t", Some(1.0)), ("n, t, t || 'x'", Some(2.0))]
    {
        let operators = operators(&format!("SELECT * FROM large ORDER BY {by}")).await;
        let terms = terms(operators.last().expect("a sort"));
        let ordered = terms.iter().find(|(task, ..)| *task == Task::Order);
        assert_eq!(ordered.is_some(), texts.is_some(), "{by}: {terms:?}");
        let Some((_, rows, bytes)) = ordered else { continue };
        assert_eq!(*rows, 1e4);
        let texts = texts.expect("a number");
        assert!((15.0 * texts..=40.0 * texts).contains(bytes), "{by}: {bytes} bytes of texts");
    }
}

#[tokio::test]
async fn what_is_copied_of_a_table_is_told_from_what_looks_for_it() {
    let one = &operators("SELECT price FROM large WHERE n > 7").await[0];
    assert_eq!((one.columns, one.copied_columns), (2.0, 1.0));
    // Two of a hundred values of `n`: the planner makes the table of `small`'s rows.
    let from = "FROM small JOIN large ON small.id = large.id AND small.n < 2";
    for (select, of_table, of_all) in [
        (format!("SELECT large.price {from}"), 0.0, 16.0),
        (format!("SELECT small.id, large.price {from}"), 8.0, 24.0),
        ("SELECT id FROM small WHERE n < 2 AND id IN (SELECT id FROM large)".to_owned(), 8.0, 8.0),
        ("SELECT price FROM large WHERE id IN (SELECT id FROM small)".to_owned(), 0.0, 16.0),
    ] {
        let operators = operators(&select).await;
        let join = operators.iter().find(|operator| operator.kind.is_join()).expect("a join");
        assert!(join.builds_first);
        let bytes = (join.built_row_bytes, join.copied_row_bytes());
        assert_eq!(bytes, (of_table, of_all), "{select}");
    }
}

#[tokio::test]
async fn keys_that_lie_close_are_told_from_others() {
    let session = session().await;
    let sparse = "CREATE TABLE sparse AS SELECT i * 16 AS id FROM generate_series(1, 2000) s(i)";
    session.execute(sparse).await.expect("made");
    for (table, close) in [("small", true), ("sparse", false)] {
        let sql = format!(
            "SELECT count(*) FROM {table} JOIN large ON {table}.id = large.id AND {table}.id < 4000"
        );
        let plan = session.plan_to_predict(&sql).await.expect("a plan");
        let join = plan.operators().iter().find(|operator| operator.kind.is_join());
        assert_eq!(join.expect("a join").close_keys, close, "{table}, as it was counted");
        let mut supposed = String::new();
        let explained = session.query(&format!("EXPLAIN (PREDICT 'nvme-server') {sql}")).await;
        let batches = explained.expect("explained").stream.try_collect::<Vec<_>>().await;
        for batch in batches.expect("lines") {
            let lines = batch.column(0).as_string::<i32>();
            supposed.extend(lines.iter().flatten().filter(|line| line.contains("hash join of")));
        }
        assert_eq!(supposed.contains("in an array"), close, "{table}: {supposed}");
    }
}

#[tokio::test]
async fn rows_that_are_looked_up_in_the_order_of_their_keys_are_told_from_others() {
    for (key, ordered) in [("id", true), ("n", false), ("id + large.n", false)] {
        let sql = format!("SELECT count(*) FROM small JOIN large ON small.id = large.{key}");
        let operators = operators(&format!("{sql} AND small.id < 400")).await;
        let join = operators.iter().find(|operator| operator.kind.is_join()).expect("a join");
        assert!(join.builds_first);
        assert_eq!(operators[join.children[1]].ordered, ordered, "{key}");
    }
}

#[tokio::test]
async fn texts_are_matched_by_their_beginning_and_are_keys_and_sums_are_calculated() {
    let sql = "SELECT t, sum(price * (1 - price)) FROM large WHERE t LIKE 'a text%' GROUP BY t";
    let operators = operators(sql).await;
    let tasks =
        |at: usize| terms(&operators[at]).iter().map(|(task, ..)| *task).collect::<Vec<_>>();
    assert_eq!(tasks(0)[0], Task::Match);
    assert_eq!(tasks(1), [Task::Key]);
    assert_eq!(tasks(2), [Task::Calculate, Task::Calculate]);
    assert_eq!(operators[2].terms[0].values, 10_000.0);
}

#[tokio::test]
async fn texts_are_brought_along_by_whoever_looks_first() {
    let tasks = async |predicate: &str| {
        let operators = operators(&format!("SELECT id FROM large WHERE {predicate}")).await;
        terms(&operators[0]).iter().map(|(task, ..)| *task).collect::<Vec<_>>()
    };
    let twice = [Task::Match, Task::MatchAgain];
    assert_eq!(tasks("t IN ('a text', 'another')").await, twice);
    assert_eq!(tasks("t <> 'a text' AND t <> 'another'").await, twice);
    assert_eq!(tasks("t <> 'a text' AND n <> 1").await, [Task::Compare, Task::Match]);
}

#[tokio::test]
async fn one_number_is_no_term_among_the_keys_of_groups() {
    let keys = async |by: &str| {
        let operators = operators(&format!("SELECT {by}, count(*) FROM large GROUP BY {by}")).await;
        terms(&operators[1])
    };
    assert_eq!(keys("n").await, []);
    assert_eq!(keys("n, price").await, [(Task::NumberKey, 10_000.0, 16.0)]);
    let [(Task::Key, 10_000.0, _), number] = keys("n, t, price").await[..] else {
        panic!("a text, and a number next to the first")
    };
    assert_eq!(number, (Task::NumberKey, 10_000.0, 16.0));
}

#[tokio::test]
async fn window_functions_are_distinguished_by_their_cost_above_a_value() {
    let whole = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING";
    for (function, over, task) in [
        ("row_number()", "ORDER BY id", None),
        ("lag(n)", "ORDER BY id", None),
        ("rank()", "ORDER BY n", Some(Task::Rank)),
        ("first_value(n)", "ORDER BY id", Some(Task::Rank)),
        ("sum(n)", "ORDER BY id", Some(Task::Running)),
        ("sum(n)", "ORDER BY id ROWS BETWEEN 6 PRECEDING AND CURRENT ROW", Some(Task::Moving)),
        ("sum(n)", whole, None),
        ("sum(n)", "", None),
    ] {
        let operators = operators(&format!("SELECT {function} OVER ({over}) FROM large")).await;
        let window = operators.last().expect("a window");
        assert_eq!((window.kind, window.functions), (Kind::Window, 1.0), "{function} {over}");
        assert_eq!(window.partitions, 0.0);
        // The engine's numbers are made bigint, which is calculated.
        let measured: Vec<_> =
            terms(window).into_iter().filter(|of| of.0 != Task::Calculate).collect();
        let expected: Vec<_> = task.into_iter().map(|task| (task, 10_000.0, 0.0)).collect();
        assert_eq!(measured, expected, "{function} {over}");
    }
}

#[tokio::test]
async fn partitions_are_the_values_of_their_columns() {
    let sql = "SELECT row_number() OVER w, lag(n) OVER w, rank() OVER w FROM large WINDOW w AS (PARTITION BY id / 10, n ORDER BY t)";
    let operators = operators(sql).await;
    let window = operators.last().expect("a window");
    assert_eq!((window.kind, window.functions), (Kind::Window, 3.0));
    assert_eq!(window.partitions, 10_000.0, "at most the rows");
    let by_n = last_operator("SELECT lag(id) OVER (PARTITION BY n) FROM large").await;
    assert_eq!(by_n.partitions, 100.0, "`n` has as many values");
}

#[tokio::test]
async fn rows_of_several_inputs_or_of_no_table_are_added_up() {
    let all = last_operator("SELECT n FROM large UNION ALL VALUES (1), (2), (3)").await;
    assert_eq!((all.kind, all.rows, all.children.len()), (Kind::Union, 10_003.0, 2));
    let series = last_operator("SELECT * FROM generate_series(1, 100, 3)").await;
    assert_eq!((series.kind, series.rows), (Kind::Values, 34.0));
    let none = last_operator("SELECT n FROM large WHERE false").await;
    assert_eq!((none.kind, none.rows), (Kind::Values, 0.0));
}

#[tokio::test]
async fn each_grouping_set_goes_over_the_rows() {
    let operators = operators("SELECT n, sum(price) FROM large GROUP BY ROLLUP (n, id)").await;
    let group_by = operators.iter().find(|operator| operator.kind == Kind::GroupBy);
    let group_by = group_by.expect("a group-by");
    assert_eq!((group_by.times, group_by.rows), (3.0, 30_000.0));
    assert_eq!(operators.last().expect("an aggregate").rows, 10_101.0, "counted, of three sets");
}

#[tokio::test]
async fn a_recursion_takes_its_rounds() {
    let sql = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 21) SELECT n FROM t";
    let recursion = last_operator(sql).await;
    assert_eq!((recursion.kind, recursion.times, recursion.rows), (Kind::Recursion, 10.0, 21.0));
}

#[tokio::test]
async fn a_subquery_that_runs_by_row_is_a_statement_of_its_own() {
    let few = "SELECT t, price FROM small WHERE small.n - large.n = 0 ORDER BY price LIMIT 3";
    let subquery = format!("SELECT max(t) FROM ({few}) few");
    let operators = operators(&format!("SELECT id, ({subquery}) FROM large WHERE id <= 120")).await;
    let by_row = operators.iter().find(|operator| operator.kind == Kind::Subquery);
    let by_row = by_row.expect("a subquery");
    // `n` has a hundred values.
    assert_eq!((by_row.rows, by_row.times), (120.0, 100.0));
    let tables = by_row.children.iter().map(|child| {
        let mut below = &operators[*child];
        while let Some(child) = below.children.first() {
            below = &operators[*child];
        }
        below.table.as_ref().expect("a scan").name.clone()
    });
    assert_eq!(tables.collect::<Vec<_>>(), ["large", "small"]);
}

#[tokio::test]
async fn a_subquery_that_runs_for_all_outer_values_at_once_is_joined_with_them() {
    let subquery = "SELECT t FROM small WHERE small.n - large.n = 0 ORDER BY price LIMIT 1";
    let operators = operators(&format!("SELECT id, ({subquery}) FROM large WHERE id <= 120")).await;
    let at_once = operators.iter().find(|operator| operator.kind == Kind::Subquery);
    let at_once = at_once.expect("a subquery");
    assert_eq!((at_once.rows, at_once.times), (120.0, 1.0));
    let is_of_values =
        |operator: &&Operator| operator.kind == Kind::Values && operator.rows == 100.0;
    assert!(operators.iter().any(|operator| is_of_values(&operator)), "`n` has a hundred values");
}

#[tokio::test]
async fn a_subquery_whose_rows_are_found_by_key_runs_once() {
    let subquery = "SELECT t FROM small WHERE small.n = large.n ORDER BY price LIMIT 1";
    let operators = operators(&format!("SELECT id, ({subquery}) FROM large WHERE id <= 120")).await;
    let by_key = operators.iter().find(|operator| operator.kind == Kind::Subquery);
    let by_key = by_key.expect("a subquery");
    assert_eq!((by_key.rows, by_key.times), (120.0, 1.0));
}
