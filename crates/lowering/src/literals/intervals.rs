//! Constants like `INTERVAL '90' DAY`, whose type names the fields.

/// The fields of the modifier of `interval`, from the largest to the smallest: their bits and their units.
const FIELDS: [(u32, &str); 6] =
    [(2, "year"), (1, "month"), (3, "day"), (HOUR, "hour"), (MINUTE, "minute"), (SECOND, "second")];

/// The bits of the fields of a time of day.
const HOUR: u32 = 10;
const MINUTE: u32 = 11;
const SECOND: u32 = 12;

/// The modifier's fields when it names none.
const ALL_FIELDS: i32 = 0x7fff;

/// The text of an interval with what the fields of its type say: the unit of a number without one, and minutes and seconds
/// instead of hours and minutes.
pub(super) fn with_fields(text: &str, modifier: i32) -> String {
    let fields = (modifier >> 16) & ALL_FIELDS;
    if modifier < 0 || fields == ALL_FIELDS {
        return text.to_owned();
    }
    let is_set = |bit: u32| fields & (1 << bit) != 0;
    let Some((_, unit)) = FIELDS.iter().rfind(|(bit, _)| is_set(*bit)) else {
        return text.to_owned();
    };
    let text = text.trim();
    let is_minutes = !is_set(HOUR) && is_set(MINUTE) && is_set(SECOND);
    let words = text.split_ascii_whitespace().map(|word| {
        let (sign, clock) = match word.strip_prefix('-') {
            Some(clock) => ("-", clock),
            None => ("", word),
        };
        match clock.matches(':').count() {
            1 if is_minutes => format!("{sign}00:{clock}"),
            _ => word.to_owned(),
        }
    });
    let mut words: Vec<String> = words.collect();
    if let Some(last) = words.last_mut().filter(|last| last.parse::<f64>().is_ok()) {
        last.push(' ');
        last.push_str(unit);
    }
    words.join(" ")
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
        assert_eq!(with_fields("90", of(&[3])), "90 day");
        assert_eq!(with_fields("-1", of(&[2, 1])), "-1 month");
        assert_eq!(with_fields("1.5", of(&[12])), "1.5 second");
        assert_eq!(with_fields("1 hour", -1), "1 hour");
        assert_eq!(with_fields("1 day 2 hours", of(&[3])), "1 day 2 hours");
        assert_eq!(with_fields("3 4:05", of(&[11, 12])), "3 00:4:05");
    }
}
