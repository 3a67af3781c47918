//! What a session keeps that a new one would not have.

/// Tags of statements that leave something in the session.
const LEAVING: [&str; 5] = ["SET", "PREPARE", "LISTEN", "LOAD", "DECLARE CURSOR"];
/// Tags of statements that leave something if they name it so.
const MAKING: [&str; 5] =
    ["CREATE TABLE", "SELECT", "CREATE VIEW", "CREATE SEQUENCE", "CREATE TABLE AS"];

/// Whether a session has something to lose.
#[derive(Debug, Default)]
pub(super) struct Kept {
    temporary: bool,
    anything: bool,
}

impl Kept {
    /// A statement is run.
    pub(super) fn statement(&mut self, text: &str) {
        let text = text.to_ascii_lowercase();
        self.temporary = text.contains("temp");
        self.anything |= text.contains("set_config") || text.contains("advisory");
    }

    /// It is complete.
    pub(super) fn done(&mut self, tag: &str) {
        let making = MAKING.iter().any(|made| tag.starts_with(made));
        self.anything |= LEAVING.contains(&tag) || (self.temporary && making);
    }

    /// Whether there is something to lose.
    pub(super) fn anything(&self) -> bool {
        self.anything
    }

    /// What is lost with the connection, to be added to what else is.
    pub(super) fn loss(&self) -> &'static str {
        match self.anything {
            true => " Settings, prepared statements and temporary tables of the session are gone.",
            false => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str, tag: &str) -> bool {
        let mut kept = Kept::default();
        kept.statement(text);
        kept.done(tag);
        kept.anything()
    }

    #[test]
    fn settings_and_temporary_tables_can_be_lost() {
        assert!(kept("SET search_path = a", "SET"));
        assert!(kept("create temp table t (n int)", "CREATE TABLE"));
        assert!(!kept("create table t (n int)", "CREATE TABLE"));
        assert!(!kept("update temperatures set n = 1", "UPDATE 1"));
    }
}
