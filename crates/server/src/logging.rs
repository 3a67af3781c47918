//! Where events go: standard error, as text or JSON.

use crate::config::LogFormat;
use tracing::Level;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt;

/// Begins to log. A second call changes nothing.
pub fn start(level: Level, format: LogFormat) {
    let subscriber =
        fmt().with_max_level(LevelFilter::from_level(level)).with_writer(std::io::stderr);
    let _ = match format {
        LogFormat::Text => {
            tracing::subscriber::set_global_default(subscriber.with_target(false).finish())
        }
        LogFormat::Json => tracing::subscriber::set_global_default(subscriber.json().finish()),
    };
}
