//! Scripts: their sources, and scripts that include others.
//!
//! Open scripts are in a vector, so nested scripts need no recursion.

use super::text::splitter::{Piece, Splitter};
use super::{Flow, Shell};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Maximum depth of scripts that include scripts.
const INCLUDE_DEPTH_MAX: usize = 32;
/// Bytes of one read.
const READ_BYTES: usize = 64 << 10;

/// The source of a script.
pub struct Source<'a> {
    /// Name in error reports; `None` for typed input.
    name: Option<String>,
    text: Box<dyn Read + 'a>,
    data: Data,
}

/// The source of data for COPY FROM STDIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Data {
    /// The lines after the statement, up to `\.`.
    Script,
    /// Standard input.
    Input,
    /// Typed input.
    Typed,
}

impl<'a> Source<'a> {
    /// Statements as text.
    pub fn text(text: &'a str) -> Self {
        Self { name: None, text: Box::new(text.as_bytes()), data: Data::Input }
    }

    /// Typed statements.
    pub(super) fn typed(text: &'a str) -> Self {
        Self { data: Data::Typed, ..Self::text(text) }
    }

    /// Standard input.
    pub fn input() -> Self {
        let text = Box::new(io::stdin().lock());
        Self { name: Some("stdin".to_owned()), text, data: Data::Script }
    }

    /// A file.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn file(path: &Path) -> anyhow::Result<Self> {
        let explain = |error| anyhow::anyhow!("cannot read {}: {error}", path.display());
        let text = Box::new(File::open(path).map_err(explain)?);
        Ok(Self { name: Some(path.display().to_string()), text, data: Data::Script })
    }
}

impl Shell {
    /// Runs a script up to its first error, which is reported.
    ///
    /// # Errors
    /// If the script cannot be read or the output cannot be written.
    pub async fn run_script(&mut self, source: Source<'_>) -> anyhow::Result<Flow> {
        let mut open = vec![Script::new(source)];
        while let Some(script) = open.last_mut() {
            let Some(piece) = script.next()? else {
                open.pop();
                continue;
            };
            match self.run_piece(&piece, script).await? {
                Flow::Continue => {}
                Flow::Include(path) => {
                    let included = if open.len() <= INCLUDE_DEPTH_MAX {
                        Source::file(&path)
                    } else {
                        Err(anyhow::anyhow!(
                            "scripts include each other more than {INCLUDE_DEPTH_MAX} deep"
                        ))
                    };
                    match included {
                        Ok(source) => open.push(Script::new(source)),
                        Err(error) => {
                            let name = open.last().and_then(Script::name);
                            return Ok(self.complain(&error.to_string(), name, piece.line));
                        }
                    }
                }
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Continue)
    }
}

/// An open script.
pub(super) struct Script<'a> {
    source: Source<'a>,
    splitter: Splitter,
    incoming: Incoming,
    ended: bool,
}

impl<'a> Script<'a> {
    fn new(source: Source<'a>) -> Self {
        Self { source, splitter: Splitter::new(), incoming: Incoming::default(), ended: false }
    }

    /// Name in error reports.
    pub(super) fn name(&self) -> Option<&str> {
        self.source.name.as_deref()
    }

    /// The source of data for COPY FROM STDIN.
    pub(super) fn data(&self) -> Data {
        self.source.data
    }

    /// The next piece; `None` at the end.
    fn next(&mut self) -> anyhow::Result<Option<Piece>> {
        loop {
            if let Some(piece) = self.splitter.next_complete() {
                return Ok(Some(piece));
            }
            if !self.read()? {
                return Ok(self.splitter.finish());
            }
        }
    }

    /// The next line with its line break, unparsed; `None` at the end.
    pub(super) fn next_line(&mut self) -> anyhow::Result<Option<String>> {
        loop {
            if let Some(line) = self.splitter.next_line() {
                return Ok(Some(line));
            }
            if !self.read()? {
                return Ok(Some(self.splitter.rest()).filter(|rest| !rest.is_empty()));
            }
        }
    }

    /// Reads more of the text. Returns false at the end.
    fn read(&mut self) -> anyhow::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        match self.incoming.read(&mut self.source.text)? {
            Some(text) => self.splitter.push(&text),
            None => self.ended = true,
        }
        Ok(!self.ended)
    }
}

/// Decodes text that is read in parts, which may end inside a character.
#[derive(Debug, Default)]
struct Incoming {
    bytes: Vec<u8>,
}

impl Incoming {
    /// The next part; `None` at the end.
    fn read(&mut self, source: &mut dyn Read) -> anyhow::Result<Option<String>> {
        let kept = self.bytes.len();
        self.bytes.resize(kept + READ_BYTES, 0);
        let read = source.read(&mut self.bytes[kept..])?;
        self.bytes.truncate(kept + read);
        let whole = match std::str::from_utf8(&self.bytes) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() && read > 0 => error.valid_up_to(),
            Err(_) => anyhow::bail!("the script is not UTF-8 text"),
        };
        if read == 0 {
            return Ok(None);
        }
        let rest = self.bytes.split_off(whole);
        let text = String::from_utf8(std::mem::replace(&mut self.bytes, rest))?;
        Ok(Some(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_may_be_split_between_reads() {
        struct Drip<'a>(&'a [u8]);
        impl Read for Drip<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let one = self.0.len().min(1);
                buffer[..one].copy_from_slice(&self.0[..one]);
                self.0 = &self.0[one..];
                Ok(one)
            }
        }
        let mut source = Drip("a日é".as_bytes());
        let mut incoming = Incoming::default();
        let mut text = String::new();
        while let Some(part) = incoming.read(&mut source).expect("is text") {
            text.push_str(&part);
        }
        assert_eq!(text, "a日é");
        let mut broken = Drip(b"a\xff");
        let mut incoming = Incoming::default();
        let outcome =
            std::iter::repeat_with(|| incoming.read(&mut broken)).take(3).find_map(Result::err);
        assert!(outcome.is_some());
    }
}
