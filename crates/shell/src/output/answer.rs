//! Answers of statements: streams of rows, and completed commands.

use super::types::Column;
use crate::error::SqlError;
use arrow::array::RecordBatch;
use futures::stream::BoxStream;
use query::Tag;

/// A stream of rows.
pub(crate) struct Rows<'a> {
    /// The columns.
    pub(crate) columns: Vec<Column>,
    /// Whether the rows are the lines of a plan.
    pub(crate) is_plan: bool,
    /// The batches.
    pub(crate) batches: BoxStream<'a, Result<RecordBatch, SqlError>>,
}

/// A completed command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Done {
    /// `CREATE TABLE`, `INSERT`, ...
    pub(crate) command: String,
    /// Number of rows, if the command counts them.
    pub(crate) rows: Option<u64>,
}

impl Done {
    /// Parses PostgreSQL's command tag: `INSERT 0 3`, `COPY 7`, `CREATE TABLE`.
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
