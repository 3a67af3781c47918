//! Joins of two tables, of which one has few rows: for each of them, the rows of the other are read by its key or an index
//! (an index nested-loop join).
//!
//! The columns of the first table that the condition of the second reads are further parameters of that condition.

use crate::condition::{Condition, is_plain};
use crate::limits::Limits;
use crate::names::bare;
use crate::order::options_of;
use crate::outputs::{count_of, item_of};
use crate::plain;
use crate::read::{Read, batch, has_one_type_each};
use crate::sides::{Part, Side, Sides};
use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, UInt32Array, new_null_array};
use datafusion::arrow::compute::{
    SortColumn, SortOptions, concat_batches, lexsort_to_indices, take_record_batch,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::ScalarValue;
use grammar::tree::{NodeEnum, SelectStmt};
use std::sync::Arc;
use store::TableView;
use store::catalog::{SqlType, Table, TableId};
use values::error::Result;

/// Rows of the first table, at most. The planner's joins are faster for more.
const OUTER_MAX: usize = 128;

/// Rows of the second table that are looked at, at most.
const INNER_MAX: usize = 1 << 12;

/// A join of two tables.
#[derive(Debug)]
pub struct Join {
    outer: Read,
    inner: Read,
    /// Whether an outer row without inner ones is a row of the result, with NULLs.
    is_left: bool,
    inner_schema: SchemaRef,
    /// The number of the statement's own parameters. Those behind them are values of the outer row.
    own: usize,
    /// The positions in the outer rows of these values.
    passed: Vec<usize>,
    /// The columns of the result, then those by which it is sorted.
    columns: Vec<At>,
    order: Vec<SortOptions>,
    limits: Limits,
    schema: SchemaRef,
    /// The names of the result's columns.
    names: Vec<String>,
    is_count: bool,
}

/// A column of the joined rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct At {
    is_outer: bool,
    /// The position among the columns that are read.
    place: usize,
}

/// What a query says, when its tables are known.
struct Parts {
    /// The columns of the result, then those by which it is sorted, by table.
    columns: Vec<(usize, usize)>,
    order: Vec<SortOptions>,
    limits: Limits,
    names: Vec<String>,
    is_count: bool,
}

impl Join {
    /// The join of the tables of a query, with its condition: a left join, or an inner one. `None` if it is none with few
    /// rows.
    pub fn recognise(
        sides: [Side<'_>; 2],
        (is_left, on): (bool, Option<&NodeEnum>),
        query: &SelectStmt,
    ) -> Option<Self> {
        if !plain::is_plain(query) || sides[0].called == sides[1].called {
            return None;
        }
        let sides = Sides(sides);
        let parts = Parts::of(&sides, query)?;
        let mut conjuncts = Vec::new();
        if let Some(on) = on {
            sides.collect(on, true, &mut conjuncts)?;
        }
        if let Some(filter) = query.where_clause.as_deref() {
            sides.collect(filter.node.as_ref()?, false, &mut conjuncts)?;
        }
        let own = grammar::greatest_parameter(&NodeEnum::SelectStmt(Box::new(query.clone())))?;
        if is_left {
            // Other conditions of the join do not remove outer rows, others of WHERE remove rows with NULLs.
            let fits = |part: &Part| part.is_on == part.reads[1];
            let join = Self::with_outer(&sides, 0, &conjuncts, own, &parts);
            return join.filter(|_| conjuncts.iter().all(fits)).map(Self::left);
        }
        (0..2).find_map(|outer| Self::with_outer(&sides, outer, &conjuncts, own, &parts))
    }

    /// The same as a left join.
    fn left(self) -> Self {
        let nullable = |schema: &SchemaRef| {
            let fields = schema.fields().iter().map(|field| field.as_ref().clone());
            Arc::new(Schema::new(fields.map(|of| of.with_nullable(true)).collect::<Vec<_>>()))
        };
        let schema = if self.is_count { self.schema } else { nullable(&self.schema) };
        Self { is_left: true, inner_schema: nullable(&self.inner_schema), schema, ..self }
    }

    fn with_outer(
        sides: &Sides<'_>,
        outer: usize,
        conjuncts: &[Part],
        own: usize,
        parts: &Parts,
    ) -> Option<Self> {
        let inner = 1 - outer;
        let (condition, of_inner, passed) = conditions(sides, outer, conjuncts, own)?;
        let columns_of = |side: usize| {
            let of_side = parts.columns.iter().filter(move |(of, _)| *of == side);
            let mut columns: Vec<usize> = of_side.map(|(_, column)| *column).collect();
            columns.extend(passed.iter().filter(|_| side == outer));
            columns.sort_unstable();
            columns.dedup();
            columns
        };
        let [read_outer, read_inner] = [columns_of(outer), columns_of(inner)];
        let place = |side: usize, column: usize| {
            let read = if side == outer { &read_outer } else { &read_inner };
            read.iter().position(|of| *of == column)
        };
        let at = |(side, column): &(usize, usize)| {
            Some(At { is_outer: *side == outer, place: place(*side, *column)? })
        };
        let columns = parts.columns.iter().map(at).collect::<Option<Vec<At>>>()?;
        let types: Vec<&SqlType> =
            passed.iter().map(|at| &sides.0[outer].table.columns[*at].sql_type).collect();
        let passed = passed.iter().map(|column| place(outer, *column)).collect::<Option<_>>()?;
        let outer = Read::of_columns(sides.0[outer].table, condition, read_outer);
        let inner = Read::of_columns(sides.0[inner].table, of_inner, read_inner);
        let is_compared_alike = |(number, wanted): (usize, SqlType)| {
            number < own || types.get(number - own).is_some_and(|of| are_alike(of, &wanted))
        };
        if !inner.parameters().into_iter().all(is_compared_alike) {
            return None;
        }
        let field = |at: &At| {
            let read = if at.is_outer { &outer } else { &inner };
            read.schema().field(at.place).clone()
        };
        let mut fields: Vec<Field> = columns.iter().map(field).collect();
        if parts.is_count {
            fields = vec![Field::new(&parts.names[0], DataType::Int64, false)];
        }
        let join = Self {
            is_left: false,
            inner_schema: Arc::clone(inner.schema()),
            outer,
            inner,
            own,
            passed,
            columns,
            order: parts.order.clone(),
            limits: parts.limits.clone(),
            schema: Arc::new(Schema::new(fields)),
            names: parts.names.clone(),
            is_count: parts.is_count,
        };
        has_one_type_each(join.parameters()).then_some(join)
    }

    /// The parameters, with the types of what they are compared with.
    pub fn parameters(&self) -> Vec<(usize, SqlType)> {
        let all = self.outer.parameters().into_iter().chain(self.inner.parameters());
        all.filter(|(number, _)| *number < self.own).chain(self.limits.parameters()).collect()
    }

    /// The tables: that with few rows, and that of which rows are looked up.
    pub fn tables(&self) -> [&Arc<Table>; 2] {
        [self.outer.table(), self.inner.table()]
    }

    /// The columns of the result, each with its table and its name; none if that is the number of rows.
    pub fn outputs(&self) -> impl Iterator<Item = (&Arc<Table>, usize, &String)> {
        let columns = self.columns.iter().zip(&self.names).filter(|_| !self.is_count);
        columns.map(|(at, name)| {
            let read = if at.is_outer { &self.outer } else { &self.inner };
            (read.table(), read.columns()[at.place], name)
        })
    }

    /// The name of the result, if that is the number of rows.
    pub fn count(&self) -> Option<&String> {
        self.names.first().filter(|_| self.is_count)
    }

    /// The rows in views of the tables; `None` if the planner is needed, as for rows of other servers.
    ///
    /// # Errors
    /// Those of the store; 42P02 if a parameter does not exist.
    pub fn rows(
        &self,
        view_of: impl Fn(TableId) -> Option<TableView>,
        parameters: &[ScalarValue],
    ) -> Result<Option<RecordBatch>> {
        let [outer_view, inner_view] = self.tables().map(|table| view_of(table.id));
        let Some((outer_view, inner_view)) = outer_view.zip(inner_view) else { return Ok(None) };
        if outer_view.peers().is_some() || inner_view.peers().is_some() {
            return Ok(None);
        }
        let (Some((skipped, left)), Some(own)) =
            (self.limits.cut(parameters)?, parameters.get(..self.own))
        else {
            return Ok(None);
        };
        let Some(outer) = self.outer.rows_up_to(&outer_view, parameters, OUTER_MAX + 1)? else {
            return Ok(None);
        };
        if outer.num_rows() > OUTER_MAX {
            return Ok(None);
        }
        let wanted = left.map(|left| left.saturating_add(skipped));
        let wanted = wanted.filter(|_| self.order.is_empty() && !self.is_count);
        let (mut given, mut most) = (own.to_vec(), INNER_MAX);
        for place in &self.passed {
            given.push(ScalarValue::try_from(outer.column(*place).data_type())?);
        }
        if !self.inner.has_types_of_columns(&given)? {
            return Ok(None);
        }
        let (mut found, mut places) = (Vec::new(), Vec::new());
        for row in 0..outer.num_rows() {
            if wanted.is_some_and(|wanted| places.len() >= wanted) {
                break;
            }
            given.truncate(self.own);
            for place in &self.passed {
                given.push(ScalarValue::try_from_array(outer.column(*place), row)?);
            }
            let found_here = self.inner.rows_among(&inner_view, &given, &mut most)?;
            let Some(mut rows) = found_here else { return Ok(None) };
            if rows.num_rows() == 0 {
                if !self.is_left {
                    continue;
                }
                rows = self.nulls()?;
            }
            places.extend(std::iter::repeat_n(row as u32, rows.num_rows()));
            found.push(rows);
        }
        if self.is_count {
            let number: ArrayRef = Arc::new(Int64Array::from(vec![places.len() as i64]));
            return batch(&self.schema, vec![number], 1).map(Some);
        }
        let inner = concat_batches(&self.inner_schema, &found)?;
        let outer = match outer.num_columns() {
            0 => outer,
            _ => take_record_batch(&outer, &UInt32Array::from(places))?,
        };
        let column = |at: &At| {
            let rows = if at.is_outer { &outer } else { &inner };
            Arc::clone(rows.column(at.place))
        };
        let columns = self.columns.iter().map(column).collect();
        let rows = self.sorted(batch(&self.schema, columns, inner.num_rows())?)?;
        let skipped = skipped.min(rows.num_rows());
        let left = left.unwrap_or(usize::MAX).min(rows.num_rows() - skipped);
        Ok(Some(rows.slice(skipped, left)))
    }

    /// An inner row of NULLs.
    fn nulls(&self) -> Result<RecordBatch> {
        let fields = self.inner_schema.fields().iter();
        let values = fields.map(|field| new_null_array(field.data_type(), 1)).collect();
        batch(&self.inner_schema, values, 1)
    }

    /// The rows in their order, without the columns that only that needs.
    fn sorted(&self, rows: RecordBatch) -> Result<RecordBatch> {
        if self.order.is_empty() {
            return Ok(rows);
        }
        let shown: Vec<usize> = (0..self.names.len()).collect();
        let keys = self.order.iter().zip(&rows.columns()[shown.len()..]);
        let key = |(options, values): (&SortOptions, &ArrayRef)| SortColumn {
            values: Arc::clone(values),
            options: Some(*options),
        };
        let keys: Vec<SortColumn> = keys.map(key).collect();
        let rows = match rows.num_rows() {
            0 | 1 => rows,
            _ => take_record_batch(&rows, &lexsort_to_indices(&keys, None)?)?,
        };
        Ok(rows.project(&shown)?)
    }
}

impl Parts {
    fn of(sides: &Sides<'_>, query: &SelectStmt) -> Option<Self> {
        let limits = Limits::of(query)?;
        if let Some(name) = count_of(&query.target_list) {
            let is_alone = limits.is_none() && query.sort_clause.is_empty();
            let (columns, order, names) = (Vec::new(), Vec::new(), vec![name]);
            return is_alone.then_some(Self { columns, order, limits, names, is_count: true });
        }
        let (mut columns, mut names) = (Vec::new(), Vec::new());
        for item in &query.target_list {
            let (value, name) = item_of(item)?;
            if let Some(all) = sides.all(value) {
                for (side, column, name) in all {
                    columns.push((side, column));
                    names.push(name.clone());
                }
                continue;
            }
            let (side, column) = sides.column(value)?;
            let own = &sides.0[side].table.columns[column].name;
            columns.push((side, column));
            names.push(name.unwrap_or(own).to_owned());
        }
        let mut order = Vec::new();
        for item in &query.sort_clause {
            let Some(NodeEnum::SortBy(item)) = &item.node else { return None };
            let key = item.node.as_deref()?.node.as_ref()?;
            let at = match key {
                NodeEnum::ColumnRef(reference) => match bare(&reference.fields) {
                    Some(name) => {
                        let shown = names.iter().position(|shown| shown == name);
                        shown.map_or_else(|| sides.column(key), |at| Some(columns[at]))?
                    }
                    None => sides.column(key)?,
                },
                _ => return None,
            };
            let sql_type = &sides.0[at.0].table.columns[at.1].sql_type;
            if !is_plain(sql_type) {
                return None;
            }
            columns.push(at);
            order.push(options_of(item)?);
        }
        let has_twice = |name: &&String| names.iter().filter(|other| other == name).count() > 1;
        // A name of two columns in ORDER BY is ambiguous.
        if !order.is_empty() && names.iter().any(|name| has_twice(&name)) {
            return None;
        }
        Some(Self { columns, order, limits, names, is_count: false })
    }
}

/// The conditions of the outer table and of the inner one, and the outer columns that the latter reads as parameters behind
/// `own` ones.
fn conditions(
    sides: &Sides<'_>,
    outer: usize,
    conjuncts: &[Part],
    own: usize,
) -> Option<(Condition, Condition, Vec<usize>)> {
    let inner = 1 - outer;
    let (mut of_outer, mut of_inner, mut passed) = (Vec::new(), Vec::new(), Vec::new());
    for Part { condition, reads, .. } in conjuncts {
        match (reads[outer], reads[inner]) {
            (_, false) => of_outer.push(condition.clone()),
            (false, true) => of_inner.push(condition.clone()),
            (true, true) => {
                of_inner.push(sides.with_parameters(outer, condition, own, &mut passed)?);
            }
        }
    }
    let condition = |side: usize, conjuncts: Vec<NodeEnum>| {
        let Side { table, indexes, .. } = sides.0[side];
        let condition = Condition::of_all(sides.named(side), indexes, &conjuncts)?;
        let is_looked_up = condition.finds_few(table, indexes) && !condition.has_list();
        is_looked_up.then_some(condition)
    };
    Some((condition(outer, of_outer)?, condition(inner, of_inner)?, passed))
}

/// Whether values of one type are compared with those of another as they are.
fn are_alike(one: &SqlType, other: &SqlType) -> bool {
    let is_integer =
        |of: &SqlType| matches!(of, SqlType::SmallInt | SqlType::Integer | SqlType::BigInt);
    let is_text = |of: &SqlType| matches!(of, SqlType::Text | SqlType::Varchar(_));
    is_integer(one) && is_integer(other)
        || is_text(one) && is_text(other)
        || one.imprecise() == other.imprecise()
}
