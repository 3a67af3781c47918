//! Options of `pando check`.

use clap::Args;
use std::path::PathBuf;

/// Options of `pando check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads every file: the identity, the log, the checkpoints and the chunk files. Nothing is changed. A server that has the
directory open must be stopped first; one that is started meanwhile is refused. A write that a crash has interrupted is
reported and is no damage: the next start cuts it off.

The exit code is 0 if the directory is sound, 1 if it is damaged, and 2 if it is in use or no data directory.

Examples:
  pando check shop              what the directory shop contains, and each damage with file and offset
  pando check shop --json       the same as one JSON document, with every file")]
pub(crate) struct CheckArguments {
    /// The data directory, as in pando serve --data DIR.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}
