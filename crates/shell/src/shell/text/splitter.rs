//! Splits a script into statements and backslash commands while it is read.
//!
//! A statement ends at a semicolon outside quotes and comments. A backslash command begins with a backslash where a
//! statement could begin, and ends with the line.

use super::lexer::{Kind, tokens};

/// A statement or command of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) kind: PieceKind,
    /// The text without surrounding blanks and the semicolon.
    pub(crate) text: String,
    /// The line of the script on which it begins, from 1.
    pub(crate) line: usize,
}

/// The kind of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceKind {
    Statement,
    Command,
}

/// Splits a script, which is pushed in parts of any size, into pieces.
#[derive(Debug)]
pub(crate) struct Splitter {
    /// The text from the start of the incomplete piece on.
    buffer: String,
    /// Bytes of the buffer that have no semicolon.
    scanned: usize,
    /// The line on which the buffer begins.
    line: usize,
}

impl Splitter {
    pub(crate) fn new() -> Self {
        Self { buffer: String::new(), scanned: 0, line: 1 }
    }

    /// Adds text of the script.
    pub(crate) fn push(&mut self, text: &str) {
        self.buffer.push_str(text);
    }

    /// The next piece, if it is complete.
    pub(crate) fn next_complete(&mut self) -> Option<Piece> {
        self.skip_blanks();
        if self.buffer.starts_with('\\') {
            let end = self.buffer.find('\n')?;
            return Some(self.take(PieceKind::Command, end, end));
        }
        let end = self.find_semicolon()?;
        Some(self.take(PieceKind::Statement, end, end + 1))
    }

    /// The last piece at the end of the script; `None` if only blanks and comments are left.
    pub(crate) fn finish(&mut self) -> Option<Piece> {
        self.skip_blanks();
        let command = self.buffer.starts_with('\\');
        let kind = if command { PieceKind::Command } else { PieceKind::Statement };
        let end = self.buffer.len();
        let solid = command || tokens(&self.buffer, 0).any(|token| token.is_solid());
        let piece = self.take(kind, end, end);
        solid.then_some(piece)
    }

    /// The next line with its line break, for COPY's data.
    pub(crate) fn next_line(&mut self) -> Option<String> {
        let end = self.buffer.find('\n')? + 1;
        let line = self.buffer[..end].to_owned();
        self.drop_to(end);
        Some(line)
    }

    /// The rest of the text.
    pub(crate) fn rest(&mut self) -> String {
        let rest = self.buffer.clone();
        self.drop_to(rest.len());
        rest
    }

    /// Remembers the scanned bytes, so that a long statement is scanned once.
    fn find_semicolon(&mut self) -> Option<usize> {
        let mut last = self.scanned;
        for token in tokens(&self.buffer, self.scanned) {
            if token.kind == Kind::Semicolon {
                return Some(token.range.start);
            }
            last = token.range.start;
        }
        self.scanned = last;
        None
    }

    fn take(&mut self, kind: PieceKind, end: usize, next: usize) -> Piece {
        let text = self.buffer[..end].trim_end().to_owned();
        let line = self.line;
        self.drop_to(next);
        Piece { kind, text, line }
    }

    /// Skips blanks and comments between pieces, so that a command may follow a comment.
    fn skip_blanks(&mut self) {
        let skipped = tokens(&self.buffer, 0)
            .take_while(|token| token.closed && !token.is_solid())
            .last()
            .map_or(0, |token| token.range.end);
        if skipped > 0 {
            self.drop_to(skipped);
        }
    }

    fn drop_to(&mut self, at: usize) {
        self.line += self.buffer[..at].matches('\n').count();
        self.buffer.drain(..at);
        self.scanned = 0;
    }
}

/// Whether what was typed can be run: it is a command, or ends with a complete statement, or is nothing.
pub(crate) fn is_complete(text: &str) -> bool {
    let mut splitter = Splitter::new();
    splitter.push(text);
    splitter.push("\n");
    while splitter.next_complete().is_some() {}
    splitter.finish().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(parts: &[&str]) -> Vec<(usize, String)> {
        let mut splitter = Splitter::new();
        let mut pieces = Vec::new();
        for part in parts {
            splitter.push(part);
            pieces.extend(std::iter::from_fn(|| splitter.next_complete()));
        }
        pieces.extend(splitter.finish());
        pieces.into_iter().map(|piece| (piece.line, piece.text)).collect()
    }

    #[test]
    fn statements_end_at_semicolons_outside_quotes() {
        let script = "select ';' ; select \"a;\" -- ;\n from t;\n\nselect $$;\n;$$ /* ; */";
        let expected = [
            (1, "select ';'".to_owned()),
            (1, "select \"a;\" -- ;\n from t".to_owned()),
            (4, "select $$;\n;$$ /* ; */".to_owned()),
        ];
        assert_eq!(split(&[script]), expected);
    }

    #[test]
    fn the_size_of_the_parts_does_not_matter() {
        let script =
            "select 'a;b' ;\n\\d t\n/* ; */ insert into t values ($$;$$, E'\\';');\n-- end";
        let whole = split(&[script]);
        assert_eq!(whole.len(), 3);
        for size in 1..script.len() {
            let chars: Vec<char> = script.chars().collect();
            let parts: Vec<String> = chars.chunks(size).map(|part| part.iter().collect()).collect();
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            assert_eq!(split(&parts), whole, "{size}");
        }
    }

    #[test]
    fn a_command_is_a_line_where_a_statement_could_begin() {
        let pieces = split(&["\\timing\n -- why\n\\d t\nselect 1\n\\x;"]);
        let expected =
            [(1, "\\timing".to_owned()), (3, "\\d t".to_owned()), (4, "select 1\n\\x".to_owned())];
        assert_eq!(pieces, expected);
    }

    #[test]
    fn lines_of_data_are_left_alone() {
        let mut splitter = Splitter::new();
        splitter.push("copy t from stdin;\n1\t';\n\\.\nselect 1;");
        assert_eq!(splitter.next_complete().map(|piece| piece.line), Some(1));
        let lines = std::iter::from_fn(|| splitter.next_line()).collect::<Vec<_>>();
        assert_eq!(lines, ["\n", "1\t';\n", "\\.\n"]);
        assert_eq!(splitter.next_complete().map(|piece| piece.line), Some(4));
    }

    #[test]
    fn comments_alone_are_nothing() {
        assert_eq!(split(&["-- a\n /* b */ "]), []);
    }

    #[test]
    fn typing_is_over_with_the_semicolon() {
        for complete in ["", "  ", "select 1;", "\\d", "select 1; -- done", "select ';';"] {
            assert!(is_complete(complete), "{complete}");
        }
        for open in ["select 1", "select ';", "select 1; select", "select $$;", "-- a\nselect"] {
            assert!(!is_complete(open), "{open}");
        }
    }
}
