//! The simulation of a growing file: correct answers and the guarantees of the directory.

use sdds::simulation::{Figures, Grown, Parameters, run};

const SMALL: Parameters = Parameters {
    servers: 100,
    buckets: 2_000,
    clients: 10,
    bucket_keys: 8,
    page_entries: 64,
    seed: 1,
};

fn figures(parameters: Parameters) -> Figures {
    let figures = run(&parameters, &mut |_| ());
    assert_eq!(figures.wrong, 0, "{figures:?}");
    assert_eq!(figures.buckets, parameters.buckets);
    assert_eq!(figures.growing.broadcasts + figures.converged.broadcasts, 0);
    figures
}

#[test]
fn newcomers_learn_the_file_by_pages() {
    let figures = figures(SMALL);
    assert!(figures.resting.hops_max <= 3, "more than two forwards: {:?}", figures.resting);
    assert!(figures.converged.forwarded_per_thousand() < 1.0, "{:?}", figures.converged);
    let adjustments = figures.resting.adjustments as f64 / SMALL.clients as f64;
    assert!(adjustments < 2.0 * figures.pages as f64, "{adjustments} for {} pages", figures.pages);
}

#[test]
fn larger_pages_teach_more() {
    let forwarded = |page_entries| {
        figures(Parameters { page_entries, ..SMALL }).resting.forwarded_per_thousand()
    };
    let (small, middle, large) = (forwarded(4), forwarded(32), forwarded(256));
    assert!(small > middle && middle > large, "{small} {middle} {large}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    assert_eq!(figures(SMALL), figures(SMALL));
    assert_ne!(figures(SMALL), figures(Parameters { seed: 2, ..SMALL }));
}

#[test]
fn one_server_and_one_client_are_a_file_too() {
    let alone = Parameters { servers: 1, buckets: 50, clients: 1, ..SMALL };
    assert_eq!(figures(alone).growing.forwards, 0);
}

#[test]
fn the_distribution_of_newcomers_changes_nothing() {
    let mut grown = Grown::new(&SMALL, &mut |_| ());
    let mut parts = grown.newcomers(3);
    assert_eq!(parts.len(), 3);
    parts.iter_mut().rev().for_each(|part| part.run(&mut |_| ()));
    assert_eq!(grown.figures(&parts), figures(SMALL));
}
