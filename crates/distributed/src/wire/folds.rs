//! Aggregates of users as bytes: each step is a projection of a row in the engine's format.

use super::out_of_range;
use datafusion::arrow::datatypes::{FieldRef, Schema, SchemaRef};
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::AggregateUDF;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_expr::projection::ProjectionExpr;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion_proto::bytes::{
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use frames::{Fold, Step, folded};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use values::translate::external;

/// An aggregate of a user.
#[derive(Serialize, Deserialize)]
struct Written {
    /// The first state, in a row that has the field of the result.
    initial: Vec<u8>,
    transition: WrittenStep,
    combine: Option<WrittenStep>,
    finish: Option<WrittenStep>,
}

#[derive(Serialize, Deserialize)]
struct WrittenStep {
    expr: Vec<u8>,
    is_strict: bool,
}

/// Writes an aggregate, behind `bytes`.
///
/// # Errors
/// If an expression cannot be written.
pub(super) fn encode(
    fold: &Fold,
    bytes: &mut Vec<u8>,
    codec: &dyn PhysicalExtensionCodec,
) -> Result<()> {
    let step = |step: &Step| {
        let expr = expr_to_bytes(&step.expr, &step.schema, codec)?;
        Ok::<_, DataFusionError>(WrittenStep { expr, is_strict: step.is_strict })
    };
    let initial: Arc<dyn PhysicalExpr> = Arc::new(Literal::new(fold.initial.clone()));
    let result = Arc::new(Schema::new(vec![FieldRef::clone(&fold.result)]));
    let written = Written {
        initial: expr_to_bytes(&initial, &result, codec)?,
        transition: step(&fold.transition)?,
        combine: fold.combine.as_ref().map(step).transpose()?,
        finish: fold.finish.as_ref().map(step).transpose()?,
    };
    let written = postcard::to_allocvec(&written);
    bytes.extend(written.map_err(|error| DataFusionError::External(Box::new(error)))?);
    Ok(())
}

/// Reads an aggregate that another server has written.
///
/// # Errors
/// 08P01 if the bytes are none.
pub(super) fn decode(
    name: &str,
    bytes: &[u8],
    context: &TaskContext,
    codec: &dyn PhysicalExtensionCodec,
) -> Result<AggregateUDF> {
    let Ok(written) = postcard::from_bytes::<Written>(bytes) else {
        return Err(external(out_of_range("an aggregate of a fragment is none")));
    };
    let step = |step: WrittenStep| {
        let (expr, schema) = expr_from_bytes(&step.expr, context, codec)?;
        Ok::<_, DataFusionError>(Step { expr, schema, is_strict: step.is_strict })
    };
    let (initial, result) = expr_from_bytes(&written.initial, context, codec)?;
    let (Some(initial), [result]) = (initial.downcast_ref::<Literal>(), &result.fields()[..])
    else {
        return plan_err!("an aggregate of a fragment has no first state");
    };
    Ok(folded(Fold {
        name: name.to_owned(),
        initial: initial.value().clone(),
        transition: step(written.transition)?,
        combine: written.combine.map(step).transpose()?,
        finish: written.finish.map(step).transpose()?,
        result: FieldRef::clone(result),
    }))
}

fn expr_to_bytes(
    expr: &Arc<dyn PhysicalExpr>,
    row: &SchemaRef,
    codec: &dyn PhysicalExtensionCodec,
) -> Result<Vec<u8>> {
    let named = ProjectionExpr { expr: Arc::clone(expr), alias: String::new() };
    let row = Arc::new(EmptyExec::new(Arc::clone(row)));
    let plan = Arc::new(ProjectionExec::try_new(vec![named], row)?);
    Ok(physical_plan_to_bytes_with_extension_codec(plan, codec)?.into())
}

fn expr_from_bytes(
    bytes: &[u8],
    context: &TaskContext,
    codec: &dyn PhysicalExtensionCodec,
) -> Result<(Arc<dyn PhysicalExpr>, SchemaRef)> {
    let plan = physical_plan_from_bytes_with_extension_codec(bytes, context, codec)?;
    match plan.downcast_ref::<ProjectionExec>() {
        Some(plan) if plan.expr().len() == 1 => {
            Ok((Arc::clone(&plan.expr()[0].expr), plan.input().schema()))
        }
        _ => plan_err!("a step of an aggregate of a fragment is none"),
    }
}
