//! Functions of users in other languages: their definitions, and calls of them.

use crate::functions::called;
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::sets::SetColumn;
use crate::typed::Typed;
use crate::types;
use ::foreign::{
    BORDER, Definition, Language, Parameter, Returns, Signature, argument_type, column_type,
    value_type,
};
use analyzer::system::{Oid, SqlType};
use analyzer::tree::{Call, Executed, ForeignCall, SetCall};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::Expr;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use store::catalog::{Catalog, Function, RelationId, SqlType as Held, TypeId};

/// The definitions that have been made of functions, by the functions' ids.
static MADE: LazyLock<Mutex<BTreeMap<u32, Made>>> = LazyLock::new(Mutex::default);

/// A definition, and the function of which it was made.
struct Made {
    of: Weak<Function>,
    definition: Arc<Definition>,
}

/// The most definitions that are kept.
const KEPT_MAX: usize = 256;

/// The definition of a function that is not expanded. `actual` are the types of the arguments and of the result that a
/// polymorphic one has in a call.
///
/// # Errors
/// Missing for types that such functions do not have; 42P13 for a source that is none.
pub fn definition(
    catalog: &Catalog,
    function: &Arc<Function>,
    actual: &[Held],
) -> Result<Arc<Definition>> {
    let made = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
    // A type of users may have changed since.
    let signature = signature(catalog, function, actual)?;
    if let Some(known) = made().get(&function.id.0)
        && known.of.upgrade().is_some_and(|of| Arc::ptr_eq(&of, function))
        && known.definition.signature == signature
    {
        return Ok(Arc::clone(&known.definition));
    }
    let definition = Arc::new(defined(function, signature)?.of_types(actual));
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

fn defined(function: &Function, signature: Signature) -> Result<Definition> {
    let Some(language) = Language::of(&function.language) else {
        return missing(format!("a call of a function of the language {}", function.language));
    };
    let symbol = function.extension.symbol.as_deref();
    let (id, name) = (function.id.0, &function.name);
    Ok(Definition::new(id, name, language, signature, &function.body, symbol)?)
}

fn signature(catalog: &Catalog, function: &Function, actual: &[Held]) -> Result<Signature> {
    let mut parameters = Vec::new();
    for (at, input) in function.inputs().enumerate() {
        let sql_type = argument_type(&own(catalog, input.type_id, actual.get(at))?);
        parameters.push(Parameter { name: input.name.clone(), sql_type });
    }
    let (is_strict, volatility) = (function.is_strict, function.volatility);
    let returns = returns(catalog, function, actual.last())?;
    Ok(Signature { parameters, returns, is_strict, volatility })
}

/// What a function gives. Only plain values cross the border with the scale of parameters.
fn returns(catalog: &Catalog, function: &Function, actual: Option<&Held>) -> Result<Returns> {
    let result = Oid(function.result_id);
    let is_set = function.returns_set;
    if result == Oid::VOID {
        return Ok(Returns::void());
    }
    let of_table = function.result_relation.and_then(|id| catalog.type_by_id(TypeId::of_rows(id)));
    let is_row = result == Oid::RECORD && of_table.is_none();
    let value = match of_table {
        Some(rows) => Held::User(rows),
        None if is_row => Held::Text,
        None => own(catalog, function.result_id, actual)?,
    };
    if !is_row && (!is_set || value.attributes().is_some()) {
        return Ok(Returns::composite(value_type(&value)?, is_set));
    }
    let mut columns = Vec::new();
    for (at, output) in function.outputs().enumerate() {
        let name = match output.name.as_str() {
            "" => format!("column{}", at + 1),
            name => name.to_owned(),
        };
        let sql_type = column_type(&own(catalog, output.type_id, None)?)?;
        columns.push(Parameter { name, sql_type });
    }
    if !is_row {
        columns = vec![Parameter { name: function.name.clone(), sql_type: column_type(&value)? }];
    }
    Ok(Returns { columns, is_row, is_set })
}

/// The type with an id of the catalog or of the analyzer; the actual one of a polymorphic one, which is text where the function
/// is not called.
fn own(catalog: &Catalog, id: u32, actual: Option<&Held>) -> Result<Held> {
    if Oid(id).is_polymorphic() {
        return Ok(actual.cloned().unwrap_or(Held::Text));
    }
    match catalog.type_shown(id) {
        Some((user, false)) => Ok(Held::User(user)),
        Some((user, true)) => Ok(Held::Array(Box::new(Held::User(user)))),
        None => types::held(SqlType::plain(Oid(id))),
    }
}

impl Lowering<'_> {
    /// A call of a function that runs for rows and gives a plain value.
    pub(crate) fn foreign(&mut self, call: &ForeignCall, sql_type: SqlType) -> Result<Typed> {
        let (expr, data_type) = self.foreign_value(call.function, &call.arguments, sql_type)?;
        let value = Typed::of(expr, data_type, sql_type)?;
        // Zeros behind the point are those of the border.
        match value.data_type == BORDER.arrow() {
            true => self.hidden("numeric_trim_scale", vec![value], sql_type),
            false => Ok(value),
        }
    }

    /// What a function that runs for rows gives, and the type of it. `result` is the type of a value of it.
    fn foreign_value(
        &mut self,
        function: u32,
        arguments: &[analyzer::tree::Expr],
        result: SqlType,
    ) -> Result<(Expr, DataType)> {
        let id = RelationId(function);
        let catalog = self.around.catalog;
        let found = catalog.and_then(|catalog| Some((catalog, catalog.function_by_id(id)?)));
        let Some((catalog, function)) = found else {
            return missing("a call of a user's function in this place");
        };
        let mut actual = Vec::new();
        if function.inputs().any(|input| Oid(input.type_id).is_polymorphic()) {
            let types = arguments.iter().map(|argument| argument.sql_type).chain([result]);
            // Rows have columns of their own.
            let held = |of: SqlType| match of.oid {
                Oid::RECORD => Ok(Held::Text),
                _ => types::held(of),
            };
            actual = types.map(held).collect::<Result<_>>()?;
        }
        let function = Arc::new(::foreign::function(&definition(catalog, function, &actual)?));
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
        let (expr, data_type) = self.foreign_value(executed.id, &call.arguments, sql_type)?;
        Ok(Typed { expr, sql_type, data_type })
    }

    /// The rows of a function that runs for rows: an array of records for a set, of one value for others.
    pub(crate) fn foreign_set(&mut self, set: &SetCall, executed: &Executed) -> Result<SetColumn> {
        let fields: Vec<SqlType> = set.columns.iter().map(|column| column.sql_type).collect();
        let result = set.row.map(SqlType::from).or(fields.first().copied());
        let result = result.unwrap_or(Oid::RECORD.into());
        let (expr, data_type) = self.foreign_value(executed.id, &set.call.arguments, result)?;
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
