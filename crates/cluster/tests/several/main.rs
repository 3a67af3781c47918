//! Several servers in one process: transactions on all of them while rows move.

mod balancing;
mod colocation;
mod decisions;
mod definitions;
mod gate;
mod images;
mod keyed;
mod loads;
mod measure;
mod moves;
mod numbers;
mod outages;
mod random;
mod restarts;
mod sequences;
mod support;
mod transactions;
