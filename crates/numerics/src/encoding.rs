//! Numbers as bytes whose order is the order of numbers.
//!
//! An encoding is a key and, in its last two bytes, the display scale. Equal numbers have equal keys, and keys compare
//! as numbers do, also in front of other bytes: none is the start of another.
//!
//! | number | key |
//! |---|---|
//! | NaN, infinity | `F1`, `F0` |
//! | positive | its exponent, then its digits in base 100 |
//! | zero | `80` |
//! | negative | all bytes of the positive one inverted |
//! | -infinity | `0F` |
//!
//! A positive number is `0.d1 d2 ... dn` times 100 to the power of its exponent; neither `d1` nor `dn` is 0. Exponents
//! from -30 to 30 are one byte, `C0` plus the exponent; lesser ones are `A1` and greater ones `DF`, followed by three
//! bytes, 2^23 plus the exponent. A digit is the byte 2d + 1, the last one 2d.

use num_bigint::{BigInt, BigUint, Sign};

use crate::errors::Malformed;
use crate::number::{INTEGER_DIGITS_MAX, Numeric, Repr, SCALE_MAX};
use crate::powers_of_ten;

const NAN: u8 = 0xF1;
const INFINITY: u8 = 0xF0;
const NEGATIVE_INFINITY: u8 = !INFINITY;
const ZERO: u8 = 0x80;
const EXPONENT_ZERO: u8 = 0xC0;
const EXPONENT_SHORT_MAX: i32 = 30;
const EXPONENT_LARGE: u8 = 0xDF;
const EXPONENT_SMALL: u8 = 0xA1;
const EXPONENT_BIAS: i32 = 1 << 23;

/// Bytes of the display scale behind the key.
const SCALE_BYTES: usize = 2;

/// The most digits in base 100 of 128 bits, one more for digits that are not aligned to the point.
const SMALL_DIGITS_MAX: usize = 21;

impl Numeric {
    /// Appends the encoding.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Repr::Nan => out.push(NAN),
            Repr::Infinity => out.push(INFINITY),
            Repr::NegativeInfinity => out.push(NEGATIVE_INFINITY),
            Repr::Small(0, _) => out.push(ZERO),
            Repr::Small(coefficient, scale) => {
                let mut buffer = [0; SMALL_DIGITS_MAX];
                let digits = small_digits(coefficient.unsigned_abs(), *scale, &mut buffer);
                encode_digits(*coefficient < 0, digits, *scale, out);
            }
            Repr::Large(large) => {
                let magnitude = large.coefficient.magnitude();
                let digits = match large.scale % 2 {
                    0 => magnitude.to_radix_be(100),
                    _ => (magnitude * 10u8).to_radix_be(100),
                };
                let negative = large.coefficient.sign() == Sign::Minus;
                encode_digits(negative, &digits, large.scale, out);
            }
        }
        let scale = self.scale().unwrap_or(0) as u16;
        out.extend_from_slice(&scale.to_be_bytes());
    }

    /// The number of an encoding.
    ///
    /// # Errors
    ///
    /// [`Malformed`] for all bytes that [`Numeric::encode`] does not write.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let (key, scale) = bytes.split_last_chunk::<SCALE_BYTES>().ok_or(Malformed)?;
        let scale = u16::from_be_bytes(*scale);
        if u32::from(scale) > SCALE_MAX {
            return Err(Malformed);
        }
        let special = match key {
            [NAN] => Self::NAN,
            [INFINITY] => Self::INFINITY,
            [NEGATIVE_INFINITY] => Self::NEGATIVE_INFINITY,
            [ZERO] => return Ok(Self::small(0, u32::from(scale))),
            [first, ..] => return decode_digits(*first < ZERO, key, u32::from(scale)),
            [] => return Err(Malformed),
        };
        if scale == 0 { Ok(special) } else { Err(Malformed) }
    }

    /// The part of an encoding that is equal for equal numbers, and whose order is the order of numbers.
    pub fn key_of(bytes: &[u8]) -> &[u8] {
        &bytes[..bytes.len().saturating_sub(SCALE_BYTES)]
    }

    /// Whether a key is that of NaN.
    pub fn is_key_of_nan(key: &[u8]) -> bool {
        key == [NAN]
    }

    /// How long the key at the start of `bytes` is, whatever follows it; none where no key is.
    pub fn key_length(bytes: &[u8]) -> Option<usize> {
        let first = *bytes.first()?;
        if matches!(first, NAN | INFINITY | NEGATIVE_INFINITY | ZERO) {
            return Some(1);
        }
        let inverted = if first < ZERO { 0xFF } else { 0 };
        let start = match first ^ inverted {
            EXPONENT_LARGE | EXPONENT_SMALL => 4,
            _ => 1,
        };
        let last = bytes.get(start..)?.iter().position(|byte| (byte ^ inverted) & 1 == 0)?;
        Some(start + last + 1)
    }
}

/// The digits in base 100 of a number other than zero, aligned to the point.
fn small_digits(magnitude: u128, scale: u16, buffer: &mut [u8; SMALL_DIGITS_MAX]) -> &[u8] {
    /// Nine digits in base 100 at a time, so that most divisions are of 64 bits.
    const CHUNK: u128 = 10u128.pow(18);
    let mut at = buffer.len();
    let mut rest = magnitude;
    if scale % 2 == 1 {
        at -= 1;
        buffer[at] = (rest % 10) as u8 * 10;
        rest /= 10;
    }
    while rest >= CHUNK {
        let mut chunk = (rest % CHUNK) as u64;
        rest /= CHUNK;
        for _ in 0..9 {
            at -= 1;
            buffer[at] = (chunk % 100) as u8;
            chunk /= 100;
        }
    }
    let mut chunk = rest as u64;
    while chunk > 0 {
        at -= 1;
        buffer[at] = (chunk % 100) as u8;
        chunk /= 100;
    }
    &buffer[at..]
}

/// Writes the key of a number of the given digits, the last of which ends at the scale, or one behind it if that is odd.
fn encode_digits(negative: bool, digits: &[u8], scale: u16, out: &mut Vec<u8>) {
    let start = out.len();
    let exponent = digits.len() as i32 - i32::from(scale.div_ceil(2));
    let zeros = digits.iter().rev().take_while(|&&digit| digit == 0).count();
    let digits = &digits[..digits.len() - zeros];
    if exponent.abs() <= EXPONENT_SHORT_MAX {
        out.push((i32::from(EXPONENT_ZERO) + exponent) as u8);
    } else {
        out.push(if exponent > 0 { EXPONENT_LARGE } else { EXPONENT_SMALL });
        out.extend_from_slice(&(EXPONENT_BIAS + exponent).to_be_bytes()[1..]);
    }
    out.extend(digits.iter().map(|digit| 2 * digit + 1));
    if let Some(last) = out.last_mut() {
        *last -= 1;
    }
    if negative {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// The number of the key of a number that is neither zero nor special.
fn decode_digits(negative: bool, key: &[u8], scale: u32) -> Result<Numeric, Malformed> {
    let inverted = if negative { 0xFF } else { 0 };
    let (exponent, bytes) = decode_exponent(key, inverted)?;
    let (last, others) = bytes.split_last().ok_or(Malformed)?;
    let digit = |byte: &u8, is_last: bool| match byte ^ inverted {
        byte if byte < 200 && (byte % 2 == 0) == is_last => Ok(byte / 2),
        _ => Err(Malformed),
    };
    let first_digit = bytes.first().map_or(0, |byte| (byte ^ inverted) / 2);
    let last_digit = digit(last, true)?;
    if first_digit == 0 || last_digit == 0 {
        return Err(Malformed);
    }
    let integer_digits = 2 * exponent - i32::from(first_digit < 10);
    // The place behind the point where the digits end, and by how many the scale is behind it.
    let end = 2 * (bytes.len() as i32 - exponent);
    let zeros = scale as i32 - end;
    if integer_digits > INTEGER_DIGITS_MAX as i32 || zeros < -1 || bytes.len() > DIGITS_MAX {
        return Err(Malformed);
    }
    if zeros == -1 && last_digit % 10 != 0 {
        return Err(Malformed);
    }
    let sign = if negative { -1 } else { 1 };
    if bytes.len() < SMALL_DIGITS_MAX - 2 {
        let mut value = 0i128;
        for byte in others {
            value = value * 100 + i128::from(digit(byte, false)?);
        }
        value = (value * 100 + i128::from(last_digit)) * sign;
        if zeros == -1 {
            return Ok(Numeric::small(value / 10, scale));
        }
        if let Some(value) = powers_of_ten::scale_small(value, zeros.unsigned_abs()) {
            return Ok(Numeric::small(value, scale));
        }
        let value = powers_of_ten::scale_large(BigInt::from(value), zeros.unsigned_abs());
        return Ok(Numeric::unchecked(value, scale));
    }
    let mut digits =
        others.iter().map(|byte| digit(byte, false)).collect::<Result<Vec<u8>, _>>()?;
    digits.push(last_digit);
    let magnitude = BigUint::from_radix_be(&digits, 100).ok_or(Malformed)?;
    let sign = if negative { Sign::Minus } else { Sign::Plus };
    let value = match zeros {
        -1 => BigInt::from_biguint(sign, magnitude / 10u8),
        _ => {
            powers_of_ten::scale_large(BigInt::from_biguint(sign, magnitude), zeros.unsigned_abs())
        }
    };
    Ok(Numeric::unchecked(value, scale))
}

/// More digits in base 100 than a number can have.
const DIGITS_MAX: usize = (INTEGER_DIGITS_MAX + SCALE_MAX) as usize / 2 + 2;

/// The exponent at the start of a key, and the bytes of its digits.
fn decode_exponent(key: &[u8], inverted: u8) -> Result<(i32, &[u8]), Malformed> {
    let (first, rest) = key.split_first().ok_or(Malformed)?;
    let first = first ^ inverted;
    if matches!(first, EXPONENT_LARGE | EXPONENT_SMALL) {
        let (bytes, digits) = rest.split_first_chunk::<3>().ok_or(Malformed)?;
        let [high, middle, low] = bytes.map(|byte| byte ^ inverted);
        let exponent = i32::from_be_bytes([0, high, middle, low]) - EXPONENT_BIAS;
        let is_long = match first {
            EXPONENT_LARGE => exponent > EXPONENT_SHORT_MAX,
            _ => exponent < -EXPONENT_SHORT_MAX,
        };
        return if is_long { Ok((exponent, digits)) } else { Err(Malformed) };
    }
    let exponent = i32::from(first) - i32::from(EXPONENT_ZERO);
    if exponent.abs() <= EXPONENT_SHORT_MAX { Ok((exponent, rest)) } else { Err(Malformed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hexadecimal(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// In the order of numbers. These bytes are stored: they stay as they are.
    const ENCODINGS: &[(&str, &str)] = &[
        ("-Infinity", "0f0000"),
        ("-1e100", "20 7fffcc fd 0000"),
        ("-100", "3d fd 0000"),
        ("-1.5", "3e fc 9b 0001"),
        ("-1", "3e fd 0000"),
        ("-1.00", "3e fd 0002"),
        ("-0.01", "3f fd 0002"),
        ("-1e-100", "5e 800030 fd 0064"),
        ("0", "80 0000"),
        ("0.000", "80 0003"),
        ("1e-16383", "a1 7fe001 14 3fff"),
        ("1e-100", "a1 7fffcf 02 0064"),
        ("0.0001", "bf 02 0004"),
        ("0.01", "c0 02 0002"),
        ("0.1", "c0 14 0001"),
        ("1", "c1 02 0000"),
        ("1.0000", "c1 02 0004"),
        ("1.5", "c1 03 64 0001"),
        ("1.50", "c1 03 64 0002"),
        ("1.51", "c1 03 66 0002"),
        ("99", "c1 c6 0000"),
        ("100", "c2 02 0000"),
        ("100.001", "c2 03 01 01 14 0003"),
        ("123456", "c3 19 45 70 0000"),
        (
            "170141183460469231731687303715884105728.0",
            "d4 03 8d 1d 17 a7 5d 09 8b 2f 23 3f 89 93 07 8f 75 a9 15 73 38 0001",
        ),
        ("1e100", "df 800033 02 0000"),
        ("9e131071", "df 810000 b4 0000"),
        ("Infinity", "f0 0000"),
        ("NaN", "f1 0000"),
    ];

    #[test]
    fn encodings_are_stable() {
        for (text, expected) in ENCODINGS {
            let number = Numeric::parse(text).expect(text);
            let mut bytes = Vec::new();
            number.encode(&mut bytes);
            assert_eq!(hexadecimal(&bytes), expected.replace(' ', ""), "{text}");
            let decoded = Numeric::decode(&bytes).expect(text);
            assert_eq!(decoded.to_string(), number.to_string());
        }
    }

    #[test]
    fn keys_are_in_the_order_of_numbers() {
        let keys = ENCODINGS.iter().map(|(text, _)| {
            let mut bytes = Vec::new();
            Numeric::parse(text).expect(text).encode(&mut bytes);
            Numeric::key_of(&bytes).to_vec()
        });
        assert!(keys.is_sorted());
    }

    #[test]
    fn other_bytes_are_refused() {
        for bytes in [
            &[][..],
            &[0, 0],
            // A special number with a scale.
            &[NAN, 0, 1],
            &[ZERO, 0x40, 0],
            // No digits; a first or last one that is zero; one above 99.
            &[0xC1, 0, 0],
            &[0xC1, 1, 2, 0, 0],
            &[0xC1, 3, 0, 0, 0],
            &[0xC1, 200, 0, 0],
            &[0xC1, 3, 0, 0],
            // More digits than the scale has.
            &[0xC0, 2, 0, 1],
            &[0xC0, 3, 2, 0, 3],
            // A short exponent in the long form, and one that is too large.
            &[EXPONENT_LARGE, 0x80, 0, 30, 2, 0, 0],
            &[EXPONENT_LARGE, 0x81, 0, 1, 2, 0, 0],
            &[EXPONENT_SMALL, 0x7F, 0, 0, 2, 0x3F, 0xFF],
            &[0xE5, 2, 0, 0],
        ] {
            assert_eq!(Numeric::decode(bytes), Err(Malformed), "{bytes:?}");
        }
    }
}
