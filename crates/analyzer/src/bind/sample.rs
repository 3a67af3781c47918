//! TABLESAMPLE: each row is in the sample with the same chance, also with SYSTEM.

use super::from::{Part, not_a_table};
use super::names;
use super::{Binder, Table};
use crate::error::{Error, Result};
use crate::system::Oid;
use crate::tree::{Expr, From, Kind, Literal, Output, Query, Relation, Select, Source};
use grammar::tree::{NodeEnum, RangeTableSample};

impl Binder<'_> {
    pub(super) fn sampled(&mut self, sample: &RangeTableSample) -> Result<Part> {
        let NodeEnum::RangeVar(range) = names::node(sample.relation.as_deref())? else {
            return Err(not_a_table(sample.location));
        };
        let method = names::parts(&sample.method).last().copied().unwrap_or_default().to_owned();
        if !matches!(method.as_str(), "bernoulli" | "system") {
            let message = format!("tablesample method {method} does not exist");
            return Err(Error::new("42704", message).at(sample.location));
        }
        let arguments = self.expressions(&sample.args)?;
        let [argument] = arguments.as_slice() else {
            let message =
                format!("tablesample method {method} requires 1 argument, not {}", arguments.len());
            return Err(Error::new("2202H", message).at(sample.location));
        };
        if sample.repeatable.is_some() {
            return Err(Error::missing("TABLESAMPLE with REPEATABLE").at(sample.location));
        }
        let percentage = match &argument.kind {
            Kind::Literal(Literal::Null) => {
                let message = "TABLESAMPLE parameter cannot be null";
                return Err(Error::new("2202H", message));
            }
            Kind::Literal(Literal::Integer(number)) => Some(*number as f64),
            Kind::Literal(Literal::Text(text)) => text.parse().ok(),
            _ => None,
        };
        let Some(percentage) = percentage else {
            return Err(
                Error::missing("TABLESAMPLE with a computed percentage").at(sample.location)
            );
        };
        if !(0.0..=100.0).contains(&percentage) {
            let message = "sample percentage must be between 0 and 100";
            return Err(Error::new("2202H", message));
        }
        self.table(range, Some(percentage))
    }

    /// The query that reads a sample of a table.
    pub(super) fn sample_of(&mut self, table: &Table, percentage: f64) -> Result<Source> {
        let (id, select) = (self.next_relation(), self.next_select());
        let number = |text: String| Expr::new(Kind::Literal(Literal::Text(text)), Oid::FLOAT8, -1);
        let random = self.resolve_bound("random", Vec::new(), &[], false, -1)?;
        let random = Expr::new(Kind::Call(random.call), random.sql_type, -1);
        let share = number((percentage / 100.0).to_string());
        let filter = self.apply("<", Some(random), share, -1)?;
        let output = table.columns.iter().enumerate().map(|(at, column)| Output {
            name: column.name.clone(),
            expr: Expr::new(Kind::Column(id, at), column.sql_type, -1),
        });
        let output = output.collect();
        let relation = Relation {
            id,
            alias: table.name.clone(),
            columns: table.columns.clone(),
            is_lateral: false,
            source: Source::Table(table.handle),
        };
        let from = vec![From::Relation(Box::new(relation))];
        let select = Select { filter: Some(filter), ..Select::plain(select, from, output) };
        Ok(Source::Query(Box::new(Query::from(select))))
    }
}
