//! Backslash commands: parsing, and what each does.

mod command;
mod describe;
mod help;
mod servers;
mod table_report;

pub(super) use command::{Command, CommandError};
pub(super) use help::topics;

use super::{Flow, Shell};
use std::io::{self, Write};

/// Runs a command.
pub(super) async fn run(shell: &mut Shell, command: Command) -> Result<Flow, CommandError> {
    match command {
        Command::Quit => return Ok(Flow::Quit),
        Command::Help => {
            shell.out.write_all(help::COMMANDS.as_bytes())?;
            if shell.place.is_pando() {
                shell.out.write_all(help::ON_PANDO.as_bytes())?;
            }
        }
        Command::StatementHelp(topic) => {
            let text = help::about(topic.as_deref()).map_err(CommandError::Misused)?;
            shell.out.write_all(text.as_bytes())?;
        }
        Command::List(kinds) => describe::list(shell, kinds).await?,
        Command::Schemas => describe::schemas(shell).await?,
        Command::Describe(name) => table_report::describe(shell, &name).await?,
        Command::Expanded(value) => {
            let value = value.unwrap_or(!shell.view.expanded);
            shell.view.expanded = value;
            print_switch(shell, "Expanded display", value)?;
        }
        Command::Timing(value) => {
            let value = value.unwrap_or(!shell.view.timing);
            shell.view.timing = value;
            print_switch(shell, "Timing", value)?;
        }
        Command::Include(path) => return Ok(Flow::Include(path)),
        Command::Servers => servers::list(shell).await?,
        Command::Add => servers::add(shell).await?,
        Command::Drain(name) => servers::drain(shell, &name).await?,
        Command::Buckets(table) => servers::buckets(shell, &table).await?,
    }
    Ok(Flow::Continue)
}

fn print_switch(shell: &mut Shell, what: &str, value: bool) -> io::Result<()> {
    writeln!(shell.out, "{what} is {}.", if value { "on" } else { "off" })
}
