//! Options of `pando status` and `pando drain`.

use clap::Args;

/// Options of `pando status`.
#[derive(Debug, Args)]
#[command(after_help = "\
PGHOST, PGPORT, PGUSER, PGPASSWORD and PGSSLMODE are the defaults for what the URL omits, as for pando sql. Any server of
the cluster has this information, in the tables pando.servers, pando.groups, pando.shares, pando.moves and pando.images.")]
pub(crate) struct StatusArguments {
    /// A server, like postgres://user:password@host:port/database.
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Print a JSON object for each row.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `pando drain`.
#[derive(Debug, Args)]
#[command(after_help = "\
The server stays available while its rows move to the others. The program prints how much is left, and ends when the server
is empty and can be stopped. --weight 1 reverts it. The exit code is 0 on success and 1 on failure.")]
pub(crate) struct DrainArguments {
    /// The server's name.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// New weight of the server: its share of each table relative to other servers; zero empties it.
    #[arg(long, default_value_t = 0, value_name = "WEIGHT")]
    pub(crate) weight: u32,
    /// Do not wait until the server is empty.
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Any server of the cluster, like postgres://user:password@host:port/database.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
}
