//! How a server is configured: flags, environment, a file, defaults, in that order of precedence.
//!
//! Every setting is a text until all sources are gathered ([`Values`]), so that each can say where it came
//! from; then all are read at once ([`Config`]). Nothing here touches the environment or a file.

mod limits;
mod parse;
mod values;

pub use limits::Limits;
pub use values::{Source, Values};

use parse::{duration, optional, size};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// A setting: its name (the key in a file), its default, and what it is.
pub struct Setting {
    /// The key in a file.
    pub name: &'static str,
    /// The flag of the command line, without its dashes in front.
    pub flag: &'static str,
    /// The default; empty is none.
    pub default: &'static str,
    /// What it is, in a line.
    pub meaning: &'static str,
}

const fn setting(
    name: &'static str,
    flag: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Setting {
    Setting { name, flag, default, meaning }
}

/// Every setting.
pub const SETTINGS: &[Setting] = &[
    setting("pg", "pg", "127.0.0.1:5433", "where PostgreSQL clients connect"),
    setting("http", "http", "127.0.0.1:8433", "where /healthz and /metrics are"),
    setting(
        "memory",
        "memory",
        "",
        "memory for tables and queries together [80 % of the machine's]",
    ),
    setting("threads", "threads", "", "threads that work on queries [one a processor]"),
    setting("bucket_size", "bucket-size", "64MiB", "bytes that a bucket holds before it splits"),
    setting("max_connections", "max-connections", "10000", "connections at a time"),
    setting("max_message_bytes", "max-message-bytes", "256MiB", "bytes of a client's message"),
    setting("startup_timeout", "startup-timeout", "60s", "time that a client has to log in"),
    setting(
        "shutdown_grace",
        "shutdown-grace",
        "10s",
        "time that running statements have when the server stops",
    ),
    setting(
        "tls_certificate",
        "tls-certificate",
        "",
        "a file with the server's certificates (PEM)",
    ),
    setting("tls_key", "tls-key", "", "a file with the certificate's key (PEM)"),
    setting("tls_self_signed", "tls-self-signed", "false", "make a certificate at the start"),
    setting("superuser", "superuser", "", "a user who may do everything, made at the start"),
    setting(
        "superuser_password_file",
        "superuser-password-file",
        "",
        "a file with that user's password",
    ),
    setting("name", "name", "", "what the server is called in its cluster [its address]"),
    setting("cluster", "cluster", "", "where other servers call this one [none: it is alone]"),
    setting(
        "advertise",
        "advertise",
        "",
        "where they can call it, if that is elsewhere; port 0 is the same port",
    ),
    setting("join", "join", "", "a server of the cluster to join; without it a new one begins"),
    setting("token", "token", "", "what the first server printed for those that join"),
    setting("weight", "weight", "1", "its share of each table, relative to other servers'"),
    setting("log_level", "log-level", "info", "error, warn, info, debug or trace"),
    setting("log_format", "log-format", "text", "text or json"),
    setting(
        "slow_statement",
        "slow-statement",
        "",
        "log statements that take longer, like 500ms [none]",
    ),
];

/// What is wrong with a configuration.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ConfigError {
    /// A key that is no setting.
    #[error("{place}: unknown setting \"{name}\"{hint}")]
    Unknown {
        /// The file and line.
        place: String,
        /// The key.
        name: String,
        /// The nearest setting, as a question.
        hint: String,
    },
    /// A value that a setting cannot have.
    #[error("{source_of_value}: {name} = \"{value}\": {reason}")]
    Value {
        /// Where the value comes from.
        source_of_value: String,
        /// The setting.
        name: &'static str,
        /// What it was given.
        value: String,
        /// What it takes.
        reason: String,
    },
    /// A file that is no TOML.
    #[error("{0}")]
    Syntax(String),
    /// Settings that do not go together.
    #[error("{0}")]
    Together(String),
}

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// A JSON object a line.
    Json,
}

/// Where a certificate comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tls {
    /// Connections are plain.
    Off,
    /// From files.
    Files {
        /// The certificates.
        certificate: PathBuf,
        /// The key.
        key: PathBuf,
    },
    /// Made at the start.
    SelfSigned,
}

/// A server's part in a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterPart {
    /// What it is called; `None` for its address.
    pub name: Option<String>,
    /// Where it listens for other servers, `host:port`; `None` for a free port where it reaches the one that it joins.
    pub listen: Option<String>,
    /// Where they call it, if that is elsewhere; port 0 is the port where it listens.
    pub advertised: Option<String>,
    /// A server of the cluster to join.
    pub join: Option<String>,
    /// What the first server printed.
    pub token: Option<String>,
    /// Its share of each table, relative to the others'.
    pub weight: u32,
}

/// A configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where PostgreSQL clients connect.
    pub pg: SocketAddr,
    /// Where HTTP is.
    pub http: SocketAddr,
    /// Bytes for tables and queries; `None` for the machine's share.
    pub memory: Option<u64>,
    /// Threads that work on queries; `None` for one a processor.
    pub threads: Option<usize>,
    /// Bytes that a bucket holds.
    pub bucket_size: u64,
    /// What a client may take.
    pub limits: Limits,
    /// Time that running statements have when the server stops.
    pub shutdown_grace: Duration,
    /// Encryption.
    pub tls: Tls,
    /// The first user, and the file with the password.
    pub superuser: Option<(String, PathBuf)>,
    /// Its part in a cluster.
    pub cluster: Option<ClusterPart>,
    /// The least serious kind of event that is logged.
    pub log_level: tracing::Level,
    /// How it is logged.
    pub log_format: LogFormat,
    /// Statements that take longer are logged.
    pub slow_statement: Option<Duration>,
}

impl Config {
    /// Reads every value.
    ///
    /// # Errors
    /// The first value that cannot be, with its name and where it comes from.
    pub fn of(values: &Values) -> Result<Self, ConfigError> {
        let limits = Limits {
            message_bytes_max: values.read("max_message_bytes", |text| {
                usize::try_from(size(text)?).map_err(|_| "is too large".to_owned())
            })?,
            startup_timeout: values.read("startup_timeout", duration)?,
            connections_max: values.read("max_connections", parse::number)?,
        };
        Ok(Self {
            pg: values.read("pg", parse::address)?,
            http: values.read("http", parse::address)?,
            memory: values.read("memory", |text| optional(text, size))?,
            threads: values.read("threads", |text| optional(text, parse::positive))?,
            bucket_size: values.read("bucket_size", size)?,
            limits,
            shutdown_grace: values.read("shutdown_grace", duration)?,
            tls: tls(values)?,
            superuser: superuser(values)?,
            cluster: cluster(values)?,
            log_level: values.read("log_level", parse::level)?,
            log_format: values.read("log_format", |text| match text {
                "text" => Ok(LogFormat::Text),
                "json" => Ok(LogFormat::Json),
                _ => Err("must be text or json".to_owned()),
            })?,
            slow_statement: values.read("slow_statement", |text| optional(text, duration))?,
        })
    }
}

fn tls(values: &Values) -> Result<Tls, ConfigError> {
    let self_signed = values.read("tls_self_signed", parse::flag)?;
    match (values.get("tls_certificate"), values.get("tls_key"), self_signed) {
        ("", "", false) => Ok(Tls::Off),
        ("", "", true) => Ok(Tls::SelfSigned),
        (_, _, true) => {
            let message =
                "tls_self_signed makes a certificate: give no tls_certificate and tls_key with it";
            Err(ConfigError::Together(message.to_owned()))
        }
        ("", _, _) | (_, "", _) => {
            let message = "tls_certificate and tls_key go together: give both";
            Err(ConfigError::Together(message.to_owned()))
        }
        (certificate, key, false) => {
            Ok(Tls::Files { certificate: certificate.into(), key: key.into() })
        }
    }
}

fn cluster(values: &Values) -> Result<Option<ClusterPart>, ConfigError> {
    let weight = values.read("weight", |text| match text.parse::<u32>() {
        Ok(weight) if (1..=1000).contains(&weight) => Ok(weight),
        _ => Err("must be a number from 1 to 1000".to_owned()),
    })?;
    let given = |name: &str| Some(values.get(name).to_owned()).filter(|value| !value.is_empty());
    let host_and_port = |text: &str| match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => {
            Ok(text.to_owned())
        }
        _ => Err("must be HOST:PORT".to_owned()),
    };
    let read = |name| values.read(name, |text| optional(text, host_and_port));
    let (listen, join, advertised) = (read("cluster")?, read("join")?, read("advertise")?);
    if listen.is_none() && join.is_none() {
        let alone = [("advertise", advertised), ("token", given("token"))];
        return match alone.into_iter().find(|(_, value)| value.is_some()) {
            Some((name, _)) => {
                let message =
                    format!("{name} is for servers of a cluster: give cluster or join, too");
                Err(ConfigError::Together(message))
            }
            None => Ok(None),
        };
    }
    if join.is_none() && given("token").is_some() {
        let message = "token is for joining a cluster: give join, too";
        return Err(ConfigError::Together(message.to_owned()));
    }
    let (name, token) = (given("name"), given("token"));
    Ok(Some(ClusterPart { name, listen, advertised, join, token, weight }))
}

fn superuser(values: &Values) -> Result<Option<(String, PathBuf)>, ConfigError> {
    match (values.get("superuser"), values.get("superuser_password_file")) {
        ("", "") => Ok(None),
        ("", _) | (_, "") => {
            let message = "superuser and superuser_password_file go together: give both";
            Err(ConfigError::Together(message.to_owned()))
        }
        (name, file) => Ok(Some((name.to_owned(), file.into()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(
        flags: &[(&str, &str)],
        env: &[(&str, &str)],
        file: &str,
    ) -> Result<Values, ConfigError> {
        let flags: Vec<(String, String)> =
            flags.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let environment = |name: &str| {
            env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Values::gather(&flags, environment, Some(("pando.toml", file)))
    }

    #[test]
    fn flags_win_over_the_environment_and_that_over_the_file() {
        let file = "pg = \"127.0.0.1:1\"\nhttp = \"127.0.0.1:2\"\nthreads = 3\nmemory = \"1GiB\"";
        let environment = [("PANDO_PG", "127.0.0.1:4"), ("PANDO_HTTP", "127.0.0.1:5")];
        let values = gather(&[("pg", "127.0.0.1:6")], &environment, file).expect("fine");
        let config = Config::of(&values).expect("fine");
        assert_eq!(config.pg.port(), 6);
        assert_eq!(config.http.port(), 5);
        assert_eq!(config.threads, Some(3));
        assert_eq!(config.memory, Some(1 << 30));
        let shown = values.to_string();
        assert!(shown.contains("pando.toml, line 3"), "{shown}");
        assert!(shown.contains("environment (PANDO_HTTP)"), "{shown}");
    }

    #[test]
    fn what_cannot_be_is_refused_by_name_and_place() {
        let wrong =
            |file: &str| gather(&[], &[], file).and_then(|values| Config::of(&values).map(drop));
        let message = |file: &str| wrong(file).expect_err("refused").to_string();
        assert_eq!(
            message("\nmax_conections = 3"),
            "pando.toml, line 2: unknown setting \"max_conections\". Is it max_connections?"
        );
        assert!(message("pg = \"here\"").starts_with("pando.toml, line 1: pg = \"here\": "));
        assert!(message("[pg]\nport = 1").contains("line 1"));
        assert!(message("tls_key = \"k\"").contains("go together"));
        assert!(message("pg = ").contains("pando.toml"));
        assert!(message("slow_statement = \"5 parsecs\"").contains("5 parsecs"));
    }
}
