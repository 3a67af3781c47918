//! The six queries' plans and bundles under the three schemes, as a text that was read by eye.
//!
//! `UPDATE_GOLDEN=1` writes it anew.

use dbsim::plan::bundle::cut;
use dbsim::plan::{Query, Scheme, Selectivity};
use std::fmt::Write;
use std::path::Path;

#[test]
fn the_six_queries_are_cut_as_the_golden_says() {
    let mut text = String::new();
    for query in Query::ALL {
        let plan = query.plan(1.0, Selectivity::Medium).expect("a plan");
        let _ = writeln!(text, "{}\n{}", query.name(), plan.tree());
        for scheme in Scheme::ALL {
            let bundles = cut(&plan, scheme);
            let names = bundles.iter().rev().map(|bundle| {
                let names = bundle.0.iter().map(|operator| plan.label(*operator));
                names.collect::<Vec<_>>().join(" + ")
            });
            let _ = writeln!(text, "{}: {}", scheme.name(), names.collect::<Vec<_>>().join(" | "));
        }
        text.push('\n');
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/bundles.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &text).expect("written");
    }
    let expected = std::fs::read_to_string(&golden).expect("a golden");
    assert_eq!(text, expected, "read the difference, then UPDATE_GOLDEN=1");
}
