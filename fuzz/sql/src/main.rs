//! Random SQL statements against a server in a child process, until the time is over: `make fuzz`.
//!
//! A run is a sequence of rounds. Each round is a script on a new server, and is made from its own seed alone: a run with
//! seed N has the rounds N, N + 1, ... What a statement is does not depend on the answers to those before it.
//!
//! Findings are reduced and printed, and make the exit code 1. See [`outcome::Defect`] for what a finding is.

mod child;
mod client;
mod edits;
mod grammar;
mod long;
mod messages;
mod mutation;
mod outcome;
mod random;
mod reduce;
mod report;
mod rounds;
mod run;
mod script;
mod session;
mod tokens;
mod tree;
mod watch;

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

/// Sends random SQL statements to a server and looks for defects.
#[derive(Parser)]
struct Arguments {
    /// The first round; the same seed makes the same statements [a new one]
    #[arg(long)]
    seed: Option<u64>,
    /// When no new round begins, in seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// No new round after so many
    #[arg(long)]
    rounds: Option<u64>,
    /// No new round after so many statements
    #[arg(long)]
    statements: Option<usize>,
    /// The server [pando of the profile quick in CARGO_TARGET_DIR]
    #[arg(long)]
    program: Option<PathBuf>,
    /// Runs the statements of this file instead; it may be given more than once
    #[arg(long, value_name = "FILE")]
    replay: Vec<PathBuf>,
    /// A folder for findings, as files that can be replayed
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// The scripts that run first
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/seeds"))]
    seeds: PathBuf,
    /// The time for reducing each finding, in seconds
    #[arg(long, default_value_t = 60)]
    reduce: u64,
    /// Prints the statements instead of sending them
    #[arg(long)]
    print: bool,
    /// Prints the most frequent refusals, too
    #[arg(long)]
    verbose: bool,
}

impl Arguments {
    fn program(&self) -> PathBuf {
        let builds = || std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
        self.program.clone().unwrap_or_else(|| builds().join("quick/pando"))
    }

    /// The given seed, or one from the clock.
    fn seed(&self) -> u64 {
        let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        self.seed.unwrap_or_else(|| clock().map_or(0, |since| since.as_secs() * 1000))
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let seed = arguments.seed();
    if arguments.print {
        for round in seed..seed + arguments.rounds.unwrap_or(1) {
            print!("{}", script::print(&rounds::round(round)));
        }
        return ExitCode::SUCCESS;
    }
    let settings = run::Settings {
        program: arguments.program(),
        keep: arguments.keep,
        reduce: Duration::from_secs(arguments.reduce),
    };
    let limits = run::Extent {
        time: Duration::from_secs(arguments.seconds),
        rounds: arguments.rounds.unwrap_or(u64::MAX),
        statements: arguments.statements.unwrap_or(usize::MAX),
    };
    let mut run = run::Run::new(settings);
    let done = if arguments.replay.is_empty() {
        println!("--seed {seed}");
        run.replay_folder(&arguments.seeds).and_then(|()| run.rounds(seed, &limits))
    } else {
        arguments.replay.iter().try_for_each(|file| run.replay(file))
    };
    let report = run.report();
    report.print(arguments.verbose);
    if let Err(error) = &done {
        eprintln!("{error}");
    }
    if done.is_ok() && report.findings() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
