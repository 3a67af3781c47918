//! `pando sql`: a conversation on a terminal, else a script; in a database of this process, or on a server.

use crate::arguments::{Script, SqlArguments};
use crate::open::open;
use crate::output::{Format, View};
use crate::remote::Address;
use crate::shell::{Flow, Local, Place, Remote, Shell, Source};
use crate::terminal::{Terminal, is_conversation, strong};
use pando::Database;
use std::io::{self, Write};
use std::process::ExitCode;
use tokio::runtime::Handle;

/// Runs what the command line says.
pub(crate) async fn run(arguments: SqlArguments, workers: Handle) -> anyhow::Result<ExitCode> {
    let format = match (arguments.csv, arguments.json) {
        (true, _) => Format::Csv,
        (_, true) => Format::Json,
        _ => Format::Box,
    };
    let (place, introduction) = place(&arguments, workers).await?;
    let mut shell = Shell::new(place, View::new(format, Terminal::of_output()));
    let code = match arguments.scripts.is_empty() && is_conversation() {
        true => {
            greet(&introduction)?;
            shell.converse().await?;
            ExitCode::SUCCESS
        }
        false => run_scripts(&mut shell, arguments.scripts).await?,
    };
    shell.leave().await;
    Ok(code)
}

/// Where statements go, and what a person is told about it.
async fn place(arguments: &SqlArguments, workers: Handle) -> anyhow::Result<(Place, String)> {
    match &arguments.url {
        Some(url) => {
            let address = Address::of(Some(url), |name| std::env::var(name).ok())?;
            let remote = Remote::open(address).await?;
            let introduction = format!("Connected to {}.", remote.introduction());
            Ok((Place::Remote(Box::new(remote)), introduction))
        }
        None => {
            let database = open(&arguments.database, workers)?;
            let introduction = introduction(&database);
            Ok((Place::Local(Box::new(Local::new(&database))), introduction))
        }
    }
}

async fn run_scripts(shell: &mut Shell, scripts: Vec<Script>) -> anyhow::Result<ExitCode> {
    let scripts = match scripts.is_empty() {
        true => vec![Script::File("-".into())],
        false => scripts,
    };
    for script in &scripts {
        let source = match script {
            Script::Text(text) => Source::text(text),
            Script::File(path) if path.as_os_str() == "-" => Source::input(),
            Script::File(path) => Source::file(path)?,
        };
        match shell.run_script(source).await? {
            Flow::Quit => break,
            Flow::Failed => return Ok(ExitCode::FAILURE),
            Flow::Continue | Flow::Include(_) => {}
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn introduction(database: &Database) -> String {
    let limit = database.store().memory().limit().map(crate::quantity::bytes);
    let memory = limit.map_or("without a limit".to_owned(), |limit| format!("of up to {limit}"));
    format!("A new database in memory {memory}. Everything in it goes when you leave.")
}

fn greet(introduction: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{} {}", strong("Pando"), env!("CARGO_PKG_VERSION"))?;
    writeln!(io::stdout(), "{introduction}")?;
    writeln!(io::stdout(), "Type \\? for help, \\q to leave.\n")
}
