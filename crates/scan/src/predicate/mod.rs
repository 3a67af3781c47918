//! Evaluation of a scan's predicate: its [`conjuncts`] in order of cost, LIKE with prepared
//! patterns ([`pattern`]), and prefetching of the columns (`prefetch`).

pub mod conjuncts;
pub mod pattern;
mod prefetch;
