//! Plans: trees of operators with the rows that flow between them.
//!
//! A plan holds its operators children first; the last is the root. [`Plan::new`] refuses what cannot be run and names the
//! operator.

pub mod bundle;
mod planning;
pub mod queries;
mod tables;
mod term;

pub use bundle::{Bundle, usual_scheme};
pub use bundling::{Kind, Scheme};
pub use planning::{KINDS as KINDS_OF_PLANNING, Planning};
pub use queries::{Query, Selectivity};
pub use term::{Task, Term};

use crate::Error;
use crate::hardware::not_negative;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How often something is done again, at most.
const TIMES_MAX: f64 = 1e12;

/// An operator, by its place in the plan.
pub type OperatorId = usize;

/// A table as it lies on storage.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// How many rows it has.
    #[serde(deserialize_with = "not_negative")]
    pub rows: f64,
    /// Bytes of a row.
    #[serde(deserialize_with = "not_negative")]
    pub row_bytes: f64,
}

impl Table {
    /// Bytes of all rows.
    pub fn bytes(&self) -> f64 {
        self.rows * self.row_bytes
    }
}

/// An operator of a plan.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operator {
    /// What it does.
    pub kind: Kind,
    /// Where its rows come from; all of them stand before it. A file calls them `inputs`.
    #[serde(default, rename = "inputs")]
    pub children: Vec<OperatorId>,
    /// Rows that it hands on.
    pub rows: f64,
    /// Bytes of each.
    pub row_bytes: f64,
    /// The table of a scan.
    pub table: Option<Table>,
    /// Whether its rows come in the order that the operator above wants.
    #[serde(default)]
    pub ordered: bool,
    /// Whether it is the first input of a hash join that becomes a hash table, be it the larger.
    #[serde(default)]
    pub builds_first: bool,
    /// Whether the keys of a hash join's table are whole numbers so close that an engine may have an array instead.
    #[serde(default)]
    pub close_keys: bool,
    /// Functions of an aggregate or a window.
    #[serde(default)]
    pub functions: f64,
    /// How often a recursion or a subquery runs its second input, and for how many grouping sets a group-by looks each row up.
    #[serde(default = "one")]
    pub times: f64,
    /// Into how many partitions a window's rows fall, which sites can share out; 0 where all rows are one.
    #[serde(default, deserialize_with = "not_negative")]
    pub partitions: f64,
    /// Values of the lists in which a scan's predicate looks for others.
    #[serde(default, deserialize_with = "not_negative")]
    pub listed: f64,
    /// Rows of its table that a scan looks at; all of them where nothing is said.
    pub looked_at: Option<f64>,
    /// Bytes of a row's columns that a scan reads, where it reads more than it hands on.
    #[serde(default, deserialize_with = "not_negative")]
    pub read_row_bytes: f64,
    /// Columns that a scan reads; one where nothing is said.
    #[serde(default = "one")]
    pub columns: f64,
    /// Columns that a scan hands on; one where nothing is said.
    #[serde(default = "one", deserialize_with = "not_negative")]
    pub copied_columns: f64,
    /// In how many pieces its rows lie.
    #[serde(default)]
    pub pieces: f64,
    /// Rows that a scan hands on as they lie, because it keeps all of their piece; it copies the others.
    #[serde(default, deserialize_with = "not_negative")]
    pub in_place_rows: f64,
    /// Rows that it copies once more, because few of their piece are chosen: they are gathered with those of other pieces.
    #[serde(default, deserialize_with = "not_negative")]
    pub gathered_rows: f64,
    /// Bytes of the row's columns by which it was chosen: memory has brought them along.
    #[serde(default, deserialize_with = "not_negative")]
    pub seen_row_bytes: f64,
    /// How many of the rows that a scan copies follow one another, on average; as many as of scattered ones where nothing is said.
    pub run_rows: Option<f64>,
    /// Bytes of a row as it is copied in memory, where these are not `row_bytes`.
    pub copied_row_bytes: Option<f64>,
    /// Bytes of such a row that a hash join takes from its table.
    #[serde(default, deserialize_with = "not_negative")]
    pub built_row_bytes: f64,
    /// What it computes beside its own work.
    #[serde(default)]
    pub terms: Vec<Term>,
}

impl Operator {
    /// One that hands on so many rows of so many bytes, without what only some have.
    pub fn new(kind: Kind, children: &[OperatorId], rows: f64, row_bytes: f64) -> Self {
        Self {
            kind,
            children: children.to_vec(),
            rows,
            row_bytes,
            table: None,
            ordered: false,
            builds_first: false,
            close_keys: false,
            functions: 0.0,
            times: one(),
            partitions: 0.0,
            listed: 0.0,
            looked_at: None,
            read_row_bytes: 0.0,
            columns: one(),
            copied_columns: one(),
            pieces: 0.0,
            in_place_rows: 0.0,
            gathered_rows: 0.0,
            seen_row_bytes: 0.0,
            run_rows: None,
            copied_row_bytes: None,
            built_row_bytes: 0.0,
            terms: Vec::new(),
        }
    }

    /// Rows that a scan looks at.
    pub fn rows_looked_at(&self) -> f64 {
        let all = self.table.as_ref().map_or(0.0, |table| table.rows);
        self.looked_at.map_or(all, |rows| rows.min(all))
    }

    /// Bytes that it hands on.
    pub fn bytes(&self) -> f64 {
        self.rows * self.row_bytes
    }

    /// Bytes of a row where it is copied in memory.
    pub fn copied_row_bytes(&self) -> f64 {
        self.copied_row_bytes.unwrap_or(self.row_bytes)
    }

    /// Bytes that it hands on in memory.
    pub fn copied_bytes(&self) -> f64 {
        self.rows * self.copied_row_bytes()
    }
}

fn one() -> f64 {
    1.0
}

/// A plan as a file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    name: String,
    operator: Vec<Operator>,
}

/// A tree of operators.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Its name, like `q3`.
    pub name: String,
    operators: Vec<Operator>,
}

impl Plan {
    /// A plan of operators, children first, the root last.
    ///
    /// # Errors
    /// [`Error::Operator`] where one cannot be run: the wrong number of inputs, a scan without a table, more rows than can
    /// be, an operator that is nobody's or two operators' input.
    pub fn new(name: &str, operators: Vec<Operator>) -> Result<Self, Error> {
        let plan = Self { name: name.to_owned(), operators };
        let mut parents = vec![0; plan.operators.len()];
        for id in 0..plan.operators.len() {
            plan.check(id).map_err(|message| plan.wrong(id, message))?;
            plan.operators[id].children.iter().for_each(|child| parents[*child] += 1);
        }
        let root = plan.operators.len().checked_sub(1);
        let root = root.ok_or_else(|| Error::Operator {
            operator: "none".to_owned(),
            message: format!("{name} has no operators"),
        })?;
        match (0..root).find(|id| parents[*id] != 1) {
            Some(id) => Err(plan
                .wrong(id, format!("it must be the input of one operator, not {}", parents[id]))),
            None => Ok(plan),
        }
    }

    /// Reads a plan; `file` is what errors call it.
    ///
    /// # Errors
    /// [`Error::File`] with the line where it is no plan, [`Error::Operator`] where one cannot be run.
    pub fn read(text: &str, file: &str) -> Result<Self, Error> {
        let plan: PlanFile = toml::from_str(text).map_err(|error| Error::parse(file, &error))?;
        Self::new(&plan.name, plan.operator)
    }

    fn check(&self, id: OperatorId) -> Result<(), String> {
        let operator = &self.operators[id];
        let (kind, inputs) = (operator.kind, operator.children.len());
        let is_union = kind == Kind::Union && inputs > 0;
        if inputs != kind.inputs() && !is_union {
            let more = if kind == Kind::Union { " or more" } else { "" };
            let wanted = kind.inputs();
            return Err(format!("a {} takes {wanted}{more} inputs, not {inputs}", kind.name()));
        }
        if let Some(child) = operator.children.iter().find(|child| **child >= id) {
            return Err(format!("its input {child} does not precede it"));
        }
        if kind.is_scan() != operator.table.is_some() {
            return Err("scans need a table, other operators take none".to_owned());
        }
        let looked_at = operator.rows_looked_at();
        let Operator { rows, row_bytes, functions, columns, pieces, .. } = *operator;
        let (copied, run) = (operator.copied_row_bytes(), operator.run_rows.unwrap_or(1.0));
        let sizes = [rows, row_bytes, functions, looked_at, columns, pieces, copied, run];
        if sizes.iter().any(|size| !size.is_finite() || *size < 0.0) {
            return Err(format!(
                "rows, runs, bytes, functions, columns and pieces must be at least 0, not {sizes:?}"
            ));
        }
        if !(1.0..=TIMES_MAX).contains(&operator.times) || operator.times.fract() > 0.0 {
            let times = operator.times;
            return Err(format!(
                "times must be a whole number from 1 to {TIMES_MAX:e}, not {times}"
            ));
        }
        let rows_in = |child: &OperatorId| self.operators[*child].rows;
        let all = || operator.children.iter().map(rows_in).sum::<f64>();
        let most = match kind {
            _ if kind.is_scan() => looked_at,
            _ if kind.is_join() => operator.children.iter().map(rows_in).product(),
            Kind::Values => f64::INFINITY,
            Kind::Recursion => {
                rows_in(&operator.children[0]) + operator.times * rows_in(&operator.children[1])
            }
            Kind::Subquery => rows_in(&operator.children[0]),
            Kind::GroupBy => all() * operator.times,
            // A row of nothing, and one of each grouping set.
            Kind::Aggregate => {
                let is_group_by =
                    |child: &&OperatorId| self.operators[**child].kind == Kind::GroupBy;
                let by_group = operator.children.iter().find(is_group_by);
                all().max(by_group.map_or(1.0, |child| self.operators[*child].times))
            }
            _ => all().max(1.0),
        };
        if operator.rows > most {
            return Err(format!("{} rows exceed the maximum of {most}", operator.rows));
        }
        Ok(())
    }

    fn wrong(&self, id: OperatorId, message: String) -> Error {
        Error::Operator { operator: format!("{id} ({})", self.label(id)), message }
    }

    /// The operators, children first.
    pub fn operators(&self) -> &[Operator] {
        &self.operators
    }

    /// The operator that makes the result.
    pub fn root(&self) -> OperatorId {
        self.operators.len() - 1
    }

    /// What an operator is called: its kind, and the table of a scan.
    pub fn label(&self, id: OperatorId) -> String {
        let operator = &self.operators[id];
        let table = operator.table.as_ref().map(|table| format!(" {}", table.name));
        format!("{}{}", operator.kind.name(), table.unwrap_or_default())
    }

    /// The tree as indented lines, root first.
    pub fn tree(&self) -> String {
        let mut out = String::new();
        let mut open = vec![(self.root(), 0)];
        while let Some((id, depth)) = open.pop() {
            let operator = &self.operators[id];
            let _ = writeln!(
                out,
                "{:indent$}{}: {:.0} rows of {:.0} bytes",
                "",
                self.label(id),
                operator.rows,
                operator.row_bytes,
                indent = depth * 2
            );
            open.extend(operator.children.iter().rev().map(|child| (*child, depth + 1)));
        }
        out
    }

    /// Bytes of all tables that it reads, be it more than once.
    pub fn table_bytes(&self) -> f64 {
        let tables = self.operators.iter().filter_map(|operator| operator.table.as_ref());
        let by_name: BTreeMap<&str, f64> =
            tables.map(|table| (&*table.name, table.bytes())).collect();
        by_name.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(kind: Kind, children: &[OperatorId], rows: f64) -> Operator {
        let table = Table { name: "orders".to_owned(), rows: 100.0, row_bytes: 10.0 };
        Operator {
            table: kind.is_scan().then_some(table),
            ..Operator::new(kind, children, rows, 8.0)
        }
    }

    fn refused(operators: Vec<Operator>) -> String {
        Plan::new("mine", operators).expect_err("refused").to_string()
    }

    #[test]
    fn what_cannot_be_run_is_named_by_its_operator() {
        let scan = || operator(Kind::SequentialScan, &[], 50.0);
        let join = |children: &[OperatorId], rows| operator(Kind::HashJoin, children, rows);
        assert!(Plan::new("mine", vec![scan(), scan(), join(&[0, 1], 2500.0)]).is_ok());
        assert_eq!(
            refused(vec![scan(), scan(), join(&[0, 1], 2501.0)]),
            "operator 2 (hash join): 2501 rows exceed the maximum of 2500"
        );
        assert_eq!(
            refused(vec![scan(), join(&[0], 1.0)]),
            "operator 1 (hash join): a hash join takes 2 inputs, not 1"
        );
        assert_eq!(
            refused(vec![operator(Kind::SequentialScan, &[], 101.0)]),
            "operator 0 (sequential scan orders): 101 rows exceed the maximum of 100"
        );
        assert!(
            refused(vec![scan(), scan(), operator(Kind::Sort, &[1], 1.0)])
                .contains("one operator, not 0")
        );
        assert!(refused(vec![operator(Kind::Sort, &[0], 1.0)]).contains("does not precede it"));
        assert!(refused(vec![scan(), operator(Kind::Sort, &[0], f64::NAN)]).contains("at least 0"));
        assert!(refused(Vec::new()).contains("no operators"));
        let few = Operator { looked_at: Some(20.0), ..scan() };
        assert!(refused(vec![few]).contains("50 rows exceed the maximum of 20"));
        let pieces = Operator { pieces: -1.0, ..scan() };
        assert!(refused(vec![pieces]).contains("pieces must be at least 0"));
        let runs = Operator { run_rows: Some(-4.0), ..scan() };
        assert!(refused(vec![runs]).contains("-4.0"));
        let union = operator(Kind::Union, &[], 1.0);
        assert!(refused(vec![union]).contains("a union takes 1 or more inputs, not 0"));
        let recursion =
            |times: f64, rows| Operator { times, ..operator(Kind::Recursion, &[0, 1], rows) };
        assert!(Plan::new("mine", vec![scan(), scan(), recursion(3.0, 200.0)]).is_ok());
        assert!(refused(vec![scan(), scan(), recursion(3.0, 201.0)]).contains("maximum of 200"));
        let subquery = |rows| operator(Kind::Subquery, &[0, 1], rows);
        assert!(refused(vec![scan(), scan(), subquery(51.0)]).contains("maximum of 50"));
        for times in [0.0, 1.5, 1e13, f64::NAN] {
            let message = refused(vec![scan(), scan(), recursion(times, 1.0)]);
            assert!(message.contains("times must be a whole number from 1 to 1e12"), "{message}");
        }
    }

    #[test]
    fn a_table_that_is_read_twice_is_stored_once() {
        let scan = || operator(Kind::SequentialScan, &[], 50.0);
        let join = operator(Kind::HashJoin, &[0, 1], 50.0);
        let plan = Plan::new("mine", vec![scan(), scan(), join]).expect("a plan");
        assert_eq!(plan.table_bytes(), 1000.0);
    }

    const FILE: &str = "\
name = \"mine\"
[[operator]]
kind = \"sequential-scan\"
table = { name = \"orders\", rows = 100, row_bytes = 10 }
rows = 50
row_bytes = 8
[[operator]]
kind = \"aggregate\"
inputs = [0]
functions = 2
rows = 1
row_bytes = 16
";

    #[test]
    fn a_file_is_a_plan_or_wrong_at_a_line_or_an_operator() {
        let plan = Plan::read(FILE, "mine.toml").expect("a plan");
        assert_eq!(
            plan.tree(),
            "aggregate: 1 rows of 16 bytes\n  sequential scan orders: 50 rows of 8 bytes\n"
        );
        let refused = |from: &str, to: &str| {
            Plan::read(&FILE.replace(from, to), "mine.toml").expect_err("refused").to_string()
        };
        assert!(refused("\"aggregate\"", "\"conjure\"").contains("line 8"));
        assert!(refused("rows = 100", "rows = -1").contains("line 4"));
        assert!(
            refused("rows = 50", "rows = 101").starts_with("operator 0 (sequential scan orders): ")
        );
        let term = |task: &str| {
            format!("functions = 2\nterms = [{{ task = \"{task}\", values = 9, bytes = 4 }}]")
        };
        let plan = Plan::read(&FILE.replace("functions = 2", &term("compare")), "mine.toml");
        let expected = Term::new(Task::Compare, 9.0, 4.0);
        assert_eq!(plan.expect("a plan").operators()[1].terms, [expected]);
        assert!(refused("functions = 2", &term("ponder")).contains("line 11"));
    }
}
