//! COPY: data goes to standard output, and comes from the source of the statement.

use super::editing::{Editor, Typed};
use super::place::Place;
use super::script::{Data, Script};
use crate::error::SqlError;
use crate::output::ShowError;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use std::io::{self, Read, Write};

/// Bytes of a piece of data.
const PIECE_BYTES: usize = 64 << 10;
/// The line that ends data in a script.
const END: &str = "\\.";
/// The reason for aborting a COPY whose data the user stopped typing.
const STOPPED: &str = "stopped by the user";

/// Writes data to the output.
pub(super) async fn write(
    mut data: BoxStream<'_, Result<Bytes, SqlError>>,
    out: &mut impl Write,
) -> Result<(), ShowError> {
    while let Some(piece) = data.next().await {
        out.write_all(&piece?)?;
    }
    Ok(out.flush()?)
}

/// Sends the data of the running COPY statement. The server's error, if any, is the next answer.
pub(super) async fn send(
    place: &mut Place,
    script: &mut Script<'_>,
    editor: Option<&mut Editor>,
) -> Result<(), ShowError> {
    let abort = match (script.data(), editor) {
        (Data::Script, _) => {
            // Data begins on the line after the statement.
            script.next_line().map_err(io::Error::other)?;
            lines(place, || script.next_line().map_err(io::Error::other)).await?;
            None
        }
        (Data::Typed, Some(editor)) => {
            eprintln!("Type the data. End it with \\. on a line by itself; Ctrl-C cancels.");
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
    Ok(place.end_data(abort).await?)
}

/// Sends lines up to the line that ends the data.
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

/// Sends all of standard input.
async fn input(place: &mut Place) -> Result<(), ShowError> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = io::stdin().read(&mut piece)?;
        if read == 0 || !place.send_data(&piece[..read]).await? {
            return Ok(());
        }
    }
}
