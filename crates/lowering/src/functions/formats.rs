//! `to_char`, `to_date`, `to_timestamp` and `to_number`.

use super::zones::in_zone;
use super::{Make, Table};
use ::functions::formats;

pub(super) const TABLE: Table = &[
    (
        "to_char(int4,text) to_char(int8,text) to_char(float4,text) to_char(float8,text) to_char(numeric,text) \
         to_char(timestamp,text) to_char(interval,text)",
        Make::Named("to_char"),
    ),
    (
        "to_char(timestamptz,text)",
        Make::Own(|of, args, to| in_zone(formats::to_char_in(of.zone()), args, to)),
    ),
    ("to_date(text,text)", Make::Named("to_date")),
    ("to_timestamp(float8)", Make::Named("to_timestamp")),
    (
        "to_timestamp(text,text)",
        Make::Own(|of, args, to| in_zone(formats::to_timestamp_in(of.zone()), args, to)),
    ),
    ("to_number(text,text)", Make::Named("to_number")),
];
