//! The backups at a URL.

use crate::manifest::{FORMAT, Header, Manifest};
use crate::{Error, Target, digest};

/// The folder of manifests.
const BACKUPS: &str = "backups";
/// The ending of their names.
const ENDING: &str = ".json";
/// Digits of a manifest's SHA-256 in its name.
const DIGITS: usize = 32;

/// A backup: its manifest has been read and checked, its data files have not.
#[derive(Debug, Clone)]
pub struct Backup {
    name: String,
    pub(crate) manifest: Manifest,
}

impl Backup {
    /// Opens a backup at a URL: the newest one, or one by its name.
    ///
    /// # Errors
    /// [`Error::NoBackup`], [`Error::UnknownBackup`], [`Error::Newer`], [`Error::Damaged`]; those of the object store.
    pub async fn open(target: &Target, name: Option<&str>) -> Result<Self, Error> {
        let names = names(target).await?;
        let url = || target.url().to_owned();
        let found = match name {
            Some(name) => names.iter().find(|other| *other == name),
            None => names.last(),
        };
        match (found, name) {
            (Some(found), _) => Self::read(target, found).await,
            (None, Some(name)) if !names.is_empty() => Err(Error::UnknownBackup {
                name: name.to_owned(),
                url: url(),
                known: names.join(", "),
            }),
            (None, _) => Err(Error::NoBackup { url: url() }),
        }
    }

    async fn read(target: &Target, name: &str) -> Result<Self, Error> {
        let path = path(name);
        let bytes = target.get(&path).await?;
        if name.rsplit('-').next() != Some(&digest::of(&bytes)[..DIGITS]) {
            return Err(Error::damaged(&path, "its checksum does not fit"));
        }
        let read = |error: serde_json::Error| Error::damaged(&path, error);
        let header: Header = serde_json::from_slice(&bytes).map_err(read)?;
        if header.format > FORMAT {
            let (found, known, version) = (header.format, FORMAT, header.pando);
            return Err(Error::Newer { path, found, known, version });
        }
        let manifest = serde_json::from_slice(&bytes).map_err(read)?;
        Ok(Self { name: name.to_owned(), manifest })
    }

    /// Writes a manifest, which makes the backup visible. Its data files have been written.
    pub(crate) async fn publish(
        target: &Target,
        number: u64,
        created: &str,
        manifest: Manifest,
    ) -> Result<Self, Error> {
        let bytes = serde_json::to_vec_pretty(&manifest).expect("a manifest is plain data");
        let name = format!("{number:06}-{created}-{}", &digest::of(&bytes)[..DIGITS]);
        target.put(&path(&name), bytes).await?;
        Ok(Self { name, manifest })
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what identifies a flaw of the manifest.
    pub(crate) fn flaw(&self) -> impl Fn(String) -> Error + '_ {
        |flaw| Error::damaged(&path(&self.name), flaw)
    }
}

fn path(name: &str) -> String {
    format!("{BACKUPS}/{name}{ENDING}")
}

/// Returns the number of a backup.
pub(crate) fn number(name: &str) -> Option<u64> {
    name.split('-').next()?.parse().ok()
}

/// Returns the names of the backups at a URL, oldest first.
pub(crate) async fn names(target: &Target) -> Result<Vec<String>, Error> {
    let listed = target.list(BACKUPS).await?;
    let names = listed.iter().filter_map(|(name, _)| name.strip_suffix(ENDING));
    let mut names: Vec<String> = names.filter(|n| number(n).is_some()).map(str::to_owned).collect();
    names.sort_by_key(|name| (number(name), name.clone()));
    Ok(names)
}
