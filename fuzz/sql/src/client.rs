//! A blocking client that waits for no answer longer than it is told.

use crate::messages::{Message, ServerError, decode};
use crate::script::Mode;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A connection.
pub(crate) struct Client {
    stream: TcpStream,
    address: SocketAddr,
    received: Vec<u8>,
    /// Where the next message begins in `received`.
    at: usize,
    key: (i32, i32),
    /// A portal that is read part by part.
    portal: Option<Portal>,
    /// Whether a Sync follows the Execute that is being answered.
    synced: bool,
}

/// A portal that is read part by part.
struct Portal {
    /// The rows of a part.
    rows: u32,
    /// How many parts are still to be asked for.
    parts: usize,
}

/// Parts that are asked for after the first.
const PARTS: usize = 3;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It was not there in time.
    Late,
    /// The connection has ended.
    Lost(String),
    /// The server broke the protocol.
    Malformed(String),
}

/// What a statement was answered with: its first error, if it had one.
pub(crate) type Answer = Result<Option<ServerError>, Failure>;

/// How often a wait looks at the clock.
const GLANCE: Duration = Duration::from_millis(100);
/// The values of text parameters.
const VALUES: &[(u32, &str)] = &[
    (16, "true"),
    (17, "\\x00ff"),
    (20, "42"),
    (21, "2"),
    (23, "7"),
    (700, "0.5"),
    (701, "2.5"),
    (1007, "{1,2}"),
    (1009, "{a,b}"),
    (1082, "2020-02-29"),
    (1114, "2020-02-29 01:02:03"),
    (1184, "2020-02-29 01:02:03Z"),
    (1186, "1 day"),
    (1700, "12.50"),
    (2950, "123e4567-e89b-12d3-a456-426614174000"),
    (3802, "{\"a\": [1]}"),
];

impl Client {
    /// Connects and logs in.
    pub(crate) fn connect(address: SocketAddr, deadline: Instant) -> Result<Self, Failure> {
        let left = deadline.saturating_duration_since(Instant::now()).max(GLANCE);
        let stream = TcpStream::connect_timeout(&address, left).map_err(lost)?;
        stream.set_read_timeout(Some(GLANCE)).map_err(lost)?;
        stream.set_write_timeout(Some(Duration::from_secs(10))).map_err(lost)?;
        stream.set_nodelay(true).map_err(lost)?;
        let mut client = Self {
            stream,
            address,
            received: Vec::new(),
            at: 0,
            key: (0, 0),
            portal: None,
            synced: false,
        };
        let body = b"\0\x03\0\0user\0fuzz\0database\0pando\0\0";
        client.stream.write_all(&[&length(body)[..], body].concat()).map_err(lost)?;
        let refused = client.answer(deadline)?;
        refused.map_or(Ok(client), |error| Err(Failure::Lost(error.message)))
    }

    /// Runs a statement.
    pub(crate) fn run(&mut self, text: &str, mode: Mode, deadline: Instant) -> Answer {
        match mode {
            Mode::Simple => {
                self.send(b'Q', &terminated(text))?;
                self.stream.flush().map_err(lost)?;
                self.answer(deadline)
            }
            Mode::Extended { binary, rows } => self.extended(text, binary, rows, deadline),
        }
    }

    fn extended(&mut self, text: &str, binary: bool, rows: u32, deadline: Instant) -> Answer {
        self.send(b'P', &[b"\0", &terminated(text)[..], b"\0\0"].concat())?;
        self.send(b'D', b"S\0")?;
        self.send(b'S', b"")?;
        let mut types = Vec::new();
        let refused = self.answer_with(deadline, |message| {
            if let Message::Parameters(parameters) = message {
                types = parameters;
            }
        })?;
        if refused.is_some() {
            return Ok(refused);
        }
        self.send(b'B', &bind(&types, binary))?;
        self.send(b'D', b"P\0")?;
        self.execute(rows)?;
        self.synced = rows == 0;
        if self.synced {
            self.send(b'S', b"")?;
        } else {
            self.portal = Some(Portal { rows, parts: PARTS });
        }
        let answer = self.answer(deadline);
        self.synced = false;
        answer
    }

    /// Asks for so many rows of the portal, and for the answer at once.
    fn execute(&mut self, rows: u32) -> Result<(), Failure> {
        self.send(b'E', &[b"\0", &rows.to_be_bytes()[..]].concat())?;
        self.send(b'H', b"")
    }

    /// Goes on with a portal of which a part has come: asks for the next one, or ends.
    fn next_part(&mut self, suspended: bool) -> Result<(), Failure> {
        match self.portal.take() {
            Some(Portal { rows, parts }) if suspended && parts > 0 => {
                self.portal = Some(Portal { rows, parts: parts - 1 });
                self.execute(rows)
            }
            Some(_) => self.send(b'S', b""),
            None => Ok(()),
        }
    }

    /// Asks the server, on a connection of its own, to cancel what runs on this one.
    pub(crate) fn canceller(&self) -> impl Fn() + Send + 'static {
        let (address, (process, key)) = (self.address, self.key);
        move || {
            let parts = [16, 80_877_102, process, key].map(i32::to_be_bytes);
            if let Ok(mut stream) = TcpStream::connect_timeout(&address, Duration::from_secs(1)) {
                let _ = stream.write_all(&parts.concat());
            }
        }
    }

    fn send(&mut self, kind: u8, body: &[u8]) -> Result<(), Failure> {
        self.stream.write_all(&[&[kind], &length(body)[..], body].concat()).map_err(lost)
    }

    fn answer(&mut self, deadline: Instant) -> Answer {
        self.answer_with(deadline, |_| {})
    }

    /// Reads until the server is ready.
    fn answer_with(&mut self, deadline: Instant, mut each: impl FnMut(Message)) -> Answer {
        let mut first = None;
        let mut columns = None;
        loop {
            let message = self.message(deadline)?;
            match &message {
                Message::Ready => return Ok(first),
                Message::Key(process, key) => self.key = (*process, *key),
                Message::Columns(count) => columns = Some(*count),
                Message::Row(count) if columns != Some(*count) => {
                    let text = format!("a row of {count} columns where {columns:?} were announced");
                    return Err(Failure::Malformed(text));
                }
                Message::CopyIn => {
                    self.send(b'd', b"1\t2\n\\N\t\n")?;
                    self.send(b'c', b"")?;
                    // A Sync that came before the rows is not heeded.
                    if self.synced {
                        self.send(b'S', b"")?;
                    }
                }
                Message::Error(error) => {
                    if error.fatal {
                        return Err(Failure::Lost(format!("{}: {}", error.code, error.message)));
                    }
                    first.get_or_insert(error.clone());
                    self.next_part(false)?;
                }
                Message::Complete => self.next_part(false)?,
                Message::Suspended => self.next_part(true)?,
                _ => {}
            }
            each(message);
        }
    }

    fn message(&mut self, deadline: Instant) -> Result<Message, Failure> {
        let malformed = |text: String| Failure::Malformed(text);
        loop {
            let rest = &self.received[self.at..];
            if let Some((kind, length)) = head(rest) {
                if !(4..=1 << 30).contains(&length) {
                    return Err(malformed(format!("a message of {length} bytes")));
                }
                if rest.len() > length {
                    let message = decode(kind, &rest[5..=length]).map_err(malformed)?;
                    self.at += length + 1;
                    return Ok(message);
                }
            }
            self.received.drain(..self.at);
            self.at = 0;
            self.receive(deadline)?;
        }
    }

    fn receive(&mut self, deadline: Instant) -> Result<(), Failure> {
        let mut bytes = [0; 1 << 16];
        loop {
            if Instant::now() > deadline {
                return Err(Failure::Late);
            }
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(Failure::Lost("the connection was closed".to_owned())),
                Ok(count) => {
                    self.received.extend_from_slice(&bytes[..count]);
                    return Ok(());
                }
                Err(error) if is_wait(error.kind()) => {}
                Err(error) => return Err(lost(error)),
            }
        }
    }
}

fn is_wait(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// The kind and length of a message.
fn head(bytes: &[u8]) -> Option<(u8, usize)> {
    let length = bytes.get(1..5)?.try_into().ok().map(u32::from_be_bytes)?;
    Some((bytes[0], length as usize))
}

/// A Bind of the unnamed statement with text parameters of these types.
fn bind(types: &[u32], binary: bool) -> Vec<u8> {
    let count = u16::try_from(types.len()).unwrap_or(u16::MAX).to_be_bytes();
    let mut body = [b"\0\0\0\0", &count[..]].concat();
    for of in types {
        let value = VALUES.iter().find(|(oid, _)| oid == of).map_or("text", |(_, value)| value);
        let length = u32::try_from(value.len()).unwrap_or(0);
        body.extend_from_slice(&length.to_be_bytes());
        body.extend_from_slice(value.as_bytes());
    }
    body.extend_from_slice(&[0, 1, 0, u8::from(binary)]);
    body
}

fn terminated(text: &str) -> Vec<u8> {
    [text.as_bytes(), b"\0"].concat()
}

/// The length of a message with its own four bytes.
fn length(body: &[u8]) -> [u8; 4] {
    u32::try_from(body.len() + 4).unwrap_or(u32::MAX).to_be_bytes()
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn lost(error: std::io::Error) -> Failure {
    Failure::Lost(error.to_string())
}
