//! The names that are known at a place of a source.

use crate::tree::Target;

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// A variable that may be assigned to.
    Variable,
    /// A variable of a type that cursors cannot have.
    NoCursor,
    /// A constant.
    Constant,
    /// A cursor that is declared with its query, with its number.
    Bound(usize),
}

/// A block or loop.
struct Scope {
    label: Option<String>,
    is_loop: bool,
    names: Vec<(String, Known)>,
}

/// The blocks and loops around a place, the innermost last.
pub(super) struct Scopes(Vec<Scope>);

impl Scopes {
    /// Those of a function, whose parameters have these names.
    pub(super) fn new(function: &str, parameters: &[String], others: &[&str]) -> Self {
        let variable = |name: String| (name, Known::Variable);
        let numbered = (1..=parameters.len()).map(|number| format!("${number}"));
        let others = others.iter().map(|name| (*name).to_owned());
        let names = parameters.iter().cloned().chain(numbered).chain(others).map(variable);
        let label = Some(function.to_owned());
        Self(vec![Scope { label, is_loop: false, names: names.collect() }])
    }

    pub(super) fn open(&mut self, label: Option<&String>, is_loop: bool) {
        self.0.push(Scope { label: label.cloned(), is_loop, names: Vec::new() });
    }

    pub(super) fn close(&mut self) {
        self.0.pop();
    }

    /// Declares a name; `false` if the block has it already.
    pub(super) fn declare(&mut self, name: &str, known: Known) -> bool {
        let Some(scope) = self.0.last_mut() else { return true };
        let is_new = scope.names.iter().all(|(other, _)| other != name);
        scope.names.push((name.to_owned(), known));
        is_new
    }

    /// What a name means.
    pub(super) fn find(&self, parts: &[String]) -> Option<Known> {
        let named = |scope: &Scope, name: &String| {
            scope.names.iter().rev().find(|(known, _)| known == name).map(|(_, known)| *known)
        };
        let first = parts.first()?;
        let plain = self.0.iter().rev().find_map(|scope| named(scope, first));
        let labelled = || {
            let mut scopes = self.0.iter().rev();
            let scope = scopes.find(|scope| scope.label.as_ref() == Some(first))?;
            named(scope, parts.get(1)?)
        };
        plain.or_else(labelled)
    }

    pub(super) fn of(&self, target: &Target) -> Option<Known> {
        self.find(&target.parts)
    }

    /// Whether a label is one of a loop; `None` if nothing around has it.
    pub(super) fn is_of_loop(&self, label: &str) -> Option<bool> {
        let mut scopes = self.0.iter().rev();
        scopes.find(|scope| scope.label.as_deref() == Some(label)).map(|scope| scope.is_loop)
    }

    pub(super) fn has_loop(&self) -> bool {
        self.0.iter().any(|scope| scope.is_loop)
    }
}
