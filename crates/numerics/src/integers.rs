//! Numbers as SQL's integer types.

use crate::errors::Error;
use crate::number::{Numeric, Repr};
use crate::powers_of_ten;

impl Numeric {
    /// As `bigint`, halves rounded away from zero.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`] and [`Error::OutOfRange`].
    pub fn to_i64(&self) -> Result<i64, Error> {
        self.to_integer("bigint")
    }

    /// As `integer`, halves rounded away from zero.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`] and [`Error::OutOfRange`].
    pub fn to_i32(&self) -> Result<i32, Error> {
        self.to_integer("integer")
    }

    /// As `smallint`, halves rounded away from zero.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`] and [`Error::OutOfRange`].
    pub fn to_i16(&self) -> Result<i16, Error> {
        self.to_integer("smallint")
    }

    fn to_integer<T: TryFrom<i128>>(&self, target: &'static str) -> Result<T, Error> {
        let rounded = match &self.0 {
            Repr::Small(coefficient, scale) => {
                powers_of_ten::shrink_small(*coefficient, u32::from(*scale))
            }
            Repr::Large(large) => {
                let scale = u32::from(large.scale);
                let rounded = powers_of_ten::shrink_large(&large.coefficient, scale);
                i128::try_from(rounded).map_err(|_| Error::OutOfRange(target))?
            }
            Repr::Nan => return Err(Error::NotFinite { nan: true, target }),
            Repr::Infinity | Repr::NegativeInfinity => {
                return Err(Error::NotFinite { nan: false, target });
            }
        };
        T::try_from(rounded).map_err(|_| Error::OutOfRange(target))
    }

    /// Whether there are no digits other than zero behind the point. Infinities are integral, NaN is not.
    pub fn is_integral(&self) -> bool {
        match self.min_scale() {
            Some(scale) => scale == 0,
            None => self.is_infinite(),
        }
    }
}
