//! Statements that are long or deep: chains of thousands of terms, and nests of brackets.

use crate::random::Random;
use crate::script::Step;
use crate::tree::{Kind, Node};

/// Lengths of chains and depths of nests.
const LENGTHS: [usize; 10] = [10, 50, 150, 300, 600, 1_000, 2_000, 5_000, 10_000, 20_000];

/// Terms with something between them: the label, the text around, a term with its number in place of `#`, the separator.
struct Chain(&'static str, &'static str, &'static str, &'static str);

const CHAINS: &[Chain] = &[
    Chain("long OR", "SELECT count(*) FROM l WHERE {}", "i = #", " OR "),
    Chain("long OR of columns", "SELECT count(*) FROM l WHERE {}", "(i = # AND t = 'x')", " OR "),
    Chain("long AND", "SELECT count(*) FROM l WHERE {}", "i <> #", " AND "),
    Chain("long AND of constants", "SELECT 1 WHERE {}", "true", " AND "),
    Chain("long AND of LIKE", "SELECT count(*) FROM l WHERE {}", "t NOT LIKE '%#'", " AND "),
    Chain("long +", "SELECT {}", "1", " + "),
    Chain("long + of columns", "SELECT {} FROM l", "i", " + "),
    Chain("long ||", "SELECT {} FROM l", "t", " || "),
    Chain("long mixed operators", "SELECT {} FROM l", "i * 2 - #", " + "),
    Chain("long UNION ALL", "{}", "SELECT #", " UNION ALL "),
    Chain("long UNION ALL of tables", "{}", "SELECT i FROM l", " UNION ALL "),
    Chain("long UNION", "{}", "SELECT #", " UNION "),
    Chain("long EXCEPT", "{}", "SELECT #", " EXCEPT "),
    Chain("long INTERSECT", "{}", "SELECT 1", " INTERSECT "),
    Chain("long IN", "SELECT count(*) FROM l WHERE i IN ({})", "#", ", "),
    Chain("long IN of expressions", "SELECT count(*) FROM l WHERE i IN ({})", "i + #", ", "),
    Chain("long NOT IN of texts", "SELECT count(*) FROM l WHERE t NOT IN ({})", "'#'", ", "),
    Chain("long CASE", "SELECT CASE {} END FROM l", "WHEN i = # THEN #", " "),
    Chain("long CASE of operand", "SELECT CASE i {} ELSE 0 END FROM l", "WHEN # THEN 'a#'", " "),
    Chain("long VALUES", "VALUES {}", "(#, 'a#')", ", "),
    Chain("long VALUES in FROM", "SELECT count(*) FROM (VALUES {}) AS x (a, b)", "(#, 'b')", ", "),
    Chain("long INSERT", "INSERT INTO l VALUES {}", "(#, 'c')", ", "),
    Chain("long SELECT list", "SELECT {} FROM l", "i + #", ", "),
    Chain("long ARRAY", "SELECT ARRAY[{}]", "#", ", "),
    Chain("long coalesce", "SELECT coalesce({})", "NULL", ", "),
    Chain("long concat", "SELECT concat({}) FROM l", "t", ", "),
    Chain("long greatest", "SELECT greatest({}) FROM l", "i + #", ", "),
    Chain("long FROM", "SELECT 1 FROM {}", "l AS l#", ", "),
    Chain("long JOIN", "SELECT 1 FROM {}", "(SELECT 1) AS j#", " CROSS JOIN "),
    Chain("long NATURAL JOIN", "SELECT 1 FROM {}", "(SELECT 1 AS x) AS j#", " NATURAL JOIN "),
    Chain("long WITH", "WITH {} SELECT 1", "w# AS (SELECT #)", ", "),
    Chain("long GROUP BY", "SELECT 1 FROM l GROUP BY {}", "i + #", ", "),
    Chain(
        "long GROUPING SETS",
        "SELECT count(*) FROM l GROUP BY GROUPING SETS ({})",
        "(i), (t)",
        ", ",
    ),
    Chain("long CUBE", "SELECT count(*) FROM l GROUP BY CUBE ({})", "(i + #)", ", "),
    Chain("long ORDER BY", "SELECT 1 FROM l ORDER BY {}", "i + #", ", "),
    Chain("long aggregates", "SELECT {} FROM l", "sum(i + #)", ", "),
    Chain("long windows", "SELECT {} FROM l", "sum(i) OVER (ORDER BY i + #)", ", "),
    Chain("long CREATE TABLE", "CREATE TABLE wide ({})", "c# int", ", "),
    Chain("long ROW comparison", "SELECT ROW({}) = ROW(1)", "#", ", "),
    Chain("long subqueries", "SELECT {}", "(SELECT count(*) FROM l WHERE i = #)", " + "),
    Chain(
        "long EXISTS",
        "SELECT 1 FROM l AS a WHERE {}",
        "EXISTS (SELECT 1 FROM l WHERE i = a.i + #)",
        " AND ",
    ),
    Chain("long intervals", "SELECT now(){}", " + '1 day'::interval", ""),
    Chain("long jsonb ||", "SELECT {}", "'{\"a\": #}'::jsonb", " || "),
    Chain("long jsonb ->", "SELECT '{}'::jsonb{}", " -> 'a'", ""),
    Chain("long script", "{}", "SELECT #", "; "),
    Chain("long BETWEEN", "SELECT count(*) FROM l WHERE {}", "i BETWEEN # AND 9", " OR "),
    Chain("long casts", "SELECT 1{}", "::text::int", ""),
    Chain("long subscripts", "SELECT ARRAY[1]{}", "[1]", ""),
    Chain("long names", "SELECT {}", "a", "."),
    Chain("long comments", "SELECT 1 {}", "/* # */", " "),
    Chain("long regexp", "SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' ~ '{}'", "(a|b#)*", ""),
    Chain("long LIKE", "SELECT repeat('a', 1000) LIKE '{}b'", "%a", ""),
    Chain("long jsonb text", "SELECT '[{}]'::jsonb", "#", ","),
    Chain("long IS NULL", "SELECT 1 IS NULL{}", " IS NOT NULL", ""),
    Chain("long COLLATE", "SELECT 'a'{}", " COLLATE \"C\"", ""),
    Chain("long AT TIME ZONE", "SELECT now(){}", " AT TIME ZONE 'UTC'", ""),
];

/// Brackets of one form: the label, the text around, what opens, the body, what closes.
struct Nest(&'static str, &'static str, &'static str, &'static str, &'static str);

const NESTS: &[Nest] = &[
    Nest("deep parentheses", "SELECT {}", "(", "1", ")"),
    Nest("deep parentheses of conditions", "SELECT 1 FROM l WHERE {}", "(i = 0 OR ", "true", ")"),
    Nest("deep right operators", "SELECT {}", "(1 + ", "1", ")"),
    Nest("deep left operators", "SELECT {}", "(", "1", " + 1)"),
    Nest("deep scalar subqueries", "{}", "SELECT (", "SELECT 1", ")"),
    Nest("deep FROM subqueries", "{}", "SELECT * FROM (", "SELECT 1 AS x", ") AS s"),
    Nest("deep LATERAL", "SELECT * FROM l AS a, {}", "LATERAL (SELECT a.i FROM ", "l", ") AS s"),
    Nest("deep EXISTS", "SELECT {}", "EXISTS (SELECT 1 WHERE ", "true", ")"),
    Nest("deep IN", "{}", "SELECT 1 WHERE 1 IN (", "SELECT 1", ")"),
    Nest("deep functions", "SELECT {}", "abs(", "1", ")"),
    Nest("deep text functions", "SELECT {} FROM l", "upper(", "t", ")"),
    Nest("deep coalesce", "SELECT {}", "coalesce(NULL, ", "1", ")"),
    Nest("deep ARRAY", "SELECT {}", "ARRAY[", "1", "]"),
    Nest("deep brackets", "SELECT ARRAY{}", "[", "1", "]"),
    Nest("deep CAST", "SELECT {}", "CAST(", "1", " AS int)"),
    Nest("deep casts after", "SELECT {}", "(", "1", ")::int"),
    Nest("deep NOT", "SELECT {}", "NOT ", "true", ""),
    Nest("deep NOT of columns", "SELECT {} FROM l", "NOT (", "i = 1", ")"),
    Nest("deep minus", "SELECT {}", "- ", "1", ""),
    Nest("deep CASE", "SELECT {}", "CASE WHEN true THEN ", "1", " END"),
    Nest("deep CASE conditions", "SELECT {}", "CASE WHEN ", "true", " THEN true END"),
    Nest("deep set operations", "{}", "(SELECT 1 UNION ", "SELECT 1", ")"),
    Nest("deep left set operations", "{}", "(", "SELECT 1", " EXCEPT SELECT 2)"),
    Nest("deep WITH", "{}", "WITH a AS (", "SELECT 1", ") SELECT * FROM a"),
    Nest("deep joins", "SELECT 1 FROM {}", "(l CROSS JOIN ", "l AS b", ")"),
    Nest("deep ROW", "SELECT {}", "ROW(", "1", ")"),
    Nest("deep EXPLAIN", "{}", "EXPLAIN ", "SELECT 1", ""),
    Nest("deep jsonb text", "SELECT '{}'::jsonb", "[", "1", "]"),
    Nest("deep jsonb objects", "SELECT '{}'::jsonb", "{\"a\":", "1", "}"),
    Nest("deep jsonb functions", "SELECT {}", "jsonb_build_array(", "1", ")"),
    Nest("deep array text", "SELECT '{}'::int[]", "{", "1", "}"),
    Nest("deep regexp", "SELECT 'a' ~ '{}'", "(", "a", ")"),
    Nest("deep regexp repeats", "SELECT 'a' ~ '{}'", "(", "a", "){2}"),
    Nest("deep SIMILAR TO", "SELECT 'a' SIMILAR TO '{}'", "(", "a", ")"),
    Nest("deep comments", "SELECT 1 {}", "/*", "x", "*/"),
    Nest(
        "deep aggregates in subqueries",
        "SELECT {}",
        "(SELECT max(i) FROM l WHERE i < ",
        "1",
        ")",
    ),
    Nest("deep IS NULL", "SELECT {}", "(", "1", ") IS NULL"),
    Nest("deep ANY", "SELECT {}", "1 = ANY (SELECT ", "1", ")"),
    Nest("deep subscripts", "SELECT {}", "(ARRAY[1])[", "1", "]"),
    Nest("deep PREPARE", "{}", "PREPARE p AS ", "SELECT 1", ""),
    Nest("deep text", "SELECT length({})", "repeat(", "'a'", ", 3)"),
];

/// Statements that make views on views: so many, or in a cycle.
fn views(random: &mut Random) -> Vec<Step> {
    let view = |text: String| Step::simple("view on view", Node::text(text));
    let mut steps = vec![view("CREATE VIEW v0 AS SELECT 1 AS x".to_owned())];
    let count = *random.pick(&[2, 20, 60, 150, 200, 400]);
    let form = *random.pick(&[
        "SELECT * FROM #",
        "SELECT x FROM # WHERE x > 0",
        "SELECT max(x) AS x FROM #",
    ]);
    for number in 1..=count {
        let query = form.replace('#', &format!("v{}", number - 1));
        steps.push(view(format!("CREATE VIEW v{number} AS {query}")));
    }
    if random.percent(30) {
        steps.push(view(format!("CREATE OR REPLACE VIEW v0 AS SELECT * FROM v{count}")));
    }
    steps.push(view(format!("SELECT * FROM v{count}")));
    steps.push(view("SELECT count(*) FROM pg_class, information_schema.columns".to_owned()));
    steps
}

/// Views that read their predecessor twice: the last one is as large as a power of two.
fn doubling_views(random: &mut Random) -> Vec<Step> {
    let view = |text: String| Step::simple("doubling views", Node::text(text));
    let mut steps = vec![view("CREATE VIEW v0 AS SELECT 1 AS x".to_owned())];
    let count = random.within(4..=30);
    for number in 1..=count {
        let from = format!("v{0} AS a JOIN v{0} AS b USING (x)", number - 1);
        steps.push(view(format!("CREATE VIEW v{number} AS SELECT x FROM {from}")));
    }
    steps.push(view(format!("SELECT * FROM v{count}")));
    steps
}

/// A script around one long or deep statement.
pub(crate) fn script(random: &mut Random) -> Vec<Step> {
    match random.below(20) {
        0 => return views(random),
        1 => return doubling_views(random),
        _ => {}
    }
    let prepare = |text| Step::simple("setup", Node::text(text));
    let mut steps = vec![
        prepare("CREATE TABLE l (i int, t text)"),
        prepare("INSERT INTO l SELECT x, 't' || x FROM generate_series(1, 100) AS g (x)"),
    ];
    let length = *random.pick(&LENGTHS);
    let step = if random.percent(55) {
        chain(random.pick(CHAINS), length)
    } else {
        nest(random.pick(NESTS), length)
    };
    steps.push(step);
    steps
}

/// A chain of so many terms.
fn chain(Chain(label, around, term, separator): &Chain, length: usize) -> Step {
    let parts = (0..length).map(|number| Node::text(term.replace('#', &number.to_string())));
    let list = Node::List { parts: parts.collect(), separator, least: 1 };
    Step::simple(label, around_of(around, list))
}

/// A nest of so many brackets.
fn nest(Nest(label, around, open, body, close): &Nest, times: usize) -> Step {
    let body = Box::new(Node::text(*body));
    let nest = Node::Nest { open: (*open).to_owned(), close: (*close).to_owned(), times, body };
    Step::simple(label, around_of(around, nest))
}

/// The text around a part, in place of the last `{}`.
fn around_of(around: &str, part: Node) -> Node {
    let (before, after) = around.rsplit_once("{}").unwrap_or((around, ""));
    Node::group(Kind::Fixed, vec![Node::text(before), part, Node::text(after)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_and_nests_are_as_long_as_asked() {
        assert_eq!(
            chain(&CHAINS[0], 2).node.to_string(),
            "SELECT count(*) FROM l WHERE i = 0 OR i = 1"
        );
        assert_eq!(nest(&NESTS[0], 3).node.to_string(), "SELECT (((1)))");
    }
}
