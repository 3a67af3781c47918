//! What a call may use.

/// What one call may use. Its time is that of the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory of an instance: linear memory, or the heap of a script.
    pub memory: usize,
    /// Items in all tables of a WebAssembly instance.
    pub table_items: usize,
    /// Bytes of the native stack.
    pub stack: usize,
    /// Bytes that a call may return.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 64 << 20, table_items: 100_000, stack: 512 << 10, output: 64 << 20 }
    }
}

/// The longest source, in bytes.
pub const SOURCE_BYTES_MAX: usize = 16 << 20;

/// The native stack that a call gets: its own, and as much for what surrounds it.
pub(crate) const STACK_BYTES: usize = 4 << 20;

const _: () =
    assert!(STACK_BYTES >= 2 * (512 << 10), "a program's stack is part of the native one");
