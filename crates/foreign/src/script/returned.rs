//! What calls have returned: values, rows and sets, as columns.

use super::results::{Results, fields, length, named};
use super::runtime::Program;
use crate::definition::Definition;
use crate::failure::{no_value, out_of_memory};
use crate::signature::Returns;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::buffer::NullBuffer;
use executor::Held;
use rquickjs::atom::PredefinedAtom;
use rquickjs::{Array, Function, Object, Value};
use values::error::Result;

/// The columns of what calls have returned so far.
pub(super) struct Returned<'a> {
    definition: &'a Definition,
    returns: &'a Returns,
    columns: Vec<Results<'a>>,
    /// Of each row or value, whether it is not NULL. Only of rows and `void`.
    given: Vec<bool>,
    /// The lengths of sets.
    lengths: Vec<usize>,
    held: Held,
}

/// After how many rows of a set the statement is asked whether it goes on.
const CHECK_EVERY: usize = 1024;

impl<'a> Returned<'a> {
    /// The columns for calls of a number of rows, before the first.
    pub(super) fn new(definition: &'a Definition, rows: usize) -> Self {
        let returns = &definition.signature.returns;
        let columns = returns.columns.iter();
        let columns = columns.map(|column| Results::new(definition, &column.sql_type, rows));
        let (given, lengths, held) = (Vec::new(), Vec::new(), Held::nothing());
        Self { definition, returns, columns: columns.collect(), given, lengths, held }
    }

    /// Adds what a call has returned.
    pub(super) fn push<'js>(
        &mut self,
        program: &Program<'_, 'js>,
        value: &Value<'js>,
    ) -> Result<()> {
        if !self.returns.is_set {
            return self.push_one(program, value);
        }
        if value.is_null() || value.is_undefined() {
            self.lengths.push(0);
            return Ok(());
        }
        let items = self.items(program, value)?;
        let length = length(program, &items)?;
        for at in 0..length {
            let item = items.get(at).map_err(|error| program.failed(&error))?;
            self.push_one(program, &item)?;
            if at % CHECK_EVERY == 0 {
                executor::check()?;
                self.require_room()?;
            }
        }
        self.lengths.push(length);
        self.require_room()
    }

    /// The items of an array, or of what else can be iterated.
    fn items<'js>(&self, program: &Program<'_, 'js>, value: &Value<'js>) -> Result<Array<'js>> {
        if let Some(array) = value.as_array() {
            return Ok(array.clone());
        }
        let failed = |error: rquickjs::Error| program.failed(&error);
        let iterated = value.as_object().filter(|object| {
            object.contains_key(PredefinedAtom::SymbolIterator).unwrap_or_default()
        });
        let Some(iterated) = iterated else {
            let what = named(program, value);
            return Err(no_value(self.definition, "set: return an array", &what));
        };
        let of_arrays: Object<'js> = program.ctx.globals().get("Array").map_err(failed)?;
        let from: Function<'js> = of_arrays.get("from").map_err(failed)?;
        from.call((iterated.clone(),)).map_err(failed)
    }

    /// Adds a value or a row.
    fn push_one<'js>(&mut self, program: &Program<'_, 'js>, value: &Value<'js>) -> Result<()> {
        if self.returns.is_void() {
            self.given.push(true);
            return Ok(());
        }
        if !self.returns.is_row {
            let mut columns = self.columns.iter_mut();
            return columns.try_for_each(|column| column.push(program, value));
        }
        let is_null = value.is_null() || value.is_undefined();
        self.given.push(!is_null);
        if is_null {
            return self.columns.iter_mut().try_for_each(|column| column.push(program, value));
        }
        let names = self.returns.columns.iter().map(|column| column.name.as_str());
        for (column, value) in self.columns.iter_mut().zip(fields(program, value, names)?) {
            column.push(program, &value)?;
        }
        Ok(())
    }

    /// Refuses results that are too large.
    fn require_room(&mut self) -> Result<()> {
        let bytes: usize = self.columns.iter().map(Results::bytes).sum();
        let limit = self.definition.limits.output;
        if bytes > limit {
            return Err(out_of_memory(&self.definition.name, limit));
        }
        self.held.grow_to(bytes as u64)
    }

    /// The column of the engine.
    pub(super) fn column(self) -> Result<ArrayRef> {
        if self.returns.is_void() {
            return Ok(Returns::nothing(self.given.len()));
        }
        let columns = self.columns.into_iter().map(Results::column).collect::<Result<_>>()?;
        let nulls = self.given.contains(&false).then(|| NullBuffer::from(self.given));
        self.returns.assembled(columns, &self.lengths, nulls)
    }
}
