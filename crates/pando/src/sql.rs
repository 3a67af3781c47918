//! `pando sql`: a conversation on a terminal, else a script.

use crate::arguments::{Script, SqlArguments};
use crate::open::open;
use crate::output::{Format, View};
use crate::shell::{Flow, Shell, Source};
use crate::terminal::{Terminal, is_conversation, strong};
use pando::Database;
use std::io::{self, Write};
use std::process::ExitCode;
use tokio::runtime::Handle;

/// Runs what the command line says.
pub(crate) async fn run(arguments: SqlArguments, workers: Handle) -> anyhow::Result<ExitCode> {
    let database = open(&arguments.database, workers)?;
    let format = match (arguments.csv, arguments.json) {
        (true, _) => Format::Csv,
        (_, true) => Format::Json,
        _ => Format::Box,
    };
    let mut shell = Shell::new(&database, View::new(format, Terminal::of_output()));
    if arguments.scripts.is_empty() && is_conversation() {
        greet(&database)?;
        shell.converse().await?;
        return Ok(ExitCode::SUCCESS);
    }
    let scripts = match arguments.scripts.is_empty() {
        true => vec![Script::File("-".into())],
        false => arguments.scripts,
    };
    for script in scripts {
        match run_script(&mut shell, &script).await? {
            Flow::Continue => (),
            Flow::Quit => break,
            Flow::Failed => return Ok(ExitCode::FAILURE),
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn run_script(shell: &mut Shell, script: &Script) -> anyhow::Result<Flow> {
    match script {
        Script::Text(text) => {
            shell.run_script(Source { name: None, text: &mut text.as_bytes() }).await
        }
        Script::File(path) if path.as_os_str() == "-" => {
            shell.run_script(Source { name: Some("stdin"), text: &mut io::stdin().lock() }).await
        }
        Script::File(path) => shell.run_file(path).await,
    }
}

fn greet(database: &Database) -> io::Result<()> {
    let limit = database.store().memory().limit().map(crate::quantity::bytes);
    let memory = limit.map_or("without a limit".to_owned(), |limit| format!("of up to {limit}"));
    writeln!(io::stdout(), "{} {}", strong("Pando"), env!("CARGO_PKG_VERSION"))?;
    writeln!(
        io::stdout(),
        "A new database in memory {memory}. Everything in it goes when you leave."
    )?;
    writeln!(io::stdout(), "Type \\? for help, \\q to leave.\n")
}
