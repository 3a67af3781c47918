//! Types that users define: what the analyzer calls them, which one a name means, and how they change.
//!
//! The definition of a type is a value of the catalog ([`UserType`]), which the types of columns contain. The analyzer
//! knows types by ids; [`oid_of`] and [`definition_of`] lead from one to the other.

mod attributes;
mod changes;
mod domains;
mod enums;
mod known;
mod visible;

pub use attributes::{
    AttributeChange, changed_attributes, new_attributes, refuse_stored, without_type,
};
pub use changes::{
    direct_users_of, refuse_mentions, refuse_other_mentions, replacements, tables_of, tables_with,
    users_of,
};
pub use domains::{ColumnCheck, checks_of, domain_condition, not_null_domain};
pub use enums::{Place, add_label, new_labels, rename_label};
pub use known::{definition_of, oid_of};
pub use store::catalog::UserType;
pub use visible::Visible;
