//! Scans of tables, with their predicates.

use super::{Builder, at_least_one};
use crate::flow::Flow;
use crate::terms::{Rows, listed};
use datafusion::physical_plan::ExecutionPlan;
use dbsim::plan::{Kind, Table, Task, Term};
use scan::BATCH_ROWS;
use scan::bucket_scan::BucketScan;
use scan::bucket_scan::coalesced_below;
use scan::bucket_scan::hint::HINT_ROWS;
use scan::bucket_scan::output_metrics::{ROW_RUNS, ROWS_GATHERED, ROWS_IN_PLACE};
use scan::estimate::{Column, Input, compared, copied_row_bytes, percent, row_bytes};
use scan::predicate::conjuncts::rows_left_metric;
use std::sync::Arc;
use values::{Error, Result};

/// An index is used up to this share of a table's rows.
const INDEXED: f64 = 0.01;

/// A piece with more selected rows than this is a batch of its own.
const COALESCED_MAX: f64 = coalesced_below(BATCH_ROWS) as f64;

impl Builder<'_> {
    pub(super) fn scan(
        &mut self,
        plan: &Arc<dyn ExecutionPlan>,
        scan: &BucketScan,
    ) -> Result<Flow> {
        let name = scan.name_of_table();
        let Some(table) = self.known.tables.get(&scan.table.id) else {
            return Err(Error::unsupported(format!("nothing is known of table \"{name}\"")));
        };
        if table.is_spread {
            self.guesses.note(format!("{name}: bounds of its columns as on this server"));
        }
        let read: Vec<Column> = scan.read.iter().map(|column| table.columns[*column]).collect();
        let kept = match &scan.predicate {
            Some(predicate) => {
                Input { rows: table.rows, columns: &read }.kept(predicate, &mut self.guesses)
            }
            None => 1.0,
        };
        let left = at_least_one(table.rows * kept, table.rows);
        let is_first = |limit: &usize| scan.predicate.is_none() && (*limit as f64) < left;
        let first = scan.limit.filter(is_first);
        let rows = self.counted(&**plan, first.map_or(left, |limit| limit as f64));
        let compared = scan.predicate.as_ref().map_or_else(Vec::new, compared);
        let key = scan.table.key_indices().first().copied();
        let by_key = compared.iter().any(|column| Some(scan.read[*column]) == key);
        let is_indexed = rows <= INDEXED * table.rows && (by_key || first.is_some());
        let kind = self.kind_of_scan(&name, is_indexed);
        let stored = Table {
            name: name.to_string(),
            rows: table.rows,
            row_bytes: row_bytes(&table.columns),
        };
        let columns: Vec<Column> = scan.output.iter().map(|column| read[*column]).collect();
        let (looked_at, pieces) = table.looked_at(&scan.pieces);
        let looked_at = looked_at.max(rows);
        if looked_at < table.rows {
            let left = percent(looked_at / table.rows.max(1.0));
            self.guesses.note(format!(
                "{name}: zone maps leave {left} of its rows to look at (where work is on columns)"
            ));
        }
        let input = Rows { rows: looked_at, columns: &read, schema: &scan.read_schema };
        let terms = self.terms_of_scan(scan, &input, left);
        let whole = looked_at >= pieces * COALESCED_MAX && rows >= looked_at;
        let few = rows < pieces * COALESCED_MAX && rows < looked_at;
        let rows_if = |all: bool, name: &str| {
            self.metric(scan, name).unwrap_or(if all { rows } else { 0.0 }).min(rows)
        };
        let in_place_rows = rows_if(whole, ROWS_IN_PLACE);
        let gathered_rows = rows_if(few, ROWS_GATHERED);
        let runs = self.metric(scan, ROW_RUNS);
        let flow = self.push(kind, &[], rows, columns, Some(stored));
        let operator = &mut self.operators[flow.operator];
        operator.looked_at = Some(looked_at);
        operator.pieces = pieces;
        (operator.in_place_rows, operator.gathered_rows) = (in_place_rows, gathered_rows);
        operator.read_row_bytes = row_bytes(&read);
        operator.columns = scan.read.len() as f64;
        operator.copied_columns = scan.output.len() as f64;
        let was_seen = |column: &&usize| compared.contains(column);
        let seen: Vec<Column> =
            scan.output.iter().filter(was_seen).map(|column| read[*column]).collect();
        operator.seen_row_bytes = copied_row_bytes(&seen);
        operator.terms = terms;
        operator.listed = scan.predicate.as_ref().map_or(0.0, listed);
        operator.run_rows = runs.map(|runs| (rows - in_place_rows) / runs.max(1.0));
        Ok(flow)
    }

    /// The kind of a scan. Notes an assumption about an index.
    fn kind_of_scan(&mut self, name: &str, is_indexed: bool) -> Kind {
        if !is_indexed {
            return Kind::SequentialScan;
        }
        let most = percent(INDEXED);
        self.guesses
            .note(format!("{name}: an index finds its rows, which are {most} of all or fewer"));
        Kind::IndexScan
    }

    /// A metric of a scan, if it was run.
    fn metric(&self, scan: &BucketScan, name: &str) -> Option<f64> {
        let metrics = self.was_run.then(|| scan.metrics.clone_inner())?;
        Some(metrics.sum_by_name(name)?.as_usize() as f64)
    }

    /// The computations of a scan's predicate, which leaves `left` rows, and of its dynamic filter.
    fn terms_of_scan(&self, scan: &BucketScan, input: &Rows<'_>, left: f64) -> Vec<Term> {
        let mut terms = scan.predicate.as_ref().map_or_else(Vec::new, |predicate| {
            input.filtered(predicate, |at| self.metric(scan, &rows_left_metric(at)))
        });
        if let Some(hint) = &scan.hint {
            let values = self.metric(scan, HINT_ROWS).unwrap_or(left);
            if scan.predicate.is_some() {
                terms.extend(input.chosen(values, hint));
            }
            terms.push(Term::new(Task::Find, values, 0.0));
        }
        terms
    }
}
