//! What is measured: tables, and a transaction over them.

/// A work: tables, and the transaction that clients repeat.
pub(super) struct Work {
    pub(super) name: &'static str,
    /// The tables, each with its name, its columns, and the values of row `g` of `generate_series`; the last one first when
    /// they are dropped.
    tables: &'static [Table],
    /// The statements of the transaction, which is a block if there are more than one.
    pub(super) steps: &'static [Step],
    /// Whether the last statement returns the number of a job, which nobody else must get.
    pub(super) takes_jobs: bool,
}

struct Table {
    name: &'static str,
    columns: &'static str,
    values: &'static str,
    /// The columns of its indexes.
    indexes: &'static [&'static str],
    /// The number of rows, if that is not asked for.
    rows: Option<u32>,
}

/// A statement and its parameters.
pub(super) struct Step {
    pub(super) sql: &'static str,
    pub(super) values: &'static [Value],
}

/// A value that is drawn for each transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// The number of a row.
    Row,
    /// Seven times that number.
    Code,
    /// That of another row, with few values.
    Teller,
    Branch,
    /// From -5,000 to 5,000.
    Delta,
    /// A number that no other transaction has, above those of all rows.
    Next,
}

/// The branches, and ten times as many tellers; at least as many as clients, as pgbench's manual advises.
pub(super) const BRANCHES: u32 = 32;
pub(super) const TELLERS: u32 = 320;

const fn table(name: &'static str, indexes: &'static [&'static str]) -> Table {
    Table {
        name,
        columns: "id int PRIMARY KEY, code int NOT NULL, name text, value int",
        values: "g, g * 7, 'Name' || g, g % 1000",
        indexes,
        rows: None,
    }
}

const THREE: &[&str] = &["(code)", "(lower(name))", "(value DESC, id) WHERE value >= 0"];

const ON_THREE: &[Table] = &[table("bench_3", THREE)];

const fn on_three(name: &'static str, steps: &'static [Step]) -> Work {
    Work { name, tables: ON_THREE, steps, takes_jobs: false }
}

/// Inserts rows, which have keys that no other transaction has.
macro_rules! insert {
    ($name:literal, $table:literal, $indexes:expr) => {
        Work {
            name: $name,
            tables: &[table($table, $indexes)],
            steps: &[Step {
                sql: concat!("INSERT INTO ", $table, " VALUES ($1, $2, 'new', $3)"),
                values: &[Value::Next, Value::Code, Value::Branch],
            }],
            takes_jobs: false,
        }
    };
}

pub(super) const WORKS: [Work; 12] = [
    Work {
        name: "tpcb-like",
        tables: &[
            Table {
                name: "bench_branches",
                columns: "bid int PRIMARY KEY, bbalance int, filler char(88)",
                values: "g, 0",
                indexes: &[],
                rows: Some(BRANCHES),
            },
            Table {
                name: "bench_tellers",
                columns: "tid int PRIMARY KEY, bid int, tbalance int, filler char(84)",
                values: "g, (g - 1) / 10 + 1, 0",
                indexes: &[],
                rows: Some(TELLERS),
            },
            Table {
                name: "bench_accounts",
                columns: "aid int PRIMARY KEY, bid int, abalance int, filler char(84)",
                values: "g, g % 32 + 1, 0, ''",
                indexes: &[],
                rows: None,
            },
            Table {
                name: "bench_history",
                columns: "tid int, bid int, aid int, delta int, mtime timestamp, filler char(22)",
                values: "g, g, g, g",
                indexes: &[],
                rows: Some(0),
            },
        ],
        steps: &[
            Step {
                sql: "UPDATE bench_accounts SET abalance = abalance + $1 WHERE aid = $2",
                values: &[Value::Delta, Value::Row],
            },
            Step {
                sql: "SELECT abalance FROM bench_accounts WHERE aid = $1",
                values: &[Value::Row],
            },
            Step {
                sql: "UPDATE bench_tellers SET tbalance = tbalance + $1 WHERE tid = $2",
                values: &[Value::Delta, Value::Teller],
            },
            Step {
                sql: "UPDATE bench_branches SET bbalance = bbalance + $1 WHERE bid = $2",
                values: &[Value::Delta, Value::Branch],
            },
            Step {
                sql: "INSERT INTO bench_history (tid, bid, aid, delta, mtime) \
                      VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP)",
                values: &[Value::Teller, Value::Branch, Value::Row, Value::Delta],
            },
        ],
        takes_jobs: false,
    },
    on_three(
        "select by an index",
        &[Step { sql: "SELECT * FROM bench_3 WHERE code = $1", values: &[Value::Code] }],
    ),
    on_three(
        "select by an expression",
        &[Step {
            sql: "SELECT id FROM bench_3 WHERE lower(name) = 'name' || $1::int4",
            values: &[Value::Row],
        }],
    ),
    on_three(
        "first rows",
        &[Step {
            sql: "SELECT id FROM bench_3 WHERE value >= 0 AND $1::int4 > 0 ORDER BY value DESC LIMIT 5",
            values: &[Value::Row],
        }],
    ),
    on_three(
        "update by an index",
        &[Step { sql: "UPDATE bench_3 SET name = 'x' WHERE code = $1", values: &[Value::Code] }],
    ),
    on_three(
        "update of an index",
        &[Step {
            sql: "UPDATE bench_3 SET value = value + 1 WHERE id = $1",
            values: &[Value::Row],
        }],
    ),
    insert!("insert, no index", "bench_0", &[]),
    insert!("insert, 1 index", "bench_1", &["(code)"]),
    insert!("insert, 3 indexes", "bench_3", THREE),
    Work {
        name: "insert, foreign key",
        tables: &[
            table("bench_0", &[]),
            Table {
                name: "bench_references",
                columns: "id int PRIMARY KEY, item int NOT NULL REFERENCES bench_0, amount int",
                values: "g, g, 1",
                indexes: &["(item)"],
                rows: None,
            },
        ],
        steps: &[Step {
            sql: "INSERT INTO bench_references VALUES ($1, $2, 1)",
            values: &[Value::Next, Value::Row],
        }],
        takes_jobs: false,
    },
    Work {
        name: "job queue",
        tables: &[Table {
            name: "bench_jobs",
            columns: "id int PRIMARY KEY, payload text",
            values: "g, 'job'",
            indexes: &[],
            rows: Some(500),
        }],
        steps: &[
            Step { sql: "INSERT INTO bench_jobs VALUES ($1, 'new')", values: &[Value::Next] },
            Step {
                sql: "DELETE FROM bench_jobs WHERE id = (SELECT id FROM bench_jobs ORDER BY id LIMIT 1 \
                      FOR UPDATE SKIP LOCKED) RETURNING id",
                values: &[],
            },
        ],
        takes_jobs: true,
    },
    Work {
        name: "lock and update a row",
        tables: &[table("bench_0", &[])],
        steps: &[
            Step {
                sql: "SELECT value FROM bench_0 WHERE id = $1 FOR UPDATE",
                values: &[Value::Row],
            },
            Step {
                sql: "UPDATE bench_0 SET value = value + 1 WHERE id = $1",
                values: &[Value::Row],
            },
        ],
        takes_jobs: false,
    },
];

impl Work {
    /// The statements that make its tables anew, with so many rows.
    pub(super) fn setup(&self, rows: u32) -> String {
        let mut script = self.cleanup();
        for Table { name, columns, values, indexes, rows: own } in self.tables {
            script.push_str(&format!("CREATE TABLE {name} ({columns});"));
            let rows = own.unwrap_or(rows);
            if rows > 0 {
                let source = format!("SELECT {values} FROM generate_series(1, {rows}) AS s(g)");
                script.push_str(&format!("INSERT INTO {name} {source};"));
            }
            for index in *indexes {
                script.push_str(&format!("CREATE INDEX ON {name} {index};"));
            }
        }
        script
    }

    /// The statements that drop its tables.
    pub(super) fn cleanup(&self) -> String {
        let drop = |table: &Table| format!("DROP TABLE IF EXISTS {};", table.name);
        self.tables.iter().rev().map(drop).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_values() {
        for work in &WORKS {
            for step in work.steps {
                let most = (1..9).filter(|number| step.sql.contains(&format!("${number}"))).count();
                assert_eq!(most, step.values.len(), "{}", step.sql);
            }
        }
    }

    #[test]
    fn tables_that_refer_to_others_are_dropped_first() {
        let work = WORKS.iter().find(|work| work.name == "insert, foreign key").unwrap();
        let dropped = "DROP TABLE IF EXISTS bench_references;DROP TABLE IF EXISTS bench_0;";
        assert_eq!(work.cleanup(), dropped);
        assert!(work.setup(5).contains("FROM generate_series(1, 5)"));
    }
}
