//! Numbers as the digits that a pattern arranges.

use super::number_pattern::Pattern;
use values::error::{Error, Result, SqlState};

/// Significant digits of floating-point numbers.
const DOUBLE_DIGITS: usize = 15;
const REAL_DIGITS: usize = 6;

/// No floating-point number has more significant digits: behind them there are zeros.
const FLOAT_DIGITS_MAX: usize = 800;

/// The most digits of a numeric behind its point.
const NUMERIC_AFTER_MAX: usize = 16_383;

/// The longest Roman numeral that is written, MMMDCCCLXXXVIII, has as many letters.
const ROMAN_LENGTH: usize = 15;

/// A number made digits.
pub(super) struct Numeral {
    /// Without sign, rounded to the digits of the pattern; `#` where there are too few.
    pub(super) digits: String,
    pub(super) is_negative: bool,
    /// Digits of the pattern before those of the number.
    pub(super) blanks: usize,
    /// Digits of the pattern before the point, with those behind `V`.
    pub(super) before: usize,
    /// Digits after the point, which floating-point numbers may not have.
    pub(super) after: usize,
}

/// A number of one of the types that can be formatted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Integer(i32),
    BigInt(i64),
    Real(f32),
    Double(f64),
    /// Without its point, and the digits behind it.
    Numeric(i128, u32),
}

impl Number {
    /// The digits that a pattern arranges.
    ///
    /// # Errors
    /// 22003: the number is out of range.
    pub(super) fn numeral(self, pattern: &Pattern) -> Result<Numeral> {
        if pattern.is_roman {
            return Ok(plain(roman(self.whole()?)));
        }
        if pattern.is_scientific {
            return Ok(plain(self.scientific(pattern)));
        }
        let before = pattern.before + if pattern.is_shifted { pattern.shifted } else { 0 };
        let (mut digits, after) = self.shifted(pattern)?;
        let is_negative = digits.starts_with('-');
        if is_negative {
            digits.remove(0);
        }
        let whole = digits.find('.').unwrap_or(digits.len());
        if whole > before {
            digits = "#".repeat(before) + "." + &"#".repeat(after);
        }
        Ok(Numeral { digits, is_negative, blanks: before.saturating_sub(whole), before, after })
    }

    /// Rounded to an integer, for Roman numerals.
    fn whole(self) -> Result<i64> {
        Ok(match self {
            Self::Integer(value) => value.into(),
            Self::BigInt(value) => value,
            Self::Real(value) => f64::from(value).round_ties_even() as i64,
            Self::Double(value) => value.round_ties_even() as i64,
            Self::Numeric(value, scale) => {
                i32::try_from(rounded(value, scale, 0)).map_err(|_| out_of_range("integer"))?.into()
            }
        })
    }

    /// The number times ten to the digits behind `V`, rounded, and its digits after the point.
    fn shifted(self, pattern: &Pattern) -> Result<(String, usize)> {
        let shift = if pattern.is_shifted { pattern.shifted as u32 } else { 0 };
        let after = pattern.after;
        let whole = |value: i64| {
            let zeros = if after > 0 { ".".to_owned() + &"0".repeat(after) } else { String::new() };
            (format!("{value}{zeros}"), after)
        };
        match self {
            Self::Integer(value) => {
                let product = 10_i32.checked_pow(shift).and_then(|power| value.checked_mul(power));
                product.map(|value| whole(value.into())).ok_or_else(|| out_of_range("integer"))
            }
            Self::BigInt(value) => {
                let product = 10_i64.checked_pow(shift).and_then(|power| value.checked_mul(power));
                product.map(whole).ok_or_else(|| out_of_range("bigint"))
            }
            Self::Numeric(value, scale) => {
                let product = 10_i128.checked_pow(shift).and_then(|power| value.checked_mul(power));
                let value = product.ok_or_else(|| out_of_range("numeric"))?;
                Ok((decimal(value, scale, after.min(NUMERIC_AFTER_MAX)), after))
            }
            Self::Real(value) => {
                let product = value * 10_f32.powi(shift.cast_signed());
                Ok(float(product.into(), REAL_DIGITS, after))
            }
            Self::Double(value) => {
                Ok(float(value * 10_f64.powi(shift.cast_signed()), DOUBLE_DIGITS, after))
            }
        }
    }

    fn scientific(self, pattern: &Pattern) -> String {
        let float = |value: f64| {
            if value.is_finite() {
                let digits = pattern.after.min(FLOAT_DIGITS_MAX);
                let zeros = "0".repeat(pattern.after - digits);
                exponential(&format!("{value:.digits$e}").replace('e', &format!("{zeros}e")))
            } else {
                let (before, after) = ("#".repeat(pattern.before), "#".repeat(pattern.after + 4));
                format!(" {before}.{after}")
            }
        };
        match self {
            Self::Integer(value) => float(value.into()),
            Self::Real(value) => float(value.into()),
            Self::Double(value) => float(value),
            Self::BigInt(value) => scientific_decimal(value.into(), 0, pattern.after),
            Self::Numeric(value, scale) => scientific_decimal(value, scale, pattern.after),
        }
    }
}

fn out_of_range(name: &str) -> Error {
    Error::new(SqlState::NumericValueOutOfRange, format!("{name} out of range"))
}

fn plain(digits: String) -> Numeral {
    Numeral { digits, is_negative: false, blanks: 0, before: 0, after: 0 }
}

/// A decimal rounded to fewer digits behind its point, away from zero in the middle.
fn rounded(value: i128, scale: u32, after: u32) -> i128 {
    let Some(power) = 10_i128.checked_pow(scale.saturating_sub(after)) else { return 0 };
    let half = power / 2 * value.signum();
    value.checked_add(half).unwrap_or(value) / power
}

/// A decimal with other digits behind its point.
fn decimal(value: i128, scale: u32, after: usize) -> String {
    // Zeros at the end are written, not computed: there may be any number of them.
    let places = u32::try_from(after).map_or(scale, |after| after.min(scale));
    let value = rounded(value, scale, places);
    let places = places as usize;
    let sign = if value < 0 { "-" } else { "" };
    let digits = value.unsigned_abs().to_string();
    let digits = "0".repeat((places + 1).saturating_sub(digits.len())) + &digits;
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let point = if after > 0 { "." } else { "" };
    format!("{sign}{whole}{point}{fraction}{}", "0".repeat(after - places))
}

/// A floating-point number with no more digits than are significant, and those after the point.
fn float(value: f64, significant: usize, after: usize) -> (String, usize) {
    let whole = c_style(value.abs(), 0).len();
    let after = if whole >= significant { 0 } else { after.min(significant - whole) };
    (c_style(value, after), after)
}

/// The number, NaN or Infinity.
fn c_style(value: f64, after: usize) -> String {
    if value.is_infinite() {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}Infinity");
    }
    format!("{value:.after$}")
}

/// Gives an exponent its sign and at least two digits, and a number without sign a blank.
fn exponential(text: &str) -> String {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let blank = if text.starts_with('-') { "" } else { " " };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{blank}{mantissa}e{exponent:+03}")
}

/// Rounding may leave two digits before the point, as in PostgreSQL.
fn scientific_decimal(value: i128, scale: u32, after: usize) -> String {
    let digits = value.unsigned_abs().to_string().len();
    if value == 0 {
        return exponential(&format!("{}e0", decimal(0, 0, after)));
    }
    let exponent = digits as i64 - 1 - i64::from(scale);
    // The mantissa has all digits but one behind its point.
    let mantissa = decimal(value, digits as u32 - 1, after);
    exponential(&format!("{mantissa}e{exponent}"))
}

fn roman(number: i64) -> String {
    const SIGNS: [(i64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if !(1..4000).contains(&number) {
        return "#".repeat(ROMAN_LENGTH);
    }
    let (mut rest, mut text) = (number, String::new());
    for (value, sign) in SIGNS {
        while rest >= value {
            rest -= value;
            text.push_str(sign);
        }
    }
    text
}
