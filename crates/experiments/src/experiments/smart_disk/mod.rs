//! `pando bench smart-disk`: simulation of Experiment E. Prints the tables of the smart disk paper with the published figures,
//! and the topologies of memory pools (D5).

use crate::report::Report;
use anyhow::{Context, Result};
use dbsim::experiment::{
    self, ARCHITECTURES, Bundling, Normalised, Setup, Speedup, Topology, Variation,
};
use dbsim::hardware::Shape;
use dbsim::plan::{Query, Scheme};
use plots::{BarChart, Bars};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use workloads::coefficients;

/// Largest deviation from a published average that counts as near, in percent.
const NEAR: f64 = 15.0;

/// Options of `pando bench smart-disk`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SmartDiskArgs {
    /// Cost coefficients: a name (row-at-a-time, columnar) or a file
    #[arg(long, default_value = "row-at-a-time", value_name = "NAME|FILE")]
    pub(crate) coefficients: String,
    /// Set a value of all architectures that have it, like outstanding=2 or central_mhz=350; repeatable
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Directory for charts of response times by query and architecture, one SVG file for each variation
    #[arg(long, value_name = "DIR")]
    pub(crate) svg: Option<PathBuf>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

pub(super) fn run(args: &SmartDiskArgs, report: Report) -> Result<()> {
    let coefficients = coefficients(&args.coefficients)?;
    report.heading(&format!("Simulated with {}: {}", coefficients.name, coefficients.about))?;
    if !args.settings.is_empty() {
        report.heading(&format!(
            "Settings that differ from the paper: {}",
            args.settings.join(", ")
        ))?;
    }
    let setup = Setup::new(coefficients, args.seed, args.settings.clone())?;
    let variations = experiment::variations(&setup)?;
    averages(&variations, report)?;
    base(&variations, report)?;
    speedups(&experiment::speedup(&setup)?, report)?;
    bundlings(&experiment::bundling(&setup)?, report)?;
    topologies(&experiment::topologies(), report)?;
    args.svg.as_deref().map_or(Ok(()), |directory| write_charts(&variations, directory, report))
}

fn averages(variations: &[Normalised], report: Report) -> Result<()> {
    report.heading(&format!(
        "\nTable 8: mean response time, single host = 100 (published; deviation)\n{:<18}{:>24}{:>24}{:>24}  order",
        "", ARCHITECTURES[1], ARCHITECTURES[2], ARCHITECTURES[3]
    ))?;
    for row in variations {
        let (name, same) = (row.variation.name(), row.same_order());
        let order = if same { "as published" } else { "differs" };
        report.result(
            &format!("{name:<18}{}  {order}", relative_to(&row.averages, &row.published())),
            json!({
                "experiment": "smart-disk", "table": 8, "variation": name, "architectures": ARCHITECTURES,
                "averages": row.averages, "published": row.published(), "same_order": same,
                "seconds": row.seconds,
            }),
        )?;
    }
    all_variations(variations, report)
}

/// Prints the mean of all variations, and how many averages are near the published ones.
fn all_variations(variations: &[Normalised], report: Report) -> Result<()> {
    let mean = |of: &dyn Fn(&Normalised) -> [f64; 4]| -> [f64; 4] {
        let sum = |at: usize| variations.iter().map(|row| of(row)[at]).sum::<f64>();
        std::array::from_fn(|at| sum(at) / variations.len() as f64)
    };
    let averages = mean(&|row| row.averages);
    let published = mean(&|row| row.published());
    let errors = variations.iter().flat_map(|row| [1, 2, 3].map(|at| row.error(at).abs()));
    let near = errors.filter(|error| *error <= NEAR).count();
    let of = 3 * variations.len();
    report.result(
        &format!(
            "{:<18}{}  {near} of {of} within {NEAR} %",
            "mean of all",
            relative_to(&averages, &published),
        ),
        json!({
            "experiment": "smart-disk", "table": 8, "variation": "mean of all", "architectures": ARCHITECTURES,
            "averages": averages, "published": published, "within_15": near, "of": of,
        }),
    )?;
    Ok(())
}

/// For each architecture but the first: the simulated average, the published one, and the deviation.
fn relative_to(averages: &[f64; 4], published: &[f64; 4]) -> String {
    let cells = averages[1..].iter().zip(&published[1..]).map(|(ours, published)| {
        let error = 100.0 * (ours / published - 1.0);
        format!("{:>24}", format!("{ours:>8.1} ({published:>4.1}; {error:>+3.0} %)"))
    });
    cells.collect()
}

fn base(variations: &[Normalised], report: Report) -> Result<()> {
    let names: Vec<_> = Query::ALL.iter().map(|query| format!("{:>9}", query.name())).collect();
    report.heading(&format!("\nSeconds in the base, by query\n{:<18}{}", "", names.concat()))?;
    for row in variations.iter().filter(|row| row.variation == Variation::Base) {
        for (name, seconds) in ARCHITECTURES.iter().zip(&row.seconds) {
            let cells: Vec<_> = seconds.iter().map(|seconds| format!("{seconds:>9.1}")).collect();
            report.heading(&format!("{name:<18}{}", cells.concat()))?;
        }
    }
    Ok(())
}

fn speedups(rows: &[Speedup], report: Report) -> Result<()> {
    report.heading(&format!(
        "\nTable 9: speed-up over 4 disks (published)\n{:<26}{:>16}{:>16}{:>16}",
        "", "8", "16", "32"
    ))?;
    for row in rows {
        let name = row.family.name();
        let cell = |column: usize| {
            let published = row.published.map(|row| format!(" ({:.2})", row[column]));
            format!("{:>9.2}{:<7}", row.speedups[column], published.unwrap_or_default())
        };
        let cells = [0, 1, 2].map(cell);
        report.result(
            &format!("{name:<26}{}", cells.concat()),
            json!({
                "experiment": "smart-disk", "table": 9, "family": name,
                "speedups": row.speedups, "published": row.published,
            }),
        )?;
    }
    Ok(())
}

fn bundlings(rows: &[Bundling], report: Report) -> Result<()> {
    report.heading("\nBundling on smart disks: time saved on average, in percent of none (published: of optimal)")?;
    for row in rows {
        let gains = [Scheme::Optimal, Scheme::Excessive].map(|scheme| row.gain(scheme));
        report.result(
            &format!(
                "{} units: optimal {:.2} % ({:.2} %), excessive {:.2} %",
                row.units, gains[0], row.published, gains[1]
            ),
            json!({
                "experiment": "smart-disk", "bundling_units": row.units, "optimal_percent": gains[0],
                "excessive_percent": gains[1], "published_percent": row.published,
                "seconds": row.seconds,
            }),
        )?;
    }
    Ok(())
}

fn topologies(rows: &[Topology], report: Report) -> Result<()> {
    let names = Shape::ALL.map(|shape| format!("{:>28}", shape.name()));
    report.heading(&format!(
        "\nMemory pools (D5): mean hops, and how much longer cached and uncached programs take than over one hop\n{:<10}{}",
        "machines", names.concat()
    ))?;
    for row in rows {
        let percent = |factor: f64| 100.0 * (factor - 1.0);
        let cells = row.fabrics.map(|fabric| {
            let (cached, uncached) = (percent(fabric.cached), percent(fabric.uncached));
            format!("{:>12.2} {cached:>+6.0} % {uncached:>+5.0} %", fabric.hops)
        });
        let object = |fabric: &experiment::Fabric| json!({"hops": fabric.hops, "load": fabric.load, "cached": fabric.cached, "uncached": fabric.uncached});
        report.result(
            &format!("{:<10}{}", row.machines, cells.concat()),
            json!({
                "experiment": "smart-disk", "machines": row.machines,
                "shapes": Shape::ALL.map(Shape::name), "fabrics": row.fabrics.each_ref().map(object),
            }),
        )?;
    }
    Ok(())
}

/// Response times by query and architecture, and their means with the published ones as references.
fn chart(row: &Normalised) -> BarChart {
    let groups = Query::ALL.iter().map(|query| query.name()).chain(["mean (line: paper)"]);
    let bars = |column: usize| Bars {
        name: ARCHITECTURES[column].to_owned(),
        heights: row.percent(column).into_iter().chain([row.averages[column]]).collect(),
        reference: Some(row.published()[column]),
    };
    BarChart {
        title: format!("Response time, single host = 100: {}", row.variation.name()),
        groups: groups.map(str::to_owned).collect(),
        series: (0..ARCHITECTURES.len()).map(bars).collect(),
    }
}

fn write_charts(variations: &[Normalised], directory: &Path, report: Report) -> Result<()> {
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    for row in variations {
        let name = row.variation.name().replace([' ', '/'], "-").to_lowercase();
        let file = directory.join(format!("{name}.svg"));
        fs::write(&file, chart(row).svg()?)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    report.heading(&format!("\n{} charts in {}", variations.len(), directory.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_every_query_the_mean_and_the_published_mean() {
        let seconds = [[10.0; 6], [5.0; 6], [4.0; 6], [3.0; 6]];
        let averages = [100.0, 50.0, 40.0, 30.0];
        let row = Normalised { variation: Variation::FasterIo, seconds, averages };
        let chart = chart(&row);
        assert_eq!(chart.title, "Response time, single host = 100: faster I/O");
        assert_eq!(chart.groups.len(), 7);
        assert_eq!(chart.series[1].heights, [50.0; 7]);
        assert_eq!(chart.series[3].reference, Some(row.published()[3]));
    }
}
