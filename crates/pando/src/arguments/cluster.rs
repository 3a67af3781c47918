//! Options of `pando status` and `pando drain`.

use clap::Args;

/// Options of `pando status`.
#[derive(Debug, Args)]
#[command(after_help = "\
What the URL does not say, PGHOST, PGPORT, PGUSER, PGPASSWORD and PGSSLMODE say, as for pando sql. Any server of the
cluster will do. The same is in the tables pando.servers, pando.groups, pando.shares, pando.moves and pando.images.")]
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
The server goes on working while its rows move to the others. The program says how much is left, and ends when the server
is empty and can be stopped. --weight 1 takes it back. The exit code is 0 when that is done, and 1 when it is not.")]
pub(crate) struct DrainArguments {
    /// The server's name.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Its share of each table from now on, relative to other servers'; zero empties it.
    #[arg(long, default_value_t = 0, value_name = "WEIGHT")]
    pub(crate) weight: u32,
    /// Say only that it begins, and do not wait for its end.
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Any server of the cluster, like postgres://user:password@host:port/database.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
}
