//! COPY between a server and us: data goes to standard output, and comes from where the statement comes from.

use super::editor::{Editor, Typed};
use super::place::Place;
use super::script::{Data, Script};
use crate::output::ShowError;
use crate::trouble::SqlError;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use std::io::{self, Read, Write};

/// Bytes that are sent at once.
const PIECE_BYTES: usize = 64 << 10;
/// The line that ends data in a script.
const END: &str = "\\.";
/// What a server is told of data that somebody has stopped typing.
const STOPPED: &str = "stopped by the user";

/// Writes data as it comes.
pub(super) async fn write(
    mut data: BoxStream<'_, Result<Bytes, SqlError>>,
    out: &mut impl Write,
) -> Result<(), ShowError> {
    while let Some(piece) = data.next().await {
        out.write_all(&piece?)?;
    }
    Ok(out.flush()?)
}

/// Sends the data that belongs to the statement that was just run. A server that refuses it says why at the end.
pub(super) async fn send(
    place: &mut Place,
    script: &mut Script<'_>,
    editor: Option<&mut Editor>,
) -> Result<(), ShowError> {
    let evicted = match (script.data(), editor) {
        (Data::Script, _) => {
            // Data begins on the line after the statement.
            script.next_line().map_err(io::Error::other)?;
            lines(place, || script.next_line().map_err(io::Error::other)).await?;
            None
        }
        (Data::Typed, Some(editor)) => {
            eprintln!("Type the data; \\. on a line by itself ends it, Ctrl-C gives it up.");
            let mut stopped = false;
            let typed = || match editor.read_line(">> ").map_err(io::Error::other)? {
                Typed::Text(text) => Ok(Some(text + "\n")),
                Typed::End => Ok(None),
                Typed::Nothing => {
                    stopped = true;
                    Ok(None)
                }
            };
            lines(place, typed).await?;
            stopped.then_some(STOPPED)
        }
        (Data::Input | Data::Typed, _) => {
            input(place).await?;
            None
        }
    };
    Ok(place.end_data(evicted).await?)
}

/// Sends lines up to the one that ends data.
async fn lines(
    place: &mut Place,
    mut next: impl FnMut() -> io::Result<Option<String>>,
) -> Result<(), ShowError> {
    let mut piece = String::new();
    while let Some(line) = next()? {
        if line.trim_end_matches(['\r', '\n']) == END {
            break;
        }
        piece.push_str(&line);
        if piece.len() >= PIECE_BYTES {
            if !place.send_data(piece.as_bytes()).await? {
                return Ok(());
            }
            piece.clear();
        }
    }
    if !piece.is_empty() {
        place.send_data(piece.as_bytes()).await?;
    }
    Ok(())
}

/// Sends standard input to its end, whatever it holds.
async fn input(place: &mut Place) -> Result<(), ShowError> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = io::stdin().read(&mut piece)?;
        if read == 0 || !place.send_data(&piece[..read]).await? {
            return Ok(());
        }
    }
}
