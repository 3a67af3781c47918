//! How long files are. A file that grows past the limit holds more than one idea.

use super::measured::Measured;
use super::workspace::Workspace;

/// Lines of a Rust file.
pub(super) const LINES_MAX: usize = 800;

/// Every Rust file and its lines.
pub(super) fn measure(workspace: &Workspace) -> Vec<Measured> {
    workspace
        .rust()
        .map(|file| Measured {
            what: format!("file {}", file.path),
            path: file.path.clone(),
            line: 1,
            lines: file.text.lines().count(),
            lines_max: LINES_MAX,
        })
        .collect()
}
