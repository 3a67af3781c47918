//! HTTP: is the server well, what has it counted, what is this.

use crate::metrics::Metrics;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use query::Database;
use std::io;
use std::sync::Arc;
use std::time::Instant;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Prometheus' text format.
const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

struct Shared {
    database: Database,
    metrics: Arc<Metrics>,
    started: Instant,
    stopping: CancellationToken,
    page: String,
}

/// Serves until `end`; says that it is not well any more from `stopping` on.
///
/// # Errors
/// Only when the listener itself fails for good.
pub(crate) async fn serve(
    listener: TcpListener,
    database: Database,
    metrics: Arc<Metrics>,
    page: String,
    stopping: CancellationToken,
    end: CancellationToken,
) -> io::Result<()> {
    let shared = Arc::new(Shared { database, metrics, started: Instant::now(), stopping, page });
    let router = Router::new()
        .route("/", get(page_of))
        .route("/healthz", get(healthz))
        .route("/metrics", get(metrics_of))
        .with_state(shared);
    axum::serve(listener, router).with_graceful_shutdown(end.cancelled_owned()).await
}

async fn page_of(State(shared): State<Arc<Shared>>) -> Html<String> {
    Html(shared.page.clone())
}

async fn healthz(State(shared): State<Arc<Shared>>) -> (StatusCode, &'static str) {
    if shared.stopping.is_cancelled() {
        (StatusCode::SERVICE_UNAVAILABLE, "stopping\n")
    } else {
        (StatusCode::OK, "ok\n")
    }
}

async fn metrics_of(State(shared): State<Arc<Shared>>) -> Response {
    match shared.metrics.text(&shared.database, shared.started.elapsed()) {
        Ok(text) => ([(header::CONTENT_TYPE, METRICS_TYPE)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// A page for somebody who came by.
pub(crate) fn page(pg: std::net::SocketAddr) -> String {
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Pando</title>\
         <style>body{{font:16px/1.5 system-ui;max-width:40rem;margin:4rem auto;padding:0 1rem}}\
         code{{background:#8882;padding:.1em .3em;border-radius:.2em}}</style>\
         <h1>Pando {version}</h1><p>A main-memory SQL database that grows by splitting.\
         <p>Connect: <code>psql postgres://{pg}/pando</code>\
         <p><a href=/metrics>metrics</a> · <a href=/healthz>health</a></html>\n",
        version = env!("CARGO_PKG_VERSION"),
    )
}
