//! Sources of functions in other languages: as statements give them, or read from a file.

use crate::context::Frame;
use catalog_views::access::FileUse;
use datafusion::common::DataFusionError;
use datafusion::object_store::ObjectStoreExt;
use foreign::{Language, SOURCE_BYTES_MAX};
use scan::files;
use store::DistributedTransaction;
use values::error::{Error, Result, SqlState};

/// How the addresses of files begin.
const SCHEMES: [&str; 6] = ["file://", "s3://", "gs://", "az://", "abfs://", "abfss://"];

/// The source as the catalog keeps it.
///
/// # Errors
/// 42P13: it is no module; 42501: the user may not read files; 58P01: there is no such file; 54000: it is too long.
pub(super) async fn kept(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    language: Language,
    given: &str,
) -> Result<String> {
    let address = given.trim();
    if !SCHEMES.iter().any(|scheme| address.starts_with(scheme)) {
        return language.kept(given);
    }
    frame.access(transaction.catalog()).require_files(FileUse::Function)?;
    let (store, found) = files::matching(frame.engine(), address).await?;
    let [file] = found.as_slice() else {
        let message = format!("a function has one source, and there are {} files", found.len());
        return Err(Error::new(SqlState::InvalidFunctionDefinition, message));
    };
    if file.size > SOURCE_BYTES_MAX as u64 {
        let message = format!("a function's source has at most {SOURCE_BYTES_MAX} bytes");
        return Err(Error::new(SqlState::ProgramLimitExceeded, message));
    }
    let bytes = store.get(&file.location).await.map_err(DataFusionError::from)?;
    let bytes = bytes.bytes().await.map_err(DataFusionError::from)?;
    language.kept_of_file(&bytes)
}
