//! `random()` and `setseed()`.

use crate::row_function::{Row, volatile};
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::Float64Type;
use datafusion::logical_expr::ScalarUDF;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use values::cells::{Cell, Form};
use values::error::{Error, Result, SqlState};

/// The random numbers of a session, from which equal seeds take equal series (SplitMix64).
#[derive(Debug)]
pub struct Chance(AtomicU64);

impl Default for Chance {
    fn default() -> Self {
        Self(RandomState::new().build_hasher().finish().into())
    }
}

impl Chance {
    /// The next number, at least 0 and less than 1.
    fn next(&self) -> f64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mixed = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn seed(&self, row: &Row<'_>) -> Result<Cell> {
        let seed = row.value(0).filter(|_| !row.has_null());
        let Some((_, array, at)) = seed else { return Ok(Cell::Null) };
        let seed = array.as_primitive::<Float64Type>().value(at);
        if !(-1.0..=1.0).contains(&seed) {
            let message = format!("setseed parameter {seed} is out of allowed range [-1,1]");
            return Err(Error::new(SqlState::InvalidParameterValue, message));
        }
        self.0.store(seed.to_bits(), Ordering::Relaxed);
        Ok("".into())
    }
}

/// The functions of a session.
pub fn all(of: &Arc<Chance>) -> [ScalarUDF; 2] {
    let (numbers, seeded) = (Arc::clone(of), Arc::clone(of));
    [
        volatile("random", 0..=0, Form::Double, move |_| Ok(Cell::Double(numbers.next()))),
        volatile("setseed", 1..=1, Form::Text, move |row| seeded.seed(row)),
    ]
}

#[cfg(test)]
mod tests {
    use super::Chance;

    #[test]
    fn equal_states_give_equal_numbers() {
        let series = || {
            let chance = Chance(0.5_f64.to_bits().into());
            [chance.next(), chance.next(), chance.next()]
        };
        let [first, second, third] = series();
        assert_eq!(series(), [first, second, third]);
        assert!(first != second && second != third);
        assert!(series().iter().all(|number| (0.0..1.0).contains(number)));
    }
}
