//! The server's messages, read strictly: what breaks the protocol is a finding.

/// An error that the server reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerError {
    /// Its SQLSTATE; empty if there is none.
    pub(crate) code: String,
    pub(crate) message: String,
    /// Whether the server ends the session.
    pub(crate) fatal: bool,
}

/// A message, as far as a client needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message {
    /// The authentication is over.
    Welcome,
    /// The process and key of cancel requests.
    Key(i32, i32),
    /// The columns of the rows that follow.
    Columns(usize),
    /// The types of a statement's parameters.
    Parameters(Vec<u32>),
    /// A row with so many columns.
    Row(usize),
    /// The server waits for rows.
    CopyIn,
    Error(ServerError),
    /// More rows are to be asked for.
    Suspended,
    /// A statement has ended.
    Complete,
    /// The server waits for the next statement.
    Ready,
    /// Anything that changes nothing for the client.
    Other,
}

/// Decodes a message. An error says what is malformed.
pub(crate) fn decode(kind: u8, body: &[u8]) -> Result<Message, String> {
    let mut reader = Reader(body);
    let message = match kind {
        b'R' if reader.int()? == 0 => Message::Welcome,
        b'R' => return Err("the server asks for a password".to_owned()),
        b'K' => Message::Key(reader.int()?, reader.int()?),
        b'T' => {
            let columns = reader.count()?;
            for _ in 0..columns {
                reader.text()?;
                reader.take(18)?;
            }
            Message::Columns(columns)
        }
        b't' => {
            let count = reader.count()?;
            let types = (0..count).map(|_| reader.int().map(i32::cast_unsigned));
            Message::Parameters(types.collect::<Result<_, _>>()?)
        }
        b'D' => {
            let columns = reader.count()?;
            for _ in 0..columns {
                let length = reader.int()?;
                if length != -1 {
                    reader.take(usize::try_from(length).map_err(|_| "a length below -1")?)?;
                }
            }
            Message::Row(columns)
        }
        b'G' => {
            reader.0 = &[];
            Message::CopyIn
        }
        b'E' => Message::Error(error(&mut reader)?),
        b'N' => error(&mut reader).map(|_| Message::Other)?,
        b'C' => reader.text().map(|_| Message::Complete)?,
        b'I' => Message::Complete,
        b's' => Message::Suspended,
        b'Z' => match reader.take(1)? {
            b"I" | b"T" | b"E" => Message::Ready,
            status => return Err(format!("the transaction's status is {status:?}")),
        },
        b'S' => {
            reader.text()?;
            reader.text()?;
            Message::Other
        }
        b'H' | b'd' | b'c' => {
            reader.0 = &[];
            Message::Other
        }
        b'1' | b'2' | b'3' | b'n' => Message::Other,
        _ => return Err(format!("a message of the unknown kind {:?}", char::from(kind))),
    };
    if reader.0.is_empty() {
        Ok(message)
    } else {
        Err(format!("{} bytes too many in a message {:?}", reader.0.len(), char::from(kind)))
    }
}

/// The fields of an error or a notice.
fn error(reader: &mut Reader<'_>) -> Result<ServerError, String> {
    let mut error = ServerError { code: String::new(), message: String::new(), fatal: false };
    loop {
        match reader.take(1)?[0] {
            0 => return Ok(error),
            b'C' => reader.text()?.clone_into(&mut error.code),
            b'M' => reader.text()?.clone_into(&mut error.message),
            b'V' => error.fatal = reader.text()? != "ERROR",
            _ => drop(reader.text()?),
        }
    }
}

/// The bytes of a message that are not read yet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or("a message is too short")?;
        self.0 = rest;
        Ok(taken)
    }

    fn int(&mut self) -> Result<i32, String> {
        let bytes = self.take(4)?.try_into().map_err(|_| "a message is too short")?;
        Ok(i32::from_be_bytes(bytes))
    }

    fn count(&mut self) -> Result<usize, String> {
        let bytes = self.take(2)?;
        Ok(usize::from(bytes[0]) << 8 | usize::from(bytes[1]))
    }

    fn text(&mut self) -> Result<&'a str, String> {
        let end = self.0.iter().position(|byte| *byte == 0).ok_or("a text without an end")?;
        let text = self.take(end)?;
        self.take(1)?;
        std::str::from_utf8(text).map_err(|_| "a text that is not UTF-8".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_fields() {
        let error = decode(b'E', b"SERROR\0VERROR\0C42P01\0Mgone\0\0").unwrap();
        let expected = ServerError { code: "42P01".into(), message: "gone".into(), fatal: false };
        assert_eq!(error, Message::Error(expected));
    }

    #[test]
    fn malformed_messages_are_found() {
        assert!(decode(b'D', b"\0\x01\0\0\0\x05ab").is_err());
        assert!(decode(b'D', b"\0\x01\0\0\0\x01ab").is_err());
        assert!(decode(b'Z', b"X").is_err());
        assert!(decode(b'E', b"C42P01\0").is_err());
        assert_eq!(decode(b'D', b"\0\x01\xff\xff\xff\xff"), Ok(Message::Row(1)));
    }
}
