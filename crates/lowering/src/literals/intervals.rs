//! Constants like `INTERVAL '90' DAY`, whose type names the fields.

/// The fields of the modifier of `interval`, from the largest to the smallest: their bits and their units.
const FIELDS: [(u32, &str); 6] =
    [(2, "year"), (1, "month"), (3, "day"), (10, "hour"), (11, "minute"), (12, "second")];

/// The modifier's fields when it names none.
const ALL_FIELDS: i32 = 0x7fff;

/// The text of an interval with the unit that its type gives a number without one; `None` if its type changes more.
pub(super) fn with_unit(text: &str, modifier: i32) -> Option<String> {
    let fields = (modifier >> 16) & ALL_FIELDS;
    let precision = modifier & 0xffff;
    if modifier < 0 || fields == ALL_FIELDS && precision == 0xffff {
        return Some(text.to_owned());
    }
    if precision != 0xffff {
        return None;
    }
    let (last, unit) = FIELDS.iter().rfind(|(bit, _)| fields & (1 << bit) != 0)?;
    let number = text.trim();
    let is_number = number
        .strip_prefix(['-', '+'])
        .unwrap_or(number)
        .bytes()
        .all(|digit| digit.is_ascii_digit());
    let is_seconds = *last == 12 && number.parse::<f64>().is_ok();
    (!number.is_empty() && (is_number || is_seconds)).then(|| format!("{number} {unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The modifier of fields.
    fn of(bits: &[i32]) -> i32 {
        (bits.iter().map(|bit| 1 << bit).sum::<i32>() << 16) | 0xffff
    }

    #[test]
    fn numbers_get_the_smallest_unit_of_the_type() {
        assert_eq!(with_unit("90", of(&[3])).as_deref(), Some("90 day"));
        assert_eq!(with_unit("-1", of(&[2, 1])).as_deref(), Some("-1 month"));
        assert_eq!(with_unit("1.5", of(&[12])).as_deref(), Some("1.5 second"));
        assert_eq!(with_unit("1 hour", -1).as_deref(), Some("1 hour"));
        assert_eq!(with_unit("1 day 2 hours", of(&[3])), None);
    }
}
