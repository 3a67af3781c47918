//! `numeric` in binary format: digits in base 10,000; the first has the weight 10,000^`weight`.

use bytes::{BufMut, BytesMut};

const BASE: u128 = 10_000;
const BASE_DIGITS: u32 = 4;
const NEGATIVE: u16 = 0x4000;

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
