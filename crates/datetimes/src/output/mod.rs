//! Times of day and intervals as texts.

pub mod clock;
pub mod interval;
pub mod interval_styles;
