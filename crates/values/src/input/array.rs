//! PostgreSQL's array literals: `{1,2,NULL,"a b"}`.

use crate::error::{Error, Result, SqlState};

fn malformed(text: &str) -> Error {
    let message = format!("malformed array literal: \"{text}\"");
    let detail = match text.trim_start().strip_prefix('{') {
        None => "Array value must start with \"{\" or dimension information.",
        Some(rest) if rest.contains('}') => "Junk after closing right brace.",
        Some(_) => "Unexpected end of input.",
    };
    Error::new(SqlState::InvalidTextRepresentation, message)
        .with_detail(detail)
        .with_hint("Arrays of one dimension look like {1,2,NULL} or {\"a b\",c}.")
        .at_literal(text)
}

/// Strips the bounds: `{1,2}` and 2 for `[1:2]={1,2}`. The lower bound must be 1.
fn without_bounds(text: &str) -> Result<(&str, Option<usize>)> {
    let Some((bounds, items)) = text.trim().strip_prefix('[').and_then(|t| t.split_once("]="))
    else {
        return Ok((text, None));
    };
    let (lower, upper) = match bounds.split_once(':') {
        Some((lower, upper)) => (lower, upper),
        None => ("1", bounds),
    };
    let number = |bound: &str| bound.parse::<i32>().map_err(|_| malformed(text));
    let (lower, upper) = match bounds.contains("][") {
        true => (0, 0),
        false => (number(lower)?, number(upper)?),
    };
    if upper < lower {
        let message = "upper bound cannot be less than lower bound";
        return Err(Error::new(SqlState::ArraySubscriptError, message).at_literal(text));
    }
    match usize::try_from(upper) {
        Ok(count) if lower == 1 => Ok((items, Some(count))),
        _ => Err(Error::unsupported(format!(
            "array literal \"{text}\": only one dimension with the lower bound 1 is supported"
        ))),
    }
}

/// Appends the elements of one literal; `None` is NULL.
///
/// # Errors
/// 22P02: malformed literal, or one with another number of elements than its bounds say. 2202E: bounds in the wrong order.
/// 0A000: several dimensions, or a lower bound other than 1.
pub fn elements(text: &str, out: &mut Vec<Option<String>>) -> Result<()> {
    let (items, count) = without_bounds(text)?;
    let before = out.len();
    elements_of(items, out)?;
    match count {
        Some(count) if count != out.len() - before => {
            let detail = "Specified array dimensions do not match array contents.";
            let message = format!("malformed array literal: \"{text}\"");
            let error = Error::new(SqlState::InvalidTextRepresentation, message);
            Err(error.with_detail(detail).at_literal(text))
        }
        _ => Ok(()),
    }
}

/// Appends the elements of a literal without bounds.
fn elements_of(text: &str, out: &mut Vec<Option<String>>) -> Result<()> {
    let bad = || malformed(text);
    let inner = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let inner = inner.ok_or_else(bad)?;
    if inner.trim_start().starts_with('{') {
        let message = format!("array literal \"{text}\": only one dimension is supported");
        return Err(Error::unsupported(message));
    }
    if inner.trim().is_empty() {
        return Ok(());
    }
    let mut rest = inner.chars().peekable();
    loop {
        while rest.next_if(|c| c.is_whitespace()).is_some() {}
        let mut element = String::new();
        if rest.next_if_eq(&'"').is_some() {
            loop {
                match rest.next().ok_or_else(bad)? {
                    '"' => break,
                    '\\' => element.push(rest.next().ok_or_else(bad)?),
                    c => element.push(c),
                }
            }
            out.push(Some(element));
            while rest.next_if(|c| c.is_whitespace()).is_some() {}
        } else {
            // What is behind a backslash is kept as it is: it makes no NULL, and no white space that is taken off the end.
            let mut kept = 0;
            while let Some(c) = rest.next_if(|c| *c != ',') {
                match c {
                    '{' | '}' | '"' => return Err(bad()),
                    '\\' => {
                        element.push(rest.next().ok_or_else(bad)?);
                        kept = element.len();
                    }
                    c => element.push(c),
                }
            }
            element.truncate(kept.max(element.trim_end().len()));
            if element.is_empty() {
                return Err(bad());
            }
            let is_null = kept == 0 && element.eq_ignore_ascii_case("null");
            out.push((!is_null).then_some(element));
        }
        match rest.next() {
            None => return Ok(()),
            Some(',') => {}
            Some(_) => return Err(bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<Vec<Option<String>>> {
        let mut out = Vec::new();
        elements(text, &mut out).ok().map(|()| out)
    }

    #[test]
    fn literals_give_their_elements() {
        let texts =
            |items: &[&str]| items.iter().map(|i| Some((*i).to_owned())).collect::<Vec<_>>();
        assert_eq!(parsed("{}"), Some(vec![]));
        assert_eq!(parsed("{1,2}"), Some(texts(&["1", "2"])));
        assert_eq!(parsed("{ a , \"b, c\" ,d}"), Some(texts(&["a", "b, c", "d"])));
        assert_eq!(parsed("{\"x\",\"y\"}"), Some(texts(&["x", "y"])));
        assert_eq!(parsed("{NULL,\"NULL\"}"), Some(vec![None, Some("NULL".to_owned())]));
        assert_eq!(parsed("{\"a\\\"b\",c\\\\d}"), Some(texts(&["a\"b", "c\\d"])));
        assert_eq!(
            parsed("{n\\ull,NULL , a\\ }"),
            Some(vec![Some("null".into()), None, Some("a ".into())])
        );
        assert_eq!(parsed("[1:2]={a,b}"), Some(texts(&["a", "b"])));
        for bad in [
            "[1:2]={1}",
            "[1:0]={}",
            "[1:]={1}",
            "",
            "{",
            "1,2",
            "{1",
            "{\"a}",
            "{\"a\"b}",
            "{a,}",
            "{,a}",
            "{{1},{2}}",
        ] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
    }
}
