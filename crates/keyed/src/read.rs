//! A query of one table by its key, and its execution.

use crate::condition::Condition;
use crate::filter::Bound;
use crate::keys::{Keys, point};
use crate::limits::{Cut, Limits};
use crate::names::Named;
use crate::operand::Operand;
use crate::order::{self, Order};
use crate::{outputs, plain};
use datafusion::arrow::array::{
    ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array,
};
use datafusion::arrow::compute::{
    SortColumn, and, concat_batches, filter_record_batch, lexsort_to_indices, take_record_batch,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::ScalarValue;
use grammar::tree::{NodeEnum, SelectStmt};
use scan::provider::plan_schema;
use sdds::{Key, KeyRange};
use std::collections::HashMap;
use std::sync::Arc;
use store::catalog::{Index, SqlType, Table};
use store::{End, Morsel, TableView, Walk};
use values::error::Result;

/// Rows that are read, at most. The planner divides the work of more among threads.
const ROWS_MAX: usize = 1 << 10;

/// Rows that are read, at most, with those that have been deleted a short time ago.
const PASSED_MAX: usize = 1 << 14;

/// Rows of a range of keys that are read without an index, at most.
const ROWS_FEW: usize = 32;

/// Rows that are read first, at least, if a limit or a filter decides how many are needed.
const ROWS_AT_FIRST: usize = 16;

/// A query of one table by its key.
#[derive(Debug)]
pub struct Read {
    table: Arc<Table>,
    condition: Condition,
    order: Order,
    limits: Limits,
    /// The table's columns that are read: those of the result, those by which rows are sorted, then those of the filters.
    columns: Vec<usize>,
    read_schema: SchemaRef,
    /// The schema of the rows, without the columns of the filters.
    sorted_schema: SchemaRef,
    /// The schema of the rows of the result.
    schema: SchemaRef,
    /// The schema of the result, if that is the number of rows.
    counted: Option<SchemaRef>,
    /// The names of the result's columns.
    names: Vec<String>,
}

impl Read {
    /// The query of a table with these indexes, the only one in its FROM, where it has another name if it is given
    /// one; `None` for a query that is none by key.
    pub fn recognise(
        (table, indexes): (&Arc<Table>, &[Arc<Index>]),
        called: Option<&str>,
        query: &SelectStmt,
    ) -> Option<Self> {
        if !plain::is_plain(query) {
            return None;
        }
        let named = Named { table, called: called.unwrap_or(&table.name) };
        let count = outputs::count_of(&query.target_list);
        let outputs = match &count {
            Some(_) => Vec::new(),
            None => outputs::of(named, &query.target_list)?,
        };
        let condition = match query.where_clause.as_deref() {
            Some(condition) => Condition::of(named, indexes, Some(condition.node.as_ref()?))?,
            None => Condition::of(named, indexes, None)?,
        };
        let order = order::of(named, &condition, &outputs, &query.sort_clause)?;
        let limits = Limits::of(query)?;
        if count.is_some() && (!limits.is_none() || !query.sort_clause.is_empty()) {
            return None;
        }
        let (columns, mut names): (Vec<usize>, Vec<String>) = outputs.into_iter().unzip();
        let counted = count.map(|name| {
            let number = Field::new(&name, DataType::Int64, false);
            names.push(name);
            Arc::new(Schema::new(vec![number]))
        });
        let read = Self { limits, counted, names, ..Self::new(table, condition, order, columns) };
        read.has_one_type_a_parameter().then_some(read)
    }

    /// All rows of a table with these indexes, with all columns, that fulfil a condition; the table has another name in it if it is given one.
    /// `None` for other conditions than those of queries.
    pub fn of_rows(
        (table, indexes): (&Arc<Table>, &[Arc<Index>]),
        called: Option<&str>,
        condition: &NodeEnum,
    ) -> Option<Self> {
        let named = Named { table, called: called.unwrap_or(&table.name) };
        let condition = Condition::of(named, indexes, Some(condition))?;
        let read = Self::of_columns(table, condition, (0..table.columns.len()).collect());
        read.has_one_type_a_parameter().then_some(read)
    }

    /// Some columns of all rows that fulfil a condition.
    pub(crate) fn of_columns(
        table: &Arc<Table>,
        condition: Condition,
        columns: Vec<usize>,
    ) -> Self {
        Self::new(table, condition, Order::Key(End::First), columns)
    }

    /// A query for some columns, without limits.
    fn new(table: &Arc<Table>, condition: Condition, order: Order, shown: Vec<usize>) -> Self {
        let schema = Arc::new(plan_schema(table, &shown));
        let mut columns = shown;
        columns.extend(order.columns().iter().map(|key| key.column));
        let sorted_schema = Arc::new(plan_schema(table, &columns));
        columns.extend(condition.filters.iter().map(|filter| filter.column));
        let read_schema = Arc::new(plan_schema(table, &columns));
        let table = Arc::clone(table);
        let (limits, counted, names) = Default::default();
        Self {
            table,
            condition,
            order,
            limits,
            columns,
            read_schema,
            sorted_schema,
            schema,
            counted,
            names,
        }
    }

    /// The parameters, with the types of what they are compared with.
    pub fn parameters(&self) -> Vec<(usize, SqlType)> {
        let of_condition = self.condition.parameters(&self.table).into_iter();
        of_condition.chain(self.limits.parameters()).collect()
    }

    fn has_one_type_a_parameter(&self) -> bool {
        has_one_type_each(self.parameters())
    }

    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The values of all key columns, if this reads one row by its key.
    pub fn point(&self) -> Option<&[Operand]> {
        let is_other = !self.limits.is_none() || self.is_count();
        self.condition.point(&self.table).filter(|_| !is_other)
    }

    /// Whether the condition restricts the first key column.
    pub fn is_by_key(&self) -> bool {
        self.condition.has_key()
    }

    /// The key of the one row that this reads; `None` if a value is not of its column's type.
    ///
    /// # Errors
    /// 42P02 if a parameter does not exist.
    pub fn key(&self, parameters: &[ScalarValue]) -> Result<Option<Key>> {
        self.point().map_or(Ok(None), |operands| point(&self.table, operands, parameters))
    }

    /// The table's columns of the result; none if that is the number of rows.
    pub fn columns(&self) -> &[usize] {
        &self.columns[..self.schema.fields().len()]
    }

    /// Whether the result is the number of rows.
    pub fn is_count(&self) -> bool {
        self.counted.is_some()
    }

    /// The names of the result's columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The schema of the rows.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The rows in a view whose rows are all on this server; `None` if the planner is needed.
    ///
    /// # Errors
    /// Those of the store; 42P02 if a parameter does not exist.
    pub fn rows(
        &self,
        view: &TableView,
        parameters: &[ScalarValue],
    ) -> Result<Option<RecordBatch>> {
        match self.limits.cut(parameters)? {
            Some(limits) => self.rows_within(view, parameters, limits),
            None => Ok(None),
        }
    }

    /// The rows in a view of several servers, if this one owns all keys that the condition admits; `None` if the planner is
    /// needed. Indexes are not read: their entries may be on others.
    ///
    /// # Errors
    /// As of [`Self::rows`]; 40001 if the rows move meanwhile.
    pub fn rows_here(
        &self,
        view: &TableView,
        parameters: &[ScalarValue],
    ) -> Result<Option<RecordBatch>> {
        let Some(limits) = self.limits.cut(parameters)? else { return Ok(None) };
        let Some(keys) = self.condition.keys(&self.table, parameters)? else { return Ok(None) };
        let Some(filters) = self.filters(parameters)? else { return Ok(None) };
        let is_plain = self.condition.has_key() && self.condition.by_expression.is_none();
        if !is_plain || self.condition.is_open(parameters)? != Some(true) {
            return Ok(None);
        }
        let wanted = limits.1.map(|left| left.saturating_add(limits.0));
        let is_sorted = !self.order.columns().is_empty();
        let found = match keys {
            Keys::Listed(keys) if keys.iter().all(|key| view.owns(&KeyRange::point(key))) => {
                Some(self.listed(view, &keys, &filters)?)
            }
            Keys::Within(range) if view.owns(&range) => {
                self.within(view, &range, &filters, wanted.filter(|_| !is_sorted))?
            }
            _ => None,
        };
        found.map(|found| self.cut(self.sorted(found)?, limits)).transpose()
    }

    /// As [`Self::rows`], of a query without limits, not more than `limit`.
    ///
    /// # Errors
    /// As of [`Self::rows`].
    pub fn rows_up_to(
        &self,
        view: &TableView,
        parameters: &[ScalarValue],
        limit: usize,
    ) -> Result<Option<RecordBatch>> {
        self.rows_within(view, parameters, (0, Some(limit)))
    }

    fn rows_within(
        &self,
        view: &TableView,
        parameters: &[ScalarValue],
        (skipped, left): Cut,
    ) -> Result<Option<RecordBatch>> {
        let Some(keys) = self.condition.keys(&self.table, parameters)? else { return Ok(None) };
        let Some(filters) = self.filters(parameters)? else { return Ok(None) };
        let limits = (skipped, left);
        match self.condition.is_open(parameters)? {
            Some(true) => {}
            Some(false) => {
                let nothing = RecordBatch::new_empty(Arc::clone(&self.sorted_schema));
                return self.cut(nothing, limits).map(Some);
            }
            None => return Ok(None),
        }
        let wanted = left.map(|left| left.saturating_add(skipped));
        let is_sorted = !self.order.columns().is_empty();
        let found = match keys {
            Keys::Listed(keys) => Some(self.listed(view, &keys, &filters)?),
            Keys::Within(range) => {
                let of = (view, &range);
                if let Some(found) = self.in_index_order(of, parameters, &filters, wanted)? {
                    return self.cut(found, limits).map(Some);
                }
                let by_range = wanted.is_none() || is_sorted;
                match self.by_index(of, parameters, ROWS_MAX, by_range)? {
                    Some(keys) => Some(self.named(view, keys, &filters)?),
                    None if self.condition.by_expression.is_some() => None,
                    None => self.within(view, &range, &filters, wanted.filter(|_| !is_sorted))?,
                }
            }
        };
        found.map(|found| self.cut(self.sorted(found)?, limits)).transpose()
    }

    /// All rows, of which not more than `most` are looked at, of a query without order and limits; `most` becomes what is
    /// left. `None` if the planner is needed.
    ///
    /// # Errors
    /// As of [`Self::rows`].
    pub(crate) fn rows_among(
        &self,
        view: &TableView,
        parameters: &[ScalarValue],
        most: &mut usize,
    ) -> Result<Option<RecordBatch>> {
        let Some(keys) = self.condition.keys(&self.table, parameters)? else { return Ok(None) };
        let Some(filters) = self.filters(parameters)? else { return Ok(None) };
        match self.condition.is_open(parameters)? {
            Some(true) => {}
            Some(false) => {
                return Ok(Some(RecordBatch::new_empty(Arc::clone(&self.sorted_schema))));
            }
            None => return Ok(None),
        }
        let limit = (*most).min(ROWS_MAX);
        let keys = match keys {
            Keys::Listed(keys) => (keys, false),
            Keys::Within(range) => match self.by_index((view, &range), parameters, limit, true)? {
                Some(keys) => keys,
                None if self.condition.by_expression.is_some() => return Ok(None),
                None => {
                    let mut walk = view.walk(&range, self.order.from())?;
                    let Some(morsels) = few(&mut walk, limit) else { return Ok(None) };
                    *most -= morsels.iter().map(Morsel::rows).sum::<usize>();
                    return self.all_of(&morsels, &filters).map(Some);
                }
            },
        };
        let Some(left) = most.checked_sub(keys.0.len()) else { return Ok(None) };
        *most = left;
        self.named(view, keys, &filters).map(Some)
    }

    /// The rows that an index names, given whether they fulfil the filters.
    fn named(
        &self,
        view: &TableView,
        (keys, is_exact): (Vec<Key>, bool),
        filters: &[Bound],
    ) -> Result<RecordBatch> {
        match is_exact && self.sorted_schema.fields().is_empty() {
            true => batch(&self.sorted_schema, Vec::new(), keys.len()),
            false => self.listed(view, &keys, if is_exact { &[] } else { filters }),
        }
    }

    /// As [`Condition::keys_by_index`]. Few rows of a range of keys are read without an index that names more.
    fn by_index(
        &self,
        (view, range): (&TableView, &KeyRange),
        parameters: &[ScalarValue],
        limit: usize,
        by_range: bool,
    ) -> Result<Option<(Vec<Key>, bool)>> {
        let named =
            |limit| self.condition.keys_by_index((view, range), parameters, limit, by_range);
        let is_choice = self.condition.has_key() && self.condition.admits_indexes();
        if is_choice && limit > ROWS_FEW {
            if let Some(few) = named(ROWS_FEW)? {
                return Ok(Some(few));
            }
            if few(&mut view.walk(range, End::First)?, ROWS_FEW).is_some() {
                return Ok(None);
            }
        }
        named(limit)
    }

    /// Whether the values of the condition are of the types of their columns.
    pub(crate) fn has_types_of_columns(&self, parameters: &[ScalarValue]) -> Result<bool> {
        let keys = self.condition.keys(&self.table, parameters)?;
        Ok(keys.is_some() && self.filters(parameters)?.is_some())
    }

    /// The filters with their values; `None` if one has a value of another type than its column.
    fn filters(&self, parameters: &[ScalarValue]) -> Result<Option<Vec<Bound>>> {
        let filters = self.condition.filters.iter();
        filters.map(|filter| filter.bind(&self.table, parameters)).collect()
    }

    /// The rows of morsels that fulfil filters.
    fn all_of(&self, morsels: &[Morsel], filters: &[Bound]) -> Result<RecordBatch> {
        let selected = |morsel: &Morsel| self.selected(self.read(morsel)?, filters);
        let batches = morsels.iter().map(selected).collect::<Result<Vec<_>>>()?;
        Ok(concat_batches(&self.sorted_schema, &batches)?)
    }

    /// The result of the rows that were found: their number, or those within the limits.
    fn cut(&self, found: RecordBatch, (skipped, left): Cut) -> Result<RecordBatch> {
        if let Some(schema) = &self.counted {
            let number: ArrayRef = Arc::new(Int64Array::from(vec![found.num_rows() as i64]));
            return batch(schema, vec![number], 1);
        }
        let skipped = skipped.min(found.num_rows());
        let left = left.unwrap_or(usize::MAX).min(found.num_rows() - skipped);
        let found = found.slice(skipped, left);
        match found.num_columns() > self.schema.fields().len() {
            true => shown(&self.schema, &found),
            false => Ok(found),
        }
    }

    /// The rows, sorted by the columns of the order.
    fn sorted(&self, found: RecordBatch) -> Result<RecordBatch> {
        let keys = self.order.columns();
        if keys.is_empty() || found.num_rows() < 2 {
            return Ok(found);
        }
        let values = &found.columns()[self.schema.fields().len()..];
        let keys: Vec<SortColumn> = keys
            .iter()
            .zip(values)
            .map(|(key, values)| SortColumn {
                values: Arc::clone(values),
                options: Some(key.options),
            })
            .collect();
        Ok(take_record_batch(&found, &lexsort_to_indices(&keys, None)?)?)
    }

    /// The rows in the order of an index, at least as many as `wanted` if there are. `None` if no index has this order, or
    /// if too many are read.
    fn in_index_order(
        &self,
        (view, range): (&TableView, &KeyRange),
        parameters: &[ScalarValue],
        filters: &[Bound],
        wanted: Option<usize>,
    ) -> Result<Option<RecordBatch>> {
        let Some(wanted) = wanted.filter(|wanted| *wanted <= ROWS_MAX) else { return Ok(None) };
        if view.indexes().is_empty() {
            return Ok(None);
        }
        let ordered = self.condition.ordered_entries((view, range), parameters, &self.order)?;
        let Some((file, entries, from, is_exact)) = ordered else { return Ok(None) };
        let filters = if is_exact { &[] } else { filters };
        let is_by_key = self.order.columns().is_empty();
        let mut at_once = wanted;
        loop {
            let mut keys = file.entries_from(&entries, at_once, from)?;
            let is_all = keys.len() < at_once;
            keys.retain(|key| range.contains(key));
            if is_by_key {
                keys.sort_unstable();
            }
            let found = self.listed(view, &keys, filters)?;
            if is_all || found.num_rows() >= wanted {
                return Ok(Some(found));
            }
            if at_once == ROWS_MAX {
                return Ok(None);
            }
            at_once = (at_once * 4).min(ROWS_MAX);
        }
    }

    /// The rows of keys in the order of the query.
    fn listed(&self, view: &TableView, keys: &[Key], filters: &[Bound]) -> Result<RecordBatch> {
        let (wanted, schema) = match filters {
            [] => (&self.columns[..self.sorted_schema.fields().len()], &self.sorted_schema),
            _ => (self.columns.as_slice(), &self.read_schema),
        };
        let (columns, rows) = match keys {
            [key] => match view.get(key, wanted)? {
                Some(values) => (values, 1),
                None => return Ok(RecordBatch::new_empty(Arc::clone(&self.sorted_schema))),
            },
            keys => {
                let (columns, found) = view.get_many(keys, wanted)?;
                (columns, found.len())
            }
        };
        self.selected(batch(schema, columns, rows)?, filters)
    }

    /// The rows of a range in the order of the query, at least as many as `wanted` if there are;
    /// `None` if too many are read.
    fn within(
        &self,
        view: &TableView,
        range: &KeyRange,
        filters: &[Bound],
        wanted: Option<usize>,
    ) -> Result<Option<RecordBatch>> {
        let mut walk = view.walk(range, self.order.from())?;
        let mut batches = Vec::new();
        let Some(wanted) = wanted else {
            let Some(morsels) = few(&mut walk, ROWS_MAX) else { return Ok(None) };
            return self.all_of(&morsels, filters).map(Some);
        };
        if wanted > ROWS_MAX {
            return Ok(None);
        }
        let mut at_once = wanted.max(ROWS_AT_FIRST);
        let (mut found, mut read, mut passed) = (0, 0, 0);
        while found < wanted {
            let Some(morsel) = walk.next_rows(at_once) else { break };
            let batch = self.read(&morsel)?;
            (read, passed) = (read + batch.num_rows(), passed + morsel.rows());
            if read > 2 * ROWS_MAX || passed > PASSED_MAX {
                return Ok(None);
            }
            let batch = self.selected(batch, filters)?;
            found += batch.num_rows();
            batches.push(batch);
            at_once = (at_once * 2).min(ROWS_MAX);
        }
        Ok(Some(concat_batches(&self.sorted_schema, &batches)?))
    }

    fn read(&self, morsel: &Morsel) -> Result<RecordBatch> {
        Ok(morsel.read(&self.columns, &self.read_schema).map_err(store::Error::from)?)
    }

    /// The columns of the result and of the order, of rows that fulfil the filters; of rows in key order in the order of the
    /// query, if that is one of the key.
    fn selected(&self, rows: RecordBatch, filters: &[Bound]) -> Result<RecordBatch> {
        let is_forward = self.order.from() == End::First;
        if filters.is_empty() && (is_forward || rows.num_rows() <= 1) {
            return Ok(rows);
        }
        let kept = self.sorted_schema.fields().len();
        let mut mask = None;
        for (filter, column) in filters.iter().zip(&rows.columns()[kept..]) {
            let matching = filter.matching(column)?;
            mask = Some(match mask {
                Some(mask) => and(&mask, &matching)?,
                None => matching,
            });
        }
        let mut rows = shown(&self.sorted_schema, &rows)?;
        if let Some(mask) = mask {
            rows = filter_record_batch(&rows, &mask)?;
        }
        if !is_forward && rows.num_rows() > 1 {
            let order = UInt32Array::from_iter_values((0..rows.num_rows() as u32).rev());
            rows = take_record_batch(&rows, &order)?;
        }
        Ok(rows)
    }
}

/// Whether each parameter has one type: what it means is decided by its first place, and its other places would convert it.
pub fn has_one_type_each(parameters: impl IntoIterator<Item = (usize, SqlType)>) -> bool {
    let mut known = HashMap::new();
    let mut is_same = |(number, sql_type): (usize, SqlType)| {
        *known.entry(number).or_insert_with(|| sql_type.clone()) == sql_type
    };
    parameters.into_iter().all(&mut is_same)
}

/// The leading columns of rows, which are those of a schema.
fn shown(schema: &SchemaRef, rows: &RecordBatch) -> Result<RecordBatch> {
    let columns = rows.columns()[..schema.fields().len()].to_vec();
    batch(schema, columns, rows.num_rows())
}

/// The morsels of a walk; `None` if they have more than `most` rows.
fn few(walk: &mut Walk, most: usize) -> Option<Vec<Morsel>> {
    let (mut morsels, mut rows) = (Vec::new(), 0);
    while let Some(morsel) = walk.next_rows(most + 1) {
        rows += morsel.rows();
        if rows > most {
            return None;
        }
        morsels.push(morsel);
    }
    Some(morsels)
}

pub(crate) fn batch(
    schema: &SchemaRef,
    columns: Vec<ArrayRef>,
    rows: usize,
) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}
