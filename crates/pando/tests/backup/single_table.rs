//! Single tables are restored into a running server.

use super::harness::{connect, err, failure, refusal, run, values, world};

#[tokio::test]
async fn a_table_comes_back_under_its_name_or_another() {
    let world = world(&[]);
    let client = connect(&world).await;
    let made = "CREATE SCHEMA shop;
                CREATE TABLE shop.item (id serial PRIMARY KEY, name text NOT NULL, tags text[]);
                INSERT INTO shop.item (name, tags) SELECT 'item ' || i, ARRAY['a', NULL] FROM generate_series(1, 20000) i;
                COMMENT ON TABLE shop.item IS 'the items'";
    client.batch_execute(made).await.expect("made");
    let all = "SELECT count(*), sum(id), max(name), max(tags::text) FROM shop.item";
    let expected = values(&client, all).await;
    let place = world.place();
    world.back_up(&place.url);
    let restore = |more: &[&str]| {
        let output =
            run(&[&["restore", &place.url, "--table", "shop.item", "--server", &world.url], more]
                .concat());
        assert!(output.status.success(), "{}", err(&output));
        String::from_utf8(output.stdout).expect("text")
    };

    client.batch_execute("DELETE FROM shop.item WHERE id < 100").await.expect("lost");
    let said = restore(&["--as", "shop.saved"]);
    assert!(
        said.contains("shop.saved with 20,000 rows") || said.contains("shop.saved with 20000 rows"),
        "{said}"
    );
    assert_eq!(values(&client, &all.replace("item", "saved")).await, expected);
    let next = "INSERT INTO shop.saved (name) VALUES ('new') RETURNING id;
                INSERT INTO shop.item (name) VALUES ('new') RETURNING id;
                SELECT obj_description('shop.saved'::regclass)";
    assert_eq!(values(&client, next).await, ["20001", "20001", "the items"]);

    client.batch_execute("DROP TABLE shop.item").await.expect("lost");
    restore(&[]);
    assert_eq!(values(&client, all).await, expected);
    let wrong = client.batch_execute("INSERT INTO shop.item (id, name) VALUES (1, 'twice')").await;
    assert_eq!(wrong.expect_err("a key twice").code().map(|code| code.code()), Some("23505"));
}

#[tokio::test]
async fn what_cannot_be_restored_is_refused_and_changes_nothing() {
    let world = world(&[]);
    let client = connect(&world).await;
    let made = "CREATE SCHEMA other; CREATE TABLE t (a int); CREATE TABLE other.t (a int); CREATE TABLE u (a int);
                INSERT INTO u VALUES (1)";
    client.batch_execute(made).await.expect("made");
    let place = world.place();
    world.back_up(&place.url);
    let restore = |table: &str, more: &[&str]| {
        let server = ["restore", &place.url, "--table", table, "--server", &world.url];
        failure(&[&server[..], more].concat())
    };
    for (table, more, expected) in [
        ("u", &[][..], "42P07"),
        ("none", &[], "42P01"),
        ("t", &["--as", "v"], "42P09"),
        ("u", &["--as", "nowhere.v"], "3F000"),
        ("u", &["--as", "v", "--backup", "000009-x"], "58P01"),
        ("a.b.c.d", &[], "42"),
    ] {
        let said = restore(table, more);
        assert!(said.contains(expected), "{table}: {said}");
    }
    client.batch_execute("BEGIN").await.expect("begun");
    let sql = format!("SELECT pando.restore_table('{}', 'u', 'v')", place.url);
    assert_eq!(refusal(&client, &sql).await.0, "25001");
    client.batch_execute("ROLLBACK").await.expect("rolled back");
    for file in super::harness::files(&place.folder.join("data")) {
        std::fs::write(&file, "damaged").expect("written");
    }
    let said = restore("u", &["--as", "v"]);
    assert!(said.contains("XX001") && said.contains(".parquet"), "{said}");
    let left = "SELECT count(*) FROM pg_class WHERE relname = 'v'";
    assert_eq!(values(&client, left).await, ["0"]);
}

/// Rows have the numbers of labels, so that the type must have the labels of the backup at the same places.
#[tokio::test]
async fn a_table_with_types_of_users_needs_these_types() {
    let world = world(&[]);
    let client = connect(&world).await;
    let made = "CREATE TYPE mood AS ENUM ('sad', 'happy');
                CREATE DOMAIN positive AS int CHECK (VALUE > 0);
                CREATE TYPE pair AS (m mood, n int);
                CREATE TABLE t (id int PRIMARY KEY, m mood, past mood[], p positive, c pair);
                INSERT INTO t VALUES (1, 'happy', '{sad,happy}', 7, '(sad,1)'), (2, 'sad', NULL, NULL, NULL)";
    client.batch_execute(made).await.expect("made");
    let all = "SELECT id, m, past::text, p, c FROM t ORDER BY m";
    let expected = values(&client, all).await;
    let place = world.place();
    world.back_up(&place.url);
    let lost = "DROP TABLE t; DROP DOMAIN positive; DROP TYPE pair; DROP TYPE mood";
    client.batch_execute(lost).await.expect("lost");

    let sql = format!("SELECT pando.restore_table('{}', 't')", place.url);
    for (before, code, said) in [
        ("SELECT 1", "42704", "\"public.mood\" does not exist"),
        ("CREATE TYPE mood AS ENUM ('happy', 'sad')", "42804", "at another place"),
        ("DROP TYPE mood; CREATE TYPE mood AS ENUM ('sad')", "42804", "no label \"happy\""),
        ("DROP TYPE mood; CREATE DOMAIN mood AS text", "42804", "a domain"),
        ("DROP DOMAIN mood; CREATE TYPE mood AS ENUM ('sad', 'happy', 'new')", "42704", "positive"),
        ("CREATE DOMAIN positive AS bigint CHECK (VALUE > 0)", "42804", "over bigint"),
        (
            "DROP DOMAIN positive; CREATE DOMAIN positive AS int CHECK (VALUE > 1)",
            "42804",
            "constraint",
        ),
        (
            "DROP DOMAIN positive; CREATE DOMAIN positive AS int CHECK (VALUE > 0)",
            "42704",
            "\"public.pair\" does not exist",
        ),
        ("CREATE TYPE pair AS (m mood, k int)", "42804", "other attributes"),
    ] {
        client.batch_execute(before).await.unwrap_or_else(|error| panic!("{before}: {error:?}"));
        let (found, message) = refusal(&client, &sql).await;
        assert!(found == code && message.contains(said), "{before}: {found} {message}");
    }
    let again = "DROP TYPE pair; CREATE TYPE pair AS (m mood, n int)";
    client.batch_execute(again).await.expect("made");
    assert_eq!(values(&client, &sql).await, ["2"]);
    assert_eq!(values(&client, all).await, expected);
}
