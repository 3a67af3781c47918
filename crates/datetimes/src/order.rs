//! The order of the fields of dates.

use serde::{Deserialize, Serialize};

/// The order in which dates like `1/5/2024` are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum DateOrder {
    /// The month first.
    #[default]
    Mdy,
    /// The day first.
    Dmy,
    /// The year first.
    Ymd,
}

impl DateOrder {
    /// The order of a `datestyle` in its canonical form, such as `ISO, DMY`.
    pub fn of_setting(datestyle: &str) -> Self {
        match datestyle.rsplit(' ').next() {
            Some("DMY") => Self::Dmy,
            Some("YMD") => Self::Ymd,
            _ => Self::Mdy,
        }
    }
}
