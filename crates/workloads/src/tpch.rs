//! TPC-H: the eight tables, generated in memory, and the 22 queries with the validation parameters.
//!
//! Rows come from tpchgen, which generates the same rows as dbgen. Keys are `bigint`, because identifiers exceed 32 bits
//! above scale factor 300. The queries are the specification's, in SQL that every peer understands. Query 11 uses the
//! fraction of scale factor 1 at every scale.

use crate::source::TableSource;
use arrow::record_batch::RecordBatchReader;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};
use tpchgen_arrow::{
    CustomerArrow, LineItemArrow, NationArrow, OrderArrow, PartArrow, PartSuppArrow, RegionArrow,
    SupplierArrow,
};

/// Number of queries; they are numbered from 1.
pub const QUERIES: u8 = 22;
/// Rows of a generated batch.
const BATCH_ROWS: usize = 8192;
/// Suppliers of a part.
const SUPPLIERS_OF_A_PART: u64 = 4;
/// Mean number of lines of an order.
const LINES_OF_AN_ORDER: u64 = 4;

const CREATE: &str = include_str!("../sql/tpch/schema.sql");

const SQL: [&str; QUERIES as usize] = [
    include_str!("../sql/tpch/q01.sql"),
    include_str!("../sql/tpch/q02.sql"),
    include_str!("../sql/tpch/q03.sql"),
    include_str!("../sql/tpch/q04.sql"),
    include_str!("../sql/tpch/q05.sql"),
    include_str!("../sql/tpch/q06.sql"),
    include_str!("../sql/tpch/q07.sql"),
    include_str!("../sql/tpch/q08.sql"),
    include_str!("../sql/tpch/q09.sql"),
    include_str!("../sql/tpch/q10.sql"),
    include_str!("../sql/tpch/q11.sql"),
    include_str!("../sql/tpch/q12.sql"),
    include_str!("../sql/tpch/q13.sql"),
    include_str!("../sql/tpch/q14.sql"),
    include_str!("../sql/tpch/q15.sql"),
    include_str!("../sql/tpch/q16.sql"),
    include_str!("../sql/tpch/q17.sql"),
    include_str!("../sql/tpch/q18.sql"),
    include_str!("../sql/tpch/q19.sql"),
    include_str!("../sql/tpch/q20.sql"),
    include_str!("../sql/tpch/q21.sql"),
    include_str!("../sql/tpch/q22.sql"),
];

/// Query `n`, from 1 to [`QUERIES`].
///
/// # Panics
/// If there is no such query.
pub fn query(n: u8) -> &'static str {
    assert!((1..=QUERIES).contains(&n), "TPC-H has queries 1 to {QUERIES}, not {n}");
    SQL[usize::from(n) - 1]
}

/// The eight tables at a scale factor: 1 is about 1 GB of text and 6 million lineitems.
pub fn tables(scale: f64) -> Vec<TableSource> {
    let customers = CustomerGenerator::calculate_row_count(scale, 1, 1).cast_unsigned();
    let orders = OrderGenerator::calculate_row_count(scale, 1, 1).cast_unsigned();
    let parts = PartGenerator::calculate_row_count(scale, 1, 1).cast_unsigned();
    let partsupps = parts * SUPPLIERS_OF_A_PART;
    let suppliers = SupplierGenerator::calculate_row_count(scale, 1, 1).cast_unsigned();
    let lines = orders * LINES_OF_AN_ORDER;
    macro_rules! source {
        ($name:literal, $rows:expr, $arrow:ident, $generator:ident) => {
            source(
                $name,
                $rows,
                $arrow::new($generator::new(scale, 1, 1)).with_batch_size(BATCH_ROWS),
            )
        };
    }
    vec![
        source!("region", 5, RegionArrow, RegionGenerator),
        source!("nation", 25, NationArrow, NationGenerator),
        source!("supplier", suppliers, SupplierArrow, SupplierGenerator),
        source!("customer", customers, CustomerArrow, CustomerGenerator),
        source!("part", parts, PartArrow, PartGenerator),
        source!("partsupp", partsupps, PartSuppArrow, PartSuppGenerator),
        source!("orders", orders, OrderArrow, OrderGenerator),
        source!("lineitem", lines, LineItemArrow, LineItemGenerator),
    ]
}

/// Greatest scale factor: about 1 TB of text.
const SCALE_MAX: f64 = 1000.0;

/// Parses a scale factor of the command line.
///
/// # Errors
/// If it is not above 0 and at most 1000, or so small that rows of partsupp have the same key.
pub fn parse_scale(text: &str) -> Result<f64, String> {
    let scale = text.parse().ok().filter(|scale: &f64| *scale > 0.0 && *scale <= SCALE_MAX);
    let scale = scale.ok_or_else(|| {
        format!("a scale factor is a number above 0 and up to {SCALE_MAX}, like 0.1")
    })?;
    if repeats_suppliers(scale) {
        return Err(
            "at this scale factor TPC-H gives a part the same supplier twice; try 0.01 or 0.1"
                .into(),
        );
    }
    Ok(scale)
}

/// Whether two of the four suppliers of a part are the same by the formula of PS_SUPPKEY (TPC-H specification 4.2.3), which
/// happens if there are few suppliers.
fn repeats_suppliers(scale: f64) -> bool {
    let (suppliers, parts) = ((10_000.0 * scale) as u64, (200_000.0 * scale) as u64);
    let mut apart = (0..parts.div_ceil(suppliers.max(1))).map(|round| suppliers / 4 + round);
    suppliers == 0 || apart.any(|apart| (1..4).any(|times| times * apart % suppliers == 0))
}

/// One of the eight tables.
///
/// # Panics
/// If there is no such table.
pub fn table(name: &str, scale: f64) -> TableSource {
    let found = tables(scale).into_iter().find(|table| table.name == name);
    found.unwrap_or_else(|| panic!("TPC-H has no table {name}"))
}

fn source(name: &str, rows: u64, batches: impl RecordBatchReader + Send + 'static) -> TableSource {
    let schema = batches.schema();
    let batches = batches.map(|batch| batch.expect("generated rows fit their schema"));
    TableSource {
        name: name.to_owned(),
        create_sql: create_sql(name).to_owned(),
        rows,
        schema,
        batches: Box::new(batches),
    }
}

/// The CREATE TABLE statement of a table in `schema.sql`.
fn create_sql(name: &str) -> &'static str {
    let start = CREATE.find(&format!("CREATE TABLE {name} (")).map(|at| &CREATE[at..]);
    let statement = start.and_then(|rest| rest.split(';').next());
    statement.unwrap_or_else(|| panic!("schema.sql creates no table {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_columns_are_those_of_the_schema() {
        for table in tables(0.001) {
            let columns = table.create_sql.lines().map(str::trim);
            let columns = columns.filter_map(|line| line.split_once(' ')).map(|(name, _)| name);
            let columns: Vec<&str> = columns.filter(|name| name.contains('_')).collect();
            let generated: Vec<_> = table.schema.fields().iter().map(|f| f.name()).collect();
            assert_eq!(columns, generated, "{}", table.name);
            assert!(table.create_sql.contains("PRIMARY KEY"), "{}", table.name);
        }
    }

    #[test]
    fn scales_with_duplicate_keys_are_refused() {
        for scale in ["0.01", "0.02", "0.1", "0.3", "1", "1000"] {
            assert_eq!(parse_scale(scale), Ok(scale.parse().expect("a number")));
        }
        for (scale, why) in [
            ("0.001", "same supplier twice"),
            ("0.015", "same supplier twice"),
            ("1e-9", "same supplier twice"),
        ] {
            assert!(parse_scale(scale).expect_err(scale).contains(why));
        }
        for scale in ["0", "-1", "inf", "NaN", "1001", "some"] {
            assert!(parse_scale(scale).expect_err(scale).contains("up to 1000"));
        }
    }

    #[test]
    fn row_counts_are_the_specifications_and_rows_are_deterministic() {
        let count =
            |name: &str| table(name, 0.01).batches.map(|b| b.num_rows() as u64).sum::<u64>();
        for source in tables(0.01) {
            let counted = count(&source.name);
            if source.name == "lineitem" {
                assert_eq!(counted, 60_175);
            } else {
                assert_eq!(counted, source.rows, "{}", source.name);
            }
        }
        assert!(table("orders", 0.01).batches.eq(table("orders", 0.01).batches));
    }

    #[test]
    fn a_bucket_size_is_appended_as_an_option() {
        let table = table("region", 1.0).with_bucket_size(65_536);
        assert!(table.create_sql.ends_with(") WITH (bucket_size = 65536)"), "{}", table.create_sql);
    }

    #[test]
    fn scales_are_above_zero() {
        assert_eq!(parse_scale("0.1"), Ok(0.1));
        for wrong in ["0", "-1", "inf", "NaN", "one", ""] {
            assert!(parse_scale(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn queries_are_numbered_from_one() {
        assert!(query(1).contains("sum_qty"));
        assert!(query(22).contains("cntrycode"));
        assert!((1..=QUERIES).all(|n| !query(n).contains(';')));
    }
}
