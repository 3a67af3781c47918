//! Square roots.

use crate::digits::{RESULT_SCALE_MAX, SIGNIFICANT_DIGITS_MIN};
use crate::errors::Error;
use crate::number::Numeric;
use crate::working::Working;

impl Numeric {
    /// The square root, with at least 16 significant digits.
    ///
    /// # Errors
    ///
    /// [`Error::NegativeRoot`].
    pub fn sqrt(&self) -> Result<Self, Error> {
        if self.is_negative() {
            return Err(Error::NegativeRoot);
        }
        let Some(own) = self.scale() else { return Ok(self.clone()) };
        let weight = (self.weight() + 1) * 4 / 2 - 1;
        let scale = (SIGNIFICANT_DIGITS_MIN - weight).max(own).clamp(0, RESULT_SCALE_MAX);
        Working::of(self).root(scale).finish(scale.unsigned_abs())
    }
}
