//! Writes the client messages of the golden conversations as seeds of the fuzzer: `fuzz/corpus`.

use super::frontend::message;
use std::collections::BTreeMap;
use std::path::Path;

/// The bytes that each connection of a script sends, by the name of the seed file.
fn seeds(name: &str, script: &str) -> BTreeMap<String, Vec<u8>> {
    let mut seeds = BTreeMap::new();
    let mut file = String::new();
    for (number, line) in script.lines().enumerate() {
        match line {
            "= connection" => file = format!("messages/{name}_{}", number + 1),
            "= raw connection" => file = format!("startup/{name}_{}", number + 1),
            _ => {}
        }
        if let Some(line) = line.strip_prefix("> ").filter(|line| *line != "Cancel") {
            seeds.entry(file.clone()).or_insert_with(Vec::new).extend(message(line).0);
        }
    }
    seeds
}

#[test]
fn seeds_are_the_golden_conversations() {
    let corpus = Path::new("../../fuzz/corpus");
    let mut expected = BTreeMap::new();
    for entry in std::fs::read_dir("tests/serve/wire/golden").expect("the goldens") {
        let path = entry.expect("a file").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        expected.extend(seeds(&name, &std::fs::read_to_string(&path).expect("readable")));
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        for target in ["messages", "startup"] {
            // The file may not exist.
            let _ = std::fs::remove_dir_all(corpus.join(target));
            std::fs::create_dir_all(corpus.join(target)).expect("a folder");
        }
        for (file, bytes) in &expected {
            std::fs::write(corpus.join(file), bytes).expect("written");
        }
    }
    let mut found = BTreeMap::new();
    for target in ["messages", "startup"] {
        for entry in std::fs::read_dir(corpus.join(target)).expect("seeds") {
            let path = entry.expect("a file").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            found.insert(format!("{target}/{name}"), std::fs::read(&path).expect("readable"));
        }
    }
    assert!(found == expected, "UPDATE_GOLDEN=1 writes the seeds anew");
}
