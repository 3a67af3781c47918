//! CREATE, ALTER, DROP and COMMENT ON of triggers.

use crate::names::{RelationName, incomplete, node, some, texts};
use crate::{Error, Result};
use grammar::expression_text;
use grammar::tree::{
    AlterTableCmd, AlterTableType, CommentStmt, CreateTrigStmt, DropStmt, Node, NodeEnum,
    ObjectType,
};

/// PostgreSQL's bits of timings and events.
const BEFORE: i32 = 2;
const INSERT: i32 = 4;
const DELETE: i32 = 8;
const UPDATE: i32 = 16;
const TRUNCATE: i32 = 32;
const INSTEAD: i32 = 64;

/// A statement that changes the definition of a trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriggerDefinition {
    /// CREATE TRIGGER.
    Create(Box<CreateTrigger>),
    /// DROP TRIGGER.
    Drop {
        /// The trigger.
        trigger: TriggerName,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER TRIGGER ... RENAME TO.
    Rename {
        /// The trigger.
        trigger: TriggerName,
        /// The new name.
        to: String,
    },
    /// COMMENT ON TRIGGER.
    Comment {
        /// The trigger.
        trigger: TriggerName,
        /// The text; `None` removes it.
        text: Option<String>,
    },
}

/// A trigger as statements name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerName {
    /// The table.
    pub table: RelationName,
    /// The name.
    pub name: String,
}

/// CREATE TRIGGER.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateTrigger {
    /// The name.
    pub trigger: TriggerName,
    /// OR REPLACE.
    pub replaces: bool,
    /// BEFORE; otherwise AFTER or INSTEAD OF.
    pub is_before: bool,
    /// INSTEAD OF.
    pub is_instead: bool,
    /// When a constraint trigger fires; `None` for other triggers.
    pub constraint: Option<ConstraintTiming>,
    /// OLD TABLE of REFERENCING: the name of the old rows.
    pub old_table: Option<String>,
    /// NEW TABLE of REFERENCING: the name of the new rows.
    pub new_table: Option<String>,
    /// FOR EACH ROW; otherwise FOR EACH STATEMENT.
    pub is_row: bool,
    /// INSERT.
    pub insert: bool,
    /// UPDATE.
    pub update: bool,
    /// DELETE.
    pub delete: bool,
    /// TRUNCATE.
    pub truncate: bool,
    /// The columns of UPDATE OF.
    pub columns: Vec<String>,
    /// WHEN.
    pub condition: Option<String>,
    /// The function.
    pub function: RelationName,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// When a constraint trigger fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConstraintTiming {
    /// DEFERRABLE.
    pub is_deferrable: bool,
    /// INITIALLY DEFERRED.
    pub is_deferred: bool,
}

/// Which triggers of a table ALTER TABLE enables or disables, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerSwitch {
    /// The trigger; `None` for all.
    pub name: Option<String>,
    /// DISABLE TRIGGER ALL, which means foreign keys, too.
    pub with_keys: bool,
    /// The new state.
    pub to: SwitchedTo,
}

/// The state of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchedTo {
    /// ENABLE.
    Enabled,
    /// DISABLE.
    Disabled,
    /// ENABLE REPLICA.
    Replica,
    /// ENABLE ALWAYS.
    Always,
}

impl TriggerDefinition {
    /// The definition that a statement is. `None` for statements about other objects.
    pub(crate) fn of(statement: &NodeEnum) -> Result<Option<Self>> {
        Ok(match statement {
            NodeEnum::CreateTrigStmt(create) => {
                Some(Self::Create(Box::new(CreateTrigger::of(create)?)))
            }
            NodeEnum::DropStmt(drop) if drop.remove_type() == ObjectType::ObjectTrigger => {
                Some(Self::drop(drop)?)
            }
            NodeEnum::RenameStmt(rename) if rename.rename_type() == ObjectType::ObjectTrigger => {
                let table = RelationName::of(rename.relation.as_ref())?;
                let trigger = TriggerName { table, name: rename.subname.clone() };
                Some(Self::Rename { trigger, to: rename.newname.clone() })
            }
            NodeEnum::CommentStmt(comment) if comment.objtype() == ObjectType::ObjectTrigger => {
                Some(Self::comment(comment)?)
            }
            _ => None,
        })
    }

    fn drop(statement: &DropStmt) -> Result<Self> {
        let trigger = TriggerName::of(statement.objects.first())?;
        Ok(Self::Drop { trigger, if_exists: statement.missing_ok })
    }

    fn comment(statement: &CommentStmt) -> Result<Self> {
        let trigger = TriggerName::of(statement.object.as_deref())?;
        Ok(Self::Comment { trigger, text: some(&statement.comment) })
    }

    /// The command tag.
    pub(crate) fn tag(&self) -> &'static str {
        match self {
            Self::Create(_) => "CREATE TRIGGER",
            Self::Drop { .. } => "DROP TRIGGER",
            Self::Rename { .. } => "ALTER TRIGGER",
            Self::Comment { .. } => "COMMENT",
        }
    }
}

impl TriggerName {
    /// The name of a list: the parts of the table's, and the trigger's.
    fn of(list: Option<&Node>) -> Result<Self> {
        let NodeEnum::List(list) = node(list)? else { return Err(incomplete()) };
        let mut parts = texts(&list.items);
        let name = parts.pop().ok_or_else(incomplete)?;
        Ok(Self { table: RelationName::of_parts(&parts)?, name })
    }
}

impl CreateTrigger {
    fn of(statement: &CreateTrigStmt) -> Result<Self> {
        let table = RelationName::of(statement.relation.as_ref())?;
        let location = statement.relation.as_ref().map_or(-1, |relation| relation.location);
        let missing = |what: &str| Err(Error::missing(what).at(location));
        if statement.constrrel.is_some() {
            return missing("FROM in CREATE CONSTRAINT TRIGGER");
        }
        let constraint = statement.isconstraint.then_some(ConstraintTiming {
            is_deferrable: statement.deferrable,
            is_deferred: statement.initdeferred,
        });
        let condition = statement.when_clause.as_deref();
        let condition = condition.map(|of| expression_text(of).ok_or_else(incomplete));
        Ok(Self {
            trigger: TriggerName { table, name: statement.trigname.clone() },
            replaces: statement.replace,
            is_before: statement.timing & BEFORE != 0,
            is_instead: statement.timing & INSTEAD != 0,
            constraint,
            old_table: transition_table(statement, false)?,
            new_table: transition_table(statement, true)?,
            is_row: statement.row,
            insert: statement.events & INSERT != 0,
            update: statement.events & UPDATE != 0,
            delete: statement.events & DELETE != 0,
            truncate: statement.events & TRUNCATE != 0,
            columns: texts(&statement.columns),
            condition: condition.transpose()?,
            function: RelationName::of_parts(&texts(&statement.funcname))?,
            arguments: texts(&statement.args),
        })
    }

    /// Refuses what no trigger can have.
    ///
    /// # Errors
    /// 0A000 and 42P17.
    pub fn check(&self) -> Result<()> {
        self.check_form()?;
        self.check_transitions()
    }

    fn check_form(&self) -> Result<()> {
        let refused = |message: &str| Err(Error::new("0A000", message));
        match () {
            () if self.constraint.is_some() && self.replaces => {
                refused("CREATE OR REPLACE CONSTRAINT TRIGGER is not supported")
            }
            () if self.truncate && self.is_row => {
                refused("TRUNCATE FOR EACH ROW triggers are not supported")
            }
            () if self.is_instead && !self.is_row => {
                refused("INSTEAD OF triggers must be FOR EACH ROW")
            }
            () if self.is_instead && self.condition.is_some() => {
                refused("INSTEAD OF triggers cannot have WHEN conditions")
            }
            () if self.is_instead && !self.columns.is_empty() => {
                refused("INSTEAD OF triggers cannot have column lists")
            }
            () => Ok(()),
        }
    }

    /// Checks REFERENCING.
    fn check_transitions(&self) -> Result<()> {
        if self.old_table.is_none() && self.new_table.is_none() {
            return Ok(());
        }
        let refused = |message: &str| Err(Error::new("0A000", message));
        let wrong = |message: &str| Err(Error::new("42P17", message));
        let events = [self.insert, self.update, self.delete, self.truncate];
        match () {
            () if self.is_before || self.is_instead => {
                wrong("transition table name can only be specified for an AFTER trigger")
            }
            () if self.truncate => {
                refused("TRUNCATE triggers with transition tables are not supported")
            }
            () if events.into_iter().filter(|event| *event).count() > 1 => refused(
                "transition tables cannot be specified for triggers with more than one event",
            ),
            () if !self.columns.is_empty() => {
                refused("transition tables cannot be specified for triggers with column lists")
            }
            () if self.new_table.is_some() && self.delete => {
                wrong("NEW TABLE can only be specified for an INSERT or UPDATE trigger")
            }
            () if self.old_table.is_some() && self.insert => {
                wrong("OLD TABLE can only be specified for a DELETE or UPDATE trigger")
            }
            () if self.old_table == self.new_table => {
                wrong("OLD TABLE name and NEW TABLE name cannot be the same")
            }
            () => Ok(()),
        }
    }
}

/// The name of the new or the old rows in REFERENCING.
fn transition_table(statement: &CreateTrigStmt, is_new: bool) -> Result<Option<String>> {
    let mut found = None;
    for transition in &statement.transition_rels {
        let NodeEnum::TriggerTransition(of) = node(Some(transition))? else {
            return Err(incomplete());
        };
        if !of.is_table {
            let message = "ROW variable naming in the REFERENCING clause is not supported";
            return Err(Error::new("0A000", message)
                .hint("Use OLD TABLE or NEW TABLE for naming transition tables."));
        }
        if of.is_new == is_new && found.replace(of.name.clone()).is_some() {
            let which = if is_new { "NEW" } else { "OLD" };
            let message = format!("{which} TABLE cannot be specified multiple times");
            return Err(Error::new("42P17", message));
        }
    }
    Ok(found)
}

impl TriggerSwitch {
    /// ENABLE or DISABLE TRIGGER. `None` for other operations.
    pub(crate) fn of(operation: &AlterTableCmd) -> Option<Self> {
        use SwitchedTo::{Always, Disabled, Enabled, Replica};
        let (is_named, to) = match operation.subtype() {
            AlterTableType::AtEnableTrig => (true, Enabled),
            AlterTableType::AtEnableAlwaysTrig => (true, Always),
            AlterTableType::AtEnableReplicaTrig => (true, Replica),
            AlterTableType::AtDisableTrig => (true, Disabled),
            AlterTableType::AtEnableTrigAll | AlterTableType::AtEnableTrigUser => (false, Enabled),
            AlterTableType::AtDisableTrigUser | AlterTableType::AtDisableTrigAll => {
                (false, Disabled)
            }
            _ => return None,
        };
        let with_keys = operation.subtype() == AlterTableType::AtDisableTrigAll;
        Some(Self { name: is_named.then(|| operation.name.clone()), with_keys, to })
    }
}
