//! Coefficients as differences between queries, of which one does what the other does not.

use super::Bench;
use super::planning::{Planned, planning};
use super::sizes::{self, OfFew};
use super::tables::{
    GROUPS, SOUGHT, TEXT_BYTES, keeping, keeping_runs, sorted, usual, words_bytes,
};
use super::times::Times;
use super::windows::windows;
use anyhow::Result;
use dbsim::plan::Planning;
use dbsim::{Cost, RUNS, Windows};

/// What was measured, by the names of a file of coefficients.
#[derive(Default)]
pub(super) struct Costs {
    /// Cycles a tuple and a byte.
    pub(super) costs: Vec<(&'static str, Cost)>,
    /// Cycles alone.
    pub(super) cycles: Vec<(&'static str, f64)>,
    /// Points (rows of tables, parts of rows), and cycles at each.
    pub(super) curves: Vec<(&'static str, Vec<Vec<f64>>)>,
    /// Cycles of functions of windows.
    pub(super) windows: Windows,
    /// Cycles of planning.
    pub(super) planning: Planning,
}

/// Parts of rows that are chosen, ascending, and one of them.
const PARTS: [f64; 8] = [0.05, 0.1, 0.2, 0.3, 0.45, 0.65, MOST, 0.99];
const SOME: f64 = PARTS[2];
pub(super) const MOST: f64 = 0.95;
/// Of a smaller part of a piece rows are copied twice: they are gathered with those of other pieces.
const GATHERED: f64 = 0.5;

/// Numbers of a list.
const LISTED: u64 = 8;

/// Predicates that keep all rows, so that nothing is copied and none is left out.
const THREE_DATES: &str =
    "d1 <> date '1900-01-01' AND d2 <> date '1900-01-01' AND d3 <> date '1900-01-01'";
const ONE_DATE_THRICE: &str =
    "d1 <> date '1900-01-01' AND d1 > date '1901-01-01' AND d1 < date '2901-01-01'";

/// What was measured of queries, and what is known of the tables that they are over.
#[derive(Default)]
pub(super) struct Measured {
    times: Times,
    small_pieces: f64,
    planned: Planned,
}

impl Measured {
    /// Runs all queries over tables that were loaded once more.
    pub(super) async fn add(&mut self, bench: &Bench) -> Result<()> {
        let pieces = bench.plan("SELECT v FROM pieces").await?;
        self.small_pieces = pieces.operators().iter().map(|operator| operator.pieces).sum();
        self.planned = Planned::of(bench).await?;
        let _only_asked = self.costs(bench.rows);
        self.times.measure(bench).await
    }

    /// What everything costs that Pando has operators for, of tables with so many rows.
    pub(super) fn costs(&self, rows: u64) -> Costs {
        of_times(rows, &self.times, self.small_pieces, &self.planned)
    }
}

/// All coefficients, of what queries take over so many rows, in so many pieces where these are small.
fn of_times(rows: u64, times: &Times, small_pieces: f64, planned: &Planned) -> Costs {
    let mut costs = Costs::default();
    let small = Small::of(rows, times, small_pieces);
    let (scan, copy) = scans(rows, times, &small, &mut costs);
    sorts(rows, times, &mut costs);
    predicates(rows, times, &mut costs);
    let few = groups(rows, times, &mut costs);
    sizes::groups(rows, times, scan.tuple, &few, &mut costs);
    sizes::joins(rows, times, scan.tuple, &mut costs);
    pieces(rows, times, copy, &small, &mut costs);
    planning(times, planned, &mut costs);
    costs
}

/// What is known of small pieces before all else.
struct Small {
    /// How many there are.
    pieces: f64,
    /// Cycles of a column of one.
    column: f64,
    /// Cycles of a column that is copied out of one, where not all rows are chosen.
    copied: f64,
    /// Cycles of a byte that is gathered.
    gather: f64,
}

/// Cycles that a query takes longer over small pieces.
fn longer(times: &Times, query: &str) -> f64 {
    let of = |table: &str| times.of(&query.replace("TABLE", table));
    of("pieces") - of("t")
}

impl Small {
    fn of(rows: u64, times: &Times, pieces: f64) -> Self {
        let compared =
            |predicate: &str| longer(times, &format!("SELECT v FROM TABLE t WHERE {predicate}"));
        // Two columns more that are read.
        let column = (compared(THREE_DATES) - compared(ONE_DATE_THRICE)).max(0.0) / 2.0 / pieces;
        let kept = |columns: &str, part: f64| {
            longer(times, &format!("SELECT {columns} FROM TABLE t WHERE {}", keeping(part)))
        };
        // Two more that are copied, of few bytes and twice by large pieces as by small ones.
        let more = kept("d1, d2, d3", SOME) - kept("d1", SOME);
        let copied = (more / pieces / 2.0 - column).max(0.0);
        // Three more that are copied, once by large pieces and twice by small ones.
        let more = kept("v, n1, n2, n3", MOST) - kept("v", MOST);
        let gathered = (more - 3.0 * (column + copied) * pieces).max(0.0);
        Self { pieces, column, copied, gather: gathered / (3.0 * 16.0 * MOST * rows as f64) }
    }
}

/// Scans that hand rows on as they lie, and that copy those that are chosen: what a tuple costs and a byte of it, and what a byte
/// costs of nearly all rows, here and there.
fn scans(rows: u64, times: &Times, small: &Small, costs: &mut Costs) -> (Cost, f64) {
    let all = rows as f64;
    // A query that looks at one row: what a query takes before it looks at any.
    let begun = times.of("SELECT v FROM one");
    let plain = times.of("SELECT v FROM t");
    // Of rows here and there or in runs: with two columns for the first time it is found out which they are, and two more of 16 bytes
    // are only copied.
    let chosen = PARTS.map(|part| {
        RUNS.map(|run| {
            let kept = keeping_runs(run, part);
            let [one, two, four] = ["v", "v, n1", "v, n1, n2, n3"]
                .map(|columns| times.of(&format!("SELECT {columns} FROM t WHERE {kept}")));
            let byte = (four - two) / (2.0 * 16.0 * part * all);
            let gathered = if part < GATHERED { small.gather } else { 0.0 };
            let row = (two - one) / (part * all) - 16.0 * byte;
            [byte - gathered, row].map(|cycles| cycles.max(0.0))
        })
    });
    let least = chosen[PARTS.len() - 1].map(|[byte, _]| byte).into_iter().fold(f64::MAX, f64::min);
    let scan = Cost { tuple: (plain - begun).max(0.0) / all, byte: least };
    let curve = |of: &dyn Fn([f64; 2]) -> f64| {
        let point =
            |(part, chosen): (&f64, &[_; RUNS.len()])| [&[*part][..], &chosen.map(of)].concat();
        PARTS.iter().zip(&chosen).map(point).collect()
    };
    costs.costs.push(("scan", scan));
    costs.cycles.push(("gather", small.gather));
    costs.curves.push(("chosen", curve(&|[byte, _]| (byte - scan.byte).max(0.0))));
    costs.curves.push(("chosen_row", curve(&|[_, row]| row)));
    let [[copy, _], ..] = chosen[PARTS.len() - 1];
    (scan, copy)
}

/// Orders by a number, and by three columns of which one is a text, of ever more rows. Few are sorted together, more in runs that are
/// merged.
fn sorts(rows: u64, times: &Times, costs: &mut Costs) {
    let of = |table: &str, by: &str| {
        let rows = |by: &str| times.of(&format!("SELECT id, r, s1, l1, g FROM {table} {by}"));
        rows(by) - rows("")
    };
    let [short, long] = TEXT_BYTES;
    let of_sizes: Vec<_> = (sorted(rows).into_iter().enumerate())
        .map(|(at, size)| {
            let size = size as f64;
            let comparison = |by: &str| {
                // A row is planned for like many.
                let all = of(&format!("few{at}"), by) - of("narrow", by);
                all.max(0.0) / (size * size.log2())
            };
            let by_one = comparison("ORDER BY r");
            let by_several = [("s1", short), ("l1", long)].map(|(text, bytes)| {
                let all = comparison(&format!("ORDER BY g, {text}, r"));
                (bytes, (all - by_one).max(0.0))
            });
            (size, by_one, line(by_several))
        })
        .collect();
    let least = of_sizes.iter().map(|(_, by_one, _)| *by_one).fold(f64::MAX, f64::min);
    let above = of_sizes
        .into_iter()
        .map(|(size, by_one, more)| vec![size, by_one - least, more.tuple, more.byte]);
    costs.costs.push(("sort", tuple(least)));
    costs.curves.push(("order", above.collect()));
}

/// What is compared and searched of each row.
fn predicates(rows: u64, times: &Times, costs: &mut Costs) {
    let kept = |predicate: &str| times.of(&format!("SELECT v FROM t WHERE {predicate}"));
    let each = |more: f64, fewer: f64, terms: f64| (more - fewer).max(0.0) / (rows as f64 * terms);
    let search = format!("c1 NOT LIKE '{SOUGHT}'");
    let plain = times.of("SELECT v FROM t");
    let date = kept("d1 <> date '1900-01-01'");
    let dates = kept(THREE_DATES);
    let number = kept("n1 <> -1");
    let numbers = kept("n1 <> -1 AND n2 <> -1 AND n3 <> -1");
    let among: Vec<String> = (0..LISTED).map(|number| (GROUPS + number).to_string()).collect();
    let among = kept(&format!("g NOT IN ({})", among.join(", ")));
    let one = kept(&format!("g <> {GROUPS}"));
    let text = kept("s1 <> 'none'");
    let text_twice = kept("s1 <> 'none' AND s1 <> 'nine'");
    let texts = kept("s1 <> 'none' AND s2 <> 'none'");
    let long_text = kept("l1 <> 'none'");
    let long_texts = kept("l1 <> 'none' AND l2 <> 'none'");
    let searched = kept("s1 NOT LIKE '%in%no%'");
    let words_searched = kept(&search);
    // The same search in the texts of a part of the rows, here and there.
    let parts_searched = PARTS.map(|part| {
        let chosen = keeping(part);
        each(kept(&format!("{chosen} AND {search}")), kept(&chosen), part)
    });

    let [short, long] = TEXT_BYTES;
    let of_numbers = [(4.0, each(dates, date, 2.0)), (16.0, each(numbers, number, 2.0))];
    let of_texts = [(short, each(texts, text, 1.0)), (long, each(long_texts, long_text, 1.0))];
    let of_searches =
        [(short, each(searched, plain, 1.0)), (words_bytes(), each(words_searched, plain, 1.0))];
    let compare = line(of_numbers);
    let searched_alone = each(words_searched, plain, 1.0);
    let mut fetched = vec![];
    for (part, cycles) in PARTS.iter().zip(parts_searched) {
        let known = searched_alone + compare.tuple / part;
        fetched.push(vec![*part, (cycles - known).max(0.0)]);
    }
    fetched.push(vec![1.0, 0.0]);
    costs.curves.push(("fetch", fetched));
    costs.costs.extend([
        ("compare", compare),
        ("among", tuple(each(among, one, LISTED as f64))),
        ("match", line(of_texts)),
        ("match_again", tuple(each(text_twice, text, 1.0))),
        ("search", line(of_searches)),
    ]);
}

/// Sums, and the few groups that they are of: what a row of a group costs, by one number and by several keys. Where nothing else is
/// said rows are such as a scan has copied, so that whoever made them has brought them along; the scan by itself is taken off.
fn groups(rows: u64, times: &Times, costs: &mut Costs) -> OfFew {
    let all = rows as f64;
    let chosen = format!("FROM t WHERE {}", keeping(MOST));
    let of = |select: &str, groups: &str, columns: &str| {
        let whole = times.of(&format!("SELECT {select} {chosen} {groups}"));
        whole - times.of(&format!("SELECT {columns} {chosen}"))
    };
    let by = |keys: &str| {
        of(&format!("{keys}, sum(n1)"), &format!("GROUP BY {keys}"), &format!("{keys}, n1"))
    };
    let sum = of("sum(n1)", "", "n1");
    let three = of("sum(n1), sum(n2), sum(n3)", "", "n1, n2, n3");
    let product = of("sum(n1 * (1 - n2))", "", "n1, n2");
    let of_integer = of("sum(v)", "", "v");
    let of_integers = of("sum(v * (1 - g))", "", "v, g");
    let group = by("g");
    let sums = of("g, sum(n1), sum(n2), sum(n3)", "GROUP BY g", "g, n1, n2, n3");
    // The same of rows as they lie.
    let one_in_place = times.of("SELECT g, sum(n1) FROM t GROUP BY g");
    let in_place = times.of("SELECT g, sum(n1), sum(n2), sum(n3) FROM t GROUP BY g");

    let each = |more: f64, fewer: f64, terms: f64| (more - fewer).max(0.0) / (MOST * all * terms);
    let [short, long] = TEXT_BYTES;
    let calculated = [(8.0, each(of_integers, of_integer, 2.0)), (16.0, each(product, sum, 2.0))];
    let number = each(by("a0, b0, g"), by("a0, b0"), 1.0);
    let several = (each(by("a0, b0"), by("a0"), 1.0) - number).max(0.0);
    let keys = [(short, "s1, s2"), (long, "l1, l2")]
        .map(|(bytes, texts)| (bytes, (each(by(texts), group, 1.0) - several).max(0.0) / 2.0));
    let aggregate = each(sums, group, 2.0);
    let first_look = ((in_place - one_in_place).max(0.0) / all / 2.0 - aggregate).max(0.0) / 16.0;
    let few = OfFew {
        sum: each(sum, 0.0, 1.0),
        group: each(group, sum, 1.0),
        several,
        number,
        key: line(keys),
    };
    let ordered = each(by("id"), sum, 1.0);
    costs.windows = windows(rows, times, ordered, aggregate);
    costs.costs.extend([
        ("calculate", line(calculated)),
        ("group", tuple(few.group)),
        ("key", few.key),
        ("number_key", tuple(few.number)),
        ("group_ordered", tuple(ordered)),
        ("aggregate", tuple(aggregate)),
        ("aggregate_all", tuple(each(three, sum, 2.0))),
    ]);
    costs.cycles.push(("first_look", first_look));
    few
}

/// What pieces cost beside their rows, where the copy of a byte takes so many cycles.
fn pieces(rows: u64, times: &Times, copy: f64, small: &Small, costs: &mut Costs) {
    let Small { pieces, column, copied, gather } = *small;
    let more = |query: &str| longer(times, query) / pieces;
    let plain = more("SELECT v FROM TABLE t");
    let compared = more("SELECT v FROM TABLE t WHERE d1 <> date '1900-01-01'");
    let compared_thrice = more(&format!("SELECT v FROM TABLE t WHERE {ONE_DATE_THRICE}"));
    let chosen = more(&format!("SELECT v FROM TABLE t WHERE {}", keeping(SOME)));
    // Of few rows it is compared, and once more.
    let few = format!("SELECT v FROM TABLE t WHERE {}", keeping(PARTS[0]));
    let choice = more(&format!("{few} AND n1 <> -1")) - more(&few);
    let searched = more(&format!("SELECT v FROM TABLE t WHERE c1 NOT LIKE '{SOUGHT}'"));
    let table = format!("r{}", usual(rows));
    let found = more(&format!("SELECT count(*) FROM TABLE t JOIN {table} x ON t.r = x.k16"));

    // Bytes of a column of 8 that a piece has.
    let of_column = 8.0 * rows as f64 / pieces;
    // One column is copied where large pieces are handed on as they are.
    let piece = (plain - copy * of_column - column).max(0.0);
    let term = (compared_thrice - compared).max(0.0) / 2.0;
    // Two columns are read and one is copied; large pieces gather as much.
    let chosen = (chosen - piece - 2.0 * column - term - copied).max(0.0);
    // Nearly all rows are chosen, and gathered.
    let search = searched - piece - 2.0 * column - chosen - copied - gather * of_column;
    let find = found - piece - column - chosen - copied;
    costs.cycles.extend([
        ("piece", piece),
        ("piece_column", column),
        ("piece_chosen", chosen),
        ("piece_copied", copied),
        ("piece_term", term),
        ("piece_choice", (choice - column - term).max(0.0)),
        ("piece_search", search.max(0.0)),
        ("piece_find", find.max(0.0)),
    ]);
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
    fn a_line_through_two_widths_never_falls_below_nothing() {
        assert_eq!(line([(4.0, 10.0), (16.0, 22.0)]), Cost { tuple: 6.0, byte: 1.0 });
        assert_eq!(line([(4.0, 10.0), (16.0, 9.0)]), Cost { tuple: 10.0, byte: 0.0 });
        assert_eq!(line([(4.0, 1.0), (16.0, 13.0)]), Cost { tuple: 0.0, byte: 1.0 });
    }
}
