//! Long chains of operators: `a OR b OR c ...`, `a + b - c ...`.
//!
//! The engine takes a time that grows with the square of a chain's length, and stack that grows with the length. A long
//! chain ([`parser::chains`]) becomes one call with all operands: [`logic`] for AND and OR, [`folds`] for the others.
//!
//! A chain is taken apart before the other rewrites of the dialect ([`flatten`]). The SQL planner has no extension for
//! calls that knows the columns in scope, but one for arrays. So the chain enters it as an array ([`as_arrays`]) whose
//! first element names the operators, and [`Chains`] plans it.

mod folds;
mod logic;
mod shapes;

use super::dialect::build::{arguments_mut, call, called, take, text};
use super::dialect::column_names::CHAIN;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::sql::sqlparser::ast::{self, Array, VisitorMut};
use parser::chains::Chain;
use parser::walk::{Syntax, visit_expressions_mut, visit_mut};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;

/// Turns the long chains of a syntax tree into calls of [`CHAIN`].
pub(super) fn flatten(tree: &mut impl Syntax) {
    struct LongChains;
    impl VisitorMut for LongChains {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
            if let Some(Chain { first, rest }) = Chain::of(expr) {
                let symbols: Vec<String> = rest.iter().map(|(op, _)| op.to_string()).collect();
                let operands = rest.into_iter().map(|(_, operand)| operand);
                let arguments = [text(symbols.join(" ")), first].into_iter().chain(operands);
                *expr = call(CHAIN, arguments.collect());
            }
            ControlFlow::Continue(())
        }
    }
    let _ = visit_mut(tree, &mut LongChains);
}

/// Turns the calls of [`CHAIN`] into the arrays that [`Chains`] plans.
pub(super) fn as_arrays(tree: &mut impl Syntax) {
    let _ = visit_expressions_mut(tree, |expr| {
        if called(expr).as_deref() == Some(CHAIN) {
            let mut elem: Vec<ast::Expr> = arguments_mut(expr).into_iter().map(take).collect();
            if let Some(symbols) = elem.first_mut() {
                *symbols = call(CHAIN, vec![take(symbols)]);
            }
            *expr = ast::Expr::Array(Array { elem, named: true });
        }
        ControlFlow::<()>::Continue(())
    });
}

/// The function that marks the array of a chain. It is never executed.
pub(super) fn marker() -> ScalarUDF {
    ScalarUDF::new_from_impl(Marker(Signature::any(1, Volatility::Immutable)))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Marker(Signature);

impl ScalarUDFImpl for Marker {
    fn name(&self) -> &str {
        CHAIN
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Null)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Err(DataFusionError::Internal("a chain of operators is planned, not called".to_owned()))
    }
}

/// Plans long chains of operators.
#[derive(Debug)]
pub struct Chains;

impl ExprPlanner for Chains {
    fn plan_array_literal(
        &self,
        mut exprs: Vec<Expr>,
        schema: &DFSchema,
    ) -> Result<PlannerResult<Vec<Expr>>> {
        let Some(symbols) = symbols(&exprs) else { return Ok(PlannerResult::Original(exprs)) };
        let operands = exprs.split_off(1);
        let planned = match symbols[0].as_str() {
            "AND" => logic::planned(logic::Logic::And, operands, schema),
            "OR" => logic::planned(logic::Logic::Or, operands, schema),
            _ => folds::planned(&symbols, operands, schema),
        };
        planned.map(PlannerResult::Planned)
    }
}

/// The operators of the chain that an array stands for.
fn symbols(exprs: &[Expr]) -> Option<Vec<String>> {
    let Expr::ScalarFunction(call) = exprs.first()? else { return None };
    let [Expr::Literal(symbols, _)] = &call.args[..] else { return None };
    let symbols = symbols.try_as_str().flatten().filter(|_| call.name() == CHAIN)?;
    let symbols: Vec<String> = symbols.split(' ').map(str::to_owned).collect();
    (symbols.len() + 2 == exprs.len()).then_some(symbols)
}

/// The name of a call with many arguments. The engine writes names often, and distinguishes expressions by them.
fn name_of_call(function: &str, arguments: &[Expr]) -> String {
    let mut hasher = DefaultHasher::new();
    arguments.hash(&mut hasher);
    format!("{function}({} operands, {:016x})", arguments.len(), hasher.finish())
}
