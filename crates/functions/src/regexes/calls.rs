//! The functions that statements call.

use columnar::{Types, checked};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int32Array, ListBuilder, StringViewArray,
    StringViewBuilder,
};
use datafusion::arrow::datatypes::{DataType, Field, Int32Type};
use datafusion::logical_expr::ScalarUDF;
use regexes::{Flags, Pattern, Replacement, to_regular};
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

const TEXT: DataType = DataType::Utf8View;
const INTEGER: DataType = DataType::Int32;

pub(super) fn all() -> Vec<ScalarUDF> {
    let texts: Types = |types| Ok((as_texts("regexp_match", types, 2..=3)?, lists(TEXT)));
    vec![
        checked(
            "regexp_like",
            |types| Ok((as_texts("regexp_like", types, 2..=3)?, DataType::Boolean)),
            like,
        ),
        checked("regexp_match", texts, first_match),
        checked(
            "regexp_matches_lists",
            |types| Ok((as_texts("regexp_matches", types, 2..=3)?, lists(lists(TEXT)))),
            all_matches,
        ),
        checked(
            "regexp_split_to_array",
            |types| Ok((as_texts("regexp_split_to_array", types, 2..=3)?, lists(TEXT))),
            split,
        ),
        checked("regexp_replace", replace_types, replace),
        checked(
            "regexp_count",
            |types| Ok((as_given("regexp_count", types, &[TEXT, TEXT, INTEGER, TEXT])?, INTEGER)),
            count,
        ),
        checked(
            "regexp_instr",
            |types| {
                let all = [TEXT, TEXT, INTEGER, INTEGER, INTEGER, TEXT, INTEGER];
                Ok((as_given("regexp_instr", types, &all)?, INTEGER))
            },
            position,
        ),
        checked(
            "regexp_substr",
            |types| {
                let all = [TEXT, TEXT, INTEGER, INTEGER, TEXT, INTEGER];
                Ok((as_given("regexp_substr", types, &all)?, TEXT))
            },
            substring,
        ),
        checked(
            "similar_to_escape",
            |types| Ok((as_texts("similar_to_escape", types, 1..=2)?, TEXT)),
            similar_to_escape,
        ),
    ]
}

fn lists(of: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(of, true)))
}

fn no_function(name: &str, count: usize) -> Error {
    let message = format!("function {name} does not take {count} arguments");
    Error::new(SqlState::UndefinedFunction, message)
}

fn as_texts(
    name: &str,
    types: &[DataType],
    counts: std::ops::RangeInclusive<usize>,
) -> Result<Vec<DataType>> {
    if counts.contains(&types.len()) {
        return Ok(vec![TEXT; types.len()]);
    }
    Err(no_function(name, types.len()))
}

/// The first of all argument types; the first two are always given.
fn as_given(name: &str, types: &[DataType], all: &[DataType]) -> Result<Vec<DataType>> {
    if (2..=all.len()).contains(&types.len()) {
        return Ok(all[..types.len()].to_vec());
    }
    Err(no_function(name, types.len()))
}

/// After the replacement come flags, or the place to begin, which match to replace, and flags.
fn replace_types(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let rest = match types {
        [_, _, _] => vec![],
        [_, _, _, start] if start.is_integer() => vec![INTEGER],
        [_, _, _, _] => vec![TEXT],
        [_, _, _, _, _] => vec![INTEGER, INTEGER],
        [_, _, _, _, _, _] => vec![INTEGER, INTEGER, TEXT],
        _ => return Err(no_function("regexp_replace", types.len())),
    };
    Ok(([vec![TEXT; 3], rest].concat(), TEXT))
}

/// The arguments of one row, none of which is NULL.
struct Row<'a> {
    args: &'a [ArrayRef],
    row: usize,
}

impl<'a> Row<'a> {
    fn text(&self, index: usize) -> &'a str {
        self.args[index].as_string_view().value(self.row)
    }

    /// An integer of at least a value, if it is given.
    fn number(&self, index: usize, name: &str, least: i32) -> Result<Option<usize>> {
        if index >= self.args.len() {
            return Ok(None);
        }
        let number = self.args[index].as_primitive::<Int32Type>().value(self.row);
        match usize::try_from(number) {
            Ok(valid) if number >= least => Ok(Some(valid)),
            _ => {
                let message = format!("invalid value for parameter \"{name}\": {number}");
                Err(Error::new(SqlState::InvalidParameterValue, message))
            }
        }
    }

    /// The options at an argument, if it is given.
    fn flags(&self, index: usize) -> Result<Flags> {
        if index < self.args.len() { Flags::parse(self.text(index)) } else { Ok(Flags::default()) }
    }

    /// The pattern, with options that must not ask for all matches.
    fn pattern(&self, flags_at: usize, name: &str) -> Result<Arc<Pattern>> {
        let flags = self.flags(flags_at)?;
        if flags.is_global {
            let message = format!("{name}() does not support the \"global\" option");
            return Err(Error::new(SqlState::InvalidParameterValue, message));
        }
        Pattern::of(self.text(1), flags)
    }

    /// The place at which a character begins, counted from 1; `None` beyond the end.
    fn place(&self, character: usize) -> Option<usize> {
        let text = self.text(0);
        let mut places = text.char_indices().map(|(place, _)| place).chain([text.len()]);
        places.nth(character - 1)
    }
}

/// Computes each row in which no argument is NULL.
fn rows<T>(
    args: &[ArrayRef],
    compute: impl Fn(&Row<'_>) -> Result<Option<T>>,
) -> Result<Vec<Option<T>>> {
    (0..args[0].len())
        .map(|row| {
            if args.iter().any(|array| array.is_null(row)) {
                return Ok(None);
            }
            executor::check()?;
            compute(&Row { args, row })
        })
        .collect()
}

fn like(args: &[ArrayRef]) -> Result<ArrayRef> {
    let found = rows(args, |row| row.pattern(2, "regexp_like")?.is_match(row.text(0)).map(Some));
    Ok(Arc::new(found?.into_iter().collect::<BooleanArray>()))
}

/// The groups of a match, or all of it if there are none.
fn captured<'a>(
    pattern: &Pattern,
    text: &'a str,
    spans: &[Option<(usize, usize)>],
) -> Vec<Option<&'a str>> {
    let wanted = if pattern.groups > 0 { 1..pattern.groups + 1 } else { 0..1 };
    wanted.map(|group| spans[group].map(|(start, end)| &text[start..end])).collect()
}

fn first_match(args: &[ArrayRef]) -> Result<ArrayRef> {
    let mut found = ListBuilder::new(StringViewBuilder::new());
    let values = rows(args, |row| {
        let text = row.text(0);
        if row.flags(2)?.is_global {
            let message = "regexp_match() does not support the \"global\" option";
            let hint = "Use the regexp_matches function instead.";
            return Err(Error::new(SqlState::InvalidParameterValue, message).with_hint(hint));
        }
        let pattern = row.pattern(2, "regexp_match")?;
        let spans = pattern.find_at(text, 0)?;
        Ok(spans.map(|spans| {
            let parts = captured(&pattern, text, &spans).into_iter();
            parts.map(|part| part.map(str::to_owned)).collect::<Vec<_>>()
        }))
    });
    values?.into_iter().for_each(|value| found.append_option(value));
    Ok(Arc::new(found.finish()))
}

fn all_matches(args: &[ArrayRef]) -> Result<ArrayRef> {
    let mut found = ListBuilder::new(ListBuilder::new(StringViewBuilder::new()));
    let values = rows(args, |row| {
        let (text, flags) = (row.text(0), row.flags(2)?);
        let pattern = Pattern::of(row.text(1), Flags { is_global: false, ..flags })?;
        let matches = if flags.is_global {
            pattern.find_all(text, 0)?
        } else {
            pattern.find_at(text, 0)?.into_iter().collect()
        };
        let matches = matches.iter().map(|spans| {
            let parts = captured(&pattern, text, spans).into_iter();
            Some(parts.map(|part| part.map(str::to_owned)).collect::<Vec<_>>())
        });
        Ok(Some(matches.collect::<Vec<_>>()))
    });
    values?.into_iter().for_each(|value| found.append_option(value));
    Ok(Arc::new(found.finish()))
}

fn split(args: &[ArrayRef]) -> Result<ArrayRef> {
    let mut found = ListBuilder::new(StringViewBuilder::new());
    let values = rows(args, |row| {
        let text = row.text(0);
        let pattern = row.pattern(2, "regexp_split_to_array")?;
        let (mut parts, mut from) = (Vec::new(), 0);
        let mut before = 0;
        for spans in pattern.find_all(text, 0)? {
            let Some((start, end)) = spans[0] else { continue };
            // Empty matches at both ends of the text, and behind another match, divide nothing.
            if start < text.len() && end > before {
                parts.push(Some(text[from..start].to_owned()));
                from = end;
            }
            before = end;
        }
        parts.push(Some(text[from..].to_owned()));
        Ok(Some(parts))
    });
    values?.into_iter().for_each(|value| found.append_option(value));
    Ok(Arc::new(found.finish()))
}

fn replace(args: &[ArrayRef]) -> Result<ArrayRef> {
    let has_places = args.get(3).is_some_and(|array| *array.data_type() == INTEGER);
    let values = rows(args, |row| {
        let text = row.text(0);
        let flags = if has_places { row.flags(5)? } else { replace_flags(row)? };
        let start = if has_places { row.number(3, "start", 1)? } else { None };
        let number = if has_places { row.number(4, "n", 0)? } else { None };
        let number = number.unwrap_or(usize::from(!flags.is_global));
        let pattern = Pattern::of(row.text(1), Flags { is_global: false, ..flags })?;
        let replacement = Replacement::parse(row.text(2));
        let Some(start) = row.place(start.unwrap_or(1)) else { return Ok(Some(text.to_owned())) };
        let matches = if number == 1 {
            pattern.find_at(text, start)?.into_iter().collect()
        } else {
            pattern.find_all(text, start)?
        };
        let wanted = if number == 0 { 0..matches.len() } else { number - 1..number };
        let (mut out, mut from) = (String::new(), 0);
        for spans in matches.get(wanted).unwrap_or_default() {
            let Some((start, end)) = spans[0] else { continue };
            out.push_str(&text[from..start]);
            replacement.write(text, spans, &mut out);
            from = end;
        }
        out.push_str(&text[from..]);
        Ok(Some(out))
    });
    Ok(Arc::new(values?.into_iter().collect::<StringViewArray>()))
}

/// A fourth argument that is a number was meant as the place to begin.
fn replace_flags(row: &Row<'_>) -> Result<Flags> {
    let flags = row.flags(3);
    if row.args.len() == 4 && row.text(3).starts_with(|next: char| next.is_ascii_digit()) {
        let hint = "If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.";
        return flags.map_err(|error| error.with_hint(hint));
    }
    flags
}

fn count(args: &[ArrayRef]) -> Result<ArrayRef> {
    let counts = rows(args, |row| {
        let start = row.number(2, "start", 1)?.unwrap_or(1);
        let pattern = row.pattern(3, "regexp_count")?;
        let Some(start) = row.place(start) else { return Ok(Some(0)) };
        Ok(i32::try_from(pattern.find_all(row.text(0), start)?.len()).ok())
    });
    Ok(Arc::new(counts?.into_iter().collect::<Int32Array>()))
}

/// The wanted match of a text, or the wanted group of it.
fn wanted(
    row: &Row<'_>,
    number_at: usize,
    flags_at: usize,
    name: &str,
) -> Result<Option<(usize, usize)>> {
    let start = row.number(2, "start", 1)?.unwrap_or(1);
    let number = row.number(number_at, "n", 1)?.unwrap_or(1);
    let group = row.number(flags_at + 1, "subexpr", 0)?.unwrap_or(0);
    let pattern = row.pattern(flags_at, name)?;
    // Without groups the match is the first.
    let group = if pattern.groups == 0 && group == 1 { 0 } else { group };
    let Some(start) = row.place(start).filter(|_| group <= pattern.groups) else { return Ok(None) };
    let spans = if number == 1 {
        pattern.find_at(row.text(0), start)?
    } else {
        pattern.find_all(row.text(0), start)?.into_iter().nth(number - 1)
    };
    Ok(spans.and_then(|spans| spans[group]))
}

fn position(args: &[ArrayRef]) -> Result<ArrayRef> {
    let places = rows(args, |row| {
        let at_end = row.number(4, "endoption", 0)?.unwrap_or(0);
        if at_end > 1 {
            let message = format!("invalid value for parameter \"endoption\": {at_end}");
            return Err(Error::new(SqlState::InvalidParameterValue, message));
        }
        let found = wanted(row, 3, 5, "regexp_instr")?;
        let place = found.map(|(start, end)| {
            let place = if at_end == 1 { end } else { start };
            row.text(0)[..place].chars().count() + 1
        });
        Ok(i32::try_from(place.unwrap_or(0)).ok())
    });
    Ok(Arc::new(places?.into_iter().collect::<Int32Array>()))
}

fn substring(args: &[ArrayRef]) -> Result<ArrayRef> {
    let parts = rows(args, |row| {
        let found = wanted(row, 3, 4, "regexp_substr")?;
        Ok(found.map(|(start, end)| row.text(0)[start..end].to_owned()))
    });
    Ok(Arc::new(parts?.into_iter().collect::<StringViewArray>()))
}

/// `substring(text FROM pattern)`: the first group of the match, or all of it.
pub(crate) fn matching_part(args: &[ArrayRef]) -> Result<ArrayRef> {
    let parts = rows(args, |row| {
        let text = row.text(0);
        let pattern = Pattern::of(row.text(1), Flags::default())?;
        let Some(spans) = pattern.find_at(text, 0)? else { return Ok(None) };
        let span = spans[usize::from(pattern.groups > 0)];
        Ok(span.map(|(start, end)| text[start..end].to_owned()))
    });
    Ok(Arc::new(parts?.into_iter().collect::<StringViewArray>()))
}

/// `substring(text SIMILAR pattern ESCAPE escape)`: what escaped double quotes enclose.
pub(crate) fn similar_part(args: &[ArrayRef]) -> Result<ArrayRef> {
    let regular = similar_to_escape(&args[1..])?;
    matching_part(&[Arc::clone(&args[0]), regular])
}

fn similar_to_escape(args: &[ArrayRef]) -> Result<ArrayRef> {
    let patterns = rows(args, |row| {
        let escape = (args.len() > 1).then(|| row.text(1));
        to_regular(row.text(0), escape).map(Some)
    });
    Ok(Arc::new(patterns?.into_iter().collect::<StringViewArray>()))
}
