//! `\d NAME`: describes a table, view or sequence.

use super::command::CommandError;
use crate::error::SqlError;
use crate::output::{Align, Grid, Heading, harmless};
use crate::quantity::{bytes, counted};
use crate::shell::Shell;
use crate::terminal::strong;
use std::io::Write;

/// SQLSTATE of a relation that does not exist.
const UNDEFINED_TABLE: &str = "42P01";

/// A relation of the catalog.
struct Relation {
    id: String,
    schema: String,
    name: String,
    kind: char,
    comment: Option<String>,
}

/// Describes the relation with a name in SQL syntax.
pub(crate) async fn describe(shell: &mut Shell, name: &str) -> Result<(), CommandError> {
    let (schema, name) = split_name(name);
    let Some(relation) = find(shell, schema.as_deref(), &name).await? else {
        return describe_unlisted(shell, schema.as_deref(), &name).await;
    };
    title(shell, &relation)?;
    if relation.kind == 'S' {
        return describe_sequence(shell, &relation).await;
    }
    describe_columns(shell, &relation).await?;
    match relation.kind {
        'v' | 'm' if !relation.is_system() => describe_query(shell, &relation).await,
        'r' | 'p' if !relation.is_system() => describe_table(shell, &relation).await,
        _ => Ok(()),
    }
}

impl Relation {
    fn is_system(&self) -> bool {
        matches!(self.schema.as_str(), "pando" | "information_schema" | "pg_catalog")
    }

    fn kind(&self) -> &'static str {
        match self.kind {
            'r' if self.is_system() => "System table",
            'v' if self.is_system() => "System view",
            'r' => "Table",
            'p' => "Partitioned table",
            'v' => "View",
            'm' => "Materialized view",
            'S' => "Sequence",
            'f' => "Foreign table",
            'c' => "Composite type",
            'i' | 'I' => "Index",
            _ => "Relation",
        }
    }
}

async fn find(
    shell: &mut Shell,
    schema: Option<&str>,
    name: &str,
) -> Result<Option<Relation>, SqlError> {
    let place = match schema {
        Some(schema) => format!("n.nspname = {}", literal(schema)),
        None => "pg_catalog.pg_table_is_visible(c.oid)".to_owned(),
    };
    let query = format!(
        "SELECT c.oid::text, n.nspname, c.relname, c.relkind, pg_catalog.obj_description(c.oid, 'pg_class') \
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relname = {} AND {place} AND c.relkind <> 't' ORDER BY n.nspname LIMIT 1",
        literal(name)
    );
    let row = shell.place.texts(&query).await?.into_iter().next();
    Ok(row.and_then(|row| match <[_; 5]>::try_from(row) {
        Ok([Some(id), Some(schema), Some(name), Some(kind), comment]) => {
            Some(Relation { id, schema, name, kind: kind.chars().next()?, comment })
        }
        _ => None,
    }))
}

/// Describes a system table that `pg_class` does not have.
async fn describe_unlisted(
    shell: &mut Shell,
    schema: Option<&str>,
    name: &str,
) -> Result<(), CommandError> {
    let full = schema.into_iter().chain([name]).collect::<Vec<_>>().join(".");
    let missing = || {
        let message = format!("there is no table, view or sequence \"{full}\"");
        SqlError::new(UNDEFINED_TABLE, message).with_hint("\\d lists all.")
    };
    let Some(schema) = schema else { return Err(missing().into()) };
    let query = format!("SELECT * FROM {}.{} LIMIT 0", quoted(schema), quoted(name));
    let columns = match shell.place.columns(&query).await {
        Ok(columns) => columns,
        Err(error) if error.code == UNDEFINED_TABLE => return Err(missing().into()),
        Err(error) => return Err(error.into()),
    };
    writeln!(shell.out, "{}", strong(&harmless(&format!("System table {full}"))))?;
    let mut grid = Grid::new(["column", "type"].map(|n| Heading::new(n, Align::Left)).into());
    for column in columns {
        grid.push([column.name, column.type_name]);
    }
    shell.view.write_columns(&grid, &mut shell.out)?;
    Ok(())
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Splits a name into schema and relation: `a."B.c"` is schema `a`, relation `B.c`. Unquoted parts become lower case.
fn split_name(text: &str) -> (Option<String>, String) {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '.' if !quoted => parts.push(String::new()),
            c => {
                if let Some(part) = parts.last_mut() {
                    if quoted { part.push(c) } else { part.extend(c.to_lowercase()) }
                }
            }
        }
    }
    let name = parts.pop().unwrap_or_default();
    (parts.pop(), name)
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn title(shell: &mut Shell, relation: &Relation) -> Result<(), CommandError> {
    let comment = relation.comment.as_ref().map(|comment| format!(": {comment}"));
    let text = format!("{} {}.{}", relation.kind(), relation.schema, relation.name);
    let comment = comment.unwrap_or_default();
    writeln!(shell.out, "{}{}", strong(&harmless(&text)), harmless(&comment))?;
    Ok(())
}

async fn describe_columns(shell: &mut Shell, relation: &Relation) -> Result<(), CommandError> {
    let query = format!(
        "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), \
                CASE WHEN a.attnotnull THEN 'no' ELSE 'yes' END, \
                CASE a.attidentity WHEN 'a' THEN 'generated always as identity' \
                                   WHEN 'd' THEN 'generated by default as identity' \
                                   ELSE pg_catalog.pg_get_expr(d.adbin, d.adrelid) END, \
                pg_catalog.col_description(a.attrelid, a.attnum) \
         FROM pg_catalog.pg_attribute a \
         LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
         WHERE a.attrelid = {} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
        relation.id
    );
    let rows = shell.place.texts(&query).await?;
    // Nullability of columns of system tables and views is not known.
    let narrow = relation.is_system() || matches!(relation.kind, 'v' | 'm');
    let comments = rows.iter().any(|row| row.last().is_some_and(Option::is_some));
    let mut names = vec!["column", "type"];
    names.extend(["nullable", "default"].into_iter().filter(|_| !narrow));
    names.extend(comments.then_some("comment"));
    let mut grid = Grid::new(names.into_iter().map(|n| Heading::new(n, Align::Left)).collect());
    for row in rows {
        let wanted =
            |index: &usize| (!narrow || !(2..4).contains(index)) && (comments || *index < 4);
        let cells = row.into_iter().enumerate().filter(|(index, _)| wanted(index));
        grid.push(cells.map(|(_, text)| text.unwrap_or_default()));
    }
    shell.view.write_columns(&grid, &mut shell.out)?;
    Ok(())
}

async fn describe_query(shell: &mut Shell, relation: &Relation) -> Result<(), CommandError> {
    let query = format!("SELECT pg_catalog.pg_get_viewdef({}::oid)", relation.id);
    let rows = shell.place.texts(&query).await?;
    for query in rows.into_iter().flatten().flatten() {
        let lines: Vec<_> = query.trim().lines().map(harmless).collect();
        writeln!(shell.out, "Query: {}", lines.join("\n"))?;
    }
    Ok(())
}

async fn describe_sequence(shell: &mut Shell, relation: &Relation) -> Result<(), CommandError> {
    let query = format!(
        "SELECT seqstart::text, seqincrement::text, seqmin::text, seqmax::text \
         FROM pg_catalog.pg_sequence WHERE seqrelid = {}",
        relation.id
    );
    let headings = ["start", "increment", "min", "max"];
    let mut grid = Grid::new(headings.map(|name| Heading::new(name, Align::Right)).into());
    for row in shell.place.texts(&query).await? {
        grid.push(row.into_iter().map(Option::unwrap_or_default));
    }
    shell.view.write_columns(&grid, &mut shell.out)?;
    Ok(())
}

/// Prints the constraints, indexes and size of a table.
async fn describe_table(shell: &mut Shell, relation: &Relation) -> Result<(), CommandError> {
    let mut facts = constraints(shell, relation).await?;
    if facts.first().is_none_or(|fact| !fact.starts_with("Primary key")) {
        let order =
            if shell.place.is_pando() { "; rows are in the order of their insertion" } else { "" };
        facts.insert(0, format!("Primary key: none{order}"));
    }
    facts.extend(indexes(shell, relation).await?);
    facts.extend(size(shell, relation).await?);
    for fact in facts {
        writeln!(shell.out, "{}", harmless(&fact))?;
    }
    Ok(())
}

async fn constraints(shell: &mut Shell, relation: &Relation) -> Result<Vec<String>, SqlError> {
    let query = format!(
        "SELECT contype, conname, pg_catalog.pg_get_constraintdef(oid) FROM pg_catalog.pg_constraint \
         WHERE conrelid = {} AND contype IN ('p', 'u', 'f', 'c', 'x') \
         ORDER BY CASE contype WHEN 'p' THEN 0 ELSE 1 END, contype, conname",
        relation.id
    );
    let rows = shell.place.texts(&query).await?;
    Ok(rows.into_iter().filter_map(|row| constraint(<[_; 3]>::try_from(row).ok()?)).collect())
}

fn constraint([kind, name, definition]: [Option<String>; 3]) -> Option<String> {
    let (kind, name, definition) = (kind?, name?, definition?);
    let after = |word: &str| definition.strip_prefix(word).unwrap_or(&definition).to_owned();
    Some(match kind.as_str() {
        "p" => format!("Primary key: {}", after("PRIMARY KEY ")),
        "c" => {
            // PostgreSQL doubles the parentheses.
            let doubled = definition.strip_prefix("CHECK (").and_then(|d| d.strip_suffix(')'));
            format!("Check: {} ({name})", doubled.unwrap_or(&definition))
        }
        "u" => format!("Unique: {} ({name})", after("UNIQUE ")),
        "f" => format!("Foreign key: {} ({name})", after("FOREIGN KEY ")),
        _ => format!("Constraint: {definition} ({name})"),
    })
}

/// Indexes that do not belong to a constraint.
async fn indexes(shell: &mut Shell, relation: &Relation) -> Result<Vec<String>, SqlError> {
    let query = format!(
        "SELECT pg_catalog.pg_get_indexdef(i.indexrelid) FROM pg_catalog.pg_index i \
         WHERE i.indrelid = {} AND NOT EXISTS \
             (SELECT FROM pg_catalog.pg_constraint c WHERE c.conindid = i.indexrelid AND c.conrelid = i.indrelid) \
         ORDER BY 1",
        relation.id
    );
    let rows = shell.place.texts(&query).await?;
    Ok(rows.into_iter().flatten().flatten().map(|index| format!("Index: {index}")).collect())
}

async fn size(shell: &mut Shell, relation: &Relation) -> Result<Option<String>, SqlError> {
    let is_pando = shell.place.is_pando();
    let query = if is_pando {
        format!(
            "SELECT rows::text, bytes::text, buckets::text, bucket_size::text FROM pando.tables \
             WHERE schema = {} AND \"table\" = {}",
            literal(&relation.schema),
            literal(&relation.name)
        )
    } else {
        format!(
            "SELECT reltuples::bigint::text, pg_catalog.pg_total_relation_size(oid)::text \
             FROM pg_catalog.pg_class WHERE oid = {}",
            relation.id
        )
    };
    let row = shell.place.texts(&query).await?.into_iter().next().unwrap_or_default();
    let numbers: Vec<Option<u64>> = row.iter().map(|n| n.as_ref()?.parse().ok()).collect();
    Ok(match numbers[..] {
        [Some(rows), Some(size), Some(buckets), Some(limit)] => Some(format!(
            "Size: {}, {} in {} of at most {}",
            counted(rows, "row"),
            bytes(size),
            counted(buckets, "bucket"),
            bytes(limit)
        )),
        [Some(rows), Some(size)] => {
            Some(format!("Size: about {}, {}", counted(rows, "row"), bytes(size)))
        }
        [None, Some(size)] => Some(format!("Size: {}", bytes(size))),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fold_unless_quoted() {
        let split = |text| {
            let (schema, name) = split_name(text);
            (schema.unwrap_or_default(), name)
        };
        assert_eq!(split("Person"), (String::new(), "person".to_owned()));
        assert_eq!(split("Shop.\"Or.der\""), ("shop".to_owned(), "Or.der".to_owned()));
    }
}
