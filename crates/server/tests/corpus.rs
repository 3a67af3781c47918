//! The seeds of the fuzzer, intact and damaged: a short, deterministic version of `make fuzz`.

use frontend::damage::Damage;
use frontend::judge;
use std::path::Path;

/// How often each seed is damaged.
const TIMES: usize = 5000;

fn judged(target: &str, judge: fn(&[u8])) {
    let folder = Path::new("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).expect("the seeds");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for (number, file) in (1..).zip(&files) {
        let seed = std::fs::read(file).expect("readable");
        judge(&seed);
        let mut damage = Damage::new(number);
        for _ in 0..TIMES {
            let mut bytes = seed.clone();
            damage.damage(&mut bytes);
            judge(&bytes);
        }
    }
}

#[test]
fn damaged_first_messages_are_judged() {
    judged("startup", judge::startup);
}

#[test]
fn damaged_sessions_are_judged() {
    judged("messages", judge::messages);
}
