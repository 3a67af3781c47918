//! `pando load` into a `pando serve` process.

mod served;

use served::{World, err, guarded_world, pando, world};
use std::path::Path;
use std::process::Output;

impl World {
    fn load(&self, arguments: &[&str]) -> Output {
        pando().args(["load", "--url", &self.url]).args(arguments).output().expect("pando runs")
    }

    fn loaded(&self, arguments: &[&str]) -> String {
        let output = self.load(arguments);
        assert!(output.status.success(), "{}", err(&output));
        String::from_utf8(output.stdout).expect("text")
    }

    /// The error of a load that must fail.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.load(arguments);
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        err(&output)
    }

    async fn rows(&self, query: &str) -> Vec<String> {
        let (client, connection) =
            tokio_postgres::connect(&self.url, tokio_postgres::NoTls).await.expect("connects");
        tokio::spawn(connection);
        let rows = client.query(query, &[]).await.expect("is answered");
        rows.iter().map(|row| row.get(0)).collect()
    }
}

/// A Parquet file with the rows of a query.
fn parquet(path: &Path, query: &str) -> String {
    let path = path.to_str().expect("text").to_owned();
    let statement = format!("COPY ({query}) TO '{path}' (FORMAT parquet)");
    assert!(pando().args(["sql", "-c", &statement]).status().expect("runs").success());
    path
}

#[tokio::test]
async fn every_format_creates_a_table() {
    let world = world(&[]);
    let csv = world.file("a.csv", "id,name,day\n1,Ada,2024-01-01\n2,\"Gr,ace\",2024-01-02\n");
    assert!(world.loaded(&["--create", "--key", "id", "a", &csv]).starts_with("a: 2 rows in"));
    let names = world.rows("SELECT id || name || day FROM a ORDER BY id").await;
    assert_eq!(names, ["1Ada2024-01-01", "2Gr,ace2024-01-02"]);

    let json = world.file("b.jsonl", "{\"id\":5,\"tags\":[\"x\"]}\n{\"id\":6,\"tags\":null}\n");
    world.loaded(&["--create", "b", &json]);
    assert_eq!(world.rows("SELECT concat(id, tags[1]) FROM b ORDER BY id").await, ["5x", "6"]);

    let query = "SELECT id, id * 1.5 AS d, CAST(id AS numeric(10,2)) AS n, \
                 DATE '2024-02-29' AS day FROM generate_series(1, 20000) AS series(id)";
    let file = parquet(&world.folder.path().join("c.parquet"), query);
    world.loaded(&["--create", "--key", "id", "c", &file]);
    let sums = "SELECT concat(count(*), ' ', sum(n), ' ', max(day)) FROM c";
    assert_eq!(world.rows(sums).await, ["20000 200010000.00 2024-02-29"]);
}

#[tokio::test]
async fn the_server_converts_different_types() {
    let world = world(&[]);
    let first = world.file("t.csv", "id,name\n1,2\n");
    world.loaded(&["--create", "t", &first]);
    let json = world.file("t.jsonl", "{\"id\":\"7\",\"name\":\"8\"}\n");
    world.loaded(&["t", &json]);
    assert_eq!(world.rows("SELECT (id + name)::text FROM t ORDER BY id").await, ["3", "15"]);
}

#[tokio::test]
async fn other_delimiters_nulls_and_no_header() {
    let world = world(&[]);
    let first = world.file("t.csv", "id,name\n1,x\n");
    world.loaded(&["--create", "t", &first]);
    let file = world.file("t.data", "2;-\n3;y\n");
    world.loaded(&[
        "--format",
        "csv",
        "--delimiter",
        ";",
        "--no-header",
        "--null",
        "-",
        "t",
        &file,
    ]);
    let rows = world.rows("SELECT id || coalesce(name, 'none') FROM t ORDER BY id").await;
    assert_eq!(rows, ["1x", "2none", "3y"]);
}

#[tokio::test]
async fn a_failed_load_leaves_nothing() {
    let world = world(&[]);
    let good = world.file("good.csv", "id,name\n1,x\n2,y\n");
    let bad = world.file("bad.csv", "id,name\n3,x\nfour,y\n");
    let wrong = world.file("wrong.csv", "id,nome\n3,x\n");
    let broken = world.file("broken.parquet", "garbage");

    assert!(world.refused(&["t", &good]).contains("--create"));
    // The created table is rolled back with the rows.
    let stderr = world.refused(&["--create", "t", &good, &bad]);
    assert!(stderr.contains("nothing was loaded") && stderr.contains("bad.csv"), "{stderr}");
    assert!(stderr.contains("22P02") && stderr.contains("four"), "{stderr}");
    assert!(world.refused(&["t", &good]).contains("42P01"));

    world.loaded(&["--create", "--key", "id", "t", &good]);
    assert!(world.refused(&["t", &good]).contains("23505"));
    assert!(world.refused(&["t", &wrong]).contains("no column \"nome\", only: id, name"));
    assert!(world.refused(&["t", &broken]).contains("broken.parquet"));
    assert!(world.refused(&["t", "no/such.csv"]).contains("no/such.csv"));
    assert!(world.refused(&["--create", "--key", "x", "u", &good]).contains("\"x\""));
    assert_eq!(world.rows("SELECT count(*)::text FROM t").await, ["2"]);
}

#[test]
fn an_unreachable_server_and_a_wrong_password() {
    let world = guarded_world();
    let file = world.file("a.csv", "id\n1\n");
    let load = |password: &str, mode: &str| {
        let url = format!("{}?sslmode={mode}", world.url);
        let mut command = pando();
        command.args(["load", "--create", "--url", &url, "a", &file]);
        command.env("PGPASSWORD", password).output().expect("pando runs")
    };
    let wrong = load("wrong", "require");
    assert_eq!(wrong.status.code(), Some(1));
    assert!(err(&wrong).contains("28P01"), "{}", err(&wrong));
    let right = load("right", "require");
    assert!(right.status.success(), "{}", err(&right));
    let nobody = pando()
        .args(["load", "--url", "postgres://127.0.0.1:1/x", "a", &file])
        .output()
        .expect("pando runs");
    assert_eq!(nobody.status.code(), Some(1));
    assert!(err(&nobody).contains("cannot connect to 127.0.0.1:1"), "{}", err(&nobody));
}
