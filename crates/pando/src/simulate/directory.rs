//! `pando simulate directory`: one run for each page size.

use super::report::{self, Run};
use crate::arguments::DirectoryArguments;
use anyhow::{Context, anyhow};
use indicatif::{ProgressBar, ProgressStyle};
use plots::{Line, LineChart};
use sdds::simulation::{Grown, Newcomers, Parameters, Progress, Window};
use shell::quantity;
use shell::terminal;
use std::fs;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

/// The page sizes of a chart, in addition to the given one.
const CHART_PAGES: [usize; 4] = [8, 32, 128, 512];

/// Range of the chart's vertical axis: forwards of 1,000 requests.
const FORWARDED_MIN: f64 = 0.1;
const FORWARDED_MAX: f64 = 1000.0;

/// Runs the simulation, prints the reports, and writes the chart.
pub(super) fn run(arguments: &DirectoryArguments) -> anyhow::Result<ExitCode> {
    let pages = pages(arguments);
    let mut runs: Vec<Run> = Vec::new();
    for page in pages {
        let run = simulate(parameters(arguments, page))?;
        report::print(&run, arguments.json)?;
        runs.push(run);
    }
    if let Some(file) = &arguments.svg {
        fs::write(file, chart(arguments, &runs).svg()?)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    let wrong: u64 = runs.iter().map(|run| run.figures.wrong).sum();
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn pages(arguments: &DirectoryArguments) -> Vec<usize> {
    let mut pages = vec![arguments.page.get()];
    if arguments.svg.is_some() {
        pages.extend(CHART_PAGES);
    }
    pages.sort_unstable();
    pages.dedup();
    pages
}

fn parameters(arguments: &DirectoryArguments, page_entries: usize) -> Parameters {
    Parameters {
        servers: arguments.servers.get(),
        buckets: arguments.buckets.get() as u64,
        clients: arguments.clients.get(),
        bucket_keys: arguments.bucket_keys as usize,
        page_entries,
        seed: arguments.seed,
    }
}

/// New clients of the finished table are independent: they run in one thread a processor.
fn simulate(parameters: Parameters) -> anyhow::Result<Run> {
    let start = Instant::now();
    let bar = bar(&parameters);
    let mut grown = Grown::new(&parameters, &mut |progress| show(&bar, progress));
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let working = grown.newcomers(threads).into_iter().map(|mut newcomers| {
        let bar = bar.clone();
        thread::spawn(move || {
            newcomers.run(&mut |progress| show(&bar, progress));
            newcomers
        })
    });
    let working: Vec<_> = working.collect();
    let done = working.into_iter().map(|thread| thread.join());
    let newcomers: Vec<Newcomers> = done
        .collect::<Result<_, _>>()
        .map_err(|_| anyhow!("a thread of the simulation panicked"))?;
    bar.finish_and_clear();
    let figures = grown.figures(&newcomers);
    Ok(Run { parameters, figures, time: start.elapsed() })
}

fn show(bar: &ProgressBar, progress: Progress) {
    let (message, position) = match progress {
        Progress::Growing(buckets) => ("buckets", buckets),
        Progress::Resting(requests) => ("requests of each new client", requests),
    };
    bar.set_message(message);
    bar.set_position(position);
}

fn bar(parameters: &Parameters) -> ProgressBar {
    if !terminal::shows_progress() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(parameters.buckets);
    let style = ProgressStyle::with_template("{bar:40} {human_pos} of {human_len} {msg}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Forwards of 1,000 requests by the number of requests, a line for each page size.
fn chart(arguments: &DirectoryArguments, runs: &[Run]) -> LineChart {
    let line = |run: &Run| Line {
        name: format!("{} entries a page", quantity::count(run.parameters.page_entries as u64)),
        points: points(&run.figures.windows),
    };
    LineChart {
        title: format!(
            "Forwarded requests of new clients of {} buckets on {} servers",
            quantity::count(arguments.buckets.get() as u64),
            quantity::count(arguments.servers.get() as u64),
        ),
        x_name: "requests of each client".to_owned(),
        y_name: "forwarded, of 1,000 requests".to_owned(),
        y_range: FORWARDED_MIN..FORWARDED_MAX,
        lines: runs.iter().map(line).collect(),
    }
}

/// The points of a line. It ends where no request is forwarded any more.
fn points(windows: &[Window]) -> Vec<(f64, f64)> {
    let has_forwards = |window: &Window| window.forwarded_per_thousand > 0.0;
    let shown = windows.iter().rposition(has_forwards).map_or(0, |last| last + 2);
    let point = |window: &Window| (window.requests as f64, window.forwarded_per_thousand);
    windows.iter().take(shown).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_nothing_is_forwarded() {
        let window = |requests, forwarded_per_thousand| Window { requests, forwarded_per_thousand };
        let windows = [window(1, 1000.0), window(10, 50.0), window(100, 0.0), window(1000, 0.0)];
        assert_eq!(points(&windows), [(1.0, 1000.0), (10.0, 50.0), (100.0, 0.0)]);
        assert_eq!(points(&windows[2..]), []);
    }
}
