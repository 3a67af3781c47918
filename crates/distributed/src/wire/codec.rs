//! Encoding of the leaves of a plan, which the engine's own format does not know.
//!
//! A leaf is written as its position among the leaves. What it reads is in the message next to the
//! plan ([`super::fragment`]). Functions that stand for operators have names that SQL does not
//! have. A function of a user is written as its id and the version of its definition, an aggregate of a user as its steps, a cast as its type.

use super::{folds, out_of_range};
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use foreign::Definitions;
use functions::operators;
use scan::made::Made;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use values::translate::external;

/// A function that has no name which every server knows.
#[derive(Serialize, Deserialize)]
enum Called {
    /// A function of a user, by its id and version.
    Foreign(Vec<u8>),
    /// A function that was made for the call.
    Made(Made),
}

/// Writes the positions of leaves, and puts the leaves there when a plan is read.
#[derive(Debug, Default)]
pub(crate) struct Codec {
    /// The leaves of the plan, by position.
    pub(crate) leaves: Vec<Arc<dyn ExecutionPlan>>,
    /// Where functions are found when a plan is read.
    context: Option<Arc<TaskContext>>,
}

impl Codec {
    /// For writing a plan over leaves.
    pub(crate) fn writing(leaves: Vec<Arc<dyn ExecutionPlan>>) -> Self {
        Self { leaves, context: None }
    }

    /// For reading a plan over leaves.
    pub(crate) fn reading(leaves: Vec<Arc<dyn ExecutionPlan>>, context: &Arc<TaskContext>) -> Self {
        Self { leaves, context: Some(Arc::clone(context)) }
    }
}

impl PhysicalExtensionCodec for Codec {
    fn try_decode(
        &self,
        position: &[u8],
        _: &[Arc<dyn ExecutionPlan>],
        _: &TaskContext,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let position = position.try_into().map(u32::from_le_bytes).unwrap_or(u32::MAX);
        match self.leaves.get(position as usize) {
            Some(leaf) => Ok(Arc::clone(leaf)),
            None => plan_err!("a fragment has no such leaf"),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        match self.leaves.iter().position(|leaf| Arc::ptr_eq(leaf, &node)) {
            Some(position) => bytes.extend_from_slice(&(position as u32).to_le_bytes()),
            None => return plan_err!("{} cannot be part of a fragment", node.name()),
        }
        Ok(())
    }

    fn try_encode_udf(&self, function: &ScalarUDF, bytes: &mut Vec<u8>) -> Result<()> {
        let called = match foreign::of_function(function) {
            Some(definition) => {
                let mut named = Vec::new();
                foreign::encode(definition, &mut named);
                Called::Foreign(named)
            }
            None => match Made::of(function) {
                Some(made) => Called::Made(made),
                None => return Ok(()),
            },
        };
        let called = postcard::to_allocvec(&called);
        bytes.extend(called.map_err(|error| DataFusionError::External(Box::new(error)))?);
        Ok(())
    }

    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
        if !bytes.is_empty() {
            let called = match postcard::from_bytes::<Called>(bytes) {
                Ok(Called::Made(made)) => match made.function() {
                    Some(function) => return Ok(Arc::new(function)),
                    None => return plan_err!("a fragment calls {name}, which is not known here"),
                },
                Ok(Called::Foreign(called)) => called,
                Err(_) => return Err(external(out_of_range("a function of a fragment is none"))),
            };
            let context = self.context.as_ref();
            let definitions: Option<Arc<Definitions>> =
                context.and_then(|context| context.session_config().get_extension());
            let found = foreign::decode(&called, definitions.as_deref()).map_err(external)?;
            return Ok(Arc::new(foreign::function(&found)));
        }
        match operators::named(name) {
            Some(function) => Ok(function),
            None => plan_err!("a fragment calls {name}, which is not known here"),
        }
    }

    fn try_encode_udaf(&self, function: &AggregateUDF, bytes: &mut Vec<u8>) -> Result<()> {
        match frames::fold_of(function) {
            Some(fold) => folds::encode(fold, bytes, self),
            None => Ok(()),
        }
    }

    fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
        match &self.context {
            Some(context) if !bytes.is_empty() => {
                folds::decode(name, bytes, context, self).map(Arc::new)
            }
            _ => plan_err!("a fragment calls {name}, which is not known here"),
        }
    }
}
