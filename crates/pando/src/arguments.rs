//! The command line: subcommands, options and their help.

use crate::quantity::parse_bytes;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// A main-memory SQL database that grows by splitting.
///
/// A table is one ordered file of buckets; a full bucket divides in two. Everything is in memory, and
/// gone when the program ends.
#[derive(Debug, Parser)]
#[command(name = "pando", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  pando demo                                  see it work, then try SQL on it
  pando sql                                   the SQL shell on an empty database
  pando sql -c \"select 1 + 1\"                 one statement
  pando sql --csv -f report.sql > report.csv  a script, its rows as CSV";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The SQL shell, or a script, on a new database in memory.
    Sql(SqlArguments),
    /// Serve a database in memory to PostgreSQL clients.
    Serve(ServeArguments),
    /// Load TPC-H and watch its tables split, run queries, then try your own.
    Demo(DemoArguments),
    /// Run the experiments of the papers, and comparisons.
    Bench(bench::Args),
}

/// Options of every command that opens a database.
#[derive(Debug, Clone, Args)]
pub(crate) struct DatabaseArguments {
    /// Memory for tables and queries together, like 8GiB or 500MB [default: 80 % of the machine's].
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,
    /// Threads that work on queries [default: one a processor].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// Options of `pando sql`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without -c and -f, and with a terminal, this is an interactive shell: type \\? there for its commands.
Without a terminal, standard input is run as a script. Scripts end at the first error, with exit code 1.")]
pub(crate) struct SqlArguments {
    /// Run these statements and exit; may be given several times, also mixed with -f.
    #[arg(short, long = "command", value_name = "SQL")]
    command: Vec<String>,
    /// Run the statements of a file and exit; `-` is standard input.
    #[arg(short, long = "file", value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Print rows as CSV with a header.
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Print rows as JSON, one object a line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) database: DatabaseArguments,
    /// What -c and -f give, in the order of the command line.
    #[arg(skip)]
    pub(crate) scripts: Vec<Script>,
}

/// Options of `pando serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Where PostgreSQL clients connect.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:5433")]
    pub(crate) pg: String,
    #[command(flatten)]
    pub(crate) database: DatabaseArguments,
}

/// Something to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Script {
    /// Statements from the command line.
    Text(String),
    /// A file of statements.
    File(PathBuf),
}

/// Options of `pando demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// TPC-H scale factor; 1 is about 1 GB of text and 8.7 million rows.
    #[arg(long, default_value_t = 0.1, value_name = "FACTOR", value_parser = parse_scale)]
    pub(crate) scale: f64,
    /// Rows of the table `person`.
    #[arg(long, default_value_t = 100_000, value_name = "ROWS")]
    pub(crate) persons: u32,
    /// Exit after the queries instead of opening the shell.
    #[arg(long)]
    pub(crate) once: bool,
    #[command(flatten)]
    pub(crate) database: DatabaseArguments,
}

impl Arguments {
    /// Reads the command line; explains and exits with 2 where it cannot be understood.
    pub(crate) fn read() -> Self {
        Self::from_matches(&Self::command().get_matches()).unwrap_or_else(|error| error.exit())
    }

    fn from_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut arguments = Self::from_arg_matches(matches)?;
        if let (Command::Sql(sql), Some(matches)) =
            (&mut arguments.command, matches.subcommand_matches("sql"))
        {
            sql.scripts = scripts_in_order(matches);
        }
        Ok(arguments)
    }
}

impl Command {
    /// Threads of the runtime, where the command line says.
    pub(crate) fn threads(&self) -> Option<usize> {
        match self {
            Self::Sql(arguments) => arguments.database.threads,
            Self::Serve(arguments) => arguments.database.threads,
            Self::Demo(arguments) => arguments.database.threads,
            Self::Bench(_) => None,
        }
        .map(NonZeroUsize::get)
    }
}

fn scripts_in_order(matches: &ArgMatches) -> Vec<Script> {
    let mut scripts = Vec::new();
    if let (Some(indices), Some(texts)) =
        (matches.indices_of("command"), matches.get_many::<String>("command"))
    {
        scripts.extend(indices.zip(texts.cloned().map(Script::Text)));
    }
    if let (Some(indices), Some(paths)) =
        (matches.indices_of("file"), matches.get_many::<PathBuf>("file"))
    {
        scripts.extend(indices.zip(paths.cloned().map(Script::File)));
    }
    scripts.sort_by_key(|(index, _)| *index);
    scripts.into_iter().map(|(_, script)| script).collect()
}

fn parse_scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale > 0.0 && scale <= 100.0 => Ok(scale),
        _ => Err("a scale factor is a number above 0 and up to 100, like 0.1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &[&str]) -> Result<Arguments, clap::Error> {
        let line = ["pando"].iter().chain(line);
        Arguments::from_matches(&Arguments::command().try_get_matches_from(line)?)
    }

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn commands_and_files_keep_their_order() {
        let parsed = parse(&["sql", "-c", "a", "-f", "b", "-c", "c"]).expect("parses");
        let Command::Sql(sql) = parsed.command else { panic!("not sql") };
        let text = |t: &str| Script::Text(t.to_owned());
        assert_eq!(sql.scripts, [text("a"), Script::File("b".into()), text("c")]);
    }

    #[test]
    fn nonsense_is_refused() {
        for line in [
            &["sql", "--colour"][..],
            &["sql", "--csv", "--json"],
            &["sql", "--memory", "lots"],
            &["sql", "--threads", "0"],
            &["demo", "--scale", "0"],
            &["dance"],
        ] {
            assert_eq!(parse(line).expect_err("refused").exit_code(), 2, "{line:?}");
        }
    }
}
