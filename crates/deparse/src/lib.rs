//! Texts of PostgreSQL's catalogs in SQL: definitions of objects, and typed expressions over a table's row (`pg_get_expr`).
//!
//! The texts are for people and catalogs. In the text of an expression an operator stands in parentheses, a constant has its
//! type, and conversions that the statement did not ask for are written where PostgreSQL writes them: in operands and
//! arguments. Names and ids of types are in [`type_catalog`].

pub mod definitions;
pub mod index_parts;
pub mod triggers;
pub mod type_catalog;

pub use definitions::quote_ident;

use analyzer::system::{Oid, SqlType, functions, operators};
use analyzer::tree::{Call, Cast, Chain, Conversion, Expr, Kind, Literal, Quantified, TruthTest};
use parser::RESERVED;

/// Words that are names of types or functions in the grammar, and are quoted as names.
const QUOTED: [&str; 22] = [
    "between",
    "boolean",
    "char",
    "character",
    "coalesce",
    "dec",
    "decimal",
    "exists",
    "extract",
    "float",
    "greatest",
    "int",
    "integer",
    "interval",
    "left",
    "numeric",
    "overlay",
    "position",
    "right",
    "substring",
    "time",
    "trim",
];

/// The text of an expression. `columns` are the names of the table's columns. `None` for an expression that is not known
/// here.
pub fn text(expr: &Expr, columns: &[&str]) -> Option<String> {
    grammar::growing(|| Writer { columns }.written(expr, false, ""))
}

/// A name, quoted if necessary.
fn quoted(name: &str) -> String {
    let is_plain = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !RESERVED.contains(&name)
        && !QUOTED.contains(&name);
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

struct Writer<'a> {
    columns: &'a [&'a str],
}

impl Writer<'_> {
    /// An expression. `shows` is whether conversions are written that nobody asked for; `running` is the value of the chain's
    /// step before.
    fn written(&self, expr: &Expr, shows: bool, running: &str) -> Option<String> {
        let operand = |expr: &Expr| grammar::growing(|| self.written(expr, true, running));
        let condition = |expr: &Expr| grammar::growing(|| self.written(expr, false, running));
        let list = |all: &[Expr]| -> Option<String> {
            Some(all.iter().map(operand).collect::<Option<Vec<_>>>()?.join(", "))
        };
        Some(match &expr.kind {
            Kind::Literal(value) => literal(value, expr.sql_type),
            Kind::Column(_, at) => quoted(self.columns.get(*at)?),
            Kind::Running => running.to_owned(),
            Kind::Call(call) => self.call(call, running)?,
            Kind::Chain(chain) => self.chain(chain, running)?,
            Kind::Cast(cast) => self.cast(cast, expr.sql_type, shows, running)?,
            Kind::And(all) | Kind::Or(all) => {
                let word = if matches!(expr.kind, Kind::And(_)) { " AND " } else { " OR " };
                format!("({})", all.iter().map(condition).collect::<Option<Vec<_>>>()?.join(word))
            }
            Kind::Not(of) => format!("(NOT {})", condition(of)?),
            Kind::IsNull(of) => format!("({} IS NULL)", operand(of)?),
            Kind::IsNotNull(of) => format!("({} IS NOT NULL)", operand(of)?),
            Kind::IsTruth(of, test) => format!("({} IS {})", condition(of)?, truth(*test)),
            Kind::IsDistinct(call) => {
                let [left, right] = &call.arguments[..] else { return None };
                format!("({} IS DISTINCT FROM {})", operand(left)?, operand(right)?)
            }
            Kind::NullIf(call) => format!("NULLIF({})", list(&call.arguments)?),
            Kind::Case { branches, otherwise } => {
                let mut text = "\nCASE".to_owned();
                for (when, then) in branches {
                    let (when, then) = (condition(when)?, operand(then)?);
                    text.push_str(&format!("\n    WHEN {when} THEN {then}"));
                }
                format!("{text}\n    ELSE {}\nEND", operand(otherwise)?)
            }
            Kind::Coalesce(all) => format!("COALESCE({})", list(all)?),
            Kind::Greatest(all) => format!("GREATEST({})", list(all)?),
            Kind::Least(all) => format!("LEAST({})", list(all)?),
            Kind::Array(all) => format!("ARRAY[{}]", list(all)?),
            Kind::Row(all) => format!("ROW({})", list(all)?),
            Kind::Quantified(quantified) => self.quantified(quantified, running)?,
            Kind::Subscript { array, subscripts, is_slice: false } => {
                let mut text = match &array.kind {
                    Kind::Column(..) => operand(array)?,
                    _ => format!("({})", operand(array)?),
                };
                for (_, at) in subscripts {
                    text.push_str(&format!("[{}]", condition(at.as_ref()?)?));
                }
                text
            }
            _ => return None,
        })
    }

    fn call(&self, call: &Call, running: &str) -> Option<String> {
        let operand = |expr: &Expr| grammar::growing(|| self.written(expr, true, running));
        let arguments = call.arguments.iter().map(operand).collect::<Option<Vec<_>>>()?;
        if let Some(operator) = call.operator {
            let name = operators::of(operator)?.name;
            return Some(match &arguments[..] {
                [left, right] => format!("({left} {name} {right})"),
                [only] => format!("({name} {only})"),
                _ => return None,
            });
        }
        let name = functions::of(call.function)?.name;
        if let ("extract", [field, from]) = (name, &arguments[..]) {
            let field = field.trim_end_matches("::text").trim_matches('\'');
            return Some(format!("EXTRACT({field} FROM {from})"));
        }
        Some(format!("{}({})", quoted(name), arguments.join(", ")))
    }

    fn chain(&self, chain: &Chain, running: &str) -> Option<String> {
        let mut text = self.written(&chain.first, true, running)?;
        for step in &chain.steps {
            text = self.written(step, true, &text)?;
        }
        Some(text)
    }

    fn cast(&self, cast: &Cast, to: SqlType, shows: bool, running: &str) -> Option<String> {
        if !cast.is_explicit && !shows {
            return grammar::growing(|| self.written(&cast.value, false, running));
        }
        // A conversion to a length follows one to the type.
        let value = match &cast.value.kind {
            Kind::Cast(inner) if cast.conversion == Conversion::Length => &inner.value,
            _ => &cast.value,
        };
        let value = grammar::growing(|| self.written(value, false, running))?;
        Some(format!("({value})::{to}"))
    }

    fn quantified(&self, quantified: &Quantified, running: &str) -> Option<String> {
        let operand = |expr: &Expr| grammar::growing(|| self.written(expr, true, running));
        let name = operators::of(quantified.operator)?.name;
        let word = if quantified.is_all { "ALL" } else { "ANY" };
        let (value, array) = (operand(&quantified.value)?, operand(&quantified.array)?);
        Some(format!("({value} {name} {word} ({array}))"))
    }
}

fn truth(test: TruthTest) -> &'static str {
    match test {
        TruthTest::True => "TRUE",
        TruthTest::NotTrue => "NOT TRUE",
        TruthTest::False => "FALSE",
        TruthTest::NotFalse => "NOT FALSE",
        TruthTest::Unknown => "UNKNOWN",
        TruthTest::NotUnknown => "NOT UNKNOWN",
    }
}

/// A constant with its type, unless the grammar gives it that type.
fn literal(value: &Literal, sql_type: SqlType) -> String {
    let number = match value {
        Literal::Null => return format!("NULL::{}", name_of(sql_type)),
        Literal::Boolean(value) => return value.to_string(),
        Literal::Integer(value) => value.to_string(),
        Literal::Text(text) => text.clone(),
    };
    let is_natural = number.chars().all(|c| c.is_ascii_digit() || c == '.') && !number.is_empty();
    match sql_type.oid {
        Oid::INT4 if is_natural => number,
        Oid::NUMERIC if is_natural && number.contains('.') => number,
        Oid::BOOL => match &*number.to_ascii_lowercase() {
            "t" | "true" | "on" | "yes" | "y" | "1" => "true".to_owned(),
            _ => "false".to_owned(),
        },
        _ => format!("{}::{}", string(&number), name_of(sql_type)),
    }
}

fn name_of(sql_type: SqlType) -> String {
    match sql_type {
        SqlType { oid: Oid::BPCHAR, modifier } if modifier < 4 => "bpchar".to_owned(),
        sql_type => sql_type.to_string(),
    }
}

fn string(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    match text.contains('\\') {
        true => format!("E'{}'", quoted.replace('\\', "\\\\")),
        false => format!("'{quoted}'"),
    }
}
