//! CREATE SEQUENCE, and the options of sequences.

use crate::data_type::DataType;
use crate::names::{Persistence, RelationName, incomplete, texts};
use crate::options::{elements, integer, is_on, refuse_repeated};
use crate::{Error, Result};
use grammar::tree::{CreateSeqStmt, DefElem, Node, NodeEnum};

/// CREATE SEQUENCE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateSequence {
    /// The name.
    pub name: RelationName,
    /// TEMPORARY.
    pub is_temporary: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// The options.
    pub options: SequenceOptions,
}

/// The options of a sequence. `None` is the default, also where NO is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SequenceOptions {
    /// AS.
    pub data_type: Option<DataType>,
    /// INCREMENT.
    pub increment: Option<i64>,
    /// START.
    pub start: Option<i64>,
    /// MINVALUE.
    pub min: Option<i64>,
    /// MAXVALUE.
    pub max: Option<i64>,
    /// CYCLE.
    pub cycle: bool,
    /// OWNED BY.
    pub owner: Option<SequenceOwner>,
    /// SEQUENCE NAME, of the sequence of an identity column.
    pub name: Option<RelationName>,
}

/// OWNED BY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SequenceOwner {
    /// NONE.
    None,
    /// A column of a table.
    Column {
        /// The table.
        table: RelationName,
        /// The column.
        column: String,
    },
}

impl CreateSequence {
    pub(crate) fn of(statement: &CreateSeqStmt) -> Result<Self> {
        let relation = statement.sequence.as_ref().ok_or_else(incomplete)?;
        let unlogged = Error::missing("UNLOGGED").at(relation.location);
        Ok(Self {
            name: RelationName::of(Some(relation))?,
            is_temporary: Persistence::of(relation).is_temporary(unlogged)?,
            if_not_exists: statement.if_not_exists,
            options: SequenceOptions::of(&statement.options)?,
        })
    }
}

impl SequenceOptions {
    pub(crate) fn of(options: &[Node]) -> Result<Self> {
        refuse_repeated(options)?;
        let mut read = Self::default();
        for option in elements(options) {
            read.take(option)?;
        }
        Ok(read)
    }

    fn take(&mut self, option: &DefElem) -> Result<()> {
        match option.defname.as_str() {
            "as" => self.data_type = Some(data_type(option)?),
            "increment" => self.increment = integer(option)?,
            "start" => self.start = integer(option)?,
            "minvalue" => self.min = integer(option)?,
            "maxvalue" => self.max = integer(option)?,
            "cycle" => self.cycle = is_on(option),
            "cache" => refuse_cache(option)?,
            "owned_by" => self.owner = Some(owner(option)?),
            "sequence_name" => self.name = Some(RelationName::of_parts(&words(option))?),
            other => {
                let what = format!("{} of a sequence", other.to_uppercase().replace('_', " "));
                return Err(Error::missing(what).at(option.location));
            }
        }
        Ok(())
    }
}

/// The type of AS.
pub(crate) fn data_type(option: &DefElem) -> Result<DataType> {
    match option.arg.as_deref().and_then(|arg| arg.node.as_ref()) {
        Some(NodeEnum::TypeName(name)) => DataType::of(name),
        _ => Err(incomplete()),
    }
}

/// Refuses a CACHE of nothing. Values are not taken in advance, so that there are no gaps that a larger cache would make.
pub(crate) fn refuse_cache(option: &DefElem) -> Result<()> {
    match integer(option)? {
        Some(1..) => Ok(()),
        number => {
            let number = number.unwrap_or_default();
            Err(Error::new("22023", format!("CACHE ({number}) must be greater than zero")))
        }
    }
}

/// The words of a name in an option.
fn words(option: &DefElem) -> Vec<String> {
    match option.arg.as_deref().and_then(|arg| arg.node.as_ref()) {
        Some(NodeEnum::List(list)) => texts(&list.items),
        _ => Vec::new(),
    }
}

/// OWNED BY.
///
/// # Errors
/// 42601 for a name that is none of a column.
pub(crate) fn owner(option: &DefElem) -> Result<SequenceOwner> {
    let mut parts = words(option);
    if parts == ["none"] {
        return Ok(SequenceOwner::None);
    }
    match parts.pop() {
        Some(column) if !parts.is_empty() => {
            Ok(SequenceOwner::Column { table: RelationName::of_parts(&parts)?, column })
        }
        _ => Err(Error::new("42601", "invalid OWNED BY option")
            .hint("Specify OWNED BY table.column or OWNED BY NONE.")
            .at(option.location)),
    }
}
