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

/// A chosen function.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The function.
    pub function: &'static Function,
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
    let mut candidates: Vec<Candidate<Chosen>> = Vec::new();
    for function in functions::named(name) {
        if let Some(candidate) = candidate(function, arguments) {
            candidates.push(candidate);
        }
    }
    prefer_fixed(&mut candidates);
    let given = arguments.types;
    let exact = |candidate: &Candidate<Chosen>| candidate.arguments == given;
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
fn candidate(function: &'static Function, call: &Arguments) -> Option<Candidate<Chosen>> {
    let count = call.types.len();
    let declared = function.arguments.len();
    let mut arguments = function.arguments.clone();
    let mut variadic = 0;
    if let (Some(item), false) = (function.variadic, call.is_variadic_array) {
        if !call.names.is_empty() {
            return None;
        }
        if item == Oid::ANY {
            // VARIADIC "any" takes at least one argument of any type.
            variadic = count.checked_sub(declared - 1)?;
        } else {
            variadic = count.checked_sub(declared - 1).filter(|number| *number > 0)?;
        }
        if variadic == 0 {
            return None;
        }
        arguments.pop();
        arguments.extend(std::iter::repeat_n(item, variadic));
    } else if call.is_variadic_array && function.variadic.is_none() {
        return None;
    }
    let total = arguments.len();
    let defaults = function.defaults.len();
    if count > total || count + defaults < total {
        return None;
    }
    let positional = count - call.names.len();
    let mut places: Vec<Option<usize>> =
        (0..total).map(|at| (at < positional).then_some(at)).collect();
    for (at, name) in call.names.iter().enumerate() {
        let argument = function.argument_names.iter().position(|known| known == name)?;
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
fn prefer_fixed(candidates: &mut Vec<Candidate<Chosen>>) {
    let weight = |chosen: &Chosen| {
        (chosen.variadic, chosen.places.iter().filter(|place| place.is_none()).count())
    };
    candidates.sort_by_key(|candidate| weight(&candidate.what));
    let mut kept: Vec<Candidate<Chosen>> = Vec::new();
    for candidate in candidates.drain(..) {
        if !kept.iter().any(|other| other.arguments == candidate.arguments) {
            kept.push(candidate);
        }
    }
    *candidates = kept;
}
