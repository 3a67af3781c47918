//! Compares the client messages of the golden conversations with the seeds of the fuzzer, `fuzz/corpus`.

use super::frontend::message;
use super::{Step, line};
use goldenfile::Mint;
use goldenfile::differs::binary_diff;
use goldenscript::{Context, Runner};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::Path;

/// The bytes that each connection of a script sends, by the name of the seed file.
struct Seeds {
    script: String,
    connections: usize,
    file: String,
    seeds: BTreeMap<String, Vec<u8>>,
}

impl Seeds {
    /// Starts the seed of a connection, for a target of the fuzzer.
    fn begin(&mut self, target: &str) {
        self.connections += 1;
        self.file = format!("{target}/{}_{}", self.script, self.connections);
    }
}

impl Runner for Seeds {
    type Command = Step;

    fn run(&mut self, step: &Step, _: &Context) -> Result<String, Box<dyn Error>> {
        match step {
            Step::Connect => self.begin("startup"),
            Step::Login => self.begin("messages"),
            Step::Until(_) => {}
            Step::Send(command) => {
                let line = line(command)?;
                if line != "Cancel" {
                    self.seeds.entry(self.file.clone()).or_default().extend(message(&line).0);
                }
            }
        }
        Ok(String::new())
    }
}

fn seeds(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let script = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let mut seeds = Seeds { script, connections: 0, file: String::new(), seeds: BTreeMap::new() };
    let text = std::fs::read_to_string(path).expect("readable");
    goldenscript::generate(&mut seeds, &text).expect("a script");
    seeds.seeds
}

#[test]
fn seeds_are_the_golden_conversations() {
    let corpus = Path::new("../../fuzz/corpus");
    let mut expected = BTreeMap::new();
    for entry in std::fs::read_dir("tests/serve/wire/golden").expect("the goldens") {
        expected.extend(seeds(&entry.expect("a file").path()));
    }
    for target in ["messages", "startup"] {
        for entry in std::fs::read_dir(corpus.join(target)).expect("seeds") {
            let name = entry.expect("a file").file_name().to_string_lossy().into_owned();
            let file = format!("{target}/{name}");
            assert!(expected.contains_key(&file), "{file} belongs to no conversation; delete it");
        }
    }
    let mut mint = Mint::new(corpus);
    for (file, bytes) in &expected {
        let seed = mint.new_goldenfile_with_differ(file, Box::new(binary_diff));
        seed.and_then(|mut seed| seed.write_all(bytes)).expect("written");
    }
}
