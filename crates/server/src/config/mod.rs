//! The configuration of a server: flags, environment, a file, defaults, in this order of
//! precedence.
//!
//! Every setting is a text with its source until all sources are gathered ([`Values`]). Then all
//! are parsed ([`Config`]). The module accesses neither the environment nor files.

mod limits;
mod parse;
mod values;

pub use limits::Limits;
pub use values::{Source, Values};

use parse::{duration, optional, size};
use query::{DataDirectory, Durability};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// A setting.
pub struct Setting {
    /// The key in a file.
    pub name: &'static str,
    /// The command line flag, without the leading dashes.
    pub flag: &'static str,
    /// The default; empty for none.
    pub default: &'static str,
    /// The description, in one line.
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

/// All settings.
pub const SETTINGS: &[Setting] = &[
    setting("pg", "pg", "127.0.0.1:5433", "listen address for PostgreSQL clients"),
    setting("http", "http", "127.0.0.1:8433", "listen address for /healthz and /metrics"),
    setting("memory", "memory", "", "memory limit for tables and queries [80 % of the machine's]"),
    setting("threads", "threads", "", "worker threads for queries [one per processor]"),
    setting(
        "bucket_size",
        "bucket-size",
        "64MiB",
        "maximum size of a bucket, above which it splits",
    ),
    setting("data", "data", "", "directory that keeps the data [none: a restart loses everything]"),
    setting("durability", "durability", "sync", "what a commit waits for: sync, async or memory"),
    setting(
        "checkpoint_size",
        "checkpoint-size",
        "256MiB",
        "growth of the journal after which a checkpoint is made",
    ),
    setting("max_connections", "max-connections", "10000", "maximum number of connections"),
    setting(
        "max_message_bytes",
        "max-message-bytes",
        "256MiB",
        "maximum length of a client's message",
    ),
    setting("startup_timeout", "startup-timeout", "60s", "time limit for logins"),
    setting(
        "shutdown_grace",
        "shutdown-grace",
        "10s",
        "time for running statements when the server stops",
    ),
    setting("tls_certificate", "tls-certificate", "", "file with the server's certificates (PEM)"),
    setting("tls_key", "tls-key", "", "file with the certificate's private key (PEM)"),
    setting("tls_self_signed", "tls-self-signed", "false", "generate a certificate at startup"),
    setting("superuser", "superuser", "", "superuser to create at startup"),
    setting(
        "superuser_password_file",
        "superuser-password-file",
        "",
        "file with the superuser's password",
    ),
    setting("name", "name", "", "name of the server in its cluster [its address]"),
    setting("cluster", "cluster", "", "listen address for other servers [none: no cluster]"),
    setting(
        "advertise",
        "advertise",
        "",
        "address for other servers if it differs; port 0 is the listen port",
    ),
    setting("join", "join", "", "server of the cluster to join [none: create a cluster]"),
    setting("token", "token", "", "join token, as printed by the first server"),
    setting("weight", "weight", "1", "share of each table, relative to other servers"),
    setting("log_level", "log-level", "info", "error, warn, info, debug or trace"),
    setting("log_format", "log-format", "text", "text or json"),
    setting(
        "slow_statement",
        "slow-statement",
        "",
        "log statements that take longer than this, like 500ms [none]",
    ),
];

/// An invalid configuration.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ConfigError {
    /// A key that is not a setting.
    #[error("{place}: unknown setting \"{name}\"{hint}")]
    Unknown {
        /// The file and line.
        place: String,
        /// The key.
        name: String,
        /// The most similar setting, as a question.
        hint: String,
    },
    /// An invalid value.
    #[error("{source_of_value}: {name} = \"{value}\": {reason}")]
    Value {
        /// The source of the value.
        source_of_value: String,
        /// The setting.
        name: &'static str,
        /// The value.
        value: String,
        /// What is wrong with the value.
        reason: String,
    },
    /// A file that is not TOML.
    #[error("{0}")]
    Syntax(String),
    /// Settings that cannot be combined.
    #[error("{0}")]
    Together(String),
}

/// The log format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Text.
    Text,
    /// One JSON object per line.
    Json,
}

/// The source of the certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tls {
    /// No encryption.
    Off,
    /// From files.
    Files {
        /// The certificates.
        certificate: PathBuf,
        /// The key.
        key: PathBuf,
    },
    /// Generated at startup.
    SelfSigned,
}

/// A server's configuration in a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterPart {
    /// The server's name; `None` for its address.
    pub name: Option<String>,
    /// The listen address for other servers, `host:port`; `None` for a free port on the interface
    /// that reaches the server to join.
    pub listen: Option<String>,
    /// The address that other servers use, if it differs; port 0 stands for the listen port.
    pub advertised: Option<String>,
    /// A server of the cluster to join.
    pub join: Option<String>,
    /// The token that the first server printed.
    pub token: Option<String>,
    /// The share of each table, relative to other servers.
    pub weight: u32,
}

/// A configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// The listen address for PostgreSQL clients.
    pub pg: SocketAddr,
    /// The listen address for HTTP.
    pub http: SocketAddr,
    /// Memory limit for tables and queries in bytes; `None` for the default share of the machine's
    /// memory.
    pub memory: Option<u64>,
    /// Number of worker threads for queries; `None` for one per processor.
    pub threads: Option<usize>,
    /// Maximum size of a bucket in bytes.
    pub bucket_size: u64,
    /// Where the data is kept; `None` for memory only.
    pub data: Option<DataDirectory>,
    /// Limits on clients.
    pub limits: Limits,
    /// Time for running statements when the server stops.
    pub shutdown_grace: Duration,
    /// Encryption.
    pub tls: Tls,
    /// The name of the first user, and the file with the password.
    pub superuser: Option<(String, PathBuf)>,
    /// The configuration in a cluster; `None` for a single server.
    pub cluster: Option<ClusterPart>,
    /// The minimum severity of logged events.
    pub log_level: tracing::Level,
    /// The log format.
    pub log_format: LogFormat,
    /// Statements that take longer are logged.
    pub slow_statement: Option<Duration>,
}

impl Config {
    /// Parses all values.
    ///
    /// # Errors
    /// The first invalid value, with its name and source.
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
            data: data(values)?,
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

fn data(values: &Values) -> Result<Option<DataDirectory>, ConfigError> {
    let durability = values.read("durability", |text| {
        text.parse::<Durability>().map_err(|_| "must be sync, async or memory".to_owned())
    })?;
    let checkpoint_bytes = values.read("checkpoint_size", |text| match size(text)? {
        0 => Err("must be at least 1 byte".to_owned()),
        bytes => Ok(bytes),
    })?;
    let path = values.get("data");
    if path.is_empty() && durability == Durability::Async {
        return Err(ConfigError::Together("durability async requires data".to_owned()));
    }
    if path.is_empty() || durability == Durability::Memory {
        return Ok(None);
    }
    Ok(Some(DataDirectory { path: path.into(), durability, checkpoint_bytes }))
}

fn tls(values: &Values) -> Result<Tls, ConfigError> {
    let self_signed = values.read("tls_self_signed", parse::flag)?;
    match (values.get("tls_certificate"), values.get("tls_key"), self_signed) {
        ("", "", false) => Ok(Tls::Off),
        ("", "", true) => Ok(Tls::SelfSigned),
        (_, _, true) => {
            let message = "tls_self_signed cannot be combined with tls_certificate and tls_key";
            Err(ConfigError::Together(message.to_owned()))
        }
        ("", _, _) | (_, "", _) => {
            let message = "tls_certificate and tls_key must be set together";
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
                let message = format!("{name} requires cluster or join");
                Err(ConfigError::Together(message))
            }
            None => Ok(None),
        };
    }
    if join.is_none() && given("token").is_some() {
        let message = "token requires join";
        return Err(ConfigError::Together(message.to_owned()));
    }
    let (name, token) = (given("name"), given("token"));
    Ok(Some(ClusterPart { name, listen, advertised, join, token, weight }))
}

fn superuser(values: &Values) -> Result<Option<(String, PathBuf)>, ConfigError> {
    match (values.get("superuser"), values.get("superuser_password_file")) {
        ("", "") => Ok(None),
        ("", _) | (_, "") => {
            let message = "superuser and superuser_password_file must be set together";
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
        assert!(message("tls_key = \"k\"").contains("set together"));
        assert!(message("pg = ").contains("pando.toml"));
        assert!(message("slow_statement = \"5 parsecs\"").contains("5 parsecs"));
    }
}
