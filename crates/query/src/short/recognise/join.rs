//! Joins of two tables by the key or an index of one.

use super::{indexes_of, only_table};
use crate::context::Frame;
use crate::short::returning::fields_of;
use crate::short::{Action, Short};
use grammar::tree::SelectStmt;
use keyed::{Join, Side, joined};
use scan::tables::Tables;
use store::catalog::{Privileges, SqlType};
use values::field::Field;

pub(super) fn join(frame: &Frame<'_>, tables: &dyn Tables, query: &SelectStmt) -> Option<Short> {
    if frame.session.shared.store.peers().is_some() {
        return None;
    }
    let ([first, second], is_left, on) = joined(&query.from_clause)?;
    let (one, one_alias) = only_table(frame, tables, first, Privileges::SELECT)?;
    let (other, other_alias) = only_table(frame, tables, second, Privileges::SELECT)?;
    let (first, second) = (one_alias.unwrap_or(&one.name), other_alias.unwrap_or(&other.name));
    let sides = [
        Side { table: &one, indexes: indexes_of(tables, &one), called: first },
        Side { table: &other, indexes: indexes_of(tables, &other), called: second },
    ];
    let join = Join::recognise(sides, (is_left, on), query)?;
    let mut fields: Vec<Field> = Vec::new();
    for (table, column, name) in join.outputs() {
        fields.extend(fields_of(table, &[column], std::slice::from_ref(name)));
    }
    fields.extend(join.count().map(|name| Field::new(name.clone(), SqlType::BigInt)));
    Some(Short::unwatched(one, Action::Join(Box::new(join), fields.into())))
}
