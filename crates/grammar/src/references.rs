//! The names that a parse tree refers to, wherever in it they are.

use crate::deparse::SELECT;
use crate::tree::NodeEnum;
use crate::{growing, parse, parse::on_thread};
use serde_json::{Map, Value};

/// A reference to a column in an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnReference {
    /// The name, behind the names of its relation, if they are written.
    pub parts: Vec<String>,
    /// The byte of the expression at which it begins.
    pub start: usize,
}

/// The references to columns in an expression. `None` if it is not in the grammar.
pub fn columns(expression: &str) -> Option<Vec<ColumnReference>> {
    let script = parse(&format!("{SELECT}{expression}")).ok()?;
    let statement = script.statements().first()?.stmt.as_ref()?.node.as_ref()?;
    let mut found = Vec::new();
    each(statement, &mut |kind, node| {
        if kind != "ColumnRef" {
            return;
        }
        let fields = node.get("fields").and_then(Value::as_array);
        let part = |field: &Value| Some(field.pointer("/node/String/sval")?.as_str()?.to_owned());
        let parts: Vec<String> = fields.into_iter().flatten().filter_map(part).collect();
        let start = node.get("location").and_then(Value::as_u64);
        let start = start.and_then(|start| usize::try_from(start).ok()?.checked_sub(SELECT.len()));
        if let (Some(start), false) = (start, parts.is_empty()) {
            found.push(ColumnReference { parts, start });
        }
    })?;
    found.sort_by_key(|reference| reference.start);
    Some(found)
}

/// An expression in which the references to a column have another name. `None` if it is not in the grammar.
pub fn rename_column(expression: &str, old: &str, new: &str) -> Option<String> {
    let mut text = expression.to_owned();
    for reference in columns(expression)?.into_iter().rev() {
        if reference.parts.last().is_some_and(|last| last == old) {
            let mut start = reference.start;
            for _ in 1..reference.parts.len() {
                start += name_length(text.get(start..)?);
                start += text.get(start..)?.find('.')? + 1;
                start += text.get(start..)?.len() - text.get(start..)?.trim_start().len();
            }
            let end = start + name_length(text.get(start..)?);
            text.replace_range(start..end, new);
        }
    }
    Some(text)
}

/// The bytes of the name that a text begins with.
pub(crate) fn name_length(text: &str) -> usize {
    match text.strip_prefix('"') {
        Some(quoted) => {
            let mut end = 0;
            while let Some(quote) = quoted[end..].find('"') {
                end += quote + 1;
                match quoted[end..].starts_with('"') {
                    true => end += 1,
                    false => break,
                }
            }
            end + 1
        }
        None => {
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$') || !c.is_ascii();
            text.find(|c| !is_part(c)).unwrap_or(text.len())
        }
    }
}

/// The name of a relation, with its schema, if it is written.
pub type RelationReference = (Option<String>, String);

/// The relations that a query names. Names of WITH are left out.
pub fn relations(query: &NodeEnum) -> Vec<RelationReference> {
    let Some((mut names, ctes)) = ranges(query) else { return Vec::new() };
    names.retain(|(schema, name)| schema.is_some() || !ctes.contains(name));
    names
}

/// The functions that a text calls: schemas, names and numbers of arguments.
pub fn calls(text: &str) -> Vec<(Option<String>, String, usize)> {
    let Ok(script) = crate::parse(text) else { return Vec::new() };
    let statement = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    let mut found = Vec::new();
    if let Some(statement) = statement {
        let _ = each(statement, &mut |kind, node| {
            if kind != "FuncCall" {
                return;
            }
            let mut parts = called(node);
            let arguments = node.get("args").and_then(Value::as_array).map_or(0, Vec::len);
            if let Some(name) = parts.pop() {
                found.push((parts.pop(), name, arguments));
            }
        });
    }
    found
}

/// The parts of the name of the function that a call names.
fn called(call: &Map<String, Value>) -> Vec<String> {
    let parts = call.get("funcname").and_then(Value::as_array);
    let part = |part: &Value| Some(part.pointer("/node/String/sval")?.as_str()?.to_owned());
    parts.into_iter().flatten().filter_map(part).collect()
}

/// A part of an expression that may need other rows, or give several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpressionPart {
    /// A subquery.
    Subquery,
    /// GROUPING.
    Grouping,
    /// A call of a function by its name.
    Call(String),
    /// A call with OVER.
    WindowCall,
}

/// The subqueries and calls in an expression, those around others first; none if it is not in the grammar.
pub fn parts(expression: &str) -> Vec<ExpressionPart> {
    let Ok(script) = parse(&format!("{SELECT}{expression}")) else { return Vec::new() };
    let statement = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    let mut found = Vec::new();
    if let Some(statement) = statement {
        let _ = each(statement, &mut |kind, node| match kind {
            "SubLink" => found.push(ExpressionPart::Subquery),
            "GroupingFunc" => found.push(ExpressionPart::Grouping),
            "FuncCall" if node.get("over").is_some_and(|over| !over.is_null()) => {
                found.push(ExpressionPart::WindowCall);
            }
            "FuncCall" => found.extend(called(node).pop().map(ExpressionPart::Call)),
            _ => {}
        });
    }
    found
}

/// The names of types that a text has, with their schemas.
pub fn types(text: &str) -> Vec<(Option<String>, String)> {
    let Ok(script) = crate::parse(text) else { return Vec::new() };
    let statement = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    let mut found = Vec::new();
    if let Some(statement) = statement {
        let _ = each(statement, &mut |kind, node| {
            if kind != "TypeCast" && kind != "ColumnDef" {
                return;
            }
            let parts = node.get("type_name").and_then(|name| name.get("names")?.as_array());
            let part = |part: &Value| Some(part.pointer("/node/String/sval")?.as_str()?.to_owned());
            let mut parts: Vec<String> = parts.into_iter().flatten().filter_map(part).collect();
            if let Some(name) = parts.pop() {
                found.push((parts.pop(), name));
            }
        });
    }
    found
}

/// The names of the sequences from which an expression takes values, as they are written.
pub fn sequences(expression: &str) -> Vec<String> {
    let Ok(script) = crate::parse(&format!("{SELECT}{expression}")) else { return Vec::new() };
    let statement = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    let mut found = Vec::new();
    if let Some(statement) = statement {
        let _ = each(statement, &mut |kind, node| {
            let name =
                node.get("funcname").and_then(Value::as_array).and_then(|parts| parts.last());
            let name = name.and_then(|part| part.pointer("/node/String/sval")?.as_str());
            if kind != "FuncCall" || name != Some("nextval") {
                return;
            }
            let mut argument = node.get("args").and_then(|args| args.get(0));
            while let Some(inner) = argument.and_then(|node| node.pointer("/node/TypeCast/arg")) {
                argument = Some(inner);
            }
            let text = argument.and_then(|node| node.pointer("/node/AConst/val/Sval/sval"));
            found.extend(text.and_then(Value::as_str).map(str::to_owned));
        });
    }
    found
}

/// As [`relations`], with the names of WITH. `None` if the query nests too deep.
pub fn relations_and_ctes(query: &NodeEnum) -> Option<Vec<RelationReference>> {
    ranges(query).map(|(names, _)| names)
}

/// The names in FROM and the like, and the names of WITH.
fn ranges(query: &NodeEnum) -> Option<(Vec<RelationReference>, Vec<String>)> {
    let (mut names, mut ctes) = (Vec::new(), Vec::new());
    let text = |node: &Map<String, Value>, key: &str| {
        let text = node.get(key).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    each(query, &mut |kind, node| match kind {
        "RangeVar" => {
            if let Some(name) = text(node, "relname") {
                names.push((text(node, "schemaname"), name));
            }
        }
        "CommonTableExpr" => ctes.extend(text(node, "ctename")),
        _ => {}
    })?;
    Some((names, ctes))
}

/// An expression in which the names of types have schemas in front: those that a function gives for names without one.
/// `None` if it is not in the grammar.
pub fn with_type_schemas(
    expression: &str,
    schema_of: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let text = with_schemas(&format!("{SELECT}{expression}"), |_| None, schema_of)?;
    text.strip_prefix(SELECT).map(str::to_owned)
}

/// The text of a query in which the names of relations and types have schemas in front: those that functions give for
/// names without one. `None` if it is not in the grammar.
pub fn with_schemas(
    query: &str,
    schema_of: impl Fn(&str) -> Option<String>,
    schema_of_type: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let script = parse(query).ok()?;
    let statement = script.statements().first()?.stmt.as_ref()?.node.as_ref()?;
    let (_, ctes) = ranges(statement)?;
    let mut places = Vec::new();
    each(statement, &mut |kind, node| {
        let text = |key: &str| node.get(key).and_then(Value::as_str).unwrap_or_default();
        if kind == "RangeVar" && text("schemaname").is_empty() {
            let location = node.get("location").and_then(Value::as_u64).unwrap_or(0);
            let location = usize::try_from(location).unwrap_or(0);
            places.push((location, text("relname").to_owned(), false));
        }
        if (kind == "TypeCast" || kind == "ColumnDef")
            && let Some(named) = node.get("type_name")
            && let Some([only]) = named.get("names").and_then(Value::as_array).map(Vec::as_slice)
            && let Some(name) = only.pointer("/node/String/sval").and_then(Value::as_str)
        {
            let location = named.get("location").and_then(Value::as_u64).unwrap_or(0);
            places.push((usize::try_from(location).unwrap_or(0), name.to_owned(), true));
        }
    })?;
    places.sort();
    let mut text = query.to_owned();
    for (location, name, is_type) in places.into_iter().rev() {
        let schema = match is_type {
            true => schema_of_type(&name),
            false => schema_of(&name).filter(|_| !ctes.contains(&name)),
        };
        if let Some(schema) = schema
            && text.is_char_boundary(location)
        {
            text.insert_str(location, &format!("{schema}."));
        }
    }
    Some(text)
}

/// The text of a query whose columns have other names. `None` if it is not in the grammar, or has other columns.
pub fn with_column_names(query: &str, names: &[String]) -> Option<String> {
    let mut script = parse(query).ok()?.statements().first()?.stmt.clone()?.node?;
    let NodeEnum::SelectStmt(select) = &mut script else { return None };
    let mut first = select;
    while let Some(left) = &mut first.larg {
        first = left;
    }
    if first.target_list.len() < names.len() {
        return None;
    }
    for (target, name) in first.target_list.iter_mut().zip(names) {
        let Some(NodeEnum::ResTarget(target)) = &mut target.node else { return None };
        target.name.clone_from(name);
    }
    crate::deparse::statement_text(&script)
}

/// The byte at which a quoted string with this value begins, the first if there are several.
pub fn string_location(statement: &NodeEnum, value: &str) -> Option<usize> {
    let mut first: Option<u64> = None;
    each(statement, &mut |kind, node| {
        let text = node.get("val").and_then(|val| val.pointer("/Sval/sval")?.as_str());
        if kind == "AConst" && text == Some(value) {
            // A location of zero is not written.
            let location = node.get("location").and_then(Value::as_i64).unwrap_or(0);
            let location = u64::try_from(location).ok();
            first = first.into_iter().chain(location).min();
        }
    })?;
    first.and_then(|first| usize::try_from(first).ok())
}

/// Calls a function for each node of a tree that is one of several kinds, with its kind and its fields.
pub(crate) fn each(
    tree: &NodeEnum,
    visit: &mut (dyn FnMut(&str, &Map<String, Value>) + Send),
) -> Option<()> {
    // Making, walking and dropping a value recurse.
    on_thread(|| {
        let value = serde_json::to_value(tree).ok()?;
        walk(&value, visit);
        Some(())
    })
    .flatten()
}

fn walk(value: &Value, visit: &mut (dyn FnMut(&str, &Map<String, Value>) + Send)) {
    growing(|| match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
        Value::Object(fields) => {
            for (name, field) in fields {
                if let Value::Object(node) = field {
                    visit(name, node);
                }
                walk(field, visit);
            }
        }
        _ => {}
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_and_renamed() {
        let text = "a > 0 AND t.a <> ARRAY[\"A\", lower(a)] AND \"t\" . \"a\" IS NULL";
        let renamed = rename_column(text, "a", "\"b c\"").expect("parses");
        let expected =
            "\"b c\" > 0 AND t.\"b c\" <> ARRAY[\"A\", lower(\"b c\")] AND \"t\" . \"b c\" IS NULL";
        assert_eq!(renamed, expected);
        assert_eq!(columns("1 + '").map(|all| all.len()), None);
    }

    #[test]
    fn sequences_are_found_in_calls() {
        assert_eq!(
            sequences("nextval('a') + nextval('\"B\".c'::text::regclass)"),
            ["a", "\"B\".c"]
        );
        assert_eq!(sequences("length('a') + nextval(x)"), [""; 0]);
    }

    #[test]
    fn strings_are_found() {
        let script = parse("SELECT 'a', 'ä', f('b', 'a'), E'c\\'d'").expect("parses");
        let node = script.statements()[0].stmt.as_ref().and_then(|node| node.node.as_ref());
        let found = |value| string_location(node.expect("a statement"), value);
        assert_eq!([found("a"), found("b"), found("c'd")], [Some(7), Some(20), Some(31)]);
        assert_eq!(found("c"), None);
    }

    #[test]
    fn relations_are_found() {
        let script =
            parse("WITH x AS (SELECT 1 FROM a) SELECT * FROM x, s.b WHERE EXISTS (TABLE c)");
        let script = script.expect("parses");
        let node = script.statements()[0].stmt.as_ref().and_then(|node| node.node.as_ref());
        let names = relations(node.expect("a statement"));
        let names: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names.len(), 3);
        assert!(["a", "b", "c"].iter().all(|name| names.contains(name)));
    }
}
