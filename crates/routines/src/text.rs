//! Functions as SQL text.

use crate::types::id_of;
use analyzer::system::Oid;
use std::fmt::Write;
use store::catalog::{
    AggregateKind, Function, Parallel, Parameter, ParameterMode, TypeId, Volatility,
};

/// The name with the types of the input parameters.
pub fn signature(function: &Function) -> String {
    signature_of(&function.name, function.inputs().map(|input| Oid(input.type_id)))
}

pub(crate) fn signature_of(name: &str, types: impl Iterator<Item = Oid>) -> String {
    let types: Vec<String> = types.map(|oid| oid.to_string()).collect();
    format!("{name}({})", types.join(", "))
}

/// Gives the name of a type by its id in the catalog.
pub type Names<'a> = &'a dyn Fn(u32) -> String;

/// The parameters, with names, modes and defaults; those of RETURNS TABLE are left out.
pub fn arguments(function: &Function, names: Names<'_>) -> String {
    list(function, names, true)
}

/// The parameters by which statements name the function.
pub fn identity_arguments(function: &Function, names: Names<'_>) -> String {
    list(function, names, false)
}

fn list(function: &Function, names: Names<'_>, has_defaults: bool) -> String {
    let mode = |parameter: &Parameter| match parameter.mode {
        ParameterMode::In if function.is_procedure => "IN ",
        ParameterMode::In | ParameterMode::Table => "",
        ParameterMode::Out => "OUT ",
        ParameterMode::InOut => "INOUT ",
        ParameterMode::Variadic => "VARIADIC ",
    };
    let text = |parameter: &Parameter| {
        let mut text = format!("{}{}", mode(parameter), named(parameter, names));
        if let (Some(default), true) = (&parameter.default, has_defaults) {
            let _ = write!(text, " DEFAULT {default}");
        }
        text
    };
    let shown = function.parameters.iter();
    let shown = shown.filter(|parameter| parameter.mode != ParameterMode::Table);
    let mut shown: Vec<String> = shown.map(text).collect();
    let details = &function.extension.details;
    if details.kind == AggregateKind::Normal {
        return shown.join(", ");
    }
    let of_rows = shown.split_off(shown.len().min(details.direct_arguments as usize)).join(", ");
    format!("{} ORDER BY {of_rows}", shown.join(", ")).trim_start().to_owned()
}

fn named(parameter: &Parameter, names: Names<'_>) -> String {
    let of = names(id_of(parameter.type_id));
    match parameter.name.as_str() {
        "" => of,
        name => format!("{} {of}", quoted(name)),
    }
}

/// A name as it is written in SQL.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let is_part = |letter: char| is_plain(letter) || letter.is_ascii_digit();
    match name.starts_with(is_plain) && name.chars().all(is_part) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// The type of the result. `None` for procedures.
pub fn result(function: &Function, names: Names<'_>) -> Option<String> {
    if function.is_procedure {
        return None;
    }
    let columns: Vec<String> = function
        .parameters
        .iter()
        .filter(|parameter| parameter.mode == ParameterMode::Table)
        .map(|parameter| named(parameter, names))
        .collect();
    if !columns.is_empty() {
        return Some(format!("TABLE({})", columns.join(", ")));
    }
    let of = match function.result_relation {
        Some(relation) => names(TypeId::of_rows(relation).shown()),
        None => names(id_of(function.result_id)),
    };
    Some(if function.returns_set { format!("SETOF {of}") } else { of })
}

/// The CREATE statement.
pub fn definition(function: &Function, names: Names<'_>) -> String {
    let mut text = format!(
        "CREATE OR REPLACE {} {}.{}({})\n",
        function.kind().to_uppercase(),
        quoted(&function.schema),
        quoted(&function.name),
        arguments(function, names),
    );
    if let Some(result) = result(function, names) {
        let _ = writeln!(text, " RETURNS {result}");
    }
    let _ = writeln!(text, " LANGUAGE {}", quoted(&function.language));
    let options = options(function);
    if !options.is_empty() {
        let _ = writeln!(text, "{options}");
    }
    for (name, value) in &function.settings {
        let literal = |value: &str| format!("'{}'", value.replace('\'', "''"));
        let values = setting_values(name, value);
        let shown: Vec<String> = values.iter().map(|value| literal(value)).collect();
        let shown = shown.join(", ");
        let _ = writeln!(text, " SET {} TO {shown}", quoted(name));
    }
    if function.is_sql_body {
        let _ = writeln!(text, "{}", sql_body(function));
        return text;
    }
    let mut quote = function.kind().to_owned();
    while function.body.contains(&format!("${quote}$")) {
        quote.push('x');
    }
    let _ = write!(text, "AS ${quote}${}${quote}$", function.body);
    if let Some(symbol) = &function.extension.symbol {
        let _ = write!(text, ", '{}'", symbol.replace('\'', "''"));
    }
    text.push('\n');
    text
}

/// The names in a list, such as the value of `search_path`. Names in double quotes are as they are.
fn names_in(list: &str) -> Vec<String> {
    let (mut names, mut name) = (Vec::new(), String::new());
    let (mut is_quoted, mut letters) = (false, list.chars().peekable());
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                name.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => names.push(std::mem::take(&mut name)),
            ' ' if !is_quoted => {}
            letter => name.push(letter),
        }
    }
    names.push(name);
    names
}

/// The values of a setting, as SET takes them.
pub fn setting_values(name: &str, value: &str) -> Vec<String> {
    match name {
        "search_path" => names_in(value),
        _ => vec![value.to_owned()],
    }
}

/// RETURN or BEGIN ATOMIC.
pub fn sql_body(function: &Function) -> String {
    match function.body.strip_prefix("SELECT ").filter(|_| !function.body.ends_with(';')) {
        Some(value) => format!("RETURN {value}"),
        None => format!("BEGIN ATOMIC\n {}\nEND", function.body),
    }
}

fn options(function: &Function) -> String {
    let mut text = String::new();
    text.push_str(match function.volatility {
        Volatility::Immutable => " IMMUTABLE",
        Volatility::Stable => " STABLE",
        Volatility::Volatile => "",
    });
    text.push_str(match function.parallel {
        Parallel::Safe => " PARALLEL SAFE",
        Parallel::Restricted => " PARALLEL RESTRICTED",
        Parallel::Unsafe => "",
    });
    if function.is_strict {
        text.push_str(" STRICT");
    }
    if function.is_security_definer {
        text.push_str(" SECURITY DEFINER");
    }
    if function.is_leakproof {
        text.push_str(" LEAKPROOF");
    }
    let differs = |given: &Option<String>, usual: f64| {
        let number = given.as_ref().and_then(|text| text.parse::<f64>().ok());
        number.filter(|number| (number - usual).abs() > f64::EPSILON)
    };
    if let Some(cost) = differs(&function.cost, 100.0) {
        let _ = write!(text, " COST {cost}");
    }
    if let Some(rows) = differs(&function.rows, 1000.0) {
        let _ = write!(text, " ROWS {rows}");
    }
    text
}
