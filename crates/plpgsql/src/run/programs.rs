//! Programs of expressions, and where their variables are.

use super::register::Register;
use std::sync::Arc;
use values::error::Result;

/// Expressions with greater numbers have no program.
pub(super) const PROGRAMS_MAX: usize = 100_000;

/// A program that computes an expression.
pub trait Compute<V>: Send + Sync {
    /// The value for variables by their places among those of the expression. `None` if it must be evaluated otherwise.
    fn compute<'v>(&self, variable: &dyn Fn(usize) -> Option<&'v V>) -> Option<Result<V>>
    where
        V: 'v;

    /// The value, if it and all parts of the expression fit into registers. `None` if it must be computed by [`Self::compute`],
    /// also because it is an error.
    fn register<'v>(&self, variable: &dyn Fn(usize) -> Option<&'v V>) -> Option<Register>
    where
        V: 'v;

    /// Puts such a value in the place of another one. `false` if that is of another type than the expression, and for NULL.
    fn put(&self, new: Register, value: &mut V) -> bool;

    /// Puts such a value in the place of an item of an array. `false` if the array stays what it was.
    ///
    /// # Errors
    /// The array cannot be made.
    fn put_item(&self, new: Register, at: i64, array: &mut V) -> Result<bool>;

    /// The places of the variables that it reads.
    fn variables(&self) -> Vec<usize>;

    /// Whether it computes the same value again for the same variables.
    fn is_pure(&self) -> bool;

    /// The place of the variable that the value is, with more at its end: `s || t`.
    fn extends(&self) -> Option<usize>;

    /// What that variable gets more. `None` if the whole value must be computed.
    fn extension<'v>(&self, variable: &dyn Fn(usize) -> Option<&'v V>) -> Option<Result<V>>
    where
        V: 'v;

    /// Puts an extension at the end of a value. `false` if the value stays what it was and must be computed.
    ///
    /// # Errors
    /// The longer value cannot be made.
    fn extend(&self, value: &mut V, more: V) -> Result<bool>;
}

/// The programs of the expressions of a source, by their numbers.
#[derive(Debug)]
pub struct Programs<P> {
    known: Vec<Option<Known<P>>>,
    /// The types of the variables that the function begins with.
    types: Vec<Arc<str>>,
}

#[derive(Debug)]
pub(super) struct Known<P> {
    /// The type to which it converts.
    pub(super) to: Option<String>,
    pub(super) program: Arc<P>,
    /// The places of the variables that it reads.
    pub(super) places: Vec<Option<Place>>,
    /// The plain variable that its value is assigned to, once that is known.
    pub(super) target: Option<KnownTarget>,
}

/// A plain variable that has, or whose items have, the type to which a program converts.
#[derive(Debug, Clone)]
pub(super) struct KnownTarget {
    /// The block, and the place in it.
    pub(super) at: (usize, usize),
    /// The type of the variable.
    pub(super) of: Arc<str>,
}

impl KnownTarget {
    /// Whether the variable is still of a type. The same type is mostly at the same place in memory.
    pub(super) fn is_of(&self, of: &Arc<str>) -> bool {
        Arc::ptr_eq(&self.of, of) || self.of == *of
    }
}

impl<P> Default for Programs<P> {
    fn default() -> Self {
        Self { known: Vec::new(), types: Vec::new() }
    }
}

impl<P> Programs<P> {
    /// Forgets the programs that are not to be kept for the next call.
    pub fn retain(&mut self, is_kept: impl Fn(&P) -> bool) {
        for known in &mut self.known {
            *known = known.take().filter(|known| is_kept(&known.program));
        }
    }

    /// Begins a call with variables of some types. What was learnt for others is forgotten.
    pub(super) fn begin<'t>(&mut self, types: impl Iterator<Item = &'t Arc<str>> + Clone) {
        if !types.clone().eq(&self.types) {
            self.known.clear();
            self.types = types.map(Arc::clone).collect();
        }
    }

    pub(super) fn get(&self, number: usize) -> Option<&Known<P>> {
        self.known.get(number)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Known<P>> {
        self.known.get_mut(number)?.as_mut()
    }

    pub(super) fn put(&mut self, number: usize, known: Known<P>) {
        if self.known.len() <= number {
            self.known.resize_with(number + 1, || None);
        }
        self.known[number] = Some(known);
    }
}

/// Where a variable or field is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) scope: usize,
    pub(super) slot: usize,
    pub(super) field: Option<String>,
}
