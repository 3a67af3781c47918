//! Keys, ranges and the numbers that identify things.

use super::{Malformed, Source, Stable, fields, put_bytes, take_bytes, variants, wrappers};
use crate::{ColumnId, RelationId, TableId};
use sdds::{Bound, BucketId, GroupId, Key, KeyRange, MoveId, ServerId, Timestamp, TransactionId};

wrappers!(BucketId, ColumnId, GroupId, RelationId, ServerId, TableId, Timestamp);

fields!(TransactionId { coordinator, number });
fields!(MoveId { from, number });

variants!(Bound {
    0 => NegInf,
    1 => At(key),
    2 => PosInf,
});

impl Stable for Key {
    fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        Ok(Self::from(take_bytes(from)?))
    }
}

impl Stable for KeyRange {
    fn encode(&self, out: &mut Vec<u8>) {
        self.low.encode(out);
        self.high.encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        let (low, high) = (Bound::decode(from)?, Bound::decode(from)?);
        Self::new(low, high).ok_or(Malformed("a range is empty"))
    }
}
