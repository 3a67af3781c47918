//! Output of a prediction: a line for each query, the time of each bundle, or a JSON object.

use crate::arguments::PredictArguments;
use dbsim::model::Seconds;
use dbsim::plan::Scheme;
use dbsim::{Plan, Report};
use serde_json::{Value, json};
use shell::quantity::duration;
use std::io::{self, Write};
use std::time::Duration;

/// Prints one query's prediction.
///
/// # Errors
/// If the output cannot be written.
pub(super) fn print(
    arguments: &PredictArguments,
    scheme: Scheme,
    plan: &Plan,
    report: &Report,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if arguments.json {
        return writeln!(out, "{}", object(arguments, scheme, plan, report));
    }
    writeln!(out, "{:<4} {:>12}   {}", plan.name, time(report.seconds), parts(&report.breakdown))?;
    if arguments.explain { explain(&mut out, plan, report) } else { Ok(()) }
}

fn explain(out: &mut impl Write, plan: &Plan, report: &Report) -> io::Result<()> {
    writeln!(out, "\n{}", indented(&plan.tree()))?;
    for (number, bundle) in report.bundles.iter().enumerate() {
        writeln!(out, "  bundle {}: {}", number + 1, bundle.operators)?;
        writeln!(out, "    {:>12}   {}", time(bundle.seconds), parts(&bundle.breakdown))?;
        let working: Vec<f64> = bundle.sites.iter().map(|site| site.total() - site.idle).collect();
        let most = working.iter().copied().fold(0.0, f64::max);
        let least = working.iter().copied().fold(f64::INFINITY, f64::min);
        if working.len() > 1 {
            writeln!(out, "    sites at work: {} at least, {} at most", time(least), time(most))?;
        }
    }
    writeln!(out)
}

/// The parts of the time in percent; parts below 0.1 % are omitted.
fn parts(breakdown: &Seconds) -> String {
    let parts = [
        ("I/O", breakdown.io),
        ("spill", breakdown.spill),
        ("compute", breakdown.compute),
        ("communication", breakdown.communication),
        ("idle", breakdown.idle),
    ];
    let total = breakdown.total();
    let shown = parts.into_iter().filter(|(_, seconds)| *seconds >= 0.001 * total && total > 0.0);
    let shown: Vec<_> =
        shown.map(|(name, seconds)| format!("{name} {:.1} %", 100.0 * seconds / total)).collect();
    shown.join(", ")
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn time(seconds: f64) -> String {
    duration(Duration::from_secs_f64(seconds))
}

fn object(arguments: &PredictArguments, scheme: Scheme, plan: &Plan, report: &Report) -> Value {
    let mut object = json!({
        "query": plan.name,
        "architecture": arguments.architecture,
        "scale": arguments.plan.is_none().then_some(arguments.scale),
        "bundling": scheme.name(),
        "seed": arguments.seed,
        "seconds": report.seconds,
        "breakdown": seconds(&report.breakdown),
        "events": report.events,
    });
    if arguments.explain {
        let bundles = report.bundles.iter().map(|bundle| {
            json!({
                "operators": bundle.operators,
                "seconds": bundle.seconds,
                "breakdown": seconds(&bundle.breakdown),
                "sites": bundle.sites.iter().map(seconds).collect::<Vec<_>>(),
            })
        });
        object["bundles"] = bundles.collect::<Vec<_>>().into();
    }
    object
}

fn seconds(breakdown: &Seconds) -> Value {
    json!({
        "io": breakdown.io,
        "spill": breakdown.spill,
        "compute": breakdown.compute,
        "communication": breakdown.communication,
        "idle": breakdown.idle,
    })
}
