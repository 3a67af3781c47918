//! Calls of constants that the optimizer does not replace by their values, because those are large.
//!
//! A value in a plan is copied, compared and printed with it, so that a text of 100 MB takes gigabytes. The call takes
//! nothing until it is executed.

use super::SMALL_BYTES;
use datafusion::common::{Result, exec_err};
use std::cell::Cell;

thread_local! {
    static IS_FOLDING: Cell<bool> = const { Cell::new(false) };
}

/// Runs the optimizer. It keeps the calls whose values would be large.
pub fn folding<T>(optimize: impl FnOnce() -> T) -> T {
    let _before = Before(IS_FOLDING.replace(true));
    optimize()
}

/// Fails for a value that is too large for a plan, if the optimizer asks for it. The optimizer keeps calls that fail.
pub(super) fn check(bytes: u64) -> Result<()> {
    if bytes > SMALL_BYTES as u64 && IS_FOLDING.get() {
        return exec_err!("a value of {bytes} bytes is not computed while a statement is planned");
    }
    Ok(())
}

/// What the mark was before; a panic of the optimizer restores it, too.
struct Before(bool);

impl Drop for Before {
    fn drop(&mut self) {
        IS_FOLDING.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_optimizer_is_refused_large_values() {
        assert!(check(1 << 30).is_ok());
        folding(|| {
            assert!(check(100).is_ok());
            assert!(check(1 << 30).is_err());
        });
        assert!(check(1 << 30).is_ok());
    }
}
