//! Costs that depend on how many rows a table in memory has: the more, the farther from the processor most of them lie.

use serde::de::{Deserialize, Deserializer, Error as _};

/// What was measured with tables of ever more rows: rows, and then cycles of one kind of work after the other. Between two
/// sizes cycles grow with each doubling by as much; outside they are those of the nearest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ByRows<T>(Vec<T>);

impl<T: AsRef<[f64]>> ByRows<T> {
    /// Cycles of a kind of work, counted from 1, with a table of so many rows; none where nothing was measured.
    pub fn cycles(&self, kind: usize, rows: f64) -> f64 {
        let measured = |place: usize| self.0[place].as_ref();
        let next = self.0.iter().position(|size| rows <= size.as_ref()[0]);
        match (self.0.len(), next) {
            (0, _) => 0.0,
            (_, Some(0)) => measured(0)[kind],
            (sizes, None) => measured(sizes - 1)[kind],
            (_, Some(next)) => {
                let (less, more) = (measured(next - 1), measured(next));
                let part = (rows / less[0]).ln() / (more[0] / less[0]).ln();
                less[kind] + part * (more[kind] - less[kind])
            }
        }
    }
}

impl<'de, T: AsRef<[f64]> + Deserialize<'de>> Deserialize<'de> for ByRows<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let sizes = Vec::<T>::deserialize(deserializer)?;
        let mut least = 0.0;
        for size in &sizes {
            let size = size.as_ref();
            if size[0] <= least || !size.iter().all(|number| number.is_finite() && *number >= 0.0) {
                return Err(D::Error::custom(format!(
                    "{size:?} are not rows, more than {least}, and cycles, 0 or more"
                )));
            }
            least = size[0];
        }
        Ok(Self(sizes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct File {
        sizes: ByRows<[f64; 3]>,
    }

    fn read(text: &str) -> Result<ByRows<[f64; 3]>, String> {
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
            ("[[100, 1, 1], [100, 2, 2]]", "[100.0, 2.0, 2.0] are not rows, more than 100"),
            ("[[0, 1, 1]]", "[0.0, 1.0, 1.0]"),
            ("[[100, 1, -1]]", "[100.0, 1.0, -1.0]"),
            ("[[100, 1]]", "length 2"),
        ] {
            let refused = read(text).expect_err(text);
            assert!(refused.contains(named), "{refused}");
        }
    }
}
