//! The messages that a client sends, decoded strictly: what is too short, too long or no text is refused.

use crate::error::{ProtocolError, violation};
use bytes::{Buf, Bytes};

/// A message of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// One or more statements as text.
    Query(String),
    /// Prepares a statement; types are OIDs, 0 for those that the server finds.
    Parse {
        /// What it will be called; empty for the one without a name.
        name: String,
        /// Its text.
        query: String,
        /// OIDs of its first parameters.
        types: Vec<u32>,
    },
    /// Makes a portal: a prepared statement with values.
    Bind(Bind),
    /// Asks what a statement or portal takes and gives.
    Describe(Target),
    /// Runs a portal for at most so many rows; 0 is all.
    Execute {
        /// Its name.
        portal: String,
        /// Rows at most; 0 is all.
        rows_max: u32,
    },
    /// Forgets a statement or portal.
    Close(Target),
    /// Asks for all answers up to here.
    Flush,
    /// Ends a group of messages, and with it the implicit transaction.
    Sync,
    /// A piece of COPY FROM STDIN.
    CopyData(Bytes),
    /// The end of COPY FROM STDIN.
    CopyDone,
    /// The client cannot go on with COPY FROM STDIN.
    CopyFail(String),
    /// A function called by its number, which nobody does any more.
    FunctionCall,
    /// Goodbye.
    Terminate,
}

/// Values for a prepared statement's parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bind {
    /// What the portal will be called.
    pub portal: String,
    /// The prepared statement's name.
    pub statement: String,
    /// How the values are written: none for text, one for all, or one each.
    pub formats: Vec<Format>,
    /// The values, `None` for NULL.
    pub values: Vec<Option<Bytes>>,
    /// How results are to be written: none for text, one for all, or one a column.
    pub result_formats: Vec<Format>,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// As people read it.
    Text,
    /// As machines do.
    Binary,
}

/// What Describe and Close are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A prepared statement.
    Statement(String),
    /// A portal.
    Portal(String),
}

impl Message {
    /// Decodes a message of a session: its type byte and what follows the length.
    ///
    /// # Errors
    /// A type that there is not; what is too short, too long or no text.
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

/// What is left of a message.
#[derive(Debug)]
pub struct Body(Bytes);

impl Body {
    /// What follows a message's length.
    pub fn new(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// A text that ends with a zero byte.
    ///
    /// # Errors
    /// One that has no end, or is not UTF-8.
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

    /// A number.
    ///
    /// # Errors
    /// Fewer than four bytes.
    pub fn u32(&mut self) -> Result<u32, ProtocolError> {
        self.0.try_get_u32().map_err(|_| short())
    }

    /// So many bytes.
    ///
    /// # Errors
    /// There are fewer.
    pub fn take(&mut self, bytes: usize) -> Result<Bytes, ProtocolError> {
        if bytes <= self.0.len() { Ok(self.0.split_to(bytes)) } else { Err(short()) }
    }

    /// As many items as the count in front of them says. They are read before anything is reserved.
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

    /// All that is left.
    pub fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.0)
    }

    /// The end of the message.
    ///
    /// # Errors
    /// Something is left.
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
