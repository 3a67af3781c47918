//! The cursors that functions have opened: their rows, and where each of them stands.
//!
//! A session has one set of cursors, so that a function may return the name of one to its caller, who fetches the rows. The
//! rows are computed when a cursor is opened. Cursors end with their transaction.

use crate::running::Running;
use datafusion::arrow::array::{RecordBatch, UInt64Array};
use datafusion::arrow::compute::take_record_batch;
use parking_lot::Mutex;
use plpgsql::Move;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::SystemTime;
use values::error::{Error, Result, SqlState};
use values::field::Field;

/// The open cursors of a session, by their names.
#[derive(Debug, Default)]
pub struct Cursors {
    open: BTreeMap<String, Cursor>,
    /// The cursors that have been opened so far.
    opened: u64,
    /// The names that have been made so far.
    names: u64,
}

/// What a session keeps until its transaction ends.
pub trait Held: Send + Sync {
    /// A moment of the transaction.
    type Mark: Send;

    /// The cursors.
    fn cursors(&self) -> &Mutex<Cursors>;

    /// The search path of statements that begin now.
    fn search_path(&self) -> Vec<String>;

    /// What runs around a statement.
    fn running(&self) -> &Running;

    /// This moment.
    fn mark(&self) -> Self::Mark;

    /// Forgets what came after a moment.
    fn go_back(&self, to: Self::Mark);
}

/// A moment: cursors that are opened later can be closed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CursorMark(u64);

/// Rows to which a cursor has come.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// The columns.
    pub fields: Arc<[Field]>,
    /// The rows, in the order in which the cursor came to them.
    pub rows: RecordBatch,
    /// Their number.
    pub count: u64,
}

/// A query, and whether its cursor may go back.
#[derive(Debug, Clone)]
pub struct CursorOf {
    /// The text.
    pub statement: String,
    /// The search path with which it was opened.
    pub search_path: Vec<String>,
    /// Whether the cursor may go back.
    pub goes_back: bool,
    /// When it was opened.
    pub opened: SystemTime,
}

/// The rows of a cursor. It stands on one of them, before the first (0) or behind the last.
#[derive(Debug)]
struct Cursor {
    number: u64,
    fields: Arc<[Field]>,
    rows: RecordBatch,
    at: u64,
    of: CursorOf,
}

impl Cursors {
    /// Opens a cursor over rows, whose name is made if none is given. Returns the name.
    ///
    /// # Errors
    /// 42P03 if a cursor of the name is open.
    pub fn open(
        &mut self,
        name: Option<String>,
        of: CursorOf,
        fields: Vec<Field>,
        rows: RecordBatch,
    ) -> Result<String> {
        let name = name.unwrap_or_else(|| {
            self.names += 1;
            format!("<unnamed portal {}>", self.names)
        });
        if self.is_open(&name) {
            let message = format!("cursor \"{name}\" already in use");
            return Err(Error::new(SqlState::DuplicateCursor, message));
        }
        self.opened += 1;
        let (number, fields) = (self.opened, fields.into());
        self.open.insert(name.clone(), Cursor { number, fields, rows, at: 0, of });
        Ok(name)
    }

    /// Whether a cursor of this name is open.
    pub fn is_open(&self, name: &str) -> bool {
        self.open.contains_key(name)
    }

    /// The open cursors, by their names.
    pub fn all(&self) -> impl Iterator<Item = (&String, &CursorOf)> {
        self.open.iter().map(|(name, cursor)| (name, &cursor.of))
    }

    /// The columns of a cursor; `None` if it is not open.
    pub fn fields(&self, name: &str) -> Option<&[Field]> {
        self.open.get(name).map(|cursor| &*cursor.fields)
    }

    /// Moves a cursor, and returns the rows that it comes to.
    ///
    /// # Errors
    /// 34000 if it is not open; 55000 if it goes back and may not.
    pub fn fetch(&mut self, name: &str, to: Move) -> Result<Fetched> {
        let cursor = self.open.get_mut(name).ok_or_else(|| unknown(name))?;
        let (rows, is_backward) = cursor.step(to)?;
        let indices = rows.map(|number| number - 1);
        let indices = match is_backward {
            true => UInt64Array::from_iter_values(indices.rev()),
            false => UInt64Array::from_iter_values(indices),
        };
        let rows = match cursor.rows.num_columns() {
            // Rows without columns do not differ.
            0 => cursor.rows.slice(0, indices.len()),
            _ => take_record_batch(&cursor.rows, &indices)?,
        };
        let count = rows.num_rows() as u64;
        Ok(Fetched { fields: Arc::clone(&cursor.fields), rows, count })
    }

    /// Puts a cursor on a row, if it is open.
    pub fn stand_on(&mut self, name: &str, row: u64) {
        if let Some(cursor) = self.open.get_mut(name) {
            cursor.at = row.min(cursor.count() + 1);
        }
    }

    /// The text of a cursor's query, and the row on which it stands; `None` if it stands on none.
    ///
    /// # Errors
    /// 34000 if it is not open.
    pub(crate) fn current(&self, name: &str) -> Result<(String, Option<Fetched>)> {
        let cursor = self.open.get(name).ok_or_else(|| unknown(name))?;
        let row =
            usize::try_from(cursor.at).ok().filter(|at| (1..=cursor.rows.num_rows()).contains(at));
        let fields = Arc::clone(&cursor.fields);
        let row = row.map(|at| Fetched { fields, rows: cursor.rows.slice(at - 1, 1), count: 1 });
        Ok((cursor.of.statement.clone(), row))
    }

    /// Closes a cursor.
    ///
    /// # Errors
    /// 34000 if it is not open.
    pub fn close(&mut self, name: &str) -> Result<()> {
        self.open.remove(name).map(|_| ()).ok_or_else(|| unknown(name))
    }

    /// Closes all cursors.
    pub fn close_all(&mut self) {
        self.open.clear();
    }

    /// This moment.
    pub fn mark(&self) -> CursorMark {
        CursorMark(self.opened)
    }

    /// Closes the cursors that were opened after a moment.
    pub fn go_back(&mut self, to: CursorMark) {
        self.open.retain(|_, cursor| cursor.number <= to.0);
    }
}

fn unknown(name: &str) -> Error {
    Error::new(SqlState::InvalidCursorName, format!("cursor \"{name}\" does not exist"))
}

#[expect(clippy::reversed_empty_ranges, reason = "no row")]
const NONE: RangeInclusive<u64> = 1..=0;

impl Cursor {
    fn count(&self) -> u64 {
        self.rows.num_rows() as u64
    }

    /// Moves, and returns the numbers of the rows that it comes to, and whether the last comes first.
    fn step(&mut self, to: Move) -> Result<(RangeInclusive<u64>, bool)> {
        let (at, count) = (self.at, self.count());
        Ok(match to {
            Move::Forward(by) => {
                let last = by.and_then(|by| at.checked_add(by)).filter(|last| *last <= count);
                self.at = last.unwrap_or(count + 1);
                (at + 1..=last.unwrap_or(count), false)
            }
            Move::Backward(by) => {
                self.refuse_back()?;
                let first = by.and_then(|by| at.checked_sub(by)).filter(|first| *first > 0);
                self.at = first.unwrap_or(0);
                (first.unwrap_or(1)..=at.saturating_sub(1), true)
            }
            Move::Relative(0) if (1..=count).contains(&at) => {
                self.refuse_back()?;
                (at..=at, false)
            }
            Move::Relative(0) => (NONE, false),
            Move::Relative(by) => (self.stand_on(at.saturating_add_signed(by))?, false),
            Move::Absolute(row @ 0..) => (self.stand_on(row.unsigned_abs())?, false),
            Move::Absolute(row) => {
                self.refuse_back()?;
                (self.stand_on((count + 1).saturating_sub(row.unsigned_abs()))?, false)
            }
        })
    }

    fn stand_on(&mut self, row: u64) -> Result<RangeInclusive<u64>> {
        if row <= self.at && self.at > 0 {
            self.refuse_back()?;
        }
        let count = self.count();
        self.at = row.min(count + 1);
        Ok(if (1..=count).contains(&row) { row..=row } else { NONE })
    }

    fn refuse_back(&self) -> Result<()> {
        if self.of.goes_back {
            return Ok(());
        }
        let message = "cursor can only scan forward";
        Err(Error::new(SqlState::ObjectNotInPrerequisiteState, message)
            .with_hint("Declare it with SCROLL option to enable backward scan."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{AsArray, Int32Array};
    use datafusion::arrow::datatypes::{Int32Type, Schema};
    use store::catalog::SqlType;

    fn of(goes_back: bool) -> CursorOf {
        let statement = "SELECT a".to_owned();
        let (search_path, opened) = (Vec::new(), SystemTime::UNIX_EPOCH);
        CursorOf { statement, search_path, goes_back, opened }
    }

    fn cursors(count: i32, goes_back: bool) -> Cursors {
        let column = Arc::new(Int32Array::from_iter_values(1..=count)) as _;
        let rows = RecordBatch::try_from_iter([("a", column)]).expect("rows");
        let fields = vec![Field::new("a", SqlType::Integer)];
        let mut cursors = Cursors::default();
        cursors.open(Some("c".to_owned()), of(goes_back), fields, rows).expect("opens");
        cursors
    }

    fn fetch(cursors: &mut Cursors, to: Move) -> Vec<i32> {
        let fetched = cursors.fetch("c", to).expect("fetches");
        fetched.rows.column(0).as_primitive::<Int32Type>().values().to_vec()
    }

    #[test]
    fn a_cursor_goes_both_ways() {
        let mut cursors = cursors(3, true);
        for (to, rows) in [
            (Move::Relative(0), vec![]),
            (Move::Backward(None), vec![]),
            (Move::Forward(Some(2)), vec![1, 2]),
            (Move::Relative(0), vec![2]),
            (Move::Forward(None), vec![3]),
            (Move::Forward(Some(1)), vec![]),
            (Move::Backward(Some(2)), vec![3, 2]),
            (Move::Relative(-1), vec![1]),
            (Move::Relative(-1), vec![]),
            (Move::Absolute(-1), vec![3]),
            (Move::Absolute(-4), vec![]),
            (Move::Absolute(2), vec![2]),
            (Move::Absolute(9), vec![]),
            (Move::Backward(None), vec![3, 2, 1]),
            (Move::Forward(Some(u64::MAX)), vec![1, 2, 3]),
            (Move::Relative(i64::MIN), vec![]),
            (Move::Relative(i64::MAX), vec![]),
            (Move::Absolute(i64::MIN), vec![]),
        ] {
            assert_eq!(fetch(&mut cursors, to), rows, "{to:?}");
        }
    }

    #[test]
    fn one_without_scroll_goes_forward_only() {
        let mut cursors = cursors(3, false);
        assert_eq!(fetch(&mut cursors, Move::Absolute(2)), [2]);
        for to in [Move::Backward(Some(1)), Move::Relative(0), Move::Absolute(1)] {
            let error = cursors.fetch("c", to).expect_err("refused");
            assert_eq!(error.state(), SqlState::ObjectNotInPrerequisiteState);
        }
        assert_eq!(fetch(&mut cursors, Move::Relative(1)), [3]);
    }

    #[test]
    fn cursors_since_a_moment_are_closed() {
        let mut all = cursors(1, true);
        let mark = all.mark();
        let rows = RecordBatch::new_empty(Arc::new(Schema::empty()));
        let name = all.open(None, of(true), Vec::new(), rows).expect("opens");
        assert_eq!(name, "<unnamed portal 1>");
        assert!(all.is_open(&name));
        all.go_back(mark);
        assert!(!all.is_open(&name) && all.is_open("c"));
        assert_eq!(all.close(&name).expect_err("closed").state(), SqlState::InvalidCursorName);
    }
}
