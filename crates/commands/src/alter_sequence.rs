//! ALTER SEQUENCE.

use crate::data_type::DataType;
use crate::names::{RelationName, incomplete};
use crate::options::{elements, integer, is_on, refuse_repeated};
use crate::sequence::{SequenceOwner, data_type, owner, refuse_cache};
use crate::{Error, Result};
use grammar::tree::{AlterSeqStmt, DefElem};

/// ALTER SEQUENCE. What is not written does not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterSequence {
    /// The name.
    pub name: RelationName,
    /// IF EXISTS.
    pub if_exists: bool,
    /// AS.
    pub data_type: Option<DataType>,
    /// INCREMENT.
    pub increment: Option<i64>,
    /// START.
    pub start: Option<i64>,
    /// MINVALUE; within it `None` is NO MINVALUE.
    pub min: Option<Option<i64>>,
    /// MAXVALUE; within it `None` is NO MAXVALUE.
    pub max: Option<Option<i64>>,
    /// CYCLE.
    pub cycle: Option<bool>,
    /// RESTART; within it `None` is the start.
    pub restart: Option<Option<i64>>,
    /// OWNED BY.
    pub owner: Option<SequenceOwner>,
}

impl AlterSequence {
    pub(crate) fn of(statement: &AlterSeqStmt) -> Result<Self> {
        refuse_repeated(&statement.options)?;
        let relation = statement.sequence.as_ref().ok_or_else(incomplete)?;
        let mut read = Self::unchanged(RelationName::of(Some(relation))?);
        read.if_exists = statement.missing_ok;
        for option in elements(&statement.options) {
            read.take(option)?;
        }
        Ok(read)
    }

    /// No change of a sequence.
    pub(crate) fn unchanged(name: RelationName) -> Self {
        Self {
            name,
            if_exists: false,
            data_type: None,
            increment: None,
            start: None,
            min: None,
            max: None,
            cycle: None,
            restart: None,
            owner: None,
        }
    }

    pub(crate) fn take(&mut self, option: &DefElem) -> Result<()> {
        match option.defname.as_str() {
            "as" => self.data_type = Some(data_type(option)?),
            "increment" => self.increment = integer(option)?,
            "start" => self.start = integer(option)?,
            "minvalue" => self.min = Some(integer(option)?),
            "maxvalue" => self.max = Some(integer(option)?),
            "restart" => self.restart = Some(integer(option)?),
            "cycle" => self.cycle = Some(is_on(option)),
            "cache" => refuse_cache(option)?,
            "owned_by" => self.owner = Some(owner(option)?),
            other => {
                let what = format!("{} of a sequence", other.to_uppercase().replace('_', " "));
                return Err(Error::missing(what).at(option.location));
            }
        }
        Ok(())
    }
}
