//! Options of `pando function`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Options of `pando function`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct FunctionArguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: FunctionCommand,
}

/// The subcommands of `pando function`.
#[derive(Debug, Subcommand)]
pub(crate) enum FunctionCommand {
    /// Make a project in Rust that builds a function as a WebAssembly module, with tests.
    New(NewFunctionArguments),
}

/// Options of `pando function new`.
#[derive(Debug, Args)]
#[command(after_help = "\
The project has an example function from a text to a text, its tests, and the SQL that makes it in a database. Building it
needs Rust and its target wasm32-unknown-unknown (rustup target add wasm32-unknown-unknown).

Example:
  pando function new slug
  cd slug
  cargo test
  cargo build --release --target wasm32-unknown-unknown
  pando sql postgres://localhost:5433/pando -f install.sql")]
pub(crate) struct NewFunctionArguments {
    /// The name of the function: lower-case letters, digits and underscores.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The directory of the project, which must not exist [default: the name]
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}
