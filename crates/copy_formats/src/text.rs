//! The text format of COPY: one line per row, with a delimiter between values and backslash
//! escapes.

use parser::client_copy::Options;
use values::error::{Error, Result, SqlState};

/// Receives the values of lines.
pub(crate) trait Line {
    /// The next value of the line. `None` is NULL.
    fn value(&mut self, value: Option<&[u8]>) -> Result<()>;
    /// The end of the line.
    fn end(&mut self) -> Result<()>;
}

/// Splits text data into lines and values.
pub(crate) struct Reader {
    delimiter: u8,
    null: Vec<u8>,
    scratch: Vec<u8>,
    /// Whether the end marker `\.` has been read.
    ended: bool,
}

impl Reader {
    /// A reader of lines.
    pub(crate) fn new(options: &Options) -> Self {
        let null = options.null.clone().into_bytes();
        Self { delimiter: options.delimiter, null, scratch: Vec::new(), ended: false }
    }

    /// Reads the complete lines of `bytes` and returns the number of bytes read. At the `end` of
    /// the data the rest is a line.
    ///
    /// # Errors
    /// Those of `out`.
    pub(crate) fn read(&mut self, bytes: &[u8], end: bool, out: &mut impl Line) -> Result<usize> {
        let mut start = 0;
        while start < bytes.len() {
            let rest = &bytes[start..];
            let (line, next) = match line_end(rest) {
                Some(at) => (&rest[..at], start + at + 1),
                None if end => (rest, bytes.len()),
                None => break,
            };
            start = next;
            self.line(line.strip_suffix(b"\r").unwrap_or(line), out)?;
        }
        Ok(start)
    }

    fn line(&mut self, line: &[u8], out: &mut impl Line) -> Result<()> {
        if self.ended || line == b"\\." {
            self.ended = true;
            return Ok(());
        }
        let mut start = 0;
        loop {
            let mut at = start;
            let mut escaped = false;
            while at < line.len() && line[at] != self.delimiter {
                if line[at] == b'\\' {
                    escaped = true;
                    at += 1;
                }
                at += 1;
            }
            let raw = &line[start..at.min(line.len())];
            if raw == self.null {
                out.value(None)?;
            } else if escaped {
                unescape(raw, &mut self.scratch);
                out.value(Some(&self.scratch))?;
            } else {
                out.value(Some(raw))?;
            }
            if at >= line.len() {
                break;
            }
            start = at + 1;
        }
        out.end()
    }
}

/// The position of the newline that ends the first line. An escaped newline does not.
fn line_end(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + bytes[from..].iter().position(|byte| *byte == b'\n')?;
        let backslashes = bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            return Some(at);
        }
        from = at + 1;
    }
}

fn unescape(raw: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut bytes = raw.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'b') => out.push(8),
            Some(b'f') => out.push(12),
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b't') => out.push(b'\t'),
            Some(b'v') => out.push(11),
            Some(b'x') => {
                let mut value: Option<u8> = None;
                for _ in 0..2 {
                    let Some(digit) = bytes.peek().and_then(|b| (*b as char).to_digit(16)) else {
                        break;
                    };
                    bytes.next();
                    value = Some(value.unwrap_or(0) << 4 | digit as u8);
                }
                out.push(value.unwrap_or(b'x'));
            }
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(digit) = bytes.peek().and_then(|b| (*b as char).to_digit(8)) else {
                        break;
                    };
                    bytes.next();
                    value = value << 3 | digit;
                }
                out.push(value as u8);
            }
            Some(other) => out.push(other),
            None => out.push(b'\\'),
        }
    }
}

/// Writes a value with escapes for backslashes, control characters and the delimiter.
pub(crate) fn escape(value: &str, delimiter: u8, out: &mut Vec<u8>) {
    for byte in value.bytes() {
        match byte {
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            11 => out.extend_from_slice(b"\\v"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            byte if byte == delimiter => out.extend_from_slice(&[b'\\', byte]),
            byte => out.push(byte),
        }
    }
}

/// The error 22021 for a value that is not valid UTF-8.
pub(crate) fn not_utf8() -> Error {
    Error::new(SqlState::CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\"")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use parser::client_copy::Form;

    /// Collects lines.
    #[derive(Debug, Default, PartialEq)]
    pub(crate) struct Lines {
        pub(crate) done: Vec<Vec<Option<String>>>,
        now: Vec<Option<String>>,
    }

    impl Line for Lines {
        fn value(&mut self, value: Option<&[u8]>) -> Result<()> {
            self.now.push(value.map(|value| String::from_utf8_lossy(value).into_owned()));
            Ok(())
        }

        fn end(&mut self) -> Result<()> {
            self.done.push(std::mem::take(&mut self.now));
            Ok(())
        }
    }

    pub(crate) fn row(values: &[&str]) -> Vec<Option<String>> {
        values.iter().map(|v| (*v != "NULL").then(|| (*v).to_owned())).collect()
    }

    #[test]
    fn data_may_be_split_anywhere() {
        let text = b"1\ta\\tb\\\\\n2\t\\N\r\n\\x41\\101\t\\\nx\n\\.\nnot data";
        let options = Options::of(&[]).expect("defaults");
        assert_eq!(options.form, Form::Text);
        for piece in 1..text.len() {
            let (mut reader, mut lines) = (Reader::new(&options), Lines::default());
            let mut pending = Vec::new();
            for bytes in text.chunks(piece) {
                pending.extend_from_slice(bytes);
                let used = reader.read(&pending, false, &mut lines).expect("readable");
                pending.drain(..used);
            }
            reader.read(&pending, true, &mut lines).expect("readable");
            let expected = [row(&["1", "a\tb\\"]), row(&["2", "NULL"]), row(&["AA", "\nx"])];
            assert_eq!(lines.done, expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn escaped_values_read_back() {
        let value = "a\tb\\c\nd\re\u{8}\u{b}\u{c}ä";
        let mut out = Vec::new();
        escape(value, b'\t', &mut out);
        let mut back = Vec::new();
        unescape(&out, &mut back);
        assert_eq!(back, value.as_bytes());
    }
}
