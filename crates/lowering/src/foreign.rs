//! Functions of users in other languages: their definitions, and calls of them.

use crate::functions::called;
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::sets::SetColumn;
use crate::typed::Typed;
use crate::types;
use ::foreign::{Definition, Language, Parameter, Returns, Signature};
use analyzer::system::{Oid, SqlType};
use analyzer::tree::{Call, Executed, ForeignCall, SetCall};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::Expr;
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
        returns: returns(function)?,
        is_strict: function.is_strict,
        volatility: function.volatility,
    };
    let symbol = function.extension.symbol.as_deref();
    let (id, name) = (function.id.0, &function.name);
    Ok(Definition::new(id, name, language, signature, &function.body, symbol)?)
}

/// What a function gives. Only plain values cross the border with the scale of parameters.
fn returns(function: &Function) -> Result<Returns> {
    let result = Oid(function.result_id);
    if result != Oid::RECORD && !function.returns_set {
        return Ok(Returns::value(held(result)?));
    }
    let mut columns = Vec::new();
    for (at, output) in function.outputs().enumerate() {
        let name = match output.name.as_str() {
            "" => format!("column{}", at + 1),
            name => name.to_owned(),
        };
        columns.push(Parameter { name, sql_type: own(Oid(output.type_id))? });
    }
    let is_row = result == Oid::RECORD;
    if !is_row {
        columns = vec![Parameter { name: function.name.clone(), sql_type: own(result)? }];
    }
    Ok(Returns { columns, is_row, is_set: function.returns_set })
}

/// The type of a parameter or a plain result.
fn held(oid: Oid) -> Result<Held> {
    own(oid).map(at_the_border)
}

/// A type that is none of a user.
fn own(oid: Oid) -> Result<Held> {
    let held = types::held(SqlType::plain(oid))?;
    let item = match &held {
        Held::Array(item) => item,
        held => held,
    };
    match item.user_type() {
        Some(user) => missing(format!("type {} in a function of another language", user.name)),
        None => Ok(held),
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
    /// A call of a function that runs for rows and gives a plain value.
    pub(crate) fn foreign(&mut self, call: &ForeignCall, sql_type: SqlType) -> Result<Typed> {
        let (expr, data_type) = self.foreign_value(call.function, &call.arguments)?;
        let value = Typed::of(expr, data_type, sql_type)?;
        // Zeros behind the point are those of the border.
        match value.data_type == BORDER.arrow() {
            true => self.hidden("numeric_trim_scale", vec![value], sql_type),
            false => Ok(value),
        }
    }

    /// What a function that runs for rows gives, and the type of it.
    fn foreign_value(
        &mut self,
        function: u32,
        arguments: &[analyzer::tree::Expr],
    ) -> Result<(Expr, DataType)> {
        let id = RelationId(function);
        let Some(function) = self.around.catalog.and_then(|catalog| catalog.function_by_id(id))
        else {
            return missing("a call of a user's function in this place");
        };
        let function = Arc::new(::foreign::function(&definition(function)?));
        let arguments = self.exprs(arguments)?;
        called(&function, arguments)
    }

    /// The row of a function that runs for rows.
    pub(crate) fn foreign_row(
        &mut self,
        call: &Call,
        executed: &Executed,
        sql_type: SqlType,
    ) -> Result<Typed> {
        let (expr, data_type) = self.foreign_value(executed.id, &call.arguments)?;
        Ok(Typed { expr, sql_type, data_type })
    }

    /// The rows of a function that runs for rows: an array of records for a set, of one value for others.
    pub(crate) fn foreign_set(&mut self, set: &SetCall, executed: &Executed) -> Result<SetColumn> {
        let (expr, data_type) = self.foreign_value(executed.id, &set.call.arguments)?;
        let fields: Vec<SqlType> = set.columns.iter().map(|column| column.sql_type).collect();
        let sql_type = Oid::RECORD_ARRAY.into();
        if set.returns_set {
            let array = Typed { expr, sql_type, data_type };
            return Ok(SetColumn { fields, ..SetColumn::plain(array, Oid::RECORD.into()) });
        }
        let is_row = matches!(data_type, DataType::Struct(_));
        let item = fields.first().copied().filter(|_| !is_row).unwrap_or(Oid::RECORD.into());
        let mut value = Typed { expr, sql_type: item, data_type };
        if value.data_type == BORDER.arrow() {
            value = self.hidden("numeric_trim_scale", vec![value], item)?;
        }
        let (expr, data_type) = self.engine_function("make_array", vec![value])?;
        let array = Typed { expr, sql_type, data_type };
        let fields = if is_row { fields } else { Vec::new() };
        Ok(SetColumn { fields, ..SetColumn::plain(array, item) })
    }
}
