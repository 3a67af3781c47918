//! Aggregates that users define.

use super::table::Plan;
use super::{Made, Part};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use crate::types;
use analyzer::system::SqlType;
use analyzer::tree::{AggregateCall, Expr as Tree, UserAggregate, WindowCall};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{AggregateFunction, Sort};
use datafusion::logical_expr::{Expr, lit};
use frames::{Fold, Step};
use optimizer::where_filtered;
use std::sync::Arc;
use values::types::plan_field;

impl Lowering<'_> {
    /// The aggregate of a call, and its engine's expressions.
    pub(super) fn user_aggregate(
        &mut self,
        call: &AggregateCall,
        user: &UserAggregate,
    ) -> Result<(Made, Vec<Expr>)> {
        let keys: Vec<Tree> = call.order_by.iter().map(|key| key.expr.clone()).collect();
        let of_rows = if user.is_ordered_set { &keys } else { &call.arguments };
        let arguments = self.arguments_of(of_rows, user)?;
        let direct = self.direct_arguments(call)?;
        let (fold, result) = self.fold(&arguments, user, direct)?;
        let is_gathered = fold.combine.is_none();
        let mut function = Arc::new(frames::folded(fold));
        let mut given = given(&arguments);
        let order = call.order_by.iter().map(|key| self.sort_key(key));
        let mut order: Vec<Sort> = order.collect::<Result<_>>()?;
        if order.is_empty() && !call.distinct {
            order.clone_from(&self.input_order);
        }
        if order.is_empty() && call.distinct {
            for argument in &arguments {
                order.push(self.order_key(argument.clone())?.expr.sort(true, false));
            }
        }
        if is_gathered || !order.is_empty() {
            function = Arc::new(frames::sorted(function, given.len(), &order, call.distinct));
            given.extend(order.into_iter().map(|key| key.expr));
        }
        let filter = match &call.filter {
            Some(filter) => Some(Box::new(self.condition(filter)?)),
            None => None,
        };
        let part = Part {
            function: Arc::clone(&function),
            arguments: given.clone(),
            order: Vec::new(),
            data_type: result,
        };
        let made = made(part, call.sql_type);
        let only = |argument: Expr| where_filtered(argument, filter.as_deref());
        let given = given.into_iter().map(only).collect();
        let call = AggregateFunction::new_udf(function, given, false, filter, Vec::new(), None);
        Ok((made, vec![Expr::AggregateFunction(call)]))
    }

    /// The aggregate of a window function.
    pub(super) fn user_window(&mut self, call: &WindowCall, user: &UserAggregate) -> Result<Made> {
        let arguments = self.arguments_of(&call.arguments, user)?;
        let (fold, data_type) = self.fold(&arguments, user, Vec::new())?;
        let function = Arc::new(frames::folded(fold));
        let part = Part { function, arguments: given(&arguments), order: Vec::new(), data_type };
        Ok(made(part, call.sql_type))
    }

    /// The arguments, of which the first may become the state.
    fn arguments_of(&mut self, given: &[Tree], user: &UserAggregate) -> Result<Vec<Typed>> {
        let mut arguments = self.exprs(given)?;
        if let Some(first) = arguments.first_mut().filter(|of| of.sql_type.oid == user.state.oid) {
            *first = first.clone().converted(&types::held(user.state)?.arrow());
        }
        Ok(arguments)
    }

    /// The steps, over arguments of these types. `direct` are those in front of WITHIN GROUP.
    fn fold(
        &mut self,
        arguments: &[Typed],
        user: &UserAggregate,
        direct: Vec<Typed>,
    ) -> Result<(Fold, DataType)> {
        let state = place("state", user.state, types::held(user.state)?.arrow());
        let other = place("other", user.state, state.data_type.clone());
        let of_row = arguments.iter().enumerate();
        let of_row = of_row.map(|(at, argument)| {
            place(&format!("a{at}"), argument.sql_type, argument.data_type.clone())
        });
        let of_row: Vec<Typed> = std::iter::once(state.clone()).chain(of_row).collect();
        let transition = self.step_of_fold(&user.transition, (of_row, Vec::new()), Some(&state))?.0;
        let transition = Step { is_strict: user.is_strict, ..transition };
        let both = vec![state.clone(), other];
        let combine = match &user.combine {
            Some(combine) => {
                let step = self.step_of_fold(combine, (both, Vec::new()), Some(&state))?.0;
                Some(Step { is_strict: user.is_combined_strictly, ..step })
            }
            None => None,
        };
        let (finish, value) = match &user.finish {
            Some(finish) => {
                let (step, value) =
                    self.step_of_fold(finish, (vec![state.clone()], direct), None)?;
                (Some(step), value)
            }
            None => (None, state.clone()),
        };
        let initial = match &user.initial {
            Some(initial) => {
                let value = self.expr(initial)?.converted(&state.data_type);
                match value.value() {
                    Some(value) => value.clone(),
                    None => return missing("this initial state of an aggregate"),
                }
            }
            None => ScalarValue::try_from(&state.data_type)?,
        };
        let result = match types::held(value.sql_type) {
            Ok(held) if held.arrow() == value.data_type => plan_field(&user.name, &held, true),
            _ => value.field().as_ref().clone().with_name(&user.name),
        };
        let (name, result) = (user.name.clone(), Arc::new(result.with_nullable(true)));
        Ok((Fold { name, initial, transition, combine, finish, result }, value.data_type))
    }

    /// An expression over places and constants behind them, converted to the type of the state if that is what it makes.
    fn step_of_fold(
        &mut self,
        expr: &Tree,
        (mut places, constants): (Vec<Typed>, Vec<Typed>),
        to: Option<&Typed>,
    ) -> Result<(Step, Typed)> {
        let fields = places.iter().map(|place| {
            let name = place.expr.schema_name().to_string();
            place.field().as_ref().clone().with_name(name).with_nullable(true)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        places.extend(constants);
        let value = self.with_outputs(places, |lowering| lowering.expr(expr))?;
        let value = match to {
            Some(to) => value.converted(&to.data_type),
            None => value,
        };
        let columns = Arc::new(DFSchema::try_from(Arc::clone(&schema))?);
        let engine = self.around.engine;
        let expr = optimizer::callable(value.expr.clone(), &columns, engine)?;
        let expr = engine.create_physical_expr(expr, &columns)?;
        Ok((Step { expr, schema, is_strict: false }, value))
    }
}

/// The arguments of the engine's aggregate, which has at least one.
fn given(arguments: &[Typed]) -> Vec<Expr> {
    match arguments {
        [] => vec![lit(1_i64)],
        arguments => arguments.iter().map(|argument| argument.expr.clone()).collect(),
    }
}

/// The value of an aggregate, which is that of its part.
fn made(part: Part, sql_type: SqlType) -> Made {
    let (plan, direct) = (Plan::Named("user"), Vec::new());
    Made { parts: vec![part], plan, sql_type, array: sql_type, direct }
}

/// A column of a step's row.
fn place(name: &str, sql_type: SqlType, data_type: DataType) -> Typed {
    Typed { expr: Expr::Column(Column::from_name(name)), sql_type, data_type }
}
