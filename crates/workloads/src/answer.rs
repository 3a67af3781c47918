//! Answers to queries, and their comparison.
//!
//! Cells are text. The [`Kind`] of a column says how they compare: integers and decimals exactly, floating point numbers to
//! a relative 1e-9, and a float with a decimal also to the last digit of the decimal, because engines differ in the type of
//! an average. Trailing blanks are ignored, because `char(n)` may be padded. Rows compare as a set; their order is checked
//! separately.

use anyhow::{Context, Result, ensure};
use arrow::array::Array;
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use query::numbers;
use serde::Deserialize;
use std::cmp::Ordering;

/// Relative tolerance of floating point numbers.
const FLOAT_TOLERANCE: f64 = 1e-9;

/// The answer to a query.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Answer {
    /// Name and kind of each column.
    pub columns: Vec<(String, Kind)>,
    /// The rows; a cell is `None` for NULL.
    pub rows: Vec<Row>,
}

/// The cells of a row.
pub type Row = Vec<Option<String>>;

/// How the cells of a column compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Integers and decimals.
    Exact,
    /// Floating point numbers.
    Float,
    /// Everything else.
    Text,
}

impl Kind {
    fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Decimal32(..)
            | DataType::Decimal64(..)
            | DataType::Decimal128(..)
            | DataType::Decimal256(..) => Self::Exact,
            open if numbers::is_open(open) => Self::Exact,
            integer if integer.is_integer() => Self::Exact,
            float if float.is_floating() => Self::Float,
            _ => Self::Text,
        }
    }
}

impl Answer {
    /// Converts record batches to text.
    ///
    /// # Errors
    /// If a value cannot be formatted.
    pub fn of(schema: &arrow::datatypes::Schema, batches: &[RecordBatch]) -> Result<Self> {
        let columns = schema.fields().iter();
        let columns = columns.map(|f| (f.name().clone(), Kind::of(f.data_type()))).collect();
        let mut rows = Vec::new();
        let options = FormatOptions::default();
        for batch in batches {
            let batch = query::as_texts(batch)?;
            let formatters = batch.columns().iter();
            let formatters = formatters.map(|column| ArrayFormatter::try_new(column, &options));
            let formatters: Vec<_> = formatters.collect::<Result<_, _>>()?;
            for row in 0..batch.num_rows() {
                let cells = batch.columns().iter().zip(&formatters);
                let cells = cells.map(|(column, formatter)| {
                    column.is_valid(row).then(|| formatter.value(row).to_string())
                });
                rows.push(cells.collect());
            }
        }
        Ok(Self { columns, rows })
    }

    /// Compares columns and rows, in any order of the rows.
    ///
    /// # Errors
    /// If they differ.
    pub fn agrees_with(&self, expected: &Self) -> Result<()> {
        self.has_columns(&expected.columns)?;
        let (ours, theirs) = (self.rows.len(), expected.rows.len());
        ensure!(ours == theirs, "{ours} rows instead of {theirs}");
        let kinds: Vec<(Kind, Kind)> =
            self.columns.iter().zip(&expected.columns).map(|(a, b)| (a.1, b.1)).collect();
        let exact: Vec<usize> =
            (0..kinds.len()).filter(|i| !is_float(kinds[*i].0, kinds[*i].1)).collect();
        for (ours, theirs) in self.sorted_by(&exact).iter().zip(expected.sorted_by(&exact)) {
            let same = (0..kinds.len()).all(|i| same(kinds[i], &ours[i], &theirs[i]));
            ensure!(same, "row {} instead of {}", text(ours), text(theirs));
        }
        Ok(())
    }

    /// The rows sorted by these columns.
    fn sorted_by(&self, columns: &[usize]) -> Vec<&Row> {
        let key = |row: &&Row| {
            let row = self.canonical(row);
            columns.iter().map(|column| row[*column].clone()).collect::<Row>()
        };
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_cached_key(key);
        rows
    }

    /// Fails unless the columns have these names, and are numeric where these are.
    pub(crate) fn has_columns(&self, expected: &[(String, Kind)]) -> Result<()> {
        let names = |columns: &[(String, Kind)]| {
            columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>().join(", ")
        };
        let (ours, theirs) = (names(&self.columns), names(expected));
        ensure!(ours == theirs, "columns {ours} instead of {theirs}");
        for ((name, ours), (_, theirs)) in self.columns.iter().zip(expected) {
            let fits = (*ours == Kind::Text) == (*theirs == Kind::Text);
            ensure!(fits, "column {name} is {ours:?} instead of {theirs:?}");
        }
        Ok(())
    }

    /// Checks the order of the rows against the query's ORDER BY.
    ///
    /// # Errors
    /// If two rows are in the wrong order, or a column of ORDER BY is missing.
    pub fn is_ordered_as(&self, sql: &str) -> Result<()> {
        let keys: Vec<(usize, bool)> = order_by(sql)
            .map(|(name, down)| Ok((self.column(name)?, down)))
            .collect::<Result<_>>()?;
        for pair in self.rows.windows(2) {
            let order = keys.iter().map(|&(column, down)| {
                let order = compare(self.columns[column].1, &pair[0][column], &pair[1][column]);
                if down { order.reverse() } else { order }
            });
            let order = order.fold(Ordering::Equal, Ordering::then);
            let (first, second) = (text(&pair[0]), text(&pair[1]));
            ensure!(order.is_le(), "row {first} comes before {second}");
        }
        Ok(())
    }

    fn column(&self, name: &str) -> Result<usize> {
        let position = self.columns.iter().position(|(column, _)| column == name);
        position.with_context(|| format!("the answer has no column {name}"))
    }

    /// The cells of a row without trailing zeros of decimals and trailing blanks.
    pub(crate) fn canonical(&self, row: &Row) -> Row {
        let cells = row.iter().zip(&self.columns);
        cells.map(|(cell, (_, kind))| Some(canonical(*kind, cell.as_deref()?))).collect()
    }
}

fn canonical(kind: Kind, cell: &str) -> String {
    match kind {
        Kind::Exact if cell.contains('.') => {
            cell.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Kind::Exact | Kind::Float => cell.to_owned(),
        Kind::Text => cell.trim_end().to_owned(),
    }
}

/// Whether columns of these kinds are compared with tolerance.
fn is_float(ours: Kind, theirs: Kind) -> bool {
    ours == Kind::Float || theirs == Kind::Float
}

fn same(kinds: (Kind, Kind), a: &Option<String>, b: &Option<String>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return a == b };
    let quotients = kinds == (Kind::Exact, Kind::Exact) && are_quotients(a, b);
    if !is_float(kinds.0, kinds.1) && !quotients {
        return canonical(kinds.0, a) == canonical(kinds.1, b);
    }
    let (Ok(x), Ok(y)) = (a.parse::<f64>(), b.parse::<f64>()) else { return false };
    let decimals =
        [(kinds.0, a), (kinds.1, b)].into_iter().filter(|(kind, _)| *kind == Kind::Exact);
    let last_digit = decimals.map(|(_, cell)| unit_of_last_digit(cell)).fold(0.0, f64::max);
    x == y || (x - y).abs() <= last_digit + FLOAT_TOLERANCE * y.abs()
}

/// Whether two decimals are quotients with different scales: PostgreSQL computes 16 digits, DataFusion four more than the
/// dividend has, without trailing zeros. Stored columns have fewer digits.
fn are_quotients(a: &str, b: &str) -> bool {
    const FEWEST: usize = 4;
    const OF_QUOTIENTS: usize = 10;
    let digits = |text: &str| text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let (fewer, more) = (digits(a).min(digits(b)), digits(a).max(digits(b)));
    fewer != more && fewer >= FEWEST && more >= OF_QUOTIENTS
}

/// 0.001 for "12.345".
fn unit_of_last_digit(decimal: &str) -> f64 {
    let digits = decimal.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    10f64.powi(-i32::try_from(digits).unwrap_or(i32::MAX))
}

/// NULL sorts last, as in PostgreSQL's ascending order.
fn compare(kind: Kind, a: &Option<String>, b: &Option<String>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if kind == Kind::Text => a.cmp(b),
        (Some(a), Some(b)) => {
            let number = |cell: &str| cell.parse::<f64>().unwrap_or(f64::NAN);
            number(a).total_cmp(&number(b))
        }
        _ => a.is_none().cmp(&b.is_none()),
    }
}

/// The result columns of a query's last ORDER BY, and whether each is descending.
fn order_by(sql: &str) -> impl Iterator<Item = (&str, bool)> {
    let keys = sql.rsplit_once("order by ").map_or("", |(_, keys)| keys);
    let keys = keys.split("limit").next().unwrap_or_default();
    let keys = keys.split(',').map(str::trim).filter(|key| !key.is_empty());
    keys.map(|key| key.strip_suffix(" desc").map_or((key, false), |name| (name, true)))
}

pub(crate) fn text(row: &Row) -> String {
    let cells = row.iter().map(|cell| cell.as_deref().unwrap_or("NULL"));
    format!("({})", cells.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Decimal128Array, Float64Array, Int64Array, StringViewArray};
    use std::sync::Arc;

    fn answer(kinds: &[Kind], rows: &[&[&str]]) -> Answer {
        let columns = kinds.iter().enumerate().map(|(i, kind)| (format!("c{i}"), *kind)).collect();
        let cell = |cell: &&str| (*cell != "NULL").then(|| (*cell).to_owned());
        Answer { columns, rows: rows.iter().map(|row| row.iter().map(cell).collect()).collect() }
    }

    #[test]
    fn batches_become_text() {
        let decimals = Decimal128Array::from(vec![Some(1250), None]);
        let decimals = decimals.with_precision_and_scale(15, 2).unwrap();
        let columns: [(&str, ArrayRef); 4] = [
            ("d", Arc::new(decimals)),
            ("i", Arc::new(Int64Array::from(vec![7, -7]))),
            ("f", Arc::new(Float64Array::from(vec![0.1, 2.5]))),
            ("t", Arc::new(StringViewArray::from(vec!["a", "b  "]))),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.map(|(name, column)| (name, column, true)),
        )
        .unwrap();
        let answer = Answer::of(&batch.schema(), &[batch]).unwrap();
        let kinds: Vec<Kind> = answer.columns.iter().map(|(_, kind)| *kind).collect();
        assert_eq!(kinds, [Kind::Exact, Kind::Exact, Kind::Float, Kind::Text]);
        assert_eq!(text(&answer.rows[0]), "(12.50, 7, 0.1, a)");
        assert_eq!(text(&answer.canonical(&answer.rows[0])), "(12.5, 7, 0.1, a)");
        assert_eq!(text(&answer.canonical(&answer.rows[1])), "(NULL, -7, 2.5, b)");
    }

    #[test]
    fn row_order_trailing_zeros_and_blanks_are_ignored_but_digits_are_not() {
        let kinds = [Kind::Text, Kind::Exact];
        let ours = answer(&kinds, &[&["b", "2.50"], &["a  ", "1"], &["a", "NULL"]]);
        let theirs = answer(&kinds, &[&["a", "NULL"], &["a", "1.00"], &["b", "2.5"]]);
        ours.agrees_with(&theirs).unwrap();
        for bad in [["b", "2.51"], ["c", "2.5"], ["b", "NULL"]] {
            let theirs = answer(&kinds, &[&["a", "NULL"], &["a", "1.00"], &bad]);
            ours.agrees_with(&theirs).unwrap_err();
        }
        ours.agrees_with(&answer(&kinds, &[&["a", "1"]])).unwrap_err();
        ours.agrees_with(&answer(&[Kind::Text], &[])).unwrap_err();
        ours.agrees_with(&answer(&[Kind::Text, Kind::Text], &[])).unwrap_err();
    }

    #[test]
    fn floats_are_compared_with_tolerance_and_decimals_to_their_last_digit() {
        let agree = |ours, a, theirs, b| {
            answer(&[ours], &[&[a]]).agrees_with(&answer(&[theirs], &[&[b]])).is_ok()
        };
        assert!(agree(Kind::Float, "1000.0000001", Kind::Float, "1000"));
        assert!(!agree(Kind::Float, "1000.00001", Kind::Float, "1000"));
        assert!(agree(Kind::Exact, "25.522005", Kind::Float, "25.522005853257337"));
        assert!(!agree(Kind::Exact, "25.522003", Kind::Float, "25.522005853257337"));
        assert!(!agree(Kind::Exact, "25.52", Kind::Exact, "25.53"));
        assert!(agree(Kind::Exact, "25.5220058532573370", Kind::Exact, "25.522005"));
        assert!(!agree(Kind::Exact, "25.5220078532573370", Kind::Exact, "25.522005"));
        assert!(agree(Kind::Exact, "38284.4677608483039069", Kind::Exact, "38284.46776"));
        assert!(!agree(Kind::Exact, "1413082168.0541", Kind::Exact, "1413082168.05414"));
        assert!(agree(Kind::Text, "ironic. theodolites ", Kind::Text, "ironic. theodolites"));
    }

    #[test]
    fn rows_in_the_wrong_order_are_found() {
        let sql = "select c0, c1 from t order by c1 desc, c0\nlimit 10";
        let kinds = [Kind::Text, Kind::Exact];
        let ordered = answer(&kinds, &[&["z", "10"], &["a", "9.5"], &["a", "9.5"], &["b", "9.5"]]);
        ordered.is_ordered_as(sql).unwrap();
        answer(&kinds, &[&["a", "9.5"], &["z", "10"]]).is_ordered_as(sql).unwrap_err();
        answer(&kinds, &[&["b", "9.5"], &["a", "9.5"]]).is_ordered_as(sql).unwrap_err();
        answer(&kinds, &[&["b", "1"], &["a", "2"]]).is_ordered_as("select c0 from t").unwrap();
    }
}
