//! PostgreSQL's syntax of advanced regular expressions, as a tree.

use super::escapes::push;
use super::flags::Flags;
use values::error::{Error, Result, SqlState};

/// The most that a bound may say.
const REPEATS_MAX: u32 = 255;
/// How deep groups may be.
const DEPTH_MAX: usize = 200;

/// A regular expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Empty,
    Character(char),
    Any,
    /// A set of characters, as `regex` writes it between brackets.
    Set {
        members: String,
        is_negated: bool,
    },
    Place(Place),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat {
        node: Box<Node>,
        least: u32,
        most: Option<u32>,
        is_lazy: bool,
        /// `{m}`, which neither prefers long nor short matches.
        is_fixed: bool,
    },
    Group(Box<Node>, Option<usize>),
    /// What a group matched.
    Back(usize),
    /// What follows, or precedes, without being part of the match.
    Look {
        node: Box<Node>,
        is_ahead: bool,
        is_negated: bool,
    },
}

/// A condition on a place between two characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// `^` and `$`.
    Start,
    End,
    /// Of the whole text.
    TextStart,
    TextEnd,
    WordStart,
    WordEnd,
    WordBoundary,
    NoWordBoundary,
}

/// The tree, the number of groups that capture, and the flags with those that the pattern begins with.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) node: Node,
    pub(super) groups: usize,
    pub(super) flags: Flags,
}

/// Characters of a class that `regex` does not have like this.
const SPACES: &str =
    r"\t-\r \x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{2028}\x{2029}\x{205f}\x{3000}";
const WORD: &str = r"\p{Alphabetic}\p{Nd}_";

/// Reads a pattern.
///
/// # Errors
/// 2201B: it is no regular expression.
pub(super) fn parse(text: &str, mut flags: Flags) -> Result<Parsed> {
    let mut rest = text;
    if let Some(literal) = text.strip_prefix("***=") {
        (rest, flags.is_literal) = (literal, true);
    } else if let Some(advanced) = text.strip_prefix("***:") {
        rest = advanced;
    }
    if flags.is_literal {
        let node = Node::Sequence(rest.chars().map(Node::Character).collect());
        return Ok(Parsed { node, groups: 0, flags });
    }
    let letters = rest.strip_prefix("(?").map(|rest| rest.split(')').next().unwrap_or_default());
    if let Some(letters) = letters.filter(|letters| letters.starts_with(char::is_alphabetic)) {
        for letter in letters.chars() {
            if !flags.set(letter)? {
                return Err(invalid("invalid embedded option"));
            }
        }
        rest = rest.get(letters.len() + 3..).ok_or_else(|| invalid("invalid embedded option"))?;
        if flags.is_literal {
            let node = Node::Sequence(rest.chars().map(Node::Character).collect());
            return Ok(Parsed { node, groups: 0, flags });
        }
    }
    let mut parser = Parser {
        text: rest.chars().collect(),
        at: 0,
        flags,
        groups: 0,
        closed: Vec::new(),
        depth: 0,
        looks: 0,
    };
    let node = parser.choice()?;
    if parser.peek().is_some() {
        return Err(invalid("parentheses () not balanced"));
    }
    Ok(Parsed { node, groups: parser.groups, flags })
}

pub(super) fn invalid(reason: &str) -> Error {
    let message = format!("invalid regular expression: {reason}");
    Error::new(SqlState::InvalidRegularExpression, message)
}

struct Parser {
    text: Vec<char>,
    at: usize,
    flags: Flags,
    groups: usize,
    /// Groups that have ended, to which back references are possible.
    closed: Vec<usize>,
    depth: usize,
    /// How many lookarounds are open. Their groups do not capture.
    looks: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    fn take(&mut self, wanted: &str) -> bool {
        let begins =
            wanted.chars().enumerate().all(|(n, c)| self.text.get(self.at + n) == Some(&c));
        if begins {
            self.at += wanted.chars().count();
        }
        begins
    }

    /// Skips blanks and comments of the expanded syntax, and comments of the usual one.
    fn skip(&mut self) {
        loop {
            if self.flags.is_expanded {
                match self.peek() {
                    Some(next) if next.is_whitespace() => {
                        self.at += 1;
                        continue;
                    }
                    Some('#') => {
                        while self.next().is_some_and(|next| next != '\n') {}
                        continue;
                    }
                    _ => (),
                }
            }
            if !self.take("(?#") {
                return;
            }
            while self.next().is_some_and(|next| next != ')') {}
        }
    }

    fn choice(&mut self) -> Result<Node> {
        let mut branches = vec![self.sequence()?];
        while self.take("|") {
            branches.push(self.sequence()?);
        }
        Ok(if branches.len() == 1 { branches.remove(0) } else { Node::Choice(branches) })
    }

    fn sequence(&mut self) -> Result<Node> {
        let mut nodes = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                None | Some('|' | ')') => break,
                Some(_) => {
                    let atom = self.atom()?;
                    nodes.push(self.repeated(atom)?);
                }
            }
        }
        Ok(match nodes.len() {
            0 => Node::Empty,
            1 => nodes.remove(0),
            _ => Node::Sequence(nodes),
        })
    }

    fn repeated(&mut self, atom: Node) -> Result<Node> {
        self.skip();
        let is_bound = |next: Option<&char>| next.is_some_and(char::is_ascii_digit);
        let (least, most, is_fixed) = match self.peek() {
            Some('*') => (0, None, false),
            Some('+') => (1, None, false),
            Some('?') => (0, Some(1), false),
            Some('{') if is_bound(self.text.get(self.at + 1)) => self.bound()?,
            _ => return Ok(atom),
        };
        self.at += 1;
        if matches!(atom, Node::Place(_) | Node::Look { .. }) {
            return Err(invalid("quantifier operand invalid"));
        }
        let is_lazy = self.take("?");
        self.skip();
        let again = matches!(self.peek(), Some('*' | '+' | '?'));
        if again || self.peek() == Some('{') && is_bound(self.text.get(self.at + 1)) {
            return Err(invalid("quantifier operand invalid"));
        }
        Ok(Node::Repeat { node: Box::new(atom), least, most, is_lazy, is_fixed })
    }

    /// Reads `{m}`, `{m,}` or `{m,n}` up to its closing brace; says whether it is the first.
    fn bound(&mut self) -> Result<(u32, Option<u32>, bool)> {
        self.at += 1;
        let least = self.number();
        let is_fixed = !self.take(",");
        let most = if is_fixed {
            Some(least)
        } else if self.peek().is_some_and(|next| next.is_ascii_digit()) {
            Some(self.number())
        } else {
            None
        };
        if self.peek() != Some('}') {
            let reason = if self.peek().is_none() {
                "braces {} not balanced"
            } else {
                "invalid repetition count(s)"
            };
            return Err(invalid(reason));
        }
        if least > REPEATS_MAX || most.is_some_and(|most| most > REPEATS_MAX || most < least) {
            return Err(invalid("invalid repetition count(s)"));
        }
        Ok((least, most, is_fixed))
    }

    fn number(&mut self) -> u32 {
        let mut number = 0_u32;
        while let Some(digit) = self.peek().and_then(|next| next.to_digit(10)) {
            number = number.saturating_mul(10).saturating_add(digit);
            self.at += 1;
        }
        number
    }

    fn atom(&mut self) -> Result<Node> {
        match self.next() {
            Some('(') => self.group(),
            Some('[') => self.brackets(),
            Some('.') => Ok(Node::Any),
            Some('^') => Ok(Node::Place(Place::Start)),
            Some('$') => Ok(Node::Place(Place::End)),
            Some('\\') => self.escape(),
            Some('*' | '+' | '?') => Err(invalid("quantifier operand invalid")),
            Some('{') if self.peek().is_some_and(|next| next.is_ascii_digit()) => {
                Err(invalid("quantifier operand invalid"))
            }
            Some(other) => Ok(Node::Character(other)),
            None => Ok(Node::Empty),
        }
    }

    fn group(&mut self) -> Result<Node> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(invalid("regular expression is too complex"));
        }
        let look =
            [("?=", true, false), ("?!", true, true), ("?<=", false, false), ("?<!", false, true)]
                .into_iter()
                .find(|(sign, ..)| self.take(sign));
        let node = if let Some((_, is_ahead, is_negated)) = look {
            self.looks += 1;
            let node = Box::new(self.choice()?);
            self.looks -= 1;
            Node::Look { node, is_ahead, is_negated }
        } else if self.take("?:") {
            Node::Group(Box::new(self.choice()?), None)
        } else if self.peek() == Some('?') {
            return Err(invalid("quantifier operand invalid"));
        } else if self.looks > 0 {
            Node::Group(Box::new(self.choice()?), None)
        } else {
            self.groups += 1;
            let number = self.groups;
            let node = Node::Group(Box::new(self.choice()?), Some(number));
            self.closed.push(number);
            node
        };
        self.depth -= 1;
        if self.take(")") { Ok(node) } else { Err(invalid("parentheses () not balanced")) }
    }

    fn escape(&mut self) -> Result<Node> {
        let Some(next) = self.next() else { return Err(invalid("invalid escape \\ sequence")) };
        if let Some((members, is_negated)) = class_escape(next) {
            return Ok(Node::Set { members: members.to_owned(), is_negated });
        }
        let place = match next {
            'A' => Place::TextStart,
            'Z' => Place::TextEnd,
            'm' => Place::WordStart,
            'M' => Place::WordEnd,
            'y' => Place::WordBoundary,
            'Y' => Place::NoWordBoundary,
            '1'..='9' => return self.back_reference(next),
            _ => return self.character_escape(next).map(Node::Character),
        };
        Ok(Node::Place(place))
    }

    /// A single digit is always a reference; more digits are one if there are so many groups, else octal.
    fn back_reference(&mut self, first: char) -> Result<Node> {
        let start = self.at;
        let mut number = first as usize - '0' as usize;
        while let Some(digit) = self.peek().and_then(|next| next.to_digit(10)) {
            let longer = number * 10 + digit as usize;
            if longer > self.groups {
                break;
            }
            (number, self.at) = (longer, self.at + 1);
        }
        if self.closed.contains(&number) && self.looks == 0 {
            return Ok(Node::Back(number));
        }
        let is_octal = self.text.get(start).is_some_and(|next| next.is_digit(8)) && first < '8';
        if is_octal {
            self.at = start - 1;
            return self.digits(8, 3).map(Node::Character);
        }
        Err(invalid("invalid backreference number"))
    }

    fn character_escape(&mut self, next: char) -> Result<char> {
        Ok(match next {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'B' => '\\',
            'c' => {
                let letter = self.next().ok_or_else(|| invalid("invalid escape \\ sequence"))?;
                char::from((letter as u32 & 0x1F) as u8)
            }
            'e' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'u' => return self.code(4),
            'U' => return self.code(8),
            'x' => return self.digits(16, 255),
            '0' => {
                self.at -= 1;
                return self.digits(8, 3);
            }
            letter if letter.is_ascii_alphanumeric() => {
                return Err(invalid("invalid escape \\ sequence"));
            }
            other => other,
        })
    }

    /// A character by exactly so many hexadecimal digits.
    fn code(&mut self, length: usize) -> Result<char> {
        let start = self.at;
        let character = self.digits(16, length)?;
        if self.at - start == length {
            Ok(character)
        } else {
            Err(invalid("invalid escape \\ sequence"))
        }
    }

    fn digits(&mut self, radix: u32, most: usize) -> Result<char> {
        let (start, mut code) = (self.at, 0_u32);
        while self.at - start < most {
            let Some(digit) = self.peek().and_then(|next| next.to_digit(radix)) else { break };
            code = code.saturating_mul(radix).saturating_add(digit);
            self.at += 1;
        }
        let character = char::from_u32(code).filter(|_| self.at > start);
        character.ok_or_else(|| invalid("invalid escape \\ sequence"))
    }

    /// A set, after its opening bracket.
    fn brackets(&mut self) -> Result<Node> {
        for (text, place) in [("[:<:]]", Place::WordStart), ("[:>:]]", Place::WordEnd)] {
            if self.take(text) {
                return Ok(Node::Place(place));
            }
        }
        let is_negated = self.take("^");
        let mut members = String::new();
        if self.take("]") {
            self.range(']', &mut members)?;
        }
        loop {
            match self.next() {
                None => return Err(invalid("brackets [] not balanced")),
                Some(']') => break,
                Some('[') if self.take(":") => members.push_str(&self.class()?),
                Some('[') if matches!(self.peek(), Some('.' | '=')) => {
                    let element = self.element()?;
                    self.range(element, &mut members)?;
                }
                Some('\\') => {
                    let next = self.next().ok_or_else(|| invalid("invalid escape \\ sequence"))?;
                    match class_escape(next) {
                        Some((class, false)) => members.push_str(class),
                        Some((_, true)) => return Err(invalid("invalid escape \\ sequence")),
                        None => {
                            let first = self.character_escape(next)?;
                            self.range(first, &mut members)?;
                        }
                    }
                }
                Some(first) => self.range(first, &mut members)?,
            }
        }
        Ok(Node::Set { members, is_negated })
    }

    /// Adds a character, or a range that it begins.
    fn range(&mut self, first: char, members: &mut String) -> Result<()> {
        let is_range =
            self.peek() == Some('-') && self.text.get(self.at + 1).is_some_and(|c| *c != ']');
        push(first, members);
        if !is_range {
            return Ok(());
        }
        self.at += 1;
        let last = match self.next() {
            Some('\\') => {
                let next = self.next().ok_or_else(|| invalid("invalid escape \\ sequence"))?;
                self.character_escape(next)?
            }
            Some('[') if matches!(self.peek(), Some('.' | '=')) => self.element()?,
            Some('[') if self.peek() == Some(':') => {
                return Err(invalid("invalid character range"));
            }
            Some(last) => last,
            None => return Err(invalid("brackets [] not balanced")),
        };
        if last < first {
            return Err(invalid("invalid character range"));
        }
        members.push('-');
        push(last, members);
        Ok(())
    }

    fn class(&mut self) -> Result<String> {
        let name: String = self.text[self.at..].iter().take_while(|c| **c != ':').collect();
        self.at += name.chars().count();
        if !self.take(":]") {
            return Err(invalid("brackets [] not balanced"));
        }
        let members = match name.as_str() {
            "alpha" => r"\p{Alphabetic}",
            "alnum" => r"\p{Alphabetic}\p{Nd}",
            "digit" => "0-9",
            "xdigit" => "0-9A-Fa-f",
            "upper" => r"\p{Uppercase}",
            "lower" => r"\p{Lowercase}",
            "space" => SPACES,
            "blank" => r" \t\x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{205f}\x{3000}",
            "cntrl" => r"\p{Cc}\x{2028}\x{2029}",
            "punct" => r"!-/:-@\[-`\{-~[\p{P}\p{S}&&[^\x00-\x7f]]",
            "graph" => r"[^\p{Cc}\p{Cn}\p{Cs}\s]",
            "print" => r"[^\p{Cc}\p{Cn}\p{Cs}\x{2028}\x{2029}]",
            "word" => WORD,
            "ascii" => r"\x00-\x7f",
            _ => return Err(invalid("invalid character class")),
        };
        Ok(members.to_owned())
    }

    /// `[.x.]` or `[=x=]`, from its second character on.
    fn element(&mut self) -> Result<char> {
        let delimiter = self.next();
        let character = self.next().ok_or_else(|| invalid("brackets [] not balanced"))?;
        if self.next() == delimiter && self.next() == Some(']') {
            Ok(character)
        } else {
            Err(invalid("invalid collating element"))
        }
    }
}

fn class_escape(letter: char) -> Option<(&'static str, bool)> {
    Some(match letter {
        'd' => ("0-9", false),
        'D' => ("0-9", true),
        's' => (SPACES, false),
        'S' => (SPACES, true),
        'w' => (WORD, false),
        'W' => (WORD, true),
        _ => return None,
    })
}
