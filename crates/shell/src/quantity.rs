//! Formatting and parsing of quantities: `8GiB`, `1,234,567`, `12.3 ms`.

use std::time::Duration;

/// Parses a size in bytes, like `8GiB`.
///
/// # Errors
/// If the text is not a size or zero.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let explain = || format!("`{text}` is not a size; write it like 8GiB, 500MB or 1073741824");
    query::bytes_of(text).filter(|bytes| *bytes > 0).ok_or_else(explain)
}

/// Formats bytes: `5 B`, `84.1 MiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// Formats a number with grouped digits: `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a number with a noun: `1 row`, `2,000 rows`.
pub fn counted(value: u64, noun: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(value))
}

/// Formats a duration: `85 µs`, `12.3 ms`, `1.24 s`, `2 min 3 s`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 0.001 => format!("{} µs", time.as_micros()),
        s if s < 0.01 => format!("{:.2} ms", s * 1e3),
        s if s < 0.1 => format!("{:.1} ms", s * 1e3),
        s if s < 0.9995 => format!("{:.0} ms", s * 1e3),
        s if s < 59.995 => format!("{s:.2} s"),
        s => format!("{} min {} s", s.round() as u64 / 60, s.round() as u64 % 60),
    }
}

/// Formats a rate with three or four significant digits: `2,860,000 rows/s`. `None` if the time is below 1 ms.
pub fn rate(rows: u64, time: Duration) -> Option<String> {
    const SHORTEST: Duration = Duration::from_millis(1);
    if time < SHORTEST {
        return None;
    }
    let per_second = rows as f64 / time.as_secs_f64();
    let step = match per_second {
        r if r >= 1e6 => 10_000.0,
        r if r >= 1e4 => 1_000.0,
        _ => 1.0,
    };
    Some(format!("{} rows/s", count(((per_second / step).round() * step) as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_or_refused() {
        assert_eq!(parse_bytes("8GiB"), Ok(8 << 30));
        assert_eq!(parse_bytes("500MB"), Ok(500_000_000));
        for text in ["", "GiB", "-1MB", "0", "12 parsecs"] {
            assert!(parse_bytes(text).expect_err("refused").contains("8GiB"), "{text}");
        }
    }

    #[test]
    fn sizes_are_shown_in_the_unit_that_fits() {
        let shown = [0, 1023, 1024, 4 << 20, (1 << 20) - 1, 3 << 40].map(bytes);
        assert_eq!(shown, ["0 B", "1023 B", "1.0 KiB", "4.0 MiB", "1.0 MiB", "3.0 TiB"]);
    }

    #[test]
    fn counts_are_grouped() {
        let shown = [0, 999, 1_000, 1_234_567].map(count);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!((counted(1, "row"), counted(2, "row")), ("1 row".into(), "2 rows".into()));
    }

    #[test]
    fn durations_keep_three_figures() {
        let shown = [85, 1_234, 12_345, 123_456, 1_234_567, 123_000_000]
            .map(|micros| duration(Duration::from_micros(micros)));
        assert_eq!(shown, ["85 µs", "1.23 ms", "12.3 ms", "123 ms", "1.23 s", "2 min 3 s"]);
    }

    #[test]
    fn rates_are_rounded() {
        assert_eq!(
            rate(6_001_215, Duration::from_millis(2_100)).as_deref(),
            Some("2,860,000 rows/s")
        );
        assert_eq!(rate(50, Duration::from_secs(1)).as_deref(), Some("50 rows/s"));
        assert_eq!(rate(50, Duration::ZERO), None);
    }
}
