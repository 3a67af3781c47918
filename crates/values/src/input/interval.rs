//! `interval` from text: `1 year 2 mons -3 days +04:05:06`, `1-2 3 4:05`, `P1Y2M3DT4H5M6S`,
//! `3 weeks ago`.

use datafusion::arrow::datatypes::IntervalMonthDayNano;

const SECOND: i128 = 1_000_000_000;
const DAY_HOURS: i128 = 24;

/// The parts of an interval while it is parsed.
#[derive(Default, Clone, Copy)]
struct Parts {
    months: i128,
    days: i128,
    nanos: i128,
}

/// A number as an integer part and billionths, both with the number's sign.
#[derive(Clone, Copy)]
struct Decimal {
    whole: i128,
    billionths: i128,
}

/// Parses an interval; `None` for invalid syntax and for intervals out of range.
pub fn parse(text: &str) -> Option<IntervalMonthDayNano> {
    let text = text.trim().to_ascii_lowercase();
    let parts = match text.strip_prefix('p') {
        Some(rest) => iso(rest)?,
        None => traditional(&text)?,
    };
    Some(IntervalMonthDayNano::new(
        parts.months.try_into().ok()?,
        parts.days.try_into().ok()?,
        parts.nanos.try_into().ok()?,
    ))
}

/// Parses an interval as SQL's standard has it: a sign before the first part alone is that of all parts.
pub fn parse_standard(text: &str) -> Option<IntervalMonthDayNano> {
    let text = text.trim();
    let is_signed = |word: &str| word.starts_with(['-', '+']);
    match text.strip_prefix('-') {
        Some(rest) if !text.split_ascii_whitespace().skip(1).any(is_signed) => {
            let parts = parse(rest)?;
            Some(IntervalMonthDayNano::new(
                parts.months.checked_neg()?,
                parts.days.checked_neg()?,
                parts.nanoseconds.checked_neg()?,
            ))
        }
        _ => parse(text),
    }
}

/// The traditional form: numbers with units, and times, in any order.
fn traditional(text: &str) -> Option<Parts> {
    let mut parts = Parts::default();
    let mut pending: Option<Decimal> = None;
    let mut seen = false;
    let mut ago = false;
    let words = split_units(text);
    for word in &words {
        if ago {
            return None;
        }
        match word.as_str() {
            "@" if !seen => continue,
            "ago" if seen && pending.is_none() => ago = true,
            word if word.contains(':') => {
                // `3 4:05:06` is three days and a time.
                if let Some(days) = pending.take() {
                    parts.add(days, "day")?;
                }
                parts.nanos += time(word)?;
            }
            word if word.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                parts.add(pending.take()?, word)?;
            }
            word => {
                if let Some(days) = pending.take() {
                    parts.add(days, "day")?;
                }
                match year_month(word) {
                    Some(months) => parts.months += months,
                    None => pending = Some(decimal(word)?),
                }
            }
        }
        seen = true;
    }
    if let Some(seconds) = pending {
        parts.add(seconds, "second")?;
    }
    if ago {
        parts = Parts { months: -parts.months, days: -parts.days, nanos: -parts.nanos };
    }
    seen.then_some(parts)
}

/// Splits a text at blanks, and `3days` into two words.
fn split_units(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in text.split_ascii_whitespace() {
        let unit = word.find(|c: char| c.is_ascii_alphabetic()).filter(|at| *at > 0);
        match unit.map(|at| word.split_at(at)) {
            Some((number, unit)) => words.extend([number.to_owned(), unit.to_owned()]),
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// The ISO 8601 form after its `P`.
fn iso(text: &str) -> Option<Parts> {
    let mut parts = Parts::default();
    let mut in_time = false;
    let mut number = String::new();
    let mut seen = false;
    for letter in text.chars() {
        let unit = match letter {
            '0'..='9' | '.' | '-' | '+' => {
                number.push(letter);
                continue;
            }
            't' if !in_time && number.is_empty() => {
                in_time = true;
                continue;
            }
            'y' if !in_time => "year",
            'm' if !in_time => "month",
            'w' if !in_time => "week",
            'd' if !in_time => "day",
            'h' if in_time => "hour",
            'm' => "minute",
            's' if in_time => "second",
            _ => return None,
        };
        parts.add(decimal(&std::mem::take(&mut number))?, unit)?;
        seen = true;
    }
    (seen && number.is_empty()).then_some(parts)
}

impl Parts {
    /// Adds a number of units. A fraction is carried into smaller units, as in PostgreSQL.
    fn add(&mut self, number: Decimal, unit: &str) -> Option<()> {
        let Decimal { whole, billionths } = number;
        let months = match unit {
            "mon" | "mons" | "month" | "months" => 1,
            "y" | "yr" | "yrs" | "year" | "years" => 12,
            "decade" | "decades" | "dec" | "decs" => 120,
            "c" | "cent" | "century" | "centuries" => 1200,
            "mil" | "mils" | "millennium" | "millennia" => 12000,
            _ => 0,
        };
        if months == 1 {
            self.months = self.months.checked_add(whole)?;
            self.add_days(billionths * 30);
            return Some(());
        }
        if months > 0 {
            self.months = self.months.checked_add(whole.checked_mul(months)?)?;
            self.months += billionths * months / SECOND;
            return Some(());
        }
        let seconds = match unit {
            "d" | "day" | "days" => {
                self.days = self.days.checked_add(whole)?;
                self.nanos += billionths * DAY_HOURS * 3600;
                return Some(());
            }
            "w" | "week" | "weeks" => {
                self.days = self.days.checked_add(whole.checked_mul(7)?)?;
                self.add_days(billionths * 7);
                return Some(());
            }
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
            "m" | "min" | "mins" | "minute" | "minutes" => 60,
            "s" | "sec" | "secs" | "second" | "seconds" => 1,
            "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => {
                self.nanos += (whole.checked_mul(SECOND)? + billionths) / 1000;
                return Some(());
            }
            "us" | "usec" | "usecs" | "microsecond" | "microseconds" => {
                self.nanos += (whole.checked_mul(SECOND)? + billionths) / 1_000_000;
                return Some(());
            }
            _ => return None,
        };
        let nanos = whole.checked_mul(SECOND)?.checked_add(billionths)?.checked_mul(seconds)?;
        self.nanos = self.nanos.checked_add(nanos)?;
        Some(())
    }

    /// Adds billionths of days.
    fn add_days(&mut self, billionths: i128) {
        self.days += billionths / SECOND;
        self.nanos += billionths % SECOND * DAY_HOURS * 3600;
    }
}

/// `1-2`: years and months.
fn year_month(word: &str) -> Option<i128> {
    let (negative, word) = sign(word);
    let (years, months) = word.split_once('-')?;
    let months: i128 = whole(months).filter(|months| *months < 12)?;
    let total = whole(years)?.checked_mul(12)?.checked_add(months)?;
    Some(if negative { -total } else { total })
}

/// `04:05`, `-04:05:06.789`.
fn time(word: &str) -> Option<i128> {
    let (negative, word) = sign(word);
    let mut fields = word.split(':');
    let hours = whole(fields.next()?)?;
    let minutes = whole(fields.next()?).filter(|minutes| *minutes < 60)?;
    let seconds = match fields.next() {
        Some(text) => decimal(text).filter(|seconds| (0..60).contains(&seconds.whole))?,
        None => Decimal { whole: 0, billionths: 0 },
    };
    if fields.next().is_some() {
        return None;
    }
    let total = hours.checked_mul(3600)?.checked_add(minutes * 60 + seconds.whole)?;
    let nanos = total.checked_mul(SECOND)? + seconds.billionths;
    Some(if negative { -nanos } else { nanos })
}

fn sign(word: &str) -> (bool, &str) {
    match word.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    }
}

/// An unsigned integer of at most 64 bits, so that sums fit into 128 bits.
fn whole(digits: &str) -> Option<i128> {
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse::<i64>().ok().filter(|_| plain).map(i128::from)
}

fn decimal(word: &str) -> Option<Decimal> {
    let (negative, word) = sign(word);
    let (before, after) = word.split_once('.').unwrap_or((word, ""));
    if before.is_empty() && after.is_empty() {
        return None;
    }
    let before = if before.is_empty() { 0 } else { whole(before)? };
    if !after.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let billionths: String = after.chars().chain("000000000".chars()).take(9).collect();
    let billionths = whole(&billionths)?;
    Some(if negative {
        Decimal { whole: -before, billionths: -billionths }
    } else {
        Decimal { whole: before, billionths }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<(i32, i32, i64)> {
        parse(text).map(|i| (i.months, i.days, i.nanoseconds / 1_000_000))
    }

    #[test]
    fn what_postgresql_reads() {
        assert_eq!(of("0:00:00"), Some((0, 0, 0)));
        assert_eq!(of("1 day 02:03:04"), Some((0, 1, 7_384_000)));
        assert_eq!(of("P1D"), Some((0, 1, 0)));
        assert_eq!(of("P1Y2M3DT4H5M6.5S"), Some((14, 3, 14_706_500)));
        assert_eq!(of("-1 year -2 mons +3 days -04:05:06"), Some((-14, 3, -14_706_000)));
        assert_eq!(of("1-2 3 4:05"), Some((14, 3, 14_700_000)));
        assert_eq!(of("@ 3 weeks ago"), Some((0, -21, 0)));
        assert_eq!(of("1.5 months"), Some((1, 15, 0)));
        assert_eq!(of("90"), Some((0, 0, 90_000)));
        assert_eq!(of("3days"), Some((0, 3, 0)));
    }

    #[test]
    fn what_is_none() {
        for text in
            ["", "x", "1 fortnight", "P", "P1", "1:2:3:4", "1:70", "99999999999 years", "1 -"]
        {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
