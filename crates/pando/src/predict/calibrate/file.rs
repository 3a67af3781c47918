//! The text of the file: measured coefficients, then those that were not measured.

use super::costs::Costs;
use crate::arguments::CalibrateArguments;
use dbsim::plan::Planning;
use dbsim::{Coefficients, Windows};
use std::fmt::Write;

/// The text of the file. `rest` has the coefficients that were not measured.
pub(super) fn text(
    mhz: f64,
    arguments: &CalibrateArguments,
    costs: &Costs,
    rest: &Coefficients,
) -> String {
    let CalibrateArguments { rows, runs, loads, .. } = arguments;
    let mut text = format!(
        "# Cycles a tuple and a byte: Pando's operators on one thread, the shortest of {runs} runs over {rows} rows; loads: {loads}.\n\
         name = \"calibrated\"\n\
         about = \"Pando's own operators, measured on one core at {mhz:.0} MHz\"\n\
         columnar = true\n\
         row_header_bytes = 0\n"
    );
    for (name, cost) in &costs.costs {
        let _ = writeln!(text, "{name} = [{:.2}, {:.3}]", cost.tuple, cost.byte);
    }
    for (name, cycles) in &costs.cycles {
        let _ = writeln!(text, "{name} = {cycles:.3}");
    }
    for (name, points) in &costs.curves {
        let points: Vec<String> = points.iter().map(|point| of_point(point)).collect();
        let _ = writeln!(text, "{name} = [{}]", points.join(", "));
    }
    let Windows { value, rank, running, moving, partition, partition_running } = costs.windows;
    let _ = writeln!(
        text,
        "window = {{ value = {value:.1}, rank = {rank:.1}, running = {running:.1}, moving = {moving:.1}, partition = {partition:.0}, partition_running = {partition_running:.0} }}"
    );
    let Planning { statement, operator, filter, function, expression, listed } = costs.planning;
    let _ = writeln!(
        text,
        "planning = {{ statement = {statement:.0}, operator = {operator:.0}, filter = {filter:.0}, function = {function:.0}, expression = {expression:.0}, listed = {listed:.0} }}"
    );
    let taken_over = [
        ("request", rest.request),
        ("index", rest.index),
        ("nested_loop", rest.nested_loop),
        ("merge", rest.merge),
        ("store", rest.store),
        ("load", rest.load),
        ("message", rest.message),
    ];
    let mut others = String::new();
    for (name, cost) in taken_over {
        let _ = writeln!(others, "{name} = [{}, {}]", cost.tuple, cost.byte);
    }
    let _ =
        write!(text, "# Not measured here: values of `{}`, {}.\n{others}", rest.name, rest.about);
    text
}

/// A point of a curve, with its cycles rounded.
fn of_point(point: &[f64]) -> String {
    let cycles = point[1..].iter().map(|cycles| format!(", {cycles:.3}"));
    format!("[{}{}]", point[0], cycles.collect::<String>())
}
