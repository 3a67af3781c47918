//! Shows how the demo's tables spread over the servers.

use super::screen::Screen;
use shell::Shell;
use shell::output::{Align, Grid, Heading};
use shell::quantity::{bytes, count, counted};
use shell::terminal::strong;
use std::io::{self, Write};
use std::time::{Duration, Instant};
use workloads::InProcess;

/// Longest time of watching. Moves continue afterwards.
const WATCH_MAX: Duration = Duration::from_secs(30);
/// The tables have spread if nothing has moved for so long.
const SETTLED_AFTER: Duration = Duration::from_millis(600);
const REDRAW_EVERY: Duration = Duration::from_millis(100);
/// Length of the bar of a server with all data.
const BAR: usize = 40;

/// The data of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Holding {
    name: String,
    buckets: u64,
    rows: u64,
    bytes: u64,
    moved: u64,
}

/// Shows the shares of the servers until they do not change any more.
pub(super) async fn watch(shell: &mut Shell, servers: &InProcess) -> anyhow::Result<()> {
    let names = counted(servers.servers().len() as u64, "server");
    writeln!(io::stdout(), "{}", strong(&format!("2  Spread over {names}")))?;
    let text = "   Buckets move to servers with less data, while clients read and write.\n";
    writeln!(io::stdout(), "{text}")?;
    let mut screen = Screen::of_output();
    let started = Instant::now();
    let mut unchanged_since = Instant::now();
    let mut last = holdings(servers).await;
    while started.elapsed() < WATCH_MAX && unchanged_since.elapsed() < SETTLED_AFTER {
        if let Some(screen) = &mut screen {
            screen.draw(&lines(&last))?;
        }
        tokio::time::sleep(REDRAW_EVERY).await;
        let now = holdings(servers).await;
        if now != last {
            last = now;
            unchanged_since = Instant::now();
        }
    }
    match &mut screen {
        Some(screen) => screen.draw(&lines(&last))?,
        None => shell.show_grid(&grid(&last))?,
    }
    let moved = counted(last.iter().map(|holding| holding.moved).sum(), "move");
    let time =
        shell::quantity::duration(started.elapsed().saturating_sub(unchanged_since.elapsed()));
    writeln!(io::stdout(), "\n   {moved} in {time}\n")?;
    Ok(())
}

async fn holdings(servers: &InProcess) -> Vec<Holding> {
    let Some(first) = servers.servers().first() else { return Vec::new() };
    let report = first.cluster.report().await;
    let holding =
        |(member, held): (cluster::Member, Result<cluster::ServerReport, store::Error>)| {
            let held = held.ok()?;
            let sum = |of: fn(&cluster::TableLoad) -> u64| held.load.tables.iter().map(of).sum();
            Some(Holding {
                name: member.name,
                buckets: sum(|table| table.buckets),
                rows: sum(|table| table.rows),
                bytes: sum(|table| table.bytes),
                moved: held.moves.iter().filter(|info| info.state == "done").count() as u64,
            })
        };
    report.into_iter().filter_map(holding).collect()
}

fn share(holding: &Holding, all: &[Holding]) -> f64 {
    let total: u64 = all.iter().map(|holding| holding.bytes).sum();
    holding.bytes as f64 / total.max(1) as f64
}

fn lines(all: &[Holding]) -> Vec<String> {
    let header =
        format!("   {:<8} {:>9} {:>11} {:>11}  share", "server", "buckets", "rows", "bytes");
    let line = |holding: &Holding| {
        let share = share(holding, all);
        format!(
            "   {:<8} {:>9} {:>11} {:>11}  {} {:.0} %",
            holding.name,
            count(holding.buckets),
            count(holding.rows),
            bytes(holding.bytes),
            "█".repeat((share * BAR as f64) as usize),
            share * 100.0,
        )
    };
    std::iter::once(header).chain(all.iter().map(line)).collect()
}

fn grid(all: &[Holding]) -> Grid {
    let headings = [
        Heading::new("server", Align::Left),
        Heading::new("buckets", Align::Right),
        Heading::new("rows", Align::Right),
        Heading::new("bytes", Align::Right),
        Heading::new("share", Align::Right),
    ];
    let mut grid = Grid::new(headings.into());
    for holding in all {
        grid.push([
            holding.name.clone(),
            count(holding.buckets),
            count(holding.rows),
            bytes(holding.bytes),
            format!("{:.0} %", share(holding, all) * 100.0),
        ]);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_proportional_to_the_share() {
        let holding = |name: &str, bytes| Holding {
            name: name.to_owned(),
            buckets: 2,
            rows: 1000,
            bytes,
            moved: 0,
        };
        let lines = lines(&[holding("a", 300), holding("b", 100)]);
        assert!(lines[1].ends_with(&format!("{} 75 %", "█".repeat(30))), "{}", lines[1]);
        assert!(lines[2].ends_with(&format!("{} 25 %", "█".repeat(10))), "{}", lines[2]);
    }
}
