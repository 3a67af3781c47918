//! PostgreSQL's binary format: digits in base 10000, the place of the first one, the sign and the display scale.

use num_bigint::{BigInt, BigUint, Sign};

use crate::errors::WireError;
use crate::number::{Numeric, SCALE_MAX};
use crate::powers_of_ten;

const POSITIVE: u16 = 0x0000;
const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const INFINITY: u16 = 0xD000;
const NEGATIVE_INFINITY: u16 = 0xF000;

/// What PostgreSQL writes as the scale of infinities; it reads any.
const SCALE_OF_INFINITY: u16 = 0x20;

/// Bytes in front of the digits.
const HEADER: usize = 8;

impl Numeric {
    /// Appends the number in PostgreSQL's binary format, without a length.
    pub fn to_wire(&self, out: &mut Vec<u8>) {
        let Some((coefficient, scale)) = self.parts() else {
            return match self.is_nan() {
                true => header(out, 0, 0, NAN, 0),
                false if self.is_negative() => {
                    header(out, 0, 0, NEGATIVE_INFINITY, SCALE_OF_INFINITY);
                }
                false => header(out, 0, 0, INFINITY, SCALE_OF_INFINITY),
            };
        };
        let mut digits = match self.small_parts() {
            Some((value, _)) => small_digits(value.unsigned_abs(), scale),
            None => large_digits(coefficient.magnitude(), scale),
        };
        let sign = if self.is_negative() { NEGATIVE } else { POSITIVE };
        let weight = digits.len() as i32 - 1 - scale.div_ceil(4) as i32;
        // They begin with the last one.
        let zeros = digits.iter().take_while(|&&digit| digit == 0).count();
        digits.drain(..zeros);
        let weight = if digits.is_empty() { 0 } else { weight as i16 };
        header(out, digits.len() as u16, weight, sign, scale as u16);
        digits.iter().rev().for_each(|digit| out.extend_from_slice(&digit.to_be_bytes()));
    }

    /// The number of bytes in PostgreSQL's binary format. As there, digits behind the scale are cut off.
    ///
    /// # Errors
    ///
    /// [`WireError`], in PostgreSQL's words.
    pub fn from_wire(bytes: &[u8]) -> Result<Self, WireError> {
        let (header, digits) = bytes.split_first_chunk::<HEADER>().ok_or(WireError::TooShort)?;
        let field = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let (count, weight, sign, scale) = (field(0), field(2) as i16, field(4), field(6));
        if !matches!(sign, POSITIVE | NEGATIVE | NAN | INFINITY | NEGATIVE_INFINITY) {
            return Err(WireError::Sign);
        }
        if u32::from(scale) > SCALE_MAX {
            return Err(WireError::Scale);
        }
        let digits_end = 2 * usize::from(count);
        let body = digits.get(..digits_end).ok_or(WireError::TooShort)?;
        let digits = body.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
        if digits.clone().any(|digit| digit >= 10_000) {
            return Err(WireError::Digit);
        }
        if bytes.len() != HEADER + digits_end {
            return Err(WireError::TooLong);
        }
        match sign {
            NAN => return Ok(Self::NAN),
            INFINITY => return Ok(Self::INFINITY),
            NEGATIVE_INFINITY => return Ok(Self::NEGATIVE_INFINITY),
            _ => {}
        }
        // Digits behind the scale are not looked at, so that the number of those that are is bounded by the limits.
        let wanted = i32::from(weight) + 1 + u32::from(scale).div_ceil(4) as i32;
        let wanted = digits.take(wanted.max(0).unsigned_abs() as usize);
        from_digits(sign == NEGATIVE, wanted, i32::from(weight), u32::from(scale))
    }
}

fn header(out: &mut Vec<u8>, count: u16, weight: i16, sign: u16, scale: u16) {
    out.extend_from_slice(&count.to_be_bytes());
    out.extend_from_slice(&weight.to_be_bytes());
    out.extend_from_slice(&sign.to_be_bytes());
    out.extend_from_slice(&scale.to_be_bytes());
}

/// The digits in base 10000, aligned to the point, the last one first; the first one is not zero.
fn small_digits(magnitude: u128, scale: u32) -> Vec<u16> {
    let mut digits = Vec::with_capacity(11);
    let mut rest = magnitude;
    if !scale.is_multiple_of(4) && rest > 0 {
        let inside = 10u128.pow(scale % 4);
        digits.push((rest % inside * (10_000 / inside)) as u16);
        rest /= inside;
    }
    while rest > u128::from(u64::MAX) {
        digits.push((rest % 10_000) as u16);
        rest /= 10_000;
    }
    let mut rest = rest as u64;
    while rest > 0 {
        digits.push((rest % 10_000) as u16);
        rest /= 10_000;
    }
    digits
}

/// As [`small_digits`].
fn large_digits(magnitude: &BigUint, scale: u32) -> Vec<u16> {
    let aligned = match scale % 4 {
        0 => magnitude.to_radix_le(100),
        inside => (magnitude * 10u32.pow(4 - inside)).to_radix_le(100),
    };
    let digit = |pair: &[u8]| u16::from(pair[0]) + 100 * u16::from(*pair.get(1).unwrap_or(&0));
    aligned.chunks(2).map(digit).collect()
}

/// The number of digits in base 10000, the first one at the place of `weight`.
fn from_digits(
    negative: bool,
    digits: impl Iterator<Item = u16> + Clone,
    weight: i32,
    scale: u32,
) -> Result<Numeric, WireError> {
    let count = digits.clone().count() as i32;
    if count == 0 {
        return Ok(Numeric::small(0, scale));
    }
    let sign = if negative { Sign::Minus } else { Sign::Plus };
    let pairs: Vec<u8> =
        digits.flat_map(|digit| [(digit / 100) as u8, (digit % 100) as u8]).collect();
    let magnitude = BigUint::from_radix_be(&pairs, 100).unwrap_or_default();
    // Digits end at this place behind the point.
    let end = 4 * (count - 1 - weight);
    let value = BigInt::from_biguint(sign, magnitude);
    let value = match scale as i32 - end {
        zeros @ 0.. => powers_of_ten::scale_large(value, zeros.unsigned_abs()),
        excess => powers_of_ten::cut_large(&value, excess.unsigned_abs()),
    };
    Numeric::large(value, scale).map_err(|_| WireError::Overflow)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of the given fields and digits.
    fn read(header: [u16; 4], digits: &[u16]) -> Result<String, WireError> {
        let fields = header.iter().chain(digits);
        let bytes: Vec<u8> = fields.flat_map(|field| field.to_be_bytes()).collect();
        Numeric::from_wire(&bytes).map(|number| number.to_string())
    }

    #[test]
    fn digits_of_clients_need_not_be_in_shortest_form() {
        for (header, digits, expected) in [
            ([3, 1, POSITIVE, 2], &[0, 1, 2300][..], "1.23"),
            ([3, 0, NEGATIVE, 1], &[1, 5000, 0], "-1.5"),
            // Digits behind the scale are cut off.
            ([2, 0, POSITIVE, 1], &[1, 9999], "1.9"),
            ([1, 0xFFFF, POSITIVE, 0], &[9999], "0"),
            ([1, 0x8000, POSITIVE, 16383], &[9999], "0"),
            ([0, 0x7FFF, POSITIVE, 3], &[], "0.000"),
            ([0, 0, NEGATIVE, 0], &[], "0"),
            ([1, 0, NAN, 7], &[3], "NaN"),
            ([0, 0, INFINITY, 0], &[], "Infinity"),
            ([0, 0, NEGATIVE_INFINITY, 0x20], &[], "-Infinity"),
        ] {
            let read = read(header, digits).map(|text| match text.parse::<f64>() {
                Ok(0.0) if text.len() > 100 => "0".to_string(),
                _ => text,
            });
            assert_eq!(read, Ok(expected.to_string()), "{header:?} {digits:?}");
        }
    }

    #[test]
    fn other_bytes_are_refused() {
        assert_eq!(Numeric::from_wire(&[0; 7]), Err(WireError::TooShort));
        for (header, digits, expected) in [
            ([1, 0, POSITIVE, 0], &[][..], WireError::TooShort),
            ([0, 0, POSITIVE, 0], &[1], WireError::TooLong),
            ([0, 0, 1, 0], &[], WireError::Sign),
            ([0, 0, POSITIVE, 16384], &[], WireError::Scale),
            ([1, 0, POSITIVE, 0], &[10_000], WireError::Digit),
        ] {
            assert_eq!(read(header, digits), Err(expected), "{header:?} {digits:?}");
        }
    }

    #[test]
    fn the_greatest_number_is_read() {
        assert_eq!(read([1, 0x7FFF, POSITIVE, 0], &[9999]).map(|text| text.len()), Ok(131_072));
    }
}
