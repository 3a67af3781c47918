//! `pando simulate directory`: the runs, one for each page size.

use super::plot::{self, Curve};
use super::report::{self, Run};
use crate::arguments::DirectoryArguments;
use crate::quantity;
use crate::terminal;
use anyhow::{Context, anyhow};
use indicatif::{ProgressBar, ProgressStyle};
use sdds::simulation::{Grown, Newcomers, Parameters, Progress};
use std::fs;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

/// The page sizes of a plot, beside the one that is asked for.
const PLOTTED_PAGES: [usize; 4] = [8, 32, 128, 512];

/// Runs the simulation, reports, and draws.
pub(super) fn run(arguments: &DirectoryArguments) -> anyhow::Result<ExitCode> {
    let pages = pages(arguments);
    let mut runs: Vec<Run> = Vec::new();
    for page in pages {
        let run = simulate(parameters(arguments, page))?;
        report::print(&run, arguments.json)?;
        runs.push(run);
    }
    if let Some(file) = &arguments.svg {
        let curves: Vec<Curve<'_>> = runs.iter().map(curve).collect();
        let title = format!(
            "Forwarded requests of newcomers to a file of {} buckets on {} servers",
            quantity::count(arguments.buckets.get() as u64),
            quantity::count(arguments.servers.get() as u64),
        );
        fs::write(file, plot::svg(&title, &curves))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    let wrong: u64 = runs.iter().map(|run| run.figures.wrong).sum();
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn pages(arguments: &DirectoryArguments) -> Vec<usize> {
    let mut pages = vec![arguments.page.get()];
    if arguments.svg.is_some() {
        pages.extend(PLOTTED_PAGES);
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

/// Newcomers to the file at rest do not meet: they work in as many threads as there are processors.
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
        .map_err(|_| anyhow!("the simulation has a defect and ended"))?;
    bar.finish_and_clear();
    let figures = grown.figures(&newcomers);
    Ok(Run { parameters, figures, time: start.elapsed() })
}

fn show(bar: &ProgressBar, progress: Progress) {
    let (message, position) = match progress {
        Progress::Growing(buckets) => ("buckets", buckets),
        Progress::Resting(requests) => ("requests of each newcomer", requests),
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

fn curve(run: &Run) -> Curve<'_> {
    Curve { page_entries: run.parameters.page_entries, windows: &run.figures.windows }
}
