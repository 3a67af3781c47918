//! Completion of keywords, functions, relations and columns, by the context of the cursor.
//!
//! After FROM, JOIN, INTO and similar keywords, relations are offered. After `name.`, columns of that table or alias and
//! relations of that schema. Elsewhere, columns of the tables in the statement come first. Inside texts and comments nothing
//! is offered.

use super::keywords::{FUNCTIONS, KEYWORDS, is_keyword};
use super::names::{Known, is_system};
use crate::shell::text::lexer::{Kind, Token, is_word, tokens};

/// The shell's own commands.
const COMMANDS: [&str; 11] =
    ["\\?", "\\d", "\\dn", "\\dt", "\\dv", "\\h", "\\help", "\\i", "\\q", "\\timing", "\\x"];

/// The byte at which the completed word begins, and the choices.
pub(crate) type Choices = (usize, Vec<String>);

/// The choices at byte `at` of a text with statements.
pub(crate) fn complete(text: &str, at: usize, known: &[Known]) -> Choices {
    let last = tokens(&text[..at], 0).last().filter(|token| !token.closed);
    let (start, prefix, quoted) = match last {
        Some(token) if token.kind == Kind::QuotedName => {
            (token.range.start, &text[token.range.start + 1..at], true)
        }
        Some(_) => return (at, Vec::new()),
        None => {
            let start = text[..at].trim_end_matches(is_word).len();
            (start, &text[start..at], false)
        }
    };
    let context = Context::new(text, start, known);
    let mut choices = Vec::new();
    match &context.qualifier {
        Some(qualifier) => context.offer_inside(qualifier, &mut choices),
        None if context.wants_relation() => context.offer_relations(&mut choices),
        None => context.offer_anything(start < at, &mut choices),
    }
    choices.retain(|choice| fits(choice, prefix));
    let spelled = choices.into_iter().map(|choice| spelled(choice, prefix, quoted));
    (start, distinct(spelled))
}

/// The choices at the end of a line with a backslash command.
pub(crate) fn complete_command(line: &str, known: &[Known]) -> Choices {
    let start = line.rfind(char::is_whitespace).map_or(0, |blank| blank + 1);
    let command = line.split_whitespace().next().unwrap_or("");
    let choices: Vec<String> = match command {
        _ if start == 0 => COMMANDS.map(str::to_owned).into(),
        "\\d" => {
            let name = |relation: &Known| spelled(Choice::Name(relation.name.clone()), "", false);
            known.iter().filter(|relation| !is_system(relation)).map(name).collect()
        }
        "\\x" | "\\timing" => vec!["on".to_owned(), "off".to_owned()],
        "\\h" => crate::shell::commands::topics().map(str::to_lowercase).collect(),
        _ => Vec::new(),
    };
    let fitting = choices.into_iter().filter(|choice| choice.starts_with(&line[start..]));
    (start, distinct(fitting))
}

/// A choice: a name, or a word whose case follows the input.
enum Choice {
    Name(String),
    Word(&'static str),
}

struct Context<'a> {
    text: &'a str,
    /// Start of the word at the cursor.
    start: usize,
    /// The statement's solid tokens before the word at the cursor.
    before: Vec<Token>,
    /// All solid tokens of the statement.
    all: Vec<Token>,
    qualifier: Option<String>,
    known: &'a [Known],
}

impl<'a> Context<'a> {
    fn new(text: &'a str, start: usize, known: &'a [Known]) -> Self {
        let mut all: Vec<Token> = tokens(text, 0).filter(Token::is_solid).collect();
        let is_end = |token: &Token| token.kind == Kind::Semicolon;
        if let Some(end) = all.iter().position(|token| is_end(token) && token.range.start >= start)
        {
            all.truncate(end);
        }
        if let Some(end) = all.iter().rposition(|token| is_end(token) && token.range.start < start)
        {
            all.drain(..=end);
        }
        let mut before = all.clone();
        before.retain(|token| token.range.end <= start);
        let mut context = Self { text, start, before, all, qualifier: None, known };
        context.qualifier = context.find_qualifier();
        context
    }

    fn word(&self, token: &Token) -> &'a str {
        &self.text[token.range.clone()]
    }

    fn find_qualifier(&self) -> Option<String> {
        let [.., qualifier, dot] = &self.before[..] else { return None };
        let adjacent = qualifier.range.end == dot.range.start && self.word(dot) == ".";
        adjacent.then(|| folded(self.word(qualifier)))
    }

    fn wants_relation(&self) -> bool {
        const BEFORE_RELATIONS: [&str; 8] =
            ["FROM", "JOIN", "INTO", "UPDATE", "TABLE", "VIEW", "COPY", "TRUNCATE"];
        let last = self.before.last().map(|token| self.word(token));
        last.is_some_and(|word| BEFORE_RELATIONS.contains(&word.to_uppercase().as_str()))
    }

    fn offer_inside(&self, qualifier: &str, choices: &mut Vec<Choice>) {
        for (relation, alias) in self.mentioned() {
            if relation.name == qualifier || alias.as_deref() == Some(qualifier) {
                choices.extend(relation.columns.iter().cloned().map(Choice::Name));
            }
        }
        let inside = self.known.iter().filter(|relation| relation.schema == qualifier);
        choices.extend(inside.map(|relation| Choice::Name(relation.name.clone())));
    }

    fn offer_relations(&self, choices: &mut Vec<Choice>) {
        let plain = self.known.iter().filter(|relation| !is_system(relation));
        choices.extend(plain.map(|relation| Choice::Name(relation.name.clone())));
        choices.extend(self.known.iter().map(|relation| Choice::Name(relation.schema.clone())));
    }

    /// Keywords and functions are offered only for a non-empty prefix: there are too many.
    fn offer_anything(&self, has_prefix: bool, choices: &mut Vec<Choice>) {
        for (relation, alias) in self.mentioned() {
            choices.extend(relation.columns.iter().cloned().map(Choice::Name));
            choices.extend(alias.map(Choice::Name));
        }
        if has_prefix {
            self.offer_relations(choices);
            choices.extend(KEYWORDS.iter().chain(FUNCTIONS).map(|word| Choice::Word(word)));
        }
    }

    /// The relations in the statement, with their aliases.
    fn mentioned(&self) -> Vec<(&'a Known, Option<String>)> {
        let mut mentioned = Vec::new();
        for (index, token) in self.all.iter().enumerate() {
            let name = folded(self.word(token));
            for relation in self.known.iter().filter(|relation| relation.name == name) {
                mentioned.push((relation, self.alias_after(index)));
            }
        }
        mentioned
    }

    /// The word after a relation, unless it is the word at the cursor.
    fn alias_after(&self, index: usize) -> Option<String> {
        let mut following = self.all[index + 1..].iter();
        let mut token = following.next()?;
        if self.word(token).eq_ignore_ascii_case("AS") {
            token = following.next()?;
        }
        let is_word = token.kind == Kind::Word && !is_keyword(self.word(token));
        let is_name = is_word || token.kind == Kind::QuotedName;
        (is_name && token.range.start != self.start).then(|| folded(self.word(token)))
    }
}

/// A name in the form of the catalog: lower case unless quoted.
fn folded(word: &str) -> String {
    match word.strip_prefix('"').map(|word| word.strip_suffix('"').unwrap_or(word)) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => word.to_lowercase(),
    }
}

fn fits(choice: &Choice, prefix: &str) -> bool {
    let text = match choice {
        Choice::Name(name) => name,
        Choice::Word(word) => *word,
    };
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Writes words in the case of the prefix, and quotes names if necessary.
fn spelled(choice: Choice, prefix: &str, quoted: bool) -> String {
    match choice {
        Choice::Word(word) if prefix.starts_with(|c: char| c.is_uppercase()) => word.to_uppercase(),
        Choice::Word(word) => word.to_lowercase(),
        Choice::Name(name) => {
            let plain = |c: char| c.is_lowercase() || c == '_' || c.is_ascii_digit();
            let starts = name.starts_with(|c: char| !c.is_ascii_digit());
            if !quoted && starts && name.chars().all(plain) && !is_keyword(&name) {
                name
            } else {
                format!("\"{}\"", name.replace('"', "\"\""))
            }
        }
    }
}

fn distinct(choices: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for choice in choices {
        if !kept.contains(&choice) {
            kept.push(choice);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<Known> {
        let relation = |schema: &str, name: &str, columns: &[&str]| Known {
            schema: schema.to_owned(),
            name: name.to_owned(),
            columns: columns.iter().map(|column| (*column).to_owned()).collect(),
        };
        vec![
            relation("public", "person", &["ssn", "name", "city"]),
            relation("public", "Pets", &["owner", "Kind"]),
            relation("pando", "buckets", &["table", "low"]),
        ]
    }

    /// The choices at `|`.
    fn at(marked: &str) -> Vec<String> {
        let at = marked.find('|').expect("a cursor");
        complete(&marked.replace('|', ""), at, &known()).1
    }

    #[test]
    fn relations_follow_from() {
        assert_eq!(at("select * from |"), ["person", "\"Pets\"", "public", "pando"]);
        assert_eq!(at("select * from pe|"), ["person", "\"Pets\""]);
        assert_eq!(at("select * from pando.|"), ["buckets"]);
    }

    #[test]
    fn columns_of_the_tables_in_the_statement() {
        assert_eq!(at("select | from person"), ["ssn", "name", "city"]);
        assert_eq!(at("select p.n| from person as p"), ["name"]);
        assert_eq!(at("select person.c| from person"), ["city"]);
        assert_eq!(at("select x.| from \"Pets\" x where"), ["owner", "\"Kind\""]);
        assert_eq!(at("select ssn from person; select |"), Vec::<String>::new());
    }

    #[test]
    fn words_have_the_case_of_the_prefix() {
        assert_eq!(at("sel|"), ["select"]);
        assert_eq!(at("SEL|"), ["SELECT"]);
        assert_eq!(at("select coal|"), ["coalesce"]);
        assert_eq!(at("select name from person wher|"), ["where"]);
    }

    #[test]
    fn an_open_quote_is_completed() {
        assert_eq!(at("select * from \"Pe|"), ["\"person\"", "\"Pets\""]);
    }

    #[test]
    fn commands_and_their_arguments() {
        assert_eq!(complete_command("\\d", &known()).1, ["\\d", "\\dn", "\\dt", "\\dv"]);
        assert_eq!(complete_command("\\d per", &known()), (3, vec!["person".to_owned()]));
        assert_eq!(complete_command("\\timing of", &known()).1, ["off"]);
    }

    #[test]
    fn nothing_inside_texts_and_comments() {
        for text in ["select 'sel|", "-- sel|", "select $$ sel|", "/* sel|"] {
            assert_eq!(at(text), Vec::<String>::new(), "{text}");
        }
    }
}
