//! Texts as bytes of an encoding, and back.

use columnar::checked;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, Int32Array, StringViewArray,
};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

const BYTES: DataType = DataType::BinaryView;
const TEXT: DataType = DataType::Utf8View;

/// The other encodings that PostgreSQL knows, with letters and digits alone.
const OTHERS: &str = "abc alt big5 euccn eucjis2004 eucjp euckr euctw gb18030 gbk iso885910 iso885913 iso885914 \
    iso885915 iso885916 iso88592 iso88593 iso88594 iso88595 iso88596 iso88597 iso88598 iso88599 johab koi8 koi8r koi8u \
    latin10 latin2 latin3 latin4 latin5 latin6 latin7 latin8 latin9 mskanji muleinternal shiftjis shiftjis2004 sjis \
    sqlascii tcvn tcvn5712 uhc vscii win win1250 win1251 win1252 win1253 win1254 win1255 win1256 win1257 win1258 \
    win866 win874 win932 win936 win949 win950 windows1250 windows1251 windows1252 windows1253 windows1254 windows1255 \
    windows1256 windows1257 windows1258 windows866 windows874 windows932 windows936 windows949 windows950";

/// The functions.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        checked("convert_to", |_| Ok((vec![TEXT; 2], BYTES)), convert_to),
        checked("convert_from", |_| Ok((vec![BYTES, TEXT], TEXT)), convert_from),
        checked("convert", |_| Ok((vec![BYTES, TEXT, TEXT], BYTES)), convert),
        checked("encoded_length", |_| Ok((vec![BYTES, TEXT], DataType::Int32)), length),
    ]
}

/// How texts are written as bytes.
#[derive(Debug, Clone, Copy)]
enum Encoding {
    Utf8,
    /// A byte for each of the first 256 characters.
    Latin1,
}

impl Encoding {
    /// The encoding of a name; `role` is what messages call it.
    fn of(name: &str, role: &str) -> Result<Self> {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        match plain.to_ascii_lowercase().as_str() {
            "utf8" | "unicode" => Ok(Self::Utf8),
            "latin1" | "iso88591" => Ok(Self::Latin1),
            plain if OTHERS.split(' ').any(|known| known == plain) => {
                Err(Error::unsupported(format!("the encoding {name} is not supported, use UTF8")))
            }
            _ => {
                let message = format!("invalid {role}encoding name \"{name}\"");
                Err(Error::new(SqlState::InvalidParameterValue, message))
            }
        }
    }

    fn bytes_of(self, text: &str) -> Result<Vec<u8>> {
        match self {
            Self::Utf8 => Ok(text.as_bytes().to_vec()),
            Self::Latin1 => {
                let byte = |letter: char| {
                    u8::try_from(u32::from(letter)).map_err(|_| without_equivalent(letter))
                };
                text.chars().map(byte).collect()
            }
        }
    }

    fn text_of(self, bytes: &[u8]) -> Result<String> {
        match self {
            Self::Utf8 => utf8(bytes).map(str::to_owned),
            Self::Latin1 if bytes.contains(&0) => Err(invalid_bytes("LATIN1", &[0])),
            Self::Latin1 => Ok(bytes.iter().map(|byte| char::from(*byte)).collect()),
        }
    }
}

/// Bytes of UTF8 as text; it has no zero bytes.
fn utf8(bytes: &[u8]) -> Result<&str> {
    let zero = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    match std::str::from_utf8(bytes) {
        Ok(text) if zero == bytes.len() => Ok(text),
        found => {
            let place = found.err().map_or(zero, |error| error.valid_up_to().min(zero));
            let rest = &bytes[place..];
            Err(invalid_bytes("UTF8", &rest[..letter_length(rest).min(rest.len())]))
        }
    }
}

/// The number of bytes of the character that bytes begin with, by the first of them.
fn letter_length(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf7) => 4,
        _ => 1,
    }
}

fn shown(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
    bytes.join(" ")
}

fn invalid_bytes(encoding: &str, bytes: &[u8]) -> Error {
    let bytes = shown(bytes);
    let message = format!("invalid byte sequence for encoding \"{encoding}\": {bytes}");
    Error::new(SqlState::CharacterNotInRepertoire, message)
}

fn without_equivalent(letter: char) -> Error {
    let bytes = shown(letter.encode_utf8(&mut [0; 4]).as_bytes());
    let message = format!(
        "character with byte sequence {bytes} in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\""
    );
    Error::new(SqlState::UntranslatableCharacter, message)
}

/// Computes a value for each row without NULL.
fn each<T>(args: &[ArrayRef], compute: impl Fn(usize) -> Result<T>) -> Result<Vec<Option<T>>> {
    let is_null = |row| args.iter().any(|array| array.is_null(row));
    let rows = 0..args.first().map_or(0, |first| first.len());
    rows.map(|row| if is_null(row) { Ok(None) } else { compute(row).map(Some) }).collect()
}

fn convert_to(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (texts, names) = (args[0].as_string_view(), args[1].as_string_view());
    let values = each(args, |row| {
        Encoding::of(names.value(row), "destination ")?.bytes_of(texts.value(row))
    })?;
    Ok(Arc::new(values.into_iter().collect::<BinaryViewArray>()))
}

fn convert_from(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (values, names) = (args[0].as_binary_view(), args[1].as_string_view());
    let texts =
        each(args, |row| Encoding::of(names.value(row), "source ")?.text_of(values.value(row)))?;
    Ok(Arc::new(texts.into_iter().collect::<StringViewArray>()))
}

fn convert(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (values, from, to) =
        (args[0].as_binary_view(), args[1].as_string_view(), args[2].as_string_view());
    let values = each(args, |row| {
        let from = Encoding::of(from.value(row), "source ")?;
        let to = Encoding::of(to.value(row), "destination ")?;
        to.bytes_of(&from.text_of(values.value(row))?)
    })?;
    Ok(Arc::new(values.into_iter().collect::<BinaryViewArray>()))
}

/// The number of characters of bytes in an encoding.
fn length(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (values, names) = (args[0].as_binary_view(), args[1].as_string_view());
    let lengths = each(args, |row| {
        let text = Encoding::of(names.value(row), "")?.text_of(values.value(row))?;
        Ok(i32::try_from(text.chars().count()).unwrap_or(i32::MAX))
    })?;
    Ok(Arc::new(lengths.into_iter().collect::<Int32Array>()))
}
