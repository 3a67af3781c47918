//! Amounts of memory, as settings have them.

/// A hint to an amount that is none.
pub(crate) const UNITS: &str =
    "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".";

/// Parses an amount: a number of units of so many kilobytes, or a number with a unit of its own.
pub(crate) fn parse(text: &str, kilobytes: i64) -> Option<i64> {
    let text = text.trim();
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
    let (number, unit) = text.split_at(text.len() - text.trim_start_matches(digits).len());
    let bytes = match unit.trim() {
        "" => kilobytes as f64 * 1024.0,
        "B" => 1.0,
        "kB" => 1024.0,
        "MB" => 1024.0 * 1024.0,
        "GB" => 1024.0 * 1024.0 * 1024.0,
        "TB" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Some((number * bytes / (kilobytes as f64 * 1024.0)).round_ties_even() as i64)
}

/// So many kilobytes as text, in the largest unit that gives a whole number.
pub(crate) fn shown(kilobytes: i64) -> String {
    let units = [("TB", 1 << 30), ("GB", 1 << 20), ("MB", 1 << 10), ("kB", 1)];
    let whole = units.iter().find(|(_, unit)| kilobytes > 0 && kilobytes % unit == 0);
    whole.map_or("0".to_owned(), |(name, unit)| format!("{}{name}", kilobytes / unit))
}
