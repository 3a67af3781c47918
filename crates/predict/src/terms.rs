//! The computations of expressions for the simulator: numbers of values that are compared, computed
//! and searched.
//!
//! In a conjunction, other conjuncts than plain comparisons are computed only on the rows that are
//! left, as in scans ([`scan::predicate::conjuncts`]).

use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CaseExpr, CastExpr, InListExpr, LikeExpr, Literal,
};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr, conjunction};
use dbsim::plan::{Task, Term};
use scan::estimate::{Column, Guesses, Input, chosen_row_bytes, column_of, fixed_bytes};
use scan::predicate::conjuncts::{FEW, in_order};
use scan::predicate::pattern::is_in_place;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The input rows of expressions.
pub(super) struct Rows<'a> {
    pub(super) rows: f64,
    pub(super) columns: &'a [Column],
    pub(super) schema: &'a Schema,
}

/// The number of values in all lists of an expression.
pub(super) fn listed(expr: &Arc<dyn PhysicalExpr>) -> f64 {
    let of_list = expr.downcast_ref::<InListExpr>().map_or(0, |of_list| of_list.list().len());
    of_list as f64 + expr.children().into_iter().map(listed).sum::<f64>()
}

/// By bytes of a value, the longest list that the engine compares one by one. Longer lists are
/// looked up, which takes as long as [`LOOKED_UP`] comparisons.
const COMPARED: [(f64, usize); 3] = [(4.0, 32), (8.0, 16), (16.0, 4)];
const LOOKED_UP: f64 = 4.0;

/// The number of comparisons to find a number in a list.
fn comparisons(listed: usize, bytes: f64) -> f64 {
    let compared = COMPARED.iter().any(|(width, most)| bytes <= *width && listed <= *most);
    if compared { listed as f64 } else { LOOKED_UP }
}

impl Rows<'_> {
    /// The computations of expressions.
    pub(super) fn terms<'e>(
        &self,
        exprs: impl IntoIterator<Item = &'e Arc<dyn PhysicalExpr>>,
    ) -> Vec<Term> {
        let mut terms = Vec::new();
        exprs.into_iter().for_each(|expr| self.add(expr, self.rows, &mut terms));
        terms
    }

    /// The computations of a predicate. `counted` returns the rows that a conjunct left, if the
    /// plan was run.
    pub(super) fn filtered(
        &self,
        predicate: &Arc<dyn PhysicalExpr>,
        counted: impl Fn(usize) -> Option<f64>,
    ) -> Vec<Term> {
        let (mut terms, mut left) = (Vec::new(), self.rows);
        let [plain, others] = in_order(predicate, self.schema);
        let input = Input { rows: self.rows, columns: self.columns };
        let (mut before, mut seen) = (Vec::new(), BTreeSet::new());
        let few = plain.iter().map(|part| (part, self.rows / FEW as f64));
        for (part, few) in few.chain(others.iter().map(|part| (part, f64::INFINITY))) {
            let columns: BTreeSet<usize> =
                collect_columns(part).iter().map(|column| column.index()).collect();
            let new: Vec<usize> = columns.difference(&seen).copied().collect();
            let is_text =
                |column: &&usize| fixed_bytes(self.schema.field(**column).data_type()).is_none();
            let mut new_texts = new.iter().filter(is_text).count();
            seen.extend(columns);
            let chooses = left < few && !before.is_empty();
            let first = terms.len();
            if chooses {
                terms.extend(self.chosen(left, part));
            }
            self.add(part, if chooses { left } else { self.rows }, &mut terms);
            // Columns of earlier conjuncts are in the cache.
            for term in &mut terms[first..] {
                match term.task {
                    Task::Compare if new.is_empty() => term.bytes = 0.0,
                    Task::Choose if new.is_empty() => term.part = 1.0,
                    Task::Match if new_texts == 0 => term.task = Task::MatchAgain,
                    Task::Match => new_texts -= 1,
                    _ => {}
                }
            }
            before.push(Arc::clone(part));
            left = counted(before.len() - 1).unwrap_or_else(|| {
                self.rows * input.kept(&conjunction(before.clone()), &mut Guesses::default())
            });
        }
        terms
    }

    /// The computations for selecting `some` of the rows, and copying the columns of `expr`. LIKE
    /// reads them in place.
    pub(super) fn chosen(&self, some: f64, expr: &Arc<dyn PhysicalExpr>) -> Vec<Term> {
        let columns: Vec<Column> = collect_columns(expr)
            .iter()
            .filter_map(|column| self.columns.get(column.index()).copied())
            .collect();
        let part = some / self.rows.max(some).max(1.0);
        let of = |task, values, bytes| Term { part, ..Term::new(task, values, bytes) };
        let mut terms = vec![Term::new(Task::Pass, self.rows, 0.0)];
        if !is_in_place(expr) {
            terms.push(of(Task::Choose, some, chosen_row_bytes(&columns)));
        }
        // Long strings are not copied but fetched one by one.
        let fetched = columns.iter().filter(|column| column.lies_apart()).count() as f64;
        if fetched > 0.0 {
            terms.push(of(Task::Fetch, fetched * some, 0.0));
        }
        terms
    }

    /// The computations for finding rows by keys. The first number is part of the operator's own
    /// work.
    pub(super) fn keys<'e>(
        &self,
        keys: impl IntoIterator<Item = &'e Arc<dyn PhysicalExpr>>,
    ) -> Vec<Term> {
        let (mut terms, mut has_number) = (Vec::new(), false);
        for key in keys {
            self.add(key, self.rows, &mut terms);
            let width = self.type_of(key).and_then(|of| fixed_bytes(&of));
            match (self.bytes_of_text(key), width) {
                (Some(bytes), _) => terms.push(Term::new(Task::Key, self.rows, bytes)),
                (None, Some(bytes)) if has_number => {
                    terms.push(Term::new(Task::NumberKey, self.rows, bytes));
                }
                _ => has_number = true,
            }
        }
        terms
    }

    fn add(&self, expr: &Arc<dyn PhysicalExpr>, rows: f64, terms: &mut Vec<Term>) {
        let parts = expr.children();
        parts.iter().for_each(|part| self.add(part, rows, terms));
        let Some((task, bytes)) = parts.first().and_then(|value| self.task(expr, value)) else {
            return;
        };
        terms.push(Term::new(task, rows, bytes));
        if let (Task::Compare, Some(of_list)) = (task, expr.downcast_ref::<InListExpr>()) {
            let compared = comparisons(of_list.list().len(), bytes);
            terms.push(Term::new(Task::Among, rows * compared, 0.0));
        }
    }

    /// The task of an expression on the values of its first argument, and their bytes; `None` if it
    /// costs next to nothing: AND, NOT, IS NULL and columns.
    fn task(
        &self,
        expr: &Arc<dyn PhysicalExpr>,
        value: &Arc<dyn PhysicalExpr>,
    ) -> Option<(Task, f64)> {
        let text = self.bytes_of_text(value);
        let width = |value: &Arc<dyn PhysicalExpr>| fixed_bytes(&self.type_of(value)?);
        let compared = || match text {
            Some(bytes) => Some((Task::Match, bytes)),
            None => Some((Task::Compare, width(value)?)),
        };
        if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
            return match binary.op() {
                Operator::And | Operator::Or => None,
                Operator::Eq
                | Operator::NotEq
                | Operator::Lt
                | Operator::LtEq
                | Operator::Gt
                | Operator::GtEq
                | Operator::IsDistinctFrom
                | Operator::IsNotDistinctFrom => compared(),
                _ => Some((Task::Calculate, width(expr).or(text)?)),
            };
        }
        if let Some(like) = expr.downcast_ref::<LikeExpr>() {
            let constant = like.pattern().downcast_ref::<Literal>().map(Literal::value);
            let pattern = constant.and_then(ScalarValue::try_as_str).flatten();
            let is_prefix = pattern.is_some_and(|pattern| !pattern.starts_with(['%', '_']));
            return Some((if is_prefix { Task::Match } else { Task::Search }, text?));
        }
        if expr.downcast_ref::<InListExpr>().is_some() {
            return compared();
        }
        let computes = expr.downcast_ref::<CastExpr>().is_some()
            || expr.downcast_ref::<CaseExpr>().is_some()
            || expr.downcast_ref::<ScalarFunctionExpr>().is_some();
        match text {
            Some(bytes) if computes => Some((Task::Search, bytes)),
            _ if computes => Some((Task::Calculate, width(expr)?)),
            _ => None,
        }
    }

    /// Bytes of an expression's values, if these are strings.
    pub(super) fn bytes_of_text(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<f64> {
        let data_type = self.type_of(expr)?;
        if fixed_bytes(&data_type).is_some() {
            return None;
        }
        let column = column_of(expr).and_then(|column| self.columns.get(column).copied());
        Some(column.unwrap_or_else(|| Column::of_type(&data_type)).bytes)
    }

    fn type_of(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<DataType> {
        expr.data_type(self.schema).ok()
    }
}
