//! The plans and bundles of the six queries in the three published schemes, compared with
//! `tests/golden/bundles.txt`.
//!
//! `UPDATE_GOLDENFILES=1 cargo test -p dbsim --test bundles` rewrites the file.

use dbsim::plan::bundle::cut;
use dbsim::plan::{Query, Scheme, Selectivity};
use goldenfile::Mint;
use std::io::Write;

#[test]
fn the_six_queries_are_cut_as_the_golden_says() {
    let mut mint = Mint::new("tests/golden");
    let mut golden = mint.new_goldenfile("bundles.txt").expect("a file");
    for query in Query::ALL {
        let plan = query.plan(1.0, Selectivity::Medium).expect("a plan");
        writeln!(golden, "{}\n{}", query.name(), plan.tree()).expect("written");
        for scheme in Scheme::PUBLISHED {
            let bundles = cut(&plan, scheme);
            let names = bundles.iter().rev().map(|bundle| {
                let names = bundle.0.iter().map(|operator| plan.label(*operator));
                names.collect::<Vec<_>>().join(" + ")
            });
            let names = names.collect::<Vec<_>>().join(" | ");
            writeln!(golden, "{}: {names}", scheme.name()).expect("written");
        }
        writeln!(golden).expect("written");
    }
}
