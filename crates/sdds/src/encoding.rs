//! Order-preserving encoding of values as bytes of keys.
//!
//! Each function appends one value to `out`. No encoding is a prefix of another one of the same
//! type, so the key of several columns is the concatenation of their encodings.

use std::cmp::Ordering;

/// A boolean: false sorts first.
pub fn boolean(value: bool, out: &mut Vec<u8>) {
    out.push(u8::from(value));
}

/// An integer of any width, given as big-endian two's complement.
pub fn integer(big_endian: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(big_endian);
    if let Some(first) = out.get_mut(start) {
        *first ^= 0x80;
    }
}

/// A floating-point number, in IEEE total order, but with one zero and one NaN, which comes last.
pub fn float32(value: f32, out: &mut Vec<u8>) {
    // The sum is 0 for -0.
    let bits = if value.is_nan() { f32::NAN.abs() } else { value + 0.0 }.to_bits();
    let ordered = if bits >> 31 == 0 { bits | 1 << 31 } else { !bits };
    out.extend(ordered.to_be_bytes());
}

/// A double-precision floating-point number, as [`float32`].
pub fn float64(value: f64, out: &mut Vec<u8>) {
    let bits = if value.is_nan() { f64::NAN.abs() } else { value + 0.0 }.to_bits();
    let ordered = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
    out.extend(ordered.to_be_bytes());
}

/// Bytes or a text of any length: 00 is escaped as 00 FF, and 00 00 is the terminator.
pub fn bytes(value: &[u8], out: &mut Vec<u8>) {
    for &byte in value {
        out.push(byte);
        if byte == 0 {
            out.push(0xff);
        }
    }
    out.extend([0, 0]);
}

/// How the encoding of [`bytes`] compares with other bytes, without writing it.
pub fn compare_bytes(value: &[u8], other: &[u8]) -> Ordering {
    let mut rest = other;
    for &byte in value {
        let Some((first, behind)) = rest.split_first() else { return Ordering::Greater };
        if byte != *first {
            return byte.cmp(first);
        }
        rest = behind;
        if byte == 0 {
            match rest.split_first() {
                Some((0xff, behind)) => rest = behind,
                // The escape is the greatest byte.
                _ => return Ordering::Greater,
            }
        }
    }
    [0, 0].as_slice().cmp(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = vec![7];
        write(&mut out);
        out.split_off(1)
    }

    #[test]
    fn bytes_compare_as_their_encodings() {
        let values: [&[u8]; 8] = [b"", b"\0", b"\0\0", b"\0a", b"a", b"a\0", b"a\0b", b"ab\xff"];
        let mut others: Vec<Vec<u8>> =
            values.iter().map(|v| written(|out| bytes(v, out))).collect();
        others.extend(others.clone().into_iter().flat_map(|of| {
            let begun = (0..of.len()).map(|length| of[..length].to_vec()).collect::<Vec<_>>();
            let next = begun.clone().into_iter().map(|mut of| {
                of.push(0xff);
                of
            });
            begun.into_iter().chain(next.collect::<Vec<_>>())
        }));
        for value in values {
            let encoded = written(|out| bytes(value, out));
            for other in &others {
                assert_eq!(compare_bytes(value, other), encoded.cmp(other), "{value:?} {other:?}");
            }
        }
    }

    #[test]
    fn numbers_keep_their_order() {
        let integers = [i32::MIN, -1, 0, 1, i32::MAX];
        let forms = integers.map(|value| written(|out| integer(&value.to_be_bytes(), out)));
        assert!(forms.is_sorted(), "{forms:?}");
        let floats = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-300, f64::INFINITY, -f64::NAN];
        let wide = floats.map(|value| written(|out| float64(value, out)));
        assert!(wide.is_sorted(), "{wide:?}");
        let narrow = floats.map(|value| written(|out| float32(value as f32, out)));
        assert!(narrow.is_sorted(), "{narrow:?}");
        assert_eq!((&wide[2], &narrow[2]), (&wide[3], &narrow[3]));
        assert_eq!(written(|out| float64(-f64::NAN, out)), written(|out| float64(f64::NAN, out)));
    }

    #[test]
    fn a_text_comes_before_those_that_it_begins() {
        let texts = [&b""[..], b"\0", b"\0a", b"a", b"a\0", b"ab", b"b"];
        let forms = texts.map(|text| written(|out| bytes(text, out)));
        assert!(forms.is_sorted(), "{forms:?}");
        assert_eq!(forms[2], [0, 0xff, b'a', 0, 0]);
    }
}
