//! The command line: subcommands, options and their help.

mod cluster;
mod load;
mod predict;
mod simulate;

pub(crate) use cluster::{DrainArguments, StatusArguments};
pub(crate) use load::{FileFormat, LoadArguments};
pub(crate) use predict::{CalibrateArguments, PredictArguments, PredictCommand};
pub(crate) use simulate::{DirectoryArguments, SimulateArguments, Simulated};

use crate::quantity::parse_bytes;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use server::config::SETTINGS;
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
  pando sql postgres://localhost:5433/pando   the same shell on a running server
  pando serve                                 PostgreSQL clients, on port 5433
  pando load --create trips trips.parquet     a file into a table of a running server
  pando sql --csv -f report.sql > report.csv  a script, its rows as CSV";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The SQL shell, or a script, on a new database in memory or on a running server.
    Sql(SqlArguments),
    /// Serve a database in memory to PostgreSQL clients.
    Serve(ServeArguments),
    /// Load Parquet, CSV and JSON-lines files into a running server.
    Load(LoadArguments),
    /// Show the servers of a cluster, what they hold and what is moving.
    Status(StatusArguments),
    /// Move everything away from a server, so that it can stop.
    Drain(DrainArguments),
    /// Load TPC-H and watch its tables split, run queries, then try your own.
    Demo(DemoArguments),
    /// Simulate what is larger than the machines at hand.
    Simulate(SimulateArguments),
    /// Predict what a query would cost on hardware that one does not own.
    Predict(PredictArguments),
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
Without a terminal, standard input is run as a script. Scripts end at the first error, with exit code 1.

The server may be Pando or PostgreSQL. What the URL does not say, PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE,
PGSSLMODE, PGSSLROOTCERT and PGCONNECT_TIMEOUT say; passwords may stand in ~/.pgpass (or PGPASSFILE), and are asked for
on a terminal. sslmode is disable, prefer, require or verify-full.

Examples:
  pando sql                                           an empty database, gone when you leave
  pando sql postgres://ada@localhost:5433/pando       a running server
  pando sql URL --csv -c 'select * from t' > t.csv    any number of rows, as they come
  pando sql URL -c 'copy t from stdin' < t.tsv        data into a table")]
pub(crate) struct SqlArguments {
    /// A running server, like postgres://user:password@host:port/database [default: a new database in this process].
    #[arg(value_name = "URL", value_parser = parse_url, conflicts_with_all = ["memory", "threads"])]
    pub(crate) url: Option<String>,
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

/// Options of `pando serve`. Every setting is a flag, a variable PANDO_NAME and a key of the file.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Read settings from this file (TOML, a key a setting).
    #[arg(long, value_name = "FILE", env = "PANDO_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Print every setting with where it comes from, and exit.
    #[arg(long)]
    pub(crate) print_config: bool,
    /// The settings that flags gave.
    #[arg(skip)]
    pub(crate) settings: Vec<(String, String)>,
}

/// `pando serve` with a flag for each setting.
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
                // One token in 64 begins like a flag.
                .allow_hyphen_values(setting.name == "token")
                .help(format!("{}{default}", setting.meaning));
            serve.arg(argument)
        })
    })
}

/// The settings among the flags of `pando serve`.
fn given_settings(matches: &ArgMatches) -> Vec<(String, String)> {
    let Some(serve) = matches.subcommand_matches("serve") else { return Vec::new() };
    let given = |name: &str| serve.get_one::<String>(name).cloned();
    SETTINGS.iter().filter_map(|s| Some((s.name.to_owned(), given(s.name)?))).collect()
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
    #[arg(long, default_value_t = 0.1, value_name = "FACTOR", value_parser = bench::tpch::parse_scale)]
    pub(crate) scale: f64,
    /// Rows of the table `person`.
    #[arg(long, default_value_t = 100_000, value_name = "ROWS")]
    pub(crate) persons: u32,
    /// Servers of the cluster, all in this process; 1 is a database alone.
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) servers: u16,
    /// Exit after the queries instead of opening the shell; a client has connected once then.
    #[arg(long)]
    pub(crate) once: bool,
    /// Let no clients connect.
    #[arg(long)]
    pub(crate) no_serve: bool,
    #[command(flatten)]
    pub(crate) database: DatabaseArguments,
}

impl Arguments {
    /// Reads the command line; explains and exits with 2 where it cannot be understood.
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
    /// Whether it tells how long something takes on this machine.
    pub(crate) fn measures(&self) -> bool {
        match self {
            Self::Bench(arguments) => arguments.experiment.measures(),
            Self::Predict(arguments) => arguments.command.is_some(),
            _ => false,
        }
    }

    /// Threads of the runtime, where the command line says.
    pub(crate) fn threads(&self) -> Option<usize> {
        match self {
            Self::Sql(arguments) => arguments.database.threads,
            Self::Serve(arguments) => {
                let threads = arguments.settings.iter().find(|(name, _)| name == "threads");
                threads.and_then(|(_, value)| value.parse().ok())
            }
            Self::Demo(arguments) => arguments.database.threads,
            Self::Load(_)
            | Self::Status(_)
            | Self::Drain(_)
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

/// What looks like a URL, or like PostgreSQL's `name=value` pairs.
fn parse_url(text: &str) -> Result<String, String> {
    let schemes = ["postgres://", "postgresql://"];
    if schemes.iter().any(|scheme| text.starts_with(scheme)) || text.contains('=') {
        return Ok(text.to_owned());
    }
    Err("a server's URL begins with postgres://; a file of statements is run by -f".to_owned())
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
    fn a_token_may_begin_like_a_flag() {
        let command = with_settings(Arguments::command());
        let line = ["pando", "serve", "--join", "a:1", "--token", "-kjbk", "--name", "b"];
        let matches = command.try_get_matches_from(line).expect("parses");
        let given = given_settings(&matches);
        assert!(given.contains(&("token".to_owned(), "-kjbk".to_owned())), "{given:?}");
        assert!(given.contains(&("name".to_owned(), "b".to_owned())), "{given:?}");
    }

    #[test]
    fn nonsense_is_refused() {
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
