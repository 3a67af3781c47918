//! `pando sql URL` on a `pando serve` process.

mod served;

use served::{World, err, guarded_world, pando, world};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Runs `pando sql` with arguments and standard input.
fn sql(arguments: &[&str], input: &str) -> Output {
    let mut command = pando();
    command.arg("sql").args(arguments).stdin(Stdio::piped());
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("pando starts");
    // A program that refuses its arguments does not read its input.
    let _ = child.stdin.take().expect("is piped").write_all(input.as_bytes());
    child.wait_with_output().expect("ends")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

impl World {
    fn sql(&self, arguments: &[&str]) -> Output {
        sql(&[&[self.url.as_str()], arguments].concat(), "")
    }

    /// The output of a run that must succeed.
    fn answered(&self, arguments: &[&str]) -> String {
        let output = self.sql(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", err(&output));
        out(&output)
    }
}

/// A script with most features of the shell, without durations.
const SCRIPT: &str = "\
create schema shop;
create table t (id bigint primary key, name text not null default 'x', n numeric(10,2), check (n > 0));
comment on table t is 'things';
create view v as select id, name from t;
create sequence s start 7;
insert into t values (1, 'one', 1.5), (2, E'two\\nlines', null) returning id, n;
create table if not exists t (id int);
drop table if exists nothing;
update t set n = 2 where id = 2;
\\d
\\dt
\\dv
\\dn
\\d t
\\d v
\\d s
\\d pando.buckets
copy t (id, name) from stdin;
5\tfive;
6\t\\N'
\\.
copy (select id, name from t order by id) to stdout (format csv, header);
explain select * from t where id = 1;
select true as b, 1.5::float8 as f, array[1, null] as a, null::text as nothing, date '2024-02-29' as day,
    '{\"a\":1}'::json as j, 1::oid as o, timestamptz '2024-01-02 03:04:05+00' as t;
\\x
select * from t order by id;
begin;
delete from t;
rollback;
select count(*) from t;
\\h truncate
\\?
";

#[test]
fn a_server_answers_like_a_database_in_the_process() {
    let world = world(&[]);
    let file = world.file("script.sql", SCRIPT);
    let there = world.sql(&["-f", &file]);
    let here = sql(&["-f", &file], "");
    assert!(there.status.success() && here.status.success(), "{}{}", err(&there), err(&here));
    assert_eq!(out(&there), out(&here));
    assert_eq!(err(&there), err(&here));
    assert!(err(&there).contains("NOTICE 42P07: relation \"t\" already exists, skipping\n"));
    for part in ["INSERT", "COPY 2 rows", "6,N'", "Primary key: (id)", "Size: 2 rows", "count │ 4"]
    {
        assert!(out(&there).contains(part) || part == "INSERT", "{part} in\n{}", out(&there));
    }
}

#[test]
fn csv_and_json() {
    let world = world(&[]);
    let query = "select 1 as n, 'x\"y' as t, null as nothing, '' as empty, true as flag, array['a,b', null] as a";
    assert_eq!(
        world.answered(&["--csv", "-c", query]),
        "n,t,nothing,empty,flag,a\n1,\"x\"\"y\",,\"\",t,\"{\"\"a,b\"\",NULL}\"\n"
    );
    assert_eq!(
        world.answered(&["--json", "-c", query]),
        "{\"n\":1,\"t\":\"x\\\"y\",\"nothing\":null,\"empty\":\"\",\"flag\":true,\"a\":[\"a,b\",null]}\n"
    );
}

#[test]
fn errors_have_a_position_and_end_the_script() {
    let world = world(&[]);
    let file = world.file("broken.sql", "select 1;\n\nselect *\n from prson;\nselect 3;\n");
    let output = world.sql(&["--csv", "-f", &file]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(out(&output), "?column?\n1\n");
    assert!(err(&output).contains("broken.sql:4: ERROR 42P01:"), "{}", err(&output));
    assert!(err(&output).contains("LINE 4:  from prson\n              ^\n"), "{}", err(&output));
    let twice = "create table t (n bigint primary key); insert into t values (1), (1)";
    let output = world.sql(&["-c", twice]);
    assert!(err(&output).contains("ERROR 23505:"), "{}", err(&output));
    assert!(err(&output).contains("\nDETAIL: Key"), "{}", err(&output));
    let output = world.sql(&["-c", "\\d nobody"]);
    assert!(err(&output).contains("ERROR 42P01: there is no table"), "{}", err(&output));
}

#[test]
fn an_error_after_rows_is_reported_after_them() {
    let world = world(&[]);
    let query = "select 1 / (x - 90000) from generate_series(1, 100000) as g(x)";
    let output = world.sql(&["--csv", "-c", query]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).starts_with("ERROR 22012: division by zero"), "{}", err(&output));
}

#[test]
fn a_session_lasts_for_all_scripts() {
    let world = world(&[]);
    let create = "begin; create table t (n int)";
    let script = world.file("more.sql", "insert into t values (1);\ncommit;\n");
    world.answered(&["-c", create, "-f", &script]);
    // Uncommitted changes are rolled back with the session.
    world.answered(&["-c", "begin; insert into t values (2)"]);
    assert_eq!(world.answered(&["--csv", "-c", "select n from t"]), "n\n1\n");
}

#[test]
fn data_comes_from_standard_input() {
    let world = world(&[]);
    let copy = "create table t (n int, t text); copy t from stdin (format csv)";
    let output =
        sql(&[&world.url, "-c", copy, "--csv", "-c", "select * from t"], "1,a\n2,\"b\nc\"\n");
    assert!(output.status.success(), "{}", err(&output));
    assert_eq!(out(&output), "n,t\n1,a\n2,\"b\nc\"\n");
    let wrong =
        format!("copy t from stdin;\n3\tx\nfour\ty\n{}\\.\nselect 1;\n", "5\tz\n".repeat(100_000));
    let output = sql(&[&world.url], &wrong);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("22P02") && out(&output).is_empty(), "{}", err(&output));
}

#[test]
fn rows_are_streamed() {
    let world = world(&[]);
    let query = "select * from generate_series(1, 1000000000000)";
    let mut child = pando()
        .args(["sql", &world.url, "--csv", "-c", query])
        .stdout(Stdio::piped())
        .spawn()
        .expect("pando starts");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    // More than all buffers on the way hold.
    let last = lines.map(|line| line.expect("text")).nth(2_000_000);
    assert_eq!(last.as_deref(), Some("2000000"));
    // A closed output is no error.
    assert!(child.wait().expect("ends").success());
}

#[test]
fn an_interrupt_cancels_on_the_server() {
    let world = world(&[]);
    let query =
        "select count(*) from generate_series(1, 100000000) a, generate_series(1, 100000) b";
    let child = pando()
        .args(["sql", &world.url, "-c", query])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("pando starts");
    let running = "select count(*) from pg_stat_activity \
                   where state = 'active' and query like '%100000000%' and query not like '%stat%'";
    while world.answered(&["--csv", "-c", running]) != "count\n1\n" {
        sleep(Duration::from_millis(20));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("ERROR 57014: canceling statement"), "{}", err(&output));
    assert_eq!(world.answered(&["--csv", "-c", running]), "count\n0\n");
}

#[test]
fn the_end_of_a_server_is_reported() {
    let mut world = world(&[]);
    let query =
        "select count(*) from generate_series(1, 100000000) a, generate_series(1, 100000) b";
    let mut child = pando()
        .args(["sql", &world.url, "-c", "create table t (n int)", "-c", query])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("pando starts");
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    stdout.read_line(&mut line).expect("a line");
    assert_eq!(line, "CREATE TABLE\n");
    sleep(Duration::from_millis(100));
    world.process.kill().expect("is killed");
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(1));
    let stderr = err(&output);
    assert!(stderr.starts_with("ERROR 08006: the connection to 127.0.0.1:"), "{stderr}");
    assert!(stderr.contains("was not run") || stderr.contains("not known whether"), "{stderr}");
    assert!(!stderr.contains("reconnects"), "{stderr}");
}

#[test]
fn sources_of_passwords() {
    let world = guarded_world();
    let (_, address) = world.url.split_once('@').expect("a user");
    let (place, _) = address.split_once('/').expect("a database");
    let run = |url: &str, variables: &[(&str, &str)]| {
        let mut command = pando();
        command.args(["sql", url, "--csv", "-c", "select current_user"]);
        command.envs(variables.iter().copied()).output().expect("pando runs")
    };
    let welcome = |output: Output| {
        assert!(output.status.success(), "{}", err(&output));
        assert_eq!(out(&output), "current_user\nada\n");
    };
    let encrypted = format!("{}?sslmode=require", world.url);
    welcome(run(&format!("postgres://ada:right@{address}?sslmode=require"), &[]));
    welcome(run(&encrypted, &[("PGPASSWORD", "right")]));
    let passwords =
        world.file("passwords", &format!("{place}:other:ada:wrong\n{place}:*:ada:right\n"));
    let rights = |mode| fs::set_permissions(&passwords, fs::Permissions::from_mode(mode));
    rights(0o600).expect("is set");
    welcome(run(&encrypted, &[("PGPASSFILE", &passwords)]));

    rights(0o644).expect("is set");
    let readable = run(&encrypted, &[("PGPASSFILE", &passwords)]);
    assert!(err(&readable).contains("chmod 0600"), "{}", err(&readable));
    let missing = run(&encrypted, &[]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(err(&missing).contains("requires a password for ada"), "{}", err(&missing));
    let wrong = run(&encrypted, &[("PGPASSWORD", "wrong")]);
    assert!(
        err(&wrong).contains("ERROR 28P01") || err(&wrong).contains("FATAL 28P01"),
        "{}",
        err(&wrong)
    );
}

#[test]
fn unreachable_servers_are_reported() {
    let nobody = sql(&["postgres://127.0.0.1:1/x", "-c", "select 1"], "");
    assert_eq!(nobody.status.code(), Some(1));
    assert!(
        err(&nobody).contains("cannot connect to 127.0.0.1:1: Connection refused"),
        "{}",
        err(&nobody)
    );
    assert_eq!(sql(&["script.sql"], "").status.code(), Some(2));
    let both = sql(&["postgres://127.0.0.1:1/x", "--memory", "1GiB"], "");
    assert_eq!(both.status.code(), Some(2));
    let mode = sql(&["postgres://127.0.0.1:1/x?sslmode=maybe"], "");
    assert!(err(&mode).contains("\"maybe\""), "{}", err(&mode));
    let plain = world(&[]);
    let encrypted = sql(&[&format!("{}?sslmode=require", plain.url), "-c", "select 1"], "");
    assert!(err(&encrypted).contains("the server does not offer"), "{}", err(&encrypted));
}
