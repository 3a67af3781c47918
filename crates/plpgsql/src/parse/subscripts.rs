//! Subscripts of TG_ARGV, which begin with 0, as those of other arrays, which begin with 1.

use crate::tokens::{Kind, tokens};

/// The source of a trigger's function with subscripts of TG_ARGV that begin with 1. A source that cannot be read stays as
/// it is.
pub fn with_usual_subscripts(source: &str) -> String {
    let Ok(all) = tokens(source) else { return source.to_owned() };
    let mut result = String::with_capacity(source.len() + 16);
    let mut copied = 0;
    for pair in all.windows(2) {
        let is_name = matches!(&pair[0].kind, Kind::Word(word) if word == "tg_argv");
        if is_name && pair[1].kind == Kind::Other('[') {
            result.push_str(&source[copied..pair[1].end]);
            result.push_str("1+");
            copied = pair[1].end;
        }
    }
    result.push_str(&source[copied..]);
    result
}

#[cfg(test)]
mod tests {
    use super::with_usual_subscripts;

    #[test]
    fn only_subscripts_of_tg_argv_change() {
        let source = "BEGIN x := TG_ARGV[0] || tg_argv [ i ] || a[1] || 'tg_argv[0]'; END";
        let expected = "BEGIN x := TG_ARGV[1+0] || tg_argv [1+ i ] || a[1] || 'tg_argv[0]'; END";
        assert_eq!(with_usual_subscripts(source), expected);
    }
}
