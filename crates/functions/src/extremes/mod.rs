//! `min` and `max` of values of which equal ones may differ: numbers with a scale each, intervals, arrays, `char`.
//!
//! The values are compared by keys: the engine's `min` and `max` would compare what differs, too. Of equal values the last
//! one counts, of `char` the first one, as in PostgreSQL. An aggregate has the values and their keys as arguments; numbers with
//! a scale each, whose bytes begin with their keys, have no other argument.

mod form;
mod frame;
mod groups;

use crate::aggregates::only_row;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, Signature, Volatility,
};
use form::Form;
use frame::InFrame;
use groups::Groups;
use std::cmp::Ordering;
use std::sync::Arc;

/// An aggregate that returns an extreme value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extreme {
    /// Whether it is the greatest value, not the least one.
    pub is_greatest: bool,
    /// Whether it is the first of equal values, not the last one.
    pub is_first: bool,
}

impl Extreme {
    const ALL: [Self; 4] = [
        Self { is_greatest: false, is_first: false },
        Self { is_greatest: true, is_first: false },
        Self { is_greatest: false, is_first: true },
        Self { is_greatest: true, is_first: true },
    ];

    /// The name of the engine's aggregate.
    pub fn name(self) -> &'static str {
        match (self.is_greatest, self.is_first) {
            (false, false) => "least_value",
            (true, false) => "greatest_value",
            (false, true) => "first_least_value",
            (true, true) => "first_greatest_value",
        }
    }

    /// The one whose aggregate has a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|extreme| extreme.name() == name)
    }

    /// Whether a value takes the place of one before it, by their keys.
    fn replaces(self, key: &[u8], before: &[u8]) -> bool {
        match key.cmp(before) {
            Ordering::Equal => !self.is_first,
            Ordering::Greater => self.is_greatest,
            Ordering::Less => !self.is_greatest,
        }
    }
}

/// The aggregates.
pub(crate) fn all() -> [AggregateUDF; 4] {
    Extreme::ALL.map(|extreme| {
        let signature = Signature::variadic_any(Volatility::Immutable);
        AggregateUDF::new_from_impl(OfValues { extreme, signature })
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct OfValues {
    extreme: Extreme,
    signature: Signature,
}

impl AggregateUDFImpl for OfValues {
    fn name(&self) -> &str {
        self.extreme.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(types[0].clone())
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let mut groups = Groups::new(self.extreme, Form::of(args.expr_fields)?);
        groups.grow_to(1);
        Ok(Box::new(Whole(groups)))
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(InFrame::new(self.extreme, Form::of(args.expr_fields)?)))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Groups::new(self.extreme, Form::of(args.expr_fields)?)))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let fields = args.input_fields.iter().enumerate();
        let fields = fields.map(|(at, field)| {
            let field = field.as_ref().clone().with_nullable(true);
            Arc::new(field.with_name(format!("{}[{at}]", args.name)))
        });
        Ok(fields.collect())
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

/// All rows of one group.
#[derive(Debug)]
struct Whole(Groups);

impl Accumulator for Whole {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.take(values, |_| Some(0))
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.0.take(states, |_| Some(0))
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&self.0.columns()?[0], 0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        only_row(&self.0.columns()?)
    }

    fn size(&self) -> usize {
        GroupsAccumulator::size(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{Int32Array, LargeBinaryArray, StringArray};
    use datafusion::arrow::datatypes::Field;
    use datafusion::logical_expr::EmitTo;
    use numerics::Numeric;

    /// Texts, whose keys are their lengths.
    fn texts(texts: &[Option<&str>]) -> Vec<ArrayRef> {
        let lengths = texts.iter().map(|text| Some(text.as_ref()?.len() as i32));
        vec![Arc::new(StringArray::from(texts.to_vec())), Arc::new(lengths.collect::<Int32Array>())]
    }

    fn form(columns: &[ArrayRef]) -> Form {
        let field = |column: &ArrayRef| Arc::new(Field::new("", column.data_type().clone(), true));
        let fields: Vec<FieldRef> = columns.iter().map(field).collect();
        Form::of(&fields).expect("types with keys")
    }

    fn shown(values: &ArrayRef) -> Vec<Option<String>> {
        let texts = datafusion::arrow::array::AsArray::as_string::<i32>(values);
        texts.iter().map(|text| text.map(str::to_owned)).collect()
    }

    #[test]
    fn the_last_or_the_first_of_equal_values_counts() {
        let columns = texts(&[Some("aa"), None, Some("b"), Some("bb"), Some("a")]);
        for (extreme, expected) in Extreme::ALL.into_iter().zip(["a", "bb", "b", "aa"]) {
            let mut groups = Groups::new(extreme, form(&columns));
            groups.grow_to(2);
            groups.take(&columns, |_| Some(1)).expect("taken");
            let mut merged = Groups::new(extreme, form(&columns));
            let state = GroupsAccumulator::state(&mut groups, EmitTo::All).expect("a state");
            merged.merge_batch(&state, &[0, 1], 2).expect("merged");
            let values = merged.evaluate(EmitTo::All).expect("values");
            assert_eq!(shown(&values), [None, Some(expected.to_owned())]);
        }
    }

    #[test]
    fn values_leave_frames() {
        let columns = texts(&[Some("ccc"), Some("bb"), Some("aa"), None, Some("d")]);
        let [_, last, _, first] = Extreme::ALL;
        assert_eq!(in_frames(last, &columns), ["ccc", "ccc", "aa", "aa", "d"]);
        assert_eq!(in_frames(first, &columns), ["ccc", "ccc", "bb", "aa", "d"]);
    }

    /// The values of frames of two rows.
    fn in_frames(extreme: Extreme, columns: &[ArrayRef]) -> Vec<String> {
        let mut frame = InFrame::new(extreme, form(columns));
        let mut found = Vec::new();
        for row in 0..5 {
            let part = |at: usize| -> Vec<ArrayRef> {
                columns.iter().map(|column| column.slice(at, 1)).collect()
            };
            frame.update_batch(&part(row)).expect("taken");
            if row >= 2 {
                frame.retract_batch(&part(row - 2)).expect("gone");
            }
            found.push(frame.evaluate().expect("a value").to_string());
        }
        found
    }

    #[test]
    fn numbers_keep_their_scale() {
        let bytes = ["1", "1.0", "0.5"].map(|text| {
            let mut bytes = Vec::new();
            text.parse::<Numeric>().expect("a number").encode(&mut bytes);
            bytes
        });
        let column: ArrayRef = Arc::new(LargeBinaryArray::from_iter_values(&bytes));
        let columns = vec![column];
        let mut whole = Whole(Groups::new(Extreme::ALL[1], form(&columns)));
        whole.0.grow_to(1);
        whole.update_batch(&columns).expect("taken");
        let found = whole.evaluate().expect("a value");
        assert_eq!(found, ScalarValue::LargeBinary(Some(bytes[1].clone())));
    }
}
