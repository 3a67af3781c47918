//! Sort keys of `jsonb` values as text, for messages.
//!
//! The form of these keys is that of `values::json::order`.

/// Documents within each other that are shown, at most.
const DEPTH_MAX: usize = 100;
/// Zeros that are shown before or behind the digits of a number, at most.
const ZEROS_MAX: u32 = 1 << 18;

/// The document that has a sort key; numbers without zeros at their end. `None` for other bytes.
pub(super) fn text(key: &[u8]) -> Option<String> {
    let (mut rest, mut out) = (key, String::new());
    write(&mut rest, &mut out, DEPTH_MAX)?;
    rest.is_empty().then_some(out)
}

fn write(rest: &mut &[u8], out: &mut String, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match take(rest)? {
        0 => out.push_str("[]"),
        1 => out.push_str("null"),
        2 => quoted(rest, out)?,
        3 => number(rest, out)?,
        4 => out.push_str(if take(rest)? == 0 { "false" } else { "true" }),
        kind @ (5 | 6) => {
            let is_object = kind == 6;
            out.push(if is_object { '{' } else { '[' });
            for at in 0..count(rest)? {
                if at > 0 {
                    out.push_str(", ");
                }
                if is_object {
                    quoted(rest, out)?;
                    out.push_str(": ");
                }
                write(rest, out, depth)?;
            }
            out.push(if is_object { '}' } else { ']' });
        }
        _ => return None,
    }
    Some(())
}

fn take(rest: &mut &[u8]) -> Option<u8> {
    let (first, left) = rest.split_first()?;
    *rest = left;
    Some(*first)
}

fn count(rest: &mut &[u8]) -> Option<u64> {
    let (count, left) = rest.split_first_chunk::<8>()?;
    *rest = left;
    Some(u64::from_be_bytes(*count))
}

/// Bytes that end with a byte, which is left out.
fn until<'a>(rest: &mut &'a [u8], end: u8) -> Option<&'a [u8]> {
    let at = rest.iter().position(|byte| *byte == end)?;
    let (taken, left) = (&rest[..at], &rest[at + 1..]);
    *rest = left;
    Some(taken)
}

fn quoted(rest: &mut &[u8], out: &mut String) -> Option<()> {
    let text = std::str::from_utf8(until(rest, 0)?).ok()?;
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
    Some(())
}

fn number(rest: &mut &[u8], out: &mut String) -> Option<()> {
    let inverted = match take(rest)? {
        0 => u8::MAX,
        1 => {
            out.push('0');
            return Some(());
        }
        _ => 0,
    };
    let (magnitude, left) = rest.split_first_chunk::<4>()?;
    *rest = left;
    let magnitude = i32::from_be_bytes(magnitude.map(|byte| byte ^ inverted)) ^ i32::MIN;
    if magnitude.unsigned_abs() > ZEROS_MAX {
        return None;
    }
    let digits = until(rest, inverted)?.iter().map(|byte| char::from(byte ^ inverted));
    let digits: String = digits.collect();
    if inverted != 0 {
        out.push('-');
    }
    // Digits before the point.
    let whole = usize::try_from(magnitude).unwrap_or(0);
    if whole == 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', magnitude.unsigned_abs() as usize));
        out.push_str(&digits);
    } else if whole >= digits.len() {
        out.push_str(&digits);
        out.extend(std::iter::repeat_n('0', whole - digits.len()));
    } else {
        out.push_str(digits.get(..whole)?);
        out.push('.');
        out.push_str(digits.get(whole..)?);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_shown_as_documents() {
        let one = [3, 2, 0x80, 0, 0, 1, b'1', 0];
        assert_eq!(text(&one).as_deref(), Some("1"));
        let negative = [3, 0, 0x7f, 0xff, 0xff, 0xff, !b'2', !b'5', 0xff];
        assert_eq!(text(&negative).as_deref(), Some("-0.25"));
        let mut object = vec![6, 0, 0, 0, 0, 0, 0, 0, 1, b'a', 0, 5, 0, 0, 0, 0, 0, 0, 0, 2];
        object.extend([2, b'"', 0, 4, 1]);
        assert_eq!(text(&object).as_deref(), Some(r#"{"a": ["\"", true]}"#));
        (0..object.len()).for_each(|length| assert_eq!(text(&object[..length]), None));
    }
}
