//! What is measured: functions of each language over the rows of a table, loops in PL/pgSQL, and calls.

/// A statement that is measured, and what it needs.
pub(super) struct Work {
    pub(super) name: &'static str,
    /// Statements that make its function.
    pub(super) setup: &'static str,
    /// The statement; `$n` is the number of turns.
    statement: &'static str,
    units: Units,
    /// Whether each run gives the same answer, which is checked.
    pub(super) is_constant: bool,
}

/// What a statement does many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Units {
    Rows,
    Turns,
    One,
}

/// The work that the functions of rows are compared with.
pub(super) const EXPRESSION: &str = "expression";

/// A function of the rows that computes what the expression does.
macro_rules! of_rows {
    ($name:literal, $function:literal, $setup:literal) => {
        Work {
            name: $name,
            setup: $setup,
            statement: concat!("SELECT count(*) FROM bench_rows WHERE ", $function, "(id) = 3"),
            units: Units::Rows,
            is_constant: true,
        }
    };
}

/// A loop in PL/pgSQL: declarations and the body, whose variable `n` is the number of turns.
macro_rules! of_turns {
    ($name:literal, $function:literal, $declared:literal, $body:literal) => {
        Work {
            name: $name,
            setup: concat!(
                "CREATE OR REPLACE FUNCTION ",
                $function,
                "(n int) RETURNS text LANGUAGE plpgsql AS $$ DECLARE ",
                $declared,
                " BEGIN ",
                $body,
                " END $$"
            ),
            statement: concat!("SELECT ", $function, "($n)"),
            units: Units::Turns,
            is_constant: false,
        }
    };
}

/// A module with one export: the WebAssembly of `MODULE` in the tests.
macro_rules! module {
    () => {
        "\\x0061736d0100000001060160017f017f03020100070e010a62656e63685f7761736d00000a0f010d00200041076c41036a410a6f0b"
    };
}

pub(super) const WORKS: &[Work] = &[
    Work {
        name: EXPRESSION,
        setup: "",
        statement: "SELECT count(*) FROM bench_rows WHERE (id * 7 + 3) % 10 = 3",
        units: Units::Rows,
        is_constant: true,
    },
    of_rows!(
        "function in SQL",
        "bench_sql",
        "CREATE OR REPLACE FUNCTION bench_sql(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT (i * 7 + 3) % 10'"
    ),
    of_rows!(
        "function in PL/pgSQL",
        "bench_plpgsql",
        "CREATE OR REPLACE FUNCTION bench_plpgsql(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT \
         AS 'BEGIN RETURN (i * 7 + 3) % 10; END'"
    ),
    Work {
        name: "function in WebAssembly",
        setup: concat!(
            "CREATE OR REPLACE FUNCTION bench_wasm(i int) RETURNS int LANGUAGE wasm IMMUTABLE STRICT AS '",
            module!(),
            "'"
        ),
        statement: "SELECT count(*) FROM bench_rows WHERE bench_wasm(id) = 3",
        units: Units::Rows,
        is_constant: true,
    },
    of_rows!(
        "function in JavaScript",
        "bench_javascript",
        "CREATE OR REPLACE FUNCTION bench_javascript(i int) RETURNS int LANGUAGE javascript IMMUTABLE STRICT \
         AS 'return (i * 7 + 3) % 10;'"
    ),
    of_rows!(
        "function in PL/v8",
        "bench_v8",
        "CREATE EXTENSION IF NOT EXISTS plv8; \
         CREATE OR REPLACE FUNCTION bench_v8(i int) RETURNS int LANGUAGE plv8 IMMUTABLE STRICT \
         AS 'return (i * 7 + 3) % 10;'"
    ),
    of_rows!(
        "function in PL/Perl",
        "bench_perl",
        "CREATE EXTENSION IF NOT EXISTS plperl; \
         CREATE OR REPLACE FUNCTION bench_perl(i int) RETURNS int LANGUAGE plperl IMMUTABLE STRICT \
         AS 'return ($_[0] * 7 + 3) % 10;'"
    ),
    of_rows!(
        "function in PL/Python",
        "bench_python",
        "CREATE EXTENSION IF NOT EXISTS plpython3u; \
         CREATE OR REPLACE FUNCTION bench_python(i int) RETURNS int LANGUAGE plpython3u IMMUTABLE STRICT \
         AS 'return (i * 7 + 3) % 10'"
    ),
    of_turns!(
        "loop: sum of integers",
        "bench_loop_sum",
        "s bigint := 0;",
        "FOR i IN 1..n LOOP s := s + i; END LOOP; RETURN s;"
    ),
    of_turns!(
        "loop: WHILE and IF",
        "bench_loop_while",
        "i int := 0; s int := 0;",
        "WHILE i < n LOOP i := i + 1; IF i % 3 = 0 THEN s := s + 1; END IF; END LOOP; RETURN s;"
    ),
    of_turns!(
        "loop: numeric",
        "bench_loop_numeric",
        "s numeric := 0;",
        "FOR i IN 1..n LOOP s := s + i * 1.25; END LOOP; RETURN s;"
    ),
    of_turns!(
        "loop: text",
        "bench_loop_text",
        "t text; s int := 0;",
        "FOR i IN 1..n LOOP t := 'item ' || i; s := s + length(upper(t)); END LOOP; RETURN s;"
    ),
    of_turns!(
        "loop: dates",
        "bench_loop_dates",
        "d date := '2000-01-01';",
        "FOR i IN 1..n LOOP d := d + 1; END LOOP; RETURN d;"
    ),
    of_turns!(
        "loop: array",
        "bench_loop_array",
        "a int[] := ARRAY[1, 2, 3]; s bigint := 0;",
        "FOR i IN 1..n LOOP a[2] := i; s := s + a[2]; END LOOP; RETURN s;"
    ),
    of_turns!(
        "loop: rows of a query",
        "bench_loop_rows",
        "r record; s bigint := 0;",
        "FOR r IN SELECT g, g * 2 AS h FROM generate_series(1, n) g LOOP s := s + r.h; END LOOP; RETURN s;"
    ),
    of_turns!(
        "loop: EXCEPTION",
        "bench_loop_exception",
        "s bigint := 0;",
        "FOR i IN 1..n LOOP BEGIN s := s + i; EXCEPTION WHEN division_by_zero THEN s := 0; END; END LOOP; RETURN s;"
    ),
    of_turns!(
        "loop: SELECT by key",
        "bench_loop_select",
        "v int; s bigint := 0;",
        "FOR i IN 1..n LOOP SELECT value INTO v FROM bench_keys WHERE id = i % 1000; s := s + v; END LOOP; RETURN s;"
    ),
    of_turns!(
        "loop: UPDATE by key",
        "bench_loop_update",
        "",
        "FOR i IN 1..n LOOP UPDATE bench_keys SET value = value + 1 WHERE id = i % 1000; END LOOP; RETURN n;"
    ),
    Work {
        name: "recursion: Fibonacci",
        setup: "CREATE OR REPLACE FUNCTION bench_fib(n int) RETURNS int LANGUAGE plpgsql AS \
                'BEGIN IF n < 2 THEN RETURN n; END IF; RETURN bench_fib(n - 1) + bench_fib(n - 2); END'",
        statement: "SELECT bench_fib(15)",
        units: Units::One,
        is_constant: true,
    },
    Work {
        name: "CALL, empty",
        setup: "CREATE OR REPLACE PROCEDURE bench_call() LANGUAGE plpgsql AS 'BEGIN END'",
        statement: "CALL bench_call()",
        units: Units::One,
        is_constant: true,
    },
    Work {
        name: "CALL, three statements",
        setup: "CREATE OR REPLACE PROCEDURE bench_pay(i int, INOUT v int) LANGUAGE plpgsql AS \
                'BEGIN UPDATE bench_keys SET value = value + 1 WHERE id = i; \
                 UPDATE bench_keys SET value = value - 1 WHERE id = i; \
                 SELECT value INTO v FROM bench_keys WHERE id = i; END'",
        statement: "CALL bench_pay(17, 0)",
        units: Units::One,
        is_constant: true,
    },
];

/// Rows that one INSERT makes.
const INSERTED: u32 = 1_000_000;

/// The statements that make the tables, with so many rows.
pub(super) fn tables(rows: u32) -> String {
    let mut script = cleanup();
    script.push_str("CREATE TABLE bench_rows (id int PRIMARY KEY);");
    for first in (1..=rows).step_by(INSERTED as usize) {
        let last = rows.min(first + INSERTED - 1);
        script
            .push_str(&format!("INSERT INTO bench_rows SELECT generate_series({first}, {last});"));
    }
    script.push_str(
        "CREATE TABLE bench_keys (id int PRIMARY KEY, value int NOT NULL);\
         INSERT INTO bench_keys SELECT g, g FROM generate_series(0, 999) g;",
    );
    script
}

/// The statements that drop the tables. Functions stay, and are replaced by the next run.
pub(super) fn cleanup() -> String {
    "DROP TABLE IF EXISTS bench_rows; DROP TABLE IF EXISTS bench_keys;".to_owned()
}

impl Work {
    /// Its statement.
    pub(super) fn statement(&self, turns: u32) -> String {
        self.statement.replace("$n", &turns.to_string())
    }

    /// How often it does what it does.
    pub(super) fn units(&self, rows: u32, turns: u32) -> u32 {
        match self.units {
            Units::Rows => rows,
            Units::Turns => turns,
            Units::One => 1,
        }
    }

    /// Whether it computes the expression for the rows of the table.
    pub(super) fn is_of_rows(&self) -> bool {
        self.units == Units::Rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"(module (func (export "bench_wasm") (param i32) (result i32)
        (i32.rem_s (i32.add (i32.mul (local.get 0) (i32.const 7)) (i32.const 3)) (i32.const 10))))"#;

    #[test]
    fn the_module_is_what_its_text_says() {
        let bytes = wat::parse_str(MODULE).unwrap();
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(module!(), format!("\\x{digits}"));
    }

    #[test]
    fn rows_come_in_several_statements() {
        let script = tables(2_500_000);
        assert!(script.contains("generate_series(2000001, 2500000)"), "{script}");
        assert_eq!(script.matches("INSERT INTO bench_rows").count(), 3);
    }

    #[test]
    fn loops_have_the_number_of_turns() {
        for work in WORKS.iter().filter(|work| work.units == Units::Turns) {
            assert!(work.statement(42).ends_with("(42)"), "{}", work.name);
        }
    }
}
