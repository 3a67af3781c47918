//! The network between servers: calls with streams of answers, over TCP or within one process.
