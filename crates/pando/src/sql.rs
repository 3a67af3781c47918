//! `pando sql`: an interactive shell on a terminal, or scripts; on a database in this process or on a server.

use crate::arguments::{Script, SqlArguments};
use crate::open::open;
use pando::Database;
use query::Executors;
use shell::output::{Format, View};
use shell::protocol::Address;
use shell::terminal::{Terminal, is_conversation, strong};
use shell::{Flow, Local, Place, Remote, Shell, Source};
use std::io::{self, Write};
use std::process::ExitCode;

/// Runs the shell or the scripts.
pub(crate) async fn run(arguments: SqlArguments, executors: Executors) -> anyhow::Result<ExitCode> {
    let format = if arguments.csv {
        Format::Csv
    } else if arguments.json {
        Format::Json
    } else {
        Format::Box
    };
    let (place, introduction) = place(&arguments, executors).await?;
    let mut shell = Shell::new(place, View::new(format, Terminal::of_output()));
    let code = if arguments.scripts.is_empty() && is_conversation() {
        greet(&introduction)?;
        shell.converse().await?;
        ExitCode::SUCCESS
    } else {
        run_scripts(&mut shell, arguments.scripts).await?
    };
    shell.leave().await;
    Ok(code)
}

/// The place where statements run, and its description for the user.
async fn place(arguments: &SqlArguments, executors: Executors) -> anyhow::Result<(Place, String)> {
    match &arguments.url {
        Some(url) => {
            let address = Address::of(Some(url), |name| std::env::var(name).ok())?;
            let remote = Remote::open(address).await?;
            let introduction = format!("Connected to {}.", remote.introduction());
            Ok((Place::Remote(Box::new(remote)), introduction))
        }
        None => {
            let database = open(&arguments.database, executors)?;
            let introduction = introduction(&database);
            Ok((Place::Local(Box::new(Local::new(&database))), introduction))
        }
    }
}

async fn run_scripts(shell: &mut Shell, scripts: Vec<Script>) -> anyhow::Result<ExitCode> {
    let scripts = if scripts.is_empty() { vec![Script::File("-".into())] } else { scripts };
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
    let limit = database.store().memory().limit().map(shell::quantity::bytes);
    let memory = limit.map_or("without a memory limit".to_owned(), |limit| {
        format!("with up to {limit} of memory")
    });
    format!("A new database {memory}. It is dropped at exit.")
}

fn greet(introduction: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{} {}", strong("Pando"), env!("CARGO_PKG_VERSION"))?;
    writeln!(io::stdout(), "{introduction}")?;
    writeln!(io::stdout(), "Type \\? for help, \\q to quit.\n")
}
