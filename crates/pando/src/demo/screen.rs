//! Lines on a terminal that are drawn again in the same place.

use crate::output::{cut, text_width};
use crate::terminal::Terminal;
use std::fmt::Write as _;
use std::io::{self, Write as _, stdout};

/// The lines that were drawn last, which the next ones take the place of.
pub(super) struct Screen {
    terminal: Terminal,
    drawn: usize,
}

impl Screen {
    /// The terminal that output goes to; `None` where it goes elsewhere.
    pub(super) fn of_output() -> Option<Self> {
        let terminal = Terminal::of_output();
        terminal.is_interactive().then_some(Self { terminal, drawn: 0 })
    }

    /// Columns of a line.
    pub(super) fn width(&self) -> usize {
        const USUAL: usize = 80;
        self.terminal.width().unwrap_or(USUAL)
    }

    /// Draws the lines over those that were drawn before, in one write so that nothing flickers.
    pub(super) fn draw(&mut self, lines: &[String]) -> io::Result<()> {
        let frame = frame(self.drawn, lines, self.width());
        self.drawn = lines.len();
        let mut out = stdout().lock();
        out.write_all(frame.as_bytes())?;
        out.flush()
    }
}

/// Up over the old lines, the new ones each to the end of the line, and nothing below.
fn frame(above: usize, lines: &[String], width: usize) -> String {
    let mut frame = String::new();
    if above > 0 {
        write!(frame, "\x1b[{above}A").expect("a String takes everything");
    }
    for line in lines {
        let fits = text_width(line) <= width;
        frame.push_str(&if fits { line.clone() } else { cut(line, width) });
        frame.push_str("\x1b[K\n");
    }
    frame.push_str("\x1b[J");
    frame
}

#[cfg(test)]
mod tests {
    use super::frame;

    #[test]
    fn a_frame_takes_the_place_of_the_one_before() {
        let lines = ["ab".to_owned(), "abcdef".to_owned()];
        assert_eq!(frame(0, &lines, 4), "ab\x1b[K\nabc…\x1b[K\n\x1b[J");
        assert!(frame(3, &lines, 4).starts_with("\x1b[3A"));
    }
}
