//! Numbers in columns with a declared precision and scale.

use crate::errors::Error;
use crate::number::{Numeric, Repr};
use crate::powers_of_ten;

impl Numeric {
    /// The number as a column `numeric(precision, scale)` has it: rounded to the scale, which may be negative or greater
    /// than the precision. NaN fits every column.
    ///
    /// # Errors
    ///
    /// [`Error::FieldOverflow`] if it has more digits than the column then, or is infinite.
    pub fn with_precision(&self, precision: u16, scale: i16) -> Result<Self, Error> {
        let overflow = |infinite| Error::FieldOverflow { precision, scale, infinite };
        if self.is_nan() {
            return Ok(Self::NAN);
        }
        if self.is_infinite() {
            return Err(overflow(true));
        }
        let digits_max = i32::from(precision) - i32::from(scale);
        let rounded = self.round(i32::from(scale)).map_err(|_| overflow(false))?;
        if !rounded.is_zero() && rounded.integer_digits() > digits_max {
            return Err(overflow(false));
        }
        Ok(rounded)
    }

    /// The digits of the number at `scale`, rounded, as decimals of Arrow have them.
    ///
    /// # Errors
    ///
    /// [`Error::FieldOverflow`] if there are more than `precision` digits, or the number is not finite.
    pub fn to_decimal(&self, precision: u8, scale: i8) -> Result<i128, Error> {
        let overflow = || Error::FieldOverflow {
            precision: u16::from(precision),
            scale: i16::from(scale),
            infinite: !self.is_finite(),
        };
        let own = self.scale().ok_or_else(overflow)?;
        let digits = match &self.0 {
            Repr::Small(coefficient, _) => match i32::from(scale) - own {
                zeros @ 0.. => powers_of_ten::scale_small(*coefficient, zeros.unsigned_abs()),
                cut => Some(powers_of_ten::shrink_small(*coefficient, cut.unsigned_abs())),
            },
            Repr::Large(large) if i32::from(scale) < own => {
                let cut = (own - i32::from(scale)).unsigned_abs();
                i128::try_from(powers_of_ten::shrink_large(&large.coefficient, cut)).ok()
            }
            // What does not fit 128 bits does not fit them with more digits.
            _ => None,
        };
        let digits = digits.ok_or_else(overflow)?;
        if powers_of_ten::digits_small(digits.unsigned_abs()) > u32::from(precision) {
            return Err(overflow());
        }
        Ok(digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Numeric {
        Numeric::parse(text).expect(text)
    }

    #[test]
    fn details_name_the_bound() {
        for (text, precision, scale, expected) in [
            (
                "123.456",
                2,
                1,
                "A field with precision 2, scale 1 must round to an absolute value less than 10^1.",
            ),
            (
                "123.456",
                3,
                3,
                "A field with precision 3, scale 3 must round to an absolute value less than 1.",
            ),
            (
                "0.01",
                2,
                4,
                "A field with precision 2, scale 4 must round to an absolute value less than 10^-2.",
            ),
            ("inf", 3, 2, "A field with precision 3, scale 2 cannot hold an infinite value."),
        ] {
            let error = number(text).with_precision(precision, scale).expect_err(text);
            assert_eq!(error.detail().as_deref(), Some(expected));
            assert_eq!(error.sqlstate(), "22003");
        }
    }

    #[test]
    fn decimals_are_rounded_and_fit_their_precision() {
        assert_eq!(number("1.255").to_decimal(3, 2), Ok(126));
        assert_eq!(number("-1.255").to_decimal(3, 2), Ok(-126));
        assert_eq!(number("1250").to_decimal(2, -2), Ok(13));
        assert_eq!(number("1").to_decimal(38, 37), Ok(10i128.pow(37)));
        assert_eq!(number("0.9999e-30").to_decimal(10, 5), Ok(0));
        let long = number("12345678901234567890.12345678901234567890123456789");
        assert_eq!(long.to_decimal(38, 10), Ok(123_456_789_012_345_678_901_234_567_890));
        for (text, precision, scale) in
            [("9.995", 3, 2), ("1", 38, 38), ("1e40", 38, 0), ("NaN", 5, 0), ("inf", 5, 0)]
        {
            let error = number(text).to_decimal(precision, scale).expect_err(text);
            assert_eq!(error.to_string(), "numeric field overflow");
        }
    }
}
