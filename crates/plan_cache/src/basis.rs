//! What a plan depends on besides its statement.

use catalog_views::settings::Settings;
use std::sync::Arc;
use store::catalog::Catalog;

/// A catalog, and settings, which also say whose privileges and which schemas count. What was planned for one basis does not
/// hold for another.
#[derive(Debug, Clone)]
pub struct Basis {
    catalog: Arc<Catalog>,
    settings: Arc<Settings>,
}

impl Basis {
    /// A catalog and settings.
    pub fn new(catalog: &Arc<Catalog>, settings: &Arc<Settings>) -> Self {
        Self { catalog: Arc::clone(catalog), settings: Arc::clone(settings) }
    }
}

impl PartialEq for Basis {
    /// Whether both are the same values in memory: a catalog and settings are replaced when they change.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.catalog, &other.catalog) && Arc::ptr_eq(&self.settings, &other.settings)
    }
}
