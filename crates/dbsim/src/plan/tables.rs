//! The tables of TPC-D (today's TPC-H): rows at a scale factor, and bytes of a row as estimated by
//! the benchmark's specification (clause 4.2.5).

use super::Table;

/// Rows at scale factor 1 and bytes of a row.
const TABLES: [(&str, f64, f64); 5] = [
    ("customer", 150_000.0, 179.0),
    ("lineitem", 6_001_215.0, 112.0),
    ("orders", 1_500_000.0, 104.0),
    ("part", 200_000.0, 155.0),
    ("partsupp", 800_000.0, 144.0),
];

/// The tables at a scale factor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tables {
    pub(super) scale: f64,
}

impl Tables {
    fn table(&self, index: usize) -> Table {
        let (name, rows, row_bytes) = TABLES[index];
        Table { name: name.to_owned(), rows: (rows * self.scale).round(), row_bytes }
    }

    pub(super) fn customer(&self) -> Table {
        self.table(0)
    }

    pub(super) fn lineitem(&self) -> Table {
        self.table(1)
    }

    pub(super) fn orders(&self) -> Table {
        self.table(2)
    }

    pub(super) fn part(&self) -> Table {
        self.table(3)
    }

    pub(super) fn partsupp(&self) -> Table {
        self.table(4)
    }
}
