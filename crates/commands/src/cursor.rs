//! DECLARE, FETCH and MOVE.

use crate::backward::goes_back;
use crate::{Error, Result, locking};
use grammar::tree::{DeclareCursorStmt, FetchDirection, FetchStmt, NodeEnum};

/// DECLARE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The name of the cursor.
    pub name: String,
    /// Whether values are returned in binary format (BINARY).
    pub is_binary: bool,
    /// Whether the cursor can move backwards (SCROLL).
    pub scrolls: bool,
    /// Whether the cursor can move backwards without SCROLL, because of its query.
    pub goes_back: bool,
    /// Whether the cursor stays open after its transaction commits (WITH HOLD).
    pub holds: bool,
}

/// FETCH or MOVE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// The name of the cursor.
    pub cursor: String,
    /// Which rows.
    pub direction: Direction,
    /// Whether the cursor only moves and returns no rows (MOVE).
    pub moves: bool,
}

/// The rows to fetch, relative to the position of the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The next `n` rows; `None` means all.
    Forward(Option<u64>),
    /// The preceding `n` rows, nearest first; `None` means all.
    Backward(Option<u64>),
    /// Row `n`, counted from the end if negative. 0 is the position before the first row.
    Absolute(i64),
    /// The row `n` rows ahead, or behind if negative.
    Relative(i64),
}

/// The bits of PostgreSQL's options of cursors.
mod bits {
    pub(super) const BINARY: i32 = 1;
    pub(super) const SCROLL: i32 = 2;
    pub(super) const NO_SCROLL: i32 = 4;
    pub(super) const INSENSITIVE: i32 = 8;
    pub(super) const ASENSITIVE: i32 = 16;
    pub(super) const HOLD: i32 = 32;
}

impl Declaration {
    pub(crate) fn of(statement: &DeclareCursorStmt) -> Result<Self> {
        let is = |bit: i32| statement.options & bit != 0;
        for (one, other, names) in [
            (bits::SCROLL, bits::NO_SCROLL, ["SCROLL", "NO SCROLL"]),
            (bits::ASENSITIVE, bits::INSENSITIVE, ["ASENSITIVE", "INSENSITIVE"]),
        ] {
            if is(one) && is(other) {
                let message = format!("cannot specify both {} and {}", names[0], names[1]);
                return Err(Error::new("42P11", message));
            }
        }
        let query = statement.query.as_deref().and_then(|query| query.node.as_ref());
        if let Some(NodeEnum::SelectStmt(select)) = query
            && let Some(clause) = locking::clauses(select).first()
        {
            refuse_locks(clause.strength.name(), is)?;
        }
        Ok(Self {
            name: statement.portalname.clone(),
            is_binary: is(bits::BINARY),
            scrolls: is(bits::SCROLL),
            goes_back: !is(bits::NO_SCROLL) && query.is_some_and(goes_back),
            // All cursors are insensitive: they do not see later changes.
            holds: is(bits::HOLD),
        })
    }
}

/// Refuses the options that a cursor whose query locks rows cannot have.
fn refuse_locks(clause: &str, is: impl Fn(i32) -> bool) -> Result<()> {
    for (option, state, before, after, kind) in [
        (bits::HOLD, "0A000", "CURSOR WITH HOLD", "supported", "Holdable"),
        (bits::SCROLL, "0A000", "SCROLL CURSOR", "supported", "Scrollable"),
        (bits::INSENSITIVE, "42P11", "INSENSITIVE CURSOR", "valid", "Insensitive"),
    ] {
        if is(option) {
            let message = format!("DECLARE {before} ... {clause} is not {after}");
            let detail = format!("{kind} cursors must be READ ONLY.");
            return Err(Error::new(state, message).detail(detail));
        }
    }
    Ok(())
}

impl Fetch {
    pub(crate) fn of(statement: &FetchStmt) -> Self {
        let count = statement.how_many;
        let direction = match statement.direction() {
            FetchDirection::FetchBackward => of_count(count.saturating_neg()),
            FetchDirection::FetchAbsolute => Direction::Absolute(count),
            FetchDirection::FetchRelative => Direction::Relative(count),
            FetchDirection::FetchForward | FetchDirection::Undefined => of_count(count),
        };
        let cursor = statement.portalname.clone();
        Self { cursor, direction, moves: statement.ismove }
    }
}

/// The direction for a count. Negative counts go back; 0 is the current row.
fn of_count(count: i64) -> Direction {
    // ALL is the largest number.
    let rows = Some(count.unsigned_abs()).filter(|_| count.saturating_abs() != i64::MAX);
    match count {
        0 => Direction::Relative(0),
        1.. => Direction::Forward(rows),
        _ => Direction::Backward(rows),
    }
}
