//! What a function is.

use crate::limits::{Limits, SOURCE_BYTES_MAX};
use crate::signature::Signature;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{Context, SHA256};
use std::fmt::Write;
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};

/// The languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// WebAssembly. The source is a module, in base64.
    Wasm,
    /// JavaScript. The source is the body of a function.
    JavaScript,
}

impl Language {
    /// The language of a name. `None` for those that are not foreign.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "wasm" => Some(Self::Wasm),
            "javascript" => Some(Self::JavaScript),
            _ => None,
        }
    }
}

/// What distinguishes a definition from all others: a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(pub [u8; 32]);

/// A function.
#[derive(Debug)]
pub struct Definition {
    /// The id in the catalog.
    pub id: u32,
    /// The name, as messages show it.
    pub name: String,
    /// The language.
    pub language: Language,
    /// What it takes and gives.
    pub signature: Signature,
    /// What may be used by a call.
    pub limits: Limits,
    /// The export of a module that is called; the name of the function if there is none.
    pub(crate) symbol: String,
    /// The source.
    pub(crate) source: Source,
    /// The types of the arguments and of the result that a polymorphic function has; none of others.
    pub(crate) actual: Vec<SqlType>,
    version: Version,
}

/// The source of a function.
#[derive(Debug)]
pub(crate) enum Source {
    /// A WebAssembly module.
    Module {
        /// The bytes.
        bytes: Vec<u8>,
        /// Their digest.
        digest: Version,
    },
    /// The body of a JavaScript function.
    Script(String),
}

impl Definition {
    /// A function with a source as the catalog keeps it.
    ///
    /// # Errors
    /// 42P13: the source is no base64.
    pub fn new(
        id: u32,
        name: &str,
        language: Language,
        signature: Signature,
        source: &str,
        symbol: Option<&str>,
    ) -> Result<Self> {
        let symbol = symbol.unwrap_or(name).to_owned();
        let held = match language {
            Language::Wasm => {
                let bytes = STANDARD.decode(source).map_err(|_| no_module())?;
                let digest = digest(&[&bytes]);
                Source::Module { bytes, digest }
            }
            Language::JavaScript => Source::Script(source.to_owned()),
        };
        let kind = format!("{language:?} {symbol} {signature:?}");
        let version = digest(&[kind.as_bytes(), source.as_bytes()]);
        let (name, limits, actual) = (name.to_owned(), Limits::default(), Vec::new());
        Ok(Self { id, name, language, signature, limits, symbol, source: held, actual, version })
    }

    /// The definition of a polymorphic function for the types of its arguments and its result, which its signature has.
    pub fn of_types(self, actual: &[SqlType]) -> Self {
        Self { actual: actual.to_vec(), ..self }
    }

    /// What distinguishes it from all others.
    pub fn version(&self) -> Version {
        self.version
    }
}

/// The bytes of a module as statements give them, in the form in which the catalog keeps them.
///
/// # Errors
/// 42P13: it is neither hexadecimal nor base64; 54000: it is too long.
pub(crate) fn module_text(given: &str) -> Result<String> {
    let compact: String = given.chars().filter(|letter| !letter.is_ascii_whitespace()).collect();
    let bytes = match compact.strip_prefix("\\x") {
        Some(digits) => hexadecimal(digits).ok_or_else(no_module)?,
        None => STANDARD.decode(&compact).map_err(|_| no_module())?,
    };
    of_bytes(&bytes)
}

/// The form in which the catalog keeps a module.
///
/// # Errors
/// 54000: it is too long.
pub(crate) fn of_bytes(bytes: &[u8]) -> Result<String> {
    require_size(bytes.len())?;
    Ok(STANDARD.encode(bytes))
}

impl Language {
    /// The form in which the catalog keeps a source that a statement gives: modules are written in hexadecimal after `\x`,
    /// or in base64.
    ///
    /// # Errors
    /// 42P13: a module is written in another way; 54000: the source is too long.
    pub fn kept(self, source: &str) -> Result<String> {
        match self {
            Self::Wasm => module_text(source),
            Self::JavaScript => require_size(source.len()).map(|()| source.to_owned()),
        }
    }

    /// The form in which the catalog keeps a source that has been read from a file.
    ///
    /// # Errors
    /// 54000: the source is too long; 22021: a script is no UTF-8.
    pub fn kept_of_file(self, bytes: &[u8]) -> Result<String> {
        match self {
            Self::Wasm => of_bytes(bytes),
            Self::JavaScript => {
                require_size(bytes.len())?;
                let text = std::str::from_utf8(bytes).map_err(|_| {
                    Error::new(SqlState::CharacterNotInRepertoire, "the file is no UTF-8 text")
                })?;
                Ok(text.to_owned())
            }
        }
    }
}

fn require_size(bytes: usize) -> Result<()> {
    if bytes > SOURCE_BYTES_MAX {
        let message = format!("a function's source has at most {SOURCE_BYTES_MAX} bytes");
        return Err(Error::new(SqlState::ProgramLimitExceeded, message));
    }
    Ok(())
}

fn no_module() -> Error {
    let message = "the source is neither hexadecimal digits after \\x nor base64";
    Error::new(SqlState::InvalidFunctionDefinition, message).with_hint(
        "A WebAssembly module is written as AS '\\x0061736d...', or read with AS 'file:///...'.",
    )
}

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(pair).collect()
}

fn digest(parts: &[&[u8]]) -> Version {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_le_bytes());
        context.update(part);
    }
    let mut version = [0; 32];
    version.copy_from_slice(context.finish().as_ref());
    Version(version)
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        self.0.iter().take(6).try_for_each(|byte| write!(text, "{byte:02x}"))?;
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::Returns;
    use store::catalog::Volatility;

    #[test]
    fn modules_are_written_in_two_ways() {
        let kept = |text: &str| Language::Wasm.kept(text);
        assert_eq!(kept("\\x00 61\n73 6D").as_deref(), Ok("AGFzbQ=="));
        assert_eq!(kept("AGFz\nbQ==").as_deref(), Ok("AGFzbQ=="));
        for wrong in ["\\x0", "\\xzz", "no module!"] {
            let error = kept(wrong).expect_err("it is no module");
            assert_eq!(error.state(), SqlState::InvalidFunctionDefinition, "{wrong}");
        }
    }

    #[test]
    fn versions_tell_definitions_apart() {
        let version = |source: &str, is_strict| {
            let (parameters, returns) = (Vec::new(), Returns::value(SqlType::Text));
            let volatility = Volatility::Immutable;
            let signature = Signature { parameters, returns, is_strict, volatility };
            let made = Definition::new(1, "f", Language::JavaScript, signature, source, None);
            made.expect("a script").version()
        };
        assert_eq!(version("return 1", true), version("return 1", true));
        assert_ne!(version("return 1", true), version("return 1", false));
        assert_ne!(version("return 1", true), version("return 2", true));
    }
}
