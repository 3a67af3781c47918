//! Coefficients as differences between queries, of which one does what the other does not.

use super::Bench;
use super::tables::{BUILDS, GROUPS, MANY_GROUPS, SOUGHT, TEXT_BYTES, words_bytes};
use anyhow::Result;
use dbsim::{Cost, Plan};

/// What was measured, by the names of a file of coefficients.
#[derive(Default)]
pub(super) struct Costs {
    /// Cycles a tuple and a byte.
    pub(super) costs: Vec<(&'static str, Cost)>,
    /// Cycles alone.
    pub(super) cycles: Vec<(&'static str, f64)>,
}

/// What is only planned: a query of some operators, and one of many expressions.
const PLANNED: &str = "SELECT a.g, sum(b.v) FROM one a JOIN few b ON a.k = b.k WHERE b.id < 0 GROUP BY a.g ORDER BY 2";
const PLANNED_EXPRESSIONS: &str = "SELECT s1, s2, sum(n1), sum(n2), sum(n1 * (1 - n2)), \
    sum(n1 * (1 - n2) * (1 + n3)), avg(n1), avg(n2), avg(n3), count(*) FROM one \
    WHERE d1 > date '1990-01-01' GROUP BY s1, s2 ORDER BY s1, s2";

/// How many times as often something is run that is small beside what it is taken from.
const CAREFUL: usize = 3;

/// Parts of rows that are copied out.
const SOME: f64 = 0.2;
const MOST: f64 = 0.95;

/// Predicates that keep all rows, so that nothing is copied and none is left out.
const THREE_DATES: &str =
    "d1 <> date '1900-01-01' AND d2 <> date '1900-01-01' AND d3 <> date '1900-01-01'";

/// Measures all that Pando has operators for.
pub(super) async fn measure(bench: &Bench) -> Result<Costs> {
    let mut costs = Costs::default();
    let copy = scans(bench, &mut costs).await?;
    predicates(bench, &mut costs).await?;
    groups(bench, &mut costs).await?;
    joins(bench, &mut costs).await?;
    pieces(bench, copy, &mut costs).await?;
    planning(bench, &mut costs).await?;
    Ok(costs)
}

/// Scans that hand rows on as they lie, and that copy some of them; a copied byte's cycles. Sorts.
async fn scans(bench: &Bench, costs: &mut Costs) -> Result<f64> {
    let all = bench.rows as f64;
    // A query that looks at one row: what a query takes before it looks at any.
    let begun = bench.cycles("SELECT v FROM one").await?;
    let plain = bench.cycles("SELECT v FROM t").await?;
    let kept = bench.cycles("SELECT v FROM t WHERE k <> -1").await?;
    // A part of the rows, here and there: they are chosen and copied out. What three numbers more of each cost.
    let part_of = async |part: f64, columns: &str| {
        bench.cycles(&format!("SELECT {columns} FROM t WHERE k < {:.0}", part * all)).await
    };
    let copied = async |part: f64, columns: &str| -> Result<f64> {
        let four = part_of(part, &format!("v, {columns}")).await?;
        Ok((four - part_of(part, "v").await?).max(0.0) / (3.0 * part * all))
    };
    let some = part_of(SOME, "v").await?;
    let some_copied = copied(SOME, "n1, n2, n3").await?;
    let most_copied = copied(MOST, "id, k, g").await?;
    let most_wide_copied = copied(MOST, "n1, n2, n3").await?;
    let rows = bench.cycles("SELECT id, k, g, v FROM t").await?;
    let sorted = bench.cycles("SELECT id, k, g, v FROM t ORDER BY k").await?;

    let copy = ((most_wide_copied - most_copied) / 8.0).max(0.0);
    let others = (1.0 - SOME) / SOME;
    let brought_along = ((some_copied / 16.0 - copy) / others).max(0.0);
    let chosen = (some - kept) / (SOME * all) - 8.0 * (copy + brought_along * others);
    costs.costs.extend([
        ("scan", Cost { tuple: (plain - begun).max(0.0) / all, byte: copy }),
        ("chosen", Cost { tuple: chosen.max(0.0), byte: brought_along }),
        ("sort", tuple((sorted - rows) / (all * all.log2()))),
    ]);
    Ok(copy)
}

/// What is compared and searched of each row.
async fn predicates(bench: &Bench, costs: &mut Costs) -> Result<()> {
    let kept =
        async |predicate: &str| bench.cycles(&format!("SELECT v FROM t WHERE {predicate}")).await;
    let each = |more: f64, fewer: f64, terms: f64| bench.each(more, fewer) / terms;
    let search = format!("c1 NOT LIKE '{SOUGHT}'");
    let plain = bench.cycles("SELECT v FROM t").await?;
    let date = kept("d1 <> date '1900-01-01'").await?;
    let dates = kept(THREE_DATES).await?;
    let number = kept("n1 <> -1").await?;
    let numbers = kept("n1 <> -1 AND n2 <> -1 AND n3 <> -1").await?;
    let text = kept("s1 <> 'none'").await?;
    let texts = kept("s1 <> 'none' AND s2 <> 'none'").await?;
    let long_text = kept("l1 <> 'none'").await?;
    let long_texts = kept("l1 <> 'none' AND l2 <> 'none'").await?;
    let searched = kept("s1 NOT LIKE '%in%no%'").await?;
    let words_searched = kept(&search).await?;

    let [short, long] = TEXT_BYTES;
    let of_numbers = [(4.0, each(dates, date, 2.0)), (16.0, each(numbers, number, 2.0))];
    let of_texts = [(short, each(texts, text, 1.0)), (long, each(long_texts, long_text, 1.0))];
    let of_searches =
        [(short, each(searched, plain, 1.0)), (words_bytes(), each(words_searched, plain, 1.0))];
    costs.costs.extend([
        ("compare", line(of_numbers)),
        ("match", line(of_texts)),
        ("search", line(of_searches)),
    ]);
    Ok(())
}

/// Sums, and the groups that they are of. Where nothing else is said they are of rows that a scan has copied, so that whoever
/// made them has brought them along; the scan by itself is taken off.
async fn groups(bench: &Bench, costs: &mut Costs) -> Result<()> {
    let all = bench.rows as f64;
    let chosen = format!("FROM t WHERE k < {:.0}", MOST * all);
    let of = async |select: &str, groups: &str, columns: &str| -> Result<f64> {
        let whole = bench.cycles(&format!("SELECT {select} {chosen} {groups}")).await?;
        Ok(whole - bench.cycles(&format!("SELECT {columns} {chosen}")).await?)
    };
    let sum = of("sum(n1)", "", "n1").await?;
    let product = of("sum(n1 * (1 - n2))", "", "n1, n2").await?;
    let of_integer = of("sum(v)", "", "v").await?;
    let of_integers = of("sum(v * (1 - g))", "", "v, g").await?;
    let group = of("g, sum(n1)", "GROUP BY g", "g, n1").await?;
    let sums = of("g, sum(n1), sum(n2), sum(n3)", "GROUP BY g", "g, n1, n2, n3").await?;
    let many_groups = of("m, sum(n1)", "GROUP BY m", "m, n1").await?;
    let new_groups = of("k, sum(n1)", "GROUP BY k", "k, n1").await?;
    let in_order = of("id, sum(n1)", "GROUP BY id", "id, n1").await?;
    let by_texts = of("s1, s2, sum(n1)", "GROUP BY s1, s2", "s1, s2, n1").await?;
    let by_long_texts = of("l1, l2, sum(n1)", "GROUP BY l1, l2", "l1, l2, n1").await?;
    // The same of rows as they lie.
    let one_in_place = bench.cycles("SELECT g, sum(n1) FROM t GROUP BY g").await?;
    let in_place = bench.cycles("SELECT g, sum(n1), sum(n2), sum(n3) FROM t GROUP BY g").await?;

    let each = |more: f64, fewer: f64, terms: f64| (more - fewer).max(0.0) / (MOST * all * terms);
    let [short, long] = TEXT_BYTES;
    let calculated = [(8.0, each(of_integers, of_integer, 2.0)), (16.0, each(product, sum, 2.0))];
    let keys = [(short, each(by_texts, group, 2.0)), (long, each(by_long_texts, group, 2.0))];
    let aggregate = each(sums, group, 2.0);
    // A row in each group, so many rows in each of many, and few groups: two equations for what is far and what is new.
    let doublings = |groups: f64| (groups / GROUPS as f64).max(1.0).log2();
    let [all_rows, many] = [MOST * all, (MANY_GROUPS as f64).min(MOST * all)];
    let (of_new, of_many) = (each(new_groups, group, 1.0), each(many_groups, group, 1.0));
    let part = many / all_rows;
    let doubling =
        (of_many - part * of_new) / (doublings(many) - part * doublings(all_rows)).max(1.0);
    let new_group = of_new - doubling.max(0.0) * doublings(all_rows);
    let first_look = (bench.each(in_place, one_in_place) / 2.0 - aggregate).max(0.0) / 16.0;
    costs.costs.extend([
        ("calculate", line(calculated)),
        ("key", line(keys)),
        ("group", tuple(each(group, sum, 1.0))),
        ("group_ordered", tuple(each(in_order, sum, 1.0))),
        ("aggregate", tuple(aggregate)),
    ]);
    costs.cycles.push(("group_doubling", doubling.max(0.0)));
    costs.cycles.push(("new_group", new_group.max(0.0)));
    costs.cycles.push(("first_look", first_look));
    Ok(())
}

/// Joins by hash tables of different sizes. A scan looks for its rows in the table of few, and not in one that has most.
async fn joins(bench: &Bench, costs: &mut Costs) -> Result<()> {
    let all = bench.rows as f64;
    // What is built is told apart by a fifth of the rows.
    let careful = Bench { session: bench.session.clone(), runs: CAREFUL * bench.runs, ..*bench };
    let joined = async |name: &str| {
        careful.cycles(&format!("SELECT count(*) FROM t JOIN {name} ON t.k = {name}.k")).await
    };
    let plain = bench.cycles("SELECT v FROM t").await?;
    let [joined_few, joined_many, joined_most] =
        [joined("few").await?, joined("many").await?, joined("most").await?];
    let columns = "t.id, t.k, t.g, t.v, most.n1, most.n2, most.n3";
    let rows = format!("SELECT {columns} FROM t JOIN most ON t.k = most.k");
    let joined_rows = bench.cycles(&rows).await?;

    let [few, many, most] = BUILDS.map(|(_, part)| all * part);
    let build = ((joined_most - joined_many) / (most - many)).max(0.0);
    let probe = (joined_most - plain - build * most).max(0.0) / all;
    let find = (joined_few - plain - build * few - probe * few) / all;
    let made = (joined_rows - joined_most).max(0.0) / (most * (4.0 * 8.0 + 3.0 * 16.0));
    costs.costs.extend([
        ("find", tuple(find)),
        ("hash_build", tuple(build)),
        ("hash_probe", Cost { tuple: probe, byte: made }),
    ]);
    Ok(())
}

/// What pieces cost beside their rows, where the copy of a byte takes so many cycles.
async fn pieces(bench: &Bench, copy: f64, costs: &mut Costs) -> Result<()> {
    let plan = bench.plan("SELECT v FROM pieces").await?;
    let pieces: f64 = plan.operators().iter().map(|operator| operator.pieces).sum();
    // By how much a query takes longer over small pieces.
    let more = async |query: &str| -> Result<f64> {
        let of = async |table: &str| bench.cycles(&query.replace("TABLE", table)).await;
        Ok(of("pieces").await? - of("t").await?)
    };
    let plain = more("SELECT v FROM TABLE t").await?;
    let compared = more(&format!("SELECT v FROM TABLE t WHERE {THREE_DATES}")).await?;
    let some = format!("t.k < {:.0}", SOME * bench.rows as f64);
    let chosen = more(&format!("SELECT v, n1, n2 FROM TABLE t WHERE {some}")).await?;
    let searched = more(&format!("SELECT v FROM TABLE t WHERE c1 NOT LIKE '{SOUGHT}'")).await?;
    let found = more("SELECT count(*) FROM TABLE t JOIN few ON t.k = few.k").await?;

    let of_piece = |cycles: f64| cycles.max(0.0) / pieces;
    let gathered = copy * 8.0 * bench.rows as f64;
    let term = of_piece(compared - plain) / 3.0;
    let piece = of_piece(plain - gathered);
    costs.cycles.extend([
        ("piece", piece),
        ("piece_chosen", (of_piece(chosen) - piece - term).max(0.0)),
        ("piece_term", term),
        ("piece_search", of_piece(searched - plain)),
        ("piece_find", of_piece(found - plain)),
    ]);
    Ok(())
}

/// What a query takes however many rows there are: two equations of operators and expressions.
async fn planning(bench: &Bench, costs: &mut Costs) -> Result<()> {
    let planned = bench.cycles(PLANNED).await?;
    let of_expressions = bench.cycles(PLANNED_EXPRESSIONS).await?;
    let plans = [bench.plan(PLANNED).await?, bench.plan(PLANNED_EXPRESSIONS).await?];
    bench.session.execute("SET pando.bundling = none").await?;
    let in_bundles = bench.cycles(PLANNED).await?;
    bench.session.execute("RESET pando.bundling").await?;

    let [operators, more_operators] = plans.each_ref().map(|plan| plan.operators().len() as f64);
    let [expressions, more_expressions] = plans.each_ref().map(Plan::expressions);
    let expression = (of_expressions - planned * more_operators / operators)
        / (more_expressions - expressions * more_operators / operators);
    let expression = expression.max(0.0);
    let operator = (planned - expression * expressions) / operators;
    costs.costs.push(("planning", Cost { tuple: operator.max(0.0), byte: expression }));
    costs.cycles.push(("bundle", (in_bundles - planned).max(1.0) / (operators - 1.0)));
    Ok(())
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
