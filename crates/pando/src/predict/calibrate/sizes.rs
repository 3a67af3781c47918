//! Hash tables of ever more rows: what it costs to build them, and to look rows up in them.

use super::costs::{Costs, MOST};
use super::tables::{GROUPS, TEXT_KEYS, keeping, sizes};
use super::times::Times;
use dbsim::Cost;

/// The part of the rows that joins find where a scan looks for them first.
const FOUND: f64 = 0.25;

/// What groups cost that is known before: for each row a scan, its place among few groups, and a text that is a key.
pub(super) struct OfFew {
    pub(super) scan: f64,
    pub(super) group: f64,
    pub(super) key: Cost,
}

/// Groups of rows that a scan has copied, so that whoever made them has brought them along, and of tables with a row for each group;
/// by a number, by two, and by a number and a text.
pub(super) fn groups(rows: u64, times: &Times, few: &OfFew, costs: &mut Costs) {
    let all = MOST * rows as f64;
    let most = keeping(MOST);
    let chosen = |select: &str, groups: &str| {
        times.of(&format!("SELECT {select} FROM t WHERE {most} {groups}"))
    };
    let many = |by: &str| {
        let scanned = chosen(&format!("{by}, n1"), "");
        chosen(&format!("{by}, sum(n1)"), &format!("GROUP BY {by}")) - scanned
    };
    let one = |table: &str, by: &str| {
        let of =
            |table: &str| times.of(&format!("SELECT {by}, sum(n1) FROM {table} GROUP BY {by}"));
        of(table) - of("least")
    };
    let sum = (chosen("sum(n1)", "") - chosen("n1", "")) / all;
    let row = sum + few.group;
    let mut tables = vec![vec![GROUPS as f64, 0.0, 0.0]];
    let mut keys = vec![vec![GROUPS as f64, 0.0, 0.0, 0.0, 0.0]];
    for (at, size) in sizes(rows).into_iter().enumerate() {
        let size = size as f64;
        // Two equations: of many rows a group, and of one.
        let solved =
            |many: f64, one: f64| [((many - one) / (all - size)).max(0.0), (one / size).max(0.0)];
        let (by, table) = (format!("a{at}"), format!("r{at}"));
        let of_many = many(&by);
        let of_one = one(&table, "k");
        let found = solved(of_many - row * all, of_one - (few.scan + row) * size);
        tables.push([&[size][..], &found].concat());
        let of_texts = TEXT_KEYS.map(|(name, _, bytes)| {
            let known = few.key.cycles(1.0, bytes);
            let more = many(&format!("{by}, {name}{at}")) - of_many;
            let one_more = one(&table, &format!("k, {name}")) - of_one;
            solved(more - known * all, one_more - known * size)
        });
        keys.push([&[size], &of_texts[0][..], &of_texts[1]].concat());
    }
    costs.curves.extend([("group_tables", tables), ("group_keys", keys)]);
    let number = (many("a0, b0") - many("a0")) / all;
    costs.costs.push(("number_key", Cost { tuple: number.max(0.0), byte: 0.0 }));
}

/// Keys of joins: of the rows, of the table in which all are, and of rows of which a quarter is in a table.
struct Keys {
    name: &'static str,
    all: fn(usize) -> String,
    of_all: &'static str,
    some: fn(usize) -> String,
    of_some: &'static str,
}

/// Keys that lie apart and such as lie so close that an array takes the place of a hash table.
const KEYS: [Keys; 2] = [
    Keys {
        name: "hash_tables",
        all: |size| format!("b{size}"),
        of_all: "k16",
        some: |size| format!("b{}", size + 1),
        of_some: "k64",
    },
    Keys {
        name: "array_tables",
        all: |size| format!("a{size}"),
        of_all: "k",
        some: |size| format!("a{}", size + 1),
        of_some: "k4",
    },
];

/// Joins of all rows with tables in which all or a quarter are found, and of such a table with itself.
pub(super) fn joins(rows: u64, times: &Times, scan: f64, costs: &mut Costs) {
    let all = rows as f64;
    let begun = times.of("SELECT count(*) FROM least x JOIN least y ON x.k = y.k");
    let joined = |size: usize, column: &str, key: &str| {
        times.of(&format!("SELECT count(*) FROM t JOIN r{size} ON t.{column} = r{size}.{key}"))
    };
    let scanned = |column: &str| times.of(&format!("SELECT {column} FROM t"));
    // A predicate that leaves a quarter, compared with one that leaves all.
    let chosen = times.of(&format!("SELECT v FROM t WHERE {}", keeping(FOUND)))
        - times.of("SELECT v FROM t WHERE r <> -1");
    for Keys { name, all: column, of_all, some, of_some } in KEYS {
        let mut tables = Vec::new();
        let mut near = None;
        for (at, size) in sizes(rows).into_iter().enumerate() {
            let size = size as f64;
            let itself =
                format!("SELECT count(*) FROM r{at} x JOIN r{at} y ON x.{of_all} = y.{of_all}");
            let whole = joined(at, &column(at), of_all) - scanned(&column(at));
            let itself = (times.of(&itself) - begun) / size - 2.0 * scan;
            // A table's own rows are looked up in the order in which they were put in, as if it were small.
            let build = match near {
                Some(probe) => itself - probe,
                None => (itself - whole / all) / (1.0 - size / all),
            };
            let build = build.max(0.0);
            let probe = ((whole - build * size) / all).max(0.0);
            near = near.or(Some(probe));
            let found = joined(at, &some(at), of_some) - scanned(&some(at)) - chosen;
            let find = (found - build * size) / all - FOUND * probe;
            tables.push(vec![size, build, probe, find.max(0.0)]);
        }
        costs.curves.push((name, tables));
    }
    let columns = "t.id, t.r, t.g, t.v, r0.n1, r0.n2, r0.n3";
    let handed_on = times.of(&format!("SELECT {columns} FROM t JOIN r0 ON t.a0 = r0.k"));
    let made = (handed_on - joined(0, "a0", "k")).max(0.0) / (all * (4.0 * 8.0 + 3.0 * 16.0));
    costs
        .costs
        .extend([("hash_build", Cost::default()), ("hash_probe", Cost { tuple: 0.0, byte: made })]);
}
