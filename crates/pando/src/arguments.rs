//! The command line: subcommands, options and their help.

mod backup;
mod check;
mod cluster;
mod function;
mod load;
mod predict;
mod simulate;

pub(crate) use backup::{BackupArguments, RestoreArguments};
pub(crate) use check::CheckArguments;
pub(crate) use cluster::{DrainArguments, StatusArguments};
pub(crate) use function::{FunctionArguments, FunctionCommand, NewFunctionArguments};
pub(crate) use load::{FileFormat, LoadArguments};
pub(crate) use predict::{CalibrateArguments, PredictArguments, PredictCommand};
pub(crate) use simulate::{DirectoryArguments, SimulateArguments, Simulated};

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use server::config::SETTINGS;
use shell::quantity::parse_bytes;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// A main-memory SQL database that grows by splitting.
///
/// A table is an ordered file of buckets; a full bucket splits in two. All data is in memory, and lost when the program
/// ends.
#[derive(Debug, Parser)]
#[command(name = "pando", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  pando demo                                  watch a demo, then use its database
  pando sql                                   the SQL shell on an empty database
  pando sql -c \"select 1 + 1\"                 run one statement
  pando sql postgres://localhost:5433/pando   the SQL shell on a running server
  pando serve                                 serve PostgreSQL clients on port 5433
  pando load --create trips trips.parquet     load a file into a table of a running server
  pando sql --csv -f report.sql > report.csv  run a script and print its rows as CSV";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the SQL shell or a script, on a new database in memory or on a running server.
    Sql(SqlArguments),
    /// Serve a database to PostgreSQL clients.
    Serve(ServeArguments),
    /// Load Parquet, CSV and JSON-lines files into a running server.
    Load(LoadArguments),
    /// Say what a data directory contains, and whether it is sound.
    Check(CheckArguments),
    /// Show the servers of a cluster, their data and current moves.
    Status(StatusArguments),
    /// Move all data away from a server, so that it can stop.
    Drain(DrainArguments),
    /// Write a backup of a running server, or of a data directory, to a directory or an object store.
    Backup(BackupArguments),
    /// Restore a backup into a new data directory, or a table of it into a running server.
    Restore(RestoreArguments),
    /// Make a project of a function in Rust, which runs at the data as a WebAssembly module.
    Function(FunctionArguments),
    /// Load TPC-H while its tables split, run queries, then open the shell.
    Demo(DemoArguments),
    /// Simulate clusters of thousands of servers.
    Simulate(SimulateArguments),
    /// Predict the duration of a query on other hardware.
    Predict(PredictArguments),
    /// Run the experiments of the papers, and comparisons (the program pando-bench).
    #[command(disable_help_flag = true)]
    Bench(BenchArguments),
}

/// Options of `pando bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Arguments of pando-bench.
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

/// Options of every command that opens a database.
#[derive(Debug, Clone, Args)]
pub(crate) struct DatabaseArguments {
    /// Memory limit of tables and queries together, like 8GiB or 500MB [default: 80 % of the machine's memory].
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,
    /// Threads that execute statements [default: one a processor].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// Options of `pando sql`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without -c and -f, on a terminal, this is an interactive shell: \\? lists its commands. Without a terminal, standard input
is run as a script. A script stops at the first error, with exit code 1.

The server may be Pando or PostgreSQL. PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, PGSSLMODE, PGSSLROOTCERT and
PGCONNECT_TIMEOUT are the defaults for what the URL omits. Passwords are also read from ~/.pgpass (or PGPASSFILE), and
asked for on a terminal. sslmode is disable, prefer, require or verify-full.

Examples:
  pando sql                                           an empty database, dropped at exit
  pando sql --data shop                               a database that the directory shop keeps
  pando sql postgres://ada@localhost:5433/pando       a running server
  pando sql URL --csv -c 'select * from t' > t.csv    any number of rows, streamed
  pando sql URL -c 'copy t from stdin' < t.tsv        load data into a table")]
pub(crate) struct SqlArguments {
    /// A running server, like postgres://user:password@host:port/database [default: a new database in this process].
    #[arg(value_name = "URL", value_parser = parse_url, conflicts_with_all = ["memory", "threads"])]
    pub(crate) url: Option<String>,
    /// Run these statements and exit; repeatable, also mixed with -f.
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
    /// Keep the data in this directory [default: it is dropped at exit].
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub(crate) data: Option<PathBuf>,
    /// The values of -c and -f, in the order of the command line.
    #[arg(skip)]
    pub(crate) scripts: Vec<Script>,
}

/// Options of `pando serve`. Each setting is a flag, a variable PANDO_NAME and a key of the file.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Read settings from this TOML file, with a key for each setting.
    #[arg(long, value_name = "FILE", env = "PANDO_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Print every setting and its source, and exit.
    #[arg(long)]
    pub(crate) print_config: bool,
    /// The settings given as flags.
    #[arg(skip)]
    pub(crate) settings: Vec<(String, String)>,
}

/// Adds a flag for each setting to `pando serve`.
fn with_settings(command: clap::Command) -> clap::Command {
    command.mut_subcommand("serve", |serve| {
        SETTINGS.iter().fold(serve, |serve, setting| {
            let default = match setting.default {
                "" => String::new(),
                default => format!(" [default: {default}]"),
            };
            let argument = clap::Arg::new(setting.name)
                .long(setting.flag)
                .value_name("VALUE")
                // One token in 64 begins with a hyphen.
                .allow_hyphen_values(setting.name == "token")
                .help(format!("{}{default}", setting.meaning));
            serve.arg(argument)
        })
    })
}

/// The settings given as flags of `pando serve`.
fn given_settings(matches: &ArgMatches) -> Vec<(String, String)> {
    let Some(serve) = matches.subcommand_matches("serve") else { return Vec::new() };
    let given = |name: &str| serve.get_one::<String>(name).cloned();
    SETTINGS.iter().filter_map(|s| Some((s.name.to_owned(), given(s.name)?))).collect()
}

/// A script of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Script {
    /// Statements.
    Text(String),
    /// A file with statements.
    File(PathBuf),
}

/// Options of `pando demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// TPC-H scale factor; 1 is about 1 GB of text and 8.7 million rows.
    #[arg(long, default_value_t = 0.1, value_name = "FACTOR", value_parser = workloads::tpch::parse_scale)]
    pub(crate) scale: f64,
    /// Rows of the table `person`.
    #[arg(long, default_value_t = 100_000, value_name = "ROWS")]
    pub(crate) persons: u32,
    /// Servers of the cluster, all in this process; 1 is a single database.
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) servers: u16,
    /// Exit after the queries and one connection of a client, instead of opening the shell.
    #[arg(long)]
    pub(crate) once: bool,
    /// Do not listen for clients.
    #[arg(long)]
    pub(crate) no_serve: bool,
    #[command(flatten)]
    pub(crate) database: DatabaseArguments,
}

impl Arguments {
    /// Reads the command line. Exits with 2 and a message if it is invalid.
    pub(crate) fn read() -> Self {
        Self::from_matches(&with_settings(Self::command()).get_matches())
            .unwrap_or_else(|error| error.exit())
    }

    fn from_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut arguments = Self::from_arg_matches(matches)?;
        if let (Command::Sql(sql), Some(matches)) =
            (&mut arguments.command, matches.subcommand_matches("sql"))
        {
            sql.scripts = scripts_in_order(matches);
        }
        if let Command::Serve(serve) = &mut arguments.command {
            serve.settings = given_settings(matches);
        }
        Ok(arguments)
    }
}

impl Command {
    /// Whether it measures durations on this machine. `pando-bench` itself warns for `pando bench`.
    pub(crate) fn measures(&self) -> bool {
        matches!(self, Self::Predict(arguments) if arguments.command.is_some())
    }

    /// The number of worker threads, if the command line has one.
    pub(crate) fn threads(&self) -> Option<usize> {
        match self {
            Self::Sql(arguments) => arguments.database.threads,
            Self::Serve(arguments) => {
                let threads = arguments.settings.iter().find(|(name, _)| name == "threads");
                threads.and_then(|(_, value)| value.parse().ok())
            }
            Self::Demo(arguments) => arguments.database.threads,
            Self::Load(_)
            | Self::Check(_)
            | Self::Function(_)
            | Self::Status(_)
            | Self::Drain(_)
            | Self::Backup(_)
            | Self::Restore(_)
            | Self::Simulate(_)
            | Self::Predict(_)
            | Self::Bench(_) => None,
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

/// Accepts a URL, or PostgreSQL's `name=value` pairs.
fn parse_url(text: &str) -> Result<String, String> {
    let schemes = ["postgres://", "postgresql://"];
    if schemes.iter().any(|scheme| text.starts_with(scheme)) || text.contains('=') {
        return Ok(text.to_owned());
    }
    Err("the URL of a server begins with postgres://; -f runs a file of statements".to_owned())
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
    fn a_token_may_begin_with_a_hyphen() {
        let command = with_settings(Arguments::command());
        let line = ["pando", "serve", "--join", "a:1", "--token", "-kjbk", "--name", "b"];
        let matches = command.try_get_matches_from(line).expect("parses");
        let given = given_settings(&matches);
        assert!(given.contains(&("token".to_owned(), "-kjbk".to_owned())), "{given:?}");
        assert!(given.contains(&("name".to_owned(), "b".to_owned())), "{given:?}");
    }

    #[test]
    fn bench_passes_every_argument_on() {
        let line = ["--json", "person", "--help", "--rows", "5"];
        let parsed = parse(&[&["bench"], &line[..]].concat()).expect("parses");
        let Command::Bench(bench) = parsed.command else { panic!("not bench") };
        assert_eq!(bench.arguments, line);
    }

    #[test]
    fn invalid_command_lines_are_refused() {
        for line in [
            &["sql", "--colour"][..],
            &["sql", "--csv", "--json"],
            &["sql", "--memory", "lots"],
            &["sql", "--threads", "0"],
            &["demo", "--scale", "0"],
            &["demo", "--scale", "0.001"],
            &["predict", "--query", "q1,q2"],
            &["predict", "--scale", "0"],
            &["predict", "--bundling", "all"],
            &["predict", "calibrate", "--mhz", "0"],
            &["predict", "calibrate", "--rows", "1"],
            &["dance"],
        ] {
            assert_eq!(parse(line).expect_err("refused").exit_code(), 2, "{line:?}");
        }
    }
}
