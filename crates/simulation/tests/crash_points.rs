//! Faults at durable steps of transactions and moves. `pando-sim --crash-points` runs all of them.

use simulation::{CrashPoint, VARIANTS};

/// One of so many points is run here, another one in each variant.
const SAMPLE: usize = 23;

#[test]
fn faults_at_durable_steps_break_nothing() {
    let (mut count, mut reached) = (0, 0);
    for variant in 0..VARIANTS {
        let (points, report) = CrashPoint::all(variant);
        assert_eq!(report.violations, [""; 0], "variant {variant} without faults");
        assert!(points.len() > 100, "variant {variant} has only {} points", points.len());
        for (at, point) in points.iter().enumerate().skip(variant as usize).step_by(SAMPLE) {
            let report = point.run(false);
            let violations = report.violations;
            assert!(
                violations.is_empty(),
                "{point}: pando-sim --crash-point {variant} {at} --trace\n{violations:#?}"
            );
            // A thread that waits for its own sync writes and syncs at once: there is nothing before.
            reached += usize::from(report.counts.contains_key("trap"));
            count += 1;
        }
    }
    println!("{count} points, {reached} reached");
    assert!(reached * 10 > count * 8, "most faults happen");
}
