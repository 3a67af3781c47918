//! Whether a session has state that a new session would not have.

/// Tags of statements that change the state of the session.
const CHANGING: [&str; 5] = ["SET", "PREPARE", "LISTEN", "LOAD", "DECLARE CURSOR"];
/// Tags of statements that can create temporary relations.
const CREATING: [&str; 5] =
    ["CREATE TABLE", "SELECT", "CREATE VIEW", "CREATE SEQUENCE", "CREATE TABLE AS"];

/// Whether a session has state.
#[derive(Debug, Default)]
pub(super) struct SessionState {
    /// Whether the running statement mentions temporary relations.
    is_temporary: bool,
    is_changed: bool,
}

impl SessionState {
    /// Notes the text of a statement that is run.
    pub(super) fn statement(&mut self, text: &str) {
        let text = text.to_ascii_lowercase();
        self.is_temporary = text.contains("temp");
        self.is_changed |= text.contains("set_config") || text.contains("advisory");
    }

    /// Notes the tag of a completed statement.
    pub(super) fn done(&mut self, tag: &str) {
        let creates = CREATING.iter().any(|creating| tag.starts_with(creating));
        self.is_changed |= CHANGING.contains(&tag) || (self.is_temporary && creates);
    }

    /// Whether the session has state.
    pub(super) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// A sentence on the lost state for the detail of an error, or nothing.
    pub(super) fn loss(&self) -> &'static str {
        if !self.is_changed {
            return "";
        }
        " Settings, prepared statements and temporary tables of the session are lost."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_changed(text: &str, tag: &str) -> bool {
        let mut state = SessionState::default();
        state.statement(text);
        state.done(tag);
        state.is_changed()
    }

    #[test]
    fn settings_and_temporary_tables_are_state() {
        assert!(is_changed("SET search_path = a", "SET"));
        assert!(is_changed("create temp table t (n int)", "CREATE TABLE"));
        assert!(!is_changed("create table t (n int)", "CREATE TABLE"));
        assert!(!is_changed("update temperatures set n = 1", "UPDATE 1"));
    }
}
