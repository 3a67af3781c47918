//! Sizes in bytes with units: `64MiB`, `500 MB`, `1024`.

/// Parses a size in bytes; `None` for other text and for sizes beyond 64 bits.
pub fn bytes_of(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number: u64 = text[..digits].parse().ok()?;
    let unit: u64 = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kib" | "k" => 1 << 10,
        "mib" | "m" => 1 << 20,
        "gib" | "g" => 1 << 30,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::bytes_of;

    #[test]
    fn units_are_binary_with_an_i_and_decimal_without() {
        assert_eq!(bytes_of("64MiB"), Some(64 << 20));
        assert_eq!(bytes_of("500 MB"), Some(500_000_000));
        assert_eq!(bytes_of("4096"), Some(4096));
        assert_eq!(bytes_of("lots"), None);
        assert_eq!(bytes_of("99999999999999GiB"), None);
    }
}
