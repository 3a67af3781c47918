//! The names that completion offers: asked for before a prompt, where that disturbs nothing.

use super::Shell;
use super::place::Place;
use crate::remote::Texts;
use pando::TransactionStatus;
use pando::catalog::RESERVED_SCHEMAS;

/// The relations and their columns, of any server; not more than can be kept at hand.
const QUESTION: &str = "\
    SELECT n.nspname, c.relname, a.attname \
    FROM pg_catalog.pg_class c \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    LEFT JOIN pg_catalog.pg_attribute a \
        ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind <> 'S' \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND n.nspname <> 'pg_toast' \
    ORDER BY n.nspname, c.relname, a.attnum LIMIT 50000";

/// Pando's tables about itself, which are on no list.
const PANDO_TABLES: [&str; 8] =
    ["buckets", "counters", "memory", "queries", "runs", "settings", "splits", "tables"];

/// A relation and its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) schema: String,
    pub(super) name: String,
    pub(super) columns: Vec<String>,
}

/// The names of one place.
#[derive(Debug)]
pub(super) struct Names {
    /// Pando's own, once they are known.
    own: Option<Vec<Known>>,
    /// There may be others than were asked for.
    pub(super) changed: bool,
}

impl Names {
    /// Nothing is known yet.
    pub(super) fn unknown() -> Self {
        Self { own: None, changed: true }
    }
}

impl Shell {
    /// Asks for the names that can be completed.
    pub(super) async fn learn_names(&mut self) {
        let wanted = match self.place.status().await {
            // Others may make tables, too, but asking a server costs time.
            Some(TransactionStatus::Idle) => self.names.changed || self.place.is_near(),
            Some(TransactionStatus::Open) => self.names.changed,
            Some(TransactionStatus::Failed) | None => false,
        };
        let Some(editor) = self.editor.as_mut().filter(|_| wanted) else { return };
        self.names.changed = false;
        // Without names completion offers less, and that is all.
        match self.place.texts(QUESTION).await {
            Ok(rows) => {
                let mut known = known_in(rows);
                if self.names.own.is_none() {
                    self.names.own = Some(own(&mut self.place).await);
                }
                known.extend(self.names.own.iter().flatten().cloned());
                known.sort_by_key(is_system);
                editor.know(known);
            }
            Err(trouble) => drop(self.place.recover(trouble).await),
        }
    }
}

/// Pando's tables about itself.
async fn own(place: &mut Place) -> Vec<Known> {
    let mut own = Vec::new();
    if !place.is_pando() {
        return own;
    }
    for name in PANDO_TABLES {
        let question = format!("SELECT * FROM pando.{name} LIMIT 0");
        if let Ok(columns) = place.columns(&question).await {
            let columns = columns.into_iter().map(|column| column.name).collect();
            own.push(Known { schema: "pando".to_owned(), name: name.to_owned(), columns });
        }
    }
    own
}

/// What the answer to [`QUESTION`] says.
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

/// Whether nobody has made it.
pub(super) fn is_system(relation: &Known) -> bool {
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
