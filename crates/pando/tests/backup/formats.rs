//! Backups that earlier versions made are restored.

use super::harness::{connect, err, run, values, world};

const READ: &str = "
    SELECT id, name, price, sold, kept, tags, extra, raw FROM shop.item ORDER BY id;
    INSERT INTO shop.item (price) VALUES (2) RETURNING id, name;
    INSERT INTO visit (note) VALUES ('next') RETURNING id;
    SELECT name FROM cheap ORDER BY 1;
    SELECT obj_description('shop.item'::regclass), has_table_privilege('clerk', 'shop.item', 'SELECT')";

#[tokio::test]
async fn format_1_is_restored() {
    let folder = std::path::absolute("tests/backup/format_1").expect("the folder of the package");
    let place = tempfile::TempDir::new().expect("a folder");
    let data = place.path().join("data");
    let data = data.to_str().expect("text");
    let url = format!("file://{}", folder.display());
    let output = run(&["restore", &url, "--data", data]);
    assert!(output.status.success(), "{}", err(&output));
    let restored = world(&["--data", data]);
    let found = values(&connect(&restored).await, READ).await;
    let expected = "1|one|1.50|2024-02-29 12:00:00+00|1 mon 2 days|{a,NULL}|{\"k\": 1}|\\x00ff|\
                    2|two|NULL|NULL|NULL|NULL|NULL|NULL|3|none|2|none|one|the items|t";
    assert_eq!(found.join("|"), expected);
}
