//! CREATE, ALTER and DROP of tables, views and sequences.

use super::frames::Leaf;
use super::schema::Table;
use super::{Generator, statement};
use crate::tree::{Kind, Node, Type};

impl Generator {
    /// CREATE TABLE with a key, and sometimes defaults and checks.
    pub(super) fn create_table(&mut self) -> Node {
        let name = self.name("a");
        let mut columns: Vec<Leaf> = vec![("k".to_owned(), Type::Bigint)];
        for of in self.types(1..=6) {
            columns.push((format!("c{}", columns.len()), of));
        }
        let outside = self.frames.hide();
        let parts = columns.iter().map(|(name, of)| self.column(name, *of)).collect();
        self.frames = outside;
        let temporary = self.maybe(5, |_| Node::clause("TEMP ", []));
        let form = format!("CREATE {{}}TABLE {name} ({{}})");
        self.schema.tables.push(Table { name, columns, view: false });
        statement(&form, [temporary, Node::commas(parts)])
    }

    fn column(&mut self, name: &str, of: Type) -> Node {
        if name == "k" {
            let form = *self.random.pick(&["k bigint PRIMARY KEY", "k bigserial PRIMARY KEY"]);
            return Node::text(form);
        }
        let default = self.maybe(15, |make| Node::clause(" DEFAULT {}", [make.expression(of, 1)]));
        let check =
            self.maybe(6, |_| Node::clause(&format!(" CHECK ({name} IS NOT NULL OR true)"), []));
        Node::form(Kind::Fixed, &format!("{name} {}{{}}{{}}", of.sql()), [default, check])
    }

    /// CREATE TABLE AS.
    pub(super) fn create_table_as(&mut self) -> Node {
        let name = self.name("a");
        let (names, types, query) = self.named_query();
        let form = format!("CREATE TABLE {name} ({}) AS {{}}", names.join(", "));
        let columns = names.into_iter().zip(types).collect();
        self.schema.tables.push(Table { name, columns, view: false });
        statement(&form, [query])
    }

    /// CREATE VIEW: a new one on tables and views, or another definition of one that exists, which may form a cycle.
    pub(super) fn create_view(&mut self) -> Node {
        let views: Vec<&Table> = self.schema.tables.iter().filter(|table| table.view).collect();
        if !views.is_empty() && self.random.percent(6) {
            let (view, on) = ((*self.random.pick(&views)).clone(), self.readable());
            let form = format!("CREATE OR REPLACE VIEW {} AS SELECT * FROM {}", view.name, on.name);
            return statement(&form, []);
        }
        let (names, types, query) = self.named_query();
        let name = self.name("v");
        let form = format!("CREATE VIEW {name} ({}) AS {{}}", names.join(", "));
        let columns = names.into_iter().zip(types).collect();
        self.schema.tables.push(Table { name, columns, view: true });
        statement(&form, [query])
    }

    /// CREATE VIEW of some rows of a table.
    pub(super) fn view_of_table(&mut self) -> Node {
        let table = self.readable();
        let name = self.name("v");
        let columns: Vec<&str> = table.columns.iter().map(|column| column.0.as_str()).collect();
        let names: Vec<String> = (0..columns.len()).map(|number| format!("c{number}")).collect();
        let restriction =
            self.maybe(50, |_| Node::clause(&format!(" WHERE {} IS NOT NULL", columns[0]), []));
        let (names_text, columns_text) = (names.join(", "), columns.join(", "));
        let form = format!(
            "CREATE VIEW {name} ({names_text}) AS SELECT {columns_text} FROM {}{{}}",
            table.name
        );
        let columns = names.into_iter().zip(table.columns.iter().map(|column| column.1)).collect();
        self.schema.tables.push(Table { name, columns, view: true });
        statement(&form, [restriction])
    }

    fn named_query(&mut self) -> (Vec<String>, Vec<Type>, Node) {
        let types = self.types(1..=4);
        let query = self.query(&types, 1);
        let names = (0..types.len()).map(|number| format!("c{number}")).collect();
        (names, types, query)
    }

    /// ALTER of a table, a column, or a view.
    pub(super) fn alter(&mut self) -> Node {
        // Changes of tables that others read make many statements invalid.
        let sound = if self.random.percent(85) { self.schema.sound } else { 0 };
        let tables: Vec<&Table> =
            self.schema.tables.iter().skip(sound).filter(|table| !table.view).collect();
        if tables.is_empty() {
            return self.create_table();
        }
        let table = (*self.random.pick(&tables)).clone();
        let column = self.random.pick(&table.columns).0.clone();
        let of = self.any_type();
        let new = self.name("n");
        let value = self.literal(of);
        let change = match self.random.below(8) {
            0 => {
                let columns = (new.clone(), of);
                self.change_table(&table.name, |table| table.columns.push(columns));
                Node::form(
                    Kind::Fixed,
                    &format!("ADD COLUMN {new} {} DEFAULT {{}}", of.sql()),
                    [value],
                )
            }
            1 => Node::text(format!("DROP COLUMN {column} CASCADE")),
            2 => {
                self.change_table(&table.name, |table| {
                    table
                        .columns
                        .iter_mut()
                        .filter(|c| c.0 == column)
                        .for_each(|c| c.0.clone_from(&new));
                });
                Node::text(format!("RENAME COLUMN {column} TO {new}"))
            }
            3 => {
                let using = self.maybe(50, |_| Node::clause(" USING NULL", []));
                Node::form(
                    Kind::Fixed,
                    &format!("ALTER COLUMN {column} TYPE {}{{}}", of.sql()),
                    [using],
                )
            }
            4 => Node::text(format!("ALTER COLUMN {column} SET NOT NULL")),
            5 => {
                Node::form(Kind::Fixed, &format!("ALTER COLUMN {column} SET DEFAULT {{}}"), [value])
            }
            6 => {
                self.change_table(&table.name, |table| table.name.clone_from(&new));
                Node::text(format!("RENAME TO {new}"))
            }
            _ => Node::text(format!("ADD CONSTRAINT {new} CHECK ({column} IS NOT NULL)")),
        };
        statement(&format!("ALTER TABLE {} {{}}", table.name), [change])
    }

    fn change_table(&mut self, name: &str, change: impl FnOnce(&mut Table)) {
        if let Some(table) = self.schema.tables.iter_mut().find(|table| table.name == name) {
            change(table);
        }
    }

    /// DROP of a table or view, of which one stays.
    pub(super) fn drop(&mut self) -> Node {
        let cascade = self.word(&["", " CASCADE", " RESTRICT"]);
        let sound = if self.random.percent(95) { self.schema.sound } else { 0 };
        if self.schema.tables.len() <= sound + 1 {
            return statement("DROP TABLE IF EXISTS missing{}", [cascade]);
        }
        let at = sound + self.random.below(self.schema.tables.len() - sound);
        let table = self.schema.tables[at].clone();
        if at >= self.schema.sound {
            self.schema.tables.remove(at);
        }
        let kind = if table.view { "VIEW" } else { "TABLE" };
        statement(&format!("DROP {kind} {}{{}}", table.name), [cascade])
    }

    /// Making and using sequences.
    pub(super) fn sequence(&mut self) -> Node {
        if self.schema.sequences.is_empty() || self.random.percent(20) {
            let name = self.name("q");
            let how = self.word(&[
                "",
                " INCREMENT -1",
                " MAXVALUE 3 CYCLE",
                " START 9223372036854775807",
                " INCREMENT 9223372036854775807",
            ]);
            let form = format!("CREATE SEQUENCE {name}{{}}");
            self.schema.sequences.push(name);
            return statement(&form, [how]);
        }
        let name = self.random.pick(&self.schema.sequences).clone();
        let form = *self.random.pick(&[
            "SELECT nextval('#') FROM generate_series(1, 5)",
            "SELECT currval('#'), lastval()",
            "SELECT setval('#', 9223372036854775807)",
            "ALTER SEQUENCE # RESTART WITH 3",
            "SELECT * FROM #",
            "DROP SEQUENCE #",
        ]);
        Node::text(form.replace('#', &name))
    }
}
