//! The types of PostgreSQL's system catalog.

use super::rows;
use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, PoisonError, RwLock};

/// The object id of a type, function or operator in PostgreSQL's system catalogs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid(pub u32);

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Defines the ids of types that the rules of the analysis name.
macro_rules! types {
    ($($name:ident = $oid:literal),* $(,)?) => {
        impl Oid {
            $(#[doc = concat!("The type `", stringify!($name), "`.")] pub const $name: Self = Self($oid);)*
        }
    };
}

types! {
    BOOL = 16, BYTEA = 17, CHAR = 18, NAME = 19, INT8 = 20, INT2 = 21, INT4 = 23, REGPROC = 24, TEXT = 25, OID = 26,
    TID = 27, XID = 28, CID = 29, JSON = 114, FLOAT4 = 700, FLOAT8 = 701, UNKNOWN = 705, MONEY = 790, BPCHAR = 1042,
    VARCHAR = 1043, DATE = 1082, TIME = 1083, TIMESTAMP = 1114, TIMESTAMPTZ = 1184, INTERVAL = 1186, TIMETZ = 1266,
    BIT = 1560, VARBIT = 1562, NUMERIC = 1700, REGCLASS = 2205, REGTYPE = 2206, UUID = 2950, JSONB = 3802,
    JSONPATH = 4072, RECORD = 2249, RECORD_ARRAY = 2287, VOID = 2278, ANY = 2276, ANYELEMENT = 2283, ANYARRAY = 2277,
    ANYNONARRAY = 2776, ANYENUM = 3500, ANYRANGE = 3831, ANYMULTIRANGE = 4537, ANYCOMPATIBLE = 5077,
    ANYCOMPATIBLEARRAY = 5078, ANYCOMPATIBLENONARRAY = 5079, ANYCOMPATIBLERANGE = 5080,
    ANYCOMPATIBLEMULTIRANGE = 4538, TEXT_ARRAY = 1009, INT4_ARRAY = 1007,
    INT2VECTOR = 22, OIDVECTOR = 30, REFCURSOR = 1790, TRIGGER = 2279, CSTRING = 2275,
}

/// The kind of a type (`pg_type.typtype`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeKind {
    /// A base type.
    Base,
    /// A pseudo-type: polymorphic, or without values.
    Pseudo,
    /// A range or multirange type.
    Range,
    /// An enum of users.
    Enum,
    /// A domain of users.
    Domain,
    /// A composite type of users, also that of the rows of a relation.
    Composite,
}

/// One row of `pg_type`.
#[derive(Debug, Clone)]
pub struct Type {
    /// The id.
    pub oid: Oid,
    /// The name in the catalog, such as `int4`.
    pub name: &'static str,
    /// The kind.
    pub kind: TypeKind,
    /// The category, such as `N` for numbers.
    pub category: char,
    /// Whether its category's values convert to it by preference.
    pub preferred: bool,
    /// The type of the items, for arrays.
    pub element: Option<Oid>,
    /// The type of arrays of it.
    pub array: Option<Oid>,
    /// The type that a domain restricts.
    pub base: Option<SqlType>,
    /// The names and types of the attributes of a composite type.
    pub attributes: Vec<(String, SqlType)>,
}

struct Types {
    by_oid: HashMap<Oid, Type>,
    by_name: HashMap<&'static str, Oid>,
}

static TYPES: LazyLock<Types> = LazyLock::new(|| {
    let mut by_oid = HashMap::new();
    let mut by_name = HashMap::new();
    for row in rows(include_str!("../data/types.tsv")) {
        let oid = row.oid(0);
        let length = row.text(2);
        let element = row.some_oid(6);
        let type_ = Type {
            oid,
            name: row.text(1),
            kind: match row.text(3) {
                "p" => TypeKind::Pseudo,
                "r" | "m" => TypeKind::Range,
                _ => TypeKind::Base,
            },
            category: row.letter(4),
            preferred: row.flag(5),
            // Types of fixed length, such as name and point, have items but are no arrays.
            element: element
                .filter(|_| length == "-1" && (row.letter(4) == 'A' || oid == Oid::RECORD_ARRAY)),
            array: row.some_oid(7),
            base: None,
            attributes: Vec::new(),
        };
        by_name.insert(type_.name, oid);
        by_oid.insert(oid, type_);
    }
    Types { by_oid, by_name }
});

/// The types of users that statements have named. Their ids are numbers of this process, so that two databases in it do
/// not disturb each other.
static OF_USERS: RwLock<Vec<&'static Type>> = RwLock::new(Vec::new());

/// The first id of a user's type.
const FIRST_OF_USERS: u32 = 1 << 31;

/// What a user's type is.
#[derive(Debug, Clone)]
pub enum UserKind {
    /// An enum.
    Enum,
    /// A domain over a type.
    Domain(SqlType),
    /// A composite type with these attributes.
    Composite(Vec<(String, SqlType)>),
}

/// Adds a user's type and the type of its arrays. What is added stays: the caller adds each definition once.
pub fn add_type_of_user(name: String, user: UserKind) -> Oid {
    let (kind, category, base, attributes) = match user {
        UserKind::Enum => (TypeKind::Enum, 'E', None, Vec::new()),
        UserKind::Domain(base) => (TypeKind::Domain, base.oid.category(), Some(base), Vec::new()),
        UserKind::Composite(attributes) => (TypeKind::Composite, 'C', None, attributes),
    };
    let mut known = OF_USERS.write().unwrap_or_else(PoisonError::into_inner);
    let oid = Oid(FIRST_OF_USERS + known.len() as u32);
    let array = Oid(oid.0 + 1);
    let array_name = format!("_{name}").leak();
    known.push(Box::leak(Box::new(Type {
        oid,
        name: name.leak(),
        kind,
        category,
        preferred: false,
        element: None,
        array: Some(array),
        base,
        attributes,
    })));
    known.push(Box::leak(Box::new(Type {
        oid: array,
        name: array_name,
        kind: TypeKind::Base,
        category: 'A',
        preferred: false,
        element: Some(oid),
        array: None,
        base: None,
        attributes: Vec::new(),
    })));
    oid
}

/// The composite types of tables of a type (OF), by the types of the tables' rows.
static TYPED: LazyLock<RwLock<HashMap<Oid, Oid>>> = LazyLock::new(RwLock::default);

/// Notes which composite type a table is of, so that its rows are values of it, too. `rows` is the type of its rows.
pub fn note_typed(rows: Oid, of: Option<Oid>) {
    if rows.of_type() == of {
        return;
    }
    let mut typed = TYPED.write().unwrap_or_else(PoisonError::into_inner);
    match of {
        Some(of) => typed.insert(rows, of),
        None => typed.remove(&rows),
    };
}

impl Oid {
    /// The composite type that a table is of, for the type of its rows.
    pub fn of_type(self) -> Option<Self> {
        if !self.is_of_users() {
            return None;
        }
        TYPED.read().unwrap_or_else(PoisonError::into_inner).get(&self).copied()
    }

    /// The definition of a type. `None` for an id that is no type of the catalog.
    pub fn definition(self) -> Option<&'static Type> {
        if let Some(place) = self.0.checked_sub(FIRST_OF_USERS) {
            let known = OF_USERS.read().unwrap_or_else(PoisonError::into_inner);
            return known.get(place as usize).copied();
        }
        TYPES.by_oid.get(&self)
    }

    /// Whether it is a type of users, or of arrays of one.
    pub fn is_of_users(self) -> bool {
        self.0 >= FIRST_OF_USERS
    }

    /// Whether it is a range or multirange type.
    pub fn is_range(self) -> bool {
        self.definition().is_some_and(|known| known.kind == TypeKind::Range)
    }

    /// Whether it is an enum.
    pub fn is_enum(self) -> bool {
        self.is_of_users() && self.definition().is_some_and(|known| known.kind == TypeKind::Enum)
    }

    /// The names and types of the attributes of a composite type; `None` for other types.
    pub fn attributes(self) -> Option<&'static [(String, SqlType)]> {
        let known = self.definition().filter(|_| self.is_of_users())?;
        (known.kind == TypeKind::Composite).then_some(known.attributes.as_slice())
    }

    /// Whether it is a composite type.
    pub fn is_composite(self) -> bool {
        self.attributes().is_some()
    }

    /// Whether values are rows: of a composite type, or of `record`.
    pub fn is_row(self) -> bool {
        self == Self::RECORD || self.is_composite()
    }

    /// Whether values have labels of enums: it is an enum, or there is one among its attributes or items.
    pub fn has_labels(self) -> bool {
        let base = self.base();
        let of_attributes = || {
            let attributes = base.attributes().unwrap_or_default();
            attributes.iter().any(|(_, sql_type)| sql_type.oid.has_labels())
        };
        base.is_of_users()
            && (base.is_enum() || base.element().is_some_and(Self::has_labels) || of_attributes())
    }

    /// The type below a domain, through all domains; other types are their own.
    pub fn base(self) -> Self {
        SqlType::plain(self).base().oid
    }

    /// The type of a catalog name such as `int4`.
    pub fn of_type_name(name: &str) -> Option<Self> {
        TYPES.by_name.get(name).copied()
    }

    /// The category of a type; `X` if it is unknown.
    pub fn category(self) -> char {
        self.definition().map_or('X', |definition| definition.category)
    }

    /// Whether a type is preferred in its category.
    pub fn is_preferred(self) -> bool {
        self.definition().is_some_and(|definition| definition.preferred)
    }

    /// The type of the items of an array type.
    pub fn element(self) -> Option<Self> {
        self.definition()?.element
    }

    /// The type of arrays of a type.
    pub fn array(self) -> Option<Self> {
        self.definition()?.array
    }

    /// Whether it is a polymorphic pseudo-type.
    pub fn is_polymorphic(self) -> bool {
        self.is_polymorphic_exact() || self.is_polymorphic_common()
    }

    /// Whether arguments of this pseudo-type are ranges or multiranges.
    pub fn is_polymorphic_range(self) -> bool {
        matches!(
            self,
            Self::ANYRANGE
                | Self::ANYMULTIRANGE
                | Self::ANYCOMPATIBLERANGE
                | Self::ANYCOMPATIBLEMULTIRANGE
        )
    }

    /// Whether all arguments of this pseudo-type must have the same type (`anyelement` and its family).
    pub fn is_polymorphic_exact(self) -> bool {
        matches!(
            self,
            Self::ANYELEMENT
                | Self::ANYARRAY
                | Self::ANYNONARRAY
                | Self::ANYENUM
                | Self::ANYRANGE
                | Self::ANYMULTIRANGE
        )
    }

    /// Whether arguments of this pseudo-type are converted to a common type (`anycompatible` and its family).
    pub fn is_polymorphic_common(self) -> bool {
        matches!(
            self,
            Self::ANYCOMPATIBLE
                | Self::ANYCOMPATIBLEARRAY
                | Self::ANYCOMPATIBLENONARRAY
                | Self::ANYCOMPATIBLERANGE
                | Self::ANYCOMPATIBLEMULTIRANGE
        )
    }

    /// The name in the catalog.
    pub fn catalog_name(self) -> &'static str {
        self.definition().map_or("???", |definition| definition.name)
    }
}

/// A type with its modifier (`pg_attribute.atttypmod`), such as the length of `varchar(10)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SqlType {
    /// The type.
    pub oid: Oid,
    /// The modifier; -1 if there is none.
    pub modifier: i32,
}

impl SqlType {
    /// The type below a domain, with its modifier; other types are their own.
    pub fn base(self) -> Self {
        if !self.oid.is_of_users() {
            return self;
        }
        match self.oid.definition().and_then(|known| known.base) {
            Some(base) => base.base(),
            None => self,
        }
    }

    /// A type without a modifier.
    pub const fn plain(oid: Oid) -> Self {
        Self { oid, modifier: -1 }
    }
}

impl From<Oid> for SqlType {
    fn from(oid: Oid) -> Self {
        Self::plain(oid)
    }
}

/// How PostgreSQL writes the name of a type in messages (`format_type`).
impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::BPCHAR {
            return f.write_str("character");
        }
        SqlType::plain(*self).fmt(f)
    }
}

impl fmt::Display for SqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(element) = self.oid.element() {
            let element = Self { oid: element, modifier: self.modifier };
            return write!(f, "{element}[]");
        }
        let modifier = self.modifier;
        match self.oid {
            Oid::BOOL => f.write_str("boolean"),
            Oid::INT2 => f.write_str("smallint"),
            Oid::INT4 => f.write_str("integer"),
            Oid::INT8 => f.write_str("bigint"),
            Oid::FLOAT4 => f.write_str("real"),
            Oid::FLOAT8 => f.write_str("double precision"),
            Oid::CHAR => f.write_str("\"char\""),
            Oid::BPCHAR if modifier >= 4 => write!(f, "character({})", modifier - 4),
            Oid::VARCHAR if modifier >= 4 => write!(f, "character varying({})", modifier - 4),
            Oid::VARCHAR => f.write_str("character varying"),
            Oid::BIT => f.write_str("bit"),
            Oid::VARBIT => f.write_str("bit varying"),
            Oid::NUMERIC if modifier >= 4 => {
                let (precision, scale) = numeric_digits(modifier);
                write!(f, "numeric({precision},{scale})")
            }
            Oid::INTERVAL if modifier >= 0 => write_interval(f, modifier),
            Oid::TIME | Oid::TIMESTAMP | Oid::TIMETZ | Oid::TIMESTAMPTZ => {
                let (name, zone) = match self.oid {
                    Oid::TIME => ("time", "without"),
                    Oid::TIMESTAMP => ("timestamp", "without"),
                    Oid::TIMETZ => ("time", "with"),
                    _ => ("timestamp", "with"),
                };
                f.write_str(name)?;
                if modifier >= 0 {
                    write!(f, "({modifier})")?;
                }
                write!(f, " {zone} time zone")
            }
            other => f.write_str(other.catalog_name()),
        }
    }
}

/// Writes `interval` with the fields and precision of a modifier.
fn write_interval(f: &mut fmt::Formatter<'_>, modifier: i32) -> fmt::Result {
    const FIELDS: [(i32, &str); 6] =
        [(2, "year"), (1, "month"), (3, "day"), (10, "hour"), (11, "minute"), (12, "second")];
    let has = |bit: &i32| (modifier >> 16) & (1 << bit) != 0;
    let mut named = FIELDS.iter().filter(|(bit, _)| has(bit)).map(|(_, name)| *name);
    f.write_str("interval")?;
    // All fields are no restriction.
    if (modifier >> 16) & 0x7fff != 0x7fff
        && let Some(first) = named.next()
    {
        write!(f, " {first}")?;
        if let Some(last) = named.next_back() {
            write!(f, " to {last}")?;
        }
    }
    match modifier & 0xffff {
        0xffff => Ok(()),
        precision => write!(f, "({precision})"),
    }
}

/// The precision and scale of a modifier of `numeric`.
pub fn numeric_digits(modifier: i32) -> (i32, i32) {
    let digits = modifier - 4;
    // The scale has 11 bits and a sign.
    (digits >> 16, ((digits & 0x7ff) ^ 1024) - 1024)
}

/// The modifier of `numeric(precision, scale)`.
pub fn numeric_modifier(precision: i32, scale: i32) -> i32 {
    ((precision << 16) | (scale & 0x7ff)) + 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_know_their_items() {
        assert_eq!(Oid::TEXT_ARRAY.element(), Some(Oid::TEXT));
        assert_eq!(Oid::TEXT.array(), Some(Oid::TEXT_ARRAY));
        assert_eq!(Oid::NAME.element(), None);
    }

    #[test]
    fn names_are_those_of_format_type() {
        let numeric = SqlType { oid: Oid::NUMERIC, modifier: numeric_modifier(10, -2) };
        assert_eq!(numeric.to_string(), "numeric(10,-2)");
        assert_eq!(SqlType { oid: Oid(1015), modifier: 9 }.to_string(), "character varying(5)[]");
        assert_eq!(Oid::TIMESTAMPTZ.to_string(), "timestamp with time zone");
    }
}
