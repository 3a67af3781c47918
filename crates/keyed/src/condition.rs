//! A condition by key: values of the leading key columns, what it says about the next one, and
//! comparisons of other columns.

use crate::conjunct::{Comparison, Conjunct, Conjuncts, Function, Test, collect};
use crate::filter::{Filter, Is};
use crate::names::{Named, expression_of};
use crate::operand::Operand;
use crate::partial;
use datafusion::common::ScalarValue;
use grammar::tree::NodeEnum;
use std::sync::Arc;
use store::catalog::{Index, SqlType, Table, TableId};
use values::error::Result;

/// A condition by key.
#[derive(Debug)]
pub(crate) struct Condition {
    /// The values of the leading key columns.
    pub(crate) prefix: Vec<Operand>,
    /// The key column after the prefix.
    pub(crate) next: Next,
    /// What rows found by their keys must fulfil, too.
    pub(crate) filters: Vec<Filter>,
    /// What the condition says about the key, if an index is of use nevertheless.
    of_key: Vec<Filter>,
    /// The only column of an index, which is an expression, and its value. Nothing is said about the key then.
    pub(crate) by_expression: Option<(TableId, Operand)>,
    /// Values that must be true.
    gates: Vec<Operand>,
    /// The partial indexes that have all rows of the condition.
    partial: Vec<TableId>,
}

/// What a condition says about the key column after the prefix.
#[derive(Debug)]
pub(crate) enum Next {
    /// Nothing, or there is none.
    Any,
    /// It is the last key column, and one of these values.
    OneOf(Vec<Operand>),
    /// It is the last key column, and one of the items of this array.
    AnyOf(Operand),
    /// It fulfils these comparisons.
    Compared(Vec<(Comparison, Operand)>),
}

impl Condition {
    /// The condition of a WHERE clause of a table with these indexes; `None` if it says something else.
    pub(crate) fn of(
        named: Named<'_>,
        indexes: &[Arc<Index>],
        condition: Option<&NodeEnum>,
    ) -> Option<Self> {
        Self::of_all(named, indexes, condition)
    }

    /// The condition of conjuncts, as [`Self::of`].
    pub(crate) fn of_all<'c>(
        named: Named<'_>,
        indexes: &[Arc<Index>],
        conjuncts: impl IntoIterator<Item = &'c NodeEnum>,
    ) -> Option<Self> {
        let (table, mut found) = (named.table, Conjuncts::default());
        for conjunct in conjuncts {
            collect(named, conjunct, &mut found)?;
        }
        let Conjuncts { tests: mut conjuncts, gates } = found;
        let key = table.key_indices();
        let prefix = take_prefix(&key, &mut conjuncts);
        let next = match key.get(prefix.len()) {
            Some(column) => {
                let is_last = prefix.len() + 1 == key.len();
                take_next(table, *column, is_last, &mut conjuncts)
            }
            None => Next::Any,
        };
        let is_called = |(_, test): &Conjunct| matches!(test, Test::Called(..));
        let by_expression = match conjuncts.iter().position(is_called) {
            Some(at) => match conjuncts.remove(at) {
                (column, Test::Called(function, operand)) => {
                    let index = indexes.iter().find(|of| is_by(of, table, function, column))?;
                    Some((index.file.id, operand))
                }
                _ => None,
            },
            None => None,
        };
        if by_expression.is_some() && !(prefix.is_empty() && matches!(next, Next::Any)) {
            return None;
        }
        let filter = |(column, test): Conjunct| match test {
            Test::Compared(comparison, operand) if is_plain(&table.columns[column].sql_type) => {
                Some(Filter { column, is: Is::Compared(comparison, operand) })
            }
            Test::OneOf(values) if is_plain(&table.columns[column].sql_type) => {
                Some(Filter { column, is: Is::OneOf(values) })
            }
            Test::AnyOf(array) if is_plain(&table.columns[column].sql_type) => {
                Some(Filter { column, is: Is::AnyOf(array) })
            }
            Test::Null => Some(Filter { column, is: Is::Null }),
            Test::NotNull => Some(Filter { column, is: Is::NotNull }),
            _ => None,
        };
        let filters: Vec<Filter> = conjuncts.into_iter().map(filter).collect::<Option<_>>()?;
        let partial = partial::implied(table, indexes, &filters);
        let of_key = Vec::new();
        let mut found = Self { prefix, next, filters, of_key, by_expression, gates, partial };
        found.of_key = found.filters_of_key(table, indexes);
        Some(found)
    }

    /// What the condition says about leading key columns, if an index may be of use, too: it begins with a column that has one
    /// value.
    fn filters_of_key(&self, table: &Table, indexes: &[Arc<Index>]) -> Vec<Filter> {
        let key = table.key_indices();
        let has_value = |column: usize| {
            let mut filters = self.filters.iter();
            let mut is_filtered =
                || filters.any(|of| of.column == column && of.equal_to().is_some());
            key[..self.prefix.len()].contains(&column) || is_filtered()
        };
        let is_of_use = |index: &Arc<Index>| {
            let first = index.positions(table).first().copied().flatten();
            self.is_covered_by(index) && first.is_some_and(has_value)
        };
        if !self.has_key() || !indexes.iter().any(is_of_use) {
            return Vec::new();
        }
        let equal = |operand: &Operand| Is::Compared(Comparison::Equal, operand.clone());
        let mut all: Vec<_> =
            key.iter().zip(&self.prefix).map(|(column, of)| (*column, equal(of))).collect();
        if let (Some(column), Next::Compared(comparisons)) = (key.get(all.len()), &self.next) {
            let compared = comparisons.iter().cloned();
            all.extend(compared.map(|(comparison, of)| (*column, Is::Compared(comparison, of))));
        }
        all.retain(|(column, _)| is_plain(&table.columns[*column].sql_type));
        all.into_iter().map(|(column, is)| Filter { column, is }).collect()
    }

    /// Whether it says something about the key.
    pub(crate) fn has_key(&self) -> bool {
        !self.prefix.is_empty() || !matches!(self.next, Next::Any)
    }

    /// What it says about the columns of an index.
    pub(crate) fn for_indexes(&self) -> impl Iterator<Item = &Filter> {
        self.filters.iter().chain(&self.of_key)
    }

    /// Whether an index may be of use.
    pub(crate) fn admits_indexes(&self) -> bool {
        !self.has_key() || !self.of_key.is_empty()
    }

    /// Whether the values that must be true are; `None` if the planner has to say it, or what is wrong.
    ///
    /// # Errors
    /// 42P02 if a parameter does not exist.
    pub(crate) fn is_open(&self, parameters: &[ScalarValue]) -> Result<Option<bool>> {
        let mut is_open = true;
        for gate in &self.gates {
            match gate.value(parameters)? {
                ScalarValue::Boolean(value) => is_open &= *value == Some(true),
                ScalarValue::Null => is_open = false,
                _ => return Ok(None),
            }
        }
        // No value shows whether the value of an index's expression can be compared.
        Ok(Some(is_open).filter(|is_open| *is_open || self.by_expression.is_none()))
    }

    /// Whether it says a value of the first column of the key or of an index.
    pub(crate) fn finds_few(&self, table: &Table, indexes: &[Arc<Index>]) -> bool {
        let is_known = |column: Option<usize>| {
            let mut filters = self.filters.iter();
            filters.any(|of| Some(of.column) == column && of.equal_to().is_some())
        };
        let is_of_use = |index: &Arc<Index>| {
            self.is_covered_by(index) && is_known(index.positions(table).first().copied().flatten())
        };
        !self.prefix.is_empty()
            || matches!(self.next, Next::OneOf(_) | Next::AnyOf(_))
            || self.by_expression.is_some()
            || indexes.iter().any(is_of_use)
    }

    /// Whether a column may have any value of a list.
    pub(crate) fn has_list(&self) -> bool {
        let mut filters = self.filters.iter();
        matches!(self.next, Next::OneOf(_) | Next::AnyOf(_))
            || filters.any(|filter| matches!(filter.is, Is::OneOf(_) | Is::AnyOf(_)))
    }

    /// Whether an index has all rows of the condition.
    pub(crate) fn is_covered_by(&self, index: &Index) -> bool {
        index.predicate.is_none() || self.partial.contains(&index.file.id)
    }

    /// The values of all key columns, if there is nothing more to it.
    pub(crate) fn point(&self, table: &Table) -> Option<&[Operand]> {
        let is_point = self.prefix.len() == table.key.len()
            && self.filters.is_empty()
            && self.gates.is_empty();
        is_point.then_some(&*self.prefix)
    }

    /// The parameters, with the types of what they are compared with.
    pub(crate) fn parameters(&self, table: &Table) -> Vec<(usize, SqlType)> {
        let key = table.key_indices();
        let type_of = |column: usize| table.columns[column].sql_type.clone();
        let prefix = self.prefix.iter().zip(&key);
        let mut all: Vec<(&Operand, SqlType)> =
            prefix.map(|(operand, column)| (operand, type_of(*column))).collect();
        if let Some(next) = key.get(self.prefix.len()).map(|column| type_of(*column)) {
            match &self.next {
                Next::Any => {}
                Next::OneOf(values) => all.extend(values.iter().map(|value| (value, next.clone()))),
                Next::AnyOf(array) => all.push((array, SqlType::Array(Box::new(next)))),
                Next::Compared(comparisons) => {
                    all.extend(comparisons.iter().map(|(_, value)| (value, next.clone())));
                }
            }
        }
        for Filter { column, is } in &self.filters {
            let of = type_of(*column);
            match is {
                Is::Compared(_, operand) => all.push((operand, of)),
                Is::OneOf(values) => all.extend(values.iter().map(|value| (value, of.clone()))),
                Is::AnyOf(array) => all.push((array, SqlType::Array(Box::new(of)))),
                Is::Null | Is::NotNull => {}
            }
        }
        all.extend(self.gates.iter().map(|gate| (gate, SqlType::Boolean)));
        all.extend(self.by_expression.iter().map(|(_, operand)| (operand, SqlType::Text)));
        let parameter = |(operand, of): (&Operand, SqlType)| match operand {
            Operand::Cast(number, to) => Some((*number, to.clone())),
            operand => Some((operand.number()?, of)),
        };
        all.into_iter().filter_map(parameter).collect()
    }
}

/// The values of the key columns in `k1 = a AND k2 = b`; `None` for other conditions.
pub fn point_of(table: &Table, condition: Option<&NodeEnum>) -> Option<Vec<Operand>> {
    let condition = Condition::of(Named::itself(table), &[], condition)?;
    condition.point(table)?;
    Some(condition.prefix)
}

/// Whether an index of all rows has nothing but a function of a column.
fn is_by(index: &Index, table: &Table, function: Function, column: usize) -> bool {
    let [only] = &index.columns[..] else { return false };
    let Some(expression) = only.key.expression().filter(|_| index.predicate.is_none()) else {
        return false;
    };
    let called = expression_of(&expression.text);
    let called = called.and_then(|value| Function::of(Named::itself(table), &value));
    called == Some((function, column))
}

/// Takes the equations of the leading key columns.
fn take_prefix(key: &[usize], conjuncts: &mut Vec<Conjunct>) -> Vec<Operand> {
    let equation = |column: &usize| {
        let is_equation = |conjunct: &Conjunct| {
            conjunct.0 == *column && matches!(conjunct.1, Test::Compared(Comparison::Equal, _))
        };
        match conjuncts.remove(conjuncts.iter().position(is_equation)?) {
            (_, Test::Compared(_, operand)) => Some(operand),
            _ => None,
        }
    };
    key.iter().map_while(equation).collect()
}

/// Takes what restricts the key column after the prefix: a list, or all comparisons.
fn take_next(table: &Table, column: usize, is_last: bool, conjuncts: &mut Vec<Conjunct>) -> Next {
    let sql_type = &table.columns[column].sql_type;
    if !is_plain(sql_type) {
        return Next::Any;
    }
    let is_list =
        |(of, test): &Conjunct| *of == column && matches!(test, Test::OneOf(_) | Test::AnyOf(_));
    if let Some(at) = conjuncts.iter().position(is_list).filter(|_| is_last) {
        return match conjuncts.remove(at).1 {
            Test::OneOf(values) => Next::OneOf(values),
            Test::AnyOf(array) => Next::AnyOf(array),
            _ => Next::Any,
        };
    }
    let mut comparisons = Vec::new();
    conjuncts.retain(|(of, test)| match test {
        Test::Compared(comparison, operand)
            if *of == column && *comparison != Comparison::NotEqual =>
        {
            comparisons.push((*comparison, operand.clone()));
            false
        }
        _ => true,
    });
    if comparisons.is_empty() { Next::Any } else { Next::Compared(comparisons) }
}

/// Whether values of a type are ordered as their representations are.
pub(crate) fn is_plain(sql_type: &SqlType) -> bool {
    matches!(
        sql_type.imprecise(),
        SqlType::Boolean
            | SqlType::SmallInt
            | SqlType::Integer
            | SqlType::BigInt
            | SqlType::Text
            | SqlType::Varchar(_)
            | SqlType::Date
            | SqlType::Timestamp
            | SqlType::TimestampTz
            | SqlType::Uuid
    )
}
