//! INSERT, UPDATE, DELETE and TRUNCATE.

use super::frames::{Frame, Leaf};
use super::schema::Table;
use super::{Generator, statement};
use crate::tree::{Kind, Node, Type};

/// A table that does not exist.
const MISSING: &str = "SELECT * FROM missing";

impl Generator {
    /// Fills the newest table with generated rows.
    pub(super) fn fill(&mut self) -> Node {
        let Some(table) = self.schema.tables.last().cloned() else { return Node::text(MISSING) };
        let rows = *self.random.pick(&[0, 3, 20, 100, 100, 1000, 5000]);
        self.frames.enter(Frame { leaves: vec![("g.x".to_owned(), Type::Int)], grouped: None });
        let values = table.columns.iter().map(|(name, of)| match name.as_str() {
            "k" => Node::text("g.x"),
            _ => self.column_value(*of),
        });
        let values = Node::commas(values.collect());
        self.frames.leave();
        let form = format!(
            "INSERT INTO {} SELECT {{}} FROM generate_series(1, {rows}) AS g (x)",
            table.name
        );
        statement(&form, [values])
    }

    /// A value that differs from row to row and is rarely an error.
    fn column_value(&mut self, of: Type) -> Node {
        let form = match of {
            Type::Bool => "g.x % 3 = 0",
            Type::Int => "g.x % 17",
            Type::Bigint => "g.x * 1000000007::bigint % 101",
            Type::Numeric => "g.x / 7.0",
            Type::Double => "sqrt(g.x::float8)",
            Type::Text => "'text ' || g.x % 23",
            Type::Date => "'2020-01-01'::date + g.x % 400",
            Type::Timestamp => "'2020-01-01'::timestamp + g.x * '1 hour'::interval",
            Type::Timestamptz => "'2020-01-01Z'::timestamptz + g.x * '1 minute'::interval",
            Type::Interval => "g.x * '1 day'::interval",
            Type::Jsonb => "jsonb_build_object('a', g.x, 'b', ARRAY[g.x, 1])",
            Type::Ints => "ARRAY[g.x, g.x % 5]",
            Type::Texts => "ARRAY['a', g.x::text]",
            Type::Bytea => "decode(md5(g.x::text), 'hex')",
            Type::Uuid => "md5(g.x::text)::uuid",
        };
        if self.random.percent(15) {
            return Node::form(
                Kind::Expression(of),
                &format!("CASE WHEN g.x % 4 > 0 THEN {form} END"),
                [],
            );
        }
        Node::form(Kind::Expression(of), form, [])
    }

    /// INSERT of values or of a query, with ON CONFLICT and RETURNING.
    pub(super) fn insert(&mut self) -> Node {
        let Some(table) = self.writable() else { return Node::text(MISSING) };
        let types: Vec<Type> = table.columns.iter().map(|column| column.1).collect();
        let source =
            if self.random.percent(50) { self.values(&types, 2) } else { self.query(&types, 2) };
        let conflict = self.maybe(40, |make| make.on_conflict(&table));
        self.enter_table(&table, &table.name);
        let returning = self.returning();
        self.frames.leave();
        let names: Vec<&str> = table.columns.iter().map(|column| column.0.as_str()).collect();
        let form = format!("INSERT INTO {} ({}) {{}}{{}}{{}}", table.name, names.join(", "));
        statement(&form, [source, conflict, returning])
    }

    fn on_conflict(&mut self, table: &Table) -> Node {
        if self.random.percent(40) {
            let target = self.word(&["", " (k)"]);
            return Node::clause(" ON CONFLICT{} DO NOTHING", [target]);
        }
        self.enter_table(table, &table.name);
        let excluded = table.columns.iter().map(|(name, of)| (format!("excluded.{name}"), *of));
        let excluded: Vec<Leaf> = excluded.collect();
        self.see(excluded);
        let assignments = self.assignments(table);
        let restriction = self.restriction(1);
        self.frames.leave();
        Node::clause(" ON CONFLICT (k) DO UPDATE SET {}{}", [assignments, restriction])
    }

    /// UPDATE, with FROM and RETURNING.
    pub(super) fn update(&mut self) -> Node {
        let Some(table) = self.writable() else { return Node::text(MISSING) };
        self.enter_table(&table, "u");
        let from = self.maybe(35, |make| Node::clause(" FROM {}", [make.relations(1)]));
        let restriction = self.restriction(2);
        let assignments = self.assignments(&table);
        let returning = self.returning();
        self.frames.leave();
        let form = format!("UPDATE {} AS u SET {{}}{{}}{{}}{{}}", table.name);
        statement(&form, [assignments, from, restriction, returning])
    }

    /// DELETE, with USING and RETURNING.
    pub(super) fn delete(&mut self) -> Node {
        let Some(table) = self.writable() else { return Node::text(MISSING) };
        self.enter_table(&table, "d");
        let using = self.maybe(40, |make| Node::clause(" USING {}", [make.relations(1)]));
        let restriction = Node::clause(" WHERE {}", [self.condition(2)]);
        let returning = self.returning();
        self.frames.leave();
        let form = format!("DELETE FROM {} AS d{{}}{{}}{{}}", table.name);
        statement(&form, [using, restriction, returning])
    }

    /// TRUNCATE.
    pub(super) fn truncate(&mut self) -> Node {
        let Some(table) = self.writable() else { return Node::text(MISSING) };
        let how = self.word(&["", " RESTART IDENTITY", " CASCADE"]);
        statement(&format!("TRUNCATE {}{{}}", table.name), [how])
    }

    fn assignments(&mut self, table: &Table) -> Node {
        let column = self.random.pick(&table.columns).clone();
        let mut assignments = vec![self.assignment(&column)];
        if self.random.percent(30) {
            let other = self.random.pick(&table.columns).clone();
            assignments.push(self.assignment(&other));
        }
        Node::commas(assignments)
    }

    fn assignment(&mut self, (name, of): &Leaf) -> Node {
        let value = self.expression(*of, 2);
        Node::form(Kind::Fixed, &format!("{name} = {{}}"), [value])
    }

    fn returning(&mut self) -> Node {
        self.maybe(30, |make| {
            let of = make.any_type();
            let value = make.expression(of, 2);
            Node::clause(" RETURNING *, {}", [value])
        })
    }

    fn enter_table(&mut self, table: &Table, alias: &str) {
        let columns = table.columns.iter().map(|(name, of)| (format!("{alias}.{name}"), *of));
        self.frames.enter(Frame { leaves: columns.collect(), grouped: None });
    }
}
