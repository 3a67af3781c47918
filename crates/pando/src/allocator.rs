//! The program's allocator, and how long it keeps what was freed.

use libmimalloc_sys::{mi_option_set_default, mi_option_t};
use std::ffi::c_long;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Milliseconds until the machine gets freed memory back, jemalloc's ten seconds. What a query frees the next one takes: after
/// mimalloc's one second every query of somebody who thinks between two had its memory made anew by the kernel, page by page.
const KEPT_MS: c_long = 10_000;
/// `mi_option_purge_delay` of mimalloc 3, which the crate has no name for.
const PURGE_DELAY: mi_option_t = 15;

/// Keeps freed memory for ten seconds, unless `MIMALLOC_PURGE_DELAY` says for how many milliseconds.
pub(crate) fn keep_freed_memory() {
    // SAFETY: it writes a number into mimalloc's table of options, if there is such an option. No thread reads it meanwhile: this is
    // called before there is a second one.
    unsafe { mi_option_set_default(PURGE_DELAY, KEPT_MS) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libmimalloc_sys::mi_option_get;

    #[test]
    fn the_number_is_that_of_the_delay() {
        // SAFETY: it reads a number from the same table. Threads of other tests may read it while it is written: a word, of which they
        // see the one value or the other.
        let kept = || unsafe { mi_option_get(PURGE_DELAY) };
        assert_eq!(kept(), 1000, "what mimalloc has unless told otherwise");
        keep_freed_memory();
        assert_eq!(kept(), KEPT_MS);
    }
}
