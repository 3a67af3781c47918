//! Long expressions: one call for the engine.
//!
//! The engine's passes over plans visit every part of an expression many times, and some of them copy or hash it each
//! time. A long chain, OR or CASE is therefore analysed and compiled once, when it is lowered. The plan has a call of a
//! function ([`Computed`]) whose arguments are the columns that it reads.
//!
//! The function computes steps, one after the other. A step reads the value of the step before as a column. That is also
//! how a volatile value that is used several times is computed once ([`Lowering::once`]).

use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::SqlType;
use analyzer::tree::{Chain, Expr as Tree};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, DFSchemaRef, ScalarValue, not_impl_err};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{
    EmptyRelation, Expr, ExprSchemable, LogicalPlan, Projection, Volatility,
};
use datafusion::physical_expr::create_physical_expr;
use long_expressions::{Computed, Step, is_argument, is_callable};
use optimizer::callable;
use std::collections::HashMap;
use std::sync::Arc;
use values::types::plan_field;

pub(crate) use long_expressions::{Logic, is_of_join, is_plain, listed};

/// The number of parts from which on an expression is long.
pub(crate) const LONG: usize = 64;

impl Lowering<'_> {
    /// A long chain of operators.
    pub(crate) fn chain(&mut self, chain: &Chain) -> Result<Typed> {
        let mut value = self.expr(&chain.first)?;
        if let [step] = chain.steps.as_slice() {
            return self.once(value, |lowering, value| lowering.step_over(step, value));
        }
        let mut steps = Steps::default();
        for step in &chain.steps {
            let next = self.step(step, &mut steps, &value)?;
            steps.exprs.push(std::mem::replace(&mut value, next).expr);
        }
        steps.exprs.push(value.expr.clone());
        self.computed(steps, value)
    }

    /// A step over the value of the step before.
    fn step(&mut self, step: &Tree, steps: &mut Steps, before: &Typed) -> Result<Typed> {
        let column = steps.column_of(before)?;
        let running = Typed { expr: Expr::Column(column), ..before.clone() };
        self.step_over(step, running)
    }

    /// A step over a value.
    fn step_over(&mut self, step: &Tree, running: Typed) -> Result<Typed> {
        let outer = self.running.replace(running);
        let next = self.expr(step);
        self.running = outer;
        next
    }

    /// What `body` makes of a value, which it may use several times. A volatile value is computed once, where that is
    /// possible, and the other volatile parts where the body needs them.
    pub(crate) fn once(
        &mut self,
        value: Typed,
        body: impl FnOnce(&mut Self, Typed) -> Result<Typed>,
    ) -> Result<Typed> {
        let field = match value.expr.is_volatile() {
            true => running(value.sql_type, &value.data_type).ok(),
            false => None,
        };
        let Some(field) = field else { return body(self, value) };
        self.values_held += 1;
        let name = format!("{HELD}{}", self.values_held);
        let (column, field) = (Column::new_unqualified(&name), Arc::new(field.with_name(&name)));
        let held = Typed { expr: Expr::Column(column.clone()), ..value.clone() };
        self.held.push((column.clone(), Arc::clone(&field)));
        let result = body(self, held);
        self.held.pop();
        let result = result?;
        let steps = Steps {
            exprs: vec![value.expr.clone(), result.expr.clone()],
            columns: vec![field],
            into: vec![0],
            logic: None,
        };
        if steps.exprs.iter().all(is_callable)
            && let Ok(call) = self.called_steps(steps, result.clone(), Volatility::Volatile)
        {
            return Ok(call);
        }
        // What cannot be one call computes the value where it is used.
        let expr = result.expr.transform_up(|part| match &part {
            Expr::Column(read) if *read == column => Ok(Transformed::yes(value.expr.clone())),
            _ => Ok(Transformed::no(part)),
        })?;
        Ok(Typed { expr: expr.data, ..result })
    }

    /// A long expression.
    pub(crate) fn compiled(&mut self, value: Typed) -> Result<Typed> {
        let steps = Steps { exprs: vec![value.expr.clone()], ..Steps::default() };
        self.computed(steps, value)
    }

    /// Many conditions joined by AND or OR.
    pub(crate) fn compiled_logic(&mut self, conditions: Vec<Expr>, logic: Logic) -> Result<Expr> {
        let steps = Steps { exprs: conditions, logic: Some(logic), ..Steps::default() };
        let none = Expr::Literal(ScalarValue::Boolean(None), None);
        Ok(self.computed(steps, Typed::boolean(none))?.expr)
    }

    /// The call that computes steps. The last of them has the type of `value`.
    fn computed(&mut self, steps: Steps, value: Typed) -> Result<Typed> {
        if !steps.exprs.iter().all(is_plain) {
            return Ok(Typed { expr: nested(steps.exprs)?, ..value });
        }
        self.called_steps(steps, value, Volatility::Immutable)
    }

    /// The call of a function that computes steps.
    fn called_steps(&self, steps: Steps, value: Typed, volatility: Volatility) -> Result<Typed> {
        let logic = steps.logic;
        let (read, exprs) = self.read(steps.exprs, &steps.columns)?;
        let inputs = read.iter().map(|(_, field)| Arc::clone(field));
        let fields: Vec<FieldRef> = inputs.chain(steps.columns).collect();
        let schema = DFSchema::from_unqualified_fields(fields.into(), HashMap::new())?;
        let schema = Arc::new(schema);
        let exprs = self.analysed(exprs, &schema)?;
        let steps = self.physical(exprs, &schema, &steps.into)?;
        if let (Volatility::Volatile, Some(last)) = (volatility, steps.last())
            && last.value.data_type(schema.inner())? != value.data_type
        {
            return missing("a value of this type");
        }
        let held = crate::types::held(value.sql_type)?;
        let field = plan_field("", &held, true).with_data_type(value.data_type.clone());
        let inner = Arc::clone(schema.inner());
        let count = read.len();
        let function = Computed::function(inner, count, steps, logic, Arc::new(field), volatility);
        let arguments = read.into_iter().map(|(argument, _)| argument);
        Ok(Typed { expr: function.call(arguments.collect()), ..value })
    }

    /// The arguments that expressions read, each with the field of an input, and the expressions over the inputs.
    fn read(&self, exprs: Vec<Expr>, own: &[FieldRef]) -> Result<(Vec<Input>, Vec<Expr>)> {
        let known = self.columns_here();
        let mut places: HashMap<Column, usize> = HashMap::new();
        let mut read: Vec<Input> = Vec::new();
        let mut input = |argument: &Expr| -> Result<Column> {
            if let Expr::Column(column) = argument
                && column.relation.is_none()
                && own.iter().any(|field| *field.name() == column.name)
            {
                return Ok(column.clone());
            }
            let place = match argument {
                Expr::Column(column) => places.get(column).copied(),
                other => read.iter().position(|(known, _)| known == other),
            };
            if let Some(place) = place {
                return Ok(Column::new_unqualified(read[place].1.name().clone()));
            }
            let field = match argument {
                Expr::Column(column) => known.get(column).cloned(),
                other => Some(other.to_field(&DFSchema::empty())?.1),
            };
            let Some(field) = field else {
                return missing("this column of a long expression");
            };
            let name = format!("?input {}", read.len());
            if let Expr::Column(column) = argument {
                places.insert(column.clone(), read.len());
            }
            let field = Field::clone(&field).with_name(&name).with_nullable(true);
            read.push((argument.clone(), Arc::new(field)));
            Ok(Column::new_unqualified(name))
        };
        let mut refused = None;
        let mut over = |expr: Expr| {
            let renamed = expr.transform_up(|expr| {
                if !is_argument(&expr) {
                    return Ok(Transformed::no(expr));
                }
                match input(&expr) {
                    Ok(column) => Ok(Transformed::yes(Expr::Column(column))),
                    Err(refusal) => {
                        refused = Some(refusal);
                        Ok(Transformed::no(expr))
                    }
                }
            })?;
            Ok(renamed.data)
        };
        let exprs = exprs.into_iter().map(&mut over).collect::<Result<Vec<_>>>()?;
        match refused {
            Some(refusal) => Err(refusal),
            None => Ok((read, exprs)),
        }
    }

    /// Expressions after the engine's analysis, which gives operators and casts their functions.
    fn analysed(&self, exprs: Vec<Expr>, schema: &DFSchemaRef) -> Result<Vec<Expr>> {
        let count = exprs.len();
        let named = exprs.into_iter().enumerate();
        let named = named.map(|(place, expr)| expr.alias(format!("?{place}"))).collect();
        let nothing = EmptyRelation { produce_one_row: false, schema: Arc::clone(schema) };
        let plan = Projection::try_new(named, Arc::new(LogicalPlan::EmptyRelation(nothing)))?;
        let engine = self.around.engine;
        let plan = LogicalPlan::Projection(plan);
        let plan = engine.analyzer().execute_and_check(plan, engine.config_options(), |_, _| {})?;
        match plan {
            LogicalPlan::Projection(Projection { expr, input, .. })
                if expr.len() == count && matches!(*input, LogicalPlan::EmptyRelation(_)) =>
            {
                Ok(expr.into_iter().map(Expr::unalias).collect())
            }
            _ => missing("this part of a long expression"),
        }
    }

    fn physical(
        &self,
        exprs: Vec<Expr>,
        schema: &DFSchemaRef,
        into: &[usize],
    ) -> Result<Vec<Step>> {
        let engine = self.around.engine;
        let inputs = schema.fields().len() - into.iter().max().map_or(0, |most| most + 1);
        let context = PhysicalPlanningContext::default();
        let mut steps = Vec::with_capacity(exprs.len());
        for (place, expr) in exprs.into_iter().enumerate() {
            let expr = callable(expr, schema, engine)?;
            let value = create_physical_expr(&expr, schema, engine.execution_props(), &context)?;
            let column = into.get(place).map(|running| inputs + running);
            if let Some(column) = column
                && value.data_type(schema.inner())? != *schema.field(column).data_type()
            {
                return missing("a long expression of this type");
            }
            steps.push(Step { value, column });
        }
        Ok(steps)
    }
}

/// Steps as one expression. It is as deep as they are many.
fn nested(steps: Vec<Expr>) -> Result<Expr> {
    let mut value: Option<Expr> = None;
    for step in steps {
        let mut before = value.take();
        let step = step.transform_up(|part| match &part {
            Expr::Column(column) if is_value_of_step(column) => match before.take() {
                Some(value) => Ok(Transformed::yes(value)),
                None => not_impl_err!("an operator that uses its left side twice"),
            },
            _ => Ok(Transformed::no(part)),
        })?;
        value = Some(step.data);
    }
    value.map_or_else(|| missing("an empty chain"), Ok)
}

fn is_value_of_step(column: &Column) -> bool {
    column.relation.is_none() && column.name.starts_with(VALUE)
}

/// How the names of columns with values of steps begin.
const VALUE: &str = "?value ";

/// How the names of columns begin that hold values which are computed once.
const HELD: &str = "?held ";

/// What a long expression reads, mostly a column, and its field among the function's arguments.
type Input = (Expr, FieldRef);

/// The steps of a chain.
#[derive(Default)]
struct Steps {
    exprs: Vec<Expr>,
    /// The columns that hold values of steps, one for each type.
    columns: Vec<FieldRef>,
    /// The column of each step's value, but of the last.
    into: Vec<usize>,
    /// How the values of all steps are joined; `None` if the last is the result.
    logic: Option<Logic>,
}

impl Steps {
    /// The column for the value of a step, which is the next.
    fn column_of(&mut self, value: &Typed) -> Result<Column> {
        let field = running(value.sql_type, &value.data_type)?;
        let same = |known: &FieldRef| {
            known.data_type() == field.data_type() && known.metadata() == field.metadata()
        };
        let place = self.columns.iter().position(same).unwrap_or(self.columns.len());
        let name = format!("{VALUE}{place}");
        if place == self.columns.len() {
            self.columns.push(Arc::new(field.with_name(&name)));
        }
        self.into.push(place);
        Ok(Column::new_unqualified(name))
    }
}

fn running(sql_type: SqlType, data_type: &DataType) -> Result<Field> {
    let held = crate::types::held(sql_type)?;
    Ok(plan_field("", &held, true).with_data_type(data_type.clone()))
}
