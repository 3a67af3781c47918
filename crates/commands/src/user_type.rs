//! CREATE TYPE, CREATE DOMAIN, ALTER TYPE and ALTER DOMAIN.

use crate::check::Check;
use crate::collation::refuse_collation_of;
use crate::constraint::{expression, missing_attributes};
use crate::data_type::DataType;
use crate::names::{RelationName, incomplete, some, texts};
use crate::{Error, Result};
use grammar::tree::{
    AlterDomainStmt, AlterEnumStmt, AlterObjectSchemaStmt, AlterTableStmt, AlterTableType,
    CompositeTypeStmt, ConstrType, CreateDomainStmt, CreateEnumStmt, Node, NodeEnum, ObjectType,
    RenameStmt,
};

/// CREATE TYPE ... AS ENUM or CREATE DOMAIN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateType {
    /// The name.
    pub name: RelationName,
    /// What is made.
    pub kind: NewType,
}

/// A new type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewType {
    /// An enum with these labels.
    Enum(Vec<String>),
    /// A composite type with these attributes.
    Composite(Vec<Attribute>),
    /// A domain.
    Domain {
        /// The type that it restricts.
        base: DataType,
        /// Whether it has NULL.
        is_nullable: bool,
        /// DEFAULT.
        default: Option<String>,
        /// CHECK.
        checks: Vec<Check>,
    },
}

/// An attribute of a composite type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// The name.
    pub name: String,
    /// The type.
    pub data_type: DataType,
}

/// A change of an attribute of a composite type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeChange {
    /// ADD ATTRIBUTE.
    Add(Attribute),
    /// DROP ATTRIBUTE.
    Drop {
        /// The name.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER ATTRIBUTE ... TYPE.
    SetType(Attribute),
    /// RENAME ATTRIBUTE.
    Rename {
        /// The name.
        from: String,
        /// The new name.
        to: String,
    },
}

/// ALTER TYPE or ALTER DOMAIN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterType {
    /// The name.
    pub name: RelationName,
    /// Whether the statement says that it is a domain.
    pub is_domain: bool,
    /// The change.
    pub change: TypeChange,
}

/// A change of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeChange {
    /// ADD VALUE.
    AddLabel {
        /// The label.
        label: String,
        /// The neighbour, and whether the label comes behind it.
        neighbour: Option<(String, bool)>,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// RENAME VALUE.
    RenameLabel {
        /// The label.
        from: String,
        /// Its new text.
        to: String,
    },
    /// RENAME TO.
    Rename(String),
    /// SET SCHEMA.
    SetSchema(String),
    /// Changes of the attributes of a composite type.
    Attributes(Vec<AttributeChange>),
    /// SET DEFAULT and DROP DEFAULT of a domain.
    SetDefault(Option<String>),
    /// SET NOT NULL and DROP NOT NULL of a domain.
    SetNullable(bool),
    /// ADD CONSTRAINT of a domain.
    AddCheck(Check),
    /// VALIDATE CONSTRAINT of a domain, by the constraint's name.
    ValidateCheck(String),
    /// DROP CONSTRAINT of a domain.
    DropCheck {
        /// The name.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// RENAME CONSTRAINT of a domain.
    RenameCheck {
        /// The name.
        from: String,
        /// The new name.
        to: String,
    },
}

impl CreateType {
    pub(crate) fn of_enum(statement: &CreateEnumStmt) -> Result<Self> {
        let name = RelationName::of_parts(&texts(&statement.type_name))?;
        Ok(Self { name, kind: NewType::Enum(texts(&statement.vals)) })
    }

    pub(crate) fn of_composite(statement: &CompositeTypeStmt) -> Result<Self> {
        let name = RelationName::of(statement.typevar.as_ref())?;
        let attributes = statement.coldeflist.iter().map(|node| Attribute::of(Some(node)));
        Ok(Self { name, kind: NewType::Composite(attributes.collect::<Result<_>>()?) })
    }

    pub(crate) fn of_domain(statement: &CreateDomainStmt) -> Result<Self> {
        let name = RelationName::of_parts(&texts(&statement.domainname))?;
        let base = DataType::of(statement.type_name.as_ref().ok_or_else(incomplete)?)?;
        if let Some(collation) = &statement.coll_clause {
            refuse_collation_of(collation, &base)?;
        }
        let (mut default, mut checks, mut is_nullable) = (None, Vec::new(), None);
        for node in &statement.constraints {
            let Some(NodeEnum::Constraint(constraint)) = &node.node else {
                return Err(incomplete());
            };
            missing_attributes(constraint)?;
            let nullable = match constraint.contype() {
                ConstrType::ConstrNull => Some(true),
                ConstrType::ConstrNotnull => Some(false),
                ConstrType::ConstrDefault if default.is_some() => {
                    return Err(Error::new("42601", "multiple default expressions"));
                }
                ConstrType::ConstrDefault => {
                    default = Some(expression(constraint)?);
                    None
                }
                ConstrType::ConstrCheck => {
                    let name = some(&constraint.conname);
                    let condition = expression(constraint)?;
                    checks.push(Check { name, condition, is_valid: true });
                    None
                }
                other => return Err(not_of_domains(other).at(constraint.location)),
            };
            if nullable.is_some() {
                if is_nullable.is_some() && is_nullable != nullable {
                    return Err(Error::new("42601", "conflicting NULL/NOT NULL constraints"));
                }
                is_nullable = nullable;
            }
        }
        let is_nullable = is_nullable.unwrap_or(true);
        Ok(Self { name, kind: NewType::Domain { base, is_nullable, default, checks } })
    }
}

impl Attribute {
    fn of(node: Option<&Node>) -> Result<Self> {
        let Some(NodeEnum::ColumnDef(column)) = node.and_then(|node| node.node.as_ref()) else {
            return Err(incomplete());
        };
        let data_type = DataType::of(column.type_name.as_ref().ok_or_else(incomplete)?)?;
        if let Some(collation) = &column.coll_clause {
            refuse_collation_of(collation, &data_type)?;
        }
        Ok(Self { name: column.colname.clone(), data_type })
    }
}

fn not_of_domains(kind: ConstrType) -> Error {
    let what = match kind {
        ConstrType::ConstrUnique => "unique constraints",
        ConstrType::ConstrPrimary => "primary key constraints",
        ConstrType::ConstrExclusion => "exclusion constraints",
        ConstrType::ConstrForeign => "foreign key constraints",
        _ => return Error::missing("this constraint of a domain"),
    };
    Error::new("42601", format!("{what} not possible for domains"))
}

impl AlterType {
    pub(crate) fn of_enum(statement: &AlterEnumStmt) -> Result<Self> {
        let name = RelationName::of_parts(&texts(&statement.type_name))?;
        let change = match some(&statement.old_val) {
            Some(from) => TypeChange::RenameLabel { from, to: statement.new_val.clone() },
            None => TypeChange::AddLabel {
                label: statement.new_val.clone(),
                neighbour: some(&statement.new_val_neighbor)
                    .map(|neighbour| (neighbour, statement.new_val_is_after)),
                if_not_exists: statement.skip_if_new_val_exists,
            },
        };
        Ok(Self { name, is_domain: false, change })
    }

    pub(crate) fn of_domain(statement: &AlterDomainStmt) -> Result<Self> {
        let name = RelationName::of_parts(&texts(&statement.type_name))?;
        let definition = statement.def.as_deref();
        let change = match statement.subtype.as_str() {
            "T" => {
                let text =
                    |node| grammar::expression_text(node).ok_or_else(crate::constraint::too_deep);
                TypeChange::SetDefault(definition.map(text).transpose()?)
            }
            "N" => TypeChange::SetNullable(true),
            "O" => TypeChange::SetNullable(false),
            "C" => match definition.and_then(|node| node.node.as_ref()) {
                Some(NodeEnum::Constraint(constraint))
                    if constraint.contype() == ConstrType::ConstrCheck =>
                {
                    missing_attributes(constraint)?;
                    let (name, condition) = (some(&constraint.conname), expression(constraint)?);
                    let is_valid = !constraint.skip_validation;
                    TypeChange::AddCheck(Check { name, condition, is_valid })
                }
                Some(NodeEnum::Constraint(constraint)) => {
                    return Err(not_of_domains(constraint.contype()).at(constraint.location));
                }
                _ => return Err(incomplete()),
            },
            "X" => {
                let (name, if_exists) = (statement.name.clone(), statement.missing_ok);
                TypeChange::DropCheck { name, if_exists }
            }
            "V" => TypeChange::ValidateCheck(statement.name.clone()),
            _ => return Err(Error::missing("this form of ALTER DOMAIN")),
        };
        Ok(Self { name, is_domain: true, change })
    }

    /// ALTER TYPE ... ADD, DROP and ALTER ATTRIBUTE.
    pub(crate) fn of_composite(statement: &AlterTableStmt) -> Result<Self> {
        let name = RelationName::of(statement.relation.as_ref())?;
        let change = |node: &Node| {
            let Some(NodeEnum::AlterTableCmd(command)) = &node.node else {
                return Err(incomplete());
            };
            let definition = command.def.as_deref();
            Ok(match command.subtype() {
                AlterTableType::AtAddColumn => AttributeChange::Add(Attribute::of(definition)?),
                AlterTableType::AtDropColumn => AttributeChange::Drop {
                    name: command.name.clone(),
                    if_exists: command.missing_ok,
                },
                AlterTableType::AtAlterColumnType => {
                    let attribute = Attribute::of(definition)?;
                    AttributeChange::SetType(Attribute { name: command.name.clone(), ..attribute })
                }
                _ => return Err(Error::missing("this form of ALTER TYPE")),
            })
        };
        let changes = statement.cmds.iter().map(change).collect::<Result<_>>()?;
        Ok(Self { name, is_domain: false, change: TypeChange::Attributes(changes) })
    }

    /// ALTER TYPE ... RENAME and the like. `None` for what is renamed otherwise.
    pub(crate) fn of_rename(statement: &RenameStmt) -> Result<Option<Self>> {
        let to = statement.newname.clone();
        if statement.rename_type() == ObjectType::ObjectAttribute {
            let name = RelationName::of(statement.relation.as_ref())?;
            let change = AttributeChange::Rename { from: statement.subname.clone(), to };
            let change = TypeChange::Attributes(vec![change]);
            return Ok(Some(Self { name, is_domain: false, change }));
        }
        let change = match statement.rename_type() {
            ObjectType::ObjectType | ObjectType::ObjectDomain => TypeChange::Rename(to),
            ObjectType::ObjectDomconstraint => {
                TypeChange::RenameCheck { from: statement.subname.clone(), to }
            }
            _ => return Ok(None),
        };
        let name = type_name(statement.object.as_deref())?;
        let is_domain = statement.rename_type() != ObjectType::ObjectType;
        Ok(Some(Self { name, is_domain, change }))
    }
}

impl AlterType {
    /// ALTER TYPE ... SET SCHEMA and ALTER DOMAIN ... SET SCHEMA. `None` for other objects.
    pub(crate) fn of_set_schema(statement: &AlterObjectSchemaStmt) -> Result<Option<Self>> {
        let is_domain = match statement.object_type() {
            ObjectType::ObjectType => false,
            ObjectType::ObjectDomain => true,
            _ => return Ok(None),
        };
        let name = type_name(statement.object.as_deref())?;
        let change = TypeChange::SetSchema(statement.newschema.clone());
        Ok(Some(Self { name, is_domain, change }))
    }
}

/// The name of a type that a statement is about.
pub(crate) fn type_name(node: Option<&Node>) -> Result<RelationName> {
    match node.and_then(|node| node.node.as_ref()) {
        Some(NodeEnum::TypeName(name)) => RelationName::of_parts(&texts(&name.names)),
        Some(NodeEnum::List(list)) => RelationName::of_parts(&texts(&list.items)),
        _ => Err(incomplete()),
    }
}
