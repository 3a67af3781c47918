//! Several `pando serve` as one cluster: processes, clients, and what happens when a process comes, goes or dies.

mod failing;
mod harness;
mod images;
mod joining;
mod leaving;
mod together;
