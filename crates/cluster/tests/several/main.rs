//! Several servers in one process: transactions over all of them while their rows move.

mod balancing;
mod decisions;
mod gate;
mod images;
mod moves;
mod outages;
mod support;
mod transactions;
