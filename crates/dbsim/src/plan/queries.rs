//! The six queries of the smart disk paper (TPC-D Q1, Q3, Q6, Q12, Q13, Q16) as physical plans.
//!
//! The paper gives the plan of Q12 (sort | aggregate and group-by | sort | join with its scans) and
//! the selectivity on the largest filtered table of each query: 88, 54, 3, 0.8, 100 and 15 %. All
//! else is an assumption: join cardinalities are the real ones at scale factor 1, scaled. Groups
//! are sorted except in Q1, whose four groups need no order. The plans cover each kind of join:
//! nested loops and a hash join in Q3, a merge join in Q12, hash joins in Q13 and Q16.

use super::tables::Tables;
use super::{Kind, Operator, OperatorId, Plan, Table};
use crate::Error;
use std::str::FromStr;

/// A query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Query {
    /// Pricing summary: a scan, four groups, eight functions.
    Q1,
    /// Shipping priority: customer, orders and lineitem.
    Q3,
    /// Revenue change: a scan and one sum.
    Q6,
    /// Shipping modes: orders and a small part of lineitem.
    Q12,
    /// Customer distribution: customer and all of orders, two groupings.
    Q13,
    /// Suppliers of parts: part and partsupp.
    Q16,
}

/// The part of their tables that queries select.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selectivity {
    /// Half of the published selectivities.
    Low,
    /// The published selectivities.
    Medium,
    /// 1.5 times the published selectivities, at most 1.
    High,
}

impl Selectivity {
    /// The selectivity where the published one is `part`.
    fn of(self, part: f64) -> f64 {
        match self {
            Self::Low => part * 0.5,
            Self::Medium => part,
            Self::High => (part * 1.5).min(1.0),
        }
    }
}

impl Query {
    /// All queries.
    pub const ALL: [Self; 6] = [Self::Q1, Self::Q3, Self::Q6, Self::Q12, Self::Q13, Self::Q16];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Q1 => "q1",
            Self::Q3 => "q3",
            Self::Q6 => "q6",
            Self::Q12 => "q12",
            Self::Q13 => "q13",
            Self::Q16 => "q16",
        }
    }

    /// The plan at a scale factor.
    ///
    /// # Errors
    /// [`Error::Operator`] if the scale is negative or not finite.
    pub fn plan(self, scale: f64, selectivity: Selectivity) -> Result<Plan, Error> {
        let tables = Tables { scale };
        let mut tree = Tree::default();
        match self {
            Self::Q1 => tree.q1(&tables, selectivity.of(0.88)),
            Self::Q3 => tree.q3(&tables, selectivity.of(0.54)),
            Self::Q6 => tree.q6(&tables, selectivity.of(0.03)),
            Self::Q12 => tree.q12(&tables, selectivity.of(0.008)),
            Self::Q13 => tree.q13(&tables, selectivity.of(1.0)),
            Self::Q16 => tree.q16(&tables, selectivity.of(0.15)),
        };
        Plan::new(self.name(), tree.0)
    }
}

impl FromStr for Query {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|query| query.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            Error::unknown("query", name, Self::ALL.iter().map(|query| query.name()))
        })
    }
}

/// The operators of a plan under construction.
#[derive(Default)]
struct Tree(Vec<Operator>);

impl Tree {
    fn push(
        &mut self,
        kind: Kind,
        children: &[OperatorId],
        rows: f64,
        row_bytes: f64,
    ) -> OperatorId {
        let ordered = kind == Kind::Sort;
        let operator = Operator::new(kind, children, rows.round(), row_bytes);
        self.0.push(Operator { ordered, ..operator });
        self.0.len() - 1
    }

    /// A scan that returns a part of the rows, with the needed columns.
    fn scan(&mut self, table: Table, part: f64, row_bytes: f64) -> OperatorId {
        let id = self.push(Kind::SequentialScan, &[], table.rows * part, row_bytes);
        self.0[id].table = Some(table);
        id
    }

    /// A scan in the order of the table's key.
    fn scan_in_order(&mut self, table: Table, part: f64, row_bytes: f64) -> OperatorId {
        let id = self.scan(table, part, row_bytes);
        self.0[id].ordered = true;
        id
    }

    fn sort(&mut self, input: OperatorId) -> OperatorId {
        let (rows, row_bytes) = (self.0[input].rows, self.0[input].row_bytes);
        self.push(Kind::Sort, &[input], rows, row_bytes)
    }

    /// A group-by and its aggregate.
    fn group(
        &mut self,
        input: OperatorId,
        groups: f64,
        row_bytes: f64,
        functions: f64,
    ) -> OperatorId {
        let (rows, width) = (self.0[input].rows, self.0[input].row_bytes);
        let group = self.push(Kind::GroupBy, &[input], rows, width);
        let aggregate = self.push(Kind::Aggregate, &[group], groups.min(rows.max(1.0)), row_bytes);
        self.0[aggregate].functions = functions;
        aggregate
    }

    fn q1(&mut self, tables: &Tables, part: f64) {
        let scan = self.scan(tables.lineitem(), part, 34.0);
        let groups = self.group(scan, 4.0, 66.0, 8.0);
        self.sort(groups);
    }

    /// At scale factor 1 a fifth of the customers have 147,126 orders in the period, of which
    /// 30,519 lines in 11,620 orders are shipped later.
    fn q3(&mut self, tables: &Tables, part: f64) {
        let later = part / 0.54;
        let customer = self.scan(tables.customer(), 0.2, 8.0);
        let orders = self.scan(tables.orders(), 0.486, 24.0);
        let bought =
            self.push(Kind::NestedLoopJoin, &[customer, orders], 147_126.0 * tables.scale, 24.0);
        let lineitem = self.scan(tables.lineitem(), part, 24.0);
        let rows = 30_519.0 * tables.scale * later;
        let joined = self.push(Kind::HashJoin, &[bought, lineitem], rows, 40.0);
        let sorted = self.sort(joined);
        let groups = self.group(sorted, 11_620.0 * tables.scale * later, 32.0, 1.0);
        self.sort(groups);
    }

    fn q6(&mut self, tables: &Tables, part: f64) {
        let scan = self.scan(tables.lineitem(), part, 16.0);
        let sum = self.push(Kind::Aggregate, &[scan], 1.0, 16.0);
        self.0[sum].functions = 1.0;
    }

    fn q12(&mut self, tables: &Tables, part: f64) {
        let lineitem = self.scan_in_order(tables.lineitem(), part, 18.0);
        let orders = self.scan_in_order(tables.orders(), 1.0, 23.0);
        let rows = tables.lineitem().rows * part;
        let joined = self.push(Kind::MergeJoin, &[lineitem, orders], rows, 25.0);
        let sorted = self.sort(joined);
        let groups = self.group(sorted, 2.0, 26.0, 2.0);
        self.sort(groups);
    }

    /// A third of the customers have no orders and remain with a count of 0. A customer has at most
    /// 42 orders.
    fn q13(&mut self, tables: &Tables, part: f64) {
        let customer = self.scan(tables.customer(), 1.0, 8.0);
        let orders = self.scan(tables.orders(), part, 16.0);
        let rows = tables.orders().rows * part + tables.customer().rows / 3.0;
        let joined = self.push(Kind::HashJoin, &[customer, orders], rows, 16.0);
        let sorted = self.sort(joined);
        let counts = self.group(sorted, tables.customer().rows, 16.0, 1.0);
        let sorted = self.sort(counts);
        let groups = self.group(sorted, 42.0, 16.0, 1.0);
        self.sort(groups);
    }

    /// Four suppliers for each part; 25 brands, 150 types and 8 sizes, of which 24, 145 and 8 are
    /// selected.
    fn q16(&mut self, tables: &Tables, part: f64) {
        let kinds = 24.0 * 145.0 * 8.0;
        let parts = self.scan(tables.part(), part, 47.0);
        let partsupp = self.scan(tables.partsupp(), 1.0, 16.0);
        let rows = 4.0 * tables.part().rows * part;
        let joined = self.push(Kind::HashJoin, &[parts, partsupp], rows, 51.0);
        let sorted = self.sort(joined);
        let groups = self.group(sorted, kinds, 51.0, 1.0);
        self.sort(groups);
    }
}
