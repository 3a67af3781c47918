//! Calls of the engine's functions become calls of those here of the same name: the engine plans operators, subscripts
//! and syntax such as OVERLAY by itself.

use crate::{arrays, text};
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
pub(crate) struct Replacements;

static REPLACEMENTS: LazyLock<HashMap<String, Arc<ScalarUDF>>> = LazyLock::new(|| {
    let all = arrays::replacements().into_iter().chain(text::replacements());
    all.map(|function| (function.name().to_owned(), Arc::new(function))).collect()
});

impl FunctionRewrite for Replacements {
    fn name(&self) -> &str {
        "replaced_functions"
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
