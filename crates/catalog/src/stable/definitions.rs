//! Definitions and their changes.

use super::plain_index::PlainIndex;
use super::{Malformed, Source, Stable, fields, variants, wrappers};
use crate::serialized::Definitions;
use crate::{
    Catalog, CatalogChange, Check, Column, Identity, Index, IndexColumn, IndexExpression, IndexKey,
    Object, OnCommit, Privileges, Relation, Role, Schema, Sequence, SqlType, Table, View,
};
use std::sync::Arc;

wrappers!(Privileges);

variants!(SqlType {
    0 => Boolean,
    1 => SmallInt,
    2 => Integer,
    3 => BigInt,
    4 => Real,
    5 => Double,
    6 => Numeric { precision, scale },
    7 => Text,
    8 => Varchar(length),
    9 => Char(length),
    10 => Bytea,
    11 => Date,
    12 => Time,
    13 => Timestamp,
    14 => TimestampTz,
    15 => Interval,
    16 => Uuid,
    17 => Json,
    18 => Jsonb,
    19 => Array(item),
    20 => Other(data_type),
    21 => Precise(of, modifier),
});

variants!(Identity {
    0 => Always,
    1 => ByDefault,
});

variants!(OnCommit {
    0 => PreserveRows,
    1 => DeleteRows,
    2 => Drop,
});

fields!(Schema { name, comment });

fields!(Check { name, expression });

fields!(Column {
    id,
    name,
    sql_type,
    nullable,
    default,
    identity,
    generated,
    hidden,
    missing,
    comment,
});

fields!(Table {
    id,
    schema,
    name,
    columns,
    key,
    checks,
    bucket_size,
    colocate_with,
    on_commit,
    home,
    next_column,
    version,
    comment,
});

fields!(View { id, schema, name, sql, columns, search_path, comment });

fields!(Sequence { id, schema, name, start, increment, min, max, cycle, owned_by, comment });

variants!(IndexKey {
    0 => Column(column),
    1 => Expression(expression),
});

fields!(IndexExpression { text, shown, name, sql_type, columns });

fields!(IndexColumn { key, descending, nulls_first, operator_class });

fields!(Index {
    file,
    table,
    columns,
    included,
    predicate,
    is_unique,
    nulls_equal,
    is_constraint,
    is_hash,
});

/// The ordinal of an index in the form that only columns of the table have.
const PLAIN_INDEX: u8 = 3;
/// The ordinal of any other index.
const INDEX: u8 = 45;

/// Ordinals: 0 for a table, 1 for a view, 2 for a sequence; 3 or 45 for an index.
impl Stable for Relation {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Table(table) => {
                out.push(0);
                table.encode(out);
            }
            Self::View(view) => {
                out.push(1);
                view.encode(out);
            }
            Self::Sequence(sequence) => {
                out.push(2);
                sequence.encode(out);
            }
            Self::Index(index) => match PlainIndex::of(index) {
                Some(plain) => {
                    out.push(PLAIN_INDEX);
                    plain.encode(out);
                }
                None => {
                    out.push(INDEX);
                    index.encode(out);
                }
            },
        }
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        match u8::decode(from)? {
            0 => Ok(Self::Table(Stable::decode(from)?)),
            1 => Ok(Self::View(Stable::decode(from)?)),
            2 => Ok(Self::Sequence(Stable::decode(from)?)),
            PLAIN_INDEX => Ok(Self::Index(Arc::new(PlainIndex::decode(from)?.into()))),
            INDEX => Ok(Self::Index(Stable::decode(from)?)),
            _ => Err(Malformed("a variant of Relation is unknown")),
        }
    }
}

fields!(Role {
    name,
    superuser,
    login,
    create_role,
    create_database,
    connection_limit,
    valid_until,
    inherit,
    verifier,
    member_of,
    database,
    relations,
    schemas,
});

variants!(Object {
    0 => Database,
    1 => Schema(name),
    2 => Relation(id),
});

variants!(CatalogChange {
    0 => CreateSchema(schema),
    1 => ReplaceSchema(schema),
    2 => DropSchema(name),
    3 => Create(relation),
    4 => Replace(relation),
    5 => Drop(id),
    6 => Truncate(id),
    7 => PutRole(role),
    8 => RenameRole { from, to },
    9 => DropRole(name),
    10 => SetPrivileges { role, object, privileges },
});

fields!(Definitions { schemas, relations, roles, public });

/// As its definitions: the index of names is rebuilt.
impl Stable for Catalog {
    fn encode(&self, out: &mut Vec<u8>) {
        Definitions::from(self.clone()).encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        Definitions::decode(from).map(Self::from)
    }
}
