//! The words in dates, times and intervals. Letters behind the tenth do not count.

/// The letters of a word that count.
const LETTERS_MAX: usize = 10;

/// What a word means in a date or time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// From 1.
    Month(i64),
    Weekday,
    /// Whether it is BC.
    Era(bool),
    /// Whether it is PM.
    Afternoon(bool),
    /// A label of the number behind it.
    Label(Label),
    /// The `T` before a time.
    OfTime,
    /// `dst` behind a zone.
    Daylight,
    Special(Special),
    Ignored,
}

/// Which field the number behind a label is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Julian,
    /// Several fields without delimiters.
    Time,
    /// A label that no number can have.
    Other,
}

/// A word for a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    Now,
    /// So many days after today.
    Day(i64),
    /// Midnight in UTC.
    AllBalls,
    Epoch,
    /// Whether it is positive.
    Infinity(bool),
}

/// The meaning of a word in a date or time, in small letters.
pub(crate) fn of_date(word: &str) -> Option<Word> {
    Some(match cut(word) {
        "jan" | "january" => Word::Month(1),
        "feb" | "february" => Word::Month(2),
        "mar" | "march" => Word::Month(3),
        "apr" | "april" => Word::Month(4),
        "may" => Word::Month(5),
        "jun" | "june" => Word::Month(6),
        "jul" | "july" => Word::Month(7),
        "aug" | "august" => Word::Month(8),
        "sep" | "sept" | "september" => Word::Month(9),
        "oct" | "october" => Word::Month(10),
        "nov" | "november" => Word::Month(11),
        "dec" | "december" => Word::Month(12),
        "mon" | "monday" | "tue" | "tues" | "tuesday" | "wed" | "wednesday" | "weds" | "thu"
        | "thur" | "thurs" | "thursday" | "fri" | "friday" | "sat" | "saturday" | "sun"
        | "sunday" => Word::Weekday,
        "ad" => Word::Era(false),
        "bc" => Word::Era(true),
        "am" => Word::Afternoon(false),
        "pm" => Word::Afternoon(true),
        "y" => Word::Label(Label::Year),
        "m" => Word::Label(Label::Month),
        "d" => Word::Label(Label::Day),
        "h" => Word::Label(Label::Hour),
        "mm" => Word::Label(Label::Minute),
        "s" => Word::Label(Label::Second),
        "j" | "jd" | "julian" => Word::Label(Label::Julian),
        "dow" | "doy" | "isodow" | "isoyear" => Word::Label(Label::Other),
        "t" => Word::OfTime,
        "dst" => Word::Daylight,
        "now" => Word::Special(Special::Now),
        "today" => Word::Special(Special::Day(0)),
        "tomorrow" => Word::Special(Special::Day(1)),
        "yesterday" => Word::Special(Special::Day(-1)),
        "allballs" => Word::Special(Special::AllBalls),
        "epoch" => Word::Special(Special::Epoch),
        "infinity" => Word::Special(Special::Infinity(true)),
        "-infinity" => Word::Special(Special::Infinity(false)),
        "at" | "on" => Word::Ignored,
        _ => return None,
    })
}

/// A unit of intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
    Decade,
    Century,
    Millennium,
    /// A unit that no number can have.
    Other,
}

/// What a word means in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IntervalWord {
    Unit(Unit),
    Ago,
}

/// The meaning of a word in an interval, in small letters.
pub(crate) fn of_interval(word: &str) -> Option<IntervalWord> {
    Some(IntervalWord::Unit(match cut(word) {
        "ago" => return Some(IntervalWord::Ago),
        "us" | "usec" | "usecond" | "useconds" | "usecs" | "microsecon" => Unit::Microsecond,
        "ms" | "msec" | "msecond" | "mseconds" | "msecs" | "millisecon" => Unit::Millisecond,
        "s" | "sec" | "second" | "seconds" | "secs" => Unit::Second,
        "m" | "min" | "mins" | "minute" | "minutes" => Unit::Minute,
        "h" | "hour" | "hours" | "hr" | "hrs" => Unit::Hour,
        "d" | "day" | "days" => Unit::Day,
        "w" | "week" | "weeks" => Unit::Week,
        "mon" | "mons" | "month" | "months" => Unit::Month,
        "y" | "year" | "years" | "yr" | "yrs" => Unit::Year,
        "dec" | "decade" | "decades" | "decs" => Unit::Decade,
        "c" | "cent" | "centuries" | "century" => Unit::Century,
        "mil" | "millennia" | "millennium" | "mils" => Unit::Millennium,
        "qtr" | "quarter" | "timezone" | "timezone_h" | "timezone_m" => Unit::Other,
        _ => return None,
    }))
}

/// The letters that count.
fn cut(word: &str) -> &str {
    word.get(..LETTERS_MAX).unwrap_or(word)
}
