//! How PostgreSQL writes the names of settings, which are looked up in lower case.

/// The name of a setting as PostgreSQL writes it.
pub fn shown_name(name: &str) -> &str {
    match name {
        "datestyle" => "DateStyle",
        "intervalstyle" => "IntervalStyle",
        "timezone" => "TimeZone",
        name => name,
    }
}
