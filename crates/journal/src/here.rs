//! Threads that may wait for the disk: those that serve nobody else meanwhile.
//!
//! A commit that its own thread writes needs no other thread: two wake-ups less, which take as long as a
//! fast disk does. A thread that serves several clients leaves the disk to the flusher.

use std::cell::Cell;

thread_local! {
    static MAY_WAIT: Cell<bool> = const { Cell::new(false) };
}

/// Says whether the thread may wait for the disk while `work` runs.
pub fn waiting_if<T>(may_wait: bool, work: impl FnOnce() -> T) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            MAY_WAIT.set(self.0);
        }
    }
    let _before = Before(MAY_WAIT.replace(may_wait));
    work()
}

/// Whether the thread may wait for the disk.
pub fn may_wait() -> bool {
    MAY_WAIT.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_may_wait_within_the_work_that_says_so() {
        assert!(!may_wait());
        waiting_if(true, || {
            assert!(may_wait());
            waiting_if(false, || assert!(!may_wait()));
            assert!(may_wait());
        });
        assert!(!may_wait());
    }
}
