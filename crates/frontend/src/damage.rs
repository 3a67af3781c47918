//! Deterministic damage to valid conversations, by seed.

/// A deterministic sequence of numbers.
#[derive(Debug, Clone)]
pub struct Damage(u64);

impl Damage {
    /// The sequence of a seed; 0 is replaced by 1.
    pub fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    /// A number below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }

    /// Damages bytes at a few positions; at least one byte remains.
    pub fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            if bytes.is_empty() {
                bytes.push(0);
            }
            let at = self.below(bytes.len());
            match self.below(6) {
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = [0, 0x7f, 0x80, 0xff][self.below(4)],
                2 => bytes.truncate(at + 1),
                3 => bytes.insert(at, bytes[at]),
                4 => drop(bytes.remove(at)),
                _ => bytes.extend_from_within(at..),
            }
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
}
