//! The choice of a function (`func_get_detail`).

use super::candidates::{Candidate, best, matching};
use crate::Oid;
use crate::functions::{self, Function};

/// The arguments of a call.
#[derive(Debug, Clone)]
pub struct Arguments<'a> {
    /// The types, in the order of the call.
    pub types: &'a [Oid],
    /// The names of the last arguments, if they are written `name => value`.
    pub names: &'a [&'a str],
    /// Whether the last argument is the array of variadic ones (VARIADIC).
    pub is_variadic_array: bool,
}

/// What a call may mean: a function of the system, or one that a user defines.
pub trait Signature: Copy {
    /// The types of the input arguments.
    fn arguments(&self) -> &[Oid];
    /// The type of each of the variadic arguments, of which the last in `arguments` is the array.
    fn variadic(&self) -> Option<Oid>;
    /// The number of arguments, the last ones, that have defaults.
    fn defaults(&self) -> usize;
    /// The argument of a name.
    fn named(&self, name: &str) -> Option<usize>;
    /// The schema.
    fn schema(&self) -> &str;
}

/// The schema of the system.
const SYSTEM: &str = "pg_catalog";

impl Signature for &'static Function {
    fn arguments(&self) -> &[Oid] {
        &self.arguments
    }

    fn variadic(&self) -> Option<Oid> {
        self.variadic
    }

    fn defaults(&self) -> usize {
        self.defaults.len()
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.argument_names.iter().position(|known| *known == name)
    }

    fn schema(&self) -> &str {
        SYSTEM
    }
}

/// A chosen function.
#[derive(Debug, Clone)]
pub struct Chosen<F = &'static Function> {
    /// The function.
    pub function: F,
    /// The types of its arguments, the variadic ones expanded.
    pub arguments: Vec<Oid>,
    /// For each argument the place in the call where it stands; `None` where the default applies.
    pub places: Vec<Option<usize>>,
    /// The number of arguments that are variadic ones.
    pub variadic: usize,
}

/// Why there is no function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoFunction {
    /// None fits.
    Unknown,
    /// Several fit equally well.
    Ambiguous,
}

/// The function of a name for these arguments.
///
/// # Errors
/// None fits, or several fit equally well.
pub fn function(name: &str, arguments: &Arguments) -> Result<Chosen, NoFunction> {
    among(functions::named(name), arguments)
}

/// A function that may be meant, and whether another one takes the same arguments and is no worse.
type Known<F> = Candidate<(Chosen<F>, bool)>;

/// The one of several functions that is meant with these arguments. Those of schemas that come first hide others with the
/// same arguments.
///
/// # Errors
/// None fits, or several fit equally well.
pub fn among<F: Signature>(
    all: impl Iterator<Item = F>,
    arguments: &Arguments,
) -> Result<Chosen<F>, NoFunction> {
    let mut candidates: Vec<Known<F>> = Vec::new();
    for candidate in all.filter_map(|function| candidate(function, arguments)) {
        add(&mut candidates, candidate);
    }
    let given = arguments.types;
    let only = |known: Known<F>| match known.what {
        (_, true) => Err(NoFunction::Ambiguous),
        (chosen, false) => Ok(chosen),
    };
    let exact = |candidate: &Known<F>| candidate.arguments == given;
    if let Some(at) = candidates.iter().position(exact) {
        return only(candidates.swap_remove(at));
    }
    let mut found = matching(candidates, given);
    match found.len() {
        0 => Err(NoFunction::Unknown),
        1 => only(found.remove(0)),
        _ => best(found, given).ok_or(NoFunction::Ambiguous).and_then(only),
    }
}

/// A function as a candidate, with argument types in the order of the call.
fn candidate<F: Signature>(function: F, call: &Arguments) -> Option<Known<F>> {
    let count = call.types.len();
    let declared = function.arguments().len();
    let mut arguments = function.arguments().to_vec();
    let mut variadic = 0;
    if let (Some(item), false) = (function.variadic(), call.is_variadic_array) {
        if !call.names.is_empty() {
            return None;
        }
        // Without an argument for the array, its default counts.
        variadic = (count + 1).saturating_sub(declared);
        if variadic > 0 {
            arguments.pop();
            arguments.extend(std::iter::repeat_n(item, variadic));
        }
    } else if call.is_variadic_array && function.variadic().is_none() {
        return None;
    }
    let total = arguments.len();
    let defaults = function.defaults();
    if count > total || count + defaults < total {
        return None;
    }
    let positional = count - call.names.len();
    let mut places: Vec<Option<usize>> =
        (0..total).map(|at| (at < positional).then_some(at)).collect();
    for (at, name) in call.names.iter().enumerate() {
        let argument = function.named(name)?;
        let place = places.get_mut(argument)?;
        if place.is_some() {
            return None;
        }
        *place = Some(positional + at);
    }
    if places.iter().take(total - defaults).any(Option::is_none) {
        return None;
    }
    let mut in_call = vec![Oid::ANY; count];
    for (argument, place) in places.iter().enumerate() {
        if let Some(place) = place {
            in_call[*place] = arguments[argument];
        }
    }
    let chosen = Chosen { function, arguments, places, variadic };
    Some(Candidate { what: (chosen, false), arguments: in_call })
}

/// Adds a candidate. Of two with the same arguments, one without variadic arguments wins; if the defaults of both of them
/// fit the call, neither does.
fn add<F: Signature>(candidates: &mut Vec<Known<F>>, new: Known<F>) {
    let same = candidates.iter_mut().find(|known| known.arguments == new.arguments);
    let Some(known) = same else { return candidates.push(new) };
    let ((old, is_ambiguous), added) = (&mut known.what, &new.what.0);
    let schema = old.function.schema();
    if schema != added.function.schema() {
        return;
    }
    let defaults =
        |chosen: &Chosen<F>| chosen.places.iter().filter(|place| place.is_none()).count();
    match (old.variadic > 0, added.variadic > 0) {
        (false, true) => {}
        (true, false) => *known = new,
        _ if schema != SYSTEM => *is_ambiguous = true,
        _ if defaults(added) < defaults(old) => *known = new,
        _ => {}
    }
}
