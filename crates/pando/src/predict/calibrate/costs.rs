//! Coefficients as differences between queries, of which one does what the other does not.

use super::Bench;
use super::tables::{BUILDS, TEXT_BYTES};
use anyhow::Result;
use dbsim::{Cost, Plan};

/// What was measured, by the names of a file of coefficients.
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

/// Parts of rows that are copied out.
const SOME: f64 = 0.2;
const MOST: f64 = 0.95;

/// A predicate that keeps all rows.
const THREE_DATES: &str =
    "d1 <> date '1900-01-01' AND d2 <> date '1900-01-01' AND d3 <> date '1900-01-01'";

/// Measures all that Pando has operators for.
pub(super) async fn measure(bench: &Bench) -> Result<Costs> {
    let of = async |query: &str| bench.cycles(query).await;
    let all = bench.rows as f64;
    // A query that looks at one row: what a query takes before it looks at any.
    let begun = of("SELECT v FROM one").await?;
    let planned = of(PLANNED).await?;
    let of_expressions = of(PLANNED_EXPRESSIONS).await?;
    let plans = [bench.plan(PLANNED).await?, bench.plan(PLANNED_EXPRESSIONS).await?];
    let [operators, more_operators] = plans.each_ref().map(|plan| plan.operators().len() as f64);
    let [expressions, more_expressions] = plans.each_ref().map(Plan::expressions);
    let plain = of("SELECT v FROM t").await?;

    // Predicates that keep all rows, so that nothing is copied and none is left out.
    let where_all = async |predicate: &str| of(&format!("SELECT v FROM t WHERE {predicate}")).await;
    let each = |more: f64, fewer: f64, terms: f64| ((more - fewer) / (terms * all)).max(0.0);
    let date = where_all("d1 <> date '1900-01-01'").await?;
    let dates = where_all(THREE_DATES).await?;
    let numbers = where_all("n1 <> -1 AND n2 <> -1 AND n3 <> -1").await?;
    let number = where_all("n1 <> -1").await?;
    let text = where_all("s1 <> 'none'").await?;
    let texts = where_all("s1 <> 'none' AND s2 <> 'none'").await?;
    let long_texts = where_all("l1 <> 'none' AND l2 <> 'none'").await?;
    let long_text = where_all("l1 <> 'none'").await?;
    let short_search = where_all("s1 NOT LIKE '%in%no%'").await?;
    let long_search = where_all("l1 NOT LIKE '%in%no%'").await?;

    // A part of the rows, here and there: they are chosen and copied out. What three numbers more of each cost.
    let kept = where_all("k <> -1").await?;
    let part_of = async |part: f64, columns: &str| {
        of(&format!("SELECT {columns} FROM t WHERE k < {:.0}", part * all)).await
    };
    let some = part_of(SOME, "v").await?;
    let copied = async |part: f64, columns: &str| -> Result<f64> {
        let four = part_of(part, &format!("v, {columns}")).await?;
        Ok((four - part_of(part, "v").await?).max(0.0) / (3.0 * part * all))
    };
    let some_copied = copied(SOME, "n1, n2, n3").await?;
    let most_copied = copied(MOST, "id, k, g").await?;
    let most_wide_copied = copied(MOST, "n1, n2, n3").await?;

    let sum = of("SELECT sum(n1) FROM t").await?;
    let product = of("SELECT sum(n1 * (1 - n2)) FROM t").await?;
    let of_integer = of("SELECT sum(v) FROM t").await?;
    let of_integers = of("SELECT sum(v * (1 - g)) FROM t").await?;

    let group = of("SELECT g, sum(n1) FROM t GROUP BY g").await?;
    let sums = of("SELECT g, sum(n1), sum(n2), sum(n3) FROM t GROUP BY g").await?;
    let many_groups = of("SELECT k, sum(n1) FROM t GROUP BY k").await?;
    let in_order = of("SELECT id, sum(n1) FROM t GROUP BY id").await?;
    let by_texts = of("SELECT s1, s2, sum(n1) FROM t GROUP BY s1, s2").await?;
    let by_long_texts = of("SELECT l1, l2, sum(n1) FROM t GROUP BY l1, l2").await?;

    let rows = of("SELECT id, k, g, v FROM t").await?;
    let sorted = of("SELECT id, k, g, v FROM t ORDER BY k").await?;
    let joined = async |name: &str| {
        of(&format!("SELECT count(*) FROM t JOIN {name} ON t.k = {name}.k")).await
    };
    // A scan looks for its rows in the table of few, and not in one that has most.
    let [joined_few, joined_many, joined_most] =
        [joined("few").await?, joined("many").await?, joined("most").await?];
    let columns = "t.id, t.k, t.g, t.v, most.n1, most.n2, most.n3";
    let joined_rows = of(&format!("SELECT {columns} FROM t JOIN most ON t.k = most.k")).await?;

    let pieces = bench.plan("SELECT v FROM pieces").await?;
    let pieces = pieces.operators().iter().map(|operator| operator.pieces).sum::<f64>();
    let in_pieces = async |predicate: &str| of(&format!("SELECT v FROM pieces{predicate}")).await;
    let plain_in_pieces = in_pieces("").await?;
    let compared_in_pieces = in_pieces(&format!(" WHERE {THREE_DATES}")).await?;
    let searched_in_pieces = in_pieces(" WHERE l1 NOT LIKE '%in%no%'").await?;
    let found_in_pieces = of("SELECT count(*) FROM pieces t JOIN few ON t.k = few.k").await?;
    bench.session.execute("SET pando.bundling = none").await?;
    let begun_in_bundles = of(PLANNED).await?;
    bench.session.execute("RESET pando.bundling").await?;

    let scan = (plain - begun).max(0.0) / all;
    let copy = ((most_wide_copied - most_copied) / 8.0).max(0.0);
    let others = (1.0 - SOME) / SOME;
    let brought_along = ((some_copied / 16.0 - copy) / others).max(0.0);
    let chosen = (some - kept) / (SOME * all) - 8.0 * (copy + brought_along * others);
    let compare = line((4.0, each(dates, date, 2.0)), (16.0, each(numbers, number, 2.0)));
    let calculate =
        line((8.0, each(of_integers, of_integer, 2.0)), (16.0, each(product, sum, 2.0)));
    let [short, long] = TEXT_BYTES;
    let matching = line((short, each(texts, text, 1.0)), (long, each(long_texts, long_text, 1.0)));
    let search =
        line((short, each(short_search, plain, 1.0)), (long, each(long_search, plain, 1.0)));
    let group_of_one = each(group, sum, 1.0);
    let key = line((short, each(by_texts, group, 2.0)), (long, each(by_long_texts, group, 2.0)));
    let [few, many, most] = BUILDS.map(|(_, part)| all * part);
    let build = ((joined_most - joined_many) / (most - many)).max(0.0);
    let probe = (joined_most - plain - build * most).max(0.0) / all;
    let find = (joined_few - plain - build * few - probe * few).max(0.0) / all;
    let made = (joined_rows - joined_most).max(0.0) / (most * (4.0 * 8.0 + 3.0 * 16.0));
    let gathered = copy * 8.0 * all;
    let piece = (plain_in_pieces - plain - gathered).max(0.0) / pieces;
    let of_piece = |in_pieces: f64, whole: f64| {
        (in_pieces - plain_in_pieces - (whole - plain)).max(0.0) / pieces
    };
    let bundle = (begun_in_bundles - planned).max(1.0) / (operators - 1.0);
    // Two equations: what operators and expressions of both queries take.
    let expression = (of_expressions - planned * more_operators / operators)
        / (more_expressions - expressions * more_operators / operators);
    let expression = expression.max(0.0);
    let operator = (planned - expression * expressions) / operators;
    let tuple = |tuple: f64| Cost { tuple, byte: 0.0 };
    Ok(Costs {
        costs: vec![
            ("scan", Cost { tuple: scan, byte: copy }),
            ("chosen", Cost { tuple: chosen.max(0.0), byte: brought_along }),
            ("compare", compare),
            ("calculate", calculate),
            ("match", matching),
            ("search", search),
            ("key", key),
            ("find", tuple(find)),
            ("hash_build", tuple(build)),
            ("hash_probe", Cost { tuple: probe, byte: made }),
            ("sort", tuple((sorted - rows).max(0.0) / (all * all.log2()))),
            ("group", tuple(group_of_one)),
            ("group_ordered", tuple(each(in_order, sum, 1.0))),
            ("planning", Cost { tuple: operator.max(0.0), byte: expression }),
            ("aggregate", tuple(each(sums, group, 2.0))),
        ],
        cycles: vec![
            ("piece", piece),
            ("piece_term", of_piece(compared_in_pieces, dates) / 3.0),
            ("piece_search", of_piece(searched_in_pieces, long_search)),
            ("piece_find", of_piece(found_in_pieces, joined_few)),
            ("new_group", each(many_groups, group, 1.0)),
            ("bundle", bundle),
        ],
    })
}

/// Cycles a tuple and a byte, of two widths and what a tuple of each costs.
fn line((narrow, cheap): (f64, f64), (wide, dear): (f64, f64)) -> Cost {
    let byte = ((dear - cheap) / (wide - narrow)).max(0.0);
    Cost { tuple: (cheap - byte * narrow).max(0.0), byte }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_two_widths_never_falls_below_nothing() {
        assert_eq!(line((4.0, 10.0), (16.0, 22.0)), Cost { tuple: 6.0, byte: 1.0 });
        assert_eq!(line((4.0, 10.0), (16.0, 9.0)), Cost { tuple: 10.0, byte: 0.0 });
        assert_eq!(line((4.0, 1.0), (16.0, 13.0)), Cost { tuple: 0.0, byte: 1.0 });
    }
}
