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
}

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

/// The one of several functions that is meant with these arguments. Of two with the same arguments, the first.
///
/// # Errors
/// None fits, or several fit equally well.
pub fn among<F: Signature>(
    all: impl Iterator<Item = F>,
    arguments: &Arguments,
) -> Result<Chosen<F>, NoFunction> {
    let mut candidates: Vec<Candidate<Chosen<F>>> = Vec::new();
    for function in all {
        if let Some(candidate) = candidate(function, arguments) {
            candidates.push(candidate);
        }
    }
    prefer_fixed(&mut candidates);
    let given = arguments.types;
    let exact = |candidate: &Candidate<Chosen<F>>| candidate.arguments == given;
    if let Some(at) = candidates.iter().position(exact) {
        return Ok(candidates.swap_remove(at).what);
    }
    let mut found = matching(candidates, given);
    match found.len() {
        0 => Err(NoFunction::Unknown),
        1 => Ok(found.remove(0).what),
        _ => best(found, given).map(|best| best.what).ok_or(NoFunction::Ambiguous),
    }
}

/// A function as a candidate, with argument types in the order of the call.
fn candidate<F: Signature>(function: F, call: &Arguments) -> Option<Candidate<Chosen<F>>> {
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
    Some(Candidate { what: Chosen { function, arguments, places, variadic }, arguments: in_call })
}

/// Of functions with the same argument types, those without variadic arguments and defaults win.
fn prefer_fixed<F: Signature>(candidates: &mut Vec<Candidate<Chosen<F>>>) {
    let weight = |chosen: &Chosen<F>| {
        (chosen.variadic, chosen.places.iter().filter(|place| place.is_none()).count())
    };
    candidates.sort_by_key(|candidate| weight(&candidate.what));
    let mut kept: Vec<Candidate<Chosen<F>>> = Vec::new();
    for candidate in candidates.drain(..) {
        if !kept.iter().any(|other| other.arguments == candidate.arguments) {
            kept.push(candidate);
        }
    }
    *candidates = kept;
}
