//! `pando-sim`: runs simulations of seeds.

use simulation::{Config, CrashPoint, Report, run};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "\
pando-sim --seed N [--trace]                simulates the cluster of a seed
pando-sim --seeds FIRST COUNT [--seconds S] simulates seeds one after the other, for at most S seconds
pando-sim --crash-points FIRST COUNT        simulates faults at every durable step of variants of a scenario
pando-sim --crash-point VARIANT N [--trace] simulates the N-th of them";

/// Runs of one process.
const PROCESS_RUNS: u64 = 400;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, at: usize| -> Option<u64> {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + at)?.parse().ok()
    };
    let wants_trace = arguments.iter().any(|argument| argument == "--trace");
    if let Some(seed) = number("--seed", 1) {
        return one(seed, wants_trace);
    }
    if let (Some(variant), Some(at)) = (number("--crash-point", 1), number("--crash-point", 2)) {
        return one_point(variant, at as usize, wants_trace);
    }
    if let (Some(first), Some(count)) = (number("--crash-points", 1), number("--crash-points", 2)) {
        return if count == 1 { points(first) } else { variants(first, count) };
    }
    match (number("--seeds", 1), number("--seeds", 2)) {
        (Some(first), Some(count)) => many(first, count, number("--seconds", 1)),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Simulates one seed.
fn one(seed: u64, wants_trace: bool) -> ExitCode {
    let config = Config { keeps_lines: wants_trace, ..Config::of(seed) };
    let begun = Instant::now();
    let report = run(&config);
    report.lines.iter().for_each(|line| println!("{line}"));
    let mut sums = Sums::default();
    sums.add(&report);
    println!("{config:?}\n{}\ntrace {:016x}", sums.text(begun.elapsed()), report.hash);
    tell(seed, &report)
}

/// Simulates seeds one after the other.
fn many(first: u64, count: u64, seconds: Option<u64>) -> ExitCode {
    let begun = Instant::now();
    let mut sums = Sums::default();
    let mut code = ExitCode::SUCCESS;
    for seed in first..first.saturating_add(count) {
        let left = seconds.map(|seconds| seconds.saturating_sub(begun.elapsed().as_secs()));
        if left == Some(0) {
            break;
        }
        if seed - first == PROCESS_RUNS {
            println!("{}", sums.text(begun.elapsed()));
            let rest = others(seed, first + count - seed, left);
            return if code == ExitCode::SUCCESS { rest } else { code };
        }
        let report = run(&Config::of(seed));
        sums.add(&report);
        if !report.violations.is_empty() {
            code = tell(seed, &report);
        }
    }
    println!("{}", sums.text(begun.elapsed()));
    code
}

/// Simulates faults at every durable step of a variant.
fn points(variant: u64) -> ExitCode {
    let begun = Instant::now();
    let (all, report) = CrashPoint::all(variant);
    let mut sums = Sums::default();
    sums.add(&report);
    let mut code = tell_all(&report, "no fault");
    for (at, point) in all.iter().enumerate() {
        let report = point.run(false);
        sums.add(&report);
        if !report.violations.is_empty() {
            code = tell_all(&report, &point.to_string());
            println!("  pando-sim --crash-point {variant} {at} --trace");
        }
    }
    println!("variant {variant}: {}", sums.text(begun.elapsed()));
    code
}

/// Simulates variants in other processes, one after the other.
fn variants(first: u64, count: u64) -> ExitCode {
    let Ok(program) = std::env::current_exe() else { return ExitCode::FAILURE };
    let mut code = ExitCode::SUCCESS;
    for variant in first..first.saturating_add(count) {
        let mut command = std::process::Command::new(&program);
        command.args(["--crash-points", &variant.to_string(), "1"]);
        if !command.status().is_ok_and(|status| status.success()) {
            code = ExitCode::FAILURE;
        }
    }
    code
}

/// Simulates one fault at a durable step.
fn one_point(variant: u64, at: usize, wants_trace: bool) -> ExitCode {
    let (all, _) = CrashPoint::all(variant);
    let Some(point) = all.get(at) else {
        println!("variant {variant} has {} points", all.len());
        return ExitCode::from(2);
    };
    let report = point.run(wants_trace);
    report.lines.iter().for_each(|line| println!("{line}"));
    println!("trace {:016x}", report.hash);
    tell_all(&report, &point.to_string())
}

/// Says what was wrong.
fn tell_all(report: &Report, at: &str) -> ExitCode {
    report.violations.iter().for_each(|violation| println!("{at}: {violation}"));
    if report.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Simulates seeds in other processes, one after the other: a cluster and its stores refer to each other, so that their
/// memory comes back when a process ends.
fn others(first: u64, count: u64, seconds: Option<u64>) -> ExitCode {
    let Ok(program) = std::env::current_exe() else { return ExitCode::FAILURE };
    let begun = Instant::now();
    let mut code = ExitCode::SUCCESS;
    for start in (first..first.saturating_add(count)).step_by(PROCESS_RUNS as usize) {
        let left = seconds.map(|seconds| seconds.saturating_sub(begun.elapsed().as_secs()));
        if left == Some(0) {
            break;
        }
        let runs = PROCESS_RUNS.min(first + count - start);
        let mut command = std::process::Command::new(&program);
        command.args(["--seeds", &start.to_string(), &runs.to_string()]);
        command.args(left.iter().flat_map(|left| ["--seconds".to_owned(), left.to_string()]));
        if !command.status().is_ok_and(|status| status.success()) {
            code = ExitCode::FAILURE;
        }
    }
    code
}

/// Says what was wrong, and how to see it again.
fn tell(seed: u64, report: &Report) -> ExitCode {
    if report.violations.is_empty() {
        return ExitCode::SUCCESS;
    }
    for violation in report.violations.iter().take(5) {
        println!("seed {seed}: {violation}");
    }
    println!("  pando-sim --seed {seed} --trace");
    ExitCode::FAILURE
}

/// Figures of several runs.
#[derive(Default)]
struct Sums {
    runs: u64,
    time: Duration,
    steps: u64,
    messages: u64,
    counts: BTreeMap<&'static str, u64>,
}

impl Sums {
    fn add(&mut self, report: &Report) {
        self.runs += 1;
        self.time += report.time;
        self.steps += report.steps;
        self.messages += report.messages.0;
        for (what, count) in &report.counts {
            *self.counts.entry(what).or_default() += count;
        }
    }

    fn text(&self, took: Duration) -> String {
        let counts = self.counts.iter().map(|(what, count)| format!("{count} {what}"));
        let seconds = took.as_secs_f64().max(f64::MIN_POSITIVE);
        format!(
            "{} runs, {:.2} simulated hours in {seconds:.1} s, {} steps ({:.0} a second), {} messages: {}",
            self.runs,
            self.time.as_secs_f64() / 3600.0,
            self.steps,
            self.steps as f64 / seconds,
            self.messages,
            counts.collect::<Vec<_>>().join(", ")
        )
    }
}
