//! Operation bundling (`PAPERS.md` E2): which operators of a plan run together.
//!
//! A bundle is a set of connected operators that every site runs together, without storing an intermediate result between
//! them. [`Scheme::binds`] is the relation of bindable operators; [`cut`] divides a plan into bundles by it. The plan is any
//! type that implements [`Tree`].

mod cut;
mod kind;
mod scheme;

pub use cut::{Bundle, Tree, cut};
pub use kind::Kind;
pub use scheme::{Scheme, UnknownScheme};
