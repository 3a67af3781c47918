//! Coefficients as differences between queries, of which one does what the other does not.

use super::Bench;
use super::sizes;
use super::tables::{SOUGHT, TEXT_BYTES, keeping, words_bytes};
use super::times::Times;
use anyhow::Result;
use dbsim::plan::Term;
use dbsim::{Cost, Plan};

/// What was measured, by the names of a file of coefficients.
#[derive(Default)]
pub(super) struct Costs {
    /// Cycles a tuple and a byte.
    pub(super) costs: Vec<(&'static str, Cost)>,
    /// Cycles alone.
    pub(super) cycles: Vec<(&'static str, f64)>,
    /// Rows of tables, and cycles with each.
    pub(super) by_rows: Vec<(&'static str, Vec<Vec<f64>>)>,
}

/// What is only planned: a query of some operators, and one of many expressions.
const PLANNED: &str = "SELECT a.g, sum(b.v) FROM one a JOIN few b ON a.k = b.k WHERE b.id < 0 GROUP BY a.g ORDER BY 2";
const PLANNED_EXPRESSIONS: &str = "SELECT s1, s2, sum(n1), sum(n2), sum(n1 * (1 - n2)), \
    sum(n1 * (1 - n2) * (1 + n3)), avg(n1), avg(n2), avg(n3), count(*) FROM one \
    WHERE d1 > date '1990-01-01' GROUP BY s1, s2 ORDER BY s1, s2";

/// Parts of rows that are copied out.
const SOME: f64 = 0.2;
const HALF: f64 = 0.5;
pub(super) const MOST: f64 = 0.95;

/// Bytes that say where a text lies.
const VIEW_BYTES: f64 = 16.0;

/// Predicates that keep all rows, so that nothing is copied and none is left out.
const THREE_DATES: &str =
    "d1 <> date '1900-01-01' AND d2 <> date '1900-01-01' AND d3 <> date '1900-01-01'";

/// Measures all that Pando has operators for.
pub(super) async fn measure(bench: &Bench) -> Result<Costs> {
    let plans = Plans {
        pieces: bench.plan("SELECT v FROM pieces").await?,
        planned: bench.plan(PLANNED).await?,
        of_expressions: bench.plan(PLANNED_EXPRESSIONS).await?,
    };
    let mut times = Times::default();
    let _only_asked = of_times(bench.rows, &times, &plans);
    times.measure(bench).await?;
    Ok(of_times(bench.rows, &times, &plans))
}

/// Plans of what is measured.
struct Plans {
    pieces: Plan,
    planned: Plan,
    of_expressions: Plan,
}

/// All coefficients, of what queries take over so many rows.
fn of_times(rows: u64, times: &Times, plans: &Plans) -> Costs {
    let mut costs = Costs::default();
    let [scan, chosen] = scans(rows, times, &mut costs);
    predicates(rows, times, [scan, chosen], &mut costs);
    let group = groups(rows, times, &mut costs);
    sizes::groups(rows, times, [scan.tuple, group], &mut costs);
    sizes::joins(rows, times, scan.tuple, &mut costs);
    pieces(rows, times, scan.byte, &plans.pieces, &mut costs);
    planning(times, plans, &mut costs);
    costs
}

/// Scans that hand rows on as they lie, and that copy those that are chosen: what both cost. Sorts.
fn scans(rows: u64, times: &Times, costs: &mut Costs) -> [Cost; 2] {
    let all = rows as f64;
    // A query that looks at one row: what a query takes before it looks at any.
    let begun = times.of("SELECT v FROM one");
    let plain = times.of("SELECT v FROM t");
    let kept = times.of("SELECT v FROM t WHERE k <> -1");
    // A part of the rows, here and there: they are chosen and copied out. What three numbers more of each cost.
    let part_of = |part: f64, columns: &str| {
        times.of(&format!("SELECT {columns} FROM t WHERE {}", keeping(part)))
    };
    // A byte of those that are chosen, of columns of 16 bytes.
    let copied = |part: f64| {
        let four = part_of(part, "v, n1, n2, n3");
        (four - part_of(part, "v")).max(0.0) / (3.0 * 16.0 * part * all)
    };
    let some = part_of(SOME, "v");
    let rows = times.of("SELECT id, k, g, v FROM t");
    let sorted = times.of("SELECT id, k, g, v FROM t ORDER BY k");

    let Copies { copied: copy, scattered, along } = Copies::of([SOME, HALF, MOST].map(copied));
    let chosen = (some - kept) / (SOME * all)
        - 8.0 * (copy + scattered * (1.0 - SOME) + along * brought_along(SOME));
    let chosen = Cost { tuple: chosen.max(0.0), byte: along };
    let scan = Cost { tuple: (plain - begun).max(0.0) / all, byte: copy };
    costs.costs.extend([
        ("scan", scan),
        ("chosen", chosen),
        ("sort", tuple((sorted - rows) / (all * all.log2()))),
    ]);
    costs.cycles.push(("scattered", scattered));
    [scan, chosen]
}

/// Cycles of a byte that is copied.
struct Copies {
    /// With all that lie beside it.
    copied: f64,
    /// More where none of these is copied.
    scattered: f64,
    /// Of one of these, which memory brings along.
    along: f64,
}

/// Bytes that memory brings along with each that is copied, of this part of the rows.
fn brought_along(part: f64) -> f64 {
    Term::passed(1.0, part) / part
}

impl Copies {
    /// What a byte costs where some, half and most of the rows are copied says all three.
    fn of([some, half, most]: [f64; 3]) -> Self {
        let [parts, along] =
            [[SOME, HALF, MOST], [SOME, HALF, MOST].map(|part| -brought_along(part))];
        let steps = |of: [f64; 3]| [of[1] - of[0], of[2] - of[1]];
        let (costs, parts, along) = (steps([some, half, most]), steps(parts), steps(along));
        let crossed = |one: [f64; 2], other: [f64; 2]| one[0] * other[1] - one[1] * other[0];
        let fallen = costs.map(|cost| -cost);
        let scattered = (crossed(fallen, along) / crossed(parts, along)).max(0.0);
        let along = (crossed(parts, fallen) / crossed(parts, along)).max(0.0);
        let copied = most - scattered * (1.0 - MOST) - along * brought_along(MOST);
        Self { copied: copied.max(0.0), scattered, along }
    }
}

/// What is compared and searched of each row.
fn predicates(rows: u64, times: &Times, [scan, chosen]: [Cost; 2], costs: &mut Costs) {
    let kept = |predicate: &str| times.of(&format!("SELECT v FROM t WHERE {predicate}"));
    let each = |more: f64, fewer: f64, terms: f64| (more - fewer).max(0.0) / (rows as f64 * terms);
    let search = format!("c1 NOT LIKE '{SOUGHT}'");
    let plain = times.of("SELECT v FROM t");
    let date = kept("d1 <> date '1900-01-01'");
    let dates = kept(THREE_DATES);
    let number = kept("n1 <> -1");
    let numbers = kept("n1 <> -1 AND n2 <> -1 AND n3 <> -1");
    let text = kept("s1 <> 'none'");
    let texts = kept("s1 <> 'none' AND s2 <> 'none'");
    let long_text = kept("l1 <> 'none'");
    let long_texts = kept("l1 <> 'none' AND l2 <> 'none'");
    let searched = kept("s1 NOT LIKE '%in%no%'");
    let words_searched = kept(&search);
    // Texts of some of the rows, here and there.
    let some = kept(&keeping(SOME));
    let some_searched = kept(&format!("{} AND {search}", keeping(SOME)));

    let [short, long] = TEXT_BYTES;
    let of_numbers = [(4.0, each(dates, date, 2.0)), (16.0, each(numbers, number, 2.0))];
    let of_texts = [(short, each(texts, text, 1.0)), (long, each(long_texts, long_text, 1.0))];
    let of_searches =
        [(short, each(searched, plain, 1.0)), (words_bytes(), each(words_searched, plain, 1.0))];
    let compare = line(of_numbers);
    let passed = brought_along(SOME) * (VIEW_BYTES + words_bytes());
    let known = each(words_searched, plain, 1.0)
        + chosen.cycles(1.0, passed)
        + scan.byte * VIEW_BYTES
        + compare.tuple / SOME;
    let fetched = each(some_searched, some, SOME) - known;
    costs.cycles.push(("fetch", (fetched / (1.0 - SOME)).max(0.0)));
    costs.costs.extend([
        ("compare", compare),
        ("match", line(of_texts)),
        ("search", line(of_searches)),
    ]);
}

/// Sums, and the few groups that they are of: what a row of a group costs. Where nothing else is said rows are such as a scan has
/// copied, so that whoever made them has brought them along; the scan by itself is taken off.
fn groups(rows: u64, times: &Times, costs: &mut Costs) -> f64 {
    let all = rows as f64;
    let chosen = format!("FROM t WHERE {}", keeping(MOST));
    let of = |select: &str, groups: &str, columns: &str| {
        let whole = times.of(&format!("SELECT {select} {chosen} {groups}"));
        whole - times.of(&format!("SELECT {columns} {chosen}"))
    };
    let sum = of("sum(n1)", "", "n1");
    let product = of("sum(n1 * (1 - n2))", "", "n1, n2");
    let of_integer = of("sum(v)", "", "v");
    let of_integers = of("sum(v * (1 - g))", "", "v, g");
    let group = of("g, sum(n1)", "GROUP BY g", "g, n1");
    let sums = of("g, sum(n1), sum(n2), sum(n3)", "GROUP BY g", "g, n1, n2, n3");
    let in_order = of("id, sum(n1)", "GROUP BY id", "id, n1");
    let by_texts = of("s1, s2, sum(n1)", "GROUP BY s1, s2", "s1, s2, n1");
    let by_long_texts = of("l1, l2, sum(n1)", "GROUP BY l1, l2", "l1, l2, n1");
    // The same of rows as they lie.
    let one_in_place = times.of("SELECT g, sum(n1) FROM t GROUP BY g");
    let in_place = times.of("SELECT g, sum(n1), sum(n2), sum(n3) FROM t GROUP BY g");

    let each = |more: f64, fewer: f64, terms: f64| (more - fewer).max(0.0) / (MOST * all * terms);
    let [short, long] = TEXT_BYTES;
    let calculated = [(8.0, each(of_integers, of_integer, 2.0)), (16.0, each(product, sum, 2.0))];
    let keys = [(short, each(by_texts, group, 2.0)), (long, each(by_long_texts, group, 2.0))];
    let aggregate = each(sums, group, 2.0);
    let of_group = each(group, sum, 1.0);
    let first_look = ((in_place - one_in_place).max(0.0) / all / 2.0 - aggregate).max(0.0) / 16.0;
    costs.costs.extend([
        ("calculate", line(calculated)),
        ("key", line(keys)),
        ("group", tuple(of_group)),
        ("group_ordered", tuple(each(in_order, sum, 1.0))),
        ("aggregate", tuple(aggregate)),
    ]);
    costs.cycles.push(("first_look", first_look));
    of_group
}

/// What pieces cost beside their rows, where the copy of a byte takes so many cycles.
fn pieces(rows: u64, times: &Times, copy: f64, plan: &Plan, costs: &mut Costs) {
    let pieces: f64 = plan.operators().iter().map(|operator| operator.pieces).sum();
    // By how much a query takes longer over small pieces.
    let more = |query: &str| {
        let of = |table: &str| times.of(&query.replace("TABLE", table));
        of("pieces") - of("t")
    };
    let plain = more("SELECT v FROM TABLE t");
    let compared = more("SELECT v FROM TABLE t WHERE d1 <> date '1900-01-01'");
    let compared_thrice = more(&format!("SELECT v FROM TABLE t WHERE {THREE_DATES}"));
    let some = keeping(SOME);
    let chosen = more(&format!("SELECT v, n1, n2 FROM TABLE t WHERE {some}"));
    let searched = more(&format!("SELECT v FROM TABLE t WHERE c1 NOT LIKE '{SOUGHT}'"));
    let found = more("SELECT count(*) FROM TABLE t JOIN few ON t.k = few.k");

    let of_piece = |cycles: f64| cycles.max(0.0) / pieces;
    let gathered = copy * 8.0 * rows as f64;
    let term = of_piece(compared_thrice - compared) / 2.0;
    let piece = of_piece(plain - gathered);
    costs.cycles.extend([
        ("piece", piece),
        ("piece_chosen", (of_piece(chosen) - piece - term).max(0.0)),
        ("piece_term", term),
        ("piece_search", of_piece(searched - plain)),
        ("piece_find", of_piece(found - plain)),
    ]);
}

/// What a query takes however many rows there are: two equations of operators and expressions.
fn planning(times: &Times, plans: &Plans, costs: &mut Costs) {
    let planned = times.of(PLANNED);
    let of_expressions = times.of(PLANNED_EXPRESSIONS);
    let in_bundles = times.in_bundles(PLANNED);
    let plans = [&plans.planned, &plans.of_expressions];

    let [operators, more_operators] = plans.each_ref().map(|plan| plan.operators().len() as f64);
    let [expressions, more_expressions] = plans.each_ref().map(|plan| plan.expressions());
    let expression = (of_expressions - planned * more_operators / operators)
        / (more_expressions - expressions * more_operators / operators);
    let expression = expression.max(0.0);
    let operator = (planned - expression * expressions) / operators;
    costs.costs.push(("planning", Cost { tuple: operator.max(0.0), byte: expression }));
    costs.cycles.push(("bundle", (in_bundles - planned).max(1.0) / (operators - 1.0)));
}

fn tuple(cycles: f64) -> Cost {
    Cost { tuple: cycles.max(0.0), byte: 0.0 }
}

/// Cycles a tuple and a byte, of two widths and what a tuple of each costs.
fn line([(narrow, cheap), (wide, dear)]: [(f64, f64); 2]) -> Cost {
    let byte = ((dear - cheap) / (wide - narrow)).max(0.0);
    Cost { tuple: (cheap - byte * narrow).max(0.0), byte }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_three_parts_cost_says_what_copies_do() {
        let cost = |part: f64| 0.2 + 0.5 * (1.0 - part) + 0.1 * brought_along(part);
        let Copies { copied, scattered, along } = Copies::of([SOME, HALF, MOST].map(cost));
        for (found, expected) in [(copied, 0.2), (scattered, 0.5), (along, 0.1)] {
            assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
        }
        let level = Copies::of([0.3; 3]);
        assert_eq!([level.copied, level.scattered, level.along], [0.3, 0.0, 0.0]);
    }

    #[test]
    fn a_line_through_two_widths_never_falls_below_nothing() {
        assert_eq!(line([(4.0, 10.0), (16.0, 22.0)]), Cost { tuple: 6.0, byte: 1.0 });
        assert_eq!(line([(4.0, 10.0), (16.0, 9.0)]), Cost { tuple: 10.0, byte: 0.0 });
        assert_eq!(line([(4.0, 1.0), (16.0, 13.0)]), Cost { tuple: 0.0, byte: 1.0 });
    }
}
