//! Runs of seeds: each with its faults, all with the same checks.

use simulation::{Config, run};

/// Runs a seed, and says how to see it again if something is wrong.
fn passes(seed: u64) {
    let report = run(&Config::of(seed));
    let violations = report.violations;
    assert!(violations.is_empty(), "pando-sim --seed {seed} --trace\n{violations:#?}");
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in [2, 7] {
        let config = Config { keeps_lines: true, ..Config::of(seed) };
        let (one, other) = (run(&config), run(&config));
        assert!(one.lines.len() > 100);
        assert_eq!(one.lines, other.lines);
        assert_eq!((one.hash, one.steps), (other.hash, other.steps));
    }
}

#[test]
fn seeds_pass() {
    (100..130).for_each(passes);
}
