//! `pando serve`: serves a database, alone or as a server of a cluster, until a signal comes.

mod member;

use crate::arguments::ServeArguments;
use crate::machine;
use crate::reading;
use anyhow::Context;
use cluster::Started;
use pando::{Database, Options};
use query::Executors;
use sdds::ServerId;
use server::config::{Config, Values};
use server::{Server, logging};
use std::io::{self, Write};
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// Serves until SIGTERM or SIGINT. A second signal does not wait for running statements.
pub(crate) async fn run(
    arguments: ServeArguments,
    executors: Executors,
) -> anyhow::Result<ExitCode> {
    let values = gather(&arguments)?;
    let config = Config::of(&values)?;
    if arguments.print_config {
        write!(io::stdout(), "{values}")?;
        return Ok(ExitCode::SUCCESS);
    }
    logging::start(config.log_level, config.log_format);
    let (database, member) = match &config.cluster {
        None => (open(&config, executors, None)?, None),
        Some(part) => {
            let data = config.data.as_ref().map(|data| data.path.as_path());
            let open = |server| open(&config, executors, Some(server));
            let (database, started) = member::start(part, data, open).await?;
            (database, Some(started))
        }
    };
    match database.recovery() {
        Some(recovery) => tracing::info!("{recovery}"),
        None => tracing::warn!("the data is in memory only: when the server ends, it is gone"),
    }
    put_superuser(&config, &database).await?;
    let server = Server::start(&config, database.clone()).await?;
    if let Some(member) = &member {
        member::open_to_clients(member, server.pg());
    }
    announce(&server, member.as_ref())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        error = database.until_failed() => return Err(ended_by(&error)),
    }
    let grace = config.shutdown_grace;
    let stopping = tokio::spawn(async move {
        server.stop(grace).await;
        if let Some(member) = member {
            member.cluster.leave().await;
            member.listening.shutdown(grace).await;
        }
    });
    tokio::select! {
        stopped = stopping => stopped?,
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        error = database.until_failed() => return Err(ended_by(&error)),
    }
    database.close()?;
    Ok(ExitCode::SUCCESS)
}

/// The error of a server whose disk has failed. What was acknowledged is on the disk; the next start finds it.
fn ended_by(error: &query::Error) -> anyhow::Error {
    anyhow::anyhow!("the server ends, because its data cannot be written: {}", error.message())
}

/// Collects the settings from flags, environment and file.
fn gather(arguments: &ServeArguments) -> anyhow::Result<Values> {
    let file = match &arguments.config {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(path);
            let text = text.with_context(|| format!("cannot read {}", path.display()))?;
            Some((path.display().to_string(), text))
        }
    };
    let file = file.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    Ok(Values::gather(&arguments.settings, |name| std::env::var(name).ok(), file)?)
}

fn open(
    config: &Config,
    executors: Executors,
    cluster: Option<ServerId>,
) -> anyhow::Result<Database> {
    Ok(Database::open(Options {
        memory_limit: config.memory.or_else(machine::default_memory_limit),
        bucket_size: Some(config.bucket_size),
        threads: config.threads,
        cluster,
        executors: Some(executors),
        data: config.data.clone(),
        recovery_progress: reading::of_recovery(),
        give_back_memory: Some(program::give_back_memory),
    })?)
}

async fn put_superuser(config: &Config, database: &Database) -> anyhow::Result<()> {
    let Some((name, file)) = &config.superuser else { return Ok(()) };
    let password = std::fs::read_to_string(file);
    let password = password.with_context(|| format!("cannot read {}", file.display()))?;
    Ok(database.put_superuser(name, password.trim_end_matches(['\r', '\n'])).await?)
}

fn announce(server: &Server, member: Option<&Started>) -> io::Result<()> {
    let (pg, http) = (server.pg(), server.http());
    let mut out = io::stdout().lock();
    let mode = if server.is_encrypted() { "?sslmode=require" } else { "" };
    writeln!(out, "PostgreSQL   psql 'postgres://{pg}/pando{mode}'")?;
    writeln!(out, "HTTP         curl http://{http}/healthz")?;
    writeln!(out, "Shell        pando sql 'postgres://{pg}/pando{mode}'")?;
    if let Some(member) = member {
        member::announce(&mut out, member)?;
    }
    out.flush()
}
