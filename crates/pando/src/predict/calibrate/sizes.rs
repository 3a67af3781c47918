//! Costs of building hash tables and of looking rows up in them, by their number of rows.

use super::costs::{Costs, MOST};
use super::tables::{
    GROUPS, IN_ORDER, ROWS_OF_A_KEY, TEXT_KEYS, keeping, keeping_runs, sizes, usual,
};
use super::times::Times;
use dbsim::Cost;

/// The part of the rows that find a match, if a scan filters by the join's keys first.
const FOUND: f64 = 0.25;

/// Costs a row with few groups.
pub(super) struct OfFew {
    /// Adding the row to a sum.
    pub(super) sum: f64,
    /// Finding its group by a number.
    pub(super) group: f64,
    /// Finding its group by several keys, in addition to the cost of each key.
    pub(super) several: f64,
    /// One more key that is a number.
    pub(super) number: f64,
    /// A key that is a text.
    pub(super) key: Cost,
}

/// Costs of grouping rows that a scan has copied, and rows of tables with one row a group: by a number, by two numbers, and by a
/// number and a text.
pub(super) fn groups(rows: u64, times: &Times, scan: f64, few: &OfFew, costs: &mut Costs) {
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
    let mut tables = vec![vec![GROUPS as f64, 0.0, 0.0, few.several, few.several]];
    let mut keys = vec![vec![GROUPS as f64, 0.0, 0.0, 0.0, 0.0]];
    for (at, size) in sizes(rows).into_iter().enumerate().filter(|(_, size)| *size > GROUPS) {
        let size = size as f64;
        let (by, table) = (format!("a{at}"), format!("r{at}"));
        // Solves two equations: with many rows a group and with one. The costs of a row and of scanning it are known.
        let solved = |[of_many, of_one]: [f64; 2], row: f64, scanned: f64| {
            let (many, one) = (of_many - row * all, of_one - (row + scanned) * size);
            [((many - one) / (all - size)).max(0.0), (one / size).max(0.0)]
        };
        let row = few.sum + few.group;
        let by_one = [many(&by), one(&table, "k")];
        let by_two = [many(&format!("{by}, b{at}")), one(&table, "k, k16")];
        let [of_one, of_several] =
            [solved(by_one, row, scan), solved(by_two, row + few.number, scan)];
        tables.push([&[size], &of_one[..], &of_several].concat());
        let of_texts = TEXT_KEYS.map(|(name, _, bytes)| {
            let by_text = [many(&format!("{by}, {name}{at}")), one(&table, &format!("k, {name}"))];
            // The text replaces the second number.
            let more = [0, 1].map(|which| by_text[which] - by_two[which]);
            solved(more, few.key.cycles(1.0, bytes) - few.number, 0.0)
        });
        keys.push([&[size], &of_texts[0][..], &of_texts[1]].concat());
    }
    costs.curves.extend([("group_tables", tables), ("group_keys", keys)]);
}

/// Columns of `t` with keys of joins. In each pair, the joined table has all keys of the first column, and a quarter of those of
/// the second.
struct Keys {
    /// Name of the curve.
    name: &'static str,
    /// Columns in random order.
    scattered: fn(usize) -> [String; 2],
    /// Columns in the order of the rows.
    in_order: fn(usize) -> [String; 2],
    /// The key columns of the joined table.
    of_table: [&'static str; 2],
}

/// Sparse keys, and keys so dense that the engine uses an array instead of a hash table.
const KEYS: [Keys; 2] = [
    Keys {
        name: "hash_tables",
        scattered: |at| ["b", "more_b"].map(|name| format!("{name}{at}")),
        in_order: |at| IN_ORDER.map(|name| format!("{name}{at}_apart")),
        of_table: ["k16", "k64"],
    },
    Keys {
        name: "array_tables",
        scattered: |at| ["a", "more_a"].map(|name| format!("{name}{at}")),
        in_order: |at| IN_ORDER.map(|name| format!("{name}{at}")),
        of_table: ["k", "k4"],
    },
];

/// Costs of joins of all rows with tables that match all or a quarter of them, and of such a table with itself.
pub(super) fn joins(rows: u64, times: &Times, scan: f64, costs: &mut Costs) {
    let all = rows as f64;
    let fixed = times.of("SELECT count(*) FROM least x JOIN least y ON x.k = y.k");
    let joined = |at: usize, column: &str, key: &str| {
        times.of(&format!("SELECT count(*) FROM t JOIN r{at} ON t.{column} = r{at}.{key}"))
    };
    let with = |at: usize, column: &str, key: &str| {
        joined(at, column, key) - times.of(&format!("SELECT {column} FROM t"))
    };
    let (sizes, usual) = (sizes(rows), usual(rows));
    // The cost a row of a small table cannot be measured: that of the next larger one is used.
    let itself = |at: usize, key: &str| {
        let sql = format!("SELECT count(*) FROM r{at} x JOIN r{at} y ON x.{key} = y.{key}");
        (times.of(&sql) - fixed) / sizes[at] as f64 - 2.0 * scan
    };
    // A predicate that keeps a quarter, compared with one that keeps all.
    let chosen = |run: f64| {
        times.of(&format!("SELECT v FROM t WHERE {}", keeping_runs(run, FOUND)))
            - times.of("SELECT v FROM t WHERE r <> -1")
    };
    for Keys { name, scattered, in_order, of_table: [key, key_of_some] } in KEYS {
        let mut tables = Vec::new();
        let mut near = None;
        for (at, &size) in sizes.iter().enumerate() {
            let size = size as f64;
            let [column, _] = scattered(at);
            // A table's own rows are looked up in the order of their insertion, as fast as in a small table.
            let near = *near.get_or_insert(with(at, &column, key) / all);
            let build = (itself(at.max(usual), key) - near).max(0.0);
            let looked_up = |[every, some]: [String; 2], run: f64| {
                let probe = (with(at, &every, key) - build * size) / all;
                let found = with(at, &some, key_of_some) - chosen(run);
                let find = (found - build * size) / all - FOUND * probe.max(0.0);
                [probe, find].map(|cycles| cycles.max(0.0))
            };
            let random = looked_up(scattered(at), 1.0);
            let ordered = looked_up(in_order(at), ROWS_OF_A_KEY);
            tables.push([&[size, build][..], &random, &ordered].concat());
        }
        costs.curves.push((name, tables));
    }
    let byte = copies(rows, times, costs);
    costs
        .costs
        .extend([("hash_build", Cost::default()), ("hash_probe", Cost { tuple: 0.0, byte })]);
}

/// Costs of the rows that a join returns: returns the cycles a byte of the probing side, and adds the additional cycles a byte of
/// the other side.
fn copies(rows: u64, times: &Times, costs: &mut Costs) -> f64 {
    let all = rows as f64;
    // Three more columns of 16 bytes.
    let more = |of: &str, from: &str| {
        let returned = |columns: &str| times.of(&format!("SELECT t.v{columns} FROM {from}"));
        returned(&format!(", {of}.n1, {of}.n2, {of}.n3")) - returned("")
    };
    let join = |at: usize, column: &str| format!("t JOIN r{at} x ON t.{column} = x.k");
    let byte = |at: usize, column: &str| more("x", &join(at, column)) / (3.0 * 16.0 * all);
    let (usual, most) = (usual(rows), keeping(MOST));
    let chosen = format!("{} WHERE t.{most}", join(usual, &format!("a{usual}")));
    let sought = more("t", &chosen) - more("t", &format!("t WHERE t.{most}"));
    let sought = sought.max(0.0) / (3.0 * 16.0 * MOST * all);
    let found = sizes(rows).into_iter().enumerate().map(|(at, size)| {
        let random = byte(at, &format!("a{at}"));
        let in_order = byte(at, &format!("{}{at}", IN_ORDER[0]));
        let more = [random, in_order].map(|byte| (byte - sought).max(0.0));
        [&[size as f64][..], &more].concat()
    });
    costs.curves.push(("hash_copies", found.collect()));
    sought
}
