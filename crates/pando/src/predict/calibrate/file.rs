//! The file: what was measured, then what was not.

use super::Bench;
use super::costs::Costs;
use dbsim::Coefficients;
use std::fmt::Write;

/// Its text.
pub(super) fn text(bench: &Bench, costs: &Costs, rest: &Coefficients) -> String {
    let Bench { mhz, rows, runs, .. } = bench;
    let mut text = format!(
        "# Cycles a tuple and a byte: Pando's operators on one thread, the shortest of {runs} runs over {rows} rows.\n\
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
    for (name, sizes) in &costs.by_rows {
        let lines: Vec<String> = sizes.iter().map(|size| of_size(size)).collect();
        let _ = writeln!(text, "{name} = [{}]", lines.join(", "));
    }
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
    let _ = write!(text, "# Not measured here: as in `{}`, {}.\n{others}", rest.name, rest.about);
    text
}

/// Rows and cycles.
fn of_size(size: &[f64]) -> String {
    let numbers = size.iter().enumerate().map(|(at, number)| {
        let digits = if at == 0 { 0 } else { 2 };
        format!("{number:.digits$}")
    });
    format!("[{}]", numbers.collect::<Vec<_>>().join(", "))
}
