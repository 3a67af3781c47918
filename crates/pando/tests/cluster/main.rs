//! Clusters of `pando serve` processes: clients, and servers that join, leave or crash.

mod advisory;
mod crashes;
mod failing;
mod functions;
mod harness;
mod images;
mod joining;
mod leaving;
mod notifying;
mod restarting;
mod together;
