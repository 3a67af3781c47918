//! `pando bench predict`: compares the simulator's predictions with real runs of Pando (E5).
//!
//! As in the paper, the *increase rates* of response times are compared: from one scale, selectivity or bucket size to the
//! next. Each query runs on one thread over tables in memory. The tables are loaded several times, and the shortest run over
//! each load counts. The simulation uses one such processor and the actual cardinalities of the operators.

mod on_disk;
mod queries;
mod rates;

use crate::report::Report;
use anyhow::{Context, Result, bail};
use dbsim::Coefficients;
use dbsim::hardware::{Architecture, catalog};
use dbsim::plan::Scheme;
use query::{Database, Options};
use rates::Point;
use serde_json::json;
use workloads::{Embedded, coefficients, tpch};

/// Options of `pando bench predict`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PredictArgs {
    /// TPC-H's scale factors, ascending
    #[arg(long, value_delimiter = ',', default_values_t = [0.1, 0.3, 1.0], value_parser = tpch::parse_scale)]
    pub(crate) scales: Vec<f64>,
    /// Bytes of a bucket, ascending
    #[arg(long, value_delimiter = ',', default_values_t = [262_144, 4_194_304, 67_108_864])]
    pub(crate) bucket_sizes: Vec<u64>,
    /// Cost coefficients: a file that `pando predict calibrate` wrote on this machine
    #[arg(long, value_name = "FILE")]
    pub(crate) coefficients: String,
    /// MHz of this machine's processor, as given to `pando predict calibrate`
    #[arg(long)]
    pub(crate) mhz: f64,
    /// Loads of the tables: durations depend on the placement of the tables in memory
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) loads: u32,
    /// Runs of each query over each load
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) runs: u32,
    #[command(flatten)]
    pub(crate) on_disk: on_disk::OnDiskArgs,
}

/// Bytes of a bucket if the bucket size is not varied.
const USUAL_BUCKET_SIZE: u64 = 64 << 20;

/// The seed of every simulation.
const SEED: u64 = 1;
/// Runs before each query, over the largest tables, so that every query finds the processor's caches in the same state.
/// After a query over small tables, planning is faster.
const BETWEEN: &str = "SELECT l_shipmode, sum(l_quantity) FROM lineitem JOIN region ON l_linenumber = r_regionkey \
    WHERE l_comment <> 'none' AND l_orderkey < 500000 GROUP BY l_shipmode ORDER BY l_shipmode";

/// The three selectivities.
const SELECTIVITIES: [&str; 3] = ["low", "medium", "high"];
/// The parameters that are varied.
const ALONG: [&str; 3] = ["scale", "selectivity", "buckets"];
/// Mean error of the paper's simulator, in percent.
const GOAL_MEAN: f64 = 2.4;
/// Greatest error of the paper's simulator, in percent.
const GOAL_MAX: f64 = 10.0;

pub(super) async fn run(args: &PredictArgs, report: Report) -> Result<()> {
    if args.scales.len() < 2 && args.bucket_sizes.len() < 2 {
        bail!("give at least two scales or two bucket sizes");
    }
    if !args.scales.is_sorted() || !args.bucket_sizes.is_sorted() {
        bail!("scales and bucket sizes must be in ascending order");
    }
    let coefficients = coefficients(&args.coefficients)?;
    let architecture = this_machine(args.mhz)?;
    report.heading(&format!(
        "{:<5}{:<8}{:>8}{:>14}{:>14}{:>14}",
        "", "rows", "scale", "bucket bytes", "measured ms", "predicted ms"
    ))?;
    let points = in_memory(args, &architecture, &coefficients, report).await?;
    conclude("Pando", &points, report)?;
    let on_disk = on_disk::points(args, report).await?;
    if !on_disk.is_empty() {
        conclude("PostgreSQL on disk", &on_disk, report)?;
    }
    Ok(())
}

/// The tables of one scale with one bucket size.
struct Place {
    /// Index of the scale.
    scale_at: usize,
    scale: f64,
    /// Index of the bucket size.
    bucket_at: usize,
    bucket_size: u64,
    pando: Embedded,
}

impl Place {
    /// Runs a query and returns its duration in seconds.
    async fn query(&self, sql: &str) -> Result<f64> {
        let (time, _) = self.pando.query(sql).await.with_context(|| {
            format!("scale {}, buckets of {} bytes", self.scale, self.bucket_size)
        })?;
        Ok(time.as_secs_f64())
    }
}

/// The points of Pando. The tables are dropped before they are loaded again, because durations grow with the memory in use.
async fn in_memory(
    args: &PredictArgs,
    architecture: &Architecture,
    coefficients: &Coefficients,
    report: Report,
) -> Result<Vec<Point>> {
    let texts = queries::ALL.map(|query| [0, 1, 2].map(|at| query.sql(at)));
    let texts: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
    let mut places = Vec::new();
    let mut of_loads = Vec::new();
    for load in 1..=args.loads {
        places.clear();
        report.progress(&format!("load {load} of {}", args.loads));
        for (scale_at, scale) in args.scales.iter().copied().enumerate() {
            for (bucket_at, bucket_size) in args.bucket_sizes.iter().copied().enumerate() {
                let pando = loaded(scale, bucket_size, report).await?;
                pando.settle().await?;
                places.push(Place { scale_at, scale, bucket_at, bucket_size, pando });
            }
        }
        of_loads.push(shortest(&places, &texts, args.runs, report).await?);
    }
    let mut points = Vec::new();
    for (at_place, place) in places.iter().enumerate() {
        let (scale, bucket_size) = (place.scale, place.bucket_size);
        for (nth, query) in queries::ALL.iter().enumerate() {
            for (at, selectivity) in SELECTIVITIES.iter().enumerate() {
                let at_query = nth * SELECTIVITIES.len() + at;
                let shortest: Vec<f64> =
                    of_loads.iter().map(|times| times[at_place][at_query]).collect();
                let halves = [0, 1].map(|half| mean(shortest[half..].iter().step_by(2)));
                let measured = mean(shortest.iter());
                let predicted = predicted(&place.pando, &query.sql(at), architecture, coefficients)
                    .await
                    .with_context(|| format!("{} at scale {scale}", query.name))?;
                let name = query.name;
                let in_ms: Vec<f64> = shortest.iter().map(|seconds| 1e3 * seconds).collect();
                report.result(
                    &format!("{name:<5}{selectivity:<8}{scale:>8}{bucket_size:>14}{:>14.2}{:>14.2}", 1e3 * measured, 1e3 * predicted),
                    json!({"query": name, "selectivity": selectivity, "scale": scale, "bucket_size": bucket_size, "measured_ms": 1e3 * measured, "predicted_ms": 1e3 * predicted, "loads_ms": in_ms}),
                )?;
                let place = [place.scale_at, at, place.bucket_at];
                points.push(Point { query: name, place, measured, predicted, halves });
            }
        }
    }
    Ok(points)
}

fn conclude(of: &str, points: &[Point], report: Report) -> Result<()> {
    report.heading(&format!(
        "\nErrors of increase rates, {of}, in percent (goal: {GOAL_MEAN} on average, {GOAL_MAX} at most)"
    ))?;
    summarise(of, &|along| rates::errors(points, along), report)?;
    report.heading("The same rates from each half of the runs")?;
    summarise(&format!("{of}, measured twice"), &|along| rates::noise(points, along), report)?;
    Ok(())
}

fn summarise(of: &str, errors: &dyn Fn(usize) -> Vec<(f64, String)>, report: Report) -> Result<()> {
    let mut all = Vec::new();
    for (along, name) in ALONG.iter().enumerate() {
        let errors = errors(along);
        print_summary(of, name, &errors, report)?;
        all.extend(errors);
    }
    print_summary(of, "all", &all, report)?;
    Ok(())
}

fn print_summary(of: &str, name: &str, errors: &[(f64, String)], report: Report) -> Result<()> {
    let Some((mean, (worst, at))) = rates::summary(errors) else { return Ok(()) };
    let within = errors.iter().filter(|(error, _)| *error <= GOAL_MAX).count();
    let steps = errors.len();
    report.result(
        &format!("{name:<12} mean {mean:>5.1}  worst {worst:>5.1} ({at})  {within} of {steps} within {GOAL_MAX}"),
        json!({"of": of, "along": name, "mean": mean, "worst": worst, "worst_at": at, "steps": steps, "within_10": within}),
    )?;
    Ok(())
}

fn mean<'t>(times: impl Iterator<Item = &'t f64> + Clone) -> f64 {
    times.clone().sum::<f64>() / times.count() as f64
}

/// An architecture with one core and the tables in memory.
fn this_machine(mhz: f64) -> Result<Architecture> {
    let settings = ["sites=1".to_owned(), "cores=1".to_owned(), format!("cpu_mhz={mhz}")];
    Ok(catalog::named("pando-cloud", &settings)?)
}

async fn loaded(scale: f64, bucket_size: u64, report: Report) -> Result<Embedded> {
    report.progress(&format!("loading scale {scale} into buckets of {bucket_size} bytes"));
    let options =
        Options { threads: Some(1), bucket_size: Some(bucket_size), ..Options::default() };
    let pando = Embedded { session: Database::open(options)?.session() };
    for table in tpch::tables(scale) {
        pando.load(table).await?;
    }
    Ok(pando)
}

/// The shortest duration of each query at each place, in seconds. Each round runs all queries, so that other load on the
/// machine affects one run of each. The first round warms up and is not measured.
async fn shortest(
    places: &[Place],
    queries: &[&str],
    runs: u32,
    report: Report,
) -> Result<Vec<Vec<f64>>> {
    let mut shortest = vec![vec![f64::INFINITY; queries.len()]; places.len()];
    let Some(largest) = places.last() else { return Ok(shortest) };
    for round in 0..=runs {
        report.progress(&format!("round {round} of {runs}"));
        for (place, shortest) in places.iter().zip(&mut shortest) {
            for (query, shortest) in queries.iter().zip(shortest) {
                largest.query(BETWEEN).await?;
                let seconds = place.query(query).await?;
                if round > 0 {
                    *shortest = shortest.min(seconds);
                }
            }
        }
    }
    Ok(shortest)
}

async fn predicted(
    pando: &Embedded,
    sql: &str,
    architecture: &Architecture,
    coefficients: &Coefficients,
) -> Result<f64> {
    let plan = pando.session.plan_to_predict(sql).await?;
    Ok(dbsim::simulate(&plan, architecture, coefficients, Scheme::Pipelined, SEED)?.seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each query runs and has a plan for the simulator. Its predicted duration grows with scale and selectivity.
    #[tokio::test]
    async fn predictions_grow_with_the_rows_of_a_query() {
        let coefficients = coefficients("columnar").expect("built in");
        let architecture = this_machine(3000.0).expect("a description");
        let report = Report::new(true);
        let small = loaded(0.01, 65_536, report).await.expect("loaded");
        let large = loaded(0.02, 65_536, report).await.expect("loaded");
        for query in &queries::ALL {
            let mut last = 0.0;
            for at in 0..SELECTIVITIES.len() {
                let sql = query.sql(at);
                let of = async |pando: &Embedded| {
                    predicted(pando, &sql, &architecture, &coefficients).await.expect(query.name)
                };
                let (few, many) = (of(&small).await, of(&large).await);
                assert!(many > few, "{}: {few} and {many}", query.name);
                assert!(many >= last, "{}: fewer rows take {last}, more {many}", query.name);
                last = many;
            }
        }
        let place =
            |pando| Place { scale_at: 0, scale: 0.01, bucket_at: 0, bucket_size: 65_536, pando };
        let sql = queries::ALL.map(|query| query.sql(0));
        let texts = sql.each_ref().map(String::as_str);
        let times = shortest(&[place(small), place(large)], &texts, 2, report).await.expect("run");
        assert_eq!(times.iter().map(Vec::len).collect::<Vec<_>>(), [texts.len(); 2]);
        let mut times = times.into_iter().flatten();
        assert!(times.all(|seconds| seconds > 0.0 && seconds.is_finite()));
    }
}
