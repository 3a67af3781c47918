//! WHERE CURRENT OF a cursor of a function.
//!
//! The rows of a cursor are computed when it is opened. The row on which it stands is found again by its key, so that the
//! query of the cursor must select the columns of the primary key.

use grammar::tree::{NodeEnum, RangeVar, SelectStmt};
use plpgsql::tree::Sql;
use values::error::Error;

/// UPDATE or DELETE of a cursor's row.
pub(crate) struct Current {
    /// The statement up to the condition.
    before: String,
    /// What follows the condition.
    behind: String,
    /// The cursor, or the variable that has its name.
    pub(crate) cursor: String,
    /// The table, as it is written.
    pub(crate) table: String,
    /// How the statement calls the table.
    alias: String,
    name: String,
}

/// A statement of a function, if it has such a condition.
pub(crate) fn of(sql: &Sql) -> Option<Current> {
    sql.names.iter().any(|name| name == "current").then(|| of_text(&sql.text))?
}

fn of_text(text: &str) -> Option<Current> {
    let lower = text.to_ascii_lowercase();
    let script = grammar::parse(text).ok()?;
    let [statement] = script.statements() else { return None };
    let (relation, condition) = match statement.stmt.as_ref()?.node.as_ref()? {
        NodeEnum::UpdateStmt(update) => (update.relation.as_ref()?, &update.where_clause),
        NodeEnum::DeleteStmt(delete) => (delete.relation.as_ref()?, &delete.where_clause),
        _ => return None,
    };
    let Some(NodeEnum::CurrentOfExpr(current)) = condition.as_ref()?.node.as_ref() else {
        return None;
    };
    // The words stand once in the statement, outside of its strings and names.
    let mut places = lower.match_indices("current").filter_map(|(at, word)| {
        let rest = lower[at + word.len()..].trim_start();
        let rest = rest.strip_prefix("of").filter(|rest| rest.starts_with(char::is_whitespace))?;
        let start = text.len() - rest.trim_start().len();
        Some((at, start))
    });
    let (at, start) = places.next()?;
    if places.next().is_some() {
        return None;
    }
    let end = match text[start..].starts_with('"') {
        true => start + 2 + text[start + 1..].find('"')?,
        false => {
            let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
            text[start..]
                .find(|letter| !is_part(letter))
                .map_or(text.len(), |length| start + length)
        }
    };
    let alias = relation.alias.as_ref().map_or(&relation.relname, |alias| &alias.aliasname);
    Some(Current {
        before: text[..at].to_owned(),
        behind: text[end..].to_owned(),
        cursor: current.cursor_name.clone(),
        table: written(relation),
        alias: quoted(alias),
        name: relation.relname.clone(),
    })
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn written(relation: &RangeVar) -> String {
    match relation.schemaname.as_str() {
        "" => quoted(&relation.relname),
        schema => format!("{}.{}", quoted(schema), quoted(&relation.relname)),
    }
}

/// The name of the parameter with the value of a column.
pub(crate) fn parameter(key: &str) -> String {
    format!("current row's {key}")
}

impl Current {
    /// The query of the columns of the table's primary key.
    pub(crate) fn keys(&self) -> String {
        format!(
            "SELECT a.attname::text FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_attribute AS a \
             ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) \
             WHERE i.indisprimary AND i.indrelid = '{}'::regclass",
            self.table.replace('\'', "''")
        )
    }

    /// The statement with a condition on the key.
    pub(crate) fn text(&self, keys: &[String]) -> String {
        let equal =
            |key: &String| format!("{}.{} = {}", self.alias, quoted(key), quoted(&parameter(key)));
        let condition = keys.iter().map(equal).collect::<Vec<_>>().join(" AND ");
        format!("{}{condition}{}", self.before, self.behind)
    }
}

/// The SELECT that a text is.
fn select<T>(text: &str, read: impl FnOnce(&SelectStmt) -> Option<T>) -> Option<T> {
    let script = grammar::parse(text).ok()?;
    let node = script.statements().first()?.stmt.as_ref()?.node.as_ref()?;
    match node {
        NodeEnum::SelectStmt(select) => read(select),
        _ => None,
    }
}

/// Whether the query of a cursor is a scan of the table, each row of which is one of the table.
pub(crate) fn scans(query: &str, current: &Current) -> bool {
    let is_scan = select(query, |select| {
        let [from] = select.from_clause.as_slice() else { return None };
        let Some(NodeEnum::RangeVar(table)) = &from.node else { return None };
        let is_plain = select.group_clause.is_empty()
            && select.distinct_clause.is_empty()
            && select.having_clause.is_none()
            && select.window_clause.is_empty()
            && table.relname == current.name;
        Some(is_plain)
    });
    is_scan == Some(true)
}

/// Whether a query selects a column under its own name.
pub(crate) fn selects(query: &str, column: &str) -> bool {
    let found = select(query, |select| {
        let mut count = 0;
        for target in &select.target_list {
            let Some(NodeEnum::ResTarget(target)) = &target.node else { return None };
            let value = target.val.as_ref().and_then(|value| value.node.as_ref());
            let last = match value {
                Some(NodeEnum::ColumnRef(reference)) => {
                    reference.fields.last().and_then(|field| field.node.as_ref())
                }
                _ => None,
            };
            match last {
                Some(NodeEnum::AStar(_)) => count += 1,
                Some(NodeEnum::String(name)) if name.sval == column => {
                    count += usize::from(target.name.is_empty() || target.name == column);
                }
                _ if target.name == column => return None,
                _ => {}
            }
        }
        Some(count == 1)
    });
    found == Some(true)
}

/// The error for a cursor whose rows do not say which they are.
pub(crate) fn without_key(cursor: &str) -> Error {
    Error::unsupported(format!(
        "WHERE CURRENT OF \"{cursor}\", whose query does not select the primary key of the table, is not supported"
    ))
}
