//! Makes a finding small: drops statements of its script that it does not need, and simplifies those that it does.
//!
//! Every try runs on a new server. A simpler script is kept if it shows the same defect in its last statement.

use crate::edits::{apply, edits};
use crate::outcome::{Defect, Outcome, normalized};
use crate::script::{Mode, Step};
use crate::session::{Limits, Session};
use crate::tree::Node;
use std::path::Path;
use std::time::{Duration, Instant};

/// A script whose last statement shows a defect.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) defect: Defect,
    pub(crate) detail: String,
    pub(crate) script: Vec<Step>,
}

/// Reduces findings for some time each.
pub(crate) struct Reducer<'a> {
    pub(crate) program: &'a Path,
    /// The time for a finding.
    pub(crate) time: Duration,
}

/// A finding while it is reduced.
struct Work<'a> {
    reducer: &'a Reducer<'a>,
    limits: Limits,
    /// When it ends; the first tries are made in any case.
    deadline: Option<Instant>,
    found: Found,
}

impl Reducer<'_> {
    /// The smallest finding that was found in time; nothing if it cannot be repeated.
    pub(crate) fn reduce(&self, found: Found) -> Option<Found> {
        let mut work = Work { reducer: self, limits: Limits::default(), deadline: None, found };
        let alone = work.found.script.split_at(work.found.script.len() - 1).1.to_vec();
        if !work.keeps(alone) {
            let whole = work.found.script.clone();
            if !work.keeps(whole) {
                return None;
            }
        }
        let whole = work.found.clone();
        if work.found.defect == Defect::Hang {
            work.limits = Limits::quick();
        }
        work.shrink();
        if work.found.defect == Defect::Hang {
            // What hangs for a moment may end in time after all.
            (work.limits, work.deadline) = (Limits::default(), None);
            let small = work.found.script.clone();
            if !work.keeps(small) {
                work.found = whole;
                work.shrink();
            }
        }
        Some(work.found)
    }

    /// What the last statement of a script shows, on a new server.
    fn shown(&self, script: &[Step], limits: Limits) -> Option<(Defect, String)> {
        let mut session = Session::start(self.program, limits).ok()?;
        let (last, before) = script.split_last()?;
        for step in before {
            match session.run(step) {
                Outcome::Found(defect, _) if !defect.leaves_the_server() => return None,
                _ => {}
            }
        }
        match session.run(last) {
            Outcome::Found(defect, detail) => Some((defect, detail)),
            _ => None,
        }
    }
}

impl Work<'_> {
    /// Makes the script as small as the time allows.
    fn shrink(&mut self) {
        self.deadline = Some(Instant::now() + self.reducer.time);
        let last = self.found.script.len() - 1;
        let steps = self.found.script.iter().enumerate();
        let needed = steps.filter(|(index, step)| *index == last || defines(step));
        let needed = needed.map(|(_, step)| step.clone()).collect();
        self.keeps(needed);
        self.drop_statements();
        self.send_simply();
        self.simplify(self.found.script.len() - 1);
        self.drop_statements();
        for index in (0..self.found.script.len()).rev() {
            self.simplify(index);
            self.simplify_tokens(index);
        }
    }

    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() > deadline)
    }

    /// Keeps a script if it shows the defect.
    fn keeps(&mut self, script: Vec<Step>) -> bool {
        if self.is_over() {
            return false;
        }
        let Some((defect, detail)) = self.reducer.shown(&script, self.limits) else { return false };
        // The words of an internal error are its cause; elsewhere they are measurements.
        // At first, harm of any kind will do: a statement that takes memory without end may hang or not.
        let same = if defect.leaves_the_server() {
            defect == self.found.defect && same_message(&detail, &self.found.detail)
        } else {
            defect == self.found.defect
                || (self.deadline.is_none() && !self.found.defect.leaves_the_server())
        };
        if same {
            self.found = Found { defect, detail, script };
        }
        same
    }

    /// Without the extended protocol and without a cancel request.
    fn send_simply(&mut self) {
        for index in 0..self.found.script.len() {
            for (mode, cancel) in [
                (Mode::Simple, None),
                (Mode::Simple, self.found.script[index].cancel),
                (self.found.script[index].mode, None),
            ] {
                let step = &self.found.script[index];
                if (step.mode, step.cancel) != (mode, cancel) {
                    let mut script = self.found.script.clone();
                    (script[index].mode, script[index].cancel) = (mode, cancel);
                    self.keeps(script);
                }
            }
        }
    }

    /// Drops statements before the last one, many at a time first.
    fn drop_statements(&mut self) {
        let mut size = self.found.script.len() - 1;
        while size > 0 {
            let mut end = self.found.script.len() - 1;
            while end > 0 {
                let start = end.saturating_sub(size);
                let mut script = self.found.script.clone();
                script.drain(start..end);
                self.keeps(script);
                end = start;
            }
            size /= 2;
        }
    }

    fn simplify(&mut self, index: usize) {
        'again: while !self.is_over() {
            let tree = self.found.script[index].node.clone();
            for edit in edits(&tree) {
                if self.is_over() {
                    return;
                }
                let mut script = self.found.script.clone();
                script[index].node = apply(&tree, &edit);
                if self.keeps(script) {
                    continue 'again;
                }
            }
            return;
        }
    }

    /// Simplifies a short statement without regard to its grammar.
    fn simplify_tokens(&mut self, index: usize) {
        let text = self.found.script[index].node.to_string();
        if text.len() < 2000 {
            self.found.script[index].node = Node::tokens(&text);
            self.simplify(index);
        }
    }
}

/// Whether a statement makes what others read: those are needed first of all.
fn defines(step: &Step) -> bool {
    let text = step.node.to_string();
    text.starts_with("CREATE") || text.starts_with("INSERT")
}

fn same_message(one: &str, other: &str) -> bool {
    normalized(one) == normalized(other)
}
