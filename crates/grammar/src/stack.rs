//! Recursion over deep trees.

/// Stack that must be left before a function runs, in bytes.
const RED_ZONE: usize = 256 << 10;
/// The size of each further piece of stack, in bytes.
const PIECE: usize = 4 << 20;

/// Runs a function on a stack with at least as many bytes of room.
pub fn with_room<T>(bytes: usize, run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(bytes, bytes.saturating_mul(4), run)
}

/// Runs a function on a stack with enough room for one more level of recursion.
pub fn growing<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, PIECE, run)
}
