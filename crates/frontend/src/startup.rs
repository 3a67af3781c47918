//! The first message of a connection: an encryption request, a cancel request, or the parameters of
//! a session.

use crate::error::{ProtocolError, violation};
use crate::message::Body;
use bytes::Bytes;

const SSL_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;
const CANCEL_REQUEST: u32 = 80_877_102;
const PROTOCOL_MAJOR: u32 = 3;
/// Maximum number of parameters before authentication.
const PARAMETERS_MAX: usize = 64;
/// Parameters that are not settings.
const NO_SETTINGS: [&str; 4] = ["user", "database", "replication", "options"];
/// The prefix of parameters that request protocol extensions.
const EXTENSION: &str = "_pq_.";

/// The first message of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum First {
    /// Requests TLS.
    Ssl,
    /// Requests GSSAPI encryption.
    Gss,
    /// Cancels the current statement of another connection.
    Cancel {
        /// The process number of the other connection.
        process: u32,
        /// The other connection's secret.
        secret: Vec<u8>,
    },
    /// Begins a session.
    Startup(Startup),
}

/// The parameters of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Startup {
    /// The minor version of protocol 3.
    pub minor: u32,
    /// Names and values, in the order of the message.
    pub parameters: Vec<(String, String)>,
}

impl First {
    /// Decodes the first message of a connection, without its length.
    ///
    /// # Errors
    /// Too few or too many bytes, invalid text, or an unsupported protocol.
    pub fn decode(body: Bytes) -> Result<Self, ProtocolError> {
        let mut body = Body::new(body);
        match body.u32()? {
            SSL_REQUEST => Ok(Self::Ssl),
            GSS_REQUEST => Ok(Self::Gss),
            CANCEL_REQUEST => {
                let process = body.u32()?;
                Ok(Self::Cancel { process, secret: body.rest().to_vec() })
            }
            version if version >> 16 == PROTOCOL_MAJOR => {
                Startup::decode(version & 0xffff, body).map(Self::Startup)
            }
            other => {
                let (major, minor) = (other >> 16, other & 0xffff);
                Err(ProtocolError::Unsupported(format!(
                    "unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.2"
                )))
            }
        }
    }
}

impl Startup {
    fn decode(minor: u32, mut body: Body) -> Result<Self, ProtocolError> {
        let mut startup = Self { minor, parameters: Vec::new() };
        loop {
            let name = body.text()?;
            if name.is_empty() {
                break;
            }
            if startup.parameters.len() == PARAMETERS_MAX {
                return Err(violation(format!("more than {PARAMETERS_MAX} parameters")));
            }
            startup.parameters.push((name, body.text()?));
        }
        body.end()?;
        Ok(startup)
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The protocol extensions that the client requests.
    pub fn extensions(&self) -> Vec<String> {
        let names = self.parameters.iter().map(|(name, _)| name);
        names.filter(|name| name.starts_with(EXTENSION)).cloned().collect()
    }

    /// The settings of the session: parameters, and `-c name=value` in `options`.
    pub fn settings(&self) -> Vec<(String, String)> {
        let named = self.parameters.iter();
        let mut settings: Vec<(String, String)> = named
            .filter(|(name, _)| {
                !NO_SETTINGS.contains(&name.as_str()) && !name.starts_with(EXTENSION)
            })
            .map(|(name, value)| (name.to_lowercase(), value.clone()))
            .collect();
        let options = split_options(self.get("options").unwrap_or(""));
        let mut words = options.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let setting = match word {
                "-c" => words.next(),
                word => word.strip_prefix("--").or_else(|| word.strip_prefix("-c")),
            };
            if let Some((name, value)) = setting.and_then(|setting| setting.split_once('=')) {
                settings.push((name.to_lowercase().replace('-', "_"), value.to_owned()));
            }
        }
        settings
    }
}

/// Splits at spaces; a backslash escapes the next character.
fn split_options(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => words.last_mut().into_iter().for_each(|word| word.extend(letters.next())),
            blank if blank.is_whitespace() => words.push(String::new()),
            other => words.last_mut().into_iter().for_each(|word| word.push(other)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_settings() {
        let options = "-c statement_timeout=5s --search-path=a\\ b -csearch_path=x -x".to_owned();
        let parameters = vec![
            ("user".to_owned(), "u".to_owned()),
            ("TimeZone".to_owned(), "UTC".to_owned()),
            ("_pq_.new".to_owned(), "on".to_owned()),
            ("options".to_owned(), options),
        ];
        let startup = Startup { minor: 0, parameters };
        assert_eq!(startup.extensions(), ["_pq_.new"]);
        let settings = startup.settings();
        let pairs: Vec<_> = settings.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let expected = [
            ("timezone", "UTC"),
            ("statement_timeout", "5s"),
            ("search_path", "a b"),
            ("search_path", "x"),
        ];
        assert_eq!(pairs, expected);
    }

    #[test]
    fn every_prefix_of_a_startup_is_refused_and_none_panics() {
        let body = b"\0\x03\0\x02user\0ada\0database\0pando\0\0";
        assert!(First::decode(Bytes::from_static(body)).is_ok());
        for end in 0..body.len() {
            assert!(First::decode(Bytes::from_static(&body[..end])).is_err(), "{end}");
        }
        let many = b"n\0v\0".repeat(PARAMETERS_MAX + 1);
        let many = [&b"\0\x03\0\0"[..], &many, b"\0"].concat();
        assert_eq!(First::decode(many.into()), Err(violation("more than 64 parameters")));
    }
}
