//! By which columns a query groups rows, where it reads others of the groups, too: then they have to be a key.

use crate::references::each;
use crate::tree::NodeEnum;
use serde_json::{Map, Value};

/// For each GROUP BY of a query that reads columns by which it does not group, the names of those by which it does.
/// `is_aggregate` tells functions whose arguments are not read so.
pub fn grouped_by(
    query: &NodeEnum,
    is_aggregate: &(dyn Fn(&str) -> bool + Sync),
) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let _ = each(query, &mut |kind, node| {
        // The sides of UNION and the like are in fields of their own.
        if matches!(kind, "SelectStmt" | "larg" | "rarg") {
            found.extend(keys(node, is_aggregate));
        }
    });
    found
}

fn keys(select: &Map<String, Value>, is_aggregate: &dyn Fn(&str) -> bool) -> Option<Vec<String>> {
    let items = |name: &str| select.get(name).and_then(Value::as_array).into_iter().flatten();
    let targets: Vec<&Value> = items("target_list").collect();
    let mut keys: Vec<String> = Vec::new();
    for item in items("group_clause") {
        // An ordinal number, or the name of a column of the result.
        let ordinal = item.pointer("/node/AConst/val/Ival/ival").and_then(Value::as_u64);
        let place = ordinal.and_then(|at| usize::try_from(at).ok()?.checked_sub(1));
        keys.extend(place.and_then(|at| named(targets.get(at)?.pointer("/node/ResTarget/val")?)));
        let Some(name) = named(item) else { continue };
        let is_shown_as = |target: &&&Value| {
            let shown = target.pointer("/node/ResTarget/name").and_then(Value::as_str);
            shown == Some(name.as_str())
        };
        let shown = targets.iter().find(is_shown_as);
        keys.extend(shown.and_then(|target| named(target.pointer("/node/ResTarget/val")?)));
        keys.push(name);
    }
    let mut read = Vec::new();
    targets.iter().for_each(|target| columns(target, is_aggregate, &mut read));
    select.get("having_clause").into_iter().for_each(|of| columns(of, is_aggregate, &mut read));
    let is_other = |name: &String| !keys.contains(name);
    (!keys.is_empty() && read.iter().any(is_other)).then_some(keys)
}

/// The name of a column that an expression is.
fn named(expression: &Value) -> Option<String> {
    let fields = expression.pointer("/node/ColumnRef/fields")?.as_array()?;
    Some(fields.last()?.pointer("/node/String/sval")?.as_str()?.to_owned())
}

/// The names of the columns in an expression, outside of aggregates and subqueries.
fn columns(tree: &Value, is_aggregate: &dyn Fn(&str) -> bool, found: &mut Vec<String>) {
    crate::growing(|| match tree {
        Value::Array(items) => items.iter().for_each(|item| columns(item, is_aggregate, found)),
        Value::Object(fields) => {
            found.extend(named(tree));
            let function = tree.pointer("/node/FuncCall/funcname").and_then(Value::as_array);
            let function = function.and_then(|parts| parts.last()?.pointer("/node/String/sval"));
            let is_closed = fields.contains_key("SubLink")
                || function.and_then(Value::as_str).is_some_and(is_aggregate);
            if !is_closed {
                fields.values().for_each(|field| columns(field, is_aggregate, found));
            }
        }
        _ => {}
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str) -> Vec<Vec<String>> {
        let script = crate::parse(query).expect("parses");
        let statement = script.statements()[0].stmt.as_ref().and_then(|stmt| stmt.node.as_ref());
        grouped_by(statement.expect("a statement"), &|name| name == "count")
    }

    #[test]
    fn keys_are_found_where_other_columns_are_read() {
        assert_eq!(found("select p.id, p.name, count(*) from p group by p.id"), [["id"]]);
        assert_eq!(found("select p.id, upper(name) from p group by 1"), [["id"]]);
        assert_eq!(found("select id as x, name from p group by x, y"), [["id", "x", "y"].to_vec()]);
        assert_eq!(found("select id from p group by id having name > 'a'"), [["id"]]);
        assert_eq!(found("select * from (select id, name from p group by id) q"), [["id"]]);
    }

    #[test]
    fn keys_alone_need_none() {
        let none: [Vec<String>; 0] = [];
        assert_eq!(found("select id, count(name) from p group by id"), none);
        assert_eq!(found("select name, id from p group by id, name"), none);
        assert_eq!(found("select id, (select name from q) from p group by id"), none);
        assert_eq!(found("select id, name from p"), none);
    }
}
