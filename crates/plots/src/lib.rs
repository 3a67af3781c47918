//! Charts as SVG: lines on logarithmic axes, and grouped bars.

mod bars;
mod lines;

pub use bars::{BarChart, Bars};
pub use lines::{Line, LineChart};

use plotters::style::RGBColor;

/// Width and height of a chart in pixels.
const SIZE: (u32, u32) = (860, 520);
const FONT: &str = "sans-serif";
const FONT_SIZE: u32 = 16;
const TITLE_SIZE: u32 = 20;
/// Pixels for the labels of an axis.
const LABEL_AREA: u32 = 56;
const MARGIN: u32 = 14;

/// The palette of Okabe and Ito, which people with colour vision deficiency can tell apart.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(85, 85, 85),
];

/// The colour of the series with this number.
fn colour(series: usize) -> RGBColor {
    COLOURS[series % COLOURS.len()]
}
