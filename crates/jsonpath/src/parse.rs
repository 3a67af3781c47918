//! From the text of a path to its tree.

use crate::path::{Comparison, Condition, Expr, Head, LEAVES, Method, Path, Step};
use crate::scan::{Token, near, string, tokens};
use regexes::{Flags, Pattern};
use values::error::{Error, Result, SqlState};

/// The most operators and steps of a path.
const PARTS_MAX: usize = 500;
/// How many signs, parentheses and conditions may be within each other.
const NESTING_MAX: usize = 50;

impl Path {
    /// Parses a path.
    ///
    /// # Errors
    /// 42601, 22P02: it is no path. 2201B: a pattern in it is none. 54001: it has too many parts. 0A000: it calls `datetime` or
    /// `keyvalue`.
    pub fn parse(text: &str) -> Result<Self> {
        let tokens = tokens(text)?;
        if tokens.is_empty() {
            let message = format!("invalid input syntax for type jsonpath: \"{text}\"");
            return Err(Error::new(SqlState::InvalidTextRepresentation, message));
        }
        let mut parser = Parser { tokens, at: 0, parts: 0, depth: 0, filters: 0, subscripts: 0 };
        let is_strict = parser.takes_name("strict");
        if !is_strict {
            parser.takes_name("lax");
        }
        let expr = parser.either()?.into_expr();
        match parser.at < parser.tokens.len() {
            true => Err(parser.unexpected()),
            false => Ok(Self { is_strict, expr }),
        }
    }
}

/// What stands where both a value and a condition may.
enum Either {
    Expr(Expr),
    Condition(Condition),
}

impl Either {
    fn into_expr(self) -> Expr {
        match self {
            Self::Expr(expr) => expr,
            Self::Condition(condition) => {
                Expr { head: Head::Condition(Box::new(condition)), steps: Vec::new() }
            }
        }
    }
}

struct Parser {
    tokens: Vec<(Token, String)>,
    at: usize,
    parts: usize,
    depth: usize,
    filters: usize,
    subscripts: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn unexpected(&self) -> Error {
        near("syntax error", self.tokens.get(self.at).map_or("", |(_, word)| word))
    }

    fn takes(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Mark(next)) if *next == mark);
        self.at += usize::from(found);
        found
    }

    fn takes_name(&mut self, name: &str) -> bool {
        let found = self.is_name(self.at, name);
        self.at += usize::from(found);
        found
    }

    /// Whether the word at a place is a keyword, in letters of any case.
    fn is_name(&self, at: usize, name: &str) -> bool {
        matches!(self.tokens.get(at), Some((Token::Name(next), _)) if next.eq_ignore_ascii_case(name))
    }

    fn expect(&mut self, mark: &str) -> Result<()> {
        if self.takes(mark) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn expect_name(&mut self, name: &str) -> Result<()> {
        if self.takes_name(name) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn count(&mut self) -> Result<()> {
        self.parts += 1;
        match self.parts > PARTS_MAX {
            true => Err(Error::new(SqlState::StatementTooComplex, "stack depth limit exceeded")
                .with_detail(format!("A JSON path may have {PARTS_MAX} parts."))),
            false => Ok(()),
        }
    }

    /// Parses what is within something else.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.count()?;
        self.depth += 1;
        if self.depth > NESTING_MAX {
            return Err(Error::new(SqlState::StatementTooComplex, "stack depth limit exceeded")
                .with_detail(format!("A JSON path may nest {NESTING_MAX} levels deep.")));
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn condition(&mut self) -> Result<Condition> {
        match self.either()? {
            Either::Condition(condition) => Ok(condition),
            Either::Expr(_) => Err(self.unexpected()),
        }
    }

    fn expr(&mut self) -> Result<Expr> {
        match self.nested(Self::additive)? {
            Either::Expr(expr) => Ok(expr),
            Either::Condition(_) => Err(self.unexpected()),
        }
    }

    fn either(&mut self) -> Result<Either> {
        let mut left = self.nested(Self::conjunction)?;
        while self.takes("||") {
            self.count()?;
            let Either::Condition(first) = left else { return Err(self.unexpected()) };
            let Either::Condition(second) = self.conjunction()? else {
                return Err(self.unexpected());
            };
            left = Either::Condition(Condition::Or(Box::new((first, second))));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Either> {
        let mut left = self.comparison()?;
        while self.takes("&&") {
            self.count()?;
            let Either::Condition(first) = left else { return Err(self.unexpected()) };
            let Either::Condition(second) = self.comparison()? else {
                return Err(self.unexpected());
            };
            left = Either::Condition(Condition::And(Box::new((first, second))));
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<Either> {
        if self.takes("!") {
            if self.takes_name("exists") {
                let exists = self.exists()?;
                return Ok(Either::Condition(Condition::Not(Box::new(exists))));
            }
            self.expect("(")?;
            let condition = self.condition()?;
            self.expect(")")?;
            return Ok(Either::Condition(Condition::Not(Box::new(condition))));
        }
        let left = match self.additive()? {
            Either::Expr(left) => left,
            condition => return Ok(condition),
        };
        if self.takes_name("starts") {
            return self.starts_with(left);
        }
        if self.takes_name("like_regex") {
            return self.matches(left);
        }
        let comparison = match self.peek() {
            Some(Token::Mark("==")) => Comparison::Equal,
            Some(Token::Mark("!=" | "<>")) => Comparison::NotEqual,
            Some(Token::Mark("<")) => Comparison::Less,
            Some(Token::Mark("<=")) => Comparison::LessOrEqual,
            Some(Token::Mark(">")) => Comparison::Greater,
            Some(Token::Mark(">=")) => Comparison::GreaterOrEqual,
            _ => return Ok(Either::Expr(left)),
        };
        self.at += 1;
        let right = self.expr()?;
        Ok(Either::Condition(Condition::Compare(comparison, left, right)))
    }

    fn exists(&mut self) -> Result<Condition> {
        self.expect("(")?;
        let expr = self.expr()?;
        self.expect(")")?;
        Ok(Condition::Exists(expr))
    }

    fn starts_with(&mut self, left: Expr) -> Result<Either> {
        self.expect_name("with")?;
        let head = match self.peek() {
            Some(Token::Text(text)) => Head::Constant(string(text)),
            Some(Token::Variable(name)) => Head::Variable(name.clone()),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        let initial = Expr { head, steps: Vec::new() };
        Ok(Either::Condition(Condition::StartsWith(left, initial)))
    }

    fn matches(&mut self, left: Expr) -> Result<Either> {
        let pattern = self.text()?;
        let letters = if self.takes_name("flag") { self.text()? } else { String::new() };
        let pattern = Pattern::of(&pattern, flags(&letters)?)?;
        Ok(Either::Condition(Condition::Matches(left, pattern)))
    }

    fn text(&mut self) -> Result<String> {
        let Some(Token::Text(text)) = self.peek() else { return Err(self.unexpected()) };
        let text = text.clone();
        self.at += 1;
        Ok(text)
    }

    fn additive(&mut self) -> Result<Either> {
        self.chain(&["+", "-"], Self::multiplicative)
    }

    fn multiplicative(&mut self) -> Result<Either> {
        self.chain(&["*", "/", "%"], Self::unary)
    }

    fn chain(
        &mut self,
        operators: &[&'static str],
        operand: fn(&mut Self) -> Result<Either>,
    ) -> Result<Either> {
        let mut left = operand(self)?;
        while let Some(operator) = operators.iter().find(|operator| self.takes(operator)) {
            self.count()?;
            let (Either::Expr(first), Either::Expr(second)) = (left, operand(self)?) else {
                return Err(self.unexpected());
            };
            let operator = operator.chars().next().unwrap_or('+');
            let head = Head::Arithmetic(operator, Box::new((first, second)));
            left = Either::Expr(Expr { head, steps: Vec::new() });
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Either> {
        let head: fn(Box<Expr>) -> Head = match self.peek() {
            Some(Token::Mark("-")) => Head::Negative,
            Some(Token::Mark("+")) => Head::Positive,
            _ => return self.accessed(),
        };
        self.at += 1;
        let Either::Expr(operand) = self.nested(Self::unary)? else {
            return Err(self.unexpected());
        };
        Ok(Either::Expr(Expr { head: head(Box::new(operand)), steps: Vec::new() }))
    }

    /// A value with its steps, or a condition in parentheses.
    fn accessed(&mut self) -> Result<Either> {
        let either = match self.takes("(") {
            true => self.parenthesised()?,
            false if self.is_name(self.at, "exists") => {
                self.at += 1;
                return self.exists().map(Either::Condition);
            }
            false => Either::Expr(Expr { head: self.head()?, steps: Vec::new() }),
        };
        let steps = self.steps()?;
        if steps.is_empty() {
            return Ok(either);
        }
        let mut expr = either.into_expr();
        expr.steps.extend(steps);
        Ok(Either::Expr(expr))
    }

    fn parenthesised(&mut self) -> Result<Either> {
        let inner = self.either()?;
        self.expect(")")?;
        if !self.takes_name("is") {
            return Ok(inner);
        }
        self.expect_name("unknown")?;
        match inner {
            Either::Condition(condition) => {
                Ok(Either::Condition(Condition::IsUnknown(Box::new(condition))))
            }
            Either::Expr(_) => Err(self.unexpected()),
        }
    }

    fn head(&mut self) -> Result<Head> {
        let head = match self.peek() {
            Some(Token::Text(text)) => Head::Constant(string(text)),
            Some(Token::Number(number, _)) => Head::Constant(number.clone()),
            Some(Token::Variable(name)) => Head::Variable(name.clone()),
            Some(Token::Mark("$")) => Head::Root,
            Some(Token::Mark("@")) if self.filters == 0 => {
                return Err(Error::new(
                    SqlState::SyntaxError,
                    "@ is not allowed in root expressions",
                ));
            }
            Some(Token::Mark("@")) => Head::Current,
            Some(Token::Name(name)) if matches!(&**name, "null" | "true" | "false") => {
                Head::Constant(name.clone())
            }
            Some(Token::Name(name)) if name.eq_ignore_ascii_case("last") => {
                if self.subscripts == 0 {
                    let message = "LAST is allowed only in array subscripts";
                    return Err(Error::new(SqlState::SyntaxError, message));
                }
                Head::Last
            }
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(head)
    }

    fn steps(&mut self) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        loop {
            let step = if self.takes(".") {
                self.member()?
            } else if self.takes("[") {
                self.subscripts()?
            } else if self.takes("?") {
                self.expect("(")?;
                self.filters += 1;
                let condition = self.condition()?;
                self.filters -= 1;
                self.expect(")")?;
                Step::Filter(condition)
            } else {
                return Ok(steps);
            };
            self.count()?;
            steps.push(step);
        }
    }

    /// What follows a point.
    fn member(&mut self) -> Result<Step> {
        if self.takes("**") {
            return self.levels();
        }
        if self.takes("*") {
            return Ok(Step::AnyKey);
        }
        let (name, is_quoted) = match self.peek() {
            Some(Token::Name(name)) => (name.clone(), false),
            Some(Token::Text(name)) => (name.clone(), true),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        if is_quoted || !matches!(self.peek(), Some(Token::Mark("("))) {
            return Ok(Step::Key(name));
        }
        let methods = [
            Method::Type,
            Method::Size,
            Method::Double,
            Method::Abs,
            Method::Floor,
            Method::Ceiling,
        ];
        let Some(method) =
            methods.into_iter().find(|method| name.eq_ignore_ascii_case(method.name()))
        else {
            return Err(match &*name.to_ascii_lowercase() {
                name @ ("datetime" | "keyvalue") => Error::unsupported(format!(
                    "the jsonpath item method .{name}() is not supported"
                )),
                _ => self.unexpected(),
            });
        };
        self.expect("(")?;
        self.expect(")")?;
        Ok(Step::Method(method))
    }

    fn levels(&mut self) -> Result<Step> {
        if !self.takes("{") {
            return Ok(Step::AnyLevel(0, LEAVES));
        }
        let first = self.level()?;
        let last = if self.takes_name("to") { self.level()? } else { first };
        self.expect("}")?;
        Ok(Step::AnyLevel(first, last))
    }

    fn level(&mut self) -> Result<u32> {
        let level = match self.peek() {
            Some(Token::Number(number, true)) => number.parse().ok(),
            Some(Token::Name(name)) if name.eq_ignore_ascii_case("last") => Some(LEAVES),
            _ => None,
        };
        let level = level.ok_or_else(|| self.unexpected())?;
        self.at += 1;
        Ok(level)
    }

    fn subscripts(&mut self) -> Result<Step> {
        if matches!(self.peek(), Some(Token::Mark("*")))
            && matches!(self.tokens.get(self.at + 1), Some((Token::Mark("]"), _)))
        {
            self.at += 2;
            return Ok(Step::AnyElement);
        }
        self.subscripts += 1;
        let mut elements = Vec::new();
        loop {
            let from = self.expr()?;
            let to = if self.takes_name("to") { Some(self.expr()?) } else { None };
            elements.push((from, to));
            if !self.takes(",") {
                break;
            }
        }
        self.subscripts -= 1;
        self.expect("]")?;
        Ok(Step::Elements(elements))
    }
}

/// The options of `like_regex`.
fn flags(letters: &str) -> Result<Flags> {
    let (mut flags, mut dot_all, mut lines) = (Flags::default(), false, false);
    for letter in letters.chars() {
        match letter {
            'i' => flags.ignores_case = true,
            's' => dot_all = true,
            'm' => lines = true,
            'q' => flags.is_literal = true,
            'x' => {
                return Err(Error::unsupported(
                    "XQuery \"x\" flag (expanded regular expressions) is not implemented",
                ));
            }
            other => {
                return Err(Error::new(
                    SqlState::SyntaxError,
                    "invalid input syntax for type jsonpath",
                )
                .with_detail(format!(
                    "Unrecognized flag character \"{other}\" in LIKE_REGEX predicate."
                )));
            }
        }
    }
    if !flags.is_literal {
        (flags.stops_at_lines, flags.has_lines) = (!dot_all, lines);
    }
    Ok(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "strict ($.a.\"b\\u00e9\".**{2 to last}[1, last - 1 to last]?(@.x > -1.5e2 && !(@ like_regex \"^a\" flag \"i\")) \
                        .double() + $v % 3).size() /* c */";

    #[test]
    fn parts_of_a_path_are_paths_or_errors() {
        assert!(Path::parse(PATH).is_ok());
        let places = || PATH.char_indices().map(|(at, _)| at);
        for from in places() {
            for to in places().filter(|to| *to > from) {
                let _ = Path::parse(&PATH[from..to]);
            }
        }
        for odd in [
            "$\\",
            "\"\\u{}\"",
            "\"\\ud800\"",
            "$[\u{0}]",
            "1e999999999",
            "$.**{99999999999}",
            "?",
            "é",
            "-",
            "(((",
            "1.",
        ] {
            let _ = Path::parse(odd);
        }
    }

    #[test]
    fn deep_paths_are_refused() {
        for deep in [
            format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000)),
            format!("1{}", " + 1".repeat(10_000)),
            format!("{}1", "-".repeat(10_000)),
            format!("${}", ".a".repeat(10_000)),
            format!("{}true == true{}", "!(".repeat(10_000), ")".repeat(10_000)),
        ] {
            let state = Path::parse(&deep).map(drop).map_err(|error| error.state());
            assert_eq!(state, Err(SqlState::StatementTooComplex));
        }
    }
}
