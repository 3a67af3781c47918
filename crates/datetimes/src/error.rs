//! Why a text is no date, time or interval.

/// Why a text is no date, time or interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatetimeError {
    /// Invalid syntax.
    Syntax,
    /// A field is out of range.
    Field,
    /// An offset from UTC is out of range.
    Displacement,
    /// There is no time zone of this name.
    Zone(String),
    /// The value is out of range.
    Range,
    /// An interval is out of range.
    Interval,
    /// An interval has more time than the caller can hold.
    Unheld,
    /// A timestamp is later than the last one that can be counted, but not than PostgreSQL's last one.
    UnheldMoment,
}
