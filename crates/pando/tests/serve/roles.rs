//! Users and privileges, through clients.

use crate::harness::{connect, serve};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, SimpleQueryMessage};

const SUPERUSER: (&str, &str) = ("admin", "secret");

/// A client with all privileges on a server without users.
async fn first_user(client: &Client) {
    let (name, password) = SUPERUSER;
    let create = format!("CREATE USER {name} SUPERUSER PASSWORD '{password}'");
    client.batch_execute(&create).await.expect("the first user");
}

fn state(result: Result<(), Error>) -> Option<SqlState> {
    result.err().and_then(|error| error.code().cloned())
}

async fn state_of(client: &Client, statement: &str) -> Option<SqlState> {
    state(client.batch_execute(statement).await)
}

async fn texts(client: &Client, query: &str) -> Vec<String> {
    let messages = client.simple_query(query).await.expect("rows");
    let text = |message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    };
    messages.into_iter().filter_map(text).collect()
}

#[tokio::test]
async fn with_the_first_superuser_everybody_needs_a_password() {
    let served = serve(&[]);
    let open = connect(&served, "anybody", None).await.expect("nobody to be yet");
    assert_eq!(state_of(&open, "CREATE USER bob PASSWORD 'b'").await, None);
    assert!(connect(&served, "bob", None).await.is_ok(), "nobody is asked for a password yet");
    first_user(&open).await;
    assert!(connect(&served, "bob", None).await.is_err());
    assert!(connect(&served, "bob", Some("b")).await.is_ok());
    assert!(connect(&served, "anybody", None).await.is_err());
    assert!(connect(&served, "admin", Some("wrong")).await.is_err());
    let admin = connect(&served, "admin", Some("secret")).await.expect("the password");
    let last = state_of(&admin, "ALTER USER admin NOSUPERUSER").await;
    assert_eq!(last, Some(SqlState::DEPENDENT_OBJECTS_STILL_EXIST));
    assert_eq!(state_of(&open, "CREATE TABLE still (k int)").await, None, "who was in stays in");
    let texts = texts(&admin, "SELECT text FROM pando.queries").await;
    assert!(texts.iter().all(|text| !text.contains("secret")), "{texts:?}");
}

#[tokio::test]
async fn privileges_are_granted_and_revoked() {
    let served = serve(&[]);
    let admin = connect(&served, "anybody", None).await.expect("connected");
    first_user(&admin).await;
    let setup = "CREATE USER alice PASSWORD 'a'; CREATE TABLE t (k int PRIMARY KEY, v text);
        INSERT INTO t VALUES (1, 'one'); CREATE VIEW keys AS SELECT k FROM t";
    admin.batch_execute(setup).await.expect("set up");
    let alice = connect(&served, "alice", Some("a")).await.expect("logged in");
    let denied = Some(SqlState::INSUFFICIENT_PRIVILEGE);
    for statement in [
        "SELECT * FROM t",
        "SELECT count(*) FROM keys",
        "INSERT INTO t VALUES (2, 'two')",
        "UPDATE t SET v = 'x' WHERE k = 1",
        "DELETE FROM t WHERE k = 1",
        "TRUNCATE t",
        "DROP TABLE t",
        "ALTER TABLE t ADD COLUMN w int",
        "COPY t TO STDOUT",
        "COPY t FROM STDIN",
        "CREATE TABLE own (k int)",
        "CREATE SCHEMA own",
        "CREATE USER eve PASSWORD 'e'",
        "ALTER USER admin PASSWORD 'mine'",
        "GRANT SELECT ON t TO alice",
        "SET ROLE admin",
        "SELECT * FROM pg_authid",
        "SELECT * FROM '/etc/hostname'",
        "COPY (SELECT 1) TO 'never.csv'",
    ] {
        assert_eq!(state_of(&alice, statement).await, denied, "{statement}");
    }
    admin.batch_execute("GRANT SELECT ON keys TO alice").await.expect("granted");
    assert_eq!(texts(&alice, "SELECT k FROM keys").await, ["1"], "with the view's owner's rights");
    assert_eq!(state_of(&alice, "SELECT * FROM t").await, denied);
    admin.batch_execute("GRANT SELECT, UPDATE ON t TO alice").await.expect("granted");
    let select = alice.prepare("SELECT v FROM t WHERE k = $1").await.expect("prepared");
    assert_eq!(alice.query(&select, &[&1i32]).await.expect("allowed").len(), 1);
    assert_eq!(state_of(&alice, "UPDATE t SET v = 'x' WHERE k = 1").await, None);
    admin.batch_execute("REVOKE SELECT ON t FROM alice").await.expect("revoked");
    let again = alice.query(&select, &[&1i32]).await.map(drop);
    assert_eq!(state(again), denied, "a prepared statement is asked again");
    let dependent = state_of(&admin, "DROP USER alice").await;
    assert_eq!(dependent, Some(SqlState::DEPENDENT_OBJECTS_STILL_EXIST));
    admin.batch_execute("REVOKE ALL ON t, keys FROM alice; DROP USER alice").await.expect("gone");
    assert!(connect(&served, "alice", Some("a")).await.is_err());
}

#[tokio::test]
async fn members_have_the_privileges_of_their_roles() {
    let served = serve(&[]);
    let admin = connect(&served, "anybody", None).await.expect("connected");
    first_user(&admin).await;
    let setup = "CREATE ROLE writers; CREATE USER alice PASSWORD 'a' IN ROLE writers;
        CREATE SCHEMA work; GRANT ALL ON SCHEMA work TO writers";
    admin.batch_execute(setup).await.expect("set up");
    let alice = connect(&served, "alice", Some("a")).await.expect("logged in");
    alice.batch_execute("CREATE TABLE work.t (k serial PRIMARY KEY, v text)").await.expect("made");
    alice.batch_execute("INSERT INTO work.t (v) VALUES ('mine')").await.expect("its owner");
    alice.batch_execute("SET ROLE writers").await.expect("a member");
    assert_eq!(texts(&alice, "SELECT current_user").await, ["writers"]);
    assert_eq!(texts(&alice, "SELECT session_user").await, ["alice"]);
    let denied = Some(SqlState::INSUFFICIENT_PRIVILEGE);
    assert_eq!(state_of(&alice, "SELECT * FROM work.t").await, denied, "the table is alice's own");
    alice.batch_execute("RESET ROLE; GRANT SELECT ON work.t TO PUBLIC").await.expect("its owner");
    admin.batch_execute("REVOKE writers FROM alice").await.expect("revoked");
    assert_eq!(state_of(&alice, "SELECT * FROM work.t").await, denied, "not even the schema");
    let owners = "SELECT tableowner FROM pg_tables WHERE schemaname = 'work'";
    assert_eq!(texts(&admin, owners).await, ["alice"]);
    admin.batch_execute("ALTER TABLE work.t OWNER TO admin").await.expect("handed over");
    assert_eq!(texts(&admin, owners).await, ["admin"]);
}

#[tokio::test]
async fn a_refused_user_is_told_so_only_after_authentication() {
    let served = serve(&[]);
    let admin = connect(&served, "anybody", None).await.expect("connected");
    first_user(&admin).await;
    let setup = "CREATE USER alice PASSWORD 'a' CONNECTION LIMIT 1;
        CREATE USER gone PASSWORD 'g' VALID UNTIL '2001-01-01'; CREATE ROLE grp PASSWORD 'r'";
    admin.batch_execute(setup).await.expect("set up");
    let refused = async |user: &str, password: &str| {
        state(connect(&served, user, Some(password)).await.map(drop))
    };
    let wrong = Some(SqlState::INVALID_PASSWORD);
    assert_eq!(refused("gone", "g").await, wrong, "the password counts no longer");
    assert_eq!(refused("grp", "x").await, wrong);
    let denied = Some(SqlState::INVALID_AUTHORIZATION_SPECIFICATION);
    assert_eq!(refused("grp", "r").await, denied);
    let alice = connect(&served, "alice", Some("a")).await.expect("the first session");
    assert_eq!(refused("alice", "a").await, Some(SqlState::TOO_MANY_CONNECTIONS));
    assert_eq!(texts(&alice, "SHOW is_superuser").await, ["off"]);
    admin.batch_execute("SET ROLE alice").await.expect("a superuser");
    let hidden = "SELECT query FROM pg_stat_activity WHERE usename <> 'alice'";
    let all = texts(&alice, hidden).await;
    assert!(all.iter().all(|text| text == "<insufficient privilege>"), "{all:?}");
    let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename <> 'alice'";
    assert_eq!(state_of(&alice, cancel).await, Some(SqlState::INSUFFICIENT_PRIVILEGE));
}
