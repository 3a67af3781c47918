//! The front doors of a server: the PostgreSQL wire and HTTP.

pub mod pg;
