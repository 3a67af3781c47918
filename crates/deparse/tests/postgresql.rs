//! Texts of expressions as PostgreSQL 15 writes them.

use analyzer::system::{Oid, SqlType};
use analyzer::tree::Column;
use analyzer::{Catalog, RowExpression, Table, TargetRelation, bind_row};

const COLUMNS: [(&str, Oid); 6] = [
    ("a", Oid::INT4),
    ("b", Oid::INT8),
    ("email", Oid::TEXT),
    ("name", Oid::VARCHAR),
    ("flag", Oid::BOOL),
    ("Day", Oid::DATE),
];

/// A catalog without relations.
struct Nothing;

impl Catalog for Nothing {
    fn relation(&self, _: Option<&str>, _: &str) -> Result<Option<Table>, analyzer::Error> {
        Ok(None)
    }

    fn target(&self, _: Option<&str>, _: &str) -> Result<Option<TargetRelation>, analyzer::Error> {
        Ok(None)
    }
}

fn shown(text: &str) -> String {
    let column =
        |(name, oid): (&str, Oid)| Column { name: name.to_owned(), sql_type: SqlType::plain(oid) };
    let table = Table {
        handle: 0,
        schema: Some("public".to_owned()),
        name: "t".to_owned(),
        is_view: false,
        columns: COLUMNS.map(column).to_vec(),
        key: Vec::new(),
        hidden: Default::default(),
        defaults: Default::default(),
        identities: Vec::new(),
        rows_of: None,
    };
    let (_, bound) = bind_row(&Nothing, &table, &[RowExpression::IndexKey(text)]).expect("bound");
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    deparse::text(&bound[0], &names).expect("known")
}

#[test]
fn expressions_have_their_texts() {
    for (text, expected) in [
        ("lower(email)", "lower(email)"),
        ("lower(name)", "lower((name)::text)"),
        ("a + b", "(a + b)"),
        ("a + 1 - 2 * a", "((a + 1) - (2 * a))"),
        ("a::text", "(a)::text"),
        ("-a", "(- a)"),
        ("coalesce(a, 0)", "COALESCE(a, 0)"),
        ("greatest(a, 1)", "GREATEST(a, 1)"),
        ("a is null", "(a IS NULL)"),
        ("b > 5 and email is not null", "((b > 5) AND (email IS NOT NULL))"),
        ("not flag or a in (1, 2, 3)", "((NOT flag) OR (a = ANY (ARRAY[1, 2, 3])))"),
        ("email = 'it''s'", "(email = 'it''s'::text)"),
        ("name = 'x'", "((name)::text = 'x'::text)"),
        ("email like 'x%'", "(email ~~ 'x%'::text)"),
        ("\"Day\" > '2020-01-01'", "(\"Day\" > '2020-01-01'::date)"),
        ("flag is not true", "(flag IS NOT TRUE)"),
        ("substr(email, 1, 3)", "substr(email, 1, 3)"),
        ("left(email, 3)", "\"left\"(email, 3)"),
        ("case when a > 1 then 2 else 3 end", "\nCASE\n    WHEN (a > 1) THEN 2\n    ELSE 3\nEND"),
        ("a not in (1, 2)", "(a <> ALL (ARRAY[1, 2]))"),
        ("nullif(a, 1)", "NULLIF(a, 1)"),
        ("a is distinct from 1", "(a IS DISTINCT FROM 1)"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}
