//! The parameters of a simulation.

/// The parameters of a simulation.
#[derive(Debug, Clone, Copy)]
pub struct Parameters {
    /// Number of servers, at least 1.
    pub servers: usize,
    /// Number of buckets to which the file grows.
    pub buckets: u64,
    /// Number of concurrent clients, at least 1.
    pub clients: usize,
    /// Keys per bucket, at least 2.
    pub bucket_keys: usize,
    /// Entries per directory page.
    pub page_entries: usize,
    /// Seed of the random numbers.
    pub seed: u64,
}
