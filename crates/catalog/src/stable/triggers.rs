//! Triggers.
//!
//! A trigger says in one byte when it fires: 0 for AFTER, 1 for BEFORE, as the first versions have it. 2 is followed by what
//! later versions know: whether it is BEFORE or INSTEAD OF, when it fires as a constraint, and the names of REFERENCING.

use super::{Malformed, Source, Stable};
use crate::Trigger;

const AFTER: u8 = 0;
const BEFORE: u8 = 1;
const EXTENDED: u8 = 2;

impl Stable for Trigger {
    fn encode(&self, out: &mut Vec<u8>) {
        let Self {
            id,
            table,
            name,
            function,
            is_before,
            is_instead,
            constraint,
            old_table,
            new_table,
            is_row,
            events,
            columns,
            condition,
            arguments,
            state,
            comment,
        } = self;
        id.encode(out);
        table.encode(out);
        name.encode(out);
        function.encode(out);
        if *is_instead || constraint.is_some() || self.has_transitions() {
            EXTENDED.encode(out);
            is_before.encode(out);
            is_instead.encode(out);
            constraint.encode(out);
            old_table.encode(out);
            new_table.encode(out);
        } else {
            (if *is_before { BEFORE } else { AFTER }).encode(out);
        }
        is_row.encode(out);
        events.encode(out);
        columns.encode(out);
        condition.encode(out);
        arguments.encode(out);
        state.encode(out);
        comment.encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        let (id, table) = (Stable::decode(from)?, Stable::decode(from)?);
        let (name, function) = (Stable::decode(from)?, Stable::decode(from)?);
        let (mut is_before, mut is_instead) = (false, false);
        let (mut constraint, mut old_table, mut new_table) = (None, None, None);
        match u8::decode(from)? {
            AFTER => {}
            BEFORE => is_before = true,
            EXTENDED => {
                (is_before, is_instead) = (Stable::decode(from)?, Stable::decode(from)?);
                constraint = Stable::decode(from)?;
                (old_table, new_table) = (Stable::decode(from)?, Stable::decode(from)?);
            }
            _ => return Err(Malformed("the time of a trigger is unknown")),
        }
        Ok(Self {
            id,
            table,
            name,
            function,
            is_before,
            is_instead,
            constraint,
            old_table,
            new_table,
            is_row: Stable::decode(from)?,
            events: Stable::decode(from)?,
            columns: Stable::decode(from)?,
            condition: Stable::decode(from)?,
            arguments: Stable::decode(from)?,
            state: Stable::decode(from)?,
            comment: Stable::decode(from)?,
        })
    }
}
