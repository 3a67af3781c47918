//! `pg_locks`: the locks on this server, and the requests that wait.

use super::oids;
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use store::locks::{Owner, Space, Target};
use values::cells::Cell;

/// Fills in the rows.
pub(super) fn locks(context: &ViewContext<'_>, rows: &mut TableRows) {
    let store = context.database.store();
    // Advisory locks that the server keeps for its own sessions are listed as theirs.
    let is_kept = |owner: Owner| owner.is_elsewhere() && owner.party.server == store.server();
    for lock in store.locks().into_iter().filter(|lock| !lock.granted || !is_kept(lock.owner)) {
        let relation = |number: u32| {
            let table = context.catalog.table_by_id(store::catalog::TableId(number));
            table.map_or(Cell::Null, |table| oids::relation(table.id.relation()).into())
        };
        let (kind, of, class, object, part) = match &lock.target {
            Target::Row(table, _) | Target::Keys(table) => {
                ("tuple", relation(*table), None, None, None)
            }
            Target::Table(table) => ("relation", relation(*table), None, None, None),
            Target::Advisory(Space::Serial, table) => {
                ("relation", relation(u32::try_from(*table).unwrap_or_default()), None, None, None)
            }
            Target::Advisory(space, number) => {
                let (high, low) = ((*number >> 32) & 0xffff_ffff, *number & 0xffff_ffff);
                let part = if *space == Space::One { 1_i64 } else { 2 };
                ("advisory", Cell::Null, Some(high), Some(low), Some(part))
            }
        };
        rows.row([
            ("locktype", kind.into()),
            ("database", oids::DATABASE.into()),
            ("relation", of),
            ("classid", class.into()),
            ("objid", object.into()),
            ("objsubid", part.into()),
            (
                "virtualtransaction",
                format!("{}/{}", lock.owner.party.number, lock.owner.transaction).into(),
            ),
            ("pid", i64::try_from(lock.owner.party.number).ok().into()),
            ("mode", lock.mode.name().into()),
            ("granted", lock.granted.into()),
            ("fastpath", false.into()),
        ]);
    }
}
