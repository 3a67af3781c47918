//! Bytes of [`Totals`], for states that other servers merge.
//!
//! A byte that is 1 with squares and 0 without; the numbers of NaN, infinities and negative infinities; the number of
//! scales; in ascending order each scale and how many numbers have it; the sum at the greatest scale, and the sum of squares at
//! twice that scale. Integers are little-endian in groups of seven bits, of which the last has the high bit 0. A sum is
//! the number of its bytes, then its bytes: two's complement, the least ones first.

use num_bigint::BigInt;

use crate::accumulator::Accumulator;
use crate::errors::Malformed;
use crate::number::SCALE_MAX;
use crate::totals::Totals;

impl Totals {
    /// Appends the state.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.squares.is_some()));
        for count in [self.nans, self.infinities, self.negative_infinities] {
            write_integer(count, out);
        }
        write_integer(self.scales().count() as u64, out);
        for (scale, count) in self.scales() {
            write_integer(u64::from(scale), out);
            write_integer(count, out);
        }
        write_sum(&self.sum, self.scale, out);
        if let Some(squares) = &self.squares {
            write_sum(squares, 2 * self.scale, out);
        }
    }

    /// The state of bytes that [`Totals::encode`] has written.
    ///
    /// # Errors
    ///
    /// [`Malformed`] for other bytes. Not all damage is found: digits of sums are what they are.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut bytes = bytes;
        let with_squares = match bytes.split_off_first() {
            Some(0) => false,
            Some(1) => true,
            _ => return Err(Malformed),
        };
        let mut totals = Totals::new(with_squares);
        totals.nans = read_count(&mut bytes)?;
        totals.infinities = read_count(&mut bytes)?;
        totals.negative_infinities = read_count(&mut bytes)?;
        let scales = read_integer(&mut bytes)?;
        for at in 0..scales {
            let scale = read_integer(&mut bytes)?;
            let count = read_count(&mut bytes)?;
            let ascending = at == 0 || scale > u64::from(totals.scale);
            if scale > u64::from(SCALE_MAX) || count == 0 || !ascending {
                return Err(Malformed);
            }
            totals.count_scales(scale as u32, count);
        }
        totals.sum = read_sum(&mut bytes, totals.scale)?;
        if with_squares {
            totals.squares = Some(read_sum(&mut bytes, 2 * totals.scale)?);
        }
        if bytes.is_empty() { Ok(totals) } else { Err(Malformed) }
    }
}

fn write_integer(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn read_integer(bytes: &mut &[u8]) -> Result<u64, Malformed> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first().ok_or(Malformed)?;
        let group = u64::from(byte & 0x7F);
        if group << shift >> shift != group {
            return Err(Malformed);
        }
        value |= group << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Malformed)
}

/// A number of numbers: no more than can be counted, so that sums of them do not overflow.
fn read_count(bytes: &mut &[u8]) -> Result<u64, Malformed> {
    let count = read_integer(bytes)?;
    if count <= 1 << 40 { Ok(count) } else { Err(Malformed) }
}

fn write_sum(sum: &Accumulator, scale: u32, out: &mut Vec<u8>) {
    if let Some(value) = sum.small_value(scale) {
        // One bit more than those of the magnitude, for the sign.
        let bits = 128 - (value ^ (value >> 127)).leading_zeros() + 1;
        let length = bits.div_ceil(8);
        write_integer(u64::from(length), out);
        out.extend_from_slice(&value.to_le_bytes()[..length as usize]);
        return;
    }
    let bytes = sum.value(scale).to_signed_bytes_le();
    write_integer(bytes.len() as u64, out);
    out.extend_from_slice(&bytes);
}

fn read_sum(bytes: &mut &[u8], scale: u32) -> Result<Accumulator, Malformed> {
    let length = usize::try_from(read_integer(bytes)?).map_err(|_| Malformed)?;
    let digits = bytes.split_off(..length).ok_or(Malformed)?;
    Ok(Accumulator::new(BigInt::from_signed_bytes_le(digits), scale))
}
