//! Window functions that the engine does not have over their frames, or with their arguments.

use super::{Value, Window};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::{Typed, unify};
use ::functions::datetime::bounds::{RANGE_BOUNDS, RANGE_OFFSETS};
use analyzer::system::{Oid, functions, operators};
use analyzer::tree::{Expr as Tree, FrameBound, FrameExclusion, FrameUnits, WindowCall};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{
    Expr, Operator, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowFunctionDefinition,
    binary_expr,
};
use frames::{Bound, Exclusion, Frame, Function, Layout, Units, over_frame};
use optimizer::where_filtered;
use std::sync::Arc;

/// A number of enough digits for sums of integers.
const SUM: DataType = DataType::Decimal128(38, 0);

/// The frame of a window, and the columns that it needs.
struct OwnFrame {
    frame: Frame,
    range_key: Option<Expr>,
    offsets: Vec<Expr>,
}

impl Lowering<'_> {
    /// A window function over the frames that are computed here.
    pub(super) fn general_window(
        &mut self,
        call: &WindowCall,
        mut window: Window<'_>,
    ) -> Result<Value> {
        let own = self.own_frame(call)?;
        // The engine hands out whole partitions.
        let none = || ScalarValue::UInt64(None);
        let (start, end) =
            (WindowFrameBound::Preceding(none()), WindowFrameBound::Following(none()));
        window.frame = WindowFrame::new_bounds(WindowFrameUnits::Rows, start, end);
        let filter = window.filter.take();
        let mut add =
            |name: &str, function: Function, mut columns: Vec<Expr>, data_type: &DataType| {
                let layout = Layout {
                    arguments: columns.len(),
                    has_filter: filter.is_some(),
                    keys: call.order_by.len(),
                    has_range_key: own.range_key.is_some(),
                };
                for column in &mut columns {
                    *column = where_filtered(std::mem::take(column), filter.as_ref());
                }
                columns.extend(filter.clone());
                columns
                    .extend(window.order_by.iter().take(layout.keys).map(|key| key.expr.clone()));
                columns.extend(own.range_key.iter().chain(&own.offsets).cloned());
                let function = over_frame(name, function, own.frame, layout, data_type.clone());
                window.add(WindowFunctionDefinition::WindowUDF(Arc::new(function)), columns)
            };
        if let Some(made) = self.window_aggregate(call)? {
            let columns = made.parts.iter().map(|part| {
                let function = Function::Aggregate {
                    function: Arc::clone(&part.function),
                    retracts: part.is_exact(),
                };
                add(part.function.name(), function, part.arguments.clone(), &part.data_type)
            });
            let columns = columns.collect();
            return Ok(Value::Aggregate(made, columns));
        }
        let name = functions::of(call.function).map_or("?", |function| function.name);
        let function = match name {
            "first_value" => Function::First,
            "last_value" => Function::Last,
            "nth_value" => Function::Nth,
            "lag" => Function::Lag,
            "lead" => Function::Lead,
            "ntile" => Function::Ntile,
            _ => {
                // The others do not look at the frame.
                let Some(function) = self.around.functions.shared().window_functions().get(name)
                else {
                    return missing(format!("window function {name}"));
                };
                let function = WindowFunctionDefinition::WindowUDF(Arc::clone(function));
                let (_, data_type) = self.window_arguments(name, call)?;
                return Ok(Value::Own(window.add(function, Vec::new()), data_type));
            }
        };
        let (mut arguments, mut data_type) = self.window_arguments(name, call)?;
        if function == Function::Ntile {
            arguments = arguments.into_iter().map(|all| all.converted(&DataType::Int64)).collect();
            data_type = DataType::Int32;
        }
        let arguments = arguments.into_iter().map(|argument| argument.expr).collect();
        Ok(Value::Own(add(name, function, arguments, &data_type), data_type))
    }

    fn own_frame(&mut self, call: &WindowCall) -> Result<OwnFrame> {
        let key = call.order_by.first();
        let mut own = OwnFrame {
            frame: Frame {
                units: units_of(call.frame.units),
                start: bound_of(&call.frame.start),
                end: bound_of(&call.frame.end),
                exclusion: exclusion_of(call.frame.exclusion),
                descending: key.is_some_and(|key| key.descending),
                nulls_first: key.is_some_and(|key| key.nulls_first),
            },
            range_key: None,
            offsets: Vec::new(),
        };
        let mut limits = Vec::new();
        for (bound, name) in [&call.frame.start, &call.frame.end].into_iter().zip(RANGE_OFFSETS) {
            let (FrameBound::Preceding(offset) | FrameBound::Following(offset)) = bound else {
                continue;
            };
            if call.frame.units != FrameUnits::Range {
                own.offsets.push(self.expr(offset)?.converted(&DataType::Int64).expr);
                continue;
            }
            let is_below = matches!(bound, FrameBound::Preceding(_)) != own.frame.descending;
            let offset = self.checked_offset(call, offset, name)?;
            limits.push(self.range_limit(call, offset, is_below)?);
        }
        if let (Some(key), false) = (key, limits.is_empty()) {
            let key = self.expr(&key.expr)?;
            // The key, and its values at the bounds, in one type.
            let key = match key.sql_type.oid {
                Oid::DATE => self.plain(key, Oid::TIMESTAMP.into())?,
                _ if key.data_type.is_integer() || key.data_type.is_floating() => {
                    key.converted(&limits[0].data_type)
                }
                _ => key,
            };
            limits.push(key);
            unify(&mut limits);
            let keys = limits.into_iter().map(|limit| self.order_key(limit));
            let mut limits: Vec<Typed> = keys.collect::<Result<_>>()?;
            let data_type = limits.last().map(|key| key.data_type.clone());
            if limits.iter().any(|limit| Some(&limit.data_type) != data_type.as_ref()) {
                return missing("RANGE with an offset of this type");
            }
            own.range_key = limits.pop().map(|key| key.expr);
            own.offsets = limits.into_iter().map(|limit| limit.expr).collect();
        }
        Ok(own)
    }

    /// The offset of RANGE, which a function checks for each row.
    fn checked_offset(&mut self, call: &WindowCall, offset: &Tree, check: &str) -> Result<Typed> {
        let Some(key) = call.order_by.first() else { return missing("RANGE without a key") };
        let (offset, key) = (self.expr(offset)?, self.expr(&key.expr)?);
        if offset.expr.is_volatile() {
            return missing("RANGE with a volatile offset");
        }
        let sql_type = offset.sql_type;
        self.hidden(check, vec![offset, key], sql_type)
    }

    /// The key of RANGE at a bound.
    fn range_limit(&mut self, call: &WindowCall, offset: Typed, is_below: bool) -> Result<Typed> {
        let Some(key) = call.order_by.first() else { return missing("RANGE without a key") };
        let key = self.expr(&key.expr)?;
        let (name, operator) =
            if is_below { ("-", Operator::Minus) } else { ("+", Operator::Plus) };
        if key.data_type.is_integer() {
            let sum = binary_expr(key.converted(&SUM).expr, operator, offset.converted(&SUM).expr);
            return Ok(Typed { expr: sum, sql_type: Oid::NUMERIC.into(), data_type: SUM });
        }
        let (of_key, of_offset) = (key.sql_type.oid, offset.sql_type.oid);
        let bound = RANGE_BOUNDS[usize::from(!is_below)];
        if key.data_type.is_floating() {
            let values = [key, offset].map(|value| value.converted(&DataType::Float64));
            return self.hidden(bound, values.into(), Oid::FLOAT8.into());
        }
        if of_key == Oid::TIME {
            return self.hidden(bound, vec![key, offset], of_key.into());
        }
        let found = operators::exact(name, of_key, of_offset);
        let made = found.and_then(|found| Some((crate::functions::of(found.function)?, found)));
        match made {
            Some((make, operator)) => make.build(self, vec![key, offset], operator.result.into()),
            None => missing(format!("RANGE with an offset over {of_key}")),
        }
    }
}

fn bound_of(bound: &FrameBound) -> Bound {
    match bound {
        FrameBound::UnboundedPreceding | FrameBound::UnboundedFollowing => Bound::Unbounded,
        FrameBound::CurrentRow => Bound::Current,
        FrameBound::Preceding(_) => Bound::Preceding,
        FrameBound::Following(_) => Bound::Following,
    }
}

fn units_of(units: FrameUnits) -> Units {
    match units {
        FrameUnits::Rows => Units::Rows,
        FrameUnits::Range => Units::Range,
        FrameUnits::Groups => Units::Groups,
    }
}

fn exclusion_of(exclusion: FrameExclusion) -> Exclusion {
    match exclusion {
        FrameExclusion::NoOthers => Exclusion::Nothing,
        FrameExclusion::CurrentRow => Exclusion::CurrentRow,
        FrameExclusion::Group => Exclusion::Group,
        FrameExclusion::Ties => Exclusion::Ties,
    }
}
