//! Cost coefficients of operators: differences between the durations of queries with an operator and without it.

use super::Bench;
use super::costs::{Costs, MOST};
use super::planning::{Planned, planning};
use super::sizes::{self, OfFew};
use super::tables::{
    GROUPS, SOUGHT, TEXT_BYTES, keeping, keeping_runs, sorted, usual, words_bytes,
};
use super::times::Times;
use super::windows::windows;
use anyhow::Result;
use dbsim::{Cost, RUNS};

/// Parts of the rows that predicates keep, ascending.
const PARTS: [f64; 8] = [0.05, 0.1, 0.2, 0.3, 0.45, 0.65, MOST, 0.99];
/// The part of [`PARTS`] that most measurements use.
const SOME: f64 = PARTS[2];
/// If a smaller part of a piece is kept, its rows are copied twice, because they are gathered with those of other pieces.
const GATHERED: f64 = 0.5;

/// Numbers in an IN list.
const LISTED: u64 = 8;

/// Predicates that keep all rows, so that nothing is copied.
const THREE_DATES: &str =
    "d1 <> date '1900-01-01' AND d2 <> date '1900-01-01' AND d3 <> date '1900-01-01'";
const ONE_DATE_THRICE: &str =
    "d1 <> date '1900-01-01' AND d1 > date '1901-01-01' AND d1 < date '2901-01-01'";

/// Durations of queries, and facts about their tables.
#[derive(Default)]
pub(super) struct Measured {
    times: Times,
    /// Number of pieces of the table `pieces`.
    small_pieces: f64,
    planned: Planned,
}

impl Measured {
    /// Measures all queries over a new load of the tables.
    pub(super) async fn add(&mut self, bench: &Bench) -> Result<()> {
        let pieces = bench.plan("SELECT v FROM pieces").await?;
        self.small_pieces = pieces.operators().iter().map(|operator| operator.pieces).sum();
        self.planned = Planned::of(bench).await?;
        // The first computation registers the queries to measure.
        let _ = self.costs(bench.rows);
        self.times.measure(bench).await
    }

    /// The coefficients of all operators that Pando has, from tables of `rows` rows.
    pub(super) fn costs(&self, rows: u64) -> Costs {
        of_times(rows, &self.times, self.small_pieces, &self.planned)
    }
}

/// All coefficients, from the cycles of queries over `rows` rows. The table `pieces` has `small_pieces` pieces.
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

/// Costs of small pieces.
struct Small {
    /// Number of pieces.
    pieces: f64,
    /// Cycles a column of a piece.
    column: f64,
    /// Cycles a column that is copied out of a piece, if not all rows are kept.
    copied: f64,
    /// Cycles a gathered byte.
    gather: f64,
}

/// Additional cycles of a query over small pieces.
fn additional(times: &Times, query: &str) -> f64 {
    let of = |table: &str| times.of(&query.replace("TABLE", table));
    of("pieces") - of("t")
}

impl Small {
    fn of(rows: u64, times: &Times, pieces: f64) -> Self {
        let compared = |predicate: &str| {
            additional(times, &format!("SELECT v FROM TABLE t WHERE {predicate}"))
        };
        // Two more columns are read.
        let column = (compared(THREE_DATES) - compared(ONE_DATE_THRICE)).max(0.0) / 2.0 / pieces;
        let kept = |columns: &str, part: f64| {
            additional(times, &format!("SELECT {columns} FROM TABLE t WHERE {}", keeping(part)))
        };
        // Two more narrow columns are copied, twice from large pieces and from small ones.
        let more = kept("d1, d2, d3", SOME) - kept("d1", SOME);
        let copied = (more / pieces / 2.0 - column).max(0.0);
        // Three more columns are copied, once from large pieces and twice from small ones.
        let more = kept("v, n1, n2, n3", MOST) - kept("v", MOST);
        let gathered = (more - 3.0 * (column + copied) * pieces).max(0.0);
        Self { pieces, column, copied, gather: gathered / (3.0 * 16.0 * MOST * rows as f64) }
    }
}

/// Costs of scans that return rows in place, and of scans that copy the kept rows. Returns the cost of a scan, and the cycles a
/// byte of copying nearly all rows, kept at random.
fn scans(rows: u64, times: &Times, small: &Small, costs: &mut Costs) -> (Cost, f64) {
    let all = rows as f64;
    // A query over one row has only the fixed costs.
    let fixed = times.of("SELECT v FROM one");
    let plain = times.of("SELECT v FROM t");
    // Rows kept at random or in runs. The second column adds the cost of finding the rows; two more columns of 16 bytes are
    // only copied.
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
    let scan = Cost { tuple: (plain - fixed).max(0.0) / all, byte: least };
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

/// Costs of sorting by a number and by three columns with a text, for several numbers of rows. Few rows are sorted at once, more
/// in runs that are merged.
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
                // Planning does not depend on the number of rows.
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

/// Costs of comparing and searching values.
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
    // The same search in a part of the rows, kept at random.
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

/// Costs of sums and of few groups, by one number and by several keys. Unless noted, the rows are copied by a scan, and so in
/// the processor's caches; the cost of the scan is subtracted.
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
    // The same with rows in place.
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

/// Costs of pieces in addition to their rows. Copying a byte takes `copy` cycles.
fn pieces(rows: u64, times: &Times, copy: f64, small: &Small, costs: &mut Costs) {
    let Small { pieces, column, copied, gather } = *small;
    let more = |query: &str| additional(times, query) / pieces;
    let plain = more("SELECT v FROM TABLE t");
    let compared = more("SELECT v FROM TABLE t WHERE d1 <> date '1900-01-01'");
    let compared_thrice = more(&format!("SELECT v FROM TABLE t WHERE {ONE_DATE_THRICE}"));
    let chosen = more(&format!("SELECT v FROM TABLE t WHERE {}", keeping(SOME)));
    // A second predicate on few rows.
    let few = format!("SELECT v FROM TABLE t WHERE {}", keeping(PARTS[0]));
    let choice = more(&format!("{few} AND n1 <> -1")) - more(&few);
    let searched = more(&format!("SELECT v FROM TABLE t WHERE c1 NOT LIKE '{SOUGHT}'"));
    let table = format!("r{}", usual(rows));
    let found = more(&format!("SELECT count(*) FROM TABLE t JOIN {table} x ON t.r = x.k16"));

    // Bytes of a column of 8-byte values in a piece.
    let of_column = 8.0 * rows as f64 / pieces;
    // One column is copied; large pieces are returned in place.
    let piece = (plain - copy * of_column - column).max(0.0);
    let term = (compared_thrice - compared).max(0.0) / 2.0;
    // Two columns are read and one is copied; large pieces gather as much.
    let chosen = (chosen - piece - 2.0 * column - term - copied).max(0.0);
    // Nearly all rows are kept and gathered.
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

/// Cycles a tuple and a byte, from two points: the bytes of a tuple and its cycles.
fn line([narrow, wide]: [(f64, f64); 2]) -> Cost {
    let byte = ((wide.1 - narrow.1) / (wide.0 - narrow.0)).max(0.0);
    Cost { tuple: (narrow.1 - byte * narrow.0).max(0.0), byte }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_two_points_is_never_negative() {
        assert_eq!(line([(4.0, 10.0), (16.0, 22.0)]), Cost { tuple: 6.0, byte: 1.0 });
        assert_eq!(line([(4.0, 10.0), (16.0, 9.0)]), Cost { tuple: 10.0, byte: 0.0 });
        assert_eq!(line([(4.0, 1.0), (16.0, 13.0)]), Cost { tuple: 0.0, byte: 1.0 });
    }
}
