//! Definitions and their changes.

use super::{Malformed, Source, Stable, fields, variants, wrappers};
use crate::serialized::{Definitions, Entry};
use crate::{
    Aggregate, AggregateDetails, AggregateKind, Attribute, Catalog, CatalogChange, CheckOption,
    Column, Domain, DomainCheck, EnumLabel, Extension, Function, FunctionId, Identity, Index,
    IndexColumn, IndexExpression, IndexKey, Modifies, MovingAggregate, Object, OnCommit, Parallel,
    Parameter, ParameterMode, Privileges, Relation, Role, Schema, Sequence, Shared, SqlType,
    SystemType, Timing, Trigger, TriggerEvents, TriggerState, TypeId, UserType, UserTypeKind, View,
    ViewOptions, Volatility,
};

wrappers!(Privileges, TypeId);

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
    55 => User(user),
    56 => System(of),
});

variants!(SystemType {
    0 => Oid,
    1 => Xid,
    2 => Cid,
    3 => Xid8,
    4 => Regproc,
    5 => Regprocedure,
    6 => Regoper,
    7 => Regoperator,
    8 => Regclass,
    9 => Regcollation,
    10 => Regtype,
    11 => Regrole,
    12 => Regnamespace,
    13 => Regconfig,
    14 => Regdictionary,
    15 => Name,
    16 => Char,
    17 => Bpchar,
    18 => Refcursor,
    19 => Int2Vector,
    20 => OidVector,
    21 => PgLsn,
    22 => Inet,
    23 => AclItem,
    24 => NodeTree,
    25 => Cstring,
    26 => Void,
    27 => Jsonpath,
    28 => Tid,
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

/// Without its options.
impl Stable for View {
    fn encode(&self, out: &mut Vec<u8>) {
        let Self { id, schema, name, sql, columns, search_path, comment, options: _ } = self;
        id.encode(out);
        schema.encode(out);
        name.encode(out);
        sql.encode(out);
        columns.encode(out);
        search_path.encode(out);
        comment.encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            id: Stable::decode(from)?,
            schema: Stable::decode(from)?,
            name: Stable::decode(from)?,
            sql: Stable::decode(from)?,
            columns: Stable::decode(from)?,
            search_path: Stable::decode(from)?,
            comment: Stable::decode(from)?,
            options: ViewOptions::default(),
        })
    }
}

/// Without the comments of columns, and what the query reads.
impl Stable for ViewOptions {
    fn encode(&self, out: &mut Vec<u8>) {
        let Self { check, security_invoker, defaults, comments: _, reads: _ } = self;
        check.encode(out);
        security_invoker.encode(out);
        defaults.encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            check: Stable::decode(from)?,
            security_invoker: Stable::decode(from)?,
            defaults: Stable::decode(from)?,
            comments: Vec::new(),
            reads: Vec::new(),
        })
    }
}

variants!(CheckOption {
    0 => Local,
    1 => Cascaded,
});

fields!(Sequence { id, schema, name, start, increment, min, max, cycle, owned_by, comment });

variants!(IndexKey {
    0 => Column(column),
    1 => Expression(expression),
});

fields!(IndexExpression { text, shown, name, sql_type, columns });

fields!(UserType { id, array, schema, name, kind, comment });

const ENUM: u8 = 0;
const DOMAIN: u8 = 1;
const COMPOSITE: u8 = 2;
/// A domain, and then the comments of its conditions.
const COMMENTED_DOMAIN: u8 = 3;
/// A domain, the comments of its conditions, and whether each is valid.
const UNCHECKED_DOMAIN: u8 = 4;

impl Stable for UserTypeKind {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Enum(labels) => {
                out.push(ENUM);
                labels.encode(out);
            }
            Self::Domain(domain) => {
                let comments = domain.checks.iter().map(|check| check.comment.clone());
                let comments: Vec<Option<String>> = comments.collect();
                let are_valid: Vec<bool> =
                    domain.checks.iter().map(|check| check.is_valid).collect();
                let ordinal = match comments.iter().any(Option::is_some) {
                    _ if are_valid.contains(&false) => UNCHECKED_DOMAIN,
                    true => COMMENTED_DOMAIN,
                    false => DOMAIN,
                };
                out.push(ordinal);
                domain.encode(out);
                if ordinal != DOMAIN {
                    comments.encode(out);
                }
                if ordinal == UNCHECKED_DOMAIN {
                    are_valid.encode(out);
                }
            }
            Self::Composite(attributes) => {
                out.push(COMPOSITE);
                attributes.encode(out);
            }
        }
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        match u8::decode(from)? {
            ENUM => Stable::decode(from).map(Self::Enum),
            DOMAIN => Stable::decode(from).map(Self::Domain),
            COMPOSITE => Stable::decode(from).map(Self::Composite),
            ordinal @ (COMMENTED_DOMAIN | UNCHECKED_DOMAIN) => {
                let mut domain = Domain::decode(from)?;
                let comments = Vec::<Option<String>>::decode(from)?;
                for (check, comment) in domain.checks.iter_mut().zip(comments) {
                    check.comment = comment;
                }
                if ordinal == UNCHECKED_DOMAIN {
                    let are_valid = Vec::<bool>::decode(from)?;
                    for (check, is_valid) in domain.checks.iter_mut().zip(are_valid) {
                        check.is_valid = is_valid;
                    }
                }
                Ok(Self::Domain(domain))
            }
            _ => Err(Malformed("a variant of UserTypeKind is unknown")),
        }
    }
}

fields!(Attribute { name, sql_type });

/// Without whether it is new, which ends with the transaction.
impl Stable for EnumLabel {
    fn encode(&self, out: &mut Vec<u8>) {
        let Self { name, order, is_new: _ } = self;
        name.encode(out);
        order.encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        Ok(Self { name: Stable::decode(from)?, order: Stable::decode(from)?, is_new: false })
    }
}

/// Without its comment, and whether it is valid.
impl Stable for DomainCheck {
    fn encode(&self, out: &mut Vec<u8>) {
        let Self { name, expression, is_valid: _, comment: _ } = self;
        name.encode(out);
        expression.encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        let (name, expression) = (Stable::decode(from)?, Stable::decode(from)?);
        Ok(Self { name, expression, is_valid: true, comment: None })
    }
}

fields!(Domain { base, nullable, default, checks });

fields!(IndexColumn { key, descending, nulls_first, operator_class });

/// Without when it is checked, and whether it is a primary key's.
impl Stable for Index {
    fn encode(&self, out: &mut Vec<u8>) {
        let Self {
            file,
            table,
            columns,
            included,
            predicate,
            is_unique,
            nulls_equal,
            is_constraint,
            is_primary: _,
            is_hash,
            timing: _,
        } = self;
        file.encode(out);
        table.encode(out);
        columns.encode(out);
        included.encode(out);
        predicate.encode(out);
        is_unique.encode(out);
        nulls_equal.encode(out);
        is_constraint.encode(out);
        is_hash.encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            file: Stable::decode(from)?,
            table: Stable::decode(from)?,
            columns: Stable::decode(from)?,
            included: Stable::decode(from)?,
            predicate: Stable::decode(from)?,
            is_unique: Stable::decode(from)?,
            nulls_equal: Stable::decode(from)?,
            is_constraint: Stable::decode(from)?,
            is_primary: false,
            is_hash: Stable::decode(from)?,
            timing: Timing::NotDeferrable,
        })
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
    55 => CreateType(user),
    56 => ReplaceType(user),
    57 => DropType(id),
    60 => PutFunction(function),
    61 => DropFunction(id),
    70 => PutTrigger(trigger),
    71 => DropTrigger { table, id },
    90 => PutExtended(function, extension),
    91 => PutAggregate(function, extension, details),
    95 => PutComment { on, comment },
});

variants!(Shared {
    0 => Database,
    1 => Role(name),
});

variants!(ParameterMode {
    0 => In,
    1 => Out,
    2 => InOut,
    3 => Variadic,
    4 => Table,
});

variants!(Volatility {
    0 => Immutable,
    1 => Stable,
    2 => Volatile,
});

variants!(Parallel {
    0 => Unsafe,
    1 => Restricted,
    2 => Safe,
});

fields!(Parameter { name, mode, type_id, default });

/// Without its extension, which is a value of its own.
impl Stable for Function {
    fn encode(&self, out: &mut Vec<u8>) {
        self.id.encode(out);
        self.schema.encode(out);
        self.name.encode(out);
        self.is_procedure.encode(out);
        self.language.encode(out);
        self.parameters.encode(out);
        self.result_id.encode(out);
        self.result_relation.encode(out);
        self.returns_set.encode(out);
        self.body.encode(out);
        self.is_sql_body.encode(out);
        self.volatility.encode(out);
        self.is_strict.encode(out);
        self.is_security_definer.encode(out);
        self.is_leakproof.encode(out);
        self.parallel.encode(out);
        self.cost.encode(out);
        self.rows.encode(out);
        self.settings.encode(out);
        self.comment.encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            id: Stable::decode(from)?,
            schema: Stable::decode(from)?,
            name: Stable::decode(from)?,
            is_procedure: Stable::decode(from)?,
            language: Stable::decode(from)?,
            parameters: Stable::decode(from)?,
            result_id: Stable::decode(from)?,
            result_relation: Stable::decode(from)?,
            returns_set: Stable::decode(from)?,
            body: Stable::decode(from)?,
            is_sql_body: Stable::decode(from)?,
            volatility: Stable::decode(from)?,
            is_strict: Stable::decode(from)?,
            is_security_definer: Stable::decode(from)?,
            is_leakproof: Stable::decode(from)?,
            parallel: Stable::decode(from)?,
            cost: Stable::decode(from)?,
            rows: Stable::decode(from)?,
            settings: Stable::decode(from)?,
            comment: Stable::decode(from)?,
            extension: Extension::default(),
        })
    }
}

variants!(FunctionId {
    0 => User(id),
    1 => System(oid),
});

fields!(Aggregate { transition, state_id, initial, combine, finish });

/// Without what only some aggregates have, which follows where it is encoded.
impl Stable for Extension {
    fn encode(&self, out: &mut Vec<u8>) {
        self.symbol.encode(out);
        self.aggregate.encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        let (symbol, aggregate) = (Stable::decode(from)?, Stable::decode(from)?);
        Ok(Self { symbol, aggregate, details: AggregateDetails::default() })
    }
}

variants!(AggregateKind {
    0 => Normal,
    1 => OrderedSet,
    2 => Hypothetical,
});

variants!(Modifies {
    0 => Never,
    1 => Shareable,
    2 => Always,
});

fields!(MovingAggregate { transition, inverse, state_id, initial, finish, space });

fields!(AggregateDetails {
    kind,
    direct_arguments,
    finish_takes_all,
    modifies,
    sort_operator,
    space,
    moving,
    moving_takes_all,
    moving_modifies,
});

variants!(TriggerState {
    0 => Enabled,
    1 => Disabled,
    2 => Replica,
    3 => Always,
});

fields!(TriggerEvents { insert, update, delete, truncate });

/// The ordinal of a trigger among relations.
const TRIGGER: u8 = 70;

/// The ordinal of a function among relations.
const FUNCTION: u8 = 60;

/// The ordinal of a function with an extension among relations.
const EXTENDED: u8 = 90;

/// The ordinal of an aggregate with details among relations.
const DETAILED: u8 = 91;

/// The ordinal of a comment on what is in no schema among relations.
const COMMENT: u8 = 95;

/// Schemas, relations, roles and the role of everybody, in order. Functions, triggers and comments on
/// what is in no schema follow the relations, and are counted with them: catalogs without them have
/// the form that they had before there were any.
impl Stable for Definitions {
    fn encode(&self, out: &mut Vec<u8>) {
        self.schemas.encode(out);
        let others = self.functions.len() + self.triggers.len() + self.comments.len();
        ((self.relations.len() + others) as u32).encode(out);
        self.relations.iter().for_each(|relation| relation.encode(out));
        for function in &self.functions {
            let is_extended = function.extension != Extension::default();
            let is_detailed = function.extension.details != AggregateDetails::default();
            out.push(match (is_detailed, is_extended) {
                (true, _) => DETAILED,
                (false, true) => EXTENDED,
                (false, false) => FUNCTION,
            });
            function.encode(out);
            if is_extended {
                function.extension.encode(out);
            }
            if is_detailed {
                function.extension.details.encode(out);
            }
        }
        for trigger in &self.triggers {
            out.push(TRIGGER);
            trigger.encode(out);
        }
        for (on, comment) in &self.comments {
            out.push(COMMENT);
            on.encode(out);
            comment.encode(out);
        }
        self.roles.encode(out);
        self.public.encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        let schemas = Stable::decode(from)?;
        let (mut relations, mut functions, mut triggers) = (Vec::new(), Vec::new(), Vec::new());
        let mut comments = Vec::new();
        for _ in 0..u32::decode(from)? {
            if from.next_is(FUNCTION) {
                from.take(1)?;
                functions.push(Function::decode(from)?);
            } else if from.next_is(EXTENDED) {
                from.take(1)?;
                let function = Function::decode(from)?;
                functions.push(Function { extension: Extension::decode(from)?, ..function });
            } else if from.next_is(DETAILED) {
                from.take(1)?;
                let function = Function::decode(from)?;
                let extension = Extension::decode(from)?;
                let extension = Extension { details: Stable::decode(from)?, ..extension };
                functions.push(Function { extension, ..function });
            } else if from.next_is(TRIGGER) {
                from.take(1)?;
                triggers.push(Trigger::decode(from)?);
            } else if from.next_is(COMMENT) {
                from.take(1)?;
                comments.push((Shared::decode(from)?, String::decode(from)?));
            } else {
                relations.push(Entry::decode(from)?);
            }
        }
        let (roles, public) = (Stable::decode(from)?, Stable::decode(from)?);
        Ok(Self { schemas, relations, roles, public, functions, triggers, comments })
    }
}

/// The ordinal of a type among relations.
const TYPE: u8 = 55;

/// A relation as it is, or the ordinal of a type and the type.
impl Stable for Entry {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Relation(relation) => relation.encode(out),
            Self::Type(user) => {
                out.push(TYPE);
                user.encode(out);
            }
        }
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        if from.next_is(TYPE) {
            from.take(1)?;
            return UserType::decode(from).map(Self::Type);
        }
        Relation::decode(from).map(Self::Relation)
    }
}

/// As its definitions: the index of names is rebuilt.
impl Stable for Catalog {
    fn encode(&self, out: &mut Vec<u8>) {
        Definitions::from(self.clone()).encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        Definitions::decode(from).map(Self::from)
    }
}
