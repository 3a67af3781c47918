//! Functions in other languages that plans of other servers call.

use foreign::{Definition, FindDefinition};
use std::sync::Arc;
use store::Store;
use store::catalog::RelationId;

/// The functions of a store's catalog.
pub(crate) struct OfCatalog(pub(crate) Arc<Store>);

impl FindDefinition for OfCatalog {
    fn find(&self, id: u32) -> Option<Arc<Definition>> {
        let catalog = self.0.catalog();
        lowering::foreign::definition(catalog.function_by_id(RelationId(id))?).ok()
    }
}
