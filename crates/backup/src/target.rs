//! The place of backups: a folder of an object store.

use crate::Error;
use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, ObjectStoreScheme, parse_url_opts};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use url::Url;

/// Variables of the environment that configure object stores begin with these.
const VARIABLES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

/// What refusals say that have no kind of their own: those of requests that list objects.
const DENIALS: [&str; 2] = ["status code: 401", "status code: 403"];

/// A folder of an object store.
#[derive(Debug, Clone)]
pub struct Target {
    url: String,
    store: Arc<dyn ObjectStore>,
    root: Path,
    /// The folder, if it is in the file system of this machine.
    folder: Option<PathBuf>,
}

impl Target {
    /// Opens the folder of a URL: `file:///directory`, `s3://bucket/directory`, `gs://...`, `az://...`. The usual
    /// variables of the environment configure the access, for example `AWS_ENDPOINT`.
    ///
    /// # Errors
    /// [`Error::Url`]. Nothing is read or written.
    pub fn open(text: &str) -> Result<Self, Error> {
        let refused = |reason: String| Error::Url { url: text.to_owned(), reason };
        let url = Url::parse(text).map_err(|error| refused(error.to_string()))?;
        let (scheme, _) = ObjectStoreScheme::parse(&url)
            .map_err(|_| refused(format!("the scheme \"{}\" is unknown", url.scheme())))?;
        match scheme {
            ObjectStoreScheme::Memory => {
                return Err(refused("memory ends with the server".to_owned()));
            }
            ObjectStoreScheme::Http => {
                return Err(refused("a web server cannot be written to".to_owned()));
            }
            _ => {}
        }
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
            VARIABLES.iter().any(|known| name.starts_with(known)).then_some((name, value))
        });
        let (store, root) =
            parse_url_opts(&url, variables).map_err(|error| refused(one_line(&error)))?;
        let folder = (scheme == ObjectStoreScheme::Local).then(|| url.to_file_path().ok());
        Ok(Self { url: text.to_owned(), store: store.into(), root, folder: folder.flatten() })
    }

    /// Returns the URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    fn path(&self, below: &str) -> Path {
        below.split('/').fold(self.root.clone(), |path, part| path.join(part))
    }

    /// Returns an object of the folder.
    pub(crate) async fn get(&self, below: &str) -> Result<Bytes, Error> {
        let read = async { self.store.get(&self.path(below)).await?.bytes().await };
        read.await.map_err(|error| match error {
            object_store::Error::NotFound { .. } => Error::Missing { path: below.to_owned() },
            error => self.failed("read", below, &error),
        })
    }

    /// Writes an object: all of it or nothing. In a file system, it is on the disk then.
    pub(crate) async fn put(&self, below: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let written = self.store.put(&self.path(below), bytes.into()).await;
        written.map_err(|error| self.failed("write", below, &error))?;
        self.sync(below).map_err(|error| Error::Storage {
            action: "sync",
            path: self.place(below),
            reason: error.to_string(),
        })
    }

    /// Makes a file, its name, and the names of the folders durable.
    fn sync(&self, below: &str) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let file = folder.join(below);
        let folders = [file.parent(), Some(folder), folder.parent()];
        for path in [Some(file.as_path())].into_iter().chain(folders).flatten() {
            File::open(path)?.sync_all()?;
        }
        Ok(())
    }

    /// Returns the names and sizes of the objects in a folder of the folder, in order.
    pub(crate) async fn list(&self, below: &str) -> Result<Vec<(String, u64)>, Error> {
        let path = self.path(below);
        let listed: Result<Vec<_>, _> = self.store.list(Some(&path)).try_collect().await;
        let listed = match listed {
            Err(object_store::Error::NotFound { .. }) => return Ok(Vec::new()),
            listed => listed.map_err(|error| self.failed("list", below, &error))?,
        };
        let name = |location: &Path| location.filename().map(str::to_owned);
        let mut names: Vec<_> =
            listed.iter().filter_map(|of| Some((name(&of.location)?, of.size))).collect();
        names.sort();
        Ok(names)
    }

    /// Returns the URL of an object, for messages.
    fn place(&self, below: &str) -> String {
        format!("{}/{below}", self.url.trim_end_matches('/'))
    }

    fn failed(&self, action: &'static str, below: &str, error: &object_store::Error) -> Error {
        use object_store::Error as E;
        let (path, reason) = (self.place(below), one_line(error));
        let is_denied = matches!(error, E::PermissionDenied { .. } | E::Unauthenticated { .. })
            || io_kind(error) == Some(io::ErrorKind::PermissionDenied)
            || DENIALS.iter().any(|status| reason.contains(status));
        match is_denied {
            true => Error::Denied { action, path, reason },
            false => Error::Storage { action, path, reason },
        }
    }
}

/// Returns the kind of the error of the operating system that caused an error.
fn io_kind(error: &object_store::Error) -> Option<io::ErrorKind> {
    let mut next: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return Some(error.kind());
        }
        next = error.source();
    }
    None
}

/// Returns the text of an error in one line.
fn one_line(error: &object_store::Error) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_stores_that_keep_what_is_written_are_opened() {
        for url in ["/backups", "memory:///", "https://example.com/x", "ftp://example.com/x", ""] {
            assert!(matches!(Target::open(url), Err(Error::Url { .. })), "{url}");
        }
        for url in ["file:///x/y", "s3://bucket/x"] {
            assert_eq!(Target::open(url).expect("opened").url(), url);
        }
    }
}
