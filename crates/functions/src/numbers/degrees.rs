//! Trigonometric functions of degrees, exact where degrees have exact results: quotients of what the functions give for such
//! degrees, in the order of operations of PostgreSQL.

use std::hint::black_box;

/// Radians of a degree.
pub(super) const RADIANS: f64 = 0.017_453_292_519_943_295;

/// The sine of up to 30 degrees.
fn small_sine(degrees: f64) -> f64 {
    (degrees * RADIANS).sin() / (black_box(30.0) * RADIANS).sin() / 2.0
}

/// The cosine of up to 60 degrees.
fn small_cosine(degrees: f64) -> f64 {
    let rest = |degrees: f64| 1.0 - (degrees * RADIANS).cos();
    1.0 - rest(degrees) / rest(black_box(60.0)) / 2.0
}

/// The sine of up to 90 degrees.
fn quarter_sine(degrees: f64) -> f64 {
    if degrees <= 30.0 { small_sine(degrees) } else { small_cosine(90.0 - degrees) }
}

/// The cosine of up to 90 degrees.
fn quarter_cosine(degrees: f64) -> f64 {
    if degrees <= 60.0 { small_cosine(degrees) } else { small_sine(90.0 - degrees) }
}

/// An angle in the first half of the circle, and the sign that turning it there gives an odd function.
fn turned(degrees: f64) -> (f64, f64) {
    let degrees = degrees % 360.0;
    let (degrees, sign) = if degrees < 0.0 { (-degrees, -1.0) } else { (degrees, 1.0) };
    if degrees > 180.0 { (360.0 - degrees, -sign) } else { (degrees, sign) }
}

pub(super) fn sine(degrees: f64) -> f64 {
    let (degrees, sign) = turned(degrees);
    sign * quarter_sine(if degrees > 90.0 { 180.0 - degrees } else { degrees })
}

pub(super) fn cosine(degrees: f64) -> f64 {
    let (degrees, _) = turned(degrees);
    if degrees > 90.0 { -quarter_cosine(180.0 - degrees) } else { quarter_cosine(degrees) }
}

pub(super) fn tangent(degrees: f64) -> f64 {
    quotient(degrees, |degrees| quarter_sine(degrees) / quarter_cosine(degrees))
}

pub(super) fn cotangent(degrees: f64) -> f64 {
    quotient(degrees, |degrees| quarter_cosine(degrees) / quarter_sine(degrees))
}

/// A function that is 1 at 45 degrees.
fn quotient(degrees: f64, of: impl Fn(f64) -> f64) -> f64 {
    let (degrees, sign) = turned(degrees);
    let (degrees, sign) = if degrees > 90.0 { (180.0 - degrees, -sign) } else { (degrees, sign) };
    // A zero has no sign.
    sign * (of(degrees) / of(45.0)) + 0.0
}

/// The inverse sine of a number that is not negative.
fn positive_arc_sine(value: f64) -> f64 {
    if value <= 0.5 {
        value.asin() / black_box(0.5_f64).asin() * 30.0
    } else {
        90.0 - value.acos() / black_box(0.5_f64).acos() * 60.0
    }
}

pub(super) fn arc_sine(value: f64) -> f64 {
    if value >= 0.0 { positive_arc_sine(value) } else { -positive_arc_sine(-value) }
}

pub(super) fn arc_cosine(value: f64) -> f64 {
    if value < 0.0 {
        90.0 + positive_arc_sine(-value)
    } else if value <= 0.5 {
        90.0 - value.asin() / black_box(0.5_f64).asin() * 30.0
    } else {
        value.acos() / black_box(0.5_f64).acos() * 60.0
    }
}

/// Radians of an inverse tangent in degrees.
pub(super) fn of_arc_tangent(radians: f64) -> f64 {
    radians / black_box(1.0_f64).atan() * 45.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_with_exact_results_have_them() {
        assert_eq!([30.0, 90.0, 150.0, 210.0, -30.0].map(sine), [0.5, 1.0, 0.5, -0.5, -0.5]);
        assert_eq!([0.0, 60.0, 90.0, 120.0, 180.0].map(cosine), [1.0, 0.5, 0.0, -0.5, -1.0]);
        assert_eq!([45.0, 135.0, -45.0, 225.0].map(tangent), [1.0, -1.0, -1.0, 1.0]);
        assert_eq!([45.0, 90.0].map(cotangent), [1.0, 0.0]);
        assert_eq!([0.5, 1.0, -0.5].map(arc_sine), [30.0, 90.0, -30.0]);
        assert_eq!([0.5, 1.0, -0.5, 0.0].map(arc_cosine), [60.0, 0.0, 120.0, 90.0]);
        assert_eq!(of_arc_tangent((-1.0_f64).atan2(1e15)), -5.729_577_951_308_233e-14);
    }
}
