//! Window functions.

mod general;

use crate::aggregates::Made;
use crate::functions::with_one_zero;
use crate::refusal::{Result, missing};
use crate::scope::{Lowering, Slot};
use crate::typed::{Typed, unify};
use ::functions::datetime::moments::FINITE;
use analyzer::system::{Oid, functions};
use analyzer::tree::{
    Expr as Tree, FrameBound, FrameExclusion, FrameUnits, Select, WindowCall, WindowFrame,
};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::{Sort, WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, WindowFrame as Frame, WindowFrameBound,
    WindowFrameUnits, WindowFunctionDefinition,
};
use optimizer::where_filtered;
use std::sync::Arc;
use values::error::{Error, SqlState};
use values::numbers;

/// The functions that compare rows by ORDER BY, without which all rows are equal.
const COMPARING: [&str; 4] = ["rank", "dense_rank", "percent_rank", "cume_dist"];

/// The value of a window function over the columns that the engine's have.
enum Value {
    Aggregate(Made, Vec<Column>),
    Own(Column, DataType),
}

impl Lowering<'_> {
    /// A plan with the window functions of a SELECT, which take the rows in an order where they have none of their own.
    pub(crate) fn windows(
        &mut self,
        plan: LogicalPlan,
        select: &Select,
        order: &[Sort],
    ) -> Result<LogicalPlan> {
        if select.windows.is_empty() {
            return Ok(plan);
        }
        let plan = self.with_volatile_keys(plan, select)?;
        let mut all: Vec<Expr> = Vec::new();
        let mut values = Vec::with_capacity(select.windows.len());
        // Where windows have several orders, the engine would read rows backwards instead of sorting them again.
        let forwards = select.windows.windows(2).any(|pair| pair[0].order_by != pair[1].order_by);
        for call in &select.windows {
            values.push(self.window(call, order, forwards, &mut all)?);
        }
        let plan = LogicalPlanBuilder::window_plan(plan, all)?;
        for ((index, value), call) in values.into_iter().enumerate().zip(&select.windows) {
            let value = match value {
                Value::Own(column, data_type) => {
                    Typed::of(Expr::Column(column), data_type, call.sql_type)?
                }
                Value::Aggregate(made, columns) => {
                    made.value(self, columns.into_iter().map(Expr::Column).collect())?
                }
            };
            self.add_slot(select.id, Slot::Window(index), value, plan.schema());
        }
        Ok(plan)
    }

    /// A plan with the volatile keys of windows as columns, which the same expressions of the select list are, too.
    fn with_volatile_keys(&mut self, plan: LogicalPlan, select: &Select) -> Result<LogicalPlan> {
        let mut keys: Vec<(&Tree, Typed)> = Vec::new();
        for call in &select.windows {
            let order = call.order_by.iter().map(|key| &key.expr);
            for key in call.partition_by.iter().chain(order) {
                let value = self.expr(key)?;
                if value.expr.is_volatile() && !keys.iter().any(|(known, _)| *known == key) {
                    keys.push((key, value));
                }
            }
        }
        if keys.is_empty() {
            return Ok(plan);
        }
        let first = plan.schema().fields().len();
        let name = |place: usize| format!("?key{}", first + place);
        let mut all: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
        for (place, (_, value)) in keys.iter().enumerate() {
            all.push(value.expr.clone().alias(name(place)));
        }
        let plan = LogicalPlanBuilder::from(plan).project(all)?.build()?;
        for (place, (key, value)) in keys.into_iter().enumerate() {
            let expr = Expr::Column(Column::from_name(name(place)));
            self.share(key.clone(), select.id, Typed { expr, ..value }, plan.schema());
        }
        Ok(plan)
    }

    fn window(
        &mut self,
        call: &WindowCall,
        rows: &[Sort],
        forwards: bool,
        all: &mut Vec<Expr>,
    ) -> Result<Value> {
        let partition_by = self.exprs(&call.partition_by)?;
        let partition_by = partition_by.into_iter();
        let partition_by =
            partition_by.map(|value| Ok(with_one_zero(self.equality_key(value)?).expr));
        let partition_by: Vec<Expr> = partition_by.collect::<Result<_>>()?;
        let order = call.order_by.iter().map(|key| self.sort_key(key));
        let order_by = order.collect::<Result<Vec<_>>>()?;
        let filter = match &call.filter {
            Some(filter) => Some(self.condition(filter)?),
            None => None,
        };
        let mut window = Window { all, partition_by, order_by, filter, frame: Frame::new(None) };
        let frame = match self.takes_constants(call)? {
            true => self.frame_of(call)?,
            false => None,
        };
        let name = functions::of(call.function).map_or("?", |function| function.name);
        let takes_order = call.order_by.is_empty() && !COMPARING.contains(&name);
        let Some(mut frame) = frame else {
            if takes_order {
                window.order_by = rows.to_vec();
            }
            return self.general_window(call, window);
        };
        self.count_peers(call, &mut frame)?;
        frame.regularize_order_bys(&mut window.order_by)?;
        if takes_order && frame.units == WindowFrameUnits::Rows {
            window.order_by = rows.to_vec();
        }
        if is_by_interval(&frame) {
            // The engine takes infinity for a number.
            let Some(finite) = ::functions::operators::named(FINITE) else {
                return missing(format!("function {FINITE}"));
            };
            for key in &mut window.order_by {
                key.expr = finite.call(vec![key.expr.clone()]);
            }
        }
        window.frame = frame;
        if let Some(made) = self.window_aggregate(call)? {
            let columns = made.parts.iter().map(|part| {
                let function = part.over(&window.frame, forwards);
                let function = WindowFunctionDefinition::AggregateUDF(function);
                window.add(function, part.arguments.clone())
            });
            let columns = columns.collect();
            return Ok(Value::Aggregate(made, columns));
        }
        let Some(function) = self.around.functions.shared().window_functions().get(name) else {
            return missing(format!("window function {name}"));
        };
        let function = match forwards {
            true => Arc::new(frames::forwards(Arc::clone(function))),
            false => Arc::clone(function),
        };
        let function = WindowFunctionDefinition::WindowUDF(function);
        let (arguments, data_type) = self.window_arguments(name, call)?;
        let arguments = arguments.into_iter().map(|argument| argument.expr).collect();
        Ok(Value::Own(window.add(function, arguments), data_type))
    }

    /// Whether the arguments behind the first are constants that the engine's functions take.
    fn takes_constants(&mut self, call: &WindowCall) -> Result<bool> {
        let name = functions::of(call.function).map_or("?", |function| function.name);
        let first = match name {
            "lag" | "lead" | "nth_value" => 1,
            "ntile" => 0,
            _ => return Ok(true),
        };
        let arguments = self.exprs(call.arguments.iter().skip(first))?;
        let number = arguments.first().and_then(|argument| {
            match argument.value()?.cast_to(&DataType::Int64) {
                Ok(ScalarValue::Int64(number)) => number,
                _ => None,
            }
        });
        let is_known = match number {
            None => arguments.is_empty(),
            Some(number) => number > 0 || first == 1 && name != "nth_value",
        };
        Ok(is_known && arguments.iter().all(|argument| argument.value().is_some()))
    }

    /// The arguments of a window function that is no aggregate, and the Arrow type of its value.
    fn window_arguments(
        &mut self,
        name: &str,
        call: &WindowCall,
    ) -> Result<(Vec<Typed>, DataType)> {
        let arguments = self.exprs(&call.arguments)?.into_iter();
        let arguments = arguments.map(|argument| self.padded(argument));
        let mut arguments = arguments.collect::<Result<Vec<_>>>()?;
        let data_type = match name {
            "row_number" | "rank" | "dense_rank" | "ntile" => DataType::UInt64,
            "percent_rank" | "cume_dist" => DataType::Float64,
            "lag" | "lead" | "first_value" | "last_value" | "nth_value" => {
                if let [value, _, default] = &mut arguments[..] {
                    let mut pair = [value.clone(), default.clone()];
                    unify(&mut pair);
                    [*value, *default] = pair;
                }
                if let Some(number) = arguments.get_mut(1) {
                    *number = number.clone().converted(&DataType::Int64);
                }
                match arguments.first() {
                    Some(value) => value.data_type.clone(),
                    None => return missing(format!("{name} without arguments")),
                }
            }
            _ => return missing(format!("window function {name}")),
        };
        Ok((arguments, data_type))
    }

    /// The engine's frame of a window; `None` if it has none that means the same.
    fn frame_of(&mut self, call: &WindowCall) -> Result<Option<Frame>> {
        let WindowFrame { units, start, end, exclusion } = &call.frame;
        if *exclusion != FrameExclusion::NoOthers {
            return Ok(None);
        }
        let is_default = matches!(
            (units, start, end),
            (FrameUnits::Range, FrameBound::UnboundedPreceding, FrameBound::CurrentRow)
        );
        if is_default {
            let is_ordered = !call.order_by.is_empty();
            return Ok(Some(Frame::new(is_ordered.then_some(false))));
        }
        let engine_units = match units {
            FrameUnits::Rows => WindowFrameUnits::Rows,
            FrameUnits::Range => WindowFrameUnits::Range,
            FrameUnits::Groups => WindowFrameUnits::Groups,
        };
        let start = self.bound(call, start, "starting")?;
        let end = self.bound(call, end, "ending")?;
        let bounds = start.zip(end).filter(|(start, end)| !is_backwards(start, end));
        Ok(bounds.map(|(start, end)| Frame::new_bounds(engine_units, start, end)))
    }

    /// Without offsets RANGE means the same as GROUPS, which needs no arithmetic on the key.
    fn count_peers(&mut self, call: &WindowCall, frame: &mut Frame) -> Result<()> {
        let has_offset = [&call.frame.start, &call.frame.end]
            .into_iter()
            .any(|bound| matches!(bound, FrameBound::Preceding(_) | FrameBound::Following(_)));
        if frame.units != WindowFrameUnits::Range || has_offset || call.order_by.is_empty() {
            return Ok(());
        }
        for key in &call.order_by {
            let value = self.expr(&key.expr)?;
            let data_type = self.order_key(value)?.data_type;
            let is_day = matches!(data_type, DataType::Date32 | DataType::Timestamp(..));
            if !(data_type.is_numeric() || data_type.is_string() || is_day) {
                frame.units = WindowFrameUnits::Groups;
            }
        }
        Ok(())
    }

    fn bound(
        &mut self,
        call: &WindowCall,
        bound: &FrameBound,
        which: &str,
    ) -> Result<Option<WindowFrameBound>> {
        let none = || match call.frame.units {
            FrameUnits::Range => ScalarValue::Null,
            _ => ScalarValue::UInt64(None),
        };
        Ok(match bound {
            FrameBound::UnboundedPreceding => Some(WindowFrameBound::Preceding(none())),
            FrameBound::UnboundedFollowing => Some(WindowFrameBound::Following(none())),
            FrameBound::CurrentRow => Some(WindowFrameBound::CurrentRow),
            FrameBound::Preceding(offset) => {
                self.offset(call, offset, which)?.map(WindowFrameBound::Preceding)
            }
            FrameBound::Following(offset) => {
                self.offset(call, offset, which)?.map(WindowFrameBound::Following)
            }
        })
    }

    /// An offset as the engine has it; `None` for one that it does not have.
    fn offset(
        &mut self,
        call: &WindowCall,
        offset: &analyzer::tree::Expr,
        which: &str,
    ) -> Result<Option<ScalarValue>> {
        let key = call.order_by.first().map(|key| key.expr.sql_type.oid);
        if call.frame.units == FrameUnits::Range {
            let Some(offset) = self.range_offset(offset, which)? else { return Ok(None) };
            return Ok(match (offset, key) {
                (offset @ ScalarValue::IntervalMonthDayNano(_), Some(Oid::TIMESTAMP)) => {
                    Some(offset)
                }
                (offset @ ScalarValue::IntervalMonthDayNano(_), Some(Oid::TIMESTAMPTZ))
                    if self.zone().is_utc() =>
                {
                    Some(offset)
                }
                // The engine's arithmetic wraps around at the ends of numeric types.
                _ => None,
            });
        }
        let offset = self.expr(offset)?;
        let number = match offset.value().map(|value| value.cast_to(&DataType::Int64)) {
            Some(Ok(ScalarValue::Int64(number))) => number,
            _ => return Ok(None),
        };
        let rows = number.and_then(|number| u64::try_from(number).ok());
        // Other numbers are refused when there are rows.
        Ok(rows.map(|rows| ScalarValue::UInt64(Some(rows))))
    }

    /// The constant offset of RANGE; `None` for one that is computed, and for one that is negative, which is refused when there
    /// are rows.
    fn range_offset(
        &mut self,
        offset: &analyzer::tree::Expr,
        which: &str,
    ) -> Result<Option<ScalarValue>> {
        let offset = self.expr(offset)?;
        let Some(value) = self.constant(&offset)? else { return Ok(None) };
        if value.is_null() {
            let message = format!("frame {which} offset must not be null");
            return Err(Error::new(SqlState::NullValueNotAllowed, message).into());
        }
        let is_negative = match &value {
            ScalarValue::IntervalMonthDayNano(Some(interval)) => {
                let days = i128::from(interval.months) * 30 + i128::from(interval.days);
                days * 86_400_000_000_000 + i128::from(interval.nanoseconds) < 0
            }
            ScalarValue::Decimal128(Some(number), ..) => *number < 0,
            ScalarValue::LargeBinary(Some(bytes)) => {
                let number = numbers::read(bytes)?;
                number.is_negative() || number.is_nan()
            }
            other => match other.cast_to(&DataType::Float64)? {
                ScalarValue::Float64(Some(number)) => number < 0.0 || number.is_nan(),
                _ => false,
            },
        };
        Ok((!is_negative).then_some(value))
    }
}

/// Whether a frame ends before it begins: it has no rows, and the engine refuses it.
fn is_backwards(start: &WindowFrameBound, end: &WindowFrameBound) -> bool {
    use WindowFrameBound::{Following, Preceding};
    match (start, end) {
        (Preceding(first), Preceding(last)) => !first.is_null() && first < last,
        (Following(first), Following(last)) => !last.is_null() && first > last,
        _ => false,
    }
}

/// Whether a bound of a frame is an interval away from the row.
fn is_by_interval(frame: &Frame) -> bool {
    use WindowFrameBound::{Following, Preceding};
    [&frame.start_bound, &frame.end_bound].into_iter().any(|bound| {
        matches!(bound, Preceding(offset) | Following(offset)
            if matches!(offset, ScalarValue::IntervalMonthDayNano(Some(_))))
    })
}

/// What the window functions of a SELECT have in common with one of them.
struct Window<'a> {
    /// The functions of the SELECT.
    all: &'a mut Vec<Expr>,
    partition_by: Vec<Expr>,
    order_by: Vec<Sort>,
    filter: Option<Expr>,
    frame: Frame,
}

impl Window<'_> {
    /// Adds a function, and returns the column of its values.
    fn add(&mut self, fun: WindowFunctionDefinition, args: Vec<Expr>) -> Column {
        let only = |argument: Expr| where_filtered(argument, self.filter.as_ref());
        let params = WindowFunctionParams {
            args: args.into_iter().map(only).collect(),
            partition_by: self.partition_by.clone(),
            order_by: self.order_by.clone(),
            window_frame: self.frame.clone(),
            filter: self.filter.clone().map(Box::new),
            null_treatment: None,
            distinct: false,
        };
        let expr = Expr::WindowFunction(Box::new(WindowFunction { fun, params }));
        let column = Column::new_unqualified(expr.schema_name().to_string());
        if !self.all.contains(&expr) {
            self.all.push(expr);
        }
        column
    }
}
