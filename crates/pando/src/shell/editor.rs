//! Typing: editing over several lines, history, completion, colours.
//!
//! What is typed stays in the editor until it is complete, so that every line of it can still be changed.

use super::completion::{self, Known};
use super::keywords::is_keyword;
use super::lexer::{Kind, tokens};
use super::splitter::is_complete;
use crate::terminal::strong;
use console::Style;
use futures::StreamExt;
use pando::{Session, catalog::RESERVED_SCHEMAS, text::TextColumn};
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Helper, Hinter};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::path::PathBuf;

/// Statements that are remembered.
const HISTORY_MAX: usize = 10_000;

/// A line editor for SQL.
pub(super) struct Editor {
    lines: rustyline::Editor<Assistant, FileHistory>,
    history: Option<PathBuf>,
}

/// What a user typed.
pub(super) enum Typed {
    /// Complete statements, or a command.
    Text(String),
    /// Ctrl-C: what was typed is dropped.
    Nothing,
    /// Ctrl-D.
    End,
}

impl Editor {
    /// An editor that completes what the session knows.
    pub(super) async fn new(session: &Session) -> anyhow::Result<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY_MAX)?
            .history_ignore_dups(true)?
            .completion_type(CompletionType::List)
            .build();
        let mut lines = rustyline::Editor::with_config(config)?;
        let system = system_tables(session).await;
        let files = FilenameCompleter::new();
        lines.set_helper(Some(Assistant { session: session.clone(), system, files }));
        let history = history_file();
        if let Some(file) = history.as_ref().filter(|file| file.exists()) {
            // A history that cannot be read is no reason not to work.
            let _ = lines.load_history(file);
        }
        Ok(Self { lines, history })
    }

    /// Reads until what is typed is complete.
    pub(super) fn read(&mut self, prompt: &str) -> anyhow::Result<Typed> {
        match self.lines.readline(&(prompt, strong(prompt))) {
            Ok(text) => {
                self.remember(text.trim());
                Ok(Typed::Text(text))
            }
            Err(ReadlineError::Interrupted) => Ok(Typed::Nothing),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(error.into()),
        }
    }

    fn remember(&mut self, text: &str) {
        if text.is_empty() || !self.lines.add_history_entry(text).unwrap_or(false) {
            return;
        }
        if let Some(file) = &self.history {
            // As above: a history that cannot be written is no reason not to work.
            let _ = self.lines.append_history(file);
        }
    }
}

/// `PANDO_HISTORY`, else a file in the home directory; none where there is no home.
fn history_file() -> Option<PathBuf> {
    match env::var_os("PANDO_HISTORY") {
        Some(file) => (!file.is_empty()).then(|| file.into()),
        None => Some(env::home_dir()?.join(".pando_history")),
    }
}

/// The system's tables, which no catalog holds. Without them completion offers less, and that is all.
async fn system_tables(session: &Session) -> Vec<Known> {
    const COLUMNS: &str = "SELECT table_schema, table_name, column_name \
                           FROM information_schema.columns ORDER BY ordinal_position";
    let mut tables: BTreeMap<[String; 2], Vec<String>> = BTreeMap::new();
    let Ok(mut rows) = session.query(COLUMNS).await else { return Vec::new() };
    while let Some(Ok(batch)) = rows.stream.next().await {
        let columns = batch.columns().iter().map(|column| TextColumn::new(column));
        let Ok(columns) = columns.collect::<Result<Vec<_>, _>>() else { return Vec::new() };
        for row in 0..batch.num_rows() {
            let text = |column: &TextColumn<'_>| {
                let mut text = String::new();
                column.write(row, &mut text);
                text
            };
            if let [schema, table, column] = &columns[..] {
                tables.entry([text(schema), text(table)]).or_default().push(text(column));
            }
        }
    }
    let tables =
        tables.into_iter().map(|([schema, name], columns)| Known { schema, name, columns });
    tables.filter(|table| RESERVED_SCHEMAS.contains(&table.schema.as_str())).collect()
}

/// What the line editor asks us.
#[derive(Helper, Hinter)]
struct Assistant {
    session: Session,
    system: Vec<Known>,
    files: FilenameCompleter,
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_complete(context.input()) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        if line.starts_with("\\i ") {
            return self.files.complete_path(line, at);
        }
        let mut known = completion::known_in(&self.session.catalog());
        known.extend_from_slice(&self.system);
        let (start, choices) = match line.starts_with('\\') {
            true => completion::complete_command(&line[..at], &known),
            false => completion::complete(line, at, &known),
        };
        let pair = |choice: String| Pair { display: choice.clone(), replacement: choice };
        Ok((start, choices.into_iter().map(pair).collect()))
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if line.starts_with('\\') || !console::colors_enabled() {
            return Cow::Borrowed(line);
        }
        let mut out = String::with_capacity(line.len() * 2);
        for token in tokens(line, 0) {
            let text = &line[token.range];
            let style = match token.kind {
                Kind::Word if is_keyword(text) => Style::new().blue().bold(),
                Kind::Text => Style::new().green(),
                Kind::Comment => Style::new().dim(),
                _ => Style::new(),
            };
            write!(out, "{}", style.apply_to(text)).expect("a String takes everything");
        }
        Cow::Owned(out)
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}
