//! CHECK.

/// A CHECK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The name, if it is written.
    pub name: Option<String>,
    /// The condition.
    pub condition: String,
    /// Not with NOT VALID.
    pub is_valid: bool,
}
