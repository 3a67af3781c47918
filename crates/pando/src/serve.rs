//! `pando serve`: a database behind its front doors.

use crate::arguments::ServeArguments;
use crate::open::open_to_serve;
use server::pg::{Door, Limits};
use std::io::{self, Write};
use std::process::ExitCode;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Serves until a signal comes.
pub(crate) async fn run(arguments: ServeArguments) -> anyhow::Result<ExitCode> {
    let database = open_to_serve(&arguments.database)?;
    let clients = tokio::runtime::Builder::new_multi_thread()
        .thread_name("pando-clients")
        .thread_stack_size(crate::THREAD_STACK_BYTES)
        .enable_all()
        .build()?;
    let listener = clients.spawn(TcpListener::bind(arguments.pg)).await??;
    let address = listener.local_addr()?;
    writeln!(io::stdout(), "psql postgres://{address}/pando")?;
    io::stdout().flush()?;
    let (stop, end) = (CancellationToken::new(), CancellationToken::new());
    let door = Door::new(database, Limits::default(), None);
    let serving = clients.spawn({
        let (stop, end) = (stop.clone(), end.clone());
        async move { door.serve(listener, stop, end).await }
    });
    tokio::signal::ctrl_c().await?;
    stop.cancel();
    end.cancel();
    serving.await??;
    clients.shutdown_background();
    Ok(ExitCode::SUCCESS)
}
