//! Logging of events to standard error, as text or JSON.

use crate::config::LogFormat;
use std::io::IsTerminal;
use tracing::Level;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt;

/// Starts logging. Further calls have no effect.
pub fn start(level: Level, format: LogFormat) {
    // Colors are for terminals only, and not with NO_COLOR.
    let coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let subscriber = fmt()
        .with_max_level(LevelFilter::from_level(level))
        .with_ansi(coloured)
        .with_writer(std::io::stderr);
    let _ = match format {
        LogFormat::Text => {
            tracing::subscriber::set_global_default(subscriber.with_target(false).finish())
        }
        LogFormat::Json => tracing::subscriber::set_global_default(subscriber.json().finish()),
    };
}
