//! Procedures whose statements are about rows of one place: the owner of these executes their calls.

use crate::joins::{rows, until_nothing_is_left};
use crate::random_moves::RandomMoves;
use crate::statements::{execute, number, servers, until_spread};
use pando::{Database, Session};
use query::ScalarValue;
use std::time::{Duration, Instant};
use workloads::InProcess;

const SCHEMA: &[&str] = &[
    "CREATE TABLE accounts (id bigint PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0), owner text)",
    "CREATE TABLE entries (account bigint, number bigint, amount bigint, PRIMARY KEY (account, number)) \
     WITH (colocate_with = 'accounts')",
    "INSERT INTO accounts SELECT i, 1000, repeat('x', 20) FROM generate_series(1, 3000) AS g(i)",
    "CREATE SEQUENCE numbers",
    "CREATE PROCEDURE pay(payer bigint, amount bigint, INOUT rest bigint DEFAULT NULL) LANGUAGE plpgsql AS $$
     DECLARE many bigint;
     BEGIN
         UPDATE accounts SET balance = balance - amount WHERE id = payer RETURNING balance INTO rest;
         SELECT count(*) INTO many FROM entries e WHERE e.account = payer;
         INSERT INTO entries (account, number, amount) VALUES (payer, many + 1, pay.amount);
         RAISE NOTICE 'paid %', amount;
     END $$",
    "CREATE PROCEDURE deposit(bigint, bigint) LANGUAGE sql AS
     'UPDATE accounts SET balance = balance + $2 WHERE id = $1'",
    "CREATE PROCEDURE transfer(payer bigint, payee bigint, amount bigint) LANGUAGE plpgsql AS $$
     BEGIN
         UPDATE accounts SET balance = balance - amount WHERE id = payer;
         UPDATE accounts SET balance = balance + amount WHERE id = payee;
     END $$",
    "CREATE PROCEDURE refuse(of bigint) LANGUAGE plpgsql AS $$
     BEGIN
         UPDATE accounts SET balance = 7 WHERE id = of;
         RAISE EXCEPTION 'no %', of USING ERRCODE = 'P4242', HINT = 'ask', DETAIL = 'why';
     END $$",
    "CREATE PROCEDURE numbered(of bigint) LANGUAGE plpgsql AS $$
     BEGIN UPDATE accounts SET balance = nextval('numbers') WHERE id = of; END $$",
    "CREATE PROCEDURE set_zone(of bigint) LANGUAGE plpgsql AS $$
     BEGIN
         UPDATE accounts SET balance = balance + 1 WHERE id = of;
         SET timezone = 'Asia/Tokyo';
     END $$",
    "CREATE PROCEDURE put_aside(of bigint) LANGUAGE plpgsql AS $$
     BEGIN
         CREATE TEMPORARY TABLE aside AS SELECT balance FROM accounts WHERE id = of;
     END $$",
    "CREATE PROCEDURE locked(of bigint) LANGUAGE plpgsql AS $$
     BEGIN
         UPDATE accounts SET balance = balance + 1 WHERE id = of;
         PERFORM pg_advisory_lock(of);
     END $$",
    "CREATE PROCEDURE told(of bigint, INOUT is_mine boolean DEFAULT NULL) LANGUAGE plpgsql AS $$
     BEGIN
         UPDATE accounts SET owner = current_user || ' ' || current_setting('app.name') WHERE id = of;
         PERFORM pg_notify('told', of::text);
         is_mine := pg_backend_pid()::text = current_setting('app.process');
     END $$",
    "CREATE PROCEDURE waited(of bigint) LANGUAGE plpgsql AS $$
     BEGIN
         UPDATE accounts SET balance = 7 WHERE id = of;
         PERFORM pg_sleep(60);
     END $$",
];

/// Three servers with accounts on all of them.
async fn bank() -> InProcess {
    let servers = servers().await;
    for statement in SCHEMA {
        execute(&servers.servers()[1].database, statement).await;
    }
    until_spread(&servers, "accounts").await;
    servers
}

fn of(servers: &InProcess, server: usize) -> &Database {
    &servers.servers()[server].database
}

/// Accounts of another server than the first one, and of the first one.
async fn there_and_here(servers: &InProcess) -> (i64, i64) {
    let mut found = [None; 2];
    let session = of(servers, 0).session();
    session.execute("SET client_min_messages = debug1").await.expect("set");
    for account in (1..3000).step_by(50) {
        let is_there = is_forwarded(&session, &format!("CALL deposit({account}, 0)")).await;
        found[usize::from(!is_there)].get_or_insert(account);
    }
    (found[0].expect("of another server"), found[1].expect("of the first server"))
}

/// Executes a statement, and says whether another server has.
async fn is_forwarded(session: &Session, sql: &str) -> bool {
    session.take_notices();
    session.execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let notices = session.take_notices();
    notices.iter().any(|notice| notice.error.message().contains("was executed by the owner"))
}

async fn balance(servers: &InProcess, account: i64) -> i64 {
    number(of(servers, 2), &format!("SELECT balance FROM accounts WHERE id = {account}")).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners_execute_calls() {
    let servers = bank().await;
    let (there, here) = there_and_here(&servers).await;
    let session = of(&servers, 0).session();
    session.execute("SET client_min_messages = debug1").await.expect("set");
    assert!(!is_forwarded(&session, &format!("CALL deposit({here}, 5)")).await);
    assert!(is_forwarded(&session, &format!("CALL deposit({there}, 5)")).await);
    assert!(is_forwarded(&session, &format!("CALL deposit({there}::int + 0, abs(-5))")).await);
    let values = [ScalarValue::from(there), ScalarValue::from(0_i64)];
    let deposit = query::parse("CALL deposit($1, $2)").expect("a statement");
    session.run(&deposit[0], &values).await.expect("executed with parameters");
    assert_eq!(session.take_notices().len(), 1, "by the owner");
    assert_eq!((balance(&servers, there).await, balance(&servers, here).await), (1010, 1005));
    assert!(!is_forwarded(&session, &format!("CALL transfer({there}, {here}, 10)")).await);
    assert!(!is_forwarded(&session, &format!("BEGIN; CALL deposit({there}, 1); ROLLBACK")).await);
    assert!(!is_forwarded(&session, "CALL deposit(NULL, 1)").await);
    assert_eq!((balance(&servers, there).await, balance(&servers, here).await), (1000, 1015));

    session.execute("RESET client_min_messages").await.expect("reset");
    let mut paid = Vec::new();
    for account in [there, here] {
        session.take_notices();
        assert_eq!(rows(&session, &format!("CALL pay({account}, amount => 100)")).await.len(), 1);
        paid.push(session.take_notices());
    }
    assert_eq!(paid[0], paid[1]);
    assert_eq!((paid[0][0].severity, paid[0][0].error.message()), ("NOTICE", "paid 100"));
    let entries = number(of(&servers, 1), "SELECT sum(number * amount)::bigint FROM entries").await;
    assert_eq!((entries, balance(&servers, there).await), (200, 900));
    until_nothing_is_left(&servers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_fail_change_nothing_and_say_why() {
    let servers = bank().await;
    let (there, here) = there_and_here(&servers).await;
    let session = of(&servers, 0).session();
    let mut errors = Vec::new();
    for account in [there, here] {
        let error = session
            .execute(&format!("CALL refuse({account})"))
            .await
            .map(drop)
            .expect_err("refused");
        assert_eq!(error.message(), format!("no {account}"));
        errors.push((
            error.state(),
            error.hint().map(str::to_owned),
            error.context().map(str::to_owned),
        ));
        let error = session
            .execute(&format!("CALL pay({account}, 5000)"))
            .await
            .map(drop)
            .expect_err("poor");
        assert_eq!(
            (error.state().code(), error.subject().table.as_deref()),
            ("23514", Some("accounts"))
        );
        assert_eq!(balance(&servers, account).await, 1000);
    }
    assert_eq!(errors[0], errors[1]);
    assert_eq!(errors[0].0.code(), "P4242");
    let error = session
        .execute(&format!("CALL pay({there})"))
        .await
        .map(drop)
        .expect_err("no such procedure");
    assert_eq!(error.state().code(), "42883");
    let error = session
        .execute("CALL deposit(10000000000000000000, 1)")
        .await
        .map(drop)
        .expect_err("too large");
    assert_eq!(error.state().code(), "42883");

    execute(of(&servers, 0), "CREATE ROLE clerk").await;
    session.execute("SET ROLE clerk").await.expect("set");
    for account in [there, here] {
        let error = session
            .execute(&format!("CALL deposit({account}, 1)"))
            .await
            .map(drop)
            .expect_err("denied");
        assert_eq!(error.state().code(), "42501");
    }
    until_nothing_is_left(&servers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_end_early_at_their_owners() {
    let servers = bank().await;
    let (there, _) = there_and_here(&servers).await;
    let session = of(&servers, 0).session();
    session.execute("SET statement_timeout = '200ms'").await.expect("set");
    let begun = Instant::now();
    let error =
        session.execute(&format!("CALL waited({there})")).await.map(drop).expect_err("too slow");
    assert_eq!(error.message(), "canceling statement due to statement timeout");
    session.execute("RESET statement_timeout").await.expect("reset");
    let (running, handle) = (session.clone(), session.cancel_handle());
    let call = tokio::spawn(async move { running.execute(&format!("CALL waited({there})")).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    handle.cancel();
    let error = call.await.expect("ended").map(drop).expect_err("cancelled");
    assert_eq!(error.state().code(), "57014");
    assert!(begun.elapsed().as_secs() < 30, "both have ended early");
    assert_eq!(balance(&servers, there).await, 1000);
    session.execute(&format!("CALL deposit({there}, 1)")).await.expect("nothing is locked");
    until_nothing_is_left(&servers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_have_what_their_calls_leave_in_them() {
    let servers = bank().await;
    let (there, _) = there_and_here(&servers).await;
    let session = of(&servers, 0).session();
    let one = async |sql: &str| rows(&session, sql).await.join(",");
    session.execute("SET client_min_messages = debug1").await.expect("set");
    assert!(is_forwarded(&session, &format!("CALL numbered({there})")).await);
    assert_eq!(one("SELECT currval('numbers') = lastval()").await, one("SELECT true").await);
    let value = balance(&servers, there).await;
    assert_eq!(one("SELECT lastval()").await, one(&format!("SELECT {value}::bigint")).await);

    assert!(!is_forwarded(&session, &format!("CALL set_zone({there})")).await);
    assert!(is_forwarded(&session, &format!("CALL set_zone({there})")).await, "nothing changes");
    assert_eq!(session.setting("timezone").as_deref(), Some("Asia/Tokyo"));
    assert_eq!(balance(&servers, there).await, value + 2);
    assert!(!is_forwarded(&session, &format!("CALL locked({there})")).await);
    assert_eq!(one(&format!("SELECT pg_advisory_unlock({there})")).await, one("SELECT true").await);
    assert_eq!(balance(&servers, there).await, value + 3);

    session.execute("LISTEN told; SET app.name = 'till'").await.expect("set");
    session.announce().await;
    session
        .execute("SELECT set_config('app.process', pg_backend_pid()::text, false)")
        .await
        .expect("set");
    let call = format!("CALL told({there})");
    assert_eq!(one(&call).await, one("SELECT true").await);
    session.notified().await;
    assert_eq!(session.take_notifications()[0].payload, there.to_string());
    let owner = one(&format!("SELECT owner FROM accounts WHERE id = {there}")).await;
    assert_eq!(owner, one("SELECT current_user || ' till'").await);
    assert!(is_forwarded(&session, &call).await);

    assert!(!is_forwarded(&session, &format!("CALL put_aside({there})")).await);
    assert_eq!(one("SELECT count(*) FROM aside").await, one("SELECT 1::bigint").await);
    until_nothing_is_left(&servers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_meet_moves_and_new_definitions() {
    let servers = bank().await;
    let random_moves = RandomMoves::over(&servers);
    let clients = (0..3).map(|server| {
        let session = of(&servers, server).session();
        tokio::spawn(async move {
            for round in 0..100_i64 {
                let account = round * 29 % 3000 + 1;
                let call = format!("CALL pay({account}, 1)");
                session.execute(&call).await.unwrap_or_else(|error| panic!("{call}: {error}"));
            }
        })
    });
    let clients: Vec<_> = clients.collect();
    for round in 0..20 {
        let define = format!(
            "CREATE OR REPLACE PROCEDURE deposit(bigint, bigint) LANGUAGE sql AS
             'UPDATE accounts SET balance = balance + $2 * 0 + {round} WHERE id = $1'"
        );
        execute(of(&servers, round % 3), &define).await;
        let account = 3000 - round as i64;
        let before = balance(&servers, account).await;
        execute(of(&servers, (round + 1) % 3), &format!("CALL deposit({account}, 1)")).await;
        assert_eq!(balance(&servers, account).await, before + round as i64, "{account}");
    }
    for client in clients {
        client.await.expect("no client fails");
    }
    drop(random_moves);
    let total = number(of(&servers, 0), "SELECT sum(balance)::bigint FROM accounts").await;
    assert_eq!(total, 3000 * 1000 - 300 + 190);
    let entries = number(of(&servers, 1), "SELECT count(*) FROM entries").await;
    assert_eq!(entries, 300);
    until_nothing_is_left(&servers).await;
}
