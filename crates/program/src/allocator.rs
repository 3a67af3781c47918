//! The allocator (mimalloc), and how long it keeps freed memory.

use libmimalloc_sys::{mi_collect, mi_option_set_default, mi_option_t};
use std::ffi::c_long;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Milliseconds until freed memory goes back to the system, as with jemalloc. With mimalloc's default of one second, a
/// query after a pause gets new pages from the kernel instead of those that the last query freed.
const KEPT_MS: c_long = 10_000;
/// `mi_option_purge_delay` of mimalloc 3. `libmimalloc-sys` has no constant for it.
const PURGE_DELAY: mi_option_t = 15;

/// Makes the allocator keep freed memory for ten seconds. The variable `MIMALLOC_PURGE_DELAY`, in milliseconds,
/// overrides it. Call this first in `main`, before there are other threads.
pub fn keep_freed_memory() {
    // SAFETY: The call writes a number into mimalloc's table of options. No other thread reads it at that time,
    // because the caller has not started any.
    unsafe { mi_option_set_default(PURGE_DELAY, KEPT_MS) }
}

/// Makes the allocator return the memory that it keeps to the system.
pub fn give_back_memory() {
    // SAFETY: The call may be made at any time and on any thread.
    unsafe { mi_collect(true) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libmimalloc_sys::mi_option_get;

    #[test]
    fn the_option_is_the_purge_delay() {
        // SAFETY: The call reads a number from the same table. A thread of another test may read it while it is
        // written; it sees either value.
        let kept = || unsafe { mi_option_get(PURGE_DELAY) };
        assert_eq!(kept(), 1000, "mimalloc's default");
        keep_freed_memory();
        assert_eq!(kept(), KEPT_MS);
    }
}
