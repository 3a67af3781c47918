//! Statements as commands, and what is refused.

use commands::{Command, Definition, Direction, Error, RoleOption, RoleStatement, read};

fn read_one(text: &str) -> Result<Command, Error> {
    let script = grammar::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let node = script.statements()[0].stmt.as_ref().and_then(|node| node.node.as_ref());
    read(node.expect("a statement")).map(|command| command.expect("a command"))
}

#[test]
fn all_directions_are_read() {
    use Direction::{Absolute, Backward, Forward, Relative};
    for (text, expected) in [
        ("FETCH c", Forward(Some(1))),
        ("FETCH FROM c", Forward(Some(1))),
        ("FETCH NEXT IN c", Forward(Some(1))),
        ("FETCH PRIOR FROM c", Backward(Some(1))),
        ("FETCH FIRST c", Absolute(1)),
        ("FETCH LAST c", Absolute(-1)),
        ("FETCH ABSOLUTE -3 FROM c", Absolute(-3)),
        ("FETCH RELATIVE 2 FROM c", Relative(2)),
        ("FETCH 7 c", Forward(Some(7))),
        ("FETCH -7 IN c", Backward(Some(7))),
        ("FETCH 0 FROM c", Relative(0)),
        ("FETCH ALL c", Forward(None)),
        ("FETCH FORWARD c", Forward(Some(1))),
        ("FETCH FORWARD 3 FROM c", Forward(Some(3))),
        ("FETCH FORWARD ALL FROM c", Forward(None)),
        ("MOVE BACKWARD FROM c", Backward(Some(1))),
        ("MOVE BACKWARD 3 c", Backward(Some(3))),
        ("MOVE BACKWARD ALL IN c", Backward(None)),
    ] {
        match read_one(text) {
            Ok(Command::Fetch(fetch)) => assert_eq!(fetch.direction, expected, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn options_of_declare_come_in_any_order() {
    let text = "DECLARE c INSENSITIVE SCROLL BINARY CURSOR WITH HOLD FOR SELECT 1";
    let Ok(Command::Declare(declare)) = read_one(text) else { panic!("{text}") };
    assert!(declare.scrolls && declare.is_binary && declare.holds);
    let text = "declare c no scroll cursor without hold for select 1";
    let Ok(Command::Declare(declare)) = read_one(text) else { panic!("{text}") };
    assert!(!declare.scrolls && !declare.is_binary && !declare.holds);
}

#[test]
fn a_user_may_log_in() {
    let Ok(Command::Role(RoleStatement::Create { options, .. })) = read_one("CREATE USER u") else {
        panic!("no role");
    };
    assert_eq!(options, [RoleOption::Login(true)]);
}

#[test]
fn expressions_are_kept_as_text() {
    let text = "CREATE TABLE t (a int CHECK (a>0 AND A  <> 5), b text DEFAULT lower ( 'X' ))";
    let Ok(Command::Definition(definition)) = read_one(text) else { panic!("{text}") };
    let Definition::CreateTable(create) = *definition else { panic!("{text}") };
    assert_eq!(create.columns[0].checks[0].condition, "a > 0 AND a <> 5");
    assert_eq!(create.columns[1].default.as_deref(), Some("lower('X')"));
}

/// PostgreSQL's statements and options that are not supported are named.
#[test]
fn what_is_missing_is_named() {
    for (text, message) in [
        (
            "CREATE INDEX ON t (a) INCLUDE ((b + 1))",
            "expressions are not supported in included columns",
        ),
        ("CREATE INDEX ON t USING gin (a)", "USING gin is not supported"),
        ("CREATE TYPE t", "CREATE TYPE is not supported"),
        ("CREATE EXTENSION x", "CREATE EXTENSION is not supported"),
        ("CREATE DATABASE x", "CREATE DATABASE is not supported"),
        ("DROP FOREIGN TABLE x", "DROP FOREIGN TABLE is not supported"),
        ("ALTER TABLE t SET UNLOGGED", "ALTER TABLE SET UNLOGGED is not supported"),
        ("ALTER TABLE t SET (bucket_size = 1)", "another bucket_size is not supported"),
        (
            "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
            "ALTER TABLE ENABLE ROW LEVEL SECURITY is not supported",
        ),
        (
            "ALTER TABLE t ALTER a SET STATISTICS 5",
            "ALTER TABLE ALTER COLUMN ... SET STATISTICS is not supported",
        ),
        ("CREATE UNLOGGED SEQUENCE s", "UNLOGGED is not supported"),
        ("CREATE TABLE t (a int) TABLESPACE x", "TABLESPACE is not supported"),
        ("COPY t FROM PROGRAM 'x'", "COPY with PROGRAM is not supported"),
        ("PREPARE TRANSACTION 'x'", "PREPARE TRANSACTION is not supported"),
        (
            "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO u",
            "ALTER DEFAULT PRIVILEGES is not supported",
        ),
        ("ALTER ROLE u SET a = 1", "ALTER ROLE ... SET is not supported"),
    ] {
        let error = read_one(text).expect_err(text);
        assert_eq!((error.state, error.message.as_str()), ("0A000", message), "{text}");
    }
}
