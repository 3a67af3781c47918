//! Increase rates: the ratio of response times between two steps of a parameter, predicted and measured.

/// One query at one point of the parameter grid.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    pub(super) query: &'static str,
    /// Indexes of its scale, selectivity and bucket size.
    pub(super) place: [usize; 3],
    /// Measured seconds.
    pub(super) measured: f64,
    /// Predicted seconds.
    pub(super) predicted: f64,
    /// Measured seconds of each half of the runs.
    pub(super) halves: [f64; 2],
}

/// The error in percent of the predicted rate of each step of a parameter (an index into `place`), with a description.
pub(super) fn errors(points: &[Point], along: usize) -> Vec<(f64, String)> {
    compared(points, along, |point| point.predicted, |point| point.measured)
}

/// The same with the rates of one half of the runs as the prediction of the other half: the error of measuring.
pub(super) fn noise(points: &[Point], along: usize) -> Vec<(f64, String)> {
    compared(points, along, |point| point.halves[0], |point| point.halves[1])
}

fn compared(
    points: &[Point],
    along: usize,
    predicted: fn(&Point) -> f64,
    measured: fn(&Point) -> f64,
) -> Vec<(f64, String)> {
    let mut errors = Vec::new();
    for from in points {
        let mut place = from.place;
        place[along] += 1;
        let next = points.iter().find(|point| point.query == from.query && point.place == place);
        let Some(to) = next else { continue };
        let rate = |of: fn(&Point) -> f64| of(to) / of(from);
        let (measured, predicted) = (rate(measured), rate(predicted));
        let error = 100.0 * (predicted / measured - 1.0).abs();
        errors.push((error, format!("{}: {predicted:.2} for {measured:.2}", from.query)));
    }
    errors
}

/// The mean error, and the greatest; `None` if there are none.
pub(super) fn summary(errors: &[(f64, String)]) -> Option<(f64, &(f64, String))> {
    let worst = errors.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    let sum: f64 = errors.iter().map(|(error, _)| error).sum();
    Some((sum / errors.len() as f64, worst))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_of_rates_not_of_durations() {
        let point = |scale, measured, predicted| Point {
            query: "Q1",
            place: [scale, 0, 0],
            measured,
            predicted,
            halves: [measured, 2.0 * measured * measured],
        };
        let points = [point(0, 1.0, 10.0), point(1, 2.0, 20.0), point(2, 4.0, 50.0)];
        let along_scale = errors(&points, 0);
        assert_eq!(along_scale.iter().map(|(error, _)| *error).collect::<Vec<_>>(), [0.0, 25.0]);
        assert!(errors(&points, 1).is_empty());
        let (mean, worst) = summary(&along_scale).expect("two steps");
        assert_eq!((mean, worst.0), (12.5, 25.0));
        assert_eq!(worst.1, "Q1: 2.50 for 2.00");
        assert_eq!(summary(&[]), None);
        let of_halves = noise(&points, 0).into_iter().map(|(error, _)| error);
        assert_eq!(of_halves.collect::<Vec<_>>(), [50.0, 50.0]);
    }
}
