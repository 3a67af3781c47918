//! A server's messages as lines of text.

use super::words::quote;
use std::io::{self, Read};
use std::net::TcpStream;

/// A message: its type byte and its body.
pub(crate) struct Answer {
    pub(crate) kind: u8,
    pub(crate) body: Vec<u8>,
}

/// Reads a message; `None` at the end of the connection.
pub(crate) fn read(stream: &mut TcpStream) -> io::Result<Option<Answer>> {
    let mut head = [0; 5];
    match stream.read_exact(&mut head[..1]) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
        Err(error) => return Err(error),
    }
    stream.read_exact(&mut head[1..])?;
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    let mut body = vec![0; length - 4];
    stream.read_exact(&mut body)?;
    Ok(Some(Answer { kind: head[0], body }))
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let (now, later) = self.0.split_at(count);
        self.0 = later;
        now.to_vec()
    }

    fn i16(&mut self) -> i16 {
        i16::from_be_bytes(self.bytes(2).try_into().expect("two bytes"))
    }

    fn i32(&mut self) -> i32 {
        i32::from_be_bytes(self.bytes(4).try_into().expect("four bytes"))
    }

    fn text(&mut self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0).expect("a text has an end");
        let text = self.bytes(end);
        self.bytes(1);
        String::from_utf8(text).expect("text")
    }
}

impl Answer {
    /// The message as text, without parts that differ between runs.
    pub(crate) fn line(&self) -> String {
        let mut fields = Fields(&self.body);
        match self.kind {
            b'R' => match fields.i32() {
                0 => "AuthenticationOk".to_owned(),
                other => format!("Authentication {other}"),
            },
            b'S' => format!("ParameterStatus {}={}", fields.text(), fields.text()),
            b'K' => format!("BackendKeyData of {} bytes", self.body.len()),
            b'v' => {
                let minor = fields.i32();
                let unknown: Vec<_> = (0..fields.i32()).map(|_| fields.text()).collect();
                format!("NegotiateProtocolVersion {minor} ({})", unknown.join(" "))
            }
            b'Z' => format!("ReadyForQuery {}", char::from(self.body[0])),
            b'C' => format!("CommandComplete {}", fields.text()),
            b'T' => {
                let columns: Vec<_> = (0..fields.i16()).map(|_| column(&mut fields)).collect();
                format!("RowDescription {}", columns.join(", "))
            }
            b'D' => {
                let values: Vec<_> = (0..fields.i16()).map(|_| value(&mut fields)).collect();
                format!("DataRow {}", values.join(" "))
            }
            b't' => {
                let oids: Vec<_> = (0..fields.i16()).map(|_| fields.i32().to_string()).collect();
                format!("ParameterDescription ({})", oids.join(" "))
            }
            b'E' => format!("ErrorResponse {}", report(&mut fields)),
            b'N' => format!("NoticeResponse {}", report(&mut fields)),
            b'G' => format!("CopyInResponse {:?}", self.body),
            b'H' => format!("CopyOutResponse {:?}", self.body),
            b'd' => format!("CopyData {}", quote(&self.body)),
            other => name(other).to_owned(),
        }
    }
}

/// Messages without a body.
fn name(kind: u8) -> &'static str {
    match kind {
        b'1' => "ParseComplete",
        b'2' => "BindComplete",
        b'3' => "CloseComplete",
        b'n' => "NoData",
        b's' => "PortalSuspended",
        b'I' => "EmptyQueryResponse",
        b'c' => "CopyDone",
        other => panic!("a message of type {other:#04x}"),
    }
}

fn column(fields: &mut Fields<'_>) -> String {
    let name = fields.text();
    let origin = match (fields.i32(), fields.i16()) {
        (0, _) => String::new(),
        (_, number) => format!(" (column {number} of a table)"),
    };
    let (oid, size, modifier) = (fields.i32(), fields.i16(), fields.i32());
    let format = if fields.i16() == 0 { "text" } else { "binary" };
    format!("{name}{origin} type {oid} size {size} modifier {modifier} {format}")
}

fn value(fields: &mut Fields<'_>) -> String {
    match usize::try_from(fields.i32()) {
        Ok(length) => quote(&fields.bytes(length)),
        Err(_) => "NULL".to_owned(),
    }
}

/// Severity, SQLSTATE and texts of an error or a notice, without the position in the server's code.
fn report(fields: &mut Fields<'_>) -> String {
    let mut parts = Vec::new();
    while let kind @ 1.. = fields.bytes(1)[0] {
        let text = fields.text();
        match kind {
            b'S' | b'C' => parts.push(text),
            b'M' => parts.push(quote(text.as_bytes())),
            b'D' => parts.push(format!("detail {}", quote(text.as_bytes()))),
            b'H' => parts.push(format!("hint {}", quote(text.as_bytes()))),
            b'W' => parts.push(format!("context {}", quote(text.as_bytes()))),
            b's' => parts.push(format!("schema {text}")),
            b't' => parts.push(format!("table {text}")),
            b'c' => parts.push(format!("column {text}")),
            b'n' => parts.push(format!("constraint {text}")),
            b'R' => parts.push(format!("routine {text}")),
            b'P' => parts.push(format!("position {text}")),
            _ => {}
        }
    }
    parts.join(" ")
}
