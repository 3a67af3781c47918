//! Values that need no memory of their own.

/// What a [`Register`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// NULL.
    Null,
    /// A truth value.
    Truth,
    /// An integer, the days of a date, or the microseconds of a timestamp.
    Integer,
    /// A double precision number.
    Double,
}

/// A value that needs no memory of its own. It is a pair of words, not an enum with values: functions return pairs in the
/// registers of the processor, and enums of several types in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register {
    kind: Kind,
    bits: u64,
}

impl Register {
    /// NULL.
    pub const NULL: Self = Self { kind: Kind::Null, bits: 0 };

    /// A truth value.
    pub fn of_truth(value: bool) -> Self {
        Self { kind: Kind::Truth, bits: value.into() }
    }

    /// An integer.
    pub fn of_integer(value: i64) -> Self {
        Self { kind: Kind::Integer, bits: value.cast_unsigned() }
    }

    /// A double precision number.
    pub fn of_double(value: f64) -> Self {
        Self { kind: Kind::Double, bits: value.to_bits() }
    }

    /// What it holds.
    pub fn kind(self) -> Kind {
        self.kind
    }

    /// The truth value, if it holds one. Other values are false.
    pub fn is_true(self) -> bool {
        self.kind == Kind::Truth && self.bits == 1
    }

    /// The integer, if it holds one. Other values have bits of their own.
    pub fn integer(self) -> i64 {
        self.bits.cast_signed()
    }

    /// The double precision number, if it holds one. Other values have bits of their own.
    pub fn double(self) -> f64 {
        f64::from_bits(self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_holds_what_was_put_in() {
        assert_eq!(Register::of_integer(i64::MIN).integer(), i64::MIN);
        assert_eq!(Register::of_double(-0.5).double().to_bits(), (-0.5_f64).to_bits());
        assert!(Register::of_truth(true).is_true() && !Register::of_truth(false).is_true());
        assert!(!Register::of_integer(1).is_true() && !Register::NULL.is_true());
        assert_eq!(size_of::<Option<Register>>(), 16);
    }
}
