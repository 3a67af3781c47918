//! Aggregates: those that the engine computes, and the value of the tree's aggregate over them.

mod distinct;
mod hypothetical;
mod ordered;
mod places;
mod table;
mod user;

use crate::functions::{called, with_one_zero};
use crate::numbers::is_open_number;
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use crate::types::DIGITS_MAX;
use ::functions::extremes::Extreme;
use ::functions::numbers::totals::{DISTINCT_TOTALS, TOTALS};
use analyzer::system::{Oid, SqlType, functions};
use analyzer::tree::{AggregateCall, Kind, WindowCall};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{AggregateFunction, Sort};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{AggregateUDF, Expr, WindowFrame, WindowFrameUnits};
use optimizer::where_filtered;
use std::sync::Arc;
use table::Plan;
use values::numbers::has_one_scale;

/// An aggregate of the engine: its function, its arguments, and the Arrow type of its value.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) function: Arc<AggregateUDF>,
    pub(crate) arguments: Vec<Expr>,
    /// The order in which it takes values, whatever the statement says.
    order: Vec<Sort>,
    pub(crate) data_type: DataType,
}

impl Part {
    /// The function over a frame. If rows leave the frame, it is computed anew where the engine's function does not take
    /// them out, or not exactly. The engine turns only exact ones round to save a sort, since rows leave the frame then; and if
    /// they are computed forwards, only where equal rows are in a frame together.
    pub(crate) fn over(&self, frame: &WindowFrame, forwards: bool) -> Arc<AggregateUDF> {
        let (function, is_exact) = (Arc::clone(&self.function), self.is_exact());
        let turns = is_exact && !(forwards && frame.units == WindowFrameUnits::Rows);
        match is_exact || frame.start_bound.is_unbounded() {
            true if turns => function,
            true => Arc::new(frames::in_order(function)),
            false => Arc::new(frames::recomputed(function)),
        }
    }

    /// Whether its value is the totals of numbers.
    fn has_totals(&self) -> bool {
        TOTALS.contains(&self.function.name())
    }

    /// Whether rows can be taken out of the function, so that nothing of them stays.
    pub(crate) fn is_exact(&self) -> bool {
        // A user's aggregate has a name with a schema.
        match self.function.name() {
            "count" | "min" | "max" | "sum" => true,
            name if TOTALS.contains(&name) || Extreme::named(name).is_some() => true,
            _ => false,
        }
    }
}

/// The aggregates of the engine of which one of the tree is made, and the value over theirs.
pub(crate) struct Made {
    pub(crate) parts: Vec<Part>,
    plan: Plan,
    sql_type: SqlType,
    /// The type of the array of all values, for aggregates that make one.
    array: SqlType,
    /// Arguments that are the same for all rows of a group.
    direct: Vec<Direct>,
}

/// An argument that is the same for all rows of a group.
enum Direct {
    /// It depends on no row.
    Value(Typed),
    /// It is the next column behind those of the parts.
    OfGroup(SqlType, DataType),
    /// It is computed of keys of grouping sets.
    OfKeys(Box<analyzer::tree::Expr>),
}

impl Made {
    /// Computes what depends on the keys of groups, which are columns now.
    pub(crate) fn with_keys(mut self, lowering: &mut Lowering<'_>) -> Result<Self> {
        for direct in &mut self.direct {
            if let Direct::OfKeys(argument) = direct {
                *direct = Direct::Value(lowering.expr(argument)?);
            }
        }
        Ok(self)
    }

    /// The value of the aggregate over the columns with the values of its parts.
    pub(crate) fn value(&self, lowering: &Lowering<'_>, columns: Vec<Expr>) -> Result<Typed> {
        let of_part =
            if matches!(self.plan, Plan::Ordered(_)) { self.array } else { self.sql_type };
        let mut columns = columns.into_iter();
        let of_parts = self.parts.iter().zip(columns.by_ref()).map(|(part, expr)| Typed {
            expr,
            sql_type: of_part,
            data_type: part.data_type.clone(),
        });
        let mut values: Vec<Typed> = of_parts.collect();
        for direct in &self.direct {
            values.extend(match direct {
                Direct::Value(value) => Some(value.clone()),
                Direct::OfKeys(_) => None,
                Direct::OfGroup(sql_type, data_type) => columns.next().map(|expr| Typed {
                    expr,
                    sql_type: *sql_type,
                    data_type: data_type.clone(),
                }),
            });
        }
        self.plan.value(lowering, values, self.sql_type)
    }
}

impl Lowering<'_> {
    /// The parts of an aggregate of some arguments.
    pub(crate) fn parts_of(
        &mut self,
        function: Oid,
        arguments: &[analyzer::tree::Expr],
        sql_type: SqlType,
        distinct: bool,
    ) -> Result<Made> {
        let Some(plan) = table::of(function) else {
            let name = functions::of(function).map_or("?", |function| function.name);
            let types: Vec<String> =
                arguments.iter().map(|argument| argument.sql_type.oid.to_string()).collect();
            return missing(format!("aggregate {name}({})", types.join(", ")));
        };
        let arguments = match arguments {
            // A row that is there is not NULL.
            [analyzer::tree::Expr { kind: Kind::WholeRow(relation), .. }]
                if plan == Plan::Count =>
            {
                self.presence(*relation)?.into_iter().collect()
            }
            // The values have the blanks of `char(n)`, since their type has no length.
            arguments => {
                let values = self.exprs(arguments)?.into_iter();
                let is_json = matches!(plan, Plan::Gathered(..));
                let given = |value| {
                    let value = if is_json { self.as_json(value) } else { self.padded(value) }?;
                    Ok(if distinct { with_one_zero(value) } else { value })
                };
                values.map(given).collect::<Result<Vec<_>>>()?
            }
        };
        let is_varied = |delimiter: &Typed| delimiter.value().is_none();
        let has_key = |value: &Typed| Self::has_equality_key(value.sql_type, &value.data_type);
        let plan = match plan {
            Plan::Named("string_agg") if arguments.get(1).is_some_and(is_varied) => Plan::Joined,
            // Equal values may differ.
            Plan::Named(name @ ("min" | "max")) if arguments.iter().any(has_key) => {
                Plan::Extreme { is_greatest: name == "max" }
            }
            plan => plan,
        };
        if plan == Plan::Bytes {
            return self.joined_bytes(arguments, sql_type);
        }
        let parts = plan.parts(self, arguments)?;
        Ok(Made { parts, plan, sql_type, array: sql_type, direct: Vec::new() })
    }

    /// Whether the value of an aggregate may depend on the order in which rows come.
    pub(crate) fn takes_rows_as_they_come(&self, call: &AggregateCall) -> bool {
        // Equal values of these types may differ.
        let is_mixed = |of: &analyzer::tree::Expr| {
            matches!(of.sql_type.oid, Oid::NUMERIC | Oid::BPCHAR | Oid::INTERVAL)
                || of.sql_type.oid.element().is_some()
        };
        let depends = match table::of(call.function) {
            Some(Plan::Named("min" | "max") | Plan::Extreme { .. }) => {
                call.arguments.iter().any(is_mixed)
            }
            Some(plan) => plan.is_ordered(),
            None => call.user.is_some(),
        };
        depends && call.order_by.is_empty() && !call.distinct && self.input_order.is_empty()
    }

    /// The aggregate of an aggregate call, and its engine's expressions.
    pub(crate) fn aggregate(&mut self, call: &AggregateCall) -> Result<(Made, Vec<Expr>)> {
        if let Some(user) = &call.user {
            return self.user_aggregate(call, user);
        }
        match functions::of(call.function).map(|function| function.aggregate) {
            Some(functions::AggregateKind::OrderedSet) => return self.ordered_set(call),
            Some(functions::AggregateKind::Hypothetical) => return self.hypothetical(call),
            _ => {}
        }
        if call.distinct
            && let Some(made) = self.sorted_set(call)?
        {
            return Ok(made);
        }
        let mut made =
            self.parts_of(call.function, &call.arguments, call.sql_type, call.distinct)?;
        let keys = if call.distinct { self.distinct_keys(&mut made, call)? } else { None };
        let filter = match &call.filter {
            Some(filter) => Some(Box::new(self.condition(filter)?)),
            None => None,
        };
        if let Some(keys) = keys {
            let parts = made.parts.iter();
            let exprs = parts.map(|part| distinct::of_first(part, &keys, filter.clone())).collect();
            return Ok((made, exprs));
        }
        let order = call.order_by.iter().map(|key| self.sort_key(key));
        let mut order: Vec<Sort> = order.collect::<Result<_>>()?;
        if order.is_empty() && made.plan.is_ordered() {
            order.clone_from(&self.input_order);
        }
        let mut of_engine = |part: &Part| {
            let order = if part.order.is_empty() { order.clone() } else { part.order.clone() };
            self.in_order(part, order, call.distinct, filter.clone())
        };
        let exprs = made.parts.iter().map(&mut of_engine).collect();
        Ok((made, exprs))
    }

    /// The engine's expression for a part that takes its values in an order. The engine sorts them for the first order of a
    /// SELECT.
    fn in_order(
        &mut self,
        part: &Part,
        order: Vec<Sort>,
        distinct: bool,
        filter: Option<Box<Expr>>,
    ) -> Expr {
        let (mut function, mut arguments) = (Arc::clone(&part.function), part.arguments.clone());
        let (mut distinct, mut order) = (distinct, order);
        for expr in arguments.iter_mut().chain(order.iter_mut().map(|key| &mut key.expr)) {
            *expr = where_filtered(std::mem::take(expr), filter.as_deref());
        }
        let totals = TOTALS.iter().position(|name| function.name() == *name);
        if let (true, Some(place)) = (distinct, totals)
            && let Some(of_distinct) = self.aggregate_named(DISTINCT_TOTALS[place])
        {
            (function, distinct) = (of_distinct, false);
        }
        if Extreme::named(function.name()).is_some() {
            (distinct, order) = (false, Vec::new());
        }
        let is_list = matches!(function.name(), "array_agg" | "string_agg");
        if is_list && !order.is_empty() {
            let first = self.aggregate_order.get_or_insert_with(|| order.clone());
            if *first != order {
                let count = arguments.len();
                function = Arc::new(frames::sorted(function, count, &order, distinct));
                arguments.extend(order.into_iter().map(|key| key.expr));
                (distinct, order) = (false, Vec::new());
            }
        }
        let call = AggregateFunction::new_udf(function, arguments, distinct, filter, order, None);
        Expr::AggregateFunction(call)
    }

    /// The aggregate of a window function; `None` if it is no aggregate.
    pub(crate) fn window_aggregate(&mut self, call: &WindowCall) -> Result<Option<Made>> {
        if let Some(user) = &call.user {
            return self.user_window(call, user).map(Some);
        }
        if functions::of(call.function)
            .is_some_and(|f| f.kind != functions::FunctionKind::Aggregate)
        {
            return Ok(None);
        }
        self.parts_of(call.function, &call.arguments, call.sql_type, false).map(Some)
    }

    /// A part that calls an aggregate of the engine.
    fn part(&self, name: &str, arguments: Vec<Typed>) -> Result<Part> {
        let Some(function) = self.aggregate_named(name) else {
            return missing(format!("aggregate {name}"));
        };
        let fields: Vec<FieldRef> = arguments.iter().map(Typed::field).collect();
        let fields = fields_with_udf(&fields, function.as_ref())?;
        let arguments = arguments.into_iter().zip(&fields);
        let arguments = arguments.map(|(value, field)| value.converted(field.data_type()).expr);
        let arguments = arguments.collect();
        let data_type = function.return_field(&fields)?.data_type().clone();
        Ok(Part { function, arguments, order: Vec::new(), data_type })
    }

    /// The part that returns the greatest or the least value by its key: the last of equal ones, but the first of `char`.
    fn extreme(&self, is_greatest: bool, arguments: Vec<Typed>) -> Result<Part> {
        let [value] = crate::functions::take(arguments)?;
        let is_first = value.sql_type.oid == Oid::BPCHAR;
        // Numbers with a scale each begin with their keys.
        let arguments = match is_open_number(&value) {
            true => vec![value],
            false => vec![value.clone(), self.order_key(value)?],
        };
        self.part(Extreme { is_greatest, is_first }.name(), arguments)
    }

    /// `string_agg` of bytes: the array of all values, joined.
    fn joined_bytes(&self, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Made> {
        let [value, between] = crate::functions::take(arguments)?;
        let mut parts = vec![self.part("array_agg", vec![value])?];
        let direct = match between.value().is_some() {
            true => vec![Direct::Value(between)],
            false => {
                // Each value has a delimiter of its own.
                parts.push(self.part("array_agg", vec![between])?);
                Vec::new()
            }
        };
        let array = SqlType::plain(Oid::BYTEA.array().unwrap_or(Oid::TEXT_ARRAY));
        let plan = Plan::Ordered("ordered_bytes");
        Ok(Made { parts, plan, sql_type, array, direct })
    }

    /// The engine's aggregate that counts rows.
    pub(crate) fn count_of_rows(&self) -> Result<Expr> {
        let Part { function, arguments, .. } = self.count(Vec::new())?;
        let call = AggregateFunction::new_udf(function, arguments, false, None, Vec::new(), None);
        Ok(Expr::AggregateFunction(call))
    }

    /// The part that counts values, or rows if there is none.
    fn count(&self, arguments: Vec<Typed>) -> Result<Part> {
        let one = || Typed::constant(ScalarValue::Int64(Some(1)), Oid::INT8.into());
        let arguments = if arguments.is_empty() { vec![one()] } else { arguments };
        self.part("count", arguments)
    }

    /// The part that adds values; `bigint` is added as numeric and cannot overflow. Numbers with a scale each have totals.
    fn sum(&self, mut arguments: Vec<Typed>) -> Result<Part> {
        let is_numeric = |value: &Typed| value.sql_type.oid == Oid::NUMERIC;
        if arguments.iter().any(|value| is_numeric(value) && !is_added(&value.data_type)) {
            return self.part(TOTALS[0], arguments);
        }
        for argument in &mut arguments {
            if ::functions::numbers::decimals::summed(&argument.data_type).is_some() {
                let summand = Arc::new(::functions::numbers::decimals::summand());
                let (expr, data_type) = called(&summand, vec![argument.clone()])?;
                *argument = Typed { expr, sql_type: Oid::NUMERIC.into(), data_type };
            }
        }
        self.part("sum", arguments)
    }
}

/// Whether the engine adds decimals of a type, so that the sum has their scale.
fn is_added(data_type: &DataType) -> bool {
    // The sum has ten digits more.
    let sum = match data_type {
        DataType::Decimal128(precision, scale) => {
            DataType::Decimal128(precision.saturating_add(10).min(DIGITS_MAX), *scale)
        }
        other => other.clone(),
    };
    has_one_scale(data_type) && has_one_scale(&sum)
}
