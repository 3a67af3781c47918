//! A data directory that is being restored.
//!
//! It grows in a folder within the directory, and is moved up when it is complete: first everything else, then the
//! file by which a data directory is recognised. So an unfinished one is never taken for a database.

use crate::Error;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The folder in which it grows.
const FOLDER: &str = "restoring";
/// The file that is moved last.
const IDENTITY: &str = "IDENTITY";
/// What a new file system has in its first folder.
const LOST_AND_FOUND: &str = "lost+found";

/// A data directory that is being restored. It is removed unless it is finished.
#[derive(Debug)]
pub(crate) struct Unfinished {
    path: PathBuf,
    /// Whether the directory did not exist.
    is_new: bool,
    is_finished: bool,
}

fn failed<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Error + 'a {
    move |reason| Error::Directory { action, path: path.to_owned(), reason }
}

impl Unfinished {
    /// Begins in a directory that does not exist or is empty. Its parent must exist.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let is_new = match fs::create_dir(path) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            Err(error) => return Err(failed("create", path)(error)),
        };
        for entry in fs::read_dir(path).map_err(failed("list", path))? {
            let found = entry.map_err(failed("list", path))?.file_name();
            if found == FOLDER {
                let found = format!("{FOLDER}, which a restore that was interrupted has left");
                return Err(Error::NotEmpty { path: path.to_owned(), found });
            }
            if found != LOST_AND_FOUND {
                let found = found.to_string_lossy().into_owned();
                return Err(Error::NotEmpty { path: path.to_owned(), found });
            }
        }
        let folder = path.join(FOLDER);
        fs::create_dir(&folder).map_err(failed("create", &folder))?;
        // The store makes the data directory itself.
        fs::remove_dir(&folder).map_err(failed("remove", &folder))?;
        Ok(Self { path: path.to_owned(), is_new, is_finished: false })
    }

    /// Returns the path at which the data directory grows.
    pub(crate) fn path(&self) -> PathBuf {
        self.path.join(FOLDER)
    }

    /// Moves the data directory to its place. No store has it open.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let folder = self.path();
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder).map_err(failed("list", &folder))? {
            names.push(entry.map_err(failed("list", &folder))?.file_name());
        }
        names.sort_by_key(|name| name == IDENTITY);
        for name in names {
            if name == IDENTITY {
                self.sync()?;
            }
            let from = folder.join(&name);
            fs::rename(&from, self.path.join(&name)).map_err(failed("rename", &from))?;
        }
        fs::remove_dir(&folder).map_err(failed("remove", &folder))?;
        self.sync()?;
        self.is_finished = true;
        Ok(())
    }

    /// Makes the names in the directory durable.
    fn sync(&self) -> Result<(), Error> {
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        for path in [self.path.as_path(), parent.unwrap_or(Path::new("."))] {
            File::open(path).and_then(|file| file.sync_all()).map_err(failed("sync", path))?;
        }
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if self.is_finished {
            return;
        }
        // What cannot be removed is refused, by name, by the next restore.
        let _ = fs::remove_dir_all(self.path());
        if self.is_new {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_there_when_it_is_finished_and_gone_when_it_is_not() {
        let parent = tempfile::tempdir().expect("a directory");
        let path = parent.path().join("data");
        let begun = Unfinished::create(&path).expect("begun");
        fs::create_dir(begun.path()).expect("created");
        fs::write(begun.path().join(IDENTITY), "x").expect("written");
        drop(begun);
        assert!(!path.exists());
        let begun = Unfinished::create(&path).expect("begun");
        fs::create_dir(begun.path()).expect("created");
        fs::write(begun.path().join(IDENTITY), "x").expect("written");
        begun.finish().expect("finished");
        assert_eq!(fs::read_to_string(path.join(IDENTITY)).expect("there"), "x");
        assert!(!path.join(FOLDER).exists());
        let refused = Unfinished::create(&path).expect_err("not empty");
        assert!(matches!(refused, Error::NotEmpty { .. }), "{refused}");
    }
}
