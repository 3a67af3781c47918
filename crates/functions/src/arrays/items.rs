//! Items of arrays that are assigned: where they are, and how long an array may become.

use values::error::{Error, Result, SqlState};

/// The most items of an array.
pub const ITEMS_MAX: usize = 134_217_727;

/// The error of an array that would become longer than it may be.
pub fn too_long() -> Error {
    let message = format!("array size exceeds the maximum allowed ({ITEMS_MAX})");
    Error::new(SqlState::ProgramLimitExceeded, message)
}

/// The place, from 0, of an item that is assigned at an index, in an array of so many items.
///
/// # Errors
/// 54000 for an index behind the longest array; 0A000 if the array would not begin at 1.
pub fn place_of(index: i64, length: usize) -> Result<usize> {
    let place =
        usize::try_from(index.saturating_sub(1)).ok().filter(|place| length > 0 || *place == 0);
    match place {
        Some(place) if place >= ITEMS_MAX => Err(too_long()),
        Some(place) => Ok(place),
        None if index > ITEMS_MAX as i64 => Err(too_long()),
        None => {
            let message =
                format!("an array with a lower bound other than 1, {index}, is not supported");
            Err(Error::unsupported(message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_placed_behind_the_first() {
        assert_eq!(place_of(1, 0).ok(), Some(0));
        assert_eq!(place_of(9, 3).ok(), Some(8));
        for (index, length, state) in [
            (2, 0, SqlState::FeatureNotSupported),
            (0, 3, SqlState::FeatureNotSupported),
            (i64::MIN, 3, SqlState::FeatureNotSupported),
            (134_217_728, 3, SqlState::ProgramLimitExceeded),
            (134_217_728, 0, SqlState::ProgramLimitExceeded),
        ] {
            assert_eq!(place_of(index, length).map_err(|error| error.state()), Err(state));
        }
    }
}
