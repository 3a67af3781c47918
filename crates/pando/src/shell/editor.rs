//! Typing: editing over several lines, history, completion, colours.
//!
//! What is typed stays in the editor until it is complete, so that every line of it can still be changed.

use super::completion;
use super::keywords::is_keyword;
use super::lexer::{Kind, tokens};
use super::names::Known;
use super::splitter::is_complete;
use crate::terminal::strong;
use console::Style;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Helper, Hinter};
use std::borrow::Cow;
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
    /// An editor that completes what it is told.
    pub(super) fn new() -> anyhow::Result<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY_MAX)?
            .history_ignore_dups(true)?
            .completion_type(CompletionType::List)
            .build();
        let mut lines = rustyline::Editor::with_config(config)?;
        let (known, files) = (Vec::new(), FilenameCompleter::new());
        lines.set_helper(Some(Assistant { known, files, is_sql: true }));
        let history = history_file();
        if let Some(file) = history.as_ref().filter(|file| file.exists()) {
            // A history that cannot be read is no reason not to work.
            let _ = lines.load_history(file);
        }
        Ok(Self { lines, history })
    }

    /// From now on these names are completed.
    pub(super) fn know(&mut self, known: Vec<Known>) {
        if let Some(assistant) = self.lines.helper_mut() {
            assistant.known = known;
        }
    }

    /// Reads until what is typed is complete.
    pub(super) fn read(&mut self, prompt: &str) -> anyhow::Result<Typed> {
        let typed = self.read_as(prompt, true)?;
        if let Typed::Text(text) = &typed {
            self.remember(text.trim());
        }
        Ok(typed)
    }

    /// Reads a line that is no statement.
    pub(super) fn read_line(&mut self, prompt: &str) -> anyhow::Result<Typed> {
        self.read_as(prompt, false)
    }

    fn read_as(&mut self, prompt: &str, is_sql: bool) -> anyhow::Result<Typed> {
        if let Some(assistant) = self.lines.helper_mut() {
            assistant.is_sql = is_sql;
        }
        match self.lines.readline(&(prompt, strong(prompt))) {
            Ok(text) => Ok(Typed::Text(text)),
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

/// What the line editor asks us.
#[derive(Helper, Hinter)]
struct Assistant {
    known: Vec<Known>,
    files: FilenameCompleter,
    /// Else it is data.
    is_sql: bool,
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match !self.is_sql || is_complete(context.input()) {
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
        if !self.is_sql {
            // Columns of data have tabs between them.
            let tab = Pair { display: String::new(), replacement: "\t".to_owned() };
            return Ok((at, vec![tab]));
        }
        if line.starts_with("\\i ") {
            return self.files.complete_path(line, at);
        }
        let (start, choices) = match line.starts_with('\\') {
            true => completion::complete_command(&line[..at], &self.known),
            false => completion::complete(line, at, &self.known),
        };
        let pair = |choice: String| Pair { display: choice.clone(), replacement: choice };
        Ok((start, choices.into_iter().map(pair).collect()))
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if !self.is_sql || line.starts_with('\\') || !console::colors_enabled() {
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
