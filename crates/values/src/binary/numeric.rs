//! `numeric` in binary format: digits in base 10,000; the first has the weight 10,000^`weight`.

use crate::error::{Error, Result, SqlState};
use bytes::{Buf, BufMut, BytesMut};

const BASE: u128 = 10_000;
const BASE_DIGITS: u32 = 4;
const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xc000;
/// The maximum number of decimal digits of a numeric.
const DIGITS_MAX: u32 = 38;

/// Appends `value / 10^scale`.
pub(super) fn write(value: i128, scale: i8, out: &mut BytesMut) {
    let scale = u32::try_from(scale).unwrap_or(0);
    let whole_part = value.unsigned_abs() / 10u128.pow(scale);
    let mut fraction = value.unsigned_abs() % 10u128.pow(scale);
    let mut digits = [0u16; 24];
    let mut first = 12;
    let mut whole = whole_part;
    while whole > 0 {
        first -= 1;
        digits[first] = (whole % BASE) as u16;
        whole /= BASE;
    }
    let weight = 11 - first as i16;
    let mut end = 12;
    let mut left = scale;
    while fraction > 0 {
        let step = left.min(BASE_DIGITS);
        left -= step;
        let unit = 10u128.pow(left);
        digits[end] = (fraction / unit) as u16 * 10u16.pow(BASE_DIGITS - step);
        fraction %= unit;
        end += 1;
    }
    let mut weight = weight;
    while first < end && digits[first] == 0 {
        first += 1;
        weight -= 1;
    }
    while end > first && digits[end - 1] == 0 {
        end -= 1;
    }
    out.put_u16((end - first) as u16);
    out.put_i16(if first == end { 0 } else { weight });
    out.put_u16(if value < 0 { NEGATIVE } else { 0 });
    out.put_u16(scale as u16);
    for digit in &digits[first..end] {
        out.put_u16(*digit);
    }
}

/// The unscaled value and the scale.
pub(super) fn read(mut bytes: &[u8]) -> Result<(i128, i8)> {
    let bad = || Error::new(SqlState::InvalidBinaryRepresentation, "invalid binary numeric");
    let count = bytes.try_get_u16().map_err(|_| bad())?;
    let weight = bytes.try_get_i16().map_err(|_| bad())?;
    let sign = bytes.try_get_u16().map_err(|_| bad())?;
    let scale = bytes.try_get_u16().map_err(|_| bad())?;
    if sign == NAN {
        return Err(Error::unsupported("numeric NaN is not supported"));
    }
    if bytes.len() != usize::from(count) * 2 || sign & !NEGATIVE != 0 {
        return Err(bad());
    }
    let large = || {
        let message = format!("numeric value has more than {DIGITS_MAX} digits");
        Error::new(SqlState::NumericValueOutOfRange, message)
    };
    let scale = u32::from(scale);
    if scale > DIGITS_MAX {
        return Err(large());
    }
    let mut value: i128 = 0;
    for position in 0..count {
        let digit = bytes.get_u16();
        if u128::from(digit) >= BASE {
            return Err(bad());
        }
        // The weight of this digit in the unscaled value, as a power of ten.
        let power =
            (i64::from(weight) - i64::from(position)) * i64::from(BASE_DIGITS) + i64::from(scale);
        let part = match u32::try_from(power) {
            Ok(power) => 10i128.checked_pow(power).and_then(|p| p.checked_mul(digit.into())),
            Err(_) => {
                let cut = u32::try_from(-power).unwrap_or(u32::MAX);
                Some(i128::from(digit) / 10i128.checked_pow(cut).unwrap_or(i128::MAX))
            }
        };
        value = part.and_then(|part| value.checked_add(part)).ok_or_else(large)?;
    }
    if value >= 10i128.pow(DIGITS_MAX) {
        return Err(large());
    }
    Ok((if sign == NEGATIVE { -value } else { value }, scale as i8))
}
