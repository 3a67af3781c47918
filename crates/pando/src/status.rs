//! `pando status`: shows a cluster through any of its servers.

use crate::arguments::StatusArguments;
use shell::output::{Format, View};
use shell::protocol::Address;
use shell::terminal::Terminal;
use shell::{Flow, Place, Remote, Shell, Source};
use std::process::ExitCode;

const SERVERS: &str = "\
select name, state, weight, buckets, rows, pg_size_pretty(bytes) as bytes, address \
from pando.servers order by number;";

const SHARES: &str = "\
select schema || '.' || \"table\" as \"table\", server, buckets, rows, \
pg_size_pretty(bytes) as bytes, percent from pando.shares order by 1, 2;";

const MOVES: &str = "\
select schema || '.' || \"table\" as \"table\", source, destination, state, sent, bytes, \
bytes_per_second, seconds_left, reason from pando.moves where state in ('copying', 'waiting');";

const SETTINGS: &str = "\
select name, setting from pando.settings where name like 'pando.move%' order by name;";

/// Shows the servers, their shares of tables, and current moves.
pub(crate) async fn show(arguments: StatusArguments) -> anyhow::Result<ExitCode> {
    let format = if arguments.json { Format::Json } else { Format::Box };
    let script = format!("{SERVERS}\n{SHARES}\n{MOVES}\n{SETTINGS}");
    run(arguments.url.as_deref(), format, &script).await
}

async fn run(url: Option<&str>, format: Format, script: &str) -> anyhow::Result<ExitCode> {
    let address = Address::of(url, |name| std::env::var(name).ok())?;
    let remote = Remote::open(address).await?;
    let place = Place::Remote(Box::new(remote));
    let mut shell = Shell::new(place, View::new(format, Terminal::of_output()));
    let flow = shell.run_script(Source::text(script)).await?;
    shell.leave().await;
    Ok(match flow {
        Flow::Failed => ExitCode::FAILURE,
        Flow::Quit | Flow::Continue | Flow::Include(_) => ExitCode::SUCCESS,
    })
}
