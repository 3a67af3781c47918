//! Line charts on two logarithmic axes.

use super::{FONT, FONT_SIZE, LABEL_AREA, MARGIN, SIZE, TITLE_SIZE, colour};
use anyhow::Result;
use plotters::prelude::*;

/// A line chart. Both axes are logarithmic; the horizontal one begins at 1.
#[derive(Debug, Clone)]
pub struct LineChart {
    /// Title of the chart.
    pub title: String,
    /// Name of the horizontal axis.
    pub x_name: String,
    /// Name of the vertical axis.
    pub y_name: String,
    /// Least and greatest value of the vertical axis, both positive. Other values are drawn at the nearest of the two.
    pub y_range: std::ops::Range<f64>,
    /// The lines, in the order of the legend.
    pub lines: Vec<Line>,
}

/// One line of a chart.
#[derive(Debug, Clone)]
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// Points by ascending x.
    pub points: Vec<(f64, f64)>,
}

impl LineChart {
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
        const X_MAX_LEAST: f64 = 10.0;
        area.fill(&WHITE)?;
        let x_max = self.lines.iter().flat_map(|line| &line.points).map(|(x, _)| *x);
        let x_max = x_max.fold(X_MAX_LEAST, f64::max);
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, (FONT, TITLE_SIZE))
            .margin(MARGIN)
            .x_label_area_size(LABEL_AREA)
            .y_label_area_size(LABEL_AREA)
            .build_cartesian_2d((1.0..x_max).log_scale(), self.y_range.clone().log_scale())?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_label_formatter(&|x| x.to_string())
            .y_label_formatter(&|y| y.to_string())
            .x_desc(&self.x_name)
            .y_desc(&self.y_name)
            .label_style((FONT, FONT_SIZE))
            .draw()?;
        for (number, line) in self.lines.iter().enumerate() {
            let style = colour(number).stroke_width(2);
            let shown =
                |&(x, y): &(f64, f64)| (x.max(1.0), y.clamp(self.y_range.start, self.y_range.end));
            chart
                .draw_series(LineSeries::new(line.points.iter().map(shown), style))?
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], style));
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

    fn chart(lines: Vec<Line>) -> LineChart {
        LineChart {
            title: "A title".to_owned(),
            x_name: "requests".to_owned(),
            y_name: "forwarded".to_owned(),
            y_range: 0.1..1000.0,
            lines,
        }
    }

    #[test]
    fn every_line_is_drawn_and_named() {
        let points = vec![(1.0, 1000.0), (10.0, 50.0), (100.0, 0.0)];
        let line = |name: &str| Line { name: name.to_owned(), points: points.clone() };
        let svg = chart(vec![line("8 entries"), line("64 entries")]).svg().expect("drawn");
        for (colour, name) in [("#0072B2", "8 entries"), ("#D55E00", "64 entries")] {
            let lines = svg.lines().filter(|l| l.starts_with("<polyline") && l.contains(colour));
            assert_eq!(lines.count(), 2, "{name}: the line and its legend");
            assert!(svg.contains(name), "{name}");
        }
        assert!(svg.contains("A title") && svg.trim_end().ends_with("</svg>"));
    }

    #[test]
    fn a_chart_without_lines_has_axes() {
        let svg = chart(Vec::new()).svg().expect("drawn");
        assert!(svg.contains("requests") && svg.contains("forwarded"));
    }
}
