//! NEW and OLD as whole rows, written out by their columns.
//!
//! A function of a trigger belongs to a table when it runs, so the columns of the two rows are known. `NEW.*` becomes a list
//! of columns, a row that is compared becomes `ROW(...)`, and the argument of a function that makes JSON of a row becomes a
//! row of a subquery with these columns. Everything else stays as it is.

use crate::tokens::{Kind, Token, tokens};

/// Functions that make JSON of a row.
const OF_ROW: [&str; 3] = ["row_to_json", "to_json", "to_jsonb"];

/// Functions that make JSON of any arguments.
const OF_ALL: [&str; 4] =
    ["json_build_array", "json_build_object", "jsonb_build_array", "jsonb_build_object"];

/// Functions that make a row of the type of a row.
const OF_TYPE: [&str; 2] = ["json_populate_record", "jsonb_populate_record"];

/// What NEW and OLD of a table with these columns are in a text.
pub struct WrittenRows<'a> {
    /// The names of the columns.
    pub columns: &'a [&'a str],
    /// The type of the rows, as it is written in a cast.
    pub row_type: &'a str,
    /// Whether the text is the source of a function, where one of the rows may not exist and is NULL then.
    pub may_be_absent: bool,
}

impl WrittenRows<'_> {
    /// The text, in which the rows are written out. One that cannot be read stays as it is.
    pub fn in_text(&self, source: &str) -> String {
        let (columns, row_type) = (self.columns, self.row_type);
        let may_be_absent = self.may_be_absent;
        let of = Row { columns, row_type, may_be_absent, ..Row::default() };
        written_out(source, &["new", "old"], of)
    }
}

/// An expression in which a record with these fields is written out. One that was never assigned has no fields, and is NULL.
pub(crate) fn with_whole_row(text: &str, name: &str, columns: &[&str], is_null: bool) -> String {
    let is_name =
        |kind: &Kind| matches!(kind, Kind::Word(word) | Kind::Quoted(word) if word == name);
    match tokens(text) {
        Ok(all) if matches!(all.as_slice(), [only] if is_name(&only.kind)) => match is_null {
            true => "NULL".to_owned(),
            false => format!("ROW({})", Row { name, columns, ..Row::default() }.list()),
        },
        _ => {
            let is_unset = columns.is_empty();
            written_out(text, &[name], Row { columns, is_unset, ..Row::default() })
        }
    }
}

/// The fields of a row that a text names as `r.a`.
pub(crate) fn fields_of(text: &str, row: &str) -> Vec<String> {
    let name = |token: &Token| match &token.kind {
        Kind::Word(word) | Kind::Quoted(word) => Some(word.clone()),
        _ => None,
    };
    let field = |three: &[Token]| match three {
        [of, point, field] if point.kind == Kind::Symbol(".") => {
            name(field).filter(|_| name(of).as_deref() == Some(row))
        }
        _ => None,
    };
    tokens(text).map(|all| all.windows(3).filter_map(field).collect()).unwrap_or_default()
}

/// A statement in which `r.*` and `r.*::text` of a record with these fields are written out, unless the name is that of
/// something else, too.
pub(crate) fn with_stars(text: &str, name: &str, columns: &[&str]) -> String {
    let Ok(all) = tokens(text) else { return text.to_owned() };
    let is_name = |at: usize| matches!(&all[at].kind, Kind::Word(word) if word == name);
    let is = |at: usize, symbol: &str| match all.get(at).map(|token| &token.kind) {
        Some(Kind::Symbol(other)) => *other == symbol,
        Some(Kind::Other(other)) => symbol.chars().eq([*other]),
        _ => false,
    };
    let named: Vec<usize> = (0..all.len()).filter(|at| is_name(*at)).collect();
    if named.iter().any(|at| !is(at + 1, ".")) {
        return text.to_owned();
    }
    let (mut result, mut copied) = (String::with_capacity(text.len()), 0);
    for at in named.into_iter().filter(|at| is(at + 2, "*") && (*at == 0 || !is(at - 1, "."))) {
        result.push_str(&text[copied..all[at].start]);
        let row = Row { name, columns, ..Row::default() };
        let is_as_text = is(at + 3, "::") && word(&all, at + 4) == Some("text");
        let (written, last) = match is_as_text {
            true => (row.as_value("r_::text"), at + 4),
            false => (row.list(), at + 2),
        };
        result.push_str(&written);
        copied = all[last].end;
    }
    result.push_str(&text[copied..]);
    result
}

/// A text in which rows of some names, which are alike otherwise, are written out.
fn written_out(source: &str, rows: &[&str], of: Row<'_>) -> String {
    let Ok(all) = tokens(source) else { return source.to_owned() };
    let mut result = String::with_capacity(source.len());
    let (mut copied, mut around) = (0, Vec::new());
    for (at, token) in all.iter().enumerate() {
        match &token.kind {
            Kind::Symbol("(") => around.push(at.checked_sub(1).and_then(|at| word(&all, at))),
            Kind::Symbol(")") => drop(around.pop()),
            Kind::Word(row) if rows.contains(&row.as_str()) && token.start >= copied => {
                let place = Place { all: &all, at, function: around.last().copied().flatten() };
                let row = Row { name: row, ..of };
                if let Some((from, to, text)) = place.written(&row) {
                    let start = all[from].start.max(copied);
                    result.push_str(&source[copied..start]);
                    result.push_str(&text);
                    copied = all[to].end;
                }
            }
            _ => {}
        }
    }
    result.push_str(&source[copied..]);
    result
}

/// The word at a place.
fn word(all: &[Token], at: usize) -> Option<&str> {
    match &all.get(at)?.kind {
        Kind::Word(word) => Some(word),
        _ => None,
    }
}

/// A row by its columns.
#[derive(Clone, Copy, Default)]
struct Row<'a> {
    name: &'a str,
    columns: &'a [&'a str],
    /// The type, as it is written in a cast; empty if it has none.
    row_type: &'a str,
    /// Whether it is a record that was never assigned.
    is_unset: bool,
    /// Whether it is NEW or OLD of a function, and NULL where a change has no such row.
    may_be_absent: bool,
}

impl Row<'_> {
    fn list(&self) -> String {
        let quoted = |column: &&str| format!("{}.\"{}\"", self.name, column.replace('"', "\"\""));
        self.columns.iter().map(quoted).collect::<Vec<_>>().join(", ")
    }

    /// What a function makes of it.
    fn in_function(&self, function: &str) -> String {
        self.as_value(&format!("{function}(r_)"))
    }

    /// A value of the row, which the value calls `r_`.
    fn as_value(&self, value: &str) -> String {
        let value = format!("(SELECT {value} FROM (SELECT {}) AS r_)", self.list());
        let without = if self.name == "new" { "DELETE" } else { "INSERT" };
        match self.may_be_absent {
            true => {
                format!("(CASE WHEN tg_level = 'ROW' AND tg_op <> '{without}' THEN {value} END)")
            }
            false => value,
        }
    }
}

/// Where a row stands.
struct Place<'a> {
    all: &'a [Token],
    at: usize,
    /// The function whose arguments are around.
    function: Option<&'a str>,
}

impl Place<'_> {
    fn is(&self, at: usize, text: &str) -> bool {
        match self.all.get(at).map(|token| &token.kind) {
            Some(Kind::Word(word)) => word == text,
            Some(Kind::Symbol(symbol)) => *symbol == text,
            Some(Kind::Other(other)) => text.chars().eq([*other]),
            _ => false,
        }
    }

    fn is_before(&self, text: &str) -> bool {
        self.at.checked_sub(1).is_some_and(|at| self.is(at, text))
    }

    /// The first and the last token that are replaced, and the text in their place.
    fn written(&self, row: &Row<'_>) -> Option<(usize, usize, String)> {
        if self.is_before(".") {
            return None;
        }
        let has_star = self.is(self.at + 1, ".") && self.is(self.at + 2, "*");
        if !has_star && self.is(self.at + 1, ".") {
            return None;
        }
        let last = if has_star { self.at + 2 } else { self.at };
        if row.is_unset {
            let is_other = has_star || self.is(last + 1, "(") || self.is(last + 1, "=>");
            let is_value = !is_other && !self.is_before("::");
            return is_value.then(|| (self.at, last, "NULL".to_owned()));
        }
        let operators = ["=", "<>", "!="];
        let is_compared = operators.iter().any(|of| self.is(last + 1, of) || self.is_before(of))
            || self.is(last + 1, "is")
            || self.is_before("from") && self.at >= 2 && self.is(self.at - 2, "distinct");
        if is_compared && !self.is_target() {
            return Some((self.at, last, format!("ROW({})", row.list())));
        }
        let is_as_text = self.is(last + 1, "::") && self.is(last + 2, "text");
        if is_as_text && row.may_be_absent {
            return Some((self.at, last + 2, row.as_value("r_::text")));
        }
        if is_as_text && has_star {
            return Some((self.at, last, format!("ROW({})", row.list())));
        }
        if has_star {
            return Some((self.at, last, row.list()));
        }
        let is_argument = (self.is_before("(") || self.is_before(","))
            && (self.is(last + 1, ")") || self.is(last + 1, ","));
        let function = self.function.filter(|_| is_argument)?;
        let is_only = self.is_before("(") && self.is(last + 1, ")");
        if OF_ROW.contains(&function) && is_only {
            return Some((self.at - 2, last + 1, row.in_function(function)));
        }
        if OF_TYPE.contains(&function) && !row.row_type.is_empty() {
            let typed = format!("ROW({})::{}", row.list(), row.row_type);
            return Some((self.at, last, typed));
        }
        OF_ALL.contains(&function).then(|| (self.at, last, row.in_function("to_jsonb")))
    }

    /// Whether the row begins an assignment: `NEW = r`.
    fn is_target(&self) -> bool {
        let Some(before) = self.at.checked_sub(1) else { return false };
        let begins = [";", "begin", "then", "else", "loop"];
        self.is(self.at + 1, "=") && begins.iter().any(|word| self.is(before, word))
    }
}

#[cfg(test)]
mod tests {
    use super::{WrittenRows, fields_of, with_whole_row};

    fn written(source: &str) -> String {
        let columns = &["a", "b"];
        WrittenRows { columns, row_type: "s.t", may_be_absent: false }.in_text(source)
    }

    #[test]
    fn rows_are_written_out_where_they_stand_for_all_columns() {
        let list = |row: &str| format!("{row}.\"a\", {row}.\"b\"");
        let (new, old) = (list("new"), list("old"));
        assert_eq!(written("VALUES (NEW.*, 1)"), format!("VALUES ({new}, 1)"));
        assert_eq!(
            written("IF OLD.* IS DISTINCT FROM NEW.* THEN"),
            format!("IF ROW({old}) IS DISTINCT FROM ROW({new}) THEN")
        );
        assert_eq!(written("(NEW.*::text)"), format!("(ROW({new})::text)"));
        assert_eq!(written("(old <> new)"), format!("(ROW({old}) <> ROW({new}))"));
        let json = |function: &str, list: &str| {
            format!("(SELECT {function}(r_) FROM (SELECT {list}) AS r_)")
        };
        assert_eq!(
            written("f(to_jsonb(OLD), 1, row_to_json(new)::text)"),
            format!("f({}, 1, {}::text)", json("to_jsonb", &old), json("row_to_json", &new))
        );
        assert_eq!(
            written("jsonb_populate_record(NEW, j)"),
            format!("jsonb_populate_record(ROW({new})::s.t, j)")
        );
        assert_eq!(
            written("json_build_object('o', OLD, 'n', NEW)"),
            format!(
                "json_build_object('o', {}, 'n', {})",
                json("to_jsonb", &old),
                json("to_jsonb", &new)
            )
        );
    }

    #[test]
    fn rows_of_functions_are_null_where_a_change_has_none() {
        let rows = WrittenRows { columns: &["a"], row_type: "t", may_be_absent: true };
        for (source, operation, value) in [
            ("to_jsonb(OLD)", "INSERT", "(SELECT to_jsonb(r_) FROM (SELECT old.\"a\") AS r_)"),
            ("NEW::text", "DELETE", "(SELECT r_::text FROM (SELECT new.\"a\") AS r_)"),
            ("OLD.*::text", "INSERT", "(SELECT r_::text FROM (SELECT old.\"a\") AS r_)"),
        ] {
            let wanted =
                format!("(CASE WHEN tg_level = 'ROW' AND tg_op <> '{operation}' THEN {value} END)");
            assert_eq!(rows.in_text(source), wanted);
        }
    }

    #[test]
    fn a_record_that_was_never_assigned_is_null() {
        for (source, wanted) in [
            ("r IS NOT NULL", "NULL IS NOT NULL"),
            ("coalesce(r::text, 'r') || (r = q)", "coalesce(NULL::text, 'r') || (NULL = q)"),
            ("r", "NULL"),
            ("r.a + t.r", "r.a + t.r"),
            ("r(1) || f(r => 2) || x::r", "r(1) || f(r => 2) || x::r"),
        ] {
            assert_eq!(with_whole_row(source, "r", &[], true), wanted);
        }
    }

    #[test]
    fn the_fields_of_a_row_are_found() {
        assert_eq!(fields_of("r.a || R . \"B\" || r || t.r.c || 'r.d'", "r"), ["a", "B", "c"]);
    }

    #[test]
    fn everything_else_stays() {
        for source in [
            "RETURN NEW;",
            "NEW.a := OLD.a + 1;",
            "SELECT * INTO NEW FROM t;",
            "x := t.new;",
            "'NEW.*' || $q$ old.* $q$",
            "BEGIN NEW = r; END",
            "f(NEW)",
            "'unterminated NEW.*",
        ] {
            assert_eq!(written(source), source);
        }
    }
}
