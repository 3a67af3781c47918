//! `pando serve`: a database behind its front doors.

use crate::arguments::ServeArguments;
use crate::open::open;
use server::pg::{Door, Limits};
use std::io::{self, Write};
use std::process::ExitCode;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Serves until a signal comes.
pub(crate) async fn run(arguments: ServeArguments) -> anyhow::Result<ExitCode> {
    let database = open(&arguments.database)?;
    let listener = TcpListener::bind(&arguments.pg).await?;
    let address = listener.local_addr()?;
    writeln!(io::stdout(), "psql postgres://{address}/pando")?;
    io::stdout().flush()?;
    let (stop, end) = (CancellationToken::new(), CancellationToken::new());
    let door = Door::new(database, Limits::default(), None);
    let serving = tokio::spawn({
        let (stop, end) = (stop.clone(), end.clone());
        async move { door.serve(listener, stop, end).await }
    });
    tokio::signal::ctrl_c().await?;
    stop.cancel();
    end.cancel();
    serving.await??;
    Ok(ExitCode::SUCCESS)
}
