//! Servers that join a cluster, and servers that are refused.

use crate::harness::{ROWS, filled, first, join, number, run, serve, start, told, until};

#[tokio::test]
async fn a_server_that_joins_gets_a_share() {
    let first = first();
    let _second = join("two", &first);
    let client = first.connect().await;
    filled(&client, 2).await;
    let third = join("three", &first);
    let share = "SELECT count(*) = 1 FROM pando.servers WHERE name = 'three' AND rows > ";
    let some = until(&client, &format!("{share} 0")).await;
    let all = until(&client, &format!("{share} {}", ROWS / 5)).await;
    eprintln!("the new server had rows after {some:?}, and its share {all:?} later");
    let third = third.connect().await;
    assert_eq!(number(&third, "SELECT count(*) FROM t").await, ROWS);
    assert_eq!(run(&third, "UPDATE t SET n = 1").await, ROWS as u64);
    assert_eq!(number(&client, "SELECT sum(n)::bigint FROM t").await, ROWS);
    let led = "SELECT count(*) FROM pando.groups JOIN pando.servers USING (number) \
        WHERE leader = name AND members = name AND is_root = (name = 'one') AND NOT is_lost";
    assert_eq!(number(&third, led).await, 3);
    assert!(number(&third, "SELECT sum(pages)::bigint FROM pando.groups").await > 0);
    let lengths = "SELECT bool_and(hops = requests + forwards) FROM pando.images";
    until(&third, lengths).await;
    let asked = "SELECT sum(requests)::bigint FROM pando.images WHERE \"table\" = 't'";
    assert!(number(&third, asked).await > 0);
}

/// The error of a server that cannot join.
fn refused(arguments: &[&str]) -> String {
    let output = serve(arguments).output().expect("pando runs");
    let (_, shown, stderr) = told(&output);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {shown}{stderr}");
    assert_eq!(shown, "", "nobody is told to connect");
    stderr
}

fn assert_says(stderr: &str, parts: &[&str]) {
    for part in parts {
        assert!(stderr.contains(part), "\"{part}\" is not in: {stderr}");
    }
}

#[test]
fn the_reason_of_a_refusal_is_reported() {
    let first = first();
    let stderr = refused(&["--join", &first.address, "--name", "one"]);
    assert_says(&stderr, &["\"one\"", "already", "--name"]);
    // No server listens on port 1.
    let stderr = refused(&["--join", "127.0.0.1:1", "--name", "two"]);
    assert_says(&stderr, &["127.0.0.1:1", "--join"]);
    let stderr = refused(&["--join", &first.pg, "--name", "two"]);
    assert_says(&stderr, &[&first.pg]);
    let stderr = refused(&["--join", "nowhere", "--name", "two"]);
    assert_says(&stderr, &["join", "\"nowhere\"", "HOST:PORT"]);
    let stderr = refused(&["--join", &first.address, "--token", "half", "--name", "two"]);
    assert_says(&stderr, &["token", "copy"]);
}

#[tokio::test]
async fn beyond_one_machine_a_token_is_needed() {
    let first = start("one", &["--cluster", "0.0.0.0:0", "--advertise", "127.0.0.1:0"]);
    let token = first.token.as_deref().expect("a token is printed");
    let second = start("two", &["--join", &first.address, "--token", token]);
    let (one, two) = (first.connect().await, second.connect().await);
    filled(&two, 2).await;
    assert_eq!(number(&one, "SELECT count(*) FROM t").await, ROWS);
    assert!(!second.log().contains(token) && !first.log().contains(token), "it stays a secret");
    let stderr = refused(&["--join", &first.address, "--name", "three"]);
    assert_says(&stderr, &[&first.address, "token"]);
    let other = start("other", &["--cluster", "0.0.0.0:0", "--advertise", "127.0.0.1:0"]);
    let token = other.token.as_deref().expect("a token is printed");
    let stderr = refused(&["--join", &first.address, "--name", "three", "--token", token]);
    assert_says(&stderr, &[&first.address, "token"]);
    let plain = crate::harness::first();
    let stderr = refused(&["--join", &plain.address, "--name", "three", "--token", token]);
    assert_says(&stderr, &[&plain.address, "token"]);
    let stderr = refused(&["--cluster", "0.0.0.0:0"]);
    assert_says(&stderr, &["0.0.0.0", "--advertise"]);
}
