//! Random decisions that depend on a seed only: splitmix64.

/// A source of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Dice of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Other dice, which depend on these.
    pub(crate) fn fork(&mut self) -> Self {
        Self(self.next())
    }

    /// A number of 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a limit, which is not zero.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// An index of a list of this length, which is not zero.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// A number of a range.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True so often in a thousand times.
    pub(crate) fn permille(&mut self, chance: u64) -> bool {
        self.below(1000) < chance
    }
}
