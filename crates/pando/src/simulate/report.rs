//! Output of a simulation: a table, or a JSON object.

use sdds::directory::Counters;
use sdds::simulation::{Figures, Parameters};
use serde_json::{Value, json};
use shell::quantity::{bytes, count, duration};
use std::io::{self, Write};
use std::time::Duration;

/// A completed simulation.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) parameters: Parameters,
    pub(super) figures: Figures,
    pub(super) time: Duration,
}

/// Prints a run.
///
/// # Errors
/// If the output cannot be written.
pub(super) fn print(run: &Run, as_json: bool) -> io::Result<()> {
    writeln!(io::stdout(), "{}", if as_json { json(run).to_string() } else { text(run) })
}

fn text(run: &Run) -> String {
    let Run { parameters, figures, time } = run;
    let Figures { messages, sizes, .. } = figures;
    let mut out = format!(
        "{} servers, {} buckets, {} clients, pages of {} entries, seed {}: {}\n",
        count(parameters.servers as u64),
        count(figures.buckets),
        count(parameters.clients as u64),
        count(parameters.page_entries as u64),
        parameters.seed,
        duration(*time),
    );
    out += "\n                           requests    forwarded      hops      hops   adjust-\n";
    out += "                                       per 1,000      mean   maximum     ments\n";
    out += &phase("while the table grows", &figures.growing);
    out += &phase("new clients, at rest", &figures.resting);
    out += &phase("the same, converged", &figures.converged);
    let mut line = |name: &str, value: String| out += &format!("  {name:<34}{value}\n");
    line("splits, halves moved", format!("{}, {}", count(figures.splits), count(figures.moves)));
    line(
        "messages per split",
        format!(
            "{:.2}: moves {:.2}, pages {:.2}, heartbeats {:.2}",
            messages.per_split(figures.splits),
            per(messages.moves, figures.splits),
            per(messages.pages, figures.splits),
            per(messages.heartbeats, figures.splits),
        ),
    );
    line("pages of the directory", count(figures.pages));
    line(
        "directory of a server",
        format!(
            "{} on average, {} at most; {} of it the root",
            bytes(sizes.server_mean),
            bytes(sizes.server_max),
            bytes(sizes.root)
        ),
    );
    line("image of a client", bytes(sizes.client_mean));
    line("broadcast lookups", count(broadcasts(figures)));
    line("wrong or incomplete answers", count(figures.wrong));
    out
}

fn phase(name: &str, counters: &Counters) -> String {
    format!(
        "  {name:<22}{:>12} {:>12.3} {:>9.3} {:>9} {:>9}\n",
        count(counters.requests),
        counters.forwarded_per_thousand(),
        counters.hops_mean(),
        counters.hops_max,
        count(counters.adjustments),
    )
}

fn json(run: &Run) -> Value {
    let Run { parameters, figures, time } = run;
    let Figures { messages, sizes, .. } = figures;
    let windows = figures.windows.iter();
    let windows: Vec<Value> =
        windows.map(|window| json!([window.requests, window.forwarded_per_thousand])).collect();
    json!({
        "simulation": "directory",
        "servers": parameters.servers,
        "buckets": figures.buckets,
        "clients": parameters.clients,
        "bucket_keys": parameters.bucket_keys,
        "page_entries": parameters.page_entries,
        "seed": parameters.seed,
        "seconds": time.as_secs_f64(),
        "growing": phase_json(&figures.growing),
        "resting": phase_json(&figures.resting),
        "converged": phase_json(&figures.converged),
        "forwarded_per_thousand_by_requests": windows,
        "keys": figures.keys,
        "splits": figures.splits,
        "moves": figures.moves,
        "messages_per_split": messages.per_split(figures.splits),
        "messages": {
            "requests": messages.requests,
            "forwards": messages.forwards,
            "replies": messages.replies,
            "moves": messages.moves,
            "pages": messages.pages,
            "heartbeats": messages.heartbeats,
            "asks": messages.asks,
        },
        "pages": figures.pages,
        "server_bytes_mean": sizes.server_mean,
        "server_bytes_max": sizes.server_max,
        "root_bytes": sizes.root,
        "client_bytes_mean": sizes.client_mean,
        "broadcasts": broadcasts(figures),
        "wrong": figures.wrong,
    })
}

fn phase_json(counters: &Counters) -> Value {
    json!({
        "requests": counters.requests,
        "forwarded_per_thousand": counters.forwarded_per_thousand(),
        "forwards": counters.forwards,
        "hops_mean": counters.hops_mean(),
        "hops_max": counters.hops_max,
        "adjustments": counters.adjustments,
    })
}

fn broadcasts(figures: &Figures) -> u64 {
    figures.growing.broadcasts + figures.resting.broadcasts + figures.converged.broadcasts
}

fn per(messages: u64, splits: u64) -> f64 {
    if splits == 0 { 0.0 } else { messages as f64 / splits as f64 }
}
