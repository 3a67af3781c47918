//! Identity columns in ALTER TABLE.

use crate::alter_sequence::AlterSequence;
use crate::column::Identity;
use crate::names::{RelationName, incomplete, node};
use crate::options::elements;
use crate::sequence::SequenceOptions;
use crate::{Error, Result};
use grammar::tree::{AlterTableCmd, AlterTableType, DefElem, NodeEnum};

/// An operation on the identity of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdentityChange {
    /// ADD GENERATED AS IDENTITY.
    Add {
        /// When the sequence gives the values.
        identity: Identity,
        /// The options of the sequence.
        sequence: Box<SequenceOptions>,
    },
    /// SET GENERATED, and options of the sequence.
    Set {
        /// When the sequence gives the values, if that changes.
        identity: Option<Identity>,
        /// The changes of the sequence; its name is not set.
        sequence: Box<AlterSequence>,
    },
    /// DROP IDENTITY.
    Drop {
        /// IF EXISTS.
        if_exists: bool,
    },
}

impl IdentityChange {
    /// The change that an operation makes. `None` for other operations.
    pub(crate) fn of(read: &AlterTableCmd) -> Result<Option<Self>> {
        Ok(Some(match read.subtype() {
            AlterTableType::AtAddIdentity => {
                let NodeEnum::Constraint(constraint) = node(read.def.as_deref())? else {
                    return Err(incomplete());
                };
                let identity = Identity::of(&constraint.generated_when);
                Self::Add {
                    identity,
                    sequence: Box::new(SequenceOptions::of(&constraint.options)?),
                }
            }
            AlterTableType::AtSetIdentity => {
                let NodeEnum::List(list) = node(read.def.as_deref())? else {
                    return Err(incomplete());
                };
                let mut identity = None;
                let mut sequence = AlterSequence::unchanged(RelationName::default());
                for option in elements(&list.items) {
                    match option.defname.as_str() {
                        "generated" => identity = Some(generated(option)?),
                        _ => sequence.take(option)?,
                    }
                }
                Self::Set { identity, sequence: Box::new(sequence) }
            }
            AlterTableType::AtDropIdentity => Self::Drop { if_exists: read.missing_ok },
            _ => return Ok(None),
        }))
    }
}

/// When values are generated, by the letter of SET GENERATED.
fn generated(option: &DefElem) -> Result<Identity> {
    match option.arg.as_deref().and_then(|arg| arg.node.as_ref()) {
        Some(NodeEnum::Integer(letter)) => {
            Ok(if letter.ival == i32::from(b'a') { Identity::Always } else { Identity::ByDefault })
        }
        _ => Err(Error::missing("this form of SET GENERATED").at(option.location)),
    }
}
