//! Window functions.

use crate::aggregates::Made;
use crate::refusal::{Result, missing};
use crate::scope::{Lowering, Slot};
use crate::typed::{Typed, unify};
use analyzer::system::{Oid, functions};
use analyzer::tree::{FrameBound, FrameExclusion, FrameUnits, Select, WindowCall, WindowFrame};
use datafusion::arrow::datatypes::{DataType, IntervalMonthDayNano};
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::{WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, WindowFrame as Frame, WindowFrameBound,
    WindowFrameUnits, WindowFunctionDefinition,
};
use values::error::{Error, SqlState};

/// The value of a window function over the columns that the engine's have.
enum Value {
    Aggregate(Made, Vec<Column>),
    Own(Column, DataType),
}

impl Lowering<'_> {
    /// A plan with the window functions of a SELECT.
    pub(crate) fn windows(&mut self, plan: LogicalPlan, select: &Select) -> Result<LogicalPlan> {
        if select.windows.is_empty() {
            return Ok(plan);
        }
        let mut all: Vec<Expr> = Vec::new();
        let mut values = Vec::with_capacity(select.windows.len());
        for call in &select.windows {
            values.push(self.window(call, &mut all)?);
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

    fn window(&mut self, call: &WindowCall, all: &mut Vec<Expr>) -> Result<Value> {
        let partition_by = self.exprs(&call.partition_by)?;
        let partition_by = partition_by.into_iter().map(|value| Ok(self.equality_key(value)?.expr));
        let partition_by: Vec<Expr> = partition_by.collect::<Result<_>>()?;
        let order = call.order_by.iter().map(|key| self.sort_key(key));
        let mut order_by = order.collect::<Result<Vec<_>>>()?;
        let mut window_frame = self.frame_of(call)?;
        self.count_peers(call, &mut window_frame)?;
        window_frame.regularize_order_bys(&mut order_by)?;
        let filter = match &call.filter {
            Some(filter) => Some(Box::new(self.condition(filter)?)),
            None => None,
        };
        let mut add = |fun: WindowFunctionDefinition, args: Vec<Expr>| {
            let params = WindowFunctionParams {
                args,
                partition_by: partition_by.clone(),
                order_by: order_by.clone(),
                window_frame: window_frame.clone(),
                filter: filter.clone(),
                null_treatment: None,
                distinct: false,
            };
            let expr = Expr::WindowFunction(Box::new(WindowFunction { fun, params }));
            let column = Column::new_unqualified(expr.schema_name().to_string());
            if !all.contains(&expr) {
                all.push(expr);
            }
            column
        };
        if let Some(made) = self.window_aggregate(call)? {
            let columns = made.parts.iter().map(|part| {
                let function = part.over(&window_frame);
                let function = WindowFunctionDefinition::AggregateUDF(function);
                add(function, part.arguments.clone())
            });
            let columns = columns.collect();
            return Ok(Value::Aggregate(made, columns));
        }
        let name = functions::of(call.function).map_or("?", |function| function.name);
        let Some(function) = self.around.functions.shared().window_functions().get(name) else {
            return missing(format!("window function {name}"));
        };
        let function = function.clone();
        let (arguments, data_type) = self.window_arguments(name, call)?;
        Ok(Value::Own(add(WindowFunctionDefinition::WindowUDF(function), arguments), data_type))
    }

    /// The arguments of a window function that is no aggregate, and the Arrow type of its value.
    fn window_arguments(&mut self, name: &str, call: &WindowCall) -> Result<(Vec<Expr>, DataType)> {
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
                let is_known = arguments.iter().skip(1).all(|argument| argument.value().is_some());
                match arguments.first() {
                    Some(value) if is_known => value.data_type.clone(),
                    _ => return missing(format!("{name} with computed arguments")),
                }
            }
            _ => return missing(format!("window function {name}")),
        };
        Ok((arguments.into_iter().map(|argument| argument.expr).collect(), data_type))
    }

    fn frame_of(&mut self, call: &WindowCall) -> Result<Frame> {
        let WindowFrame { units, start, end, exclusion } = &call.frame;
        if *exclusion != FrameExclusion::NoOthers {
            return missing("EXCLUDE");
        }
        let is_default = matches!(
            (units, start, end),
            (FrameUnits::Range, FrameBound::UnboundedPreceding, FrameBound::CurrentRow)
        );
        if is_default {
            let is_ordered = !call.order_by.is_empty();
            return Ok(Frame::new(is_ordered.then_some(false)));
        }
        let engine_units = match units {
            FrameUnits::Rows => WindowFrameUnits::Rows,
            FrameUnits::Range => WindowFrameUnits::Range,
            FrameUnits::Groups => WindowFrameUnits::Groups,
        };
        let start = self.bound(call, start, "starting")?;
        let end = self.bound(call, end, "ending")?;
        Ok(Frame::new_bounds(engine_units, start, end))
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
            let data_type = self.expr(&key.expr)?.data_type;
            if !(data_type.is_numeric() || data_type.is_string() || data_type.is_temporal())
                || matches!(data_type, DataType::Interval(_))
            {
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
    ) -> Result<WindowFrameBound> {
        let none = || match call.frame.units {
            FrameUnits::Range => ScalarValue::Null,
            _ => ScalarValue::UInt64(None),
        };
        Ok(match bound {
            FrameBound::UnboundedPreceding => WindowFrameBound::Preceding(none()),
            FrameBound::UnboundedFollowing => WindowFrameBound::Following(none()),
            FrameBound::CurrentRow => WindowFrameBound::CurrentRow,
            FrameBound::Preceding(offset) => {
                WindowFrameBound::Preceding(self.offset(call, offset, which)?)
            }
            FrameBound::Following(offset) => {
                WindowFrameBound::Following(self.offset(call, offset, which)?)
            }
        })
    }

    /// An offset of RANGE over timestamps.
    fn interval_offset(
        &self,
        call: &WindowCall,
        offset: IntervalMonthDayNano,
        which: &str,
    ) -> Result<ScalarValue> {
        if offset.months < 0 || offset.days < 0 || offset.nanoseconds < 0 {
            let message = format!("frame {which} offset must not be negative");
            return Err(Error::new(SqlState::InvalidPrecedingOrFollowingSize, message).into());
        }
        let key = call.order_by.first().map(|key| key.expr.sql_type.oid);
        let is_known = match key {
            Some(Oid::TIMESTAMP) => true,
            Some(Oid::TIMESTAMPTZ) => self.zone().is_utc(),
            _ => false,
        };
        match is_known && call.frame.units == FrameUnits::Range {
            true => Ok(ScalarValue::IntervalMonthDayNano(Some(offset))),
            false => missing("RANGE with an interval over this type"),
        }
    }

    fn offset(
        &mut self,
        call: &WindowCall,
        offset: &analyzer::tree::Expr,
        which: &str,
    ) -> Result<ScalarValue> {
        let offset = self.expr(offset)?;
        if let Some(ScalarValue::IntervalMonthDayNano(Some(interval))) = offset.value() {
            return self.interval_offset(call, *interval, which);
        }
        let Some(value) = offset.value().filter(|value| value.data_type().is_integer()) else {
            return missing("this bound of a window's frame");
        };
        let number = match value.cast_to(&DataType::Int64)? {
            ScalarValue::Int64(Some(number)) => number,
            _ => {
                let message = format!("frame {which} offset must not be null");
                return Err(Error::new(SqlState::NullValueNotAllowed, message).into());
            }
        };
        let Ok(rows) = u64::try_from(number) else {
            let message = format!("frame {which} offset must not be negative");
            return Err(Error::new(SqlState::InvalidPrecedingOrFollowingSize, message).into());
        };
        if call.frame.units != FrameUnits::Range {
            return Ok(ScalarValue::UInt64(Some(rows)));
        }
        let key = call.order_by.first().map(|key| key.expr.sql_type);
        match key.map(|key| key.oid) {
            Some(Oid::INT2 | Oid::INT4 | Oid::INT8) => {
                Ok(ScalarValue::Utf8(Some(rows.to_string())))
            }
            _ => missing("RANGE with an offset of this type"),
        }
    }
}
