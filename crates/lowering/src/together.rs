//! Values of which an expression or a column is one.

use crate::refusal::Result;
use crate::scope::Lowering;
use crate::typed::{Typed, unify};
use analyzer::system::{Oid, SqlType};

impl Lowering<'_> {
    /// Values that become one of a type: `char` without a length has the blanks that values of `char(n)` are held
    /// without, and numerics have a common scale.
    pub(crate) fn together(&self, values: Vec<Typed>, sql_type: SqlType) -> Result<Vec<Typed>> {
        let is_padded = sql_type == SqlType::plain(Oid::BPCHAR);
        let padded = values.into_iter();
        let padded = padded.map(|value| if is_padded { self.padded(value) } else { Ok(value) });
        let mut values = padded.collect::<Result<Vec<_>>>()?;
        unify(&mut values);
        Ok(values)
    }
}
