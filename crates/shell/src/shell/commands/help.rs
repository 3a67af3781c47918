//! The texts of `\?` and `\h`.

/// Help on the shell's commands.
pub(crate) const COMMANDS: &str = "\
Statements end with a semicolon and may have several lines. Tab completes names and keywords.
Ctrl-C cancels the running statement or clears the input; Ctrl-D quits.

  \\d             tables, views and sequences
  \\d NAME        columns, key and size of a table
  \\dt  \\dv  \\dn  tables, views, schemas
  \\h [STATEMENT] syntax of a statement
  \\i FILE        run a script
  \\x [on|off]    one line for each column, for wide rows
  \\timing [on|off]  durations of statements
  \\?             this help
  \\q             quit
";

/// Additional help on Pando.
pub(crate) const ON_PANDO: &str = "
Files can be queried:  select * from 'file.parquet' limit 5;
System tables:  select * from pando.tables;  also pando.buckets, runs, memory, queries

  \\servers         the servers of the cluster and their data
  \\buckets TABLE   the buckets of a table on this server
  \\drain NAME      move all data away from a server, so that it can stop
  \\add             start one more server, in pando demo
";

/// A statement and its syntax.
struct Topic {
    name: &'static str,
    form: &'static str,
}

const TOPICS: [Topic; 17] = [
    Topic {
        name: "SELECT",
        form: "\
[WITH name AS (query), ...] SELECT [DISTINCT] expressions FROM tables
    [WHERE condition] [GROUP BY expressions] [HAVING condition]
    [ORDER BY expressions] [LIMIT n] [OFFSET n]",
    },
    Topic {
        name: "INSERT",
        form: "\
INSERT INTO table [(columns)] VALUES (...), ... | query
    [ON CONFLICT [(key)] DO NOTHING | DO UPDATE SET column = expression, ...]
    [RETURNING expressions]",
    },
    Topic {
        name: "UPDATE",
        form: "UPDATE table SET column = expression, ... [WHERE condition] [RETURNING expressions]",
    },
    Topic { name: "DELETE", form: "DELETE FROM table [WHERE condition] [RETURNING expressions]" },
    Topic {
        name: "COPY",
        form: "\
COPY table [(columns)] FROM 'file' [WITH (FORMAT csv | parquet | json, HEADER, ...)]
COPY table | (query) TO 'file' [WITH (...)]
COPY table [(columns)] FROM STDIN [WITH (FORMAT csv | text | binary, ...)], data up to a line \\.
COPY table | (query) TO STDOUT [WITH (...)]",
    },
    Topic {
        name: "CREATE TABLE",
        form: "\
CREATE TABLE [IF NOT EXISTS] name (
    column type [NOT NULL] [DEFAULT expression] [PRIMARY KEY] [CHECK (condition)], ...
    [, PRIMARY KEY (columns)]
) [WITH (bucket_size = '64MiB')]
CREATE TABLE name AS query",
    },
    Topic { name: "CREATE VIEW", form: "CREATE [OR REPLACE] VIEW name [(columns)] AS query" },
    Topic { name: "CREATE SCHEMA", form: "CREATE SCHEMA [IF NOT EXISTS] name" },
    Topic {
        name: "CREATE SEQUENCE",
        form: "CREATE SEQUENCE [IF NOT EXISTS] name [START n] [INCREMENT n]",
    },
    Topic {
        name: "ALTER TABLE",
        form: "\
ALTER TABLE name ADD COLUMN column type ... | DROP COLUMN column | RENAME TO name
    | RENAME COLUMN column TO name | ALTER COLUMN column SET DEFAULT expression | ...",
    },
    Topic {
        name: "DROP",
        form: "DROP TABLE | VIEW | SEQUENCE | SCHEMA [IF EXISTS] name [CASCADE]",
    },
    Topic { name: "TRUNCATE", form: "TRUNCATE TABLE name, ..." },
    Topic { name: "BEGIN", form: "BEGIN [READ ONLY] ... COMMIT | ROLLBACK" },
    Topic {
        name: "SAVEPOINT",
        form: "SAVEPOINT name ... ROLLBACK TO SAVEPOINT name | RELEASE SAVEPOINT name",
    },
    Topic { name: "EXPLAIN", form: "EXPLAIN [ANALYZE] query" },
    Topic { name: "SET", form: "SET name = value | SHOW name | RESET name" },
    Topic { name: "COMMENT", form: "COMMENT ON TABLE | COLUMN | VIEW name IS 'text'" },
];

/// The names of statements with help.
pub(crate) fn topics() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|topic| topic.name)
}

/// The syntax of the statements whose names begin with `topic`; without a topic, the names of all.
pub(crate) fn about(topic: Option<&str>) -> Result<String, String> {
    let Some(topic) = topic else {
        let names: String = topics().map(|name| format!("  {name}\n")).collect();
        return Ok(format!("\\h STATEMENT shows the syntax of one of:\n{names}"));
    };
    let wanted = topic.to_uppercase();
    let found = TOPICS.iter().filter(|topic| topic.name.starts_with(&wanted));
    let text: String = found.map(|topic| format!("{}\n", topic.form)).collect();
    if text.is_empty() {
        return Err(format!("there is no help on \"{topic}\"; \\h lists the statements"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_found_by_prefix() {
        assert_eq!(about(Some("truncate")).as_deref(), Ok("TRUNCATE TABLE name, ...\n"));
        assert_eq!(about(Some("create")).map(|text| text.matches("CREATE").count()), Ok(5));
        assert!(about(None).is_ok_and(|text| TOPICS.iter().all(|topic| text.contains(topic.name))));
        assert!(about(Some("dance")).is_err());
    }
}
