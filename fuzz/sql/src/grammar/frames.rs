//! What names a place in a query can see: one frame for each query around it, the innermost last.

use crate::tree::Type;

/// A column or another expression without parts.
pub(super) type Leaf = (String, Type);

/// What one query offers to its expressions.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    /// What its expressions may mention.
    pub(super) leaves: Vec<Leaf>,
    /// Of a query with groups: what the arguments of aggregates may mention.
    pub(super) grouped: Option<Vec<Leaf>>,
}

/// The frames of the queries around a place.
#[derive(Debug, Default)]
pub(super) struct Frames {
    frames: Vec<Frame>,
}

impl Frames {
    /// Enters a query.
    pub(super) fn enter(&mut self, frame: Frame) {
        self.frames.push(frame);
    }

    /// Leaves a query.
    pub(super) fn leave(&mut self) -> Frame {
        self.frames.pop().unwrap_or_default()
    }

    /// The innermost frame. Outside of queries there is none.
    pub(super) fn inner(&self) -> Option<&Frame> {
        self.frames.last()
    }

    /// The innermost frame, to change.
    pub(super) fn inner_mut(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }

    /// Hides everything, for queries that see nothing around them.
    pub(super) fn hide(&mut self) -> Self {
        std::mem::take(self)
    }

    /// The leaves of a type: those of the innermost frame, or of all if `correlated`.
    pub(super) fn of_type(&self, of: Type, correlated: bool) -> Vec<&Leaf> {
        let frames = if correlated { &self.frames[..] } else { self.last() };
        frames.iter().flat_map(|frame| &frame.leaves).filter(|leaf| leaf.1 == of).collect()
    }

    fn last(&self) -> &[Frame] {
        &self.frames[self.frames.len().saturating_sub(1)..]
    }
}
