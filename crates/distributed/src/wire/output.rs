//! Where a fragment runs, and what becomes of its rows.

use super::fragment::StoreAs;
use datafusion::physical_expr::PhysicalExpr;
use sdds::ServerId;
use std::sync::Arc;
use store::ExchangeId;

/// A server that is sent a fragment, and those whose rows it collects.
#[derive(Clone, Copy)]
pub(crate) struct Branch<'a> {
    /// The first of them receives the fragment.
    pub(crate) servers: &'a [ServerId],
    /// Other servers that each server asks at most.
    pub(crate) fan_in: usize,
}

impl Branch<'static> {
    /// A server that asks no others.
    pub(crate) const ALONE: Self = Self { servers: &[], fan_in: 0 };
}

/// A hash partitioning of a fragment's rows.
pub(crate) struct HashPartitioning {
    /// The exchange that the rows belong to.
    pub(crate) exchange: ExchangeId,
    /// The keys.
    pub(crate) by: Vec<Arc<dyn PhysicalExpr>>,
    /// Number of parts.
    pub(crate) parts: usize,
}

/// What becomes of a fragment's rows on the server that runs it.
#[derive(Clone, Copy)]
pub(crate) enum Output<'a> {
    /// They are sent to the server that sent the fragment.
    Sent,
    /// They are hash-partitioned and kept for the readers of an exchange.
    HashPartitioned(&'a HashPartitioning),
    /// They are stored for the fragment that runs next.
    Stored(StoreAs),
}
