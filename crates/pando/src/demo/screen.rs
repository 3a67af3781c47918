//! Lines on a terminal that are redrawn in place.

use shell::output::{cut, text_width};
use shell::terminal::Terminal;
use std::fmt::Write as _;
use std::io::{self, Write as _, stdout};

/// A terminal, and the number of lines that the next frame replaces.
pub(super) struct Screen {
    terminal: Terminal,
    drawn: usize,
}

impl Screen {
    /// The terminal of standard output; `None` if it is not a terminal.
    pub(super) fn of_output() -> Option<Self> {
        let terminal = Terminal::of_output();
        terminal.is_interactive().then_some(Self { terminal, drawn: 0 })
    }

    /// Width in columns.
    pub(super) fn width(&self) -> usize {
        const USUAL: usize = 80;
        self.terminal.width().unwrap_or(USUAL)
    }

    /// Replaces the previous lines, in one write to avoid flicker.
    pub(super) fn draw(&mut self, lines: &[String]) -> io::Result<()> {
        let frame = frame(self.drawn, lines, self.width());
        self.drawn = lines.len();
        let mut out = stdout().lock();
        out.write_all(frame.as_bytes())?;
        out.flush()
    }
}

/// The control sequences and text of a frame: moves up over the old lines, and clears the rest of each line and of the screen.
fn frame(above: usize, lines: &[String], width: usize) -> String {
    let mut frame = String::new();
    if above > 0 {
        write!(frame, "\x1b[{above}A").expect("writing to a String never fails");
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
    fn a_frame_replaces_the_previous_one() {
        let lines = ["ab".to_owned(), "abcdef".to_owned()];
        assert_eq!(frame(0, &lines, 4), "ab\x1b[K\nabc…\x1b[K\n\x1b[J");
        assert!(frame(3, &lines, 4).starts_with("\x1b[3A"));
    }
}
