//! `width_bucket`: which of a number of buckets of equal width a number is in.

use crate::division::quotient_scale;
use crate::errors::Error;
use crate::number::Numeric;

impl Numeric {
    /// The bucket of this number among `count` ones between two bounds, from 1; 0 below and `count` + 1 above them. The
    /// first bound may be the greater one; buckets count from it.
    ///
    /// # Errors
    ///
    /// The errors of buckets, and [`Error::OutOfRange`] if `count` + 1 is none of `integer`.
    pub fn width_bucket(&self, first: &Self, second: &Self, count: i32) -> Result<i32, Error> {
        if count <= 0 {
            return Err(Error::BucketCount);
        }
        if self.is_nan() || first.is_nan() || second.is_nan() {
            return Err(Error::BucketNan);
        }
        if first.is_infinite() || second.is_infinite() {
            return Err(Error::BucketInfinite);
        }
        if first == second {
            return Err(Error::BucketBoundsEqual);
        }
        let rising = first < second;
        if if rising { self < first } else { self > first } {
            return Ok(0);
        }
        if if rising { self >= second } else { self <= second } {
            return count.checked_add(1).ok_or(Error::OutOfRange("integer"));
        }
        let offset = self.sub(first)?.abs().mul(&Self::from(count))?;
        let width = second.sub(first)?.abs();
        let position = offset.div_at(&width, quotient_scale(&offset, &width))?;
        // As in PostgreSQL 15, a quotient that is rounded up to the count is in the bucket behind the last one.
        position.floor()?.inc()?.to_i32()
    }
}
