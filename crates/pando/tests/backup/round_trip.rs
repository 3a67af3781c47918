//! Everything is there again: values of all types, definitions, sequences, roles.

use super::harness::{connect, failure, pando, run, values, world};

/// A table with every kind of value.
const TYPES: &str = "
    CREATE TABLE kinds (
        id int PRIMARY KEY, b boolean, s smallint, l bigint, r real, d double precision, n numeric(12,3), m numeric,
        t text, v varchar(10), c char(4), y bytea, dt date, ti time, ts timestamp, tz timestamptz, iv interval, u uuid,
        j json, k jsonb, ia int[], ta text[], na numeric(6,2)[], za timestamptz[], va interval[], ba bytea[]);
    INSERT INTO kinds VALUES
        (1, true, -32768, 9223372036854775807, 1.5, 'NaN', -123456789.125, 0.0000000001, E'a\\nb''\\\\', 'ü', 'x',
         '\\x00ff', '0001-01-01', '23:59:59.999999', '2024-02-29 12:00:00.000001', '2024-06-01 12:00+02',
         '1 mon -2 days 03:04:05.000006', '0f0e0d0c-0b0a-0908-0706-050403020100', '{\"a\" : [1, null]}',
         '{\"b\":2,\"a\":1}', '{1,NULL,3}', '{\"\",NULL,\"a text that is too long for a view\"}', '{1.50,NULL}',
         '{2024-06-01 12:00+00}', '{1 day,NULL,-1 mon}', '{\"\\\\x01\",NULL}'),
        (2, false, 0, 0, '-0', '-Infinity', 0, 0, '', '', '', '', '9999-12-31', '00:00', '1970-01-01', '1970-01-01Z',
         '0', '00000000-0000-0000-0000-000000000000', '1', '\"x\"', '{}', '{}', '{}', '{}', '{}', '{}');
    INSERT INTO kinds (id) VALUES (3)";

const MADE: &str = "
    CREATE SCHEMA shop;
    COMMENT ON SCHEMA shop IS 'what we sell';
    CREATE TABLE shop.item (
        id int GENERATED ALWAYS AS IDENTITY (START WITH 100 INCREMENT BY 10) PRIMARY KEY,
        name varchar(20) NOT NULL DEFAULT 'none', price numeric(10,2) CONSTRAINT positive CHECK (price > 0),
        twice numeric GENERATED ALWAYS AS (price * 2) STORED);
    COMMENT ON TABLE shop.item IS 'the items';
    COMMENT ON COLUMN shop.item.price IS 'in euros';
    INSERT INTO shop.item (name, price) SELECT 'item ' || i, i / 4.0 FROM generate_series(1, 30000) i;
    CREATE TABLE visit (id bigserial, note text);
    INSERT INTO visit (note) VALUES ('first'), ('second'), (NULL);
    CREATE TABLE \"Odd name\" (\"a b\" text, \"C\" int, PRIMARY KEY (\"C\", \"a b\"));
    INSERT INTO \"Odd name\" SELECT 'x' || i, i FROM generate_series(1, 10) i;
    CREATE TABLE grown (id int PRIMARY KEY);
    INSERT INTO grown VALUES (1), (2);
    ALTER TABLE grown ADD COLUMN late text DEFAULT 'before';
    CREATE TABLE nothing (a int);
    CREATE TABLE columnless ();
    INSERT INTO columnless DEFAULT VALUES;
    INSERT INTO columnless DEFAULT VALUES;
    CREATE SEQUENCE counter START 5 INCREMENT -5 MINVALUE -1000 MAXVALUE 1000 CYCLE;
    SELECT nextval('counter');
    CREATE SEQUENCE fresh START 7;
    CREATE VIEW shop.cheap (label, cost) AS SELECT name, price FROM shop.item WHERE price < 10;
    CREATE VIEW dear AS SELECT count(*) AS n FROM shop.cheap;
    CREATE TEMP TABLE scratch (a int);
    INSERT INTO scratch VALUES (1);
    CREATE USER ada SUPERUSER PASSWORD 'right';
    CREATE ROLE clerk LOGIN PASSWORD 'secret' CONNECTION LIMIT 3 VALID UNTIL '2099-01-01';
    CREATE ROLE team;
    GRANT team TO clerk;
    GRANT USAGE ON SCHEMA shop TO team;
    GRANT SELECT ON shop.item TO team WITH GRANT OPTION;
    GRANT INSERT ON visit TO clerk;
    ALTER TABLE grown OWNER TO clerk;
    REVOKE USAGE ON SCHEMA public FROM PUBLIC";

/// Types, functions, and what relates tables and rows. Each statement is a transaction, as a new label may be used only
/// behind the one that adds it.
const RELATED: [&str; 30] = [
    "CREATE TYPE mood AS ENUM ('sad', 'happy')",
    "ALTER TYPE mood ADD VALUE 'calm' BEFORE 'happy'",
    "ALTER TYPE mood OWNER TO clerk",
    "COMMENT ON TYPE mood IS 'how somebody feels'",
    "CREATE TYPE shop.\"a size\" AS ENUM ('small', 'large')",
    "CREATE DOMAIN positive AS integer DEFAULT 1 CONSTRAINT above CHECK (VALUE > 0)",
    // Its name comes before that of the type below it.
    "CREATE DOMAIN bearable AS mood CHECK (VALUE <> 'sad')",
    "CREATE DOMAIN required AS text NOT NULL DEFAULT 'none'",
    "CREATE TABLE person (id int PRIMARY KEY, email text UNIQUE, m mood NOT NULL DEFAULT 'happy', past mood[],
        b bearable, p positive, size shop.\"a size\", r required)",
    "CREATE TABLE by_mood (m mood PRIMARY KEY, n int)",
    "CREATE TABLE message (id int PRIMARY KEY, sender int CONSTRAINT of_person REFERENCES person ON DELETE CASCADE,
        receiver text REFERENCES person (email) DEFERRABLE INITIALLY DEFERRED)",
    "CREATE UNIQUE INDEX person_lower ON person (lower(email))",
    "CREATE INDEX person_calm ON person (id) WHERE m = 'calm'",
    "INSERT INTO person (id, email, m, past, b, p, size, r) VALUES
        (1, 'Ann@x', 'calm', '{sad,NULL,happy}', 'happy', 7, 'large', 'a'), (2, 'Bob@x', 'sad', NULL, NULL, 3, 'small', 'b')",
    "INSERT INTO person (id) VALUES (3)",
    "INSERT INTO by_mood VALUES ('happy', 3), ('sad', 1), ('calm', 2)",
    "INSERT INTO message VALUES (1, 1, 'Bob@x'), (2, NULL, NULL)",
    "CREATE TABLE place (id int, code int UNIQUE DEFERRABLE, CONSTRAINT of_place PRIMARY KEY (id) INITIALLY DEFERRED)",
    "INSERT INTO place VALUES (1, 2), (2, 1)",
    "CREATE FUNCTION doubled(a int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT a * 2'",
    "CREATE FUNCTION stays(n int) RETURNS SETOF visit LANGUAGE sql AS 'SELECT * FROM visit WHERE id <= n'",
    "CREATE FUNCTION lowered() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN NEW.email := lower(NEW.email); RETURN NEW; END'",
    "CREATE TRIGGER person_lowers BEFORE UPDATE OF email, m ON person
        FOR EACH ROW WHEN (NEW.id > 0) EXECUTE FUNCTION lowered('x')",
    "CREATE VIEW calm AS SELECT id, m FROM person WHERE m = 'calm'",
    "CREATE TYPE shop.cost AS (net numeric(8,2), m mood)",
    // Its name comes before that of the type below it.
    "CREATE TYPE shop.bill AS (total shop.cost, parts shop.cost[], p positive)",
    "CREATE TABLE sale (id int PRIMARY KEY, b shop.bill DEFAULT ROW(ROW(1, 'calm'), NULL, 1), cs shop.cost[])",
    "INSERT INTO sale VALUES (1, ROW('(1.50,sad)', '{\"(2,happy)\",NULL}', 3), '{\"(,)\",NULL}'), (2, NULL, NULL);
     INSERT INTO sale (id) VALUES (3)",
    "CREATE FUNCTION total(b shop.bill) RETURNS shop.cost LANGUAGE plpgsql AS 'BEGIN RETURN b.total; END'",
    "CREATE FUNCTION label(v visit) RETURNS text LANGUAGE sql AS 'SELECT v.id || v.note'",
];

const READ_RELATED: &str = "
    SELECT id, email, m, past::text, b, p, size, r FROM person ORDER BY m, id;
    SELECT m, n FROM by_mood ORDER BY m;
    SELECT * FROM message ORDER BY id;
    SELECT id FROM person WHERE m = 'calm' AND id > 0;
    SELECT id FROM person WHERE lower(email) = 'bob@x';
    SELECT * FROM calm;
    UPDATE place SET id = 3 - id, code = 3 - code;
    SELECT * FROM place ORDER BY id;
    SELECT conname, contype, condeferrable, condeferred FROM pg_constraint WHERE conrelid = 'place'::regclass ORDER BY 1;
    SELECT typname, enumlabel FROM pg_enum JOIN pg_type t ON t.oid = enumtypid ORDER BY typname, enumsortorder;
    SELECT typname, typtype, typnotnull, typdefault FROM pg_type
        WHERE typname IN ('positive', 'bearable', 'required') ORDER BY 1;
    SELECT pg_get_userbyid(typowner), obj_description(oid, 'pg_type') FROM pg_type WHERE typname = 'mood';
    SELECT indexname, indexdef FROM pg_indexes ORDER BY 1;
    SELECT proname, prosrc, provolatile FROM pg_proc WHERE proname IN ('doubled', 'stays') ORDER BY 1;
    SELECT pg_get_triggerdef(oid) FROM pg_trigger;
    SELECT doubled(21);
    SELECT id, note FROM stays(2) ORDER BY 1;
    SELECT id, b, cs, (b).total.m, total(b) FROM sale ORDER BY id;
    SELECT v.label FROM visit v ORDER BY id;
    SELECT attribute_name, data_type, attribute_udt_name FROM information_schema.attributes
        ORDER BY udt_name, ordinal_position";

const READ: &str = "
    SELECT * FROM kinds ORDER BY id;
    SELECT count(*), sum(id), sum(price), sum(twice), min(name), max(name) FROM shop.item;
    SELECT * FROM visit ORDER BY id;
    SELECT * FROM \"Odd name\" ORDER BY 2;
    SELECT * FROM grown ORDER BY id;
    SELECT count(*) FROM nothing;
    SELECT count(*) FROM columnless;
    SELECT count(*) FROM shop.cheap;
    SELECT * FROM dear;
    SELECT schemaname, sequencename, start_value, min_value, max_value, increment_by, cycle, last_value
        FROM pg_sequences ORDER BY 1, 2;
    SELECT table_schema, table_name, column_name, data_type, is_nullable, column_default, is_identity,
           identity_generation, is_generated, generation_expression FROM information_schema.columns
        WHERE table_schema IN ('public', 'shop') ORDER BY 1, 2, ordinal_position;
    SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint ORDER BY 1, 2;
    SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname IN ('public', 'shop') ORDER BY 1;
    SELECT obj_description('shop.item'::regclass), col_description('shop.item'::regclass, 3);
    SELECT rolname, rolsuper, rolcanlogin, rolinherit, rolconnlimit, rolvaliduntil FROM pg_roles ORDER BY 1;
    SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'grown';
    SELECT has_table_privilege('clerk', 'shop.item', 'SELECT WITH GRANT OPTION'),
           has_table_privilege('clerk', 'shop.item', 'DELETE'), has_table_privilege('clerk', 'visit', 'INSERT'),
           has_schema_privilege('clerk', 'shop', 'USAGE'), has_schema_privilege('clerk', 'public', 'USAGE');
    SELECT count(*) FROM pg_class WHERE relname = 'scratch'";

#[tokio::test]
async fn everything_that_a_catalog_holds_comes_back() {
    let world = world(&[]);
    let client = connect(&world).await;
    client.batch_execute(TYPES).await.expect("made");
    client.batch_execute(MADE).await.expect("made");
    for sql in RELATED {
        client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }
    let related = values(&client, READ_RELATED).await;
    let mut expected = values(&client, READ).await;
    assert_eq!(expected.pop().as_deref(), Some("1"), "the temporary table");
    let place = world.place();
    let said = world.back_up(&place.url);
    assert!(said.contains("12 tables"), "{said}");

    let restored = world.restored(&place.url, "data");
    let client = connect(&restored).await;
    let mut found = values(&client, READ).await;
    assert_eq!(found.pop().as_deref(), Some("0"), "temporary tables are left out");
    assert_eq!(found, expected);
    assert_eq!(values(&client, READ_RELATED).await, related);

    // Sequences, keys and checks go on.
    let next = "INSERT INTO shop.item (name, price) VALUES ('new', 1) RETURNING id;
                INSERT INTO visit (note) VALUES ('new') RETURNING id;
                SELECT nextval('counter'), nextval('fresh');
                INSERT INTO nothing VALUES (1), (2), (3) RETURNING a;
                INSERT INTO person (id) VALUES (5) RETURNING m, p, r";
    let expected = ["300100", "4", "0", "7", "1", "2", "3", "happy", "1", "none"];
    assert_eq!(values(&client, next).await, expected);
    for (sql, code) in [
        ("INSERT INTO grown VALUES (2)", "23505"),
        ("INSERT INTO shop.item (price) VALUES (-1)", "23514"),
        ("INSERT INTO shop.item (name, price) VALUES (NULL, 1)", "23502"),
        ("INSERT INTO person (id, m) VALUES (9, 'angry')", "22P02"),
        ("INSERT INTO person (id, p) VALUES (9, 0)", "23514"),
        ("INSERT INTO person (id, b) VALUES (9, 'sad')", "23514"),
        ("INSERT INTO person (id, r) VALUES (9, NULL)", "23502"),
        ("INSERT INTO person (id, email) VALUES (9, 'Ann@x')", "23505"),
        ("INSERT INTO person (id, email) VALUES (9, 'ANN@X')", "23505"),
        ("INSERT INTO message VALUES (9, 77, NULL)", "23503"),
        ("INSERT INTO message VALUES (9, NULL, 'nobody')", "23503"),
        ("DROP TYPE mood", "2BP01"),
    ] {
        assert_eq!(super::harness::refusal(&client, sql).await.0, code, "{sql}");
    }
    client.batch_execute("ALTER TYPE mood ADD VALUE 'angry' AFTER 'sad'").await.expect("added");
    let next =
        "INSERT INTO by_mood VALUES ('angry', 4) RETURNING m; SELECT m FROM by_mood ORDER BY m";
    assert_eq!(values(&client, next).await, ["angry", "sad", "angry", "calm", "happy"]);
}

#[tokio::test]
async fn a_restored_database_survives_a_kill_and_can_be_backed_up_again() {
    let world = world(&[]);
    let client = connect(&world).await;
    client.batch_execute(TYPES).await.expect("made");
    let expected = values(&client, "SELECT * FROM kinds ORDER BY id").await;
    let place = world.place();
    world.back_up(&place.url);
    let mut restored = world.restored(&place.url, "data");
    let changed = connect(&restored).await;
    changed.batch_execute("INSERT INTO kinds (id) VALUES (4)").await.expect("inserted");
    restored.process.kill().expect("killed");
    restored.process.wait().expect("ended");

    let data = world.path("data");
    let second = format!("file://{}", world.path("second"));
    let output = run(&["backup", &second, "--data", &data]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("1 table, 4 rows"), "{said}");
    let last = world.restored(&second, "last");
    let client = connect(&last).await;
    let found = values(&client, "SELECT * FROM kinds WHERE id < 4 ORDER BY id").await;
    assert_eq!(found, expected);
    let busy = failure(&["backup", &second, "--data", &world.path("last")]);
    assert!(busy.contains("process"), "{busy}");
    let none = failure(&["backup", &second, "--data", &world.path("none")]);
    assert!(none.contains("no data directory"), "{none}");
}

#[tokio::test]
async fn files_are_parquet_that_any_program_reads() {
    let world = world(&[]);
    let client = connect(&world).await;
    let made = "CREATE TABLE t (a int, b text, c interval);
                INSERT INTO t SELECT i, 'row ' || i, i * interval '1 hour' FROM generate_series(1, 1000) i";
    client.batch_execute(made).await.expect("made");
    let place = world.place();
    world.back_up(&place.url);
    let files = super::harness::files(&place.folder.join("data"));
    assert_eq!(files.len(), 1);
    let copy = world.path("t.parquet");
    std::fs::copy(&files[0], &copy).expect("copied");
    let sql = format!("SELECT sum(a), max(b) FROM '{copy}'");
    let output = pando().args(["sql", "--csv", "-c", &sql]).output().expect("runs");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("500500,row 999"), "{text}");
}
