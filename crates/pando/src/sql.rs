//! `pando sql`: an interactive shell on a terminal, or scripts; on a database in this process or on a server.

use crate::arguments::{Script, SqlArguments};
use crate::open::options;
use crate::reading;
use pando::{Database, Options};
use query::{DataDirectory, Durability, Executors};
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
    let (place, introduction, database) = place(&arguments, executors).await?;
    let mut shell = Shell::new(place, View::new(format, Terminal::of_output()));
    let code = if arguments.scripts.is_empty() && is_conversation() {
        greet(&introduction)?;
        shell.converse().await?;
        ExitCode::SUCCESS
    } else {
        run_scripts(&mut shell, arguments.scripts).await?
    };
    shell.leave().await;
    if let Some(database) = database {
        database.close()?;
    }
    Ok(code)
}

/// The place where statements run, its description for the user, and the database if it is in this process.
async fn place(
    arguments: &SqlArguments,
    executors: Executors,
) -> anyhow::Result<(Place, String, Option<Database>)> {
    match &arguments.url {
        Some(url) => {
            let address = Address::of(Some(url), |name| std::env::var(name).ok())?;
            let remote = Remote::open(address).await?;
            let introduction = format!("Connected to {}.", remote.introduction());
            Ok((Place::Remote(Box::new(remote)), introduction, None))
        }
        None => {
            let data =
                arguments.data.as_ref().map(|path| DataDirectory::new(path, Durability::Sync));
            let recovery_progress = reading::of_recovery();
            let options = options(&arguments.database, executors);
            let database = Database::open(Options { data, recovery_progress, ..options })?;
            let introduction = introduction(&database);
            let local = Local::new(&database);
            Ok((Place::Local(Box::new(local)), introduction, Some(database)))
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
    match database.recovery() {
        Some(recovery) => format!("A database {memory}: {recovery}."),
        None => format!("A new database {memory}. It is dropped at exit."),
    }
}

fn greet(introduction: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{} {}", strong("Pando"), env!("CARGO_PKG_VERSION"))?;
    writeln!(io::stdout(), "{introduction}")?;
    writeln!(io::stdout(), "Type \\? for help, \\q to quit.\n")
}
