//! Options of `pando backup` and `pando restore`.

use clap::Args;
use shell::quantity::parse_bytes;
use std::path::PathBuf;

/// Options of `pando backup`.
#[derive(Debug, Args)]
#[command(after_help = "\
The server writes the backup: paths are those of its machine, and the variables of its environment give access to object
stores, like AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT and AWS_ALLOW_HTTP. Data that an earlier
backup at the URL has is not written again. PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, PGSSLMODE and PGSSLROOTCERT are
the defaults for what --server omits.

Examples:
  pando backup file:///backups/shop --server postgres://ada@localhost:5433/pando
  pando backup s3://bucket/shop --server localhost:5433
  pando backup file:///backups/shop --data shop        the data directory of a server that does not run")]
pub(crate) struct BackupArguments {
    /// Where the backups are, like file:///directory or s3://bucket/directory.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// The server, like host:port or postgres://user:password@host:port/database.
    #[arg(long, value_name = "SERVER", value_parser = parse_server)]
    pub(crate) server: Option<String>,
    /// Back up this data directory, which no server has open.
    #[arg(long, value_name = "DIR", conflicts_with = "server")]
    pub(crate) data: Option<PathBuf>,
}

/// Options of `pando restore`.
#[derive(Debug, Args)]
#[command(after_help = "\
Every file is compared with the checksum that the backup has of it. With --data this program reads the backup; with --table
the server does, with the paths and variables that it has.

Examples:
  pando restore file:///backups/shop --data shop       a new data directory, for pando serve --data shop
  pando restore s3://bucket/shop --table item --as old_item --server localhost:5433")]
#[command(group = clap::ArgGroup::new("what").required(true).args(["data", "table"]))]
pub(crate) struct RestoreArguments {
    /// Where the backups are, like file:///directory or s3://bucket/directory.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Restore everything into this directory, which must not exist or be empty.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Restore this table, as SQL writes it, into a running server.
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: Option<String>,
    /// The name of the new table [default: the old one].
    #[arg(long = "as", value_name = "TABLE", requires = "table")]
    pub(crate) new_name: Option<String>,
    /// The server, like host:port or postgres://user:password@host:port/database.
    #[arg(long, value_name = "SERVER", value_parser = parse_server, conflicts_with = "data")]
    pub(crate) server: Option<String>,
    /// The name of the backup [default: the newest one].
    #[arg(long, value_name = "NAME")]
    pub(crate) backup: Option<String>,
    /// Memory limit of --data, like 8GiB or 500MB [default: 80 % of the machine's memory].
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, conflicts_with = "table")]
    pub(crate) memory: Option<u64>,
}

/// Accepts what `pando sql` accepts, and `host:port`.
fn parse_server(text: &str) -> Result<String, String> {
    match super::parse_url(text) {
        Ok(url) => Ok(url),
        Err(error) => match text.rsplit_once(':') {
            Some((host, port)) if !host.contains('/') && port.parse::<u16>().is_ok() => {
                Ok(format!("postgres://{text}/pando"))
            }
            _ => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_url_or_a_host_and_a_port() {
        assert_eq!(parse_server("a:5433").as_deref(), Ok("postgres://a:5433/pando"));
        assert_eq!(parse_server("[::1]:5433").as_deref(), Ok("postgres://[::1]:5433/pando"));
        assert_eq!(parse_server("postgres://a/b").as_deref(), Ok("postgres://a/b"));
        assert!(parse_server("s3://bucket:1").is_err() && parse_server("a").is_err());
    }
}
