//! Numbers, texts, lists and optional values.

use super::{Malformed, Source, Stable};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Stable for u8 {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        Ok(from.take(1)?[0])
    }
}

impl Stable for i8 {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.cast_unsigned());
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        Ok(u8::decode(from)?.cast_signed())
    }
}

impl Stable for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        match u8::decode(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed("a truth value is neither 0 nor 1")),
        }
    }
}

impl Stable for u64 {
    fn encode(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = u8::decode(from)?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Malformed("a number has more than 64 bits"))
    }
}

impl Stable for u32 {
    fn encode(&self, out: &mut Vec<u8>) {
        u64::from(*self).encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        let wide = u64::decode(from)?;
        Self::try_from(wide).map_err(|_| Malformed("a number has more than 32 bits"))
    }
}

impl Stable for i64 {
    fn encode(&self, out: &mut Vec<u8>) {
        ((self << 1) ^ (self >> 63)).cast_unsigned().encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        let zigzag = u64::decode(from)?;
        Ok((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed())
    }
}

/// Appends bytes with their length, which must be less than 4 GiB.
pub fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_length(bytes.len(), out);
    out.extend_from_slice(bytes);
}

/// Takes bytes that [`put_bytes`] has appended.
///
/// # Errors
/// [`Malformed`] bytes.
pub fn take_bytes<'a>(from: &mut Source<'a>) -> Result<&'a [u8], Malformed> {
    let length = u32::decode(from)? as usize;
    from.take(length)
}

fn put_length(length: usize, out: &mut Vec<u8>) {
    let length = u32::try_from(length).expect("what is encoded is shorter than 4 GiB");
    length.encode(out);
}

impl Stable for String {
    fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        let bytes = take_bytes(from)?.to_vec();
        Self::from_utf8(bytes).map_err(|_| Malformed("a text is not UTF-8"))
    }
}

impl<T: Stable> Stable for Option<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.is_some().encode(out);
        if let Some(value) = self {
            value.encode(out);
        }
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        if bool::decode(from)? { T::decode(from).map(Some) } else { Ok(None) }
    }
}

impl<T: Stable> Stable for Vec<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        put_length(self.len(), out);
        self.iter().for_each(|item| item.encode(out));
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        // Memory is not allocated by a length that was read.
        let length = u32::decode(from)?;
        (0..length).map(|_| T::decode(from)).collect()
    }
}

impl<K: Stable + Ord, V: Stable> Stable for BTreeMap<K, V> {
    fn encode(&self, out: &mut Vec<u8>) {
        put_length(self.len(), out);
        for (key, value) in self {
            key.encode(out);
            value.encode(out);
        }
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        let length = u32::decode(from)?;
        (0..length).map(|_| Ok((K::decode(from)?, V::decode(from)?))).collect()
    }
}

impl<A: Stable, B: Stable> Stable for (A, B) {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
        self.1.encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        Ok((A::decode(from)?, B::decode(from)?))
    }
}

impl<T: Stable> Stable for Arc<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        T::encode(self, out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        T::decode(from).map(Self::new)
    }
}

impl<T: Stable> Stable for Box<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        T::encode(self, out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        from.nested().map(Self::new)
    }
}
