//! VALUES.

use super::Binder;
use super::names;
use super::scope::Clause;
use crate::error::{Error, Result};
use crate::system::SqlType;
use crate::tree::{Body, Column, Expr, Limit, Query};
use grammar::tree::{NodeEnum, SelectStmt};

impl Binder<'_> {
    pub(super) fn values(&mut self, statement: &SelectStmt) -> Result<Query> {
        let mut rows: Vec<Vec<Expr>> = Vec::with_capacity(statement.values_lists.len());
        for node in &statement.values_lists {
            let NodeEnum::List(list) = names::node(Some(node))? else {
                return Err(Error::missing("this form"));
            };
            let row = self.in_clause(Clause::Values, |binder| binder.row_values(&list.items))?;
            if rows.first().is_some_and(|first| first.len() != row.len()) {
                let location = row.first().map_or(-1, |value| value.location.0);
                let message = "VALUES lists must all be the same length";
                return Err(Error::new("42601", message).at(location));
            }
            rows.push(row);
        }
        let width = rows.first().map_or(0, Vec::len);
        let mut columns = Vec::with_capacity(width);
        for at in 0..width {
            let all = || rows.iter().map(|row| &row[at]);
            let oid = self.common(all(), "VALUES")?;
            let modifier = super::coerce::common_modifier(all(), oid);
            let name = format!("column{}", at + 1);
            columns.push(Column { name, sql_type: SqlType { oid, modifier } });
        }
        for row in &mut rows {
            for (value, column) in row.iter_mut().zip(&columns) {
                let taken = std::mem::replace(value, Expr::null(column.sql_type));
                *value = self.convert_to_common(taken, column.sql_type.oid, "VALUES")?;
            }
        }
        let order_by = self.sort_keys_of_columns(&statement.sort_clause, &columns)?;
        let limit = Limit::default();
        Ok(Query { with: Vec::new(), body: Body::Values(rows), order_by, limit, columns })
    }
}
