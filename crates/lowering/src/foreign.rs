//! Functions of users in other languages: their definitions, and calls of them.

use crate::functions::called;
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use crate::types;
use ::foreign::{Definition, Language, Parameter, Signature};
use analyzer::system::{Oid, SqlType};
use analyzer::tree::ForeignCall;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use store::catalog::{Function, RelationId, SqlType as Held};

/// The definitions that have been made of functions, by the functions' ids.
static MADE: LazyLock<Mutex<BTreeMap<u32, Made>>> = LazyLock::new(Mutex::default);

/// A definition, and the function of which it was made.
struct Made {
    of: Weak<Function>,
    definition: Arc<Definition>,
}

/// The most definitions that are kept.
const KEPT_MAX: usize = 256;

/// The definition of a function that is not expanded.
///
/// # Errors
/// Missing for types that such functions do not have; 42P13 for a source that is none.
pub fn definition(function: &Arc<Function>) -> Result<Arc<Definition>> {
    let made = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = made().get(&function.id.0)
        && known.of.upgrade().is_some_and(|of| Arc::ptr_eq(&of, function))
    {
        return Ok(Arc::clone(&known.definition));
    }
    let definition = Arc::new(defined(function)?);
    let mut all = made();
    if all.len() >= KEPT_MAX {
        all.retain(|_, known| known.of.strong_count() > 0);
    }
    if all.len() >= KEPT_MAX {
        all.clear();
    }
    let known = Made { of: Arc::downgrade(function), definition: Arc::clone(&definition) };
    all.insert(function.id.0, known);
    Ok(definition)
}

fn defined(function: &Function) -> Result<Definition> {
    let Some(language) = Language::of(&function.language) else {
        return missing(format!("a call of a function of the language {}", function.language));
    };
    let mut parameters = Vec::new();
    for input in function.inputs() {
        let sql_type = held(Oid(input.type_id))?;
        parameters.push(Parameter { name: input.name.clone(), sql_type });
    }
    let signature = Signature {
        parameters,
        result: held(Oid(function.result_id))?,
        is_strict: function.is_strict,
        volatility: function.volatility,
    };
    let symbol = function.extension.symbol.as_deref();
    let (id, name) = (function.id.0, &function.name);
    Ok(Definition::new(id, name, language, signature, &function.body, symbol)?)
}

/// The type of a parameter or result.
fn held(oid: Oid) -> Result<Held> {
    let held = types::held(SqlType::plain(oid))?;
    let item = match &held {
        Held::Array(item) => item,
        held => held,
    };
    match item.user_type() {
        Some(user) => missing(format!("type {} in a function of another language", user.name)),
        None => Ok(at_the_border(held)),
    }
}

/// The digits of a numeric without declaration in functions of other languages, and how many are behind the point.
const BORDER: Held = Held::Numeric { precision: 38, scale: 10 };

/// A type as functions of other languages know it: decimals have one scale in their columns.
fn at_the_border(held: Held) -> Held {
    match held {
        Held::Array(item) => Held::Array(Box::new(at_the_border(*item))),
        numeric if numeric == Held::NUMERIC => BORDER,
        other => other,
    }
}

impl Lowering<'_> {
    /// A call of a function that runs for rows.
    pub(crate) fn foreign(&mut self, call: &ForeignCall, sql_type: SqlType) -> Result<Typed> {
        let id = RelationId(call.function);
        let Some(function) = self.around.catalog.and_then(|catalog| catalog.function_by_id(id))
        else {
            return missing("a call of a user's function in this place");
        };
        let function = Arc::new(::foreign::function(&definition(function)?));
        let arguments = self.exprs(&call.arguments)?;
        let (expr, data_type) = called(&function, arguments)?;
        let value = Typed::of(expr, data_type, sql_type)?;
        // Zeros behind the point are those of the border.
        match value.data_type == BORDER.arrow() {
            true => self.hidden("numeric_trim_scale", vec![value], sql_type),
            false => Ok(value),
        }
    }
}
