//! The line editor: several lines, history, completion and highlighting.
//!
//! The input stays in the editor until it is complete, so every line can be edited.

use super::completion;
use super::keywords::is_keyword;
use super::names::Known;
use crate::shell::text::lexer::{Kind, tokens};
use crate::shell::text::splitter::is_complete;
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

/// Maximum number of statements in the history.
const HISTORY_MAX: usize = 10_000;

/// A line editor for SQL.
pub(crate) struct Editor {
    lines: rustyline::Editor<Assistant, FileHistory>,
    history: Option<PathBuf>,
}

/// Typed input.
pub(crate) enum Typed {
    /// Complete statements, or a command.
    Text(String),
    /// Ctrl-C: the input is dropped.
    Nothing,
    /// Ctrl-D.
    End,
}

impl Editor {
    /// Creates an editor and reads its history.
    pub(crate) fn new() -> anyhow::Result<Self> {
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
            // An unreadable history is ignored.
            let _ = lines.load_history(file);
        }
        Ok(Self { lines, history })
    }

    /// Sets the names for completion.
    pub(crate) fn set_names(&mut self, known: Vec<Known>) {
        if let Some(assistant) = self.lines.helper_mut() {
            assistant.known = known;
        }
    }

    /// Reads complete statements or a command.
    pub(crate) fn read(&mut self, prompt: &str) -> anyhow::Result<Typed> {
        let typed = self.read_as(prompt, true)?;
        if let Typed::Text(text) = &typed {
            self.remember(text.trim());
        }
        Ok(typed)
    }

    /// Reads a line of data.
    pub(crate) fn read_line(&mut self, prompt: &str) -> anyhow::Result<Typed> {
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
            // An unwritable history is ignored.
            let _ = self.lines.append_history(file);
        }
    }
}

/// `PANDO_HISTORY`, else a file in the home directory.
fn history_file() -> Option<PathBuf> {
    match env::var_os("PANDO_HISTORY") {
        Some(file) => (!file.is_empty()).then(|| file.into()),
        None => Some(env::home_dir()?.join(".pando_history")),
    }
}

/// The callbacks of the line editor.
#[derive(Helper, Hinter)]
struct Assistant {
    known: Vec<Known>,
    files: FilenameCompleter,
    /// Whether the input is SQL; else it is data.
    is_sql: bool,
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let is_done = !self.is_sql || is_complete(context.input());
        Ok(if is_done { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
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
            // In data, Tab separates columns.
            let tab = Pair { display: String::new(), replacement: "\t".to_owned() };
            return Ok((at, vec![tab]));
        }
        if line.starts_with("\\i ") {
            return self.files.complete_path(line, at);
        }
        let (start, choices) = if line.starts_with('\\') {
            completion::complete_command(&line[..at], &self.known)
        } else {
            completion::complete(line, at, &self.known)
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
            write!(out, "{}", style.apply_to(text)).expect("writing to a String never fails");
        }
        Cow::Owned(out)
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}
