//! The stable encoding of definitions and keys, for logs and checkpoints on disk.
//!
//! What is on a disk is read by later versions of the program. So the order of fields and the
//! ordinals of variants are written down here, apart from the types: reordering a type changes
//! nothing, and a new field does not compile until somebody decides its form. Forms are append-only:
//! an ordinal keeps its meaning for ever, and a retired one is not used again.
//!
//! | type | bytes |
//! |---|---|
//! | `bool`, `u8`, `i8` | 1 |
//! | `u32`, `u64` and numbers made of them | LEB128: 7 bits a byte, the lowest first |
//! | `i64` | as `u64`, zigzag |
//! | text, bytes | length as `u32`, bytes |
//! | lists, maps | number as `u32`, items |
//! | optional | 0, or 1 and the value |
//! | structs | the fields in order |
//! | enums | ordinal in one byte, the fields in order |
//! | Arrow types | ordinal in one byte, parameters; or 0 and an Arrow IPC stream as bytes |
//! | Arrow values | an Arrow IPC stream as bytes |
//!
//! The record or file that holds the bytes has a format version and a checksum; both are not here.

mod arrow;
mod definitions;
mod keys;
mod plain_index;
mod primitives;
mod relations;
#[cfg(test)]
mod tests;
mod triggers;

pub use primitives::{put_bytes, take_bytes};

/// Bytes that do not have the expected form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);

/// The bytes that are still to be decoded.
#[derive(Debug)]
pub struct Source<'a> {
    bytes: &'a [u8],
    /// How deep the value that is being decoded is nested in values of its own type.
    depth: u32,
}

/// Types are nested at most this deep.
const DEPTH_MAX: u32 = 64;

impl<'a> Source<'a> {
    /// Begins to decode bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, depth: 0 }
    }

    /// Whether everything has been decoded.
    pub fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the number of bytes that are left.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether no bytes are left.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes a number of bytes.
    ///
    /// # Errors
    /// There are fewer.
    pub fn take(&mut self, bytes: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.bytes.split_at_checked(bytes).ok_or(Malformed("it ends early"))?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Whether the next byte is this one.
    fn next_is(&self, byte: u8) -> bool {
        self.bytes.first() == Some(&byte)
    }

    /// Decodes a value within another one of its type.
    fn nested<T: Stable>(&mut self) -> Result<T, Malformed> {
        if self.depth == DEPTH_MAX {
            return Err(Malformed("it is nested too deep"));
        }
        self.depth += 1;
        let value = T::decode(self);
        self.depth -= 1;
        value
    }
}

/// A value with a stable encoding.
pub trait Stable: Sized {
    /// Appends the value.
    fn encode(&self, out: &mut Vec<u8>);

    /// Decodes a value.
    ///
    /// # Errors
    /// [`Malformed`] bytes.
    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed>;
}

/// Encodes one value.
pub fn encode(value: &impl Stable) -> Vec<u8> {
    let mut out = Vec::new();
    value.encode(&mut out);
    out
}

/// Decodes one value, which must take all bytes.
///
/// # Errors
/// [`Malformed`] bytes.
pub fn decode<T: Stable>(bytes: &[u8]) -> Result<T, Malformed> {
    let mut source = Source::new(bytes);
    let value = T::decode(&mut source)?;
    if source.is_at_end() { Ok(value) } else { Err(Malformed("it continues after its end")) }
}

/// Implements [`Stable`] for a struct by its fields in order.
macro_rules! fields {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl $crate::stable::Stable for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $($crate::stable::Stable::encode($field, out);)*
            }

            fn decode(
                from: &mut $crate::stable::Source<'_>,
            ) -> Result<Self, $crate::stable::Malformed> {
                $(let $field = $crate::stable::Stable::decode(from)?;)*
                Ok(Self { $($field),* })
            }
        }
    };
}

/// Implements [`Stable`] for an enum by the ordinals of its variants.
macro_rules! variants {
    ($type:ident {
        $($ordinal:literal => $variant:ident $(($($item:ident),*))? $({ $($field:ident),* })?),*
        $(,)?
    }) => {
        impl $crate::stable::Stable for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $(($($item),*))? $({ $($field),* })? => {
                        out.push($ordinal);
                        $($($crate::stable::Stable::encode($item, out);)*)?
                        $($($crate::stable::Stable::encode($field, out);)*)?
                    })*
                }
            }

            fn decode(
                from: &mut $crate::stable::Source<'_>,
            ) -> Result<Self, $crate::stable::Malformed> {
                match <u8 as $crate::stable::Stable>::decode(from)? {
                    $($ordinal => {
                        $($(let $item = $crate::stable::Stable::decode(from)?;)*)?
                        $($(let $field = $crate::stable::Stable::decode(from)?;)*)?
                        Ok(Self::$variant $(($($item),*))? $({ $($field),* })?)
                    })*
                    _ => Err($crate::stable::Malformed(concat!(
                        "a variant of ", stringify!($type), " is unknown"
                    ))),
                }
            }
        }
    };
}

/// Implements [`Stable`] for structs of one unnamed field.
macro_rules! wrappers {
    ($($type:ident),* $(,)?) => {
        $(impl $crate::stable::Stable for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                $crate::stable::Stable::encode(&self.0, out);
            }

            fn decode(
                from: &mut $crate::stable::Source<'_>,
            ) -> Result<Self, $crate::stable::Malformed> {
                $crate::stable::Stable::decode(from).map(Self)
            }
        })*
    };
}

use {fields, variants, wrappers};
