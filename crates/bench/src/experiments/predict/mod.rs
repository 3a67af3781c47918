//! `pando bench predict`: how far the simulator's predictions are from real runs of Pando (E5).
//!
//! As the paper did it: not times are compared but their *increase rates*, from one scale, selectivity or bucket size to the
//! next. Each query is run on one thread over tables in memory that are loaded several times; the shortest of its runs over each
//! counts. And it is simulated on one such processor, with the rows that its operators really had.

mod on_disk;
mod queries;
mod rates;

use crate::report::Report;
use crate::settling::come_to_rest;
use crate::{Embedded, coefficients, tpch};
use anyhow::{Context, Result, bail};
use dbsim::Coefficients;
use dbsim::hardware::{Architecture, catalog};
use dbsim::plan::Scheme;
use query::{Database, Options};
use rates::Point;
use serde_json::json;

/// What is run, and with which costs it is simulated.
#[derive(Debug, Clone, clap::Args)]
pub struct PredictArgs {
    /// TPC-H's scale factors, ascending
    #[arg(long, value_delimiter = ',', default_values_t = [0.1, 0.3, 1.0], value_parser = tpch::parse_scale)]
    pub scales: Vec<f64>,
    /// Bytes of a bucket, ascending
    #[arg(long, value_delimiter = ',', default_values_t = [262_144, 4_194_304, 67_108_864])]
    pub bucket_sizes: Vec<u64>,
    /// What operators cost: a file of `pando predict calibrate`, made on this machine
    #[arg(long, value_name = "FILE")]
    pub coefficients: String,
    /// MHz of this machine's processor, as it was calibrated with
    #[arg(long)]
    pub mhz: f64,
    /// How often the tables are loaded: how long queries take depends on where these lie in memory
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..))]
    pub loads: u32,
    /// How often each query is run over the tables of each load
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(2..))]
    pub runs: u32,
    #[command(flatten)]
    pub on_disk: on_disk::OnDiskArgs,
}

/// Bytes of a bucket where it does not matter.
const USUAL_BUCKET_SIZE: u64 = 64 << 20;

/// The seed of every simulation.
const SEED: u64 = 1;
/// What is run before each query, over the largest tables, so that all find the processor's caches alike: as one has left them that is not
/// quite different and has looked at half a million rows. After a query over small tables plans are made faster.
const BETWEEN: &str = "SELECT l_shipmode, sum(l_quantity) FROM lineitem JOIN region ON l_linenumber = r_regionkey \
    WHERE l_comment <> 'none' AND l_orderkey < 500000 GROUP BY l_shipmode ORDER BY l_shipmode";

/// The three selectivities.
const SELECTIVITIES: [&str; 3] = ["low", "medium", "high"];
/// What is changed, and what the paper's simulator came to: on average, and at worst.
const ALONG: [&str; 3] = ["scale", "selectivity", "buckets"];
const GOAL: (f64, f64) = (2.4, 10.0);

pub(super) async fn run(args: &PredictArgs, report: Report) -> Result<()> {
    if args.scales.len() < 2 && args.bucket_sizes.len() < 2 {
        bail!("an increase needs two scales or two bucket sizes at least");
    }
    if !args.scales.is_sorted() || !args.bucket_sizes.is_sorted() {
        bail!("scales and bucket sizes are steps: write them in ascending order");
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

/// Tables of one scale in buckets of one size.
struct Place {
    scale: (usize, f64),
    bucket_size: (usize, u64),
    pando: Embedded,
}

impl Place {
    /// Seconds that a query takes.
    async fn query(&self, sql: &str) -> Result<f64> {
        let (time, _) = self.pando.query(sql).await.with_context(|| {
            format!("scale {}, buckets of {} bytes", self.scale.1, self.bucket_size.1)
        })?;
        Ok(time.as_secs_f64())
    }
}

/// The points of Pando. Tables are gone before they are loaded again: the more lies in memory, the longer it takes to find some of it.
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
        for scale in args.scales.iter().copied().enumerate() {
            for bucket_size in args.bucket_sizes.iter().copied().enumerate() {
                let pando = loaded(scale.1, bucket_size.1, report).await?;
                come_to_rest(&pando).await?;
                places.push(Place { scale, bucket_size, pando });
            }
        }
        of_loads.push(shortest(&places, &texts, args.runs, report).await?);
    }
    let mut points = Vec::new();
    for (at_place, place) in places.iter().enumerate() {
        let (scale, bucket_size) = (place.scale.1, place.bucket_size.1);
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
                let place = [place.scale.0, at, place.bucket_size.0];
                points.push(Point { query: name, place, measured, predicted, halves });
            }
        }
    }
    Ok(points)
}

fn conclude(of: &str, points: &[Point], report: Report) -> Result<()> {
    let (mean, most) = GOAL;
    report.heading(&format!(
        "\nErrors of increase rates, {of}, in percent (goal: {mean} on average, {most} at most)"
    ))?;
    summed_up(of, &|along| rates::errors(points, along), report)?;
    report.heading("The same rates by one half of what was measured and by the other")?;
    summed_up(&format!("{of}, measured twice"), &|along| rates::noise(points, along), report)?;
    Ok(())
}

fn summed_up(of: &str, errors: &dyn Fn(usize) -> Vec<(f64, String)>, report: Report) -> Result<()> {
    let mut all = Vec::new();
    for (along, name) in ALONG.iter().enumerate() {
        let errors = errors(along);
        told(of, name, &errors, report)?;
        all.extend(errors);
    }
    told(of, "all", &all, report)?;
    Ok(())
}

fn told(of: &str, name: &str, errors: &[(f64, String)], report: Report) -> Result<()> {
    let Some((mean, (worst, at))) = rates::summary(errors) else { return Ok(()) };
    let within = errors.iter().filter(|(error, _)| *error <= GOAL.1).count();
    let steps = errors.len();
    report.result(
        &format!("{name:<12} mean {mean:>5.1}  worst {worst:>5.1} ({at})  {within} of {steps} within {}", GOAL.1),
        json!({"of": of, "along": name, "mean": mean, "worst": worst, "worst_at": at, "steps": steps, "within_10": within}),
    )?;
    Ok(())
}

fn mean<'t>(times: impl Iterator<Item = &'t f64> + Clone) -> f64 {
    times.clone().sum::<f64>() / times.count() as f64
}

/// One core with its tables in memory.
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

/// Seconds of the shortest run of each query at each place. All are run in turn, so that what disturbs the machine for seconds or
/// minutes disturbs a run of each and leaves others alone. The first round, which only warms up, is not counted.
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

    /// Few rows, each query and selectivity: each is run, has a plan for the simulator, and grows with the scale there.
    #[tokio::test]
    async fn every_query_is_predicted_with_the_rows_that_it_has() {
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
        let place = |pando| Place { scale: (0, 0.01), bucket_size: (0, 65_536), pando };
        let sql = queries::ALL.map(|query| query.sql(0));
        let texts = sql.each_ref().map(String::as_str);
        let times = shortest(&[place(small), place(large)], &texts, 2, report).await.expect("run");
        assert_eq!(times.iter().map(Vec::len).collect::<Vec<_>>(), [texts.len(); 2]);
        let mut times = times.into_iter().flatten();
        assert!(times.all(|seconds| seconds > 0.0 && seconds.is_finite()));
    }
}
