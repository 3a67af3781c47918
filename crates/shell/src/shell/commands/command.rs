//! Parses backslash commands.

use crate::error::SqlError;
use crate::output::ShowError;
use std::io;
use std::path::PathBuf;

/// A command with its argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// `\q`
    Quit,
    /// `\?`
    Help,
    /// `\h [STATEMENT]`
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

/// The kinds of relations in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kinds {
    All,
    Tables,
    Views,
}

/// The error of a command.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// Unknown command, or invalid argument.
    Misused(String),
    /// A statement of the command failed.
    Statement(SqlError),
    /// The output cannot be written.
    Output(anyhow::Error),
}

impl From<SqlError> for CommandError {
    fn from(error: SqlError) -> Self {
        Self::Statement(error)
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
    /// Parses a line that begins with a backslash. A trailing semicolon is ignored.
    pub(crate) fn parse(line: &str) -> Result<Self, CommandError> {
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
    let message = format!("there is no command {name}; \\? lists the commands");
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
    fn invalid_commands_are_explained() {
        assert_eq!(parse("\\x maybe"), Err("\\x is on or off, not \"maybe\"".to_owned()));
        assert_eq!(parse("\\dt x"), Err("\\dt takes no argument".to_owned()));
        assert!(parse("\\i").is_err_and(|message| message.contains("file")));
        assert!(parse("\\copy").is_err_and(|message| message.contains("\\?")));
    }
}
