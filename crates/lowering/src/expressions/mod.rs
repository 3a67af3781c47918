//! Expressions.

mod arrays;
mod casts;
mod choices;
mod comparisons;
mod folding;
mod logic;
mod outer_members;
mod rows;
mod subqueries;
mod system_casts;
pub(crate) use subqueries::{outputs_of, subquery_of};
mod value_functions;
mod waiting;

use crate::long::Logic;
use crate::refusal::{Result, missing};
use crate::scope::{Lowering, Slot};
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType, functions, operators};
use analyzer::tree::{Call, Cast, Conversion, Expr, Kind};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr as Engine, lit};
use grammar::growing;
use values::error::{Error, SqlState};

impl Lowering<'_> {
    /// The engine's expression for one of the tree. Errors that have no position get its location.
    pub(crate) fn expr(&mut self, expr: &Expr) -> Result<Typed> {
        growing(|| self.of_kind(expr)).map_err(|refusal| self.locate(refusal, expr.location))
    }

    /// The engine's expressions for a list.
    pub(crate) fn exprs<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<Vec<Typed>> {
        exprs.into_iter().map(|expr| self.expr(expr)).collect()
    }

    /// The engine's expression for a condition.
    pub(crate) fn condition(&mut self, expr: &Expr) -> Result<Engine> {
        Ok(self.expr(expr)?.expr)
    }

    fn of_kind(&mut self, expr: &Expr) -> Result<Typed> {
        let sql_type = expr.sql_type;
        if let Some(known) = self.shared_value(expr)? {
            return Ok(known);
        }
        match &expr.kind {
            Kind::Literal(literal) => self.literal(literal, sql_type),
            Kind::Parameter(number) => self.parameter(*number, sql_type),
            Kind::Column(relation, column) => {
                let known = self.column(*relation, *column)?;
                Typed::of(known.expr, known.data_type, sql_type)
            }
            Kind::Output(column) => match self.outputs.get(*column).cloned() {
                Some(known) => Typed::of(known.expr, known.data_type, sql_type),
                None => missing("a reference to this column"),
            },
            Kind::GroupKey(select, index) => self.slot(*select, Slot::GroupKey(*index)),
            Kind::Aggregate(select, index) => self.slot(*select, Slot::Aggregate(*index)),
            Kind::Window(select, index) => self.slot(*select, Slot::Window(*index)),
            Kind::Set(select, index) => self.slot(*select, Slot::Set(*index)),
            Kind::Grouping(select, keys) => self.grouping(*select, keys, sql_type),
            Kind::Call(call) => self.call(call, sql_type),
            Kind::Cast(cast) => self.cast(cast, sql_type),
            Kind::Chain(chain) => self.chain(chain),
            Kind::Running => match self.running.clone() {
                Some(value) => Ok(value),
                None => missing("a chain of this form"),
            },
            Kind::And(parts) => self.joined(parts, Logic::And),
            Kind::Or(parts) => self.joined(parts, Logic::Or),
            Kind::Not(inner) => self.negation(inner),
            Kind::IsNull(inner) => match self.row_test(inner, true)? {
                Some(test) => Ok(test),
                None => self.null_test(inner, true),
            },
            Kind::IsNotNull(inner) => match self.row_test(inner, false)? {
                Some(test) => Ok(test),
                None => self.null_test(inner, false),
            },
            Kind::IsTruth(inner, test) => self.truth(inner, *test),
            Kind::IsDistinct(call) => self.distinct(call),
            Kind::NullIf(call) => self.null_if(call, sql_type),
            Kind::Case { branches, otherwise } => self.case(branches, otherwise, sql_type),
            Kind::Coalesce(values) => self.chosen("coalesce", values, sql_type),
            Kind::Greatest(values) => self.chosen("greatest", values, sql_type),
            Kind::Least(values) => self.chosen("least", values, sql_type),
            Kind::Array(items) => self.array(items, sql_type),
            Kind::Quantified(quantified) => self.quantified(quantified),
            Kind::Subscript { array, subscripts, is_slice } => {
                self.subscript(array, subscripts, *is_slice, sql_type)
            }
            Kind::Subquery(subquery) => self.subquery(subquery, sql_type),
            Kind::ValueFunction(function) => self.value_function(*function, sql_type),
            Kind::WholeRow(relation) => self.whole_row(*relation, sql_type),
            Kind::TableOid(relation) => self.table_oid(*relation),
            Kind::Row(fields) => self.row(fields),
            Kind::NamedRow(names, fields) => {
                let values = self.exprs(fields)?;
                self.record(names.clone(), values, None)
            }
            Kind::Field(field) => self.field(field, sql_type),
            Kind::Foreign(call) => self.foreign(call, sql_type),
        }
    }

    /// IS NULL and IS NOT NULL of a value that is no row.
    fn null_test(&mut self, inner: &Expr, is_null: bool) -> Result<Typed> {
        let inner = self.expr(inner)?;
        Ok(Typed::boolean(match inner.value() {
            Some(value) if self.around.folds => lit(value.is_null() == is_null),
            _ if is_null => inner.expr.is_null(),
            _ => inner.expr.is_not_null(),
        }))
    }

    fn call(&mut self, call: &Call, sql_type: SqlType) -> Result<Typed> {
        if call.is_variadic_array {
            return self.variadic(call, sql_type);
        }
        let is_untyped = |value: &Expr| {
            matches!(value.kind, Kind::WholeRow(_)) && !value.sql_type.oid.is_composite()
        };
        let has_row = call.arguments.iter().any(is_untyped);
        if has_row && functions::of(call.function).is_some_and(|f| f.name == "pg_typeof") {
            return missing("pg_typeof of the row of a relation");
        }
        if let Some(executed) = &call.executed {
            if executed.is_foreign {
                return self.foreign_row(call, executed, sql_type);
            }
            return self.executed(call, executed, sql_type);
        }
        let Some(make) = crate::functions::of(call.function) else {
            return match &call.arguments[..] {
                [value] if is_cast(call.function, sql_type) => {
                    let conversion = Conversion::Function(call.function);
                    let value = Box::new(value.clone());
                    self.cast(&Cast { value, conversion, is_explicit: true }, sql_type)
                }
                _ => missing(described(call)),
            };
        };
        let arguments = self.exprs(&call.arguments)?;
        if self.is_null_call(call.function, &arguments) {
            return Typed::null(sql_type);
        }
        let is_folded = self.is_folded(call.function, &arguments);
        let value = make.build(self, arguments, sql_type)?;
        Ok(if is_folded { self.folded(value) } else { value })
    }
}

impl Lowering<'_> {
    /// A call whose last argument is the array of variadic ones.
    fn variadic(&mut self, call: &Call, sql_type: SqlType) -> Result<Typed> {
        let Some((array, others)) = call.arguments.split_last() else {
            return missing("VARIADIC without an array");
        };
        let is_array = |item: &Expr| item.sql_type.oid.element().is_some();
        if !is_array(array) {
            let message = "VARIADIC argument must be an array";
            return Err(Error::new(SqlState::DatatypeMismatch, message).into());
        }
        if let Kind::Array(items) = &array.kind
            && !items.iter().any(is_array)
        {
            let arguments = others.iter().chain(items).cloned().collect();
            let call = Call { arguments, is_variadic_array: false, ..call.clone() };
            return self.call(&call, sql_type);
        }
        let name = analyzer::system::functions::of(call.function).map_or("?", |of| of.name);
        if name.contains("_extract_path") {
            // The operators have the path as an array.
            return self.call(&Call { is_variadic_array: false, ..call.clone() }, sql_type);
        }
        let between = match (name, others) {
            ("concat", []) => Typed::constant(ScalarValue::Utf8View(Some(String::new())), sql_type),
            ("concat_ws", [between]) => self.expr(between)?,
            _ => return missing(format!("VARIADIC of a computed array in {name}")),
        };
        let array = self.expr(array)?;
        self.registered("array_to_string", vec![array, between], sql_type)
    }
}

/// Whether a function has the name of the type that it returns: it is the one of a cast.
fn is_cast(function: Oid, returns: SqlType) -> bool {
    functions::of(function).is_some_and(|function| function.name == returns.oid.catalog_name())
}

/// A function or operator, as messages describe it.
pub(crate) fn described(call: &Call) -> String {
    let name = match call.operator.and_then(operators::of) {
        Some(operator) => format!("operator {}", operator.name),
        None => {
            let name = functions::of(call.function).map_or("?", |function| function.name);
            format!("function {name}")
        }
    };
    let types: Vec<String> =
        call.arguments.iter().map(|argument| argument.sql_type.oid.to_string()).collect();
    format!("{name}({})", types.join(", "))
}
