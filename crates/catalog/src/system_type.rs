//! PostgreSQL's types of the system catalogs: object ids, names of objects, identifiers, and what only system tables have.
//!
//! Each has an id, a name and a size that clients know ([`SystemType::oid`] and its like), and an Arrow type that holds its
//! values ([`SystemType::arrow`]): object ids are 64-bit integers without a sign, as in the system tables, and all others are
//! texts, or arrays. Names of objects, such as `regclass`, are held as ids; their texts depend on the catalog, and are made
//! where clients get them.

use arrow::datatypes::{DataType, Field};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A type of the system catalogs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SystemType {
    /// `oid`, an object id: 32 bits without a sign
    Oid,
    /// `xid`, a transaction id
    Xid,
    /// `cid`, the number of a command in a transaction
    Cid,
    /// `xid8`, a transaction id of 64 bits
    Xid8,
    /// `regproc`, the name of a function
    Regproc,
    /// `regprocedure`, the name of a function with the types of its arguments
    Regprocedure,
    /// `regoper`, the name of an operator
    Regoper,
    /// `regoperator`, the name of an operator with the types of its operands
    Regoperator,
    /// `regclass`, the name of a relation
    Regclass,
    /// `regcollation`, the name of a collation
    Regcollation,
    /// `regtype`, the name of a type
    Regtype,
    /// `regrole`, the name of a role
    Regrole,
    /// `regnamespace`, the name of a schema
    Regnamespace,
    /// `regconfig`, the name of a text search configuration
    Regconfig,
    /// `regdictionary`, the name of a text search dictionary
    Regdictionary,
    /// `name`, an identifier of up to 63 bytes
    Name,
    /// `"char"`, a single byte
    Char,
    /// `character` of any length, whose trailing blanks are insignificant
    Bpchar,
    /// `refcursor`, the name of a cursor
    Refcursor,
    /// `int2vector`, numbers of columns
    Int2Vector,
    /// `oidvector`, object ids
    OidVector,
    /// `pg_lsn`, a place in the log
    PgLsn,
    /// `inet`, an address of a network
    Inet,
    /// `aclitem`, the privileges of a role
    AclItem,
    /// `pg_node_tree`, an expression
    NodeTree,
    /// `cstring`
    Cstring,
    /// `void`, the type of what functions without a value return
    Void,
    /// `jsonpath`
    Jsonpath,
    /// `tid`, the place of a row
    Tid,
}

/// What clients know of a type: its name, its id, that of arrays of it (0 if there are none), and its size (-1 or -2 if it
/// varies).
type Properties = (&'static str, u32, u32, i16);

impl SystemType {
    /// All of them.
    pub const ALL: [Self; 29] = [
        Self::Oid,
        Self::Xid,
        Self::Cid,
        Self::Xid8,
        Self::Regproc,
        Self::Regprocedure,
        Self::Regoper,
        Self::Regoperator,
        Self::Regclass,
        Self::Regcollation,
        Self::Regtype,
        Self::Regrole,
        Self::Regnamespace,
        Self::Regconfig,
        Self::Regdictionary,
        Self::Name,
        Self::Char,
        Self::Bpchar,
        Self::Refcursor,
        Self::Int2Vector,
        Self::OidVector,
        Self::PgLsn,
        Self::Inet,
        Self::AclItem,
        Self::NodeTree,
        Self::Cstring,
        Self::Void,
        Self::Jsonpath,
        Self::Tid,
    ];

    fn properties(self) -> Properties {
        match self {
            Self::Oid => ("oid", 26, 1028, 4),
            Self::Xid => ("xid", 28, 1011, 4),
            Self::Cid => ("cid", 29, 1012, 4),
            Self::Xid8 => ("xid8", 5069, 271, 8),
            Self::Regproc => ("regproc", 24, 1008, 4),
            Self::Regprocedure => ("regprocedure", 2202, 2207, 4),
            Self::Regoper => ("regoper", 2203, 2208, 4),
            Self::Regoperator => ("regoperator", 2204, 2209, 4),
            Self::Regclass => ("regclass", 2205, 2210, 4),
            Self::Regcollation => ("regcollation", 4191, 4192, 4),
            Self::Regtype => ("regtype", 2206, 2211, 4),
            Self::Regrole => ("regrole", 4096, 4097, 4),
            Self::Regnamespace => ("regnamespace", 4089, 4090, 4),
            Self::Regconfig => ("regconfig", 3734, 3735, 4),
            Self::Regdictionary => ("regdictionary", 3769, 3770, 4),
            Self::Name => ("name", 19, 1003, 64),
            Self::Char => ("\"char\"", 18, 1002, 1),
            Self::Bpchar => ("bpchar", 1042, 1014, -1),
            Self::Refcursor => ("refcursor", 1790, 2201, -1),
            Self::Int2Vector => ("int2vector", 22, 1006, -1),
            Self::OidVector => ("oidvector", 30, 1013, -1),
            Self::PgLsn => ("pg_lsn", 3220, 3221, 8),
            Self::Inet => ("inet", 869, 1041, -1),
            Self::AclItem => ("aclitem", 1033, 1034, 12),
            Self::NodeTree => ("pg_node_tree", 194, 0, -1),
            Self::Cstring => ("cstring", 2275, 1263, -2),
            Self::Void => ("void", 2278, 0, 4),
            Self::Jsonpath => ("jsonpath", 4072, 4073, -1),
            Self::Tid => ("tid", 27, 1010, 6),
        }
    }

    /// The name, as statements write it.
    pub fn name(self) -> &'static str {
        self.properties().0
    }

    /// PostgreSQL's id of it.
    pub fn oid(self) -> u32 {
        self.properties().1
    }

    /// PostgreSQL's id of the type of arrays of it; 0 if there is none.
    pub fn array_oid(self) -> u32 {
        self.properties().2
    }

    /// The size of its values in bytes in PostgreSQL; negative if it varies.
    pub fn size(self) -> i16 {
        self.properties().3
    }

    /// The type with an id.
    pub fn of_oid(oid: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|of| of.oid() == oid)
    }

    /// The type with a name, as [`Self::name`] writes it.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|of| of.name() == name)
    }

    /// The Arrow type that holds its values.
    pub fn arrow(self) -> DataType {
        let list = |item| DataType::List(Arc::new(Field::new_list_field(item, true)));
        match self {
            Self::Xid8 => DataType::Int64,
            Self::Int2Vector => list(DataType::Int16),
            Self::OidVector => list(DataType::Int64),
            id if id.is_id() => DataType::Int64,
            _ => DataType::Utf8View,
        }
    }

    /// Whether its values are object ids that are written as names.
    pub fn is_named_id(self) -> bool {
        matches!(
            self,
            Self::Regproc
                | Self::Regprocedure
                | Self::Regoper
                | Self::Regoperator
                | Self::Regclass
                | Self::Regcollation
                | Self::Regtype
                | Self::Regrole
                | Self::Regnamespace
                | Self::Regconfig
                | Self::Regdictionary
        )
    }

    /// Whether its values are ids of 32 bits.
    pub fn is_id(self) -> bool {
        matches!(self, Self::Oid | Self::Xid | Self::Cid) || self.is_named_id()
    }

    /// Whether its values are arrays that are written with blanks between their items.
    pub fn is_vector(self) -> bool {
        matches!(self, Self::Int2Vector | Self::OidVector)
    }

    /// Whether tables can have columns of it. The values of others are texts without an order or an input of their own.
    pub fn is_storable(self) -> bool {
        let is_text = matches!(self, Self::Name | Self::Char | Self::Bpchar | Self::Refcursor);
        self.is_id() || self.is_vector() || self == Self::Xid8 || is_text
    }

    /// Whether its values have an order.
    pub fn is_ordered(self) -> bool {
        let is_unordered =
            matches!(self, Self::Xid | Self::Cid | Self::Int2Vector | Self::Refcursor);
        self.is_storable() && !is_unordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_and_names_are_different() {
        let oids: HashSet<u32> = SystemType::ALL.into_iter().map(SystemType::oid).collect();
        assert_eq!(oids.len(), SystemType::ALL.len());
        for of in SystemType::ALL {
            assert_eq!(SystemType::of_oid(of.oid()), Some(of));
            assert_eq!(SystemType::of_name(of.name()), Some(of));
        }
    }
}
