//! Statements that take very long, one for each thing that a server can be busy with: what has to be stoppable.

/// A statement that takes minutes at least.
#[derive(Debug, Clone, Copy)]
pub struct Endless {
    /// What it keeps busy: an operator, a kind of function, a kind of statement.
    pub what: &'static str,
    /// The statement.
    pub sql: &'static str,
}

/// Makes the tables that the statements use: `n` with 20,000 rows and `wide` with 200,000.
pub const TABLES: &str = "CREATE TABLE n (i int PRIMARY KEY, k int, t text);
INSERT INTO n SELECT i, i % 7, 'text ' || i FROM generate_series(1, 20000) AS s(i);
CREATE TABLE wide (i int PRIMARY KEY, k int, t text);
INSERT INTO wide SELECT i, i % 1000, repeat('x', i % 50) FROM generate_series(1, 200000) AS s(i);
CREATE TABLE target (i bigint PRIMARY KEY)";

const fn endless(what: &'static str, sql: &'static str) -> Endless {
    Endless { what, sql }
}

/// The statements.
pub const ALL: &[Endless] = &[
    endless("nested loop join", "SELECT count(*) FROM n a, n b, n c WHERE a.i + b.i + c.i < 0"),
    endless("cross join", "SELECT sum(a.i + b.i) FROM n a, n b, n c"),
    endless(
        "left nested loop join",
        "SELECT count(*) FROM wide a LEFT JOIN wide b ON a.i + b.i < 0 LEFT JOIN wide c ON a.i + c.i < 0",
    ),
    endless(
        "full nested loop join",
        "SELECT count(*) FROM wide a FULL JOIN wide b ON a.i + b.i < 0 FULL JOIN wide c ON a.i + c.i < 0 WHERE coalesce(a.i, b.i, c.i) > 0",
    ),
    endless(
        "semi join by a comparison",
        "SELECT count(*) FROM wide a WHERE EXISTS (SELECT 1 FROM wide b, n c WHERE b.i + c.i + a.i < 0)",
    ),
    endless(
        "anti join by a comparison",
        "SELECT count(*) FROM wide a WHERE NOT EXISTS (SELECT 1 FROM wide b, n c WHERE b.i + c.i + a.i < 0)",
    ),
    endless(
        "hash join of one key",
        "SELECT count(*) FROM wide a JOIN wide b ON a.k * 0 = b.k * 0 JOIN wide c ON b.k * 0 = c.k * 0",
    ),
    endless(
        "hash join with a filter",
        "SELECT count(*) FROM wide a JOIN wide b ON a.k * 0 = b.k * 0 AND a.i + b.i < 0 JOIN wide c ON b.k = c.k",
    ),
    endless("rows to a client", "SELECT a.i, b.t FROM wide a, wide b"),
    endless("sort", "SELECT a.i FROM n a, n b ORDER BY a.i + b.i, a.t"),
    endless("top rows", "SELECT a.i FROM wide a, wide b ORDER BY (a.i + b.i) % 1009 LIMIT 10"),
    endless("offset", "SELECT a.i FROM wide a, wide b OFFSET 30000000000"),
    endless(
        "window over all rows",
        "SELECT count(*) FROM (SELECT sum(a.i) OVER () s FROM wide a, wide b) x WHERE s < 0",
    ),
    endless(
        "window with a frame",
        "SELECT max(s) FROM (SELECT max(i) OVER (ORDER BY i ROWS BETWEEN 100000 PRECEDING AND 100000 FOLLOWING) s FROM (SELECT a.i + b.i AS i FROM wide a, n b) y) x",
    ),
    endless(
        "window of arrays",
        "SELECT max(cardinality(s)) FROM (SELECT array_agg(i) OVER (PARTITION BY i / 1000 ORDER BY i) s FROM generate_series(1, 100000000) x(i)) y",
    ),
    endless(
        "recursion",
        "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i FROM r) SELECT count(*) FROM r",
    ),
    endless(
        "recursion without duplicates",
        "WITH RECURSIVE r AS (SELECT 1::bigint AS i UNION SELECT i + 1 FROM r) SELECT count(*) FROM r",
    ),
    endless("sum", "SELECT sum(a.i::bigint * b.i) FROM wide a, wide b"),
    endless("groups", "SELECT count(*) FROM (SELECT a.k, b.k FROM wide a, wide b GROUP BY 1, 2) x"),
    endless("distinct", "SELECT count(*) FROM (SELECT DISTINCT a.k, b.k FROM wide a, wide b) x"),
    endless("distinct counts", "SELECT a.k, count(DISTINCT b.k) FROM wide a, wide b GROUP BY a.k"),
    endless(
        "grouping sets",
        "SELECT count(*) FROM (SELECT a.k, b.k FROM wide a, wide b GROUP BY CUBE (a.k, b.k)) x",
    ),
    endless(
        "union",
        "SELECT count(*) FROM (SELECT a.k FROM wide a, wide b UNION SELECT b.k FROM wide a, wide b) x",
    ),
    endless(
        "intersection",
        "SELECT count(*) FROM (SELECT a.k FROM wide a, wide b INTERSECT SELECT i FROM n) x",
    ),
    endless(
        "difference",
        "SELECT count(*) FROM (SELECT i FROM n EXCEPT SELECT a.k FROM wide a, wide b) x",
    ),
    endless("generate_series", "SELECT count(*) FROM generate_series(1, 10000000000000)"),
    endless(
        "a filter that nothing passes",
        "SELECT i FROM generate_series(1, 10000000000000) s(i) WHERE i < 0",
    ),
    endless(
        "unnest",
        "SELECT count(*) FROM (SELECT unnest(ARRAY[1, 2, 3, 4, 5, 6, 7, 8]) FROM wide a, wide b) x",
    ),
    endless(
        "lateral join",
        "SELECT count(*) FROM wide a, LATERAL (SELECT b.i FROM wide b WHERE b.i + a.i > 0) x",
    ),
    endless(
        "correlated subquery",
        "SELECT sum((SELECT count(*) FROM wide b WHERE b.i + a.i < 0)) FROM wide a",
    ),
    endless("digests", "SELECT max(md5(a.t || b.t)) FROM wide a, wide b"),
    endless(
        "regular expressions",
        "SELECT count(*) FROM wide a, wide b WHERE regexp_replace(a.t || b.t, '(x+)(y+)', '\\2\\1') = 'z'",
    ),
    endless("long texts", "SELECT max(length(repeat(a.t, 1000))) FROM wide a, wide b"),
    endless("padding", "SELECT max(length(lpad(a.t, 5000 + a.k, b.t))) FROM wide a, wide b"),
    endless(
        "replacements",
        "SELECT max(length(replace(repeat(a.t, 100), 'x', 'yyy'))) FROM wide a, wide b",
    ),
    endless(
        "splitting",
        "SELECT max(cardinality(string_to_array(repeat('a,', 500 + a.k), ','))) FROM wide a, wide b",
    ),
    endless(
        "text of JSON",
        "SELECT max(length(to_jsonb(ARRAY[a.i, b.i, a.k])::text)) FROM wide a, wide b",
    ),
    endless("text patterns", "SELECT count(*) FROM wide a, wide b WHERE a.t || b.t LIKE '%x%y%x%'"),
    endless(
        "dates",
        "SELECT max(to_char(DATE '2000-01-01' + a.k, 'YYYY-MM-DD')) FROM wide a, wide b",
    ),
    endless("numerics", "SELECT sum(a.i::numeric * b.i::numeric / 7) FROM wide a, wide b"),
    endless(
        "text_agg",
        "SELECT max(length(s)) FROM (SELECT string_agg(a.t, ',') s FROM n a, n b GROUP BY a.i, b.k) x",
    ),
    endless(
        "INSERT",
        "INSERT INTO target SELECT a.i * 1000000::bigint + b.i FROM wide a, wide b WHERE a.i + b.i < 0",
    ),
    endless(
        "UPDATE",
        "UPDATE n SET k = 1 WHERE EXISTS (SELECT 1 FROM wide a, wide b WHERE a.i + b.i + n.i < 0)",
    ),
    endless("DELETE", "DELETE FROM n USING wide a, wide b WHERE a.i + b.i + n.i < 0"),
    endless(
        "CREATE TABLE AS",
        "CREATE TABLE made AS SELECT a.i FROM wide a, wide b WHERE a.i + b.i < 0",
    ),
    endless(
        "EXPLAIN ANALYZE",
        "EXPLAIN ANALYZE SELECT count(*) FROM wide a, wide b WHERE a.i + b.i < 0",
    ),
];

/// The statements that keep a server busiest: 16 of different kinds.
pub fn worst() -> impl Iterator<Item = Endless> {
    ALL.iter().step_by(3).copied().take(16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_sixteen_worst_ones_and_names_differ() {
        assert_eq!(worst().count(), 16);
        let names: BTreeSet<_> = ALL.iter().map(|endless| endless.what).collect();
        assert_eq!(names.len(), ALL.len());
    }
}
