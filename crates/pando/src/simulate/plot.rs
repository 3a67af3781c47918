//! Forwards against requests as a picture: both axes logarithmic, a curve for each page size, named at its end.

use sdds::simulation::Window;
use std::fmt::Write;

/// How images converged with one page size.
#[derive(Debug)]
pub(super) struct Curve<'a> {
    pub(super) page_entries: usize,
    pub(super) windows: &'a [Window],
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 72.0;
const BOTTOM: f64 = 60.0;

/// The least that the vertical axis shows, per 1,000; what is less lies on it.
const LEAST: f64 = 0.1;
const MOST: f64 = 1000.0;

/// What the issue promises: fewer than this per 1,000 in the end.
const GOAL: f64 = 1.0;

/// Dark enough on white, and told apart by those who see fewer colours (Okabe and Ito).
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#333333"];

/// The picture of all curves.
pub(super) fn svg(title: &str, curves: &[Curve<'_>]) -> String {
    let requests = curves.iter().flat_map(|curve| curve.windows).map(|window| window.requests);
    let axes = Axes { requests_max: requests.max().unwrap_or(10).max(10) as f64 };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    text(&mut out, LEFT, 28.0, "start", title);
    grid(&mut out, &axes);
    let mut names = Vec::new();
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let points = points(curve, &axes);
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            out,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{}\"/>",
            path.join(" ")
        );
        names.push((curve.page_entries, *colour));
    }
    legend(&mut out, &names);
    out.push_str("</svg>\n");
    out
}

struct Axes {
    requests_max: f64,
}

impl Axes {
    fn x(&self, requests: f64) -> f64 {
        let width = WIDTH - LEFT - RIGHT;
        LEFT + width * requests.max(1.0).log10() / self.requests_max.log10()
    }

    fn y(&self, per_thousand: f64) -> f64 {
        let shown = per_thousand.clamp(LEAST, MOST);
        let part = (shown / LEAST).log10() / (MOST / LEAST).log10();
        TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - part)
    }
}

/// A curve ends where nothing is forwarded any more.
fn points(curve: &Curve<'_>, axes: &Axes) -> Vec<(f64, f64)> {
    let forwards = |window: &Window| window.forwarded_per_thousand > 0.0;
    let last = curve.windows.iter().rposition(forwards).map_or(0, |last| last + 2);
    let shown = curve.windows.iter().take(last);
    shown
        .map(|window| (axes.x(window.requests as f64), axes.y(window.forwarded_per_thousand)))
        .collect()
}

fn grid(out: &mut String, axes: &Axes) {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    for power in 0..=axes.requests_max.log10().floor() as i32 {
        let requests = 10_f64.powi(power);
        let x = axes.x(requests);
        line(out, (x, TOP), (x, bottom), "#dddddd");
        text(out, x, bottom + 20.0, "middle", &crate::quantity::count(requests as u64));
    }
    for per_thousand in [0.1, 1.0, 10.0, 100.0, 1000.0] {
        let y = axes.y(per_thousand);
        let colour = if per_thousand == GOAL { "#888888" } else { "#dddddd" };
        line(out, (LEFT, y), (right, y), colour);
        text(out, LEFT - 8.0, y + 4.0, "end", &per_thousand.to_string());
    }
    text(out, (LEFT + right) / 2.0, HEIGHT - 14.0, "middle", "requests that each client has made");
    text(out, LEFT, TOP - 12.0, "start", "forwarded, of 1,000 requests");
}

fn legend(out: &mut String, names: &[(usize, &str)]) {
    let x = WIDTH - RIGHT + 20.0;
    text(out, x, TOP + 8.0, "start", "entries of a page");
    for (row, (page_entries, colour)) in names.iter().enumerate() {
        let y = TOP + 32.0 + row as f64 * 22.0;
        let _ = writeln!(
            out,
            "<line x1=\"{x}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"{colour}\" stroke-width=\"3\"/>",
            x + 26.0
        );
        text(out, x + 34.0, y + 4.0, "start", &crate::quantity::count(*page_entries as u64));
    }
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64), colour: &str) {
    let _ = writeln!(
        out,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
        from.0, from.1, to.0, to.1
    );
}

/// Text of ours, which needs no escaping.
fn text(out: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(requests: u64, forwarded_per_thousand: f64) -> Window {
        Window { requests, forwarded_per_thousand }
    }

    #[test]
    fn every_curve_is_drawn_and_named_inside_the_picture() {
        let windows = [window(1, 1000.0), window(10, 50.0), window(100, 0.0), window(1000, 0.0)];
        let curves = [8, 64].map(|page_entries| Curve { page_entries, windows: &windows });
        let picture = svg("A title", &curves);
        assert_eq!(picture.matches("<polyline").count(), 2);
        assert!(picture.contains(">64</text>") && picture.ends_with("</svg>\n"));
        let axes = Axes { requests_max: 1000.0 };
        let points = points(&curves[0], &axes);
        assert_eq!(points.len(), 3, "it ends where nothing is forwarded");
        assert!(points.iter().all(|(x, y)| (0.0..WIDTH).contains(x) && (0.0..HEIGHT).contains(y)));
        assert_eq!((points[0].0, points[0].1), (LEFT, TOP));
    }

    #[test]
    fn nothing_to_draw_is_an_empty_picture() {
        assert!(svg("Nothing", &[]).contains("requests that each client"));
    }
}
