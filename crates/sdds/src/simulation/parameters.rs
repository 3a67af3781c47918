//! The parameters of a simulation.

/// What to simulate.
#[derive(Debug, Clone, Copy)]
pub struct Parameters {
    /// Servers, from the beginning; at least 1.
    pub servers: usize,
    /// Buckets that the file grows to.
    pub buckets: u64,
    /// Clients that work at a time; at least 1.
    pub clients: usize,
    /// Keys that a bucket holds; at least 2.
    pub bucket_keys: usize,
    /// Entries of a page of the directory.
    pub page_entries: usize,
    /// Where the random numbers begin.
    pub seed: u64,
}
