//! Opens files, and reads them as data for COPY.

use crate::arguments::{FileFormat, LoadArguments};
use anyhow::{Context, bail};
use bytes::{Bytes, BytesMut};
use futures::TryStreamExt;
use pando::{Field, Session};
use std::io::{BufRead, BufReader, Read};
use tokio::sync::mpsc;

/// Bytes of a piece.
const PIECE_BYTES: usize = 256 << 10;
/// Pieces that are read ahead of the one that is sent.
const PIECES_AHEAD: usize = 4;

/// A file to load.
pub(super) struct File {
    /// Path as the user wrote it.
    pub(super) path: String,
    /// Format and columns.
    pub(super) contents: Contents,
    /// Size in bytes.
    pub(super) bytes: u64,
}

/// Format and columns of a file.
pub(super) enum Contents {
    /// CSV, which the server parses.
    Csv {
        /// The names in the first line, if there is a header.
        header: Option<Vec<String>>,
        /// The inferred columns, for `--create`.
        fields: Vec<Field>,
    },
    /// A format that is parsed in this process.
    Rows {
        /// The columns.
        fields: Vec<Field>,
        /// The number of rows, if the file's metadata has it.
        count: Option<u64>,
    },
}

/// The format in which data is sent to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The file's bytes.
    AsItIs,
    /// COPY's binary format.
    Binary,
    /// COPY's text format.
    Text,
}

/// Data for COPY, with the number of rows (lines in CSV).
pub(super) struct Piece {
    pub(super) bytes: Bytes,
    pub(super) rows: u64,
}

impl File {
    /// Whether it is sent as it is.
    pub(super) fn is_csv(&self) -> bool {
        matches!(self.contents, Contents::Csv { .. })
    }
}

/// Checks all files before anything is sent.
pub(super) async fn open(
    session: &Session,
    arguments: &LoadArguments,
) -> anyhow::Result<Vec<File>> {
    let mut files = Vec::new();
    for path in &arguments.files {
        let path = path.to_str().with_context(|| format!("{} is not text", path.display()))?;
        let file = inspect(session, path, arguments).await;
        files.push(file.with_context(|| format!("cannot load {path}"))?);
    }
    Ok(files)
}

async fn inspect(session: &Session, path: &str, arguments: &LoadArguments) -> anyhow::Result<File> {
    let bytes = std::fs::metadata(path)?.len();
    let format = arguments.format.or_else(|| FileFormat::of_path(path));
    let format = format.context("its name has no known extension: give --format")?;
    let contents = match format {
        FileFormat::Csv => {
            let header =
                if arguments.no_header { None } else { Some(header(path, arguments.delimiter)?) };
            let has_usual_form = header.is_some() && arguments.delimiter == ',';
            let fields = if !arguments.create {
                Vec::new()
            } else if has_usual_form {
                fields(session, path).await?
            } else {
                bail!("--create needs a header, and commas between values");
            };
            Contents::Csv { header, fields }
        }
        FileFormat::Parquet | FileFormat::Jsonl => {
            if FileFormat::of_path(path) != Some(format) {
                bail!("the name of a file of this format must end in .parquet, .json or .jsonl");
            }
            let count = match format {
                FileFormat::Parquet => Some(count(session, path).await?),
                _ => None,
            };
            Contents::Rows { fields: fields(session, path).await?, count }
        }
    };
    Ok(File { path: path.to_owned(), contents, bytes })
}

fn literal(path: &str) -> String {
    format!("'{}'", path.replace('\'', "''"))
}

async fn fields(session: &Session, path: &str) -> anyhow::Result<Vec<Field>> {
    Ok(session.query(&format!("SELECT * FROM {} LIMIT 0", literal(path))).await?.fields.to_vec())
}

async fn count(session: &Session, path: &str) -> anyhow::Result<u64> {
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;
    let rows = session.query(&format!("SELECT count(*) FROM {}", literal(path))).await?;
    let batches: Vec<_> = rows.stream.try_collect().await?;
    let counts = batches.iter().filter_map(|b| b.column(0).as_primitive_opt::<Int64Type>());
    let counts = counts.flat_map(|counts| counts.values().iter().copied());
    Ok(counts.sum::<i64>().unsigned_abs())
}

/// The names in the first record of a CSV file.
fn header(path: &str, delimiter: char) -> anyhow::Result<Vec<String>> {
    let mut reader = BufReader::new(std::fs::File::open(path)?);
    let mut line = String::new();
    // A quoted name may contain line breaks.
    while reader.read_line(&mut line)? > 0 && line.matches('"').count() % 2 == 1 {}
    if line.is_empty() {
        bail!("the file is empty and has no header");
    }
    Ok(names(line.trim_end_matches(['\r', '\n']), delimiter))
}

fn names(line: &str, delimiter: char) -> Vec<String> {
    let (mut names, mut name, mut quoted) = (Vec::new(), String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => name.extend(characters.next()),
            '"' => quoted = !quoted,
            c if c == delimiter && !quoted => names.push(std::mem::take(&mut name)),
            c => name.push(c),
        }
    }
    names.push(name);
    names
}

/// Reads a file on worker threads. The receiver gets its pieces, or an error.
pub(super) fn read(
    file: &File,
    form: Form,
    session: Session,
) -> mpsc::Receiver<anyhow::Result<Piece>> {
    let (sender, receiver) = mpsc::channel(PIECES_AHEAD);
    let path = file.path.clone();
    match form {
        Form::AsItIs => drop(tokio::task::spawn_blocking(move || {
            if let Err(error) = read_bytes(&path, &sender) {
                // A receiver that is gone has its own error.
                let _ = sender.blocking_send(Err(error));
            }
        })),
        Form::Binary | Form::Text => drop(tokio::spawn(async move {
            if let Err(error) = read_rows(&path, form, &session, &sender).await {
                let _ = sender.send(Err(error)).await;
            }
        })),
    }
    receiver
}

type Sender = mpsc::Sender<anyhow::Result<Piece>>;

fn read_bytes(path: &str, sender: &Sender) -> anyhow::Result<()> {
    let mut file = std::fs::File::open(path)?;
    loop {
        let mut bytes = vec![0; PIECE_BYTES];
        let read = file.read(&mut bytes)?;
        bytes.truncate(read);
        let rows = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let piece = Piece { bytes: bytes.into(), rows };
        if read == 0 || sender.blocking_send(Ok(piece)).is_err() {
            return Ok(());
        }
    }
}

async fn read_rows(
    path: &str,
    form: Form,
    session: &Session,
    sender: &Sender,
) -> anyhow::Result<()> {
    let format = if form == Form::Binary { "binary" } else { "text" };
    let text = format!("COPY (SELECT * FROM {}) TO STDOUT (FORMAT {format})", literal(path));
    for statement in session.parse(&text).await? {
        // Array types are written as text, so their item types are not needed.
        let mut copy = session.copy_out(&statement, |_| 0).await?;
        let (mut bytes, mut rows) = (BytesMut::new(), 0);
        loop {
            let mut gather = |row: &[u8]| {
                bytes.extend_from_slice(row);
                rows += 1;
            };
            let more = copy.next(&mut gather).await?;
            if (bytes.len() >= PIECE_BYTES || !more) && !bytes.is_empty() {
                let piece = Piece { bytes: bytes.split().freeze(), rows };
                rows = 0;
                if sender.send(Ok(piece)).await.is_err() {
                    return Ok(());
                }
            }
            if !more {
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_header() {
        assert_eq!(names("a,\"b,\"\"c\",", ','), ["a", "b,\"c", ""]);
        assert_eq!(names("a|b", '|'), ["a", "b"]);
    }
}
