//! The csv format of COPY. Quoted values may contain delimiters and newlines. An unquoted NULL text
//! is NULL.

use super::text::Line;
use parser::client_copy::{Form, Options};
use values::error::{Error, Result, SqlState};

/// Splits csv data into lines and values.
pub(crate) struct Reader {
    delimiter: u8,
    quote: u8,
    escape: u8,
    null: Vec<u8>,
    scratch: Vec<u8>,
    /// By column: whether a quoted NULL text is NULL, too.
    force_null: Vec<bool>,
    /// By column: whether an unquoted NULL text is text.
    force_not_null: Vec<bool>,
}

impl Reader {
    /// A reader of rows with these columns.
    pub(crate) fn new(options: &Options, columns: &[String]) -> Self {
        debug_assert!(options.form == Form::Csv);
        let forced = |names: &[String]| {
            columns.iter().map(|c| names.iter().any(|name| name == c || name == "*")).collect()
        };
        Self {
            delimiter: options.delimiter,
            quote: options.quote,
            escape: options.escape,
            null: options.null.clone().into_bytes(),
            scratch: Vec::new(),
            force_null: forced(&options.force_null),
            force_not_null: forced(&options.force_not_null),
        }
    }

    /// Reads the complete lines of `bytes` and returns the number of bytes read. At the `end` of
    /// the data the rest is a line.
    ///
    /// # Errors
    /// 22P04 for an unterminated quote; those of `out`.
    pub(crate) fn read(&mut self, bytes: &[u8], end: bool, out: &mut impl Line) -> Result<usize> {
        let mut start = 0;
        while let Some((line, next)) = self.next_line(bytes, start, end)? {
            start = next;
            if line != b"\\." {
                self.line(line, out)?;
            }
        }
        Ok(start)
    }

    /// The line that begins at `start`, and the start of the line after it; `None` if the line is
    /// incomplete. Quoted newlines do not end a line.
    fn next_line<'a>(
        &self,
        bytes: &'a [u8],
        start: usize,
        end: bool,
    ) -> Result<Option<(&'a [u8], usize)>> {
        let (mut quoted, mut at) = (false, start);
        while at < bytes.len() {
            let byte = bytes[at];
            if quoted && byte == self.escape && self.escape != self.quote {
                at += 1;
            } else if byte == self.quote {
                quoted = !quoted;
            } else if byte == b'\n' && !quoted {
                let line = &bytes[start..at];
                return Ok(Some((line.strip_suffix(b"\r").unwrap_or(line), at + 1)));
            }
            at += 1;
        }
        if !end || start == bytes.len() {
            return Ok(None);
        }
        if quoted {
            return Err(Error::new(SqlState::BadCopyFileFormat, "unterminated CSV quoted field"));
        }
        let line = &bytes[start..];
        Ok(Some((line.strip_suffix(b"\r").unwrap_or(line), bytes.len())))
    }

    fn line(&mut self, line: &[u8], out: &mut impl Line) -> Result<()> {
        let (mut at, mut column) = (0, 0);
        loop {
            let start = at;
            let mut was_quoted = false;
            while at < line.len() && line[at] != self.delimiter && line[at] != self.quote {
                at += 1;
            }
            let plain = at >= line.len() || line[at] == self.delimiter;
            if !plain {
                was_quoted = true;
                at = self.unquote(line, start);
            }
            let value = if plain { &line[start..at] } else { &self.scratch[..] };
            let forced = |flags: &[bool]| flags.get(column).copied().unwrap_or(false);
            let may_be_null =
                if was_quoted { forced(&self.force_null) } else { !forced(&self.force_not_null) };
            out.value((!may_be_null || value != self.null).then_some(value))?;
            if at >= line.len() {
                break;
            }
            at += 1;
            column += 1;
        }
        out.end()
    }

    /// Reads a value that contains quotes into `scratch` and returns its end.
    fn unquote(&mut self, line: &[u8], start: usize) -> usize {
        self.scratch.clear();
        let (mut at, mut quoted) = (start, false);
        while at < line.len() {
            let byte = line[at];
            let next = line.get(at + 1).copied();
            if quoted
                && byte == self.escape
                && (next == Some(self.quote) || next == Some(self.escape))
            {
                self.scratch.extend(next);
                at += 1;
            } else if byte == self.quote {
                quoted = !quoted;
            } else if byte == self.delimiter && !quoted {
                break;
            } else {
                self.scratch.push(byte);
            }
            at += 1;
        }
        at
    }
}

/// Writes a value, in quotes if necessary or if `force` is set. `alone` means that the row has no
/// other values.
pub(crate) fn write(value: &str, options: &Options, force: bool, alone: bool, out: &mut Vec<u8>) {
    let special = |byte: u8| {
        byte == options.delimiter || byte == options.quote || byte == b'\n' || byte == b'\r'
    };
    let quoted =
        force || value == options.null || alone && value == "\\." || value.bytes().any(special);
    if !quoted {
        out.extend_from_slice(value.as_bytes());
        return;
    }
    out.push(options.quote);
    for byte in value.bytes() {
        if byte == options.quote || byte == options.escape {
            out.push(options.escape);
        }
        out.push(byte);
    }
    out.push(options.quote);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::{Lines, row};

    fn options() -> Options {
        let (name, words) = ("format".to_owned(), vec!["csv".to_owned()]);
        let format = parser::commands::Given { name, words, location: -1 };
        Options::of(&[format]).expect("options")
    }

    #[test]
    fn data_may_be_split_anywhere() {
        let text = b"1,\"a,\"\"b\"\"\n c\",\r\n2,,\"\"\nx\"y\"z,3,4";
        for piece in 1..text.len() {
            let mut reader = Reader::new(&options(), &[]);
            let (mut lines, mut pending) = (Lines::default(), Vec::new());
            for bytes in text.chunks(piece) {
                pending.extend_from_slice(bytes);
                let used = reader.read(&pending, false, &mut lines).expect("readable");
                pending.drain(..used);
            }
            reader.read(&pending, true, &mut lines).expect("readable");
            let expected = [
                row(&["1", "a,\"b\"\n c", "NULL"]),
                row(&["2", "NULL", ""]),
                row(&["xyz", "3", "4"]),
            ];
            assert_eq!(lines.done, expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn an_unterminated_quote_is_an_error() {
        let mut reader = Reader::new(&options(), &[]);
        assert!(reader.read(b"1,\"a\n", true, &mut Lines::default()).is_err());
    }

    #[test]
    fn written_values_read_back() {
        for value in ["", "a", "a,b", "\"", "a\nb", "\\."] {
            let mut out = Vec::new();
            write(value, &options(), false, true, &mut out);
            let mut lines = Lines::default();
            Reader::new(&options(), &[]).read(&out, true, &mut lines).expect("readable");
            assert_eq!(lines.done, [row(&[value])]);
        }
    }
}
