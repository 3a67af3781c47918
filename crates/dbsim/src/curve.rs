//! Costs that depend on something else: on the rows of a table in memory (the more, the farther from the processor most of them
//! lie), on the part of the rows that is chosen (the smaller, the farther these lie apart), and on whether these lie in runs.

use serde::de::{Deserialize, Deserializer, Error as _};

/// What was measured at some points: at which, and then cycles of one kind of work after the other. Between two points cycles
/// grow with each doubling by as much; outside they are those of the nearest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curve<T>(Vec<T>);

impl<T: AsRef<[f64]>> Curve<T> {
    /// Cycles of a kind of work, counted from 1, at a point; none where nothing was measured.
    pub fn cycles(&self, kind: usize, at: f64) -> f64 {
        along(self.0.iter().map(|point| (point.as_ref()[0], point.as_ref()[kind])), at)
    }
}

/// Cycles at a point, of ascending points and the cycles that were measured there.
pub(crate) fn along(measured: impl IntoIterator<Item = (f64, f64)>, at: f64) -> f64 {
    let mut before: Option<(f64, f64)> = None;
    for (point, cycles) in measured {
        if at <= point {
            return before.map_or(cycles, |(less, fewer)| {
                fewer + (at / less).ln() / (point / less).ln() * (cycles - fewer)
            });
        }
        before = Some((point, cycles));
    }
    before.map_or(0.0, |(_, cycles)| cycles)
}

impl<'de, T: AsRef<[f64]> + Deserialize<'de>> Deserialize<'de> for Curve<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let points = Vec::<T>::deserialize(deserializer)?;
        let mut last = 0.0;
        for point in &points {
            let point = point.as_ref();
            if point[0] <= last || !point.iter().all(|number| number.is_finite() && *number >= 0.0)
            {
                return Err(D::Error::custom(format!(
                    "{point:?} must be a point greater than {last} and cycles of at least 0"
                )));
            }
            last = point[0];
        }
        Ok(Self(points))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct File {
        sizes: Curve<[f64; 3]>,
    }

    fn read(text: &str) -> Result<Curve<[f64; 3]>, String> {
        let file = toml::from_str::<File>(&format!("sizes = {text}"));
        file.map(|file| file.sizes).map_err(|error| error.to_string())
    }

    #[test]
    fn cycles_grow_with_each_doubling_between_what_was_measured() {
        let sizes = read("[[100, 1, 10], [400, 3, 30], [800, 13, 30]]").expect("good");
        for (rows, cycles) in
            [(1.0, 1.0), (100.0, 1.0), (200.0, 2.0), (400.0, 3.0), (800.0, 13.0), (1e9, 13.0)]
        {
            assert!((sizes.cycles(1, rows) - cycles).abs() < 1e-9, "{rows}");
        }
        assert!((sizes.cycles(2, 200.0) - 20.0).abs() < 1e-9);
        assert_eq!(read("[]").expect("good").cycles(2, 10.0), 0.0);
    }

    #[test]
    fn what_is_not_in_order_or_negative_is_named() {
        for (text, named) in [
            (
                "[[100, 1, 1], [100, 2, 2]]",
                "[100.0, 2.0, 2.0] must be a point greater than 100 and cycles",
            ),
            ("[[0, 1, 1]]", "[0.0, 1.0, 1.0]"),
            ("[[100, 1, -1]]", "[100.0, 1.0, -1.0]"),
            ("[[100, 1]]", "length 2"),
        ] {
            let refused = read(text).expect_err(text);
            assert!(refused.contains(named), "{refused}");
        }
    }
}
