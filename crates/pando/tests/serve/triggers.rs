//! Triggers and procedures with clients: COPY, parameters, and a restart.

use super::harness::{connect, serve};
use tempfile::TempDir;
use tokio_postgres::Client;

const MADE: &str = "
    CREATE TABLE note (id int PRIMARY KEY, body text, at text);
    CREATE TABLE total (k text PRIMARY KEY, n int);
    INSERT INTO total VALUES ('note', 0);
    CREATE FUNCTION stamped() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.body = 'nothing' THEN RETURN NULL; END IF;
            NEW.at := TG_OP || ' ' || TG_ARGV[0];
            RETURN NEW;
        END $$;
    CREATE FUNCTION counted() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            UPDATE total SET n = n + 1 WHERE k = TG_TABLE_NAME;
            RETURN NULL;
        END $$;
    CREATE TRIGGER note_at BEFORE INSERT OR UPDATE OF body ON note
        FOR EACH ROW EXECUTE FUNCTION stamped('now');
    CREATE TRIGGER note_count AFTER INSERT ON note FOR EACH ROW EXECUTE FUNCTION counted();
    CREATE PROCEDURE add_note(id int, INOUT body text) LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO note VALUES (id, body);
            COMMIT;
            body := body || '!';
        END $$";

async fn notes(client: &Client) -> Vec<(i32, String, String)> {
    let rows = client.query("SELECT id, body, at FROM note ORDER BY id", &[]).await.expect("rows");
    rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
}

async fn total(client: &Client) -> i32 {
    client.query_one("SELECT n FROM total", &[]).await.expect("a row").get(0)
}

#[tokio::test]
async fn triggers_and_procedures_work_with_clients_and_after_a_restart() {
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    let settings = ["--data", data.to_str().expect("text")];
    let mut served = serve(&settings);
    let client = connect(&served, "anybody", None).await.expect("connected");
    client.batch_execute(MADE).await.expect("made");
    let sink = client.copy_in("COPY note (id, body) FROM STDIN").await.expect("copying");
    let mut sink = Box::pin(sink);
    let rows = bytes::Bytes::from_static(b"1\ta\n2\tnothing\n3\tc\n");
    futures::SinkExt::send(&mut sink, rows).await.expect("sent");
    assert_eq!(sink.as_mut().finish().await.expect("copied"), 2);
    let insert = client.prepare("INSERT INTO note VALUES ($1, $2)").await.expect("prepared");
    assert_eq!(client.execute(&insert, &[&4i32, &"d"]).await.expect("inserted"), 1);
    assert_eq!(client.execute(&insert, &[&5i32, &"nothing"]).await.expect("left out"), 0);
    let row = client.query_one("CALL add_note($1, $2)", &[&6i32, &"f"]).await.expect("called");
    assert_eq!(row.get::<_, String>(0), "f!");
    let update = "UPDATE note SET body = $1 WHERE id = $2";
    assert_eq!(client.execute(update, &[&"z", &1i32]).await.expect("updated"), 1);
    let expected = [(1, "z", "UPDATE now"), (3, "c", "INSERT now"), (4, "d", "INSERT now")];
    let expected = expected.into_iter().chain([(6, "f", "INSERT now")]);
    let mut expected: Vec<(i32, String, String)> =
        expected.map(|(id, body, at)| (id, body.to_owned(), at.to_owned())).collect();
    assert_eq!(notes(&client).await, expected);
    assert_eq!(total(&client).await, 4);
    served.process.kill().expect("killed");
    served.process.wait().expect("ended");
    let served = serve(&settings);
    let client = connect(&served, "anybody", None).await.expect("connected");
    client.batch_execute("CALL add_note(7, 'g')").await.expect("called");
    expected.push((7, "g".to_owned(), "INSERT now".to_owned()));
    assert_eq!(notes(&client).await, expected);
    assert_eq!(total(&client).await, 5);
}
