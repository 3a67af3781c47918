//! `pando sql` in scripts: `-c`, `-f`, standard input, formats, errors and exit codes.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Runs `pando` with arguments and standard input.
fn pando(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pando"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    // A program that refuses its arguments does not read its input.
    let _ = child.stdin.take().expect("is piped").write_all(input.as_bytes());
    child.wait_with_output().expect("ends")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// The output of a run that must succeed.
fn ok(arguments: &[&str], input: &str) -> String {
    let output = pando(arguments, input);
    assert!(output.status.success(), "{arguments:?}: {}", err(&output));
    out(&output)
}

#[test]
fn a_statement_from_the_command_line() {
    let expected = "\
┌─────────┬──────┐
│       n │ t    │
│ integer │ text │
├─────────┼──────┤
│       1 │ one  │
│    NULL │ two  │
└─────────┴──────┘
2 rows
";
    let sql = "create table t (n integer, t text);
               insert into t values (1, 'one'), (null, 'two');
               select n, t from t order by t";
    let shown = ok(&["sql", "-c", sql], "");
    assert_eq!(shown, format!("CREATE TABLE\nINSERT 2 rows\n{expected}"));
}

#[test]
fn commands_share_a_database_and_run_in_order() {
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("rows.sql");
    fs::write(&file, "insert into t values (1), (2);\n").expect("is written");
    let file = file.to_str().expect("text");
    let create = "create table t (n bigint primary key)";
    let shown =
        ok(&["sql", "--csv", "-c", create, "-f", file, "-c", "select n from t order by n"], "");
    assert_eq!(shown, "n\n1\n2\n");
}

#[test]
fn csv_quotes_and_distinguishes_null_from_an_empty_text() {
    let sql = "select 1 as \"a,b\", 'x\"y' as q, null as nothing, '' as empty, true as flag";
    assert_eq!(
        ok(&["sql", "--csv", "-c", sql], ""),
        "\"a,b\",q,nothing,empty,flag\n1,\"x\"\"y\",,\"\",t\n"
    );
}

#[test]
fn json_has_an_object_on_each_line() {
    let sql = "select 1 as n, 'x\"y' as t, null as nothing, false as flag, date '2024-02-29' as d";
    let expected =
        "{\"n\":1,\"t\":\"x\\\"y\",\"nothing\":null,\"flag\":false,\"d\":\"2024-02-29\"}\n";
    assert_eq!(ok(&["sql", "--json", "-c", sql], ""), expected);
}

#[test]
fn standard_input_is_a_script() {
    let script =
        "create table t (n bigint primary key);\ninsert into t values (7);\nselect n from t";
    assert_eq!(ok(&["sql", "--csv"], script), "n\n7\n");
    assert_eq!(ok(&["sql", "--csv", "-f", "-"], script), "n\n7\n");
}

#[test]
fn without_a_terminal_every_row_is_printed() {
    let shown = ok(&["sql", "-c", "select * from generate_series(1, 1000)"], "");
    assert_eq!(shown.lines().filter(|line| line.starts_with('│')).count(), 1002);
    assert!(shown.ends_with("1,000 rows\n"), "{shown}");
}

#[test]
fn an_error_has_a_position_and_ends_the_script() {
    let output = pando(&["sql", "-c", "select 1; select * from prson; select 2"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        out(&output).contains("1 row") && !out(&output).contains("│     2"),
        "{}",
        out(&output)
    );
    let report = err(&output);
    assert!(report.starts_with("ERROR 42P01:"), "{report}");
    assert!(report.contains("prson"), "{report}");
}

#[test]
fn a_syntax_error_has_a_caret_under_it() {
    let output = pando(&["sql", "-c", "select 1 from )"], "");
    assert_eq!(output.status.code(), Some(1));
    let report = err(&output);
    assert!(report.starts_with("ERROR 42601:"), "{report}");
    assert!(report.contains("\nLINE 1: select 1 from )\n                      ^\n"), "{report}");
}

#[test]
fn an_error_in_a_file_names_file_and_line() {
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("broken.sql");
    fs::write(&file, "select 1;\n\nselect 1 from\n);\nselect 3;\n").expect("is written");
    let output = pando(&["sql", "-f", file.to_str().expect("text")], "");
    assert_eq!(output.status.code(), Some(1));
    let report = err(&output);
    assert!(report.contains("broken.sql:4: ERROR 42601:"), "{report}");
    assert!(report.contains("LINE 4: )"), "{report}");
}

#[test]
fn detail_and_hint_are_shown() {
    let sql = "create table t (n bigint primary key); insert into t values (1), (1)";
    let output = pando(&["sql", "-c", sql], "");
    assert_eq!(output.status.code(), Some(1));
    let report = err(&output);
    assert!(report.contains("ERROR 23505:") && report.contains("\nDETAIL: Key"), "{report}");
}

#[test]
fn tables_are_described() {
    let script = "create table person (ssn bigint primary key, name text not null default 'nobody', \
                  check (ssn > 0)) with (bucket_size = '1MiB');\n\
                  create view adults as select name from person;\n\
                  insert into person values (1, 'Ada');\n\\d\n\\dt\n\\dv\n\\dn\n\\d person\n\\d adults\n";
    let shown = ok(&["sql"], script);
    for part in [
        "Table public.person",
        "Primary key: (ssn)",
        "Check: ",
        "1 row, ",
        "in 1 bucket of at most 1.0 MiB",
        "'nobody'",
        "View public.adults",
    ] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
    let output = pando(&["sql"], "\\d nobody\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("stdin:1: ERROR 42P01:"), "{}", err(&output));
}

#[test]
fn scripts_include_scripts_and_quit() {
    let directory = TempDir::new().expect("a directory");
    let inner = directory.path().join("inner.sql");
    fs::write(&inner, "select 'inner' as t;").expect("is written");
    let script = format!("\\i {}\n\\x\nselect 5 as five;\n\\q\nselect 6;\n", inner.display());
    let shown = ok(&["sql"], &script);
    assert!(
        shown.contains("inner") && shown.contains("five │ 5") && !shown.contains('6'),
        "{shown}"
    );
    fs::write(&inner, format!("\\i {}\n", inner.display())).expect("is written");
    let output = pando(&["sql", "-f", inner.to_str().expect("text")], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("deep"), "{}", err(&output));
}

#[test]
fn data_cannot_control_the_terminal() {
    let shown = ok(&["sql", "-c", "select E'\\x1b[2J' as t"], "");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn invalid_commands_are_reported() {
    let missing = pando(&["sql", "-f", "no/such.sql"], "");
    assert_eq!(missing.status.code(), Some(1));
    assert!(err(&missing).contains("no/such.sql"), "{}", err(&missing));
    for usage in [
        &["sql", "--wat"][..],
        &["sql", "--csv", "--json"],
        &["sql", "--memory", "much"],
        &["wat"],
        &[],
    ] {
        assert_eq!(pando(usage, "").status.code(), Some(2), "{usage:?}");
    }
    assert!(ok(&["--version"], "").starts_with("pando "));
}

#[test]
fn the_demo_runs_to_its_end() {
    let shown = ok(&["demo", "--once", "--scale", "0.01", "--persons", "5000"], "");
    for part in ["lineitem", "person", "Q1", "Q16", "247,500", "splits", "counted 5,000 persons"] {
        assert!(
            shown.contains(part) || shown.contains(&part.replace(',', "")),
            "{part} in\n{shown}"
        );
    }
}

#[test]
fn a_closed_output_is_no_error() {
    for arguments in [
        &["sql", "-c", "select * from generate_series(1, 100000)"][..],
        &["predict", "--query", "q3", "--explain"],
        &["predict", "--show", "smart-disk"],
        &["simulate", "directory", "--servers", "4", "--buckets", "8", "--clients", "1"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pando"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ends");
        assert!(output.status.success(), "{arguments:?}: {}", err(&output));
        assert_eq!(err(&output), "", "{arguments:?}");
    }
}

#[test]
fn bench_names_the_command_that_builds_a_missing_program() {
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_pando"));
    let folder = TempDir::new_in(own.parent().expect("a folder")).expect("a directory");
    let alone = folder.path().join("pando");
    fs::hard_link(own, &alone).expect("linked");
    for line in [&["bench", "--help"][..], &["bench", "tpch", "--scale", "1"]] {
        let output = Command::new(&alone).args(line).output().expect("starts");
        assert_eq!(output.status.code(), Some(2), "{line:?}");
        assert_eq!(out(&output), "");
        let command = "cargo build --release --bin pando-bench";
        assert!(err(&output).contains(command), "{}", err(&output));
    }
}

#[test]
fn a_project_of_a_function() {
    let directory = TempDir::new().expect("a directory");
    let project = directory.path().join("it's one");
    let project = project.to_str().expect("text");
    let said = ok(&["function", "new", "slug", project], "");
    assert!(said.contains("install.sql"), "{said}");
    let read = |file: &str| fs::read_to_string(format!("{project}/{file}")).expect(file);
    assert!(read("Cargo.toml").contains("name = \"slug\""));
    assert!(read("src/lib.rs").contains("pub extern \"C\" fn slug("));
    assert!(read("src/border.rs").contains("fn pando_alloc("));
    let install = read("install.sql");
    assert!(
        install.contains("/it''s%20one/target/wasm32-unknown-unknown/release/slug.wasm'"),
        "{install}"
    );
    for file in ["README.md", ".gitignore", "Cargo.toml", "src/lib.rs", "install.sql"] {
        assert!(!read(file).contains("{name}") && !read(file).contains("{directory}"), "{file}");
    }
    let again = pando(&["function", "new", "slug", project], "");
    assert!(
        !again.status.success() && err(&again).contains("cannot be created"),
        "{}",
        err(&again)
    );
    let wrong = pando(&["function", "new", "Slug"], "");
    assert!(!wrong.status.success() && err(&wrong).contains("lower-case"), "{}", err(&wrong));
}
