//! Models against closed forms, on hardware simple enough for these.

use super::*;
use crate::hardware::catalog;
use crate::plan::{Kind, Operator, Query, Selectivity, Table, Task, Term};

const ROWS: f64 = 1e6;
const ROW_BYTES: f64 = 100.0;

/// Coefficients that are 0 except those that a test names.
fn costs(named: &str) -> Coefficients {
    const ALL: [&str; 15] = [
        "request",
        "scan",
        "index",
        "nested_loop",
        "merge",
        "hash_build",
        "hash_probe",
        "sort",
        "group",
        "group_ordered",
        "aggregate",
        "store",
        "load",
        "message",
        "bundle",
    ];
    let mut text =
        "name = \"test\"\nabout = \"\"\ncolumnar = false\nrow_header_bytes = 0\n".to_owned();
    for name in
        ALL.iter().filter(|name| !named.lines().any(|line| line.starts_with(&format!("{name} ="))))
    {
        text += &if *name == "bundle" {
            "bundle = 1e-9\n".to_owned()
        } else {
            format!("{name} = [0, 0]\n")
        };
    }
    Coefficients::read(&(text + named), "test").expect("coefficients")
}

/// An architecture of the paper with processors of 1e9 cycles a second, and further changes.
fn architecture(name: &str, changes: &[&str]) -> Architecture {
    let plain = ["cpu_mhz=1000", "work_per_cycle=1", "site.disk.overhead_us=0"];
    let central: &[&str] =
        if name == "smart-disk" { &["central_mhz=1000", "central.work_per_cycle=1"] } else { &[] };
    let changes = plain.iter().chain(central).chain(changes);
    catalog::named(name, &changes.map(|change| (*change).to_owned()).collect::<Vec<_>>())
        .expect("plain")
}

fn operator(kind: Kind, children: &[usize], rows: f64, row_bytes: f64) -> Operator {
    let table = Table { name: "t".to_owned(), rows: ROWS, row_bytes: ROW_BYTES };
    Operator {
        table: kind.is_scan().then_some(table),
        functions: 1.0,
        ..Operator::new(kind, children, rows, row_bytes)
    }
}

fn plan(operators: Vec<Operator>) -> Plan {
    Plan::new("test", operators).expect("a plan")
}

fn scan(kind: Kind, rows: f64) -> Plan {
    plan(vec![operator(kind, &[], rows, ROW_BYTES)])
}

fn run(plan: &Plan, architecture: &Architecture, costs: &Coefficients) -> Report {
    simulate(plan, architecture, costs, Scheme::Optimal, 1).expect("runs")
}

fn close(value: f64, expected: f64, part: f64) {
    assert!((value - expected).abs() <= part * expected, "{value} for {expected}");
}

#[test]
fn a_scan_takes_its_pages_one_after_another() {
    let host =
        architecture("single-host", &["interconnect_mb_s=200", "site.interconnect.overhead_us=20"]);
    let report = run(&scan(Kind::SequentialScan, ROWS), &host, &costs("scan = [500, 0]"));
    let pages = ROWS * ROW_BYTES / 8192.0;
    let io = ROWS * ROW_BYTES / 28.5e6 + pages * (20e-6 + 8192.0 / 200e6);
    // Each of the eight arms is positioned once.
    close(report.breakdown.io, io, 0.02);
    close(report.breakdown.compute, 0.5, 1e-6);
    close(report.seconds, report.breakdown.total(), 1e-9);
}

#[test]
fn pages_that_come_while_others_are_worked_on_hide_the_faster_of_both() {
    let one_disk =
        ["disks=1", "outstanding=16", "interconnect_mb_s=1e9", "site.interconnect.overhead_us=0"];
    let host = architecture("single-host", &one_disk);
    let io = ROWS * ROW_BYTES / 28.5e6;
    for (cycles, expected) in [(500.0, io), (10_000.0, 10.0)] {
        let costs = costs(&format!("scan = [{cycles}, 0]"));
        close(run(&scan(Kind::SequentialScan, ROWS), &host, &costs).seconds, expected, 0.02);
    }
}

#[test]
fn a_row_through_an_index_is_a_random_access() {
    let changes = ["interconnect_mb_s=1e9", "site.interconnect.overhead_us=0", "disks=1"];
    let host = architecture("single-host", &changes);
    let report = run(&scan(Kind::IndexScan, 10_000.0), &host, &costs("index = [1000, 0]"));
    let access = 0.008_46 + 0.003 + 8192.0 / 28.5e6;
    close(report.breakdown.io, 10_000.0 * access, 0.03);
    close(report.breakdown.compute, 0.01, 1e-3);
}

#[test]
fn sites_share_a_scan_and_send_its_result() {
    let costs = costs("scan = [1000, 0]");
    let report = run(&scan(Kind::SequentialScan, ROWS), &architecture("cluster-4", &[]), &costs);
    close(report.breakdown.compute, 0.25, 1e-6);
    // Three quarters of the rows go to the first host over its one inbound link.
    close(report.breakdown.communication, 0.75 * ROWS * ROW_BYTES * 8.0 / 155e6, 0.02);
}

#[test]
fn pieces_terms_copies_and_planning_cost_what_they_say() {
    let seconds = |scan: Operator, named: &str| {
        let one = architecture("cluster-2", &["sites=1"]);
        let costs = Coefficients { columnar: true, ..costs(named) };
        run(&plan(vec![scan]), &one, &costs).breakdown.compute
    };
    let scan = || operator(Kind::SequentialScan, &[], 1000.0, 8.0);
    let near = |seconds: f64, cycles: f64| close(seconds, cycles / 1e9, 1e-3);
    near(seconds(scan(), "scan = [2, 0.5]"), 2.0 * ROWS + 0.5 * 8000.0);
    let some = Operator { looked_at: Some(5000.0), in_place_rows: ROWS, ..scan() };
    near(seconds(some, "scan = [2, 0.5]"), 2.0 * 5000.0);
    let wide = |in_place_rows| Operator { in_place_rows, copied_row_bytes: Some(24.0), ..scan() };
    near(seconds(wide(1000.0), "scan = [2, 0.5]\nfirst_look = 0.1"), 2.0 * ROWS + 0.1 * 24_000.0);
    near(seconds(wide(0.0), "scan = [2, 0.5]\nfirst_look = 0.1"), 2.0 * ROWS + 0.5 * 24_000.0);
    let some = 0.1 * 9600.0 + 0.5 * 14_400.0;
    near(seconds(wide(400.0), "scan = [2, 0.5]\nfirst_look = 0.1"), 2.0 * ROWS + some);
    let terms = [(Task::Compare, 4.0), (Task::Search, 50.0)];
    let terms = terms.map(|(task, bytes)| Term::new(task, 700.0, bytes)).to_vec();
    let computes = Operator { pieces: 30.0, terms, ..scan() };
    let of_values = 700.0 * (3.0 + 4.0 * 0.25 + 50.0 * 2.0);
    near(seconds(computes.clone(), "compare = [3, 0.25]\nsearch = [0, 2]"), of_values);
    let of_pieces = 30.0 * (100.0 + 20.0 + 7.0);
    near(seconds(computes.clone(), "piece = 100\npiece_term = 20\npiece_search = 7"), of_pieces);
    let choice = Term { part: 0.4, ..Term::new(Task::Choose, 600.0, 10.0) };
    let chooses = Operator { pieces: 30.0, terms: vec![choice], ..scan() };
    near(seconds(chooses, "piece_choice = 9e4"), 30.0 * 9e4);
    let wider = Operator { columns: 4.0, ..computes.clone() };
    near(seconds(wider, "piece_column = 5e3"), 30.0 * 4.0 * 5e3);
    let copies = |part: f64| {
        let looked_at = Some(1000.0 / part);
        Operator { copied_columns: 3.0, pieces: 30.0, looked_at, ..scan() }
    };
    let of_copies = "piece_chosen = 1e3\npiece_copied = 6e3";
    assert_eq!(seconds(copies(1.0), of_copies), 0.0);
    near(seconds(copies(0.5), of_copies), 30.0 * (1e3 + 3.0 * 6e3));
    let again = Operator { terms: vec![Term::new(Task::MatchAgain, 700.0, 50.0)], ..scan() };
    near(seconds(again.clone(), "match = [300, 1]"), 700.0 * 350.0);
    near(seconds(again, "match = [300, 1]\nmatch_again = [100, 0]"), 700.0 * 100.0);
    let chosen = "chosen = [[0.1, 300, 300, 300, 300], [0.4, 100, 120, 40, 0], [0.8, 0, 0, 0, 0]]\nscan = [0, 50]";
    let of_part = |part: f64| Operator { looked_at: Some(1000.0 / part), ..scan() };
    for (part, byte) in [(0.05, 350.0), (0.2, 250.0), (0.4, 150.0), (0.9, 50.0)] {
        near(seconds(of_part(part), chosen), byte * 8000.0);
    }
    // Four times the run length of scattered rows at this part is 4 / (1 - 0.4) rows.
    for (longer, byte) in [(0.5, 150.0), (1.0, 150.0), (2.0, 160.0), (8.0, 130.0), (1e4, 50.0)] {
        let run_rows = Some(longer / (1.0 - 0.4));
        near(seconds(Operator { run_rows, ..of_part(0.4) }, chosen), byte * 8000.0);
    }
    let rows = "chosen_row = [[0.1, 300, 300, 300, 300], [0.4, 100, 120, 40, 0]]";
    let two_columns = Operator { copied_columns: 2.0, run_rows: Some(8.0), ..of_part(0.4) };
    near(seconds(two_columns, rows), (120.0 - 80.0 * 1.2_f64.log(4.0)) * 1000.0);
    assert_eq!(seconds(of_part(0.4), rows), 0.0);
    let with = |term: Term| Operator { terms: vec![term], ..of_part(1.0) };
    let choose = |part| with(Term { part, ..Term::new(Task::Choose, 600.0, 10.0) });
    near(seconds(choose(0.4), chosen), 50.0 * 8000.0 + 150.0 * 6000.0);
    let few = |seen_row_bytes| Operator { seen_row_bytes, gathered_rows: 1000.0, ..of_part(0.4) };
    near(seconds(few(6.0), chosen), 50.0 * 8000.0 + 100.0 * 2000.0);
    let even_all = "chosen = [[0.4, 9, 9, 9, 9], [0.99, 2, 2, 2, 2]]";
    near(seconds(few(6.0), even_all), 9.0 * 2000.0 + 2.0 * 6000.0);
    near(seconds(few(8.0), "gather = 70"), 70.0 * 8000.0);
    let fetch = |part| with(Term { part, ..Term::new(Task::Fetch, 600.0, 0.0) });
    near(seconds(fetch(0.25), "fetch = [[0.25, 8e3], [1, 0]]"), 8e3 * 600.0);
    near(seconds(fetch(0.5), "fetch = [[0.25, 8e3], [1, 0]]"), 4e3 * 600.0);
    let listed = with(Term::new(Task::Among, 600.0, 0.0));
    near(seconds(listed, "among = [500, 0]"), 500.0 * 600.0);
    let planned = Operator { functions: 0.0, ..computes };
    let parts = "planning = { operator = 5e6, expression = 1e6 }";
    near(seconds(planned.clone(), parts), 5e6 + 2.0 * 1e6);
    near(seconds(planned, "planning = { statement = 3e6, filter = 4e6 }"), 3e6 + 4e6);
}

#[test]
fn a_sort_compares_n_log_n_times_and_spills_what_does_not_fit() {
    let sort = plan(vec![
        operator(Kind::SequentialScan, &[], ROWS, ROW_BYTES),
        operator(Kind::Sort, &[0], ROWS, ROW_BYTES),
    ]);
    let costs = costs("sort = [10, 0]");
    let fits = run(&sort, &architecture("single-host", &["memory_mb=96"]), &costs);
    close(fits.breakdown.compute, 10.0 * ROWS * ROWS.log2() / 1e9, 1e-6);
    assert_eq!(fits.breakdown.spill, 0.0);
    let spills = run(&sort, &architecture("single-host", &["memory_mb=90"]), &costs);
    // The excess of the scan's result, then all rows as runs; both are written and read.
    let bytes = 2.0 * (ROWS * ROW_BYTES + (ROWS * ROW_BYTES - 90.0 * 1024.0 * 1024.0));
    let pages = bytes / 8192.0;
    let transfer = bytes / 28.5e6 + pages * (20e-6 + 8192.0 / 200e6);
    assert!(spills.breakdown.spill > transfer, "arms move between extents");
    close(spills.breakdown.spill, transfer, 0.25);
}

/// Joins of a small and a large table: the bytes that each protocol sends (E3).
#[test]
fn joins_send_what_their_protocols_say() {
    let join = |kind| {
        plan(vec![
            operator(Kind::SequentialScan, &[], 0.01 * ROWS, 100.0),
            operator(Kind::SequentialScan, &[], ROWS, 100.0),
            operator(kind, &[0, 1], 1.0, 1.0),
        ])
    };
    let link = |bytes: f64| bytes * 8.0 / 155e6;
    let small = 0.01 * ROWS * 100.0;
    let disks = architecture("smart-disk", &["network_latency_us=0"]);
    let sent = |kind| run(&join(kind), &disks, &costs("")).breakdown.communication;
    // Each unit receives the parts of the seven others.
    close(sent(Kind::NestedLoopJoin), link(small * 7.0 / 8.0), 0.1);
    close(sent(Kind::MergeJoin), link(small * 7.0 / 8.0), 0.1);
    // The central unit receives the table, with 16 bytes per entry, and sends it to eight units.
    close(sent(Kind::HashJoin), link(small * 1.16 * 9.0), 0.1);
    let grouped = architecture("smart-disk", &["network_latency_us=0", "disks=16", "groups=4"]);
    let flat = architecture("smart-disk", &["network_latency_us=0", "disks=16"]);
    let costs = costs("");
    let [grouped, flat] = [grouped, flat].map(|disks| run(&join(Kind::HashJoin), &disks, &costs));
    // The center sends to four units instead of sixteen, and each of these to three more.
    assert!(grouped.breakdown.communication < 0.7 * flat.breakdown.communication);
}

#[test]
fn a_hash_table_that_does_not_fit_puts_a_part_of_both_sides_away() {
    let join = plan(vec![
        operator(Kind::SequentialScan, &[], 0.5 * ROWS, 84.0),
        operator(Kind::SequentialScan, &[], ROWS, 84.0),
        operator(Kind::HashJoin, &[0, 1], 1.0, 1.0),
    ]);
    let table_mb = 0.5 * ROWS * 100.0 / (1024.0 * 1024.0);
    let host = |memory_mb: f64| {
        let memory = format!("memory_mb={memory_mb}");
        architecture(
            "single-host",
            &[&memory, "interconnect_mb_s=1e9", "site.interconnect.overhead_us=0"],
        )
    };
    assert_eq!(run(&join, &host(table_mb * 1.01), &costs("")).breakdown.spill, 0.0);
    let half = run(&join, &host(table_mb * 0.5), &costs("")).breakdown.spill;
    let transfer = 2.0 * 0.5 * (0.5 * ROWS * 100.0 + ROWS * 84.0) / 28.5e6;
    // The arm moves between the table and the spilled extents.
    assert!(half > transfer && half < 2.0 * transfer, "{half} for {transfer}");
}

#[test]
fn the_smaller_side_becomes_a_hash_table_unless_the_plan_says_which() {
    let built = |builds_first| {
        let join = operator(Kind::HashJoin, &[0, 1], 1.0, 1.0);
        let join = plan(vec![
            operator(Kind::SequentialScan, &[], ROWS, 8.0),
            operator(Kind::SequentialScan, &[], 0.1 * ROWS, 8.0),
            Operator { builds_first, ..join },
        ]);
        let one = architecture("cluster-2", &["sites=1"]);
        run(&join, &one, &costs("hash_build = [100, 0]\nhash_probe = [1, 0]")).breakdown.compute
    };
    close(built(false), (0.1 * 100.0 + 1.0) * ROWS / 1e9, 1e-3);
    close(built(true), (100.0 + 0.1) * ROWS / 1e9, 1e-3);
}

#[test]
fn what_is_done_with_a_table_costs_more_the_larger_it_is() {
    let cycles = |rows: f64, close_keys: bool, ordered: bool| {
        let join = operator(Kind::HashJoin, &[0, 1], 1.0, 1.0);
        let find = Term::new(Task::Find, ROWS, 0.0);
        let looking = operator(Kind::SequentialScan, &[], ROWS, 8.0);
        let join = plan(vec![
            operator(Kind::SequentialScan, &[], rows, 8.0),
            Operator { terms: vec![find], ordered, ..looking },
            Operator { builds_first: true, close_keys, ..join },
        ]);
        let one = architecture("cluster-2", &["sites=1"]);
        let tables = "hash_tables = [[1000, 1, 10, 5, 4, 2], [4000, 3, 30, 15, 6, 7]]\narray_tables = [[1000, 0, 2, 1, 1, 1]]";
        run(&join, &one, &costs(tables)).breakdown.compute * 1e9
    };
    close(cycles(100.0, false, false), 100.0 + 15.0 * ROWS, 1e-3);
    close(cycles(2000.0, false, false), 2.0 * 2000.0 + 30.0 * ROWS, 1e-3);
    close(cycles(1e6, false, false), 3.0 * 1e6 + 45.0 * ROWS, 1e-3);
    close(cycles(1e6, false, true), 3.0 * 1e6 + 13.0 * ROWS, 1e-3);
    close(cycles(1e6, true, false), 3.0 * ROWS, 1e-3);
    close(cycles(1e6, true, true), 2.0 * ROWS, 1e-3);
}

#[test]
fn what_a_join_takes_from_its_table_costs_more_the_larger_that_is() {
    let cycles = |rows: f64, ordered: bool, built_row_bytes: f64| {
        let join = operator(Kind::HashJoin, &[0, 1], 500.0, 24.0);
        let join = plan(vec![
            operator(Kind::SequentialScan, &[], rows, 8.0),
            Operator { ordered, ..operator(Kind::SequentialScan, &[], ROWS, 8.0) },
            Operator { builds_first: true, built_row_bytes, ..join },
        ]);
        let one = architecture("cluster-2", &["sites=1"]);
        let copies = "hash_probe = [0, 10]\nhash_copies = [[1000, 2, 1], [4000, 60, 30]]";
        run(&join, &one, &costs(copies)).breakdown.compute * 1e9
    };
    close(cycles(100.0, false, 0.0), 500.0 * 24.0 * 10.0, 1e-3);
    close(cycles(100.0, false, 16.0), 500.0 * (24.0 * 10.0 + 16.0 * 2.0), 1e-3);
    close(cycles(2000.0, false, 16.0), 500.0 * (24.0 * 10.0 + 16.0 * 31.0), 1e-3);
    close(cycles(4000.0, true, 16.0), 500.0 * (24.0 * 10.0 + 16.0 * 30.0), 1e-3);
}

#[test]
fn a_row_is_found_dearer_among_many_groups() {
    let cycles = |groups: f64, ordered: bool, terms: &[Term]| {
        let by = Operator { terms: terms.to_vec(), ..operator(Kind::GroupBy, &[0], ROWS, 8.0) };
        let plan = plan(vec![
            Operator { ordered, ..operator(Kind::SequentialScan, &[], ROWS, 8.0) },
            by,
            operator(Kind::Aggregate, &[1], groups, 16.0),
        ]);
        let one = architecture("cluster-2", &["sites=1"]);
        let costs = costs(
            "group_tables = [[100, 0, 1, 0, 3], [10000, 40, 1, 60, 3]]\ngroup_keys = [[100, 2, 30, 4, 50]]\nnumber_key = [6, 1]",
        );
        run(&plan, &one, &costs).breakdown.compute * 1e9
    };
    let found = ROWS - 1000.0;
    close(cycles(1000.0, false, &[]), 20.0 * found + 1000.0, 1e-5);
    close(cycles(20_000.0, false, &[]), 40.0 * (ROWS - 20_000.0) + 20_000.0, 1e-5);
    close(cycles(1000.0, true, &[]), 0.0, 1e-5);
    let text = |bytes| Term::new(Task::Key, ROWS, bytes);
    close(cycles(1000.0, false, &[text(12.0)]), 32.0 * found + 33.0 * 1000.0, 1e-5);
    let both = [text(8.0), text(21.0)];
    close(cycles(1000.0, false, &both), 36.0 * found + 83.0 * 1000.0, 1e-5);
    let number = Term::new(Task::NumberKey, ROWS, 8.0);
    close(cycles(1000.0, false, &[number]), 30.0 * found + 3000.0 + 14.0 * ROWS, 1e-5);
}

#[test]
fn a_sort_compares_dearer_among_few_rows_or_many_by_several_keys_and_by_texts() {
    let cycles = |rows: f64, terms: &[Term], sites: f64| {
        let sort = plan(vec![
            operator(Kind::SequentialScan, &[], rows, 8.0),
            Operator { terms: terms.to_vec(), ..operator(Kind::Sort, &[0], rows, 8.0) },
        ]);
        let orders = "sort = [10, 0]\norder = [[1000, 8, 20, 2], [4000, 2, 10, 1]]";
        let sites = architecture("cluster-2", &[&format!("sites={sites}")]);
        run(&sort, &sites, &costs(orders)).breakdown.compute * 1e9 / (rows * rows.log2())
    };
    let by = |rows: f64, bytes| [Term::new(Task::Order, rows, bytes)];
    for (rows, number, several, byte) in [(500.0, 18.0, 20.0, 2.0), (2000.0, 15.0, 15.0, 1.5)] {
        close(cycles(rows, &[], 1.0), number, 1e-2);
        close(cycles(rows, &by(rows, 0.0), 1.0), number + several, 1e-2);
        let all = number + several + 30.0 * byte;
        close(cycles(rows, &by(rows, 30.0), 1.0), all, 1e-2);
        // Each of four sites sorts a quarter, in parallel.
        let (quarters, whole) = (by(4.0 * rows, 30.0), rows.log2() / (4.0 * rows).log2());
        close(cycles(4.0 * rows, &quarters, 4.0), all * whole / 4.0, 1e-2);
    }
}

/// `aggregate_all` defaults to `aggregate`.
#[test]
fn aggregates_of_all_rows_look_no_group_up() {
    let one = architecture("cluster-2", &["sites=1"]);
    let cycles = |by: &[Operator], groups: f64, named: &str| {
        let mut operators = vec![operator(Kind::SequentialScan, &[], ROWS, 8.0)];
        operators.extend_from_slice(by);
        let child = operators.len() - 1;
        let functions = 3.0;
        operators.push(Operator { functions, ..operator(Kind::Aggregate, &[child], groups, 8.0) });
        run(&plan(operators), &one, &costs(named)).breakdown.compute * 1e9
    };
    let by = [operator(Kind::GroupBy, &[0], ROWS, 8.0)];
    let named = "aggregate = [5, 0]\naggregate_all = [2, 0]";
    close(cycles(&[], 1.0, named), 3.0 * 2.0 * ROWS, 1e-3);
    close(cycles(&[], 1.0, "aggregate = [5, 0]"), 3.0 * 5.0 * ROWS, 1e-3);
    close(cycles(&[], 10.0, named), 3.0 * 5.0 * ROWS, 1e-3);
    close(cycles(&by, 1.0, named), 3.0 * 5.0 * ROWS, 1e-3);
}

#[test]
fn aggregates_are_made_at_the_sites_and_combined() {
    let grouped = |groups: f64| {
        plan(vec![
            operator(Kind::SequentialScan, &[], ROWS, 8.0),
            operator(Kind::GroupBy, &[0], ROWS, 8.0),
            operator(Kind::Aggregate, &[1], groups, 16.0),
        ])
    };
    let costs = costs("group = [100, 0]\naggregate = [50, 0]");
    let disks = architecture("smart-disk", &["network_latency_us=0"]);
    let few = run(&grouped(4.0), &disks, &costs);
    close(few.breakdown.compute, 150.0 * ROWS / 8.0 / 1e9, 1e-3);
    assert!(few.breakdown.communication < 0.001);
    // Each unit has nearly all groups: 8 * 100,000 rows are hash-partitioned, seven eighths of them
    // over links.
    let many = run(&grouped(100_000.0), &disks, &costs);
    close(many.breakdown.compute, 150.0 * (ROWS + 800_000.0) / 8.0 / 1e9, 1e-3);
    let partitioned = 16.0 * 800_000.0 / 8.0 * 7.0 / 8.0;
    let result = 16.0 * 100_000.0;
    close(many.breakdown.communication, (partitioned + result) * 8.0 / 155e6, 0.1);
}

#[test]
fn pando_hash_partitions_both_sides_and_reads_from_memory() {
    let join = plan(vec![
        operator(Kind::SequentialScan, &[], 0.5 * ROWS, 100.0),
        operator(Kind::SequentialScan, &[], ROWS, 100.0),
        operator(Kind::HashJoin, &[0, 1], 1.0, 1.0),
    ]);
    let changes = ["network_latency_us=0", "page_kb=64"].map(str::to_owned);
    let servers = catalog::named("pando-cloud", &changes).expect("known");
    let report = run(&join, &servers, &costs(""));
    close(report.breakdown.io, 2.0 * ROWS * ROW_BYTES / 4.0 / 150e9, 0.01);
    let partitioned = 1.5 * ROWS * 100.0 / 4.0 * 3.0 / 4.0;
    close(report.breakdown.communication, partitioned * 8.0 / 25e9, 0.1);
}

#[test]
fn the_same_seed_gives_the_same_report_and_another_moves_only_arms() {
    let plan = Query::Q13.plan(1.0, Selectivity::Medium).expect("a plan");
    let disks = catalog::named("smart-disk", &[]).expect("known");
    let costs = Coefficients::named("row-at-a-time").expect("known");
    let run = |seed| simulate(&plan, &disks, &costs, Scheme::Optimal, seed).expect("runs");
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
    close(run(7).seconds, run(8).seconds, 0.01);
}

#[test]
fn sites_add_up_to_the_time_of_each_bundle() {
    let plan = Query::Q3.plan(1.0, Selectivity::Medium).expect("a plan");
    for name in catalog::names() {
        let architecture = catalog::named(name, &[]).expect("known");
        let costs = Coefficients::named("columnar").expect("known");
        let report = run(&plan, &architecture, &costs);
        assert_eq!(report.bundles.len(), 5, "{name}");
        for bundle in &report.bundles {
            close(bundle.breakdown.total(), bundle.seconds, 1e-6);
            bundle.sites.iter().for_each(|site| close(site.total(), bundle.seconds, 1e-6));
        }
        close(report.bundles.iter().map(|bundle| bundle.seconds).sum(), report.seconds, 1e-9);
    }
}

#[test]
fn an_engine_on_columns_reads_those_that_it_needs_and_one_on_rows_all() {
    let one = architecture("cluster-2", &["sites=1"]);
    let io = |columnar: bool, read_row_bytes: f64| {
        let scan = Operator { read_row_bytes, ..operator(Kind::SequentialScan, &[], 1.0, 10.0) };
        run(&plan(vec![scan]), &one, &Coefficients { columnar, ..costs("") }).breakdown.io
    };
    let handed_on = io(true, 0.0);
    close(io(true, 30.0), 3.0 * handed_on, 0.05);
    close(io(true, 5.0), handed_on, 1e-9);
    close(io(false, 30.0), io(false, 0.0), 1e-9);
    assert!(io(false, 0.0) > io(true, 30.0), "a row has {ROW_BYTES} bytes");
}

#[test]
fn tables_that_the_storage_cannot_hold_are_refused() {
    let plan = Query::Q1.plan(10_000.0, Selectivity::Medium).expect("a plan");
    let disks = catalog::named("smart-disk", &[]).expect("known");
    let costs = Coefficients::named("columnar").expect("known");
    let refused =
        simulate(&plan, &disks, &costs, Scheme::None, 1).expect_err("refused").to_string();
    assert!(refused.contains("6721 GB") && refused.contains("288 GB"), "{refused}");
}

#[test]
fn a_windows_functions_rows_and_partitions_cost_what_they_say() {
    let cycles = |partitions: f64, tasks: &[Task]| {
        let terms = tasks.iter().map(|task| Term::new(*task, ROWS, 0.0)).collect();
        let window = Operator { partitions, terms, ..operator(Kind::Window, &[0], ROWS, 16.0) };
        let plan = plan(vec![
            operator(Kind::SequentialScan, &[], ROWS, 8.0),
            Operator { functions: 2.0, ..window },
        ]);
        let costs = costs(
            "group_ordered = [5, 0]\naggregate = [2, 0]\nwindow = { value = 10, rank = 30, running = 100, moving = 200, partition = 1e3, partition_running = 1e4 }",
        );
        run(&plan, &architecture("cluster-2", &["sites=1"]), &costs).breakdown.compute * 1e9
    };
    let plain = (5.0 + 2.0 * 2.0 + 2.0 * 10.0) * ROWS;
    close(cycles(0.0, &[]), plain, 1e-5);
    close(cycles(500.0, &[]), plain + 500.0 * 1e3, 1e-5);
    close(cycles(500.0, &[Task::Rank]), plain + 30.0 * ROWS + 500.0 * 1e3, 1e-5);
    let both = plain + 300.0 * ROWS + 500.0 * (1e3 + 2.0 * 1e4);
    close(cycles(500.0, &[Task::Running, Task::Moving]), both, 1e-5);
}

#[test]
fn a_window_hash_partitions_its_rows_or_gathers_them_without_partitions() {
    let sent = |partitions: f64| {
        let window = Operator { partitions, ..operator(Kind::Window, &[0], ROWS, ROW_BYTES) };
        let top = operator(Kind::Aggregate, &[1], 1.0, 8.0);
        let plan = plan(vec![operator(Kind::SequentialScan, &[], ROWS, ROW_BYTES), window, top]);
        let hosts = architecture("cluster-4", &["network_latency_us=0"]);
        let report = run(&plan, &hosts, &costs("window = { value = 1000 }"));
        (report.breakdown.communication, report.breakdown.compute)
    };
    let link = |bytes: f64| bytes * 8.0 / 155e6;
    let (partitioned, shared) = sent(1000.0);
    // Each host receives three quarters of its quarter from the others.
    close(partitioned, link(ROWS * ROW_BYTES * 3.0 / 16.0), 0.1);
    close(shared, 0.25, 0.01);
    let (gathered, alone) = sent(0.0);
    close(gathered, link(ROWS * ROW_BYTES * 3.0 / 4.0), 0.1);
    close(alone, 1.0, 0.01);
}

#[test]
fn a_union_does_the_work_of_all_inputs_and_a_recursion_its_second_again_and_again() {
    let leaf = |rows: f64| operator(Kind::SequentialScan, &[], rows, 8.0);
    let cycles = |kind, times: f64| {
        let top = Operator { times, ..operator(kind, &[0, 1], 0.2 * ROWS, 8.0) };
        let plan = plan(vec![leaf(0.1 * ROWS), leaf(0.1 * ROWS), top]);
        let one = architecture("cluster-2", &["sites=1"]);
        run(&plan, &one, &costs("scan = [3, 0]")).breakdown.compute * 1e9
    };
    close(cycles(Kind::Union, 1.0), 2.0 * 3.0 * ROWS, 1e-3);
    close(cycles(Kind::Recursion, 1.0), 2.0 * 3.0 * ROWS, 1e-3);
    close(cycles(Kind::Recursion, 10.0), 11.0 * 3.0 * ROWS, 1e-3);
}

#[test]
fn a_subquery_is_planned_and_run_as_often_as_it_says() {
    let seconds = |hosts: &str, times: f64| {
        let leaf = |rows: f64| operator(Kind::SequentialScan, &[], rows, 8.0);
        let by_row = operator(Kind::Subquery, &[0, 1], 0.1 * ROWS, 8.0);
        let plan = plan(vec![leaf(0.1 * ROWS), leaf(0.001 * ROWS), Operator { times, ..by_row }]);
        let hosts = architecture("cluster-2", &[hosts]);
        let costs = costs("scan = [3, 0]\nplanning = { statement = 1e6, operator = 1e5 }");
        run(&plan, &hosts, &costs)
    };
    let of_statement = 1e6 + 2.0 * 1e5 + 3.0 * ROWS;
    let of_subquery = 1e6 + 1e5 + 3.0 * ROWS;
    for times in [1.0, 7.0, 1e9] {
        let compute = seconds("sites=1", times).breakdown.compute * 1e9;
        close(compute, of_statement + times * of_subquery, 1e-3);
    }
    let [once, twice, often] = [1.0, 2.0, 1e6].map(|times| seconds("sites=2", times));
    let each = twice.breakdown.communication - once.breakdown.communication;
    assert!(each > 0.0, "it is sent out and answered each time");
    close(often.breakdown.communication, once.breakdown.communication + (1e6 - 1.0) * each, 1e-6);
    close(often.seconds, often.breakdown.total(), 1e-6);
}

#[test]
fn each_grouping_set_looks_at_every_row() {
    let cycles = |times: f64| {
        let by = Operator { times, ..operator(Kind::GroupBy, &[0], times * ROWS, 8.0) };
        let aggregate = operator(Kind::Aggregate, &[1], 10.0, 8.0);
        let plan = plan(vec![operator(Kind::SequentialScan, &[], ROWS, 8.0), by, aggregate]);
        let one = architecture("cluster-2", &["sites=1"]);
        run(&plan, &one, &costs("group = [7, 0]\naggregate = [2, 0]")).breakdown.compute * 1e9
    };
    close(cycles(1.0), 9.0 * ROWS, 1e-5);
    close(cycles(3.0), 27.0 * ROWS, 1e-5);
}

#[test]
fn the_coordinators_rows_go_to_those_that_they_are_joined_with() {
    let joined = |kind| {
        let plan = plan(vec![
            operator(Kind::Values, &[], 100.0, 1000.0),
            operator(Kind::SequentialScan, &[], ROWS, ROW_BYTES),
            operator(kind, &[0, 1], 1.0, 1.0),
        ]);
        let disks = architecture("smart-disk", &["network_latency_us=0"]);
        run(&plan, &disks, &costs("")).breakdown.communication
    };
    let link = |bytes: f64| bytes * 8.0 / 155e6;
    for (kind, entry) in
        [(Kind::NestedLoopJoin, 0.0), (Kind::MergeJoin, 0.0), (Kind::HashJoin, 16.0)]
    {
        close(joined(kind), link(8.0 * 100.0 * (1000.0 + entry)), 0.2);
    }
}
