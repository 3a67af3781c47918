//! The options of COPY to and from files.

use parser::client_copy::{Form, Header, Options as RowOptions};
use parser::commands::{Copy, CopyPlace, Given};
use scan::files::Format as FileFormat;
use values::error::{Error, Result};

/// The options of a COPY, including defaults.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// The file, as named in the statement.
    pub(crate) path: String,
    pub(crate) format: Format,
}

/// The format of a file.
#[derive(Debug, Clone)]
pub(crate) enum Format {
    /// Text or CSV, as PostgreSQL writes and reads them.
    Rows(RowOptions),
    /// Newline-delimited JSON.
    Json,
    /// Apache Parquet.
    Parquet,
}

impl Options {
    /// Reads the options of a COPY statement. Without FORMAT the extension of the file decides; a file with another
    /// extension has the format text, as in PostgreSQL.
    ///
    /// # Errors
    /// 0A000 for STDIN and STDOUT and for unsupported options; 22023 for invalid values.
    pub(crate) fn of(copy: &Copy) -> Result<Self> {
        let CopyPlace::File(path) = &copy.place else {
            return Err(Error::unsupported("COPY with the client requires a client connection")
                .with_hint("Give a file name: COPY t FROM 'file.csv' (FORMAT csv)."));
        };
        let named = copy.options.iter().find(|option| option.name == "format");
        let named = named.and_then(|option| option.words.first()).map(|name| name.to_lowercase());
        let format = match named.as_deref() {
            Some("text" | "csv" | "binary") => None,
            Some(name) => Some(FileFormat::named(name).map_err(|error| {
                error.with_hint("Supported formats: text, csv, json, parquet.")
            })?),
            None => FileFormat::of_path(path).ok(),
        };
        let format = match format {
            Some(FileFormat::Parquet) => Format::Parquet,
            Some(FileFormat::Json) => Format::Json,
            Some(FileFormat::Csv) | None => Format::Rows(rows(copy, format.is_some())?),
        };
        if !matches!(format, Format::Rows(_)) {
            let mut others = copy.options.iter().map(|option| option.name.as_str());
            if let Some(other) = others.find(|name| !matches!(*name, "format" | "freeze")) {
                let what =
                    format!("COPY option {} with a file of this format", other.to_uppercase());
                return Err(Error::unsupported(format!("{what} is not supported")));
            }
        }
        Ok(Self { path: path.clone(), format })
    }
}

/// The options of text and CSV. A file that is CSV by its extension has a header with the column names, as in queries of
/// files.
fn rows(copy: &Copy, is_csv_by_extension: bool) -> Result<RowOptions> {
    let mut given = copy.options.clone();
    if is_csv_by_extension {
        given.retain(|option| option.name != "format");
        let words = vec!["csv".to_owned()];
        given.push(Given { name: "format".to_owned(), words, location: -1 });
    }
    let mut options = RowOptions::of(&given)?;
    options.condition.clone_from(&copy.condition);
    if options.form == Form::Binary {
        return Err(Error::unsupported("COPY in the format binary with a file is not supported"));
    }
    if is_csv_by_extension && !copy.options.iter().any(|option| option.name == "header") {
        options.header = Header::Skip;
    }
    Ok(options)
}
