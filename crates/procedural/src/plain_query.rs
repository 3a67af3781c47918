//! Queries without FROM whose columns are expressions of plain values. They are computed without the engine.
//!
//! `SELECT f($1)` and `SELECT 1 + 1` need no plan: planning them takes longer than the rest.

use crate::scalar::{Caller, Scalar};
use crate::value::{Value, schema_of};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::ScalarValue;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::stream::{iter, once};
use grammar::tree::{NodeEnum, SelectStmt};
use parser::Statement;
use planner::{Conflict, NamedParameter};
use std::sync::Arc;
use store::catalog::SqlType;
use typed_tree::{Executed, Query};
use values::error::{Error, Result, SqlState};
use values::field::Field;
use values::translate::external;

/// A query without FROM of plain values.
#[derive(Debug)]
pub struct PlainQuery {
    columns: Vec<Scalar>,
    /// The parameters, with their types.
    names: Vec<NamedParameter>,
    fields: Arc<[Field]>,
    schema: SchemaRef,
}

/// Whether a statement may be such a query: SELECT of a list, with no other clause.
pub fn may_be_plain(statement: &Statement) -> bool {
    let Some(NodeEnum::SelectStmt(select)) = statement.query() else { return false };
    let SelectStmt { from_clause, group_clause, window_clause, sort_clause, .. } = &**select;
    let SelectStmt { values_lists, distinct_clause, locking_clause, .. } = &**select;
    let lists = [from_clause, group_clause, window_clause, sort_clause];
    let others = [values_lists, distinct_clause, locking_clause];
    let parts = [&select.where_clause, &select.having_clause];
    let limits = [&select.limit_count, &select.limit_offset];
    !select.target_list.is_empty()
        && select.larg.is_none()
        && select.with_clause.is_none()
        && select.into_clause.is_none()
        && lists.into_iter().chain(others).all(Vec::is_empty)
        && parts.into_iter().chain(limits).all(Option::is_none)
}

impl PlainQuery {
    /// The query of a typed tree, with parameters of types and the columns of its result. `None` of other queries. A query
    /// with several columns calls no function of a user.
    pub fn of(
        tree: &Query,
        types: &[SqlType],
        fields: Vec<Field>,
        may_call: &dyn Fn(&Executed) -> bool,
    ) -> Option<Self> {
        let name = |(at, of): (usize, &SqlType)| NamedParameter {
            qualifier: None,
            name: format!("${}", at + 1),
            sql_type: of.clone(),
            conflict: Conflict::Error,
        };
        let names: Vec<NamedParameter> = types.iter().enumerate().map(name).collect();
        let columns = Scalar::columns(tree, &names, may_call)?;
        // A number has digits of its own, which the plan would say.
        let is_held = |(column, field): (&Scalar, &Field)| {
            column.sql_type() == &field.sql_type
                && !matches!(field.sql_type, SqlType::Numeric { .. })
        };
        let is_same = columns.len() == fields.len() && columns.iter().zip(&fields).all(is_held);
        // What is computed again by the engine would be called again.
        let is_called_once = columns.len() == 1 || !columns.iter().any(Scalar::has_calls);
        let (schema, fields) = (schema_of(&fields), fields.into());
        (is_same && is_called_once).then_some(Self { columns, names, fields, schema })
    }

    /// The columns of its result.
    pub fn fields(&self) -> &Arc<[Field]> {
        &self.fields
    }

    /// Whether values are of the types of its parameters.
    pub fn takes(&self, values: &[ScalarValue]) -> bool {
        let is_same = |(name, value): (&NamedParameter, &ScalarValue)| {
            value.data_type() == name.sql_type.arrow()
        };
        values.len() == self.names.len() && self.names.iter().zip(values).all(is_same)
    }

    /// The row for values that it [takes](Self::takes). `None` if the engine has to compute it. If it calls functions of
    /// users, it asks for somebody who calls them: a call may take long, and is made when the row is wanted.
    ///
    /// # Errors
    /// Those of its expressions, if it calls nothing.
    pub fn begin(
        self: &Arc<Self>,
        values: &[ScalarValue],
        caller: impl FnOnce() -> Arc<dyn Caller>,
    ) -> Result<Option<SendableRecordBatchStream>> {
        let schema = SchemaRef::clone(&self.schema);
        if !self.columns.iter().any(Scalar::has_calls) {
            let row = self.computed(|column| column.of_values(&self.names, values))?;
            let row = row.map(|row| RecordBatchStreamAdapter::new(schema, iter([Ok(row)])));
            return Ok(row.map(|row| Box::pin(row) as _));
        }
        let (query, values, caller) = (Arc::clone(self), values.to_vec(), caller());
        let row = async move { query.row_calling(&values, &*caller).map_err(external) };
        Ok(Some(Box::pin(RecordBatchStreamAdapter::new(schema, once(row)))))
    }

    fn row_calling(&self, values: &[ScalarValue], caller: &dyn Caller) -> Result<RecordBatch> {
        let row =
            self.computed(|column| column.of_values_calling(&self.names, values, Some(caller)))?;
        row.ok_or_else(|| Error::new(SqlState::InternalError, "the value of a call is not known"))
    }

    fn computed(
        &self,
        value: impl Fn(&Scalar) -> Option<Result<Value>>,
    ) -> Result<Option<RecordBatch>> {
        let mut arrays = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            match value(column).transpose()? {
                Some(value) => arrays.push(value.scalar.to_array()?),
                None => return Ok(None),
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let schema = SchemaRef::clone(&self.schema);
        Ok(Some(RecordBatch::try_new_with_options(schema, arrays, &options)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_be(text: &str) -> bool {
        may_be_plain(&parser::one(text).expect("a statement"))
    }

    #[test]
    fn only_lists_may_be_plain() {
        assert!(may_be("SELECT f(1), $1 + 1 AS b"));
        for other in [
            "SELECT 1 FROM t",
            "SELECT 1 WHERE true",
            "SELECT 1 UNION ALL SELECT 2",
            "SELECT 1 EXCEPT SELECT 2",
            "SELECT 1 LIMIT 0",
            "SELECT 1 OFFSET 1",
            "SELECT 1 HAVING false",
            "SELECT DISTINCT 1",
            "SELECT 1 ORDER BY 1",
            "WITH a AS (SELECT 1) SELECT 2",
            "VALUES (1)",
            "SELECT",
            "TABLE t",
            "DELETE FROM t",
        ] {
            assert!(!may_be(other), "{other}");
        }
    }
}
