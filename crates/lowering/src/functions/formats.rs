//! `to_char`, `to_date`, `to_timestamp` and `to_number`.

use super::zones::in_zone;
use super::{Make, Table};
use ::functions::formats;
use analyzer::system::Oid;
use analyzer::tree::Literal;

pub(super) const TABLE: Table = &[
    (
        "to_char(timestamptz,text)",
        Make::Own(|of, args, to| in_zone(formats::to_char_in(of.zone()), args, to)),
    ),
    (
        "timeofday()",
        Make::Own(|of, _, to| {
            let now = of.registered("clock_timestamp", Vec::new(), Oid::TIMESTAMPTZ.into())?;
            let pattern = Literal::Text("Dy Mon DD HH24:MI:SS.US YYYY TZ".to_owned());
            let pattern = of.literal(&pattern, Oid::TEXT.into())?;
            in_zone(formats::to_char_in(of.zone()), vec![now, pattern], to)
        }),
    ),
    (
        "to_timestamp(text,text)",
        Make::Own(|of, args, to| in_zone(formats::to_timestamp_in(of.zone()), args, to)),
    ),
];
