//! Messages from clients, decoded strictly: a message with too few or too many bytes or invalid
//! text is an error.

use crate::error::{ProtocolError, violation};
use bytes::{Buf, Bytes};

/// A message of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// One or more statements as text.
    Query(String),
    /// Prepares a statement.
    Parse {
        /// The name; empty for the unnamed statement.
        name: String,
        /// The text.
        query: String,
        /// OIDs of the first parameters; 0 for a type that the server infers.
        types: Vec<u32>,
    },
    /// Creates a portal: a prepared statement with values.
    Bind(Bind),
    /// Describes a statement or portal.
    Describe(Target),
    /// Executes a portal.
    Execute {
        /// The name.
        portal: String,
        /// Maximum number of rows; 0 for all.
        rows_max: u32,
    },
    /// Closes a statement or portal.
    Close(Target),
    /// Requests all answers up to here.
    Flush,
    /// Ends a group of messages, and with it the implicit transaction.
    Sync,
    /// Data of COPY FROM STDIN.
    CopyData(Bytes),
    /// The end of COPY FROM STDIN.
    CopyDone,
    /// COPY FROM STDIN has failed on the client.
    CopyFail(String),
    /// A call of a function by its OID, which is obsolete.
    FunctionCall,
    /// Ends the connection.
    Terminate,
}

/// Values for a prepared statement's parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bind {
    /// The name of the portal.
    pub portal: String,
    /// The name of the prepared statement.
    pub statement: String,
    /// Formats of the values: none for text, one for all, or one for each.
    pub formats: Vec<Format>,
    /// The values, `None` for NULL.
    pub values: Vec<Option<Bytes>>,
    /// Formats of the results: none for text, one for all, or one for each column.
    pub result_formats: Vec<Format>,
}

/// The format of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text.
    Text,
    /// Binary.
    Binary,
}

/// The target of Describe and Close.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A prepared statement.
    Statement(String),
    /// A portal.
    Portal(String),
}

impl Message {
    /// Decodes a message of a session from its type byte and the bytes after its length.
    ///
    /// # Errors
    /// An unknown type, too few or too many bytes, or invalid text.
    pub fn decode(kind: u8, body: Bytes) -> Result<Self, ProtocolError> {
        let mut body = Body::new(body);
        let message = match kind {
            b'Q' => Self::Query(body.text()?),
            b'P' => Self::Parse {
                name: body.text()?,
                query: body.text()?,
                types: body.list(Body::u32)?,
            },
            b'B' => Self::Bind(Bind {
                portal: body.text()?,
                statement: body.text()?,
                formats: body.list(Body::format)?,
                values: body.list(Body::value)?,
                result_formats: body.list(Body::format)?,
            }),
            b'D' => Self::Describe(body.target()?),
            b'E' => Self::Execute { portal: body.text()?, rows_max: body.u32()? },
            b'C' => Self::Close(body.target()?),
            b'H' => Self::Flush,
            b'S' => Self::Sync,
            b'd' => Self::CopyData(body.rest()),
            b'c' => Self::CopyDone,
            b'f' => Self::CopyFail(body.text()?),
            b'X' => Self::Terminate,
            b'F' => {
                body.rest();
                Self::FunctionCall
            }
            other => return Err(violation(format!("unknown message type {other:#04x}"))),
        };
        body.end()?;
        Ok(message)
    }
}

/// The remaining bytes of a message.
#[derive(Debug)]
pub struct Body(Bytes);

impl Body {
    /// The bytes after a message's length.
    pub fn new(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// A zero-terminated text.
    ///
    /// # Errors
    /// There is no terminator, or the text is not UTF-8.
    pub fn text(&mut self) -> Result<String, ProtocolError> {
        let end = self.0.iter().position(|byte| *byte == 0);
        let end = end.ok_or_else(|| violation("a text in the message has no end"))?;
        let text = self.0.split_to(end);
        self.0.advance(1);
        match std::str::from_utf8(&text) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(violation("invalid byte sequence for encoding \"UTF8\"")),
        }
    }

    fn u16(&mut self) -> Result<u16, ProtocolError> {
        self.0.try_get_u16().map_err(|_| short())
    }

    /// A 32-bit number.
    ///
    /// # Errors
    /// There are fewer than four bytes.
    pub fn u32(&mut self) -> Result<u32, ProtocolError> {
        self.0.try_get_u32().map_err(|_| short())
    }

    /// A number of bytes.
    ///
    /// # Errors
    /// There are fewer.
    pub fn take(&mut self, bytes: usize) -> Result<Bytes, ProtocolError> {
        if bytes <= self.0.len() { Ok(self.0.split_to(bytes)) } else { Err(short()) }
    }

    /// A counted list. Items are decoded one by one; nothing is allocated from the count.
    fn list<T>(
        &mut self,
        item: impl Fn(&mut Self) -> Result<T, ProtocolError>,
    ) -> Result<Vec<T>, ProtocolError> {
        let count = self.u16()?;
        (0..count).map(|_| item(self)).collect()
    }

    fn format(&mut self) -> Result<Format, ProtocolError> {
        match self.u16()? {
            0 => Ok(Format::Text),
            1 => Ok(Format::Binary),
            other => Err(violation(format!("unsupported format code: {other}"))),
        }
    }

    fn value(&mut self) -> Result<Option<Bytes>, ProtocolError> {
        match self.u32()? {
            u32::MAX => Ok(None),
            length => self.take(length as usize).map(Some),
        }
    }

    fn target(&mut self) -> Result<Target, ProtocolError> {
        match self.take(1)?[0] {
            b'S' => Ok(Target::Statement(self.text()?)),
            b'P' => Ok(Target::Portal(self.text()?)),
            other => Err(violation(format!("invalid target type {other:#04x}"))),
        }
    }

    /// All remaining bytes.
    pub fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.0)
    }

    /// Checks that the message has ended.
    ///
    /// # Errors
    /// There are remaining bytes.
    pub fn end(&self) -> Result<(), ProtocolError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(violation("the message is longer than its contents"))
        }
    }
}

fn short() -> ProtocolError {
    violation("insufficient data left in message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_of_a_message_is_refused_and_none_panics() {
        let bind = b"p\0s\0\0\x01\0\x01\0\x02\0\0\0\x01x\xff\xff\xff\xff\0\x01\0\x01";
        assert!(Message::decode(b'B', Bytes::from_static(bind)).is_ok());
        for end in 0..bind.len() {
            assert!(Message::decode(b'B', Bytes::from_static(&bind[..end])).is_err(), "{end}");
        }
        let parse = b"s\0select $1\0\0\x01\0\0\0\x17";
        assert!(Message::decode(b'P', Bytes::from_static(parse)).is_ok());
        for end in 0..parse.len() {
            assert!(Message::decode(b'P', Bytes::from_static(&parse[..end])).is_err(), "{end}");
        }
    }

    #[test]
    fn what_is_no_text_or_too_much_is_refused() {
        assert!(Message::decode(b'Q', Bytes::from_static(b"\xff\0")).is_err());
        assert!(Message::decode(b'Q', Bytes::from_static(b"select 1\0more")).is_err());
        assert!(Message::decode(b'z', Bytes::new()).is_err());
        assert!(Message::decode(b'D', Bytes::from_static(b"Qx\0")).is_err());
    }
}
