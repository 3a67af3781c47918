//! Functions that are made for a call: what another server needs to make them, too.

use datafusion::logical_expr::{Operator, ScalarUDF};
use functions::arrays::quantified;
use functions::casts::conversion;
use functions::datetime::local;
use functions::{formats, zoned};
use serde::{Deserialize, Serialize};
use store::catalog::SqlType;
use values::style::Style;
use values::zone::Zone;

/// A function that is made for a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Made {
    /// A cast to a type, in a style.
    Cast(SqlType, Style),
    /// A comparison with an array: its operator (`<=`), and whether it is with each item.
    Quantified(String, bool),
    /// A function in a time zone, with its name.
    Zoned(String, Zone),
}

const OPERATORS: [Operator; 6] =
    [Operator::Eq, Operator::NotEq, Operator::Lt, Operator::LtEq, Operator::Gt, Operator::GtEq];

/// The functions in a time zone.
const ZONED: [fn(Zone) -> ScalarUDF; 8] = [
    local::local_time,
    local::instant,
    local::offset,
    local::later,
    local::earlier,
    local::truncated,
    formats::to_char_in,
    formats::to_timestamp_in,
];

impl Made {
    /// What a function was made of; `None` for functions that have a name everywhere.
    pub fn of(function: &ScalarUDF) -> Option<Self> {
        if let Some((to, style)) = conversion::of_function(function) {
            return Some(Self::Cast(to.clone(), style));
        }
        if let Some((name, zone)) = zoned::of_function(function) {
            let made = Self::Zoned(name.to_owned(), zone);
            return made.function().filter(|same| same == function).map(|_| made);
        }
        if !function.name().starts_with("compared_with_") {
            return None;
        }
        let mut all = OPERATORS.iter().flat_map(|operator| {
            [true, false].map(|is_all| Self::Quantified(operator.to_string(), is_all))
        });
        all.find(|made| made.function().as_ref() == Some(function))
    }

    /// The function; `None` if there is none of the name.
    pub fn function(&self) -> Option<ScalarUDF> {
        match self {
            Self::Cast(to, style) => Some(conversion::to(to, &to.arrow(), *style)),
            Self::Quantified(operator, is_all) => {
                let operator = OPERATORS.iter().find(|known| known.to_string() == *operator)?;
                Some(quantified::compared(*operator, *is_all))
            }
            Self::Zoned(name, zone) => {
                ZONED.iter().map(|make| make(*zone)).find(|function| function.name() == name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_made_again() {
        let zone = Zone::Offset(3600);
        let style = Style { zone, ..Style::default() };
        let mut all = vec![conversion::to(&SqlType::Text, &SqlType::Text.arrow(), style)];
        all.extend(OPERATORS.map(|operator| quantified::compared(operator, true)));
        all.extend(ZONED.map(|make| make(zone)));
        for function in all {
            let made = Made::of(&function).expect("made for a call");
            let bytes = postcard::to_allocvec(&made).expect("written");
            let read: Made = postcard::from_bytes(&bytes).expect("read");
            assert_eq!(read.function(), Some(function));
        }
    }
}
