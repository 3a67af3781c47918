//! Names of relations and columns for completion. They are queried before a prompt, outside failed transactions.

use crate::protocol::Texts;
use crate::shell::Shell;
use crate::shell::place::Place;
use query::TransactionStatus;
use query::store::catalog::RESERVED_SCHEMAS;

/// Query for relations and their columns on any server, with a limit.
const QUERY: &str = "\
    SELECT n.nspname, c.relname, a.attname \
    FROM pg_catalog.pg_class c \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    LEFT JOIN pg_catalog.pg_attribute a \
        ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind <> 'S' \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND n.nspname <> 'pg_toast' \
    ORDER BY n.nspname, c.relname, a.attnum LIMIT 50000";

/// Pando's system tables, which `pg_class` does not have.
const PANDO_TABLES: [&str; 10] = [
    "buckets",
    "checkpoints",
    "counters",
    "log",
    "memory",
    "queries",
    "runs",
    "settings",
    "splits",
    "tables",
];

/// A relation and its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) schema: String,
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
}

/// The names at a place.
#[derive(Debug)]
pub(crate) struct Names {
    /// Pando's system tables, once they are known.
    own: Option<Vec<Known>>,
    /// Whether the names may have changed since the last query.
    pub(crate) changed: bool,
}

impl Names {
    /// No names are known.
    pub(crate) fn unknown() -> Self {
        Self { own: None, changed: true }
    }
}

impl Shell {
    /// Queries the names for completion, if they may have changed.
    pub(crate) async fn refresh_names(&mut self) {
        let wanted = match self.place.status().await {
            // Other sessions may create tables, but querying a server takes time.
            Some(TransactionStatus::Idle) => self.names.changed || self.place.is_local(),
            Some(TransactionStatus::Open) => self.names.changed,
            Some(TransactionStatus::Failed) | None => false,
        };
        let Some(editor) = self.editor.as_mut().filter(|_| wanted) else { return };
        self.names.changed = false;
        // Without names, completion only offers less.
        match self.place.texts(QUERY).await {
            Ok(rows) => {
                let mut known = known_in(rows);
                if self.names.own.is_none() {
                    self.names.own = Some(own(&mut self.place).await);
                }
                known.extend(self.names.own.iter().flatten().cloned());
                known.sort_by_key(is_system);
                editor.set_names(known);
            }
            Err(error) => drop(self.place.recover(error).await),
        }
    }
}

/// Queries the columns of Pando's system tables.
async fn own(place: &mut Place) -> Vec<Known> {
    let mut own = Vec::new();
    if !place.is_pando() {
        return own;
    }
    for name in PANDO_TABLES {
        let query = format!("SELECT * FROM pando.{name} LIMIT 0");
        if let Ok(columns) = place.columns(&query).await {
            let columns = columns.into_iter().map(|column| column.name).collect();
            own.push(Known { schema: "pando".to_owned(), name: name.to_owned(), columns });
        }
    }
    own
}

/// The relations in the answer to [`QUERY`].
fn known_in(rows: Texts) -> Vec<Known> {
    let mut known: Vec<Known> = Vec::new();
    for row in rows {
        let Ok([Some(schema), Some(name), column]) = <[_; 3]>::try_from(row) else { continue };
        match known.last_mut().filter(|last| last.schema == schema && last.name == name) {
            Some(last) => last.columns.extend(column),
            None => known.push(Known { schema, name, columns: column.into_iter().collect() }),
        }
    }
    known
}

/// Whether the relation is in a system schema.
pub(crate) fn is_system(relation: &Known) -> bool {
    RESERVED_SCHEMAS.contains(&relation.schema.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_relations() {
        let row = |texts: [&str; 3]| texts.map(|text| Some(text.to_owned())).to_vec();
        let mut rows = vec![row(["pando", "buckets", "low"]), row(["s", "t", "a"])];
        rows.push(row(["s", "t", "b"]));
        rows.push(vec![Some("s".to_owned()), Some("u".to_owned()), None]);
        let known = known_in(rows);
        let names: Vec<_> = known.iter().map(|k| (k.name.as_str(), k.columns.len())).collect();
        assert_eq!(names, [("buckets", 1), ("t", 2), ("u", 0)]);
    }
}
