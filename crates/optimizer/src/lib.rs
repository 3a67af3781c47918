//! Rules that the engine's optimizer has in addition. Each is for plans to which the engine's own rules give wrong answers;
//! its file says which. [`carried`] tells what order a plan gives its rows, which the engine forgets, and [`is_plain`] and
//! others what expressions consist of.

mod callable;
mod carried_orders;
mod computed_keys;
mod decimal_constants;
mod few_groups;
mod filtered_arguments;
mod float_groups;
mod guarded;
mod kept_orders;
mod kept_types;
mod logic;
mod missing_orders;
mod null_keys;
mod outer_constants;
mod parts;
mod pushed_filters;
mod read_orders;
mod repeated_orders;
mod repeated_rows;
mod same_names;
mod skipped_rows;
mod varying;
mod whole_orders;

pub use callable::callable;
pub use carried_orders::{Carried, carried};
pub use computed_keys::ComputedKeys;
pub use decimal_constants::with_exact_decimals;
pub use few_groups::FewGroups;
pub use filtered_arguments::where_filtered;
pub use float_groups::FloatGroups;
pub use guarded::{Rule, guarded};
pub use logic::Logic;
pub use missing_orders::MissingOrders;
pub use outer_constants::OuterConstants;
pub use parts::{is_argument, is_callable, is_of_join, is_plain, listed};
pub use read_orders::ReadOrders;
pub use repeated_orders::RepeatedOrders;
pub use same_names::ByUniqueNames;
pub use skipped_rows::{AllRows, SkippedRows};
pub use whole_orders::WholeOrders;
