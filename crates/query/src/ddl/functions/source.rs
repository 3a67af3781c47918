//! Sources of functions in other languages: as statements give them, or read from a file.

use crate::context::Frame;
use catalog_views::access::FileUse;
use foreign::{Language, SOURCE_BYTES_MAX};
use object_store::{ObjectStoreExt, parse_url_opts};
use store::DistributedTransaction;
use url::Url;
use values::error::{Error, Result, SqlState};

/// How the addresses of files begin.
const SCHEMES: [&str; 6] = ["file://", "s3://", "gs://", "az://", "abfs://", "abfss://"];

/// Variables of the environment that configure object stores begin with these.
const VARIABLES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

/// The source as the catalog keeps it.
///
/// # Errors
/// 42P13: it is no module, or no address; 58030: the file cannot be read; 42501: the user may not read files; 58P01: there is no such file; 54000: it is too long.
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
    let failed = |error: object_store::Error| unreadable(address, &error);
    let url = Url::parse(address).map_err(|error| {
        let message = format!("\"{address}\" is no address of a file: {error}");
        Error::new(SqlState::InvalidFunctionDefinition, message)
    })?;
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        VARIABLES.iter().any(|known| name.starts_with(known)).then_some((name, value))
    });
    let (store, place) = parse_url_opts(&url, variables).map_err(failed)?;
    let file = store.get(&place).await.map_err(failed)?;
    if file.meta.size > SOURCE_BYTES_MAX as u64 {
        let message = format!("a function's source has at most {SOURCE_BYTES_MAX} bytes");
        return Err(Error::new(SqlState::ProgramLimitExceeded, message));
    }
    language.kept_of_file(&file.bytes().await.map_err(failed)?)
}

/// The error for a file that cannot be read.
fn unreadable(address: &str, error: &object_store::Error) -> Error {
    if let object_store::Error::NotFound { .. } = error {
        let message = format!("file \"{address}\" does not exist");
        return Error::new(SqlState::UndefinedFile, message);
    }
    let reason = error.to_string();
    let reason = reason.lines().next().unwrap_or_default();
    Error::new(SqlState::IoError, format!("file \"{address}\" cannot be read: {reason}"))
}
