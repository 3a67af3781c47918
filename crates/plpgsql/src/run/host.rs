//! What the interpreter needs of its surroundings.

use super::programs::{Compute, Programs};
use crate::tree::{Conflict, Sql};
use std::sync::Arc;
use values::error::{Error, Result};

/// A variable that an expression may name.
#[derive(Debug, Clone)]
pub struct Variable<V> {
    /// The record or label before the name, if it must be written.
    pub qualifier: Option<String>,
    /// The name.
    pub name: String,
    /// The value.
    pub value: V,
}

/// The rows of a query.
#[derive(Debug, Clone)]
pub struct Answer<V> {
    /// The names of the columns; none if the statement returns no rows.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<V>>,
    /// NULLs of the types of the columns, if there are no rows.
    pub nulls: Vec<V>,
    /// The number of rows that were returned or changed.
    pub count: u64,
    /// Whether the statement returns rows.
    pub has_rows: bool,
}

/// Where a cursor goes, whose rows count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Over the next rows; `None` for all.
    Forward(Option<u64>),
    /// Over the rows before, the nearest first; `None` for all.
    Backward(Option<u64>),
    /// To a row, counted from the end if negative. 0 is the place before the first row.
    Absolute(i64),
    /// To the row that is so many rows ahead, or behind if negative.
    Relative(i64),
}

/// The query of a cursor that is opened.
#[derive(Debug, Clone, Copy)]
pub enum CursorQuery<'a, V> {
    /// A query with the variables that it may name.
    Written(&'a Sql, &'a [Variable<V>]),
    /// A text with the values of `$1`, `$2`, ...
    Text(&'a str, &'a [V]),
}

/// The place of an item, or of a slice, in one dimension of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// One item.
    Item(i64),
    /// The items between two bounds.
    Slice(Option<i64>, Option<i64>),
}

/// The severity of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// DEBUG.
    Debug,
    /// LOG.
    Log,
    /// INFO.
    Info,
    /// NOTICE.
    Notice,
    /// WARNING.
    Warning,
}

/// A message of RAISE that is no error.
#[derive(Debug, Clone)]
pub struct Raised {
    /// The severity.
    pub severity: Severity,
    /// Code and text.
    pub error: Error,
}

/// Evaluates SQL for the interpreter.
pub trait Host: Send {
    /// A value with its type.
    type Value: Clone + Send + Sync;
    /// A place to return to.
    type Savepoint: Send;
    /// A program that computes an expression.
    type Program: Compute<Self::Value>;
    /// The rows of a query in parts, of which there is at least one.
    type Parts: Iterator<Item = Result<Answer<Self::Value>>> + Send;

    /// The program of an expression that has been evaluated for some variables, if it has one.
    fn program(
        &self,
        sql: &Sql,
        variables: &[Variable<Self::Value>],
        to: Option<&str>,
    ) -> Option<Arc<Self::Program>>;

    /// Sets what names mean that are both a variable's and a column's, in the texts of the function.
    fn set_conflict(&mut self, conflict: Conflict);

    /// The programs that are known.
    fn programs(&mut self) -> &mut Programs<Self::Program>;

    /// The value of an expression, converted to a type. The position of an error is one in a text that is read for it.
    fn evaluate(
        &mut self,
        sql: &Sql,
        variables: &[Variable<Self::Value>],
        to: Option<&str>,
    ) -> impl Future<Output = Result<Self::Value>> + Send;

    /// Runs a statement; of its rows, not more than `limit`.
    fn execute(
        &mut self,
        sql: &Sql,
        variables: &[Variable<Self::Value>],
        limit: Option<usize>,
    ) -> impl Future<Output = Result<Answer<Self::Value>>> + Send;

    /// Runs a query. Its rows come in parts, so that there are never the values of all of them. Returns also whether it
    /// [only reads](Self::only_reads).
    fn parts(
        &mut self,
        query: CursorQuery<'_, Self::Value>,
    ) -> impl Future<Output = Result<(Self::Parts, bool)>> + Send;

    /// Whether a statement is a query that changes no rows.
    fn only_reads(&mut self, sql: &Sql) -> bool;

    /// Whether a statement is INSERT, UPDATE, DELETE or MERGE: all its rows are changed, however many are wanted.
    fn is_change(&mut self, sql: &Sql) -> bool;

    /// Runs a text with the values of `$1`, `$2`, ...
    fn execute_text(
        &mut self,
        text: &str,
        parameters: &[Self::Value],
        limit: Option<usize>,
    ) -> impl Future<Output = Result<Answer<Self::Value>>> + Send;

    /// Notes that a loop goes through the rows of a query. The transaction ends in none whose query does not only read.
    ///
    /// # Errors
    /// The session has ended.
    fn begin_loop(&mut self, query: &str, only_reads: bool) -> Result<()>;

    /// Ends the innermost loop through rows.
    fn end_loop(&mut self);

    /// Opens a cursor, whose name is one that no other has, if none is given. Returns the name. `scrolls` says whether it
    /// may go back, if that was said.
    ///
    /// # Errors
    /// 42P11 for a statement that returns no rows; those of the query.
    fn open_cursor(
        &mut self,
        name: Option<String>,
        scrolls: Option<bool>,
        query: CursorQuery<'_, Self::Value>,
    ) -> impl Future<Output = Result<String>> + Send;

    /// Whether a cursor of this name is open.
    fn is_open(&self, cursor: &str) -> bool;

    /// Moves a cursor. The answer has the rows that it comes to, unless it only `moves`, and their number.
    ///
    /// # Errors
    /// 34000 if it is not open; 55000 if it goes back and may not.
    fn fetch(&mut self, cursor: &str, to: Move, moves: bool) -> Result<Answer<Self::Value>>;

    /// Puts a cursor on a row to which it has come before, if it is still open.
    fn stand_on(&mut self, cursor: &str, row: u64) -> Result<()>;

    /// Closes a cursor.
    ///
    /// # Errors
    /// 34000 if it is not open.
    fn close_cursor(&mut self, cursor: &str) -> Result<()>;

    /// A value as one of a type.
    fn convert(
        &mut self,
        value: Self::Value,
        to: &str,
    ) -> impl Future<Output = Result<Self::Value>> + Send;

    /// The columns of a relation: names and types.
    fn columns_of(
        &mut self,
        relation: &str,
    ) -> impl Future<Output = Result<Vec<(String, String)>>> + Send;

    /// Says something to the client.
    fn say(&mut self, raised: Raised);

    /// Marks a place to return to.
    fn savepoint(&mut self) -> impl Future<Output = Result<Self::Savepoint>> + Send;

    /// Returns to a place.
    fn roll_back(&mut self, to: Self::Savepoint) -> impl Future<Output = Result<()>> + Send;

    /// Commits the transaction, or rolls it back, and begins another one.
    ///
    /// # Errors
    /// 2D000: the function is not called where it may do that. 55000: a loop around does not only read. Errors of the
    /// commit.
    fn end_transaction(&mut self, commits: bool) -> impl Future<Output = Result<()>> + Send;

    /// Counts a turn of a loop. Returns whether others are to run before it ([`Self::give_way`]).
    ///
    /// # Errors
    /// 57014: the statement of the function was cancelled.
    fn turn(&mut self) -> Result<bool>;

    /// Lets others run.
    fn give_way(&mut self) -> impl Future<Output = ()> + Send;

    /// NULL of a type.
    fn null(&mut self, of: &str) -> Result<Self::Value>;

    /// A text.
    fn of_text(&self, text: Option<String>) -> Self::Value;

    /// A whole number, as `integer` or `bigint`.
    fn of_number(&self, number: i64, of: &str) -> Self::Value;

    /// Puts a number in the place of another `integer`. `false` if the value is of another type.
    fn put_integer(&self, value: &mut Self::Value, number: i32) -> bool;

    /// A truth value.
    fn of_truth(&self, truth: bool) -> Self::Value;

    /// Whether a truth value is true; `None` for NULL.
    fn truth(&self, value: &Self::Value) -> Option<bool>;

    /// A whole number; `None` for NULL.
    fn number(&self, value: &Self::Value) -> Option<i64>;

    /// A text; `None` for NULL.
    fn text(&self, value: &Self::Value) -> Option<String>;

    /// The name of a value's type.
    fn type_of(&self, value: &Self::Value) -> String;

    /// A value's type as it is written in a cast; `None` if it cannot be.
    fn written_type(&self, value: &Self::Value) -> Option<String>;

    /// Whether it is NULL.
    fn is_null(&self, value: &Self::Value) -> bool;

    /// The names and types of the attributes of a row of a composite type; `None` for other values.
    fn attributes(&self, value: &Self::Value) -> Option<Arc<[(String, String)]>>;

    /// Whether it is a row of the type of a table's rows.
    fn is_of_table(&self, value: &Self::Value) -> bool;

    /// The fields of a row of any type that is not NULL; `None` for other values.
    fn fields(&self, value: &Self::Value) -> Option<Vec<Self::Value>>;

    /// A row of the type of another one, with fields of the types of its attributes; NULL without fields.
    ///
    /// # Errors
    /// A field does not fit.
    fn row_like(&self, row: &Self::Value, fields: Option<Vec<Self::Value>>) -> Result<Self::Value>;

    /// The items of an array of any dimensions, or with `slice` the arrays of so many dimensions in it; `None` for NULL.
    ///
    /// # Errors
    /// 42804 for what is no array; 2202E for a number of dimensions that it does not have.
    fn items(&self, value: &Self::Value, slice: usize) -> Result<Option<Vec<Self::Value>>>;

    /// The type of the items of an array; `None` for other types.
    fn item_type<'t>(&self, of: &'t str) -> Option<&'t str>;

    /// Puts a value at a subscript of an array in its place. `false` if the array stays what it was, because it has to be
    /// made again ([`Self::with_item`]).
    ///
    /// # Errors
    /// The array cannot be made.
    fn put_item(&self, array: &mut Self::Value, at: i64, item: &Self::Value) -> Result<bool>;

    /// An array in which a value stands at some subscripts. With `None` in a subscript's place a bound is left out.
    ///
    /// # Errors
    /// 2202E: it cannot have such an item.
    fn with_item(
        &self,
        array: &Self::Value,
        at: &[Place],
        item: Self::Value,
    ) -> Result<Self::Value>;

    /// The item of an array at some subscripts; NULL where there is none.
    ///
    /// # Errors
    /// 0A000 for a slice.
    fn item(&self, array: &Self::Value, at: &[Place]) -> Result<Self::Value>;

    /// A `jsonb` value with a part at a path. NULL becomes an array or an object before; a part that is NULL is JSON's null.
    ///
    /// # Errors
    /// 22023, 22P02: the path does not lead there.
    fn with_json(
        &self,
        json: &Self::Value,
        path: &[String],
        is_array: bool,
        part: &Self::Value,
    ) -> Result<Self::Value>;

    /// Whether PostgreSQL computes an expression without variables when it plans it: its functions are immutable.
    fn is_folded(&self, sql: &Sql) -> bool;
}
