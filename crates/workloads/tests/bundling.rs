//! TPC-H with operator bundles (PAPERS E2) under each scheme: the answers are DuckDB's, and the bundles of the six queries of
//! the smart disk paper are those of a golden file.
//!
//! `UPDATE_GOLDENFILES=1 cargo test --profile quick --package workloads --test bundling` writes the golden file.

use goldenfile::Mint;
use std::io::Write;
use workloads::{Embedded, Expected, tpch};

/// The scale factor.
const SCALE: f64 = 0.01;

/// The queries of the paper.
const QUERIES: [u8; 6] = [1, 3, 6, 12, 13, 16];

const SCHEMES: [&str; 3] = ["none", "optimal", "excessive"];

/// TPC-H's tables, and a session with two threads.
async fn loaded() -> Embedded {
    let options = query::Options { threads: Some(2), ..query::Options::default() };
    let database = query::Database::open(options).expect("a database");
    let pando = Embedded { session: database.session() };
    for source in tpch::tables(SCALE) {
        pando.load(source).await.expect("loaded");
    }
    pando
}

async fn set(pando: &Embedded, setting: &str) {
    pando.session.execute(&format!("SET {setting}")).await.expect("set");
}

/// The lines of an answer's first column.
async fn lines(pando: &Embedded, sql: &str) -> Vec<String> {
    let answer = pando.answer(sql).await.expect("answered");
    answer.rows.into_iter().filter_map(|mut row| row.swap_remove(0)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_the_same_under_all_schemes() {
    let (pando, expected) = (loaded().await, Expected::at(SCALE).expect("answers at this scale"));
    let mut wrong = Vec::new();
    for (scheme, bytes) in SCHEMES.map(|scheme| (scheme, 1 << 28)).into_iter().chain([("none", 0)])
    {
        set(&pando, &format!("pando.bundling = {scheme}")).await;
        set(&pando, &format!("pando.bundle_bytes = {bytes}")).await;
        for n in 1..=tpch::QUERIES {
            let checked = match pando.answer(tpch::query(n)).await {
                Ok(answer) => expected.check(n, &answer),
                Err(error) => Err(error.context(format!("query {n}, {scheme}, {bytes} bytes"))),
            };
            wrong.extend(checked.err().map(|error| format!("{error:#}")));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn bundles_of_the_six_queries_are_those_of_the_golden_file() {
    let pando = loaded().await;
    let mut mint = Mint::new("tests/golden");
    let mut golden = mint.new_goldenfile("bundling.txt").expect("a file");
    for n in QUERIES {
        writeln!(golden, "Q{n}").expect("written");
        for scheme in SCHEMES {
            set(&pando, &format!("pando.bundling = {scheme}")).await;
            let lines = lines(&pando, &format!("EXPLAIN {}", tpch::query(n))).await;
            let is_bundle =
                |line: &&String| line.starts_with(' ') && line.as_bytes()[2].is_ascii_digit();
            let bundles = lines[1..].iter().take_while(is_bundle);
            writeln!(golden, "{}", lines[0]).expect("written");
            bundles.for_each(|line| writeln!(golden, "{line}").expect("written"));
        }
        writeln!(golden).expect("written");
    }
}
