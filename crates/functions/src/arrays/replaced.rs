//! Calls of the engine's array functions become calls of those here: operators and subscripts are planned by the engine.

use super::elements;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Expr, ScalarUDF};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// Replaces the engine's functions by those of the same name.
#[derive(Debug)]
pub(crate) struct ArrayFunctions;

static REPLACEMENTS: LazyLock<HashMap<String, Arc<ScalarUDF>>> = LazyLock::new(|| {
    let all = elements::replacements().into_iter();
    all.map(|function| (function.name().to_owned(), Arc::new(function))).collect()
});

impl FunctionRewrite for ArrayFunctions {
    fn name(&self) -> &str {
        "array_functions"
    }

    fn rewrite(&self, expr: Expr, _: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let Expr::ScalarFunction(ScalarFunction { func, args }) = expr else {
            return Ok(Transformed::no(expr));
        };
        match REPLACEMENTS.get(func.name()) {
            Some(ours) if *ours != func => {
                let call = ScalarFunction::new_udf(Arc::clone(ours), args);
                Ok(Transformed::yes(Expr::ScalarFunction(call)))
            }
            _ => Ok(Transformed::no(Expr::ScalarFunction(ScalarFunction { func, args }))),
        }
    }
}
