//! Texts of views after changes of names.

use catalog_views::search_path::SearchPath;
use renaming::{Caller, Renaming, mentions};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::catalog::{
    Catalog, CatalogChange, Relation, RelationId, Schema, SqlType, Table, View, ViewOptions,
};

fn view(id: u32, name: &str, sql: &str) -> View {
    View {
        id: RelationId(id),
        schema: "public".to_owned(),
        name: name.to_owned(),
        sql: sql.to_owned(),
        columns: Vec::new(),
        search_path: vec!["public".to_owned()],
        comment: None,
        options: ViewOptions::default(),
    }
}

/// A table `t (a, b, c)` and a view.
fn catalog(sql: &str) -> Catalog {
    let columns = ["a", "b", "c"].map(|name| (name.to_owned(), SqlType::BigInt));
    let table = view(1, "t", "").as_table(columns.into_iter());
    let changes = [
        CatalogChange::CreateSchema(Schema { name: "s".to_owned(), comment: None }),
        CatalogChange::Create(Relation::Table(Arc::new(table))),
        CatalogChange::Create(Relation::View(Arc::new(view(2, "v", sql)))),
    ];
    let catalog = changes.iter().try_fold(Catalog::new(), |catalog, of| catalog.apply(of));
    catalog.expect("valid changes")
}

/// The text of a view after a change of the table. `None` if it cannot follow.
fn followed(sql: &str, change: impl FnOnce(&mut Table)) -> Option<String> {
    let before = Arc::new(catalog(sql));
    let table = before.relation("public", "t").and_then(|relation| relation.file());
    let mut table = Table::clone(table.expect("a table"));
    table.version += 1;
    change(&mut table);
    let change = CatalogChange::Replace(Relation::Table(Arc::new(table)));
    let after = Arc::new(before.apply(&change).expect("a valid change"));
    let named = ["public".to_owned()];
    let path = SearchPath::new(&named, "pg_temp_1");
    let called: &dyn Fn(Caller<'_>) -> Option<BTreeSet<RelationId>> = &|_| None;
    let renaming = Renaming { before: &before, after: &after, path, view: None, called };
    let changes = renaming.changes().ok()?;
    let mut texts = changes.iter().filter_map(|change| match change {
        CatalogChange::Replace(Relation::View(view)) => Some(view.sql.clone()),
        _ => None,
    });
    Some(texts.next().unwrap_or_else(|| "the same".to_owned()))
}

#[test]
fn views_follow_the_name_of_a_table() {
    let name = |sql| followed(sql, |table| table.name = "Other".to_owned());
    for (sql, expected) in [
        ("SELECT a FROM t", "SELECT a FROM \"Other\""),
        ("SELECT t.a FROM T", "SELECT t.a FROM \"Other\" AS t"),
        ("SELECT public.t.a FROM public.t", "SELECT t.a FROM public.\"Other\" AS t"),
        ("SELECT x.a FROM t AS x", "SELECT x.a FROM \"Other\" AS x"),
        ("SELECT 't'::regclass, 't'::text", "SELECT '\"Other\"'::regclass, 't'::text"),
        ("SELECT 1 FROM other", "the same"),
        ("WITH t AS (SELECT 1) SELECT 1 FROM t", "WITH t AS (SELECT 1) SELECT 1 FROM t"),
        ("SELECT NULL::t", "SELECT NULL::\"Other\""),
    ] {
        assert_eq!(name(sql).as_deref(), Some(expected), "{sql}");
    }
    assert_eq!(name("SELECT 1 FROM U&\"\\0074\""), None);
}

#[test]
fn views_follow_the_schema_of_a_table() {
    let moved = |sql| followed(sql, |table| table.schema = "s".to_owned());
    assert_eq!(moved("SELECT t.a FROM t").as_deref(), Some("SELECT t.a FROM s.t AS t"));
    assert_eq!(moved("SELECT a FROM public.t").as_deref(), Some("SELECT a FROM s.t"));
}

#[test]
fn views_follow_the_columns_of_a_table() {
    let renamed = |sql| followed(sql, |table| table.columns[1].name = "left".to_owned());
    let text = "SELECT b FROM t AS t(a, b)";
    assert_eq!(renamed("SELECT b FROM t").as_deref(), Some(text));
    let text = "SELECT x, b FROM t AS y(x, b)";
    assert_eq!(renamed("SELECT x, b FROM t y(x)").as_deref(), Some(text));
    assert_eq!(renamed("SELECT q FROM t AS y(p, q)").as_deref(), Some("the same"));
    let dropped = |sql| {
        followed(sql, |table| {
            table.columns.remove(0);
        })
    };
    assert_eq!(dropped("SELECT c FROM t").as_deref(), Some("the same"));
    let text = "SELECT r FROM t AS y(q, r)";
    assert_eq!(dropped("SELECT r FROM t AS y(p, q, r)").as_deref(), Some(text));
}

#[test]
fn relations_are_mentioned_in_from_and_by_constants() {
    let catalog = catalog("SELECT 1");
    let named = ["public".to_owned()];
    let path = SearchPath::new(&named, "pg_temp_1");
    let is_read = |sql: &str| mentions(&catalog, path, sql, RelationId(1));
    assert!(is_read("SELECT 1 FROM t") && is_read("SELECT nextval('public.t')"));
    assert!(!is_read("SELECT 't'::text") && !is_read("WITH t AS (SELECT 1) SELECT 1 FROM t"));
}
