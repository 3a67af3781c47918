//! Which queries are recognised.

use crate::{Constants, Read};
use grammar::tree::{NodeEnum, SelectStmt};
use sdds::GroupId;
use std::sync::Arc;
use store::catalog::{Column, ColumnId, OnCommit, SqlType, Table, TableExtension, TableId};

/// A table with the key `(k, s)` and the column `v`.
fn table() -> Arc<Table> {
    let column = |(id, (name, sql_type)): (usize, (&str, SqlType))| Column {
        name: name.to_owned(),
        sql_type,
        hidden: false,
        nullable: id == 2,
        ..Column::row_id(ColumnId(id as u32))
    };
    let columns = [("k", SqlType::BigInt), ("s", SqlType::Text), ("v", SqlType::Double)];
    Arc::new(Table {
        id: TableId(1),
        schema: "public".to_owned(),
        name: "t".to_owned(),
        columns: columns.into_iter().enumerate().map(column).collect(),
        key: vec![ColumnId(0), ColumnId(1)],
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        bucket_size: 1 << 20,
        colocate_with: None,
        on_commit: OnCommit::default(),
        home: GroupId(0),
        next_column: 3,
        version: 0,
        materialized: None,
        key_constraint: None,
        is_unlogged: false,
        extension: TableExtension::default(),
        comment: None,
    })
}

fn query(sql: &str) -> Box<SelectStmt> {
    let statement = parser::one(sql).expect(sql);
    match statement.query() {
        Some(NodeEnum::SelectStmt(query)) => query.clone(),
        _ => panic!("{sql} is no query"),
    }
}

#[test]
fn queries_by_key_are_recognised() {
    for sql in [
        "SELECT * FROM t",
        "SELECT v FROM t WHERE k = 1 AND s = $1",
        "SELECT v FROM t WHERE k = 1 AND s IN ('a', $1, NULL) LIMIT 3",
        "SELECT v FROM t WHERE k = 1 AND s = ANY ($1)",
        "SELECT v FROM t WHERE k = 1 AND s > 'a' AND 'b' >= s ORDER BY s DESC OFFSET $1",
        "SELECT t.* FROM t WHERE t.k BETWEEN -1 AND $1::int ORDER BY t.k DESC, s DESC LIMIT ALL",
        "SELECT k AS s, s AS k FROM t WHERE s = 'a' ORDER BY s",
        "SELECT k FROM t ORDER BY k",
        "SELECT k FROM t ORDER BY s",
        "SELECT k FROM t ORDER BY k DESC, s NULLS FIRST LIMIT 3",
        "SELECT s AS k FROM t ORDER BY k",
        "SELECT count(*) AS n FROM t WHERE k < 5",
        "SELECT k FROM t WHERE k <> 1",
        "SELECT k FROM t WHERE k IN (1, 2)",
        "SELECT k FROM t WHERE s = ANY ($1)",
        "SELECT k FROM t WHERE k = 1 AND v IS NULL AND s IS NOT NULL AND $1 AND true",
        "SELECT \"k\" FROM t AS T WHERE K = 1 AND (s > E'a\\n' AND s < 'b') FETCH FIRST 2 ROWS ONLY",
    ] {
        assert!(Read::recognise((&table(), &[]), None, &query(sql)).is_some(), "{sql}");
    }
}

#[test]
fn other_queries_are_the_planners() {
    for sql in [
        "SELECT DISTINCT k FROM t",
        "SELECT k + 1 FROM t",
        "SELECT count(*) FROM t LIMIT 1",
        "SELECT count(*), k FROM t",
        "SELECT count(*) FILTER (WHERE true) FROM t",
        "SELECT count(DISTINCT k) FROM t",
        "SELECT x.k FROM t",
        "SELECT nothing FROM t",
        "SELECT k FROM t WHERE k = 1 OR k = 2",
        "SELECT k FROM t WHERE NOT k = 1",
        "SELECT k FROM t WHERE NOT k",
        "SELECT k FROM t WHERE k IS TRUE",
        "SELECT k FROM t WHERE 1 IS NULL",
        "SELECT k FROM t WHERE k NOT BETWEEN 1 AND 2",
        "SELECT k FROM t WHERE k = 1 AND s LIKE 'a%'",
        "SELECT k FROM t WHERE v < 1",
        "SELECT k FROM t WHERE k = s",
        "SELECT k FROM t WHERE lower(s) = $1",
        "SELECT k FROM t WHERE k < $1 AND s = $1",
        "SELECT k FROM t ORDER BY k + 1",
        "SELECT k FROM t LIMIT 1 + 1",
        "SELECT k FROM t ORDER BY k FETCH FIRST 2 ROWS WITH TIES",
        "SELECT k FROM t ORDER BY k USING >",
        "SELECT k FROM t WHERE k = ALL ($1)",
        "SELECT count() FROM t",
        "SELECT k FROM t UNION SELECT 1",
        "VALUES (1)",
        "SELECT k FROM t FOR UPDATE",
        "WITH u AS (SELECT 1) SELECT k FROM t",
    ] {
        assert!(Read::recognise((&table(), &[]), None, &query(sql)).is_none(), "{sql}");
    }
}

#[test]
fn queries_of_constants_are_recognised() {
    for (sql, expected) in [
        ("SELECT 1, 'x' AS x, NULL, $1, $2::int, version()", true),
        ("SELECT $1::pos", false),
        ("SELECT $1::oid, $2::int8", false),
        ("SELECT $1::text", false),
        ("SELECT now()", false),
        ("SELECT 1 + 1", false),
        ("SELECT 'now'::timestamp", false),
        ("SELECT 1 WHERE false", false),
        ("SELECT 1 LIMIT 0", false),
        ("SELECT k FROM t", false),
    ] {
        assert_eq!(Constants::recognise(&query(sql)).is_some(), expected, "{sql}");
    }
}
