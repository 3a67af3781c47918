//! Backslash commands.

use super::{Flow, Shell, describe, help, servers, table_report};
use crate::output::ShowError;
use crate::trouble::SqlError;
use std::io::{self, Write};
use std::path::PathBuf;

/// A command with its argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    /// `\q`
    Quit,
    /// `\?`
    Help,
    /// `\h`, about one statement or all.
    StatementHelp(Option<String>),
    /// `\d`, `\dt`, `\dv`
    List(Kinds),
    /// `\dn`
    Schemas,
    /// `\d NAME`
    Describe(String),
    /// `\x`
    Expanded(Option<bool>),
    /// `\timing`
    Timing(Option<bool>),
    /// `\i FILE`
    Include(PathBuf),
    /// `\servers`
    Servers,
    /// `\add`
    Add,
    /// `\drain NAME`
    Drain(String),
    /// `\buckets TABLE`
    Buckets(String),
}

/// Which relations a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kinds {
    All,
    Tables,
    Views,
}

/// Why a command did nothing.
#[derive(Debug)]
pub(super) enum CommandError {
    /// There is no such command, or not with this argument.
    Misused(String),
    /// What it asked the database failed.
    Statement(SqlError),
    /// Its answer cannot be written.
    Output(anyhow::Error),
}

impl From<SqlError> for CommandError {
    fn from(trouble: SqlError) -> Self {
        Self::Statement(trouble)
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::Output(error.into())
    }
}

impl From<ShowError> for CommandError {
    fn from(error: ShowError) -> Self {
        match error {
            ShowError::Statement(error) => error.into(),
            ShowError::Output(error) => error.into(),
        }
    }
}

impl Command {
    /// Reads a line that begins with a backslash. A semicolon at its end is forgiven.
    pub(super) fn parse(line: &str) -> Result<Self, CommandError> {
        let line = line.trim().trim_end_matches(';').trim_end();
        let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument = argument.trim();
        let given = || (!argument.is_empty()).then(|| argument.to_owned());
        let alone = |command: Self| match given() {
            None => Ok(command),
            Some(_) => Err(CommandError::Misused(format!("{name} takes no argument"))),
        };
        match name {
            "\\q" | "\\quit" => alone(Self::Quit),
            "\\?" | "\\help" => alone(Self::Help),
            "\\h" => Ok(Self::StatementHelp(given())),
            "\\d" => Ok(given().map_or(Self::List(Kinds::All), Self::Describe)),
            "\\dt" => alone(Self::List(Kinds::Tables)),
            "\\dv" => alone(Self::List(Kinds::Views)),
            "\\dn" => alone(Self::Schemas),
            "\\x" => switch(name, argument).map(Self::Expanded),
            "\\timing" => switch(name, argument).map(Self::Timing),
            "\\i" | "\\include" => match given() {
                Some(file) => Ok(Self::Include(unquoted(&file).into())),
                None => Err(CommandError::Misused("\\i needs the name of a file".to_owned())),
            },
            "\\servers" => alone(Self::Servers),
            "\\add" => alone(Self::Add),
            "\\drain" => match given() {
                Some(server) => Ok(Self::Drain(unquoted(&server).to_owned())),
                None => Err(CommandError::Misused("\\drain needs a server's name".to_owned())),
            },
            "\\buckets" => match given() {
                Some(table) => Ok(Self::Buckets(unquoted(&table).to_owned())),
                None => Err(CommandError::Misused("\\buckets needs a table's name".to_owned())),
            },
            _ => Err(unknown(name)),
        }
    }
}

fn unknown(name: &str) -> CommandError {
    let message = format!("there is no command {name}; \\? lists those that there are");
    CommandError::Misused(message)
}

fn switch(name: &str, argument: &str) -> Result<Option<bool>, CommandError> {
    match argument {
        "" => Ok(None),
        "on" => Ok(Some(true)),
        "off" => Ok(Some(false)),
        _ => Err(CommandError::Misused(format!("{name} is on or off, not \"{argument}\""))),
    }
}

fn unquoted(text: &str) -> &str {
    let inside = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    inside.unwrap_or(text)
}

/// Does what the command says.
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
            tell(shell, "Expanded display", value)?;
        }
        Command::Timing(value) => {
            let value = value.unwrap_or(!shell.view.timing);
            shell.view.timing = value;
            tell(shell, "Timing", value)?;
        }
        Command::Include(path) => return Ok(Flow::Include(path)),
        Command::Servers => servers::list(shell).await?,
        Command::Add => servers::add(shell).await?,
        Command::Drain(name) => servers::drain(shell, &name).await?,
        Command::Buckets(table) => servers::buckets(shell, &table).await?,
    }
    Ok(Flow::Continue)
}

fn tell(shell: &mut Shell, what: &str, value: bool) -> io::Result<()> {
    writeln!(shell.out, "{what} is {}.", if value { "on" } else { "off" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, String> {
        Command::parse(line).map_err(|error| match error {
            CommandError::Misused(message) => message,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn commands_and_their_arguments() {
        assert_eq!(parse("\\d"), Ok(Command::List(Kinds::All)));
        assert_eq!(parse("\\d  public.t ;"), Ok(Command::Describe("public.t".to_owned())));
        assert_eq!(parse("\\x on"), Ok(Command::Expanded(Some(true))));
        assert_eq!(parse("\\i 'a b.sql'"), Ok(Command::Include("a b.sql".into())));
        assert_eq!(parse("\\q;"), Ok(Command::Quit));
    }

    #[test]
    fn misuse_is_explained() {
        assert_eq!(parse("\\x maybe"), Err("\\x is on or off, not \"maybe\"".to_owned()));
        assert_eq!(parse("\\dt x"), Err("\\dt takes no argument".to_owned()));
        assert!(parse("\\i").is_err_and(|message| message.contains("file")));
        assert!(parse("\\copy").is_err_and(|message| message.contains("\\?")));
    }
}
