//! Functions in other languages that plans of other servers call.

use foreign::{Definition, FindDefinition};
use std::sync::Arc;
use store::Store;
use store::catalog::{RelationId, SqlType};

/// The functions of a store's catalog.
pub(crate) struct OfCatalog(pub(crate) Arc<Store>);

impl FindDefinition for OfCatalog {
    fn find(&self, id: u32, actual: &[SqlType]) -> Option<Arc<Definition>> {
        let catalog = self.0.catalog();
        let function = catalog.function_by_id(RelationId(id))?;
        lowering::foreign::definition(&catalog, function, actual).ok()
    }
}
