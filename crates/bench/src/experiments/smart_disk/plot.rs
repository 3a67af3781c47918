//! Response times of a variation as a picture: a group of bars for each query, a bar for each architecture, the single
//! host's height 100; lines in the last group are what was published.

use dbsim::experiment::{ARCHITECTURES, Normalised};
use dbsim::plan::Query;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 70.0;
const BOTTOM: f64 = 370.0;
const BAR: f64 = 22.0;
const GROUP: f64 = 112.0;

/// Told apart by those who see fewer colours, too (Okabe and Ito).
const COLOURS: [&str; 4] = ["#555555", "#e69f00", "#0072b2", "#009e73"];

/// The picture of a variation.
pub(super) fn svg(row: &Normalised) -> String {
    let most = (0..4).flat_map(|column| row.percent(column)).fold(100.0, f64::max);
    let y = |percent: f64| BOTTOM - (BOTTOM - TOP) * percent / most;
    let mut parts = vec![format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    )];
    let title = format!("Response time, single host = 100: {}", row.variation.name());
    parts.push(label(LEFT, 26.0, "start", &title));
    for percent in [0.0, 25.0, 50.0, 75.0, 100.0] {
        let y = y(percent);
        parts.push(format!("<path d=\"M{LEFT} {y:.1}H{}\" stroke=\"#dddddd\"/>", WIDTH - 10.0));
        parts.push(label(LEFT - 8.0, y + 4.0, "end", &percent.to_string()));
    }
    for (column, colour) in COLOURS.iter().enumerate() {
        let x = LEFT + 150.0 * column as f64;
        parts.push(format!(
            "<rect x=\"{x}\" y=\"40\" width=\"12\" height=\"12\" fill=\"{colour}\"/>"
        ));
        parts.push(label(x + 18.0, 51.0, "start", ARCHITECTURES[column]));
        let heights = row.percent(column).into_iter().chain([row.averages[column]]);
        for (group, percent) in heights.enumerate() {
            let x = LEFT + 10.0 + GROUP * group as f64 + BAR * column as f64;
            let (y, height) = (y(percent), BOTTOM - y(percent));
            parts.push(format!(
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{BAR}\" height=\"{height:.1}\" fill=\"{colour}\"/>"
            ));
        }
        let x = LEFT + 10.0 + GROUP * 6.0 + BAR * column as f64;
        let y = y(row.published()[column]);
        parts.push(format!(
            "<path d=\"M{x:.1} {y:.1}h{BAR}\" stroke=\"black\" stroke-width=\"2\"/>"
        ));
    }
    let names = Query::ALL.iter().map(|query| query.name()).chain(["mean (line: paper)"]);
    for (group, name) in names.enumerate() {
        let x = LEFT + 10.0 + GROUP * group as f64 + 2.0 * BAR;
        parts.push(label(x, BOTTOM + 22.0, "middle", name));
    }
    parts.push("</svg>\n".to_owned());
    parts.join("\n")
}

/// Text of ours, which needs no escaping.
fn label(x: f64, y: f64, anchor: &str, text: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbsim::experiment::Variation;

    #[test]
    fn every_query_and_the_average_have_a_bar_for_each_architecture() {
        let seconds = [[10.0; 6], [5.0; 6], [4.0; 6], [3.0; 6]];
        let averages = [100.0, 50.0, 40.0, 30.0];
        let picture = svg(&Normalised { variation: Variation::FasterIo, seconds, averages });
        assert_eq!(picture.matches("height=\"150.0\"").count(), 7, "half of 300 points");
        assert_eq!(picture.matches("stroke=\"black\"").count(), 4);
        assert!(picture.contains("single host = 100: faster I/O") && picture.ends_with("</svg>\n"));
    }
}
