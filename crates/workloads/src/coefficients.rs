//! The simulator's cost coefficients, by name or from a file.

use anyhow::{Context, Result};
use dbsim::Coefficients;
use std::fs;

/// Reads cost coefficients: a file if `name` contains a point or a slash, else built-in ones.
///
/// # Errors
/// If there are no such coefficients, or the file cannot be read or is malformed.
pub fn coefficients(name: &str) -> Result<Coefficients> {
    if name.contains(['.', '/']) {
        let text = fs::read_to_string(name).with_context(|| format!("cannot read {name}"))?;
        return Ok(Coefficients::read(&text, name)?);
    }
    Ok(Coefficients::named(name)?)
}
