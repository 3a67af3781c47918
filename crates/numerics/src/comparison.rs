//! Equality, order and hashes, all by value: scales make no difference.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use num_bigint::BigInt;

use crate::number::{Numeric, Repr};
use crate::powers_of_ten;

impl Ord for Numeric {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Repr::Small(left, left_scale), Repr::Small(right, right_scale)) =
            (&self.0, &other.0)
        {
            return small((*left, u32::from(*left_scale)), (*right, u32::from(*right_scale)));
        }
        match (self.parts(), other.parts()) {
            (Some((left, left_scale)), Some((right, right_scale))) => {
                let order = left.sign().cmp(&right.sign());
                order.then_with(|| large((&left, left_scale), (&right, right_scale)))
            }
            _ => class(self).cmp(&class(other)),
        }
    }
}

/// The order of NaN, infinities and all finite numbers as one.
fn class(number: &Numeric) -> u8 {
    match number.0 {
        Repr::NegativeInfinity => 0,
        Repr::Small(..) | Repr::Large(_) => 1,
        Repr::Infinity => 2,
        Repr::Nan => 3,
    }
}

fn small((left, left_scale): (i128, u32), (right, right_scale): (i128, u32)) -> Ordering {
    if left_scale == right_scale || left.signum() != right.signum() {
        return left.cmp(&right);
    }
    if left_scale < right_scale {
        return match powers_of_ten::scale_small(left, right_scale - left_scale) {
            Some(left) => left.cmp(&right),
            // Beyond all of 128 bits, on the side of its sign.
            None => left.cmp(&0),
        };
    }
    small((right, right_scale), (left, left_scale)).reverse()
}

fn large((left, left_scale): (&BigInt, u32), (right, right_scale): (&BigInt, u32)) -> Ordering {
    match left_scale.cmp(&right_scale) {
        Ordering::Equal => left.cmp(right),
        Ordering::Less => {
            powers_of_ten::scale_large(left.clone(), right_scale - left_scale).cmp(right)
        }
        Ordering::Greater => {
            left.cmp(&powers_of_ten::scale_large(right.clone(), left_scale - right_scale))
        }
    }
}

impl PartialOrd for Numeric {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Numeric {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Numeric {}

impl Hash for Numeric {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        state.write(Self::key_of(&bytes));
    }
}
