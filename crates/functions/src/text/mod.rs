//! Functions on text and bytes.

mod binary;
pub mod bytes;
pub(crate) mod concatenation;
mod encodings;
mod hashes;
mod identifiers;
pub mod joined;
pub mod letters;
pub mod like;
pub mod like_escapes;
pub(crate) mod parts;
mod unicode;

use datafusion::logical_expr::ScalarUDF;

/// The functions of this folder.
pub(crate) fn all() -> Vec<ScalarUDF> {
    let mut all = bytes::all();
    all.extend(binary::all());
    all.extend(encodings::all());
    all.extend(hashes::all());
    all.extend(letters::all());
    all.extend(like::all());
    all.extend(replacements());
    all.extend(identifiers::all());
    all.extend(unicode::all());
    all
}

/// The functions that replace the engine's of the same name.
pub(crate) fn replacements() -> Vec<ScalarUDF> {
    binary::replacements()
}
