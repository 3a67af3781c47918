//! Bar charts: groups of bars, one bar of each series in each group.

use super::{FONT, FONT_SIZE, LABEL_AREA, MARGIN, SIZE, TITLE_SIZE, colour};
use anyhow::Result;
use plotters::prelude::*;

/// A bar chart. The vertical axis begins at 0.
#[derive(Debug, Clone)]
pub struct BarChart {
    /// Title of the chart.
    pub title: String,
    /// Names of the groups, from left to right.
    pub groups: Vec<String>,
    /// The series, in the order of the legend.
    pub series: Vec<Bars>,
}

/// One series of a bar chart.
#[derive(Debug, Clone)]
pub struct Bars {
    /// Name in the legend.
    pub name: String,
    /// Height of the bar in each group.
    pub heights: Vec<f64>,
    /// A value to compare the last bar with, drawn as a black line.
    pub reference: Option<f64>,
}

/// Part of a group's width that its bars take.
const GROUP_FILL: f64 = 0.8;
/// The vertical axis ends above the highest bar, to leave room for the legend.
const HEADROOM: f64 = 1.3;

impl BarChart {
    /// Draws the chart as SVG.
    ///
    /// # Errors
    /// If the chart cannot be drawn.
    pub fn svg(&self) -> Result<String> {
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            self.draw(&area)?;
            area.present()?;
        }
        Ok(svg)
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, plotters::coord::Shift>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        area.fill(&WHITE)?;
        let highest = self.series.iter().flat_map(|bars| &bars.heights).copied();
        let y_max = highest.fold(1.0, f64::max) * HEADROOM;
        let groups = self.groups.len();
        // The centre of group n is at x = n.
        let x_range = -0.5..groups.max(1) as f64 - 0.5;
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, (FONT, TITLE_SIZE))
            .margin(MARGIN)
            .x_label_area_size(LABEL_AREA)
            .y_label_area_size(LABEL_AREA)
            .build_cartesian_2d(x_range, 0.0..y_max)?;
        let name = |x: &f64| {
            let is_centre = (x - x.round()).abs() < 1e-6 && *x > -0.5;
            let group = is_centre.then(|| self.groups.get(x.round() as usize)).flatten();
            group.cloned().unwrap_or_default()
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .x_labels(groups.max(1))
            .x_label_formatter(&name)
            .label_style((FONT, FONT_SIZE))
            .draw()?;
        let width = GROUP_FILL / self.series.len().max(1) as f64;
        for (number, bars) in self.series.iter().enumerate() {
            let style = colour(number).filled();
            let left = |group: usize| group as f64 - GROUP_FILL / 2.0 + width * number as f64;
            let bar = |(group, height): (usize, &f64)| {
                let (left, right) = (left(group), left(group) + width);
                Rectangle::new([(left, 0.0), (right, *height)], style)
            };
            chart
                .draw_series(bars.heights.iter().enumerate().map(bar))?
                .label(&bars.name)
                .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], style));
            if let Some(reference) = bars.reference {
                let left = left(groups.saturating_sub(1));
                let ends = [(left, reference), (left + width, reference)];
                chart.draw_series([PathElement::new(ends, BLACK.stroke_width(2))])?;
            }
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .label_font((FONT, FONT_SIZE))
            .draw()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_a_bar_of_each_series() {
        let bars = |name: &str, reference| Bars {
            name: name.to_owned(),
            heights: vec![100.0, 50.0, 75.0],
            reference,
        };
        let groups = ["Q1", "Q3", "mean"].map(str::to_owned).into();
        let series = vec![bars("single-host", None), bars("smart-disk", Some(40.0))];
        let title = "Response time".to_owned();
        let svg = BarChart { title, groups, series }.svg().expect("drawn");
        for (colour, name) in [("#0072B2", "single-host"), ("#D55E00", "smart-disk")] {
            let rects = svg.lines().filter(|l| l.starts_with("<rect") && l.contains(colour));
            assert_eq!(rects.count(), 4, "{name}: three groups and the legend");
            assert!(svg.contains(name), "{name}");
        }
        for group in ["Q1", "Q3", "mean"] {
            assert!(svg.contains(&format!("\n{group}\n")), "{group}: {svg}");
        }
        let is_reference = |line: &&str| line.starts_with("<polyline") && line.contains("#000000");
        assert!(svg.lines().any(|line| is_reference(&line) && line.contains("stroke-width=\"2\"")));
    }
}
