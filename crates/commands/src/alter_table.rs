//! ALTER TABLE.

use crate::collation::refuse_collation;
use crate::column::ColumnDefinition;
use crate::constraint::{TableConstraint, too_deep};
use crate::data_type::DataType;
use crate::identity::IdentityChange;
use crate::names::{ObjectKind, RelationName, incomplete, node, words_of};
use crate::roles::{RoleName, RoleStatement};
use crate::storage_options::{self, Stored};
use crate::trigger::TriggerSwitch;
use crate::view_options::ViewOptions;
use crate::{Error, Result};
use grammar::expression_text;
use grammar::tree::{
    AlterTableCmd, AlterTableStmt, AlterTableType, AtAlterConstraint, ColumnDef, DropBehavior,
    NodeEnum,
};

/// ALTER TABLE, and what is written as ALTER of another relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterTable {
    /// What the statement says that it alters.
    pub kind: ObjectKind,
    /// The name.
    pub name: RelationName,
    /// IF EXISTS.
    pub if_exists: bool,
    /// The operations.
    pub operations: Vec<AlterOperation>,
}

impl AlterTable {
    /// Whether it sets options of storage alone.
    pub fn is_of_storage(&self) -> bool {
        self.operations.iter().all(|of| matches!(of, AlterOperation::SetStorage))
    }
}

/// An operation of ALTER TABLE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlterOperation {
    /// ADD COLUMN.
    AddColumn {
        /// The column.
        column: Box<ColumnDefinition>,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// DROP COLUMN.
    DropColumn {
        /// The column.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
        /// CASCADE.
        cascade: bool,
    },
    /// ALTER COLUMN ... TYPE.
    SetType {
        /// The column.
        column: String,
        /// The new type.
        data_type: DataType,
        /// USING.
        using: Option<String>,
    },
    /// ALTER COLUMN ... SET DEFAULT or DROP DEFAULT.
    SetDefault {
        /// The column.
        column: String,
        /// The new default.
        value: Option<String>,
    },
    /// ALTER COLUMN ... SET NOT NULL or DROP NOT NULL.
    SetNullable {
        /// The column.
        column: String,
        /// Whether it may be NULL.
        is_nullable: bool,
    },
    /// ALTER COLUMN with an operation on its identity.
    Identity {
        /// The column.
        column: String,
        /// The operation.
        change: IdentityChange,
    },
    /// ADD of a constraint.
    AddConstraint(TableConstraint),
    /// DROP CONSTRAINT.
    DropConstraint {
        /// The constraint.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
        /// CASCADE.
        cascade: bool,
    },
    /// VALIDATE CONSTRAINT.
    ValidateConstraint(String),
    /// ALTER CONSTRAINT of a foreign key.
    AlterConstraint {
        /// The constraint.
        name: String,
        /// DEFERRABLE.
        is_deferrable: bool,
        /// INITIALLY DEFERRED.
        is_deferred: bool,
    },
    /// ENABLE or DISABLE TRIGGER.
    SwitchTriggers(TriggerSwitch),
    /// SET or RESET of options of a view.
    SetViewOptions(ViewOptions),
    /// OF a composite type, or NOT OF.
    SetOf(Option<DataType>),
    /// SET or RESET of options of storage, which change nothing.
    SetStorage,
}

/// ALTER TABLE, or ALTER ... OWNER TO.
pub(crate) enum Altered {
    Table(AlterTable),
    Owner(RoleStatement),
}

impl Altered {
    pub(crate) fn of(statement: &AlterTableStmt) -> Result<Self> {
        let Some(kind) = ObjectKind::of(statement.objtype()) else {
            return Err(Error::missing(format!("ALTER {}", words_of(statement.objtype()))));
        };
        let name = RelationName::of(statement.relation.as_ref())?;
        let if_exists = statement.missing_ok;
        let mut operations = Vec::new();
        for operation in &statement.cmds {
            let NodeEnum::AlterTableCmd(operation) = node(Some(operation))? else {
                return Err(incomplete());
            };
            if operation.subtype() == AlterTableType::AtChangeOwner {
                let [_] = statement.cmds.as_slice() else {
                    return Err(Error::missing("OWNER TO with other operations"));
                };
                let owner = operation.newowner.as_ref().map(RoleName::of).ok_or_else(incomplete)?;
                let name = name.schema.into_iter().chain([name.name]).collect();
                return Ok(Self::Owner(RoleStatement::Owner { kind, name, owner, if_exists }));
            }
            operations.push(read(kind, &name.name, operation)?);
        }
        Ok(Self::Table(AlterTable { kind, name, if_exists, operations }))
    }
}

fn read(kind: ObjectKind, table: &str, operation: &AlterTableCmd) -> Result<AlterOperation> {
    let definition = || node(operation.def.as_deref());
    let (name, cascade) =
        (operation.name.clone(), operation.behavior() == DropBehavior::DropCascade);
    if let Some(change) = IdentityChange::of(operation)? {
        return Ok(AlterOperation::Identity { column: name, change });
    }
    if let Some(switch) = TriggerSwitch::of(operation) {
        return Ok(AlterOperation::SwitchTriggers(switch));
    }
    if matches!(kind, ObjectKind::View)
        && let Some(options) = ViewOptions::altered(operation)?
    {
        return Ok(AlterOperation::SetViewOptions(options));
    }
    if is_of_storage(kind, operation)? {
        return Ok(AlterOperation::SetStorage);
    }
    Ok(match operation.subtype() {
        AlterTableType::AtAddColumn => {
            let NodeEnum::ColumnDef(column) = definition()? else { return Err(incomplete()) };
            let column = Box::new(ColumnDefinition::of(table, column)?);
            AlterOperation::AddColumn { column, if_not_exists: operation.missing_ok }
        }
        AlterTableType::AtDropColumn => {
            AlterOperation::DropColumn { name, if_exists: operation.missing_ok, cascade }
        }
        AlterTableType::AtAlterColumnType => {
            let NodeEnum::ColumnDef(column) = definition()? else { return Err(incomplete()) };
            new_type(name, column)?
        }
        AlterTableType::AtColumnDefault => {
            let value = operation.def.as_deref();
            let value = value.map(|value| expression_text(value).ok_or_else(too_deep));
            AlterOperation::SetDefault { column: name, value: value.transpose()? }
        }
        AlterTableType::AtSetNotNull => {
            AlterOperation::SetNullable { column: name, is_nullable: false }
        }
        AlterTableType::AtDropNotNull => {
            AlterOperation::SetNullable { column: name, is_nullable: true }
        }
        AlterTableType::AtAddConstraint => {
            let NodeEnum::Constraint(constraint) = definition()? else { return Err(incomplete()) };
            AlterOperation::AddConstraint(TableConstraint::of(constraint)?)
        }
        AlterTableType::AtDropConstraint => {
            AlterOperation::DropConstraint { name, if_exists: operation.missing_ok, cascade }
        }
        AlterTableType::AtValidateConstraint => AlterOperation::ValidateConstraint(name),
        AlterTableType::AtAlterConstraint => {
            let NodeEnum::AtalterConstraint(altered) = definition()? else {
                return Err(incomplete());
            };
            altered_constraint(altered)?
        }
        AlterTableType::AtAddOf => {
            let NodeEnum::TypeName(of) = definition()? else { return Err(incomplete()) };
            AlterOperation::SetOf(Some(DataType::of(of)?))
        }
        AlterTableType::AtDropOf => AlterOperation::SetOf(None),
        other => return Err(Error::missing(format!("{} {}", kind.alter_tag(), words(other)))),
    })
}

/// Whether an operation sets options of storage.
fn is_of_storage(kind: ObjectKind, operation: &AlterTableCmd) -> Result<bool> {
    match kind {
        ObjectKind::Index => {
            storage_options::is_altered(operation, Stored::Index { is_hash: false })
        }
        ObjectKind::Table | ObjectKind::MaterializedView => {
            storage_options::is_altered(operation, Stored::Table)
        }
        _ => Ok(false),
    }
}

fn new_type(name: String, column: &ColumnDef) -> Result<AlterOperation> {
    if let Some(collation) = &column.coll_clause {
        refuse_collation(collation)?;
    }
    let type_name = column.type_name.as_ref().ok_or_else(incomplete)?;
    let using = column.raw_default.as_deref();
    let using = using.map(|using| expression_text(using).ok_or_else(too_deep));
    let data_type = DataType::of(type_name)?;
    Ok(AlterOperation::SetType { column: name, data_type, using: using.transpose()? })
}

fn altered_constraint(altered: &AtAlterConstraint) -> Result<AlterOperation> {
    if !altered.alter_deferrability {
        return Err(Error::missing("this form of ALTER CONSTRAINT"));
    }
    Ok(AlterOperation::AlterConstraint {
        name: altered.conname.clone(),
        is_deferrable: altered.deferrable,
        is_deferred: altered.initdeferred,
    })
}

/// An operation in PostgreSQL's words.
fn words(operation: AlterTableType) -> String {
    use AlterTableType as Type;
    let of_column = matches!(
        operation,
        Type::AtAddIdentity
            | Type::AtSetIdentity
            | Type::AtDropIdentity
            | Type::AtSetExpression
            | Type::AtDropExpression
            | Type::AtSetStatistics
            | Type::AtSetStorage
            | Type::AtSetCompression
            | Type::AtSetOptions
            | Type::AtResetOptions
    );
    let mut text = if of_column { "ALTER COLUMN ...".to_owned() } else { String::new() };
    // AT_ValidateConstraint, AT_EnableTrigAll
    for letter in operation.as_str_name().trim_start_matches("AT_").chars() {
        if letter.is_uppercase() {
            text.push(' ');
        }
        text.push(letter.to_ascii_uppercase());
    }
    let text = text.trim_start().replace(" UN ", " UN").replace("TRIG", "TRIGGER");
    text.replace("REL OPTIONS", "(...)").replace("ROW SECURITY", "ROW LEVEL SECURITY")
}
