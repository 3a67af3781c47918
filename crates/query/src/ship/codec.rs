//! The parts of a bundle that the engine's own form of plans has no words for: the scan of our table. There is one in
//! each bundle, so that its place is enough; what it reads stands beside the plan ([`super::wire`]).

use crate::scan::bucket_scan::BucketScan;
use datafusion::common::{Result, plan_err};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use std::sync::Arc;

/// Writes the place of the scan, and puts there what stands for it when a plan is read.
#[derive(Debug, Default)]
pub(super) struct Codec {
    pub(super) scan: Option<Arc<dyn ExecutionPlan>>,
}

impl PhysicalExtensionCodec for Codec {
    fn try_decode(
        &self,
        _: &[u8],
        _: &[Arc<dyn ExecutionPlan>],
        _: &TaskContext,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match &self.scan {
            Some(scan) => Ok(Arc::clone(scan)),
            None => plan_err!("a bundle's predicate has no scan"),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        _: &mut Vec<u8>,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        match node.downcast_ref::<BucketScan>() {
            Some(_) => Ok(()),
            None => plan_err!("{} cannot be part of a bundle", node.name()),
        }
    }
}
