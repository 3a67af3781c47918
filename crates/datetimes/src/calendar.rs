//! The Gregorian calendar: days counted from 1970, and their years, months and days.
//!
//! The arithmetic covers every value that Arrow can hold, including years of six digits and years BC, which calendar
//! crates do not.

/// The Gregorian date of a day counted from 1970-01-01; year 0 is 1 BC.
///
/// Computes in cycles of 400 years (146,097 days) from 1 March, so that the leap day is the last day
/// of its year.
pub fn civil(days: i64) -> (i64, i64, i64) {
    const DAYS_PER_CYCLE: i64 = 146_097;
    const FROM_MARCH_OF_YEAR_ZERO: i64 = 719_468;
    let days = days + FROM_MARCH_OF_YEAR_ZERO;
    let cycle = days.div_euclid(DAYS_PER_CYCLE);
    let day_of_cycle = days.rem_euclid(DAYS_PER_CYCLE);
    let leap_days = day_of_cycle / 1_460 - day_of_cycle / 36_524 + day_of_cycle / 146_096;
    let year_of_cycle = (day_of_cycle - leap_days) / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = cycle * 400 + year_of_cycle + i64::from(month <= 2);
    (year, month, day)
}

/// The days from 1970-01-01 to a Gregorian date; year 0 is 1 BC. `None` if there is no such date.
pub fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    const BEFORE: [i64; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
    const TO_1970: i64 = 719_162;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let month = usize::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
    let leap_day = i64::from(is_leap);
    let length = BEFORE[month] - BEFORE[month - 1] + if month == 2 { leap_day } else { 0 };
    if !(1..=length).contains(&day) {
        return None;
    }
    let before = year - 1;
    let leap_days = before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400);
    let in_year = BEFORE[month - 1] + if month > 2 { leap_day } else { 0 } + day - 1;
    Some(before * 365 + leap_days - TO_1970 + in_year)
}
