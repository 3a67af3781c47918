//! The ordinals of the variants of messages.

/// Gives each variant of a message its ordinal, which is the first number of its bytes, and its name in logs and tests.
///
/// The variants are listed in the order of the enum. Ordinals are append-only: a variant that is retired stays in both, and
/// a new one comes last. A variant that is not listed does not compile, and a test compares the ordinals with the bytes.
macro_rules! ordinals {
    ($type:ident { $($ordinal:literal = $variant:ident $(as $name:literal)?),* $(,)? }) => {
        impl $type {
            /// The ordinal of the variant.
            pub fn ordinal(&self) -> u32 {
                match self { $(Self::$variant { .. } => $ordinal,)* }
            }

            /// The name of the variant, for logs and tests.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => ordinals!(@name $variant $($name)?),)*
                }
            }

            /// The names of all variants, in order.
            pub const NAMES: &[&str] = &[$(ordinals!(@name $variant $($name)?)),*];
        }
    };
    (@name $variant:ident) => { stringify!($variant) };
    (@name $variant:ident $name:literal) => { $name };
}

pub(crate) use ordinals;
