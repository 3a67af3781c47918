//! Calls: the check of a definition, and the column that it computes.

use crate::definition::{Definition, Source};
use crate::limits::STACK_BYTES;
use crate::rows::row_of;
use crate::{script, wasm};
use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, UInt32Array, new_null_array};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::{filter, take};
use values::error::Result;

impl Definition {
    /// Checks a new function: its source is one of the language, and fits the signature.
    ///
    /// # Errors
    /// 42P13 if it does not; 0A000 for what is missing; 57014 if the statement ends.
    pub fn check(&self) -> Result<()> {
        with_stack(|| match &self.source {
            Source::Module { bytes, digest } => wasm::check(self, bytes, *digest),
            Source::Script(body) => script::check(self, body),
        })
    }

    /// The values for rows of arguments, as the type of the result holds them.
    ///
    /// # Errors
    /// 38000 if the program fails, 53200 if it needs too much memory, 57014 if the statement ends; those of values that are
    /// none of the result's type.
    pub fn call(&self, arguments: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        let nulls = arguments.iter().filter(|_| self.signature.is_strict);
        let nulls = nulls.fold(None, |nulls: Option<NullBuffer>, argument| {
            NullBuffer::union(nulls.as_ref(), argument.logical_nulls().as_ref())
        });
        match nulls.filter(|nulls| nulls.null_count() > 0) {
            Some(nulls) => self.call_where(arguments, &nulls),
            None => self.run(arguments, rows),
        }
    }

    /// The values for the rows that have all arguments; NULL for others.
    fn call_where(&self, arguments: &[ArrayRef], given: &NullBuffer) -> Result<ArrayRef> {
        let mask = BooleanArray::new(given.inner().clone(), None);
        let arguments = arguments.iter().map(|argument| filter(argument, &mask));
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        let values = self.run(&arguments, mask.true_count())?;
        let mut next = 0;
        let places = given.iter().map(|is_given| {
            let place = next;
            next += u32::from(is_given);
            is_given.then_some(place)
        });
        Ok(take(&values, &places.collect::<UInt32Array>(), None)?)
    }

    /// The last of the values for rows of arguments of which the first is the value of the row before: `state` for the first.
    ///
    /// # Errors
    /// As of [`Self::call`].
    pub fn fold(&self, state: ArrayRef, arguments: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        if let Source::Script(body) = &self.source {
            executor::check()?;
            return with_stack(|| script::fold(self, body, state, arguments, rows));
        }
        (0..rows).try_fold(state, |state, row| self.call(&row_of(state, arguments, row), 1))
    }

    fn run(&self, arguments: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        if rows == 0 {
            return Ok(new_null_array(&self.signature.returns.data_type(), 0));
        }
        executor::check()?;
        with_stack(|| match &self.source {
            Source::Module { bytes, digest } => wasm::call(self, bytes, *digest, arguments, rows),
            Source::Script(body) => script::call(self, body, arguments, rows),
        })
    }
}

/// Runs `work` on a stack that is as large as programs need it.
fn with_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK_BYTES / 2, STACK_BYTES, work)
}
