//! Array literals written as text: `'{r,v}'::"char"[]` and `polroles = '{0}'`.
//!
//! psql compares with `'{0}'`, asyncpg and pgjdbc cast text to arrays. DataFusion would treat the
//! text as one element.

use super::build::{
    arguments_mut, call, called, cast, column, literal_text, take, text, type_name,
};
use catalog_views::shape;
use datafusion::sql::sqlparser::ast::{
    Array, ArrayElemTypeDef, BinaryOperator, DataType, Expr, Value,
};
use functions::casts::array_operand::ARRAY_OPERAND;
use values::cells::Form;
use values::json::check::check;
use values::types::CHOICE_FUNCTIONS;

pub(super) fn rewrite(expr: &mut Expr) {
    match expr {
        Expr::Cast { expr: inner, data_type, .. } => {
            let element = element_type(data_type);
            let elements = literal_text(inner).and_then(elements);
            if let Some((element, elements)) = element.zip(elements) {
                **inner = array(elements, &element);
            }
        }
        Expr::BinaryOp { left, op: BinaryOperator::Eq | BinaryOperator::NotEq, right } => {
            let element = column(left).as_deref().and_then(element_of_column);
            let elements = literal_text(right).and_then(elements);
            if let Some((element, elements)) = element.zip(elements) {
                let data_type = DataType::Array(ArrayElemTypeDef::SquareBracket(
                    Box::new(element.clone()),
                    None,
                ));
                **right = cast(array(elements, &element), data_type);
            }
        }
        Expr::Function(_)
            if called(expr).is_some_and(|name| CHOICE_FUNCTIONS.contains(&name.as_str())) =>
        {
            array_operands(arguments_mut(expr));
        }
        Expr::Case { conditions, else_result, .. } => {
            let results = conditions.iter_mut().map(|when| &mut when.result);
            array_operands(results.chain(else_result.as_deref_mut()).collect());
        }
        Expr::InList { expr, list, .. } => {
            array_operands(std::iter::once(&mut **expr).chain(list).collect());
        }
        _ => {}
    }
}

/// Marks text constants that may be array literals among values of one type. They become arrays if
/// the first value that is not a constant is an array: `coalesce(names, '{}')`.
fn array_operands(values: Vec<&mut Expr>) {
    let known = values.iter().find(|value| !matches!(value, Expr::Value(_))).map(|e| (**e).clone());
    let Some(known) = known else { return };
    for value in values {
        let is_document = |text: &str| text != "{}" && check(text).is_ok();
        if literal_text(value).filter(|text| !is_document(text)).and_then(elements).is_some() {
            *value = call(ARRAY_OPERAND, vec![take(value), known.clone()]);
        }
    }
}

fn element_type(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) => Some((**element).clone()),
        other => match type_name(other).as_str() {
            "int2vector" => Some(DataType::SmallInt(None)),
            "oidvector" => Some(DataType::BigInt(None)),
            _ => None,
        },
    }
}

/// The element type of an array column of a system table.
fn element_of_column(name: &str) -> Option<DataType> {
    let form = shape::all().find_map(|shape| {
        let form = shape.columns[shape.position(name)?].form;
        matches!(form, Form::Smalls | Form::Numbers | Form::Texts).then_some(form)
    })?;
    Some(match form {
        Form::Smalls => DataType::SmallInt(None),
        Form::Numbers => DataType::BigInt(None),
        _ => DataType::Text,
    })
}

fn array(elements: Vec<Option<String>>, data_type: &DataType) -> Expr {
    let element = |element: Option<String>| {
        let value = element.map_or_else(|| Expr::value(Value::Null), text);
        cast(value, data_type.clone())
    };
    Expr::Array(Array { elem: elements.into_iter().map(element).collect(), named: true })
}

/// The elements of a one-dimensional array literal, as text; `None` if the text is not one.
fn elements(text: &str) -> Option<Vec<Option<String>>> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut elements = Vec::new();
    let mut current = String::new();
    let (mut quoted, mut was_quoted) = (false, false);
    let mut characters = inner.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => current.push(characters.next()?),
            '"' => {
                quoted = !quoted;
                was_quoted = true;
            }
            '{' | '}' if !quoted => return None,
            ',' if !quoted => elements.push(finish(&mut current, &mut was_quoted)),
            other => current.push(other),
        }
    }
    if !elements.is_empty() || !inner.trim().is_empty() {
        elements.push(finish(&mut current, &mut was_quoted));
    }
    Some(elements)
}

fn finish(current: &mut String, was_quoted: &mut bool) -> Option<String> {
    let element = std::mem::take(current);
    if std::mem::take(was_quoted) {
        return Some(element);
    }
    Some(element.trim().to_owned()).filter(|e| !e.eq_ignore_ascii_case("null"))
}

#[cfg(test)]
mod tests {
    use super::elements;

    #[test]
    fn elements_are_split_as_in_postgresql() {
        let some = |texts: &[&str]| Some(texts.iter().map(|t| Some((*t).to_owned())).collect());
        assert_eq!(elements("{}"), Some(vec![]));
        assert_eq!(elements("{r,v}"), some(&["r", "v"]));
        assert_eq!(elements("{\"a,b\", c}"), some(&["a,b", "c"]));
        assert_eq!(elements("{NULL}"), Some(vec![None]));
        assert_eq!(elements("{\"NULL\"}"), some(&["NULL"]));
        assert_eq!(elements("plain"), None);
    }
}
