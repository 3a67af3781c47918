//! The syntax of scripts: words, "texts" with escapes, and (lists).

/// A token of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Word {
    /// Characters without blanks.
    Bare(String),
    /// Bytes in quotes.
    Quoted(Vec<u8>),
    /// Words in parentheses.
    List(Vec<Word>),
}

impl Word {
    /// The bytes; `None` for NULL.
    pub(crate) fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Bare(word) if word == "NULL" => None,
            Self::Bare(word) => Some(word.clone().into_bytes()),
            Self::Quoted(bytes) => Some(bytes.clone()),
            Self::List(_) => panic!("a list where a value is expected"),
        }
    }

    pub(crate) fn number<T: std::str::FromStr>(&self) -> T {
        let Self::Bare(word) = self else { panic!("{self:?} is no number") };
        word.parse().unwrap_or_else(|_| panic!("{word} is no number"))
    }

    pub(crate) fn list(&self) -> &[Self] {
        let Self::List(words) = self else { panic!("{self:?} is no list") };
        words
    }
}

/// Splits a line into words.
pub(crate) fn words(line: &str) -> Vec<Word> {
    let mut letters = line.chars().peekable();
    let mut open = vec![Vec::new()];
    while let Some(letter) = letters.next() {
        let word = match letter {
            ' ' => continue,
            '(' => {
                open.push(Vec::new());
                continue;
            }
            ')' => Word::List(open.pop().expect("an open list")),
            '"' => Word::Quoted(quoted(&mut letters)),
            first => {
                let mut word = String::from(first);
                while let Some(next) = letters.next_if(|next| !" ()".contains(*next)) {
                    word.push(next);
                }
                Word::Bare(word)
            }
        };
        open.last_mut().expect("an open list").push(word);
    }
    assert_eq!(open.len(), 1, "a list has no end: {line}");
    open.remove(0)
}

fn quoted(letters: &mut impl Iterator<Item = char>) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        match letters.next().expect("the text has an end") {
            '"' => return bytes,
            '\\' => match letters.next().expect("an escape") {
                'n' => bytes.push(b'\n'),
                't' => bytes.push(b'\t'),
                'x' => {
                    let hex: String = letters.take(2).collect();
                    bytes.push(u8::from_str_radix(&hex, 16).expect("two hexadecimal digits"));
                }
                other => bytes.push(u8::try_from(other).expect("ASCII")),
            },
            other => bytes.extend(other.to_string().into_bytes()),
        }
    }
}

/// Bytes as a quoted text that can be parsed.
pub(crate) fn quote(bytes: &[u8]) -> String {
    let escaped: String = match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().map(escape).collect(),
        Err(_) => bytes.iter().map(|byte| escape_byte(*byte)).collect(),
    };
    format!("\"{escaped}\"")
}

fn escape(letter: char) -> String {
    match u8::try_from(letter) {
        Ok(byte) if byte < 128 => escape_byte(byte),
        _ => letter.to_string(),
    }
}

fn escape_byte(byte: u8) -> String {
    match byte {
        b'\n' => "\\n".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        32..127 => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    }
}
