//! The plans and bundles of the six queries in the three published schemes, compared with a golden
//! file.
//!
//! A failure prints the new text.

use dbsim::plan::bundle::cut;
use dbsim::plan::{Query, Scheme, Selectivity};
use std::fmt::Write;

const GOLDEN: &str = include_str!("golden/bundles.txt");

#[test]
fn the_six_queries_are_cut_as_the_golden_says() {
    let mut text = String::new();
    for query in Query::ALL {
        let plan = query.plan(1.0, Selectivity::Medium).expect("a plan");
        let _ = writeln!(text, "{}\n{}", query.name(), plan.tree());
        for scheme in Scheme::PUBLISHED {
            let bundles = cut(&plan, scheme);
            let names = bundles.iter().rev().map(|bundle| {
                let names = bundle.0.iter().map(|operator| plan.label(*operator));
                names.collect::<Vec<_>>().join(" + ")
            });
            let _ = writeln!(text, "{}: {}", scheme.name(), names.collect::<Vec<_>>().join(" | "));
        }
        text.push('\n');
    }
    assert!(text == GOLDEN, "tests/golden/bundles.txt is not what follows:\n{text}");
}
