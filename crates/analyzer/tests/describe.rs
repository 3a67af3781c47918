//! The columns of statements, or their errors, as PostgreSQL describes them: `\gdesc` of psql.
//!
//! Each file in `tests/describe` holds statements with semicolons at line ends. `CREATE TABLE` makes a table for those
//! that follow. Expected output, in the file of the same name with `.out`, is PostgreSQL's:
//! `tests/describe/record.py` writes it.

use analyzer::system::SqlType;
use analyzer::tree::{Column, Main, Output};
use analyzer::{Catalog, Error, Table, TargetRelation, bind, bind_statement, declared_type};
use grammar::tree::{ConstrType, CreateStmt, NodeEnum};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

#[derive(Default)]
struct Tables(RefCell<HashMap<String, Table>>);

impl Catalog for Tables {
    fn relation(&self, schema: Option<&str>, name: &str) -> Result<Option<Table>, Error> {
        let known = schema.is_none_or(|schema| schema == "public");
        Ok(self.0.borrow().get(name).filter(|_| known).cloned())
    }

    fn target(&self, schema: Option<&str>, name: &str) -> Result<Option<TargetRelation>, Error> {
        Ok(self.relation(schema, name)?.map(TargetRelation::Table))
    }
}

impl Tables {
    fn create(&self, create: &CreateStmt) -> Result<(), Error> {
        let mut table = Table {
            handle: self.0.borrow().len() as u32,
            schema: Some("public".to_owned()),
            name: create.relation.as_ref().map_or_else(String::new, |name| name.relname.clone()),
            is_view: false,
            columns: Vec::new(),
            key: Vec::new(),
            hidden: Vec::new(),
            defaults: HashMap::new(),
            identities: Vec::new(),
            rows_of: None,
        };
        for node in &create.table_elts {
            let Some(NodeEnum::ColumnDef(column)) = &node.node else { continue };
            let Some(name) = &column.type_name else { continue };
            let sql_type: SqlType = declared_type(name)?;
            for constraint in &column.constraints {
                if let Some(NodeEnum::Constraint(constraint)) = &constraint.node
                    && constraint.contype() == ConstrType::ConstrPrimary
                {
                    table.key.push(table.columns.len());
                }
            }
            table.columns.push(Column { name: column.colname.clone(), sql_type });
        }
        self.0.borrow_mut().insert(table.name.clone(), table);
        Ok(())
    }
}

/// What a statement's result looks like.
fn described(statement: &str, tables: &Tables) -> String {
    let script = match grammar::parse(statement) {
        Ok(script) => script,
        Err(error) => return format!("42601 {}", error.message),
    };
    let mut lines = Vec::new();
    for raw in script.statements() {
        let Some(node) = raw.stmt.as_ref().and_then(|node| node.node.as_ref()) else { continue };
        if let NodeEnum::CreateStmt(create) = node {
            tables.create(create).expect("a table of known types");
            continue;
        }
        let columns = match node {
            NodeEnum::InsertStmt(_) | NodeEnum::UpdateStmt(_) | NodeEnum::DeleteStmt(_) => {
                bind_statement(node, tables, &[]).map(|bound| match bound.statement.main {
                    Main::Query(query) => query.columns,
                    Main::Change(change) => {
                        change.returning.iter().flatten().map(Output::column).collect()
                    }
                })
            }
            _ => bind(node, tables, &[], false).map(|bound| bound.query.columns),
        };
        match columns {
            Ok(columns) => {
                let shown = |column: &Column| format!("{}|{}", column.name, column.sql_type);
                lines.extend(columns.iter().map(shown));
            }
            Err(error) if error.is_missing => lines.push(format!("missing {}", error.message)),
            Err(error) => lines.push(format!("{} {}", error.state, error.message)),
        }
    }
    lines.join("\n")
}

#[test]
fn columns_are_those_of_postgresql() {
    let folder = Path::new("tests/describe");
    let mut differences = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "sql") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a file of statements");
        let expected = std::fs::read_to_string(path.with_extension("out")).expect("its output");
        let mut expected = expected.split("\n\n");
        let tables = Tables::default();
        for statement in text.split(";\n").map(str::trim).filter(|statement| !statement.is_empty())
        {
            let got = described(statement, &tables);
            let wanted = expected.next().unwrap_or_default().trim();
            if got != wanted {
                differences
                    .push(format!("{statement};\n  PostgreSQL: {wanted}\n  here:       {got}"));
            }
        }
    }
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}
