//! Statements about a session: transactions, prepared statements, cursors, COPY, EXPLAIN, settings.

use super::{Generator, statement};
use crate::tree::{Kind, Node};

impl Generator {
    /// A statement of transaction control.
    pub(super) fn transaction(&mut self) -> Node {
        self.word(&[
            "BEGIN; SELECT 1; COMMIT",
            "START TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
            "COMMIT",
            "ROLLBACK",
            "SAVEPOINT s2",
            "ROLLBACK TO SAVEPOINT s2",
            "RELEASE s1",
            "BEGIN; SAVEPOINT s1; SELECT 1 / 0; ROLLBACK TO s1; COMMIT",
            "END",
        ])
    }

    /// COPY to the client, or from it.
    pub(super) fn copy(&mut self) -> Node {
        let how = self.word(&[
            "",
            " (FORMAT csv, HEADER)",
            " (FORMAT binary)",
            " (DELIMITER '|', NULL 'x')",
        ]);
        match self.writable() {
            Some(table) if self.random.percent(40) => {
                statement(&format!("COPY {} TO STDOUT{{}}", table.name), [how])
            }
            Some(table) if self.random.percent(30) => {
                statement(&format!("COPY {} FROM STDIN{{}}", table.name), [how])
            }
            _ => statement("COPY ({}) TO STDOUT{}", [self.any_query(), how]),
        }
    }

    /// PREPARE, EXECUTE and DEALLOCATE.
    pub(super) fn prepare(&mut self) -> Node {
        match self.random.below(4) {
            0 => self.word(&["DEALLOCATE p1", "DEALLOCATE ALL"]),
            1 => self.word(&[
                "EXECUTE p1",
                "EXECUTE p2(1)",
                "EXECUTE p1(1, 'a', now())",
                "EXECUTE p2(NULL)",
            ]),
            2 => statement("PREPARE p1 AS {}", [self.any_query()]),
            _ => {
                let types = self.types(1..=2);
                let query = self.query(&types, 2);
                statement("PREPARE p2 (int) AS SELECT * FROM ({}) AS s LIMIT $1", [query])
            }
        }
    }

    /// DECLARE, FETCH, MOVE and CLOSE.
    pub(super) fn cursor(&mut self) -> Node {
        match self.random.below(4) {
            0 => {
                let how = self.word(&["", "SCROLL ", "BINARY ", "NO SCROLL ", "INSENSITIVE "]);
                let hold = self.word(&["", " WITH HOLD"]);
                let query = self.any_query();
                statement("DECLARE c1 {}CURSOR{} FOR {}", [how, hold, query])
            }
            1 | 2 => {
                let declared = self.any_query();
                let form = "BEGIN; DECLARE c1 CURSOR FOR {}; FETCH 3 FROM c1; FETCH ALL c1; CLOSE c1; COMMIT";
                statement(form, [declared])
            }
            _ => self.word(&[
                "FETCH c1",
                "FETCH ALL FROM c1",
                "FETCH BACKWARD 2 FROM c1",
                "FETCH ABSOLUTE -1 FROM c1",
                "FETCH RELATIVE 0 FROM c1",
                "MOVE FORWARD 9223372036854775807 IN c1",
                "CLOSE c1",
                "CLOSE ALL",
            ]),
        }
    }

    /// EXPLAIN of a query or a change.
    pub(super) fn explain(&mut self) -> Node {
        let how = self.word(&[
            "",
            " ANALYZE",
            " (VERBOSE)",
            " (FORMAT JSON)",
            " (ANALYZE, FORMAT JSON)",
            " (PREDICT 'single-host')",
            " (COSTS OFF)",
        ]);
        let explained = match self.random.below(5) {
            0 => self.insert(),
            1 => self.update(),
            2 => self.delete(),
            _ => self.any_query(),
        };
        statement("EXPLAIN{} {}", [how, explained])
    }

    /// SET, SHOW, RESET, and the like. The time-out of statements stays.
    pub(super) fn settings(&mut self) -> Node {
        let setting = self.word(&[
            "SHOW ALL",
            "SHOW search_path",
            "SET TimeZone = 'Asia/Kathmandu'",
            "SET TIME ZONE -3",
            "SET LOCAL search_path = pg_catalog, public",
            "SET search_path = public",
            "SET DateStyle = 'German'",
            "SET IntervalStyle = 'iso_8601'",
            "SET extra_float_digits = -15",
            "SET bytea_output = 'escape'",
            "SET application_name = 'ä'",
            "RESET TimeZone",
            "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
            "SELECT set_config('TimeZone', 'nowhere', true)",
            "DISCARD TEMP",
            "ANALYZE",
            "VACUUM",
        ]);
        Node::group(Kind::Fixed, vec![setting])
    }
}
