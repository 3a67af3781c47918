//! The parts of a fragment that the engine's own form of plans has no words for: its leaves. Each is written as its place
//! among them; what it reads stands beside the plan ([`super::wire`]). Functions that stand in the place of operators are known
//! by names that SQL does not have.

use super::reader::ExchangeReader;
use datafusion::common::{Result, plan_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::ScalarUDF;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use functions::operators;
use std::sync::Arc;

/// Writes the places of leaves, and puts there what stands for them when a plan is read.
#[derive(Debug, Default)]
pub(super) struct Codec {
    /// By place: the scans of a plan that is written, all leaves of one that is read.
    pub(super) leaves: Vec<Arc<dyn ExecutionPlan>>,
}

impl PhysicalExtensionCodec for Codec {
    fn try_decode(
        &self,
        place: &[u8],
        _: &[Arc<dyn ExecutionPlan>],
        _: &TaskContext,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let place = place.try_into().map(u32::from_le_bytes).unwrap_or(u32::MAX);
        match self.leaves.get(place as usize) {
            Some(leaf) => Ok(Arc::clone(leaf)),
            None => plan_err!("a fragment has no such leaf"),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        place: &mut Vec<u8>,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let at = match node.downcast_ref::<ExchangeReader>() {
            Some(reader) => reader.place,
            None => match self.leaves.iter().position(|leaf| Arc::ptr_eq(leaf, &node)) {
                Some(place) => place as u32,
                None => return plan_err!("{} cannot be part of a fragment", node.name()),
            },
        };
        place.extend_from_slice(&at.to_le_bytes());
        Ok(())
    }

    fn try_decode_udf(&self, name: &str, _: &[u8]) -> Result<Arc<ScalarUDF>> {
        match operators::named(name) {
            Some(function) => Ok(function),
            None => plan_err!("a fragment calls {name}, which is not known here"),
        }
    }
}
