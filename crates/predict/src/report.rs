//! A prediction as lines of text.

use super::options::Request;
use dbsim::model::Seconds;
use dbsim::{Plan, Report};
use scan::estimate::Guesses;

/// Smaller shares of the whole are not shown.
const PART_MIN: f64 = 0.001;

/// The prediction: the whole query, its bundles, its operators, and the assumptions. `alone` is the
/// time in seconds of each operator as a bundle of its own.
pub(super) fn lines(
    request: &Request,
    plan: &Plan,
    report: &Report,
    alone: &[f64],
    guesses: &Guesses,
) -> Vec<String> {
    let Request { architecture, coefficients, scale, bundling, .. } = request;
    let mut lines = vec![format!("Predicted on {}: {}", architecture.name, time(report.seconds))];
    lines.push(format!("  {}", parts(&report.breakdown)));
    lines.push(format!("Bundles ({}):", bundling.name()));
    for (number, bundle) in report.bundles.iter().enumerate() {
        let seconds = time(bundle.seconds);
        lines.push(format!("  {}. {}: {seconds}", number + 1, bundle.operators));
        lines.push(format!("     {}", parts(&bundle.breakdown)));
    }
    lines.push("Operators, with the time of each as a bundle of its own:".to_owned());
    let mut open = vec![(plan.root(), 1)];
    while let Some((id, depth)) = open.pop() {
        let operator = &plan.operators()[id];
        let margin = "  ".repeat(depth);
        let (label, rows, bytes) = (plan.label(id), operator.rows, operator.row_bytes);
        let seconds = time(alone[id]);
        lines.push(format!("{margin}{label}: {rows:.0} rows of {bytes:.0} bytes, {seconds}"));
        open.extend(operator.children.iter().rev().map(|child| (*child, depth + 1)));
    }
    lines.push("Supposed:".to_owned());
    lines.push(format!("  {}: {}", architecture.name, architecture.about));
    lines.push(format!("  costs {}: {}", coefficients.name, coefficients.about));
    lines.push(format!("  scale {scale}: tables of so many times their rows"));
    lines.extend(tables(plan).map(|table| format!("  {table}")));
    lines.extend(guesses.lines().iter().map(|guess| format!("  {guess}")));
    lines
}

/// A line for each table of the plan.
fn tables(plan: &Plan) -> impl Iterator<Item = String> {
    let tables = plan.operators().iter().filter_map(|operator| operator.table.as_ref());
    let mut tables: Vec<String> = tables
        .map(|table| {
            format!("{}: {:.0} rows of {:.0} bytes", table.name, table.rows, table.row_bytes)
        })
        .collect();
    tables.sort();
    tables.dedup();
    tables.into_iter()
}

/// The breakdown of time, without parts that are negligible.
fn parts(metrics: &Seconds) -> String {
    let parts = [
        ("I/O", metrics.io),
        ("spills", metrics.spill),
        ("compute", metrics.compute),
        ("communication", metrics.communication),
        ("idle", metrics.idle),
    ];
    let least = PART_MIN * metrics.total();
    let shown = parts.into_iter().filter(|(_, seconds)| *seconds > 0.0 && *seconds >= least);
    let shown: Vec<String> =
        shown.map(|(name, seconds)| format!("{name} {}", time(seconds))).collect();
    shown.join(", ")
}

/// Seconds with a suitable unit.
fn time(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 100.0 => format!("{seconds:.0} s"),
        _ if seconds >= 1.0 => format!("{seconds:.2} s"),
        _ if seconds >= 1e-3 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{:.0} us", seconds * 1e6),
    }
}
