//! A damage as it is shown: file, offset and what is wrong.

use std::path::Path;
use store::journal::Error;

/// What is wrong at a place of a data directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Damage {
    /// The file, relative to the data directory.
    pub(super) file: String,
    /// Where in the file, in bytes; `None` if that has no meaning.
    pub(super) offset: Option<u64>,
    /// What is wrong.
    pub(super) flaw: String,
}

impl Damage {
    /// Describes an error of the inspection of a directory.
    pub(super) fn of(error: &Error, directory: &Path) -> Self {
        let (path, offset, flaw) = match error {
            Error::Damaged { path, offset, flaw } => (path.as_path(), Some(*offset), flaw.clone()),
            Error::Newer { path, found, known } => {
                let flaw = format!("it has format {found}, and this program reads up to {known}");
                (path.as_path(), None, flaw)
            }
            Error::Io { action, path, reason } => {
                (path.as_path(), None, format!("cannot {action} it: {reason}"))
            }
            Error::Incomplete { path, missing, .. } => (path.as_path(), None, missing.clone()),
            other => (directory, None, other.to_string()),
        };
        Self { file: relative(path, directory), offset, flaw }
    }
}

/// The path of a file relative to the data directory; `.` for itself.
pub(super) fn relative(path: &Path, directory: &Path) -> String {
    let relative = path.strip_prefix(directory).unwrap_or(path);
    match relative.as_os_str().is_empty() {
        true => ".".to_owned(),
        false => relative.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damage_has_the_file_within_the_directory_and_the_offset() {
        let directory = Path::new("/data/shop");
        let error = Error::damaged(&directory.join("journal/1.log"), 12, "it ends early");
        let damage = Damage::of(&error, directory);
        assert_eq!((damage.file.as_str(), damage.offset), ("journal/1.log", Some(12)));
        assert_eq!(damage.flaw, "it ends early");
        let missing = "the file IDENTITY is missing".to_owned();
        let error = Error::Incomplete { path: directory.to_owned(), missing, advice: "wait" };
        let damage = Damage::of(&error, directory);
        assert_eq!((damage.file.as_str(), damage.offset), (".", None));
    }
}
