//! What a statement answers, wherever it was run: rows that stream by, or that something was done.

use super::types::Column;
use crate::trouble::SqlError;
use futures::stream::BoxStream;
use pando::{RecordBatch, Tag};

/// Rows that are still coming.
pub(crate) struct Rows<'a> {
    /// What stands over them.
    pub(crate) columns: Vec<Column>,
    /// Whether they are the lines of a plan, which are read as text.
    pub(crate) is_plan: bool,
    /// The batches.
    pub(crate) batches: BoxStream<'a, Result<RecordBatch, SqlError>>,
}

/// A command that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Done {
    /// `CREATE TABLE`, `INSERT`, ...
    pub(crate) command: String,
    /// How many rows it concerned; `None` where it counts none.
    pub(crate) rows: Option<u64>,
}

impl Done {
    /// What PostgreSQL's tag says: `INSERT 0 3`, `COPY 7`, `CREATE TABLE`.
    pub(crate) fn of_tag(tag: &str) -> Self {
        let is_number = |word: &str| word.parse::<u64>().is_ok();
        let rows = tag.rsplit(' ').next().and_then(|word| word.parse().ok());
        let words: Vec<&str> = tag.split(' ').filter(|word| !is_number(word)).collect();
        Self { command: words.join(" "), rows }
    }
}

impl From<Tag> for Done {
    fn from(tag: Tag) -> Self {
        Self { command: tag.command.to_owned(), rows: tag.rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read() {
        let done = |command: &str, rows| Done { command: command.to_owned(), rows };
        assert_eq!(Done::of_tag("INSERT 0 3"), done("INSERT", Some(3)));
        assert_eq!(Done::of_tag("COPY 7"), done("COPY", Some(7)));
        assert_eq!(Done::of_tag("CREATE TABLE"), done("CREATE TABLE", None));
    }
}
