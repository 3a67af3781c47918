//! Long expressions: one call for the engine.
//!
//! The engine's passes over plans visit every part of an expression many times, and some of them copy or hash it each
//! time. A long chain, OR or CASE is therefore analysed and compiled once, when it is lowered. The plan has a call of a
//! function ([`Computed`]) whose arguments are the columns that it reads.
//!
//! The function computes steps, one after the other. A step reads the value of the step before as a column.

mod computed;
mod logic;
mod parts;

use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::SqlType;
use analyzer::tree::{Chain, Expr as Tree};
use computed::{Computed, Step};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, DFSchemaRef, ScalarValue, not_impl_err};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{EmptyRelation, Expr, LogicalPlan, Projection};
use datafusion::physical_expr::create_physical_expr;
use optimizer::callable;
use std::collections::HashMap;
use std::sync::Arc;
use values::types::plan_field;

pub(crate) use logic::Logic;
pub(crate) use parts::{is_of_join, is_plain, listed};

/// The number of parts from which on an expression is long.
pub(crate) const LONG: usize = 64;

impl Lowering<'_> {
    /// A long chain of operators.
    pub(crate) fn chain(&mut self, chain: &Chain) -> Result<Typed> {
        let mut value = self.expr(&chain.first)?;
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
        let outer = self.running.replace(running);
        let next = self.expr(step);
        self.running = outer;
        next
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
        let logic = steps.logic;
        let (read, exprs) = self.read(steps.exprs, &steps.columns)?;
        let inputs = read.iter().map(|(_, field)| Arc::clone(field));
        let fields: Vec<FieldRef> = inputs.chain(steps.columns).collect();
        let schema = DFSchema::from_unqualified_fields(fields.into(), HashMap::new())?;
        let schema = Arc::new(schema);
        let exprs = self.analysed(exprs, &schema)?;
        let steps = self.physical(exprs, &schema, &steps.into)?;
        let held = crate::types::held(value.sql_type)?;
        let field = plan_field("", &held, true).with_data_type(value.data_type.clone());
        let inner = Arc::clone(schema.inner());
        let function = Computed::function(inner, read.len(), steps, logic, Arc::new(field));
        let arguments = read.into_iter().map(|(column, _)| Expr::Column(column));
        Ok(Typed { expr: function.call(arguments.collect()), ..value })
    }

    /// The columns that expressions read, each with the field of an input, and the expressions over the inputs.
    fn read(&self, exprs: Vec<Expr>, own: &[FieldRef]) -> Result<(Vec<Input>, Vec<Expr>)> {
        let known = self.columns_here();
        let mut places: HashMap<Column, usize> = HashMap::new();
        let mut read: Vec<Input> = Vec::new();
        let mut input = |column: Column| {
            let is_own =
                column.relation.is_none() && own.iter().any(|field| *field.name() == column.name);
            if is_own {
                return Ok(column);
            }
            if let Some(place) = places.get(&column) {
                return Ok(Column::new_unqualified(read[*place].1.name().clone()));
            }
            let Some(field) = known.get(&column) else {
                return missing("this column of a long expression");
            };
            let name = format!("?input {}", read.len());
            places.insert(column.clone(), read.len());
            let field = Field::clone(field).with_name(&name).with_nullable(true);
            read.push((column, Arc::new(field)));
            Ok(Column::new_unqualified(name))
        };
        let mut refused = None;
        let mut over = |expr: Expr| {
            let renamed = expr.transform_up(|expr| match expr {
                Expr::Column(column) => match input(column.clone()) {
                    Ok(column) => Ok(Transformed::yes(Expr::Column(column))),
                    Err(refusal) => {
                        refused = Some(refusal);
                        Ok(Transformed::no(Expr::Column(column)))
                    }
                },
                other => Ok(Transformed::no(other)),
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

/// A column that a long expression reads, and its field among the function's arguments.
type Input = (Column, FieldRef);

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
