//! The texts of numbers.

/// A number without a sign if it is zero: PostgreSQL reads `-0.0` as a `numeric`, which has no negative zero, also where a
/// floating-point number is needed.
pub fn without_negative_zero(text: &str) -> &str {
    let Some(digits) = text.strip_prefix('-') else { return text };
    let mut mantissa = digits.bytes().take_while(|byte| !byte.eq_ignore_ascii_case(&b'e'));
    match mantissa.any(|byte| matches!(byte, b'1'..=b'9')) {
        true => text,
        false => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::without_negative_zero;

    #[test]
    fn only_zeros_lose_their_sign() {
        for (text, without) in
            [("-0.0", "0.0"), ("-0e5", "0e5"), ("-.0", ".0"), ("-0.01", "-0.01"), ("-1e0", "-1e0")]
        {
            assert_eq!(without_negative_zero(text), without);
        }
        assert_eq!(without_negative_zero("0.0"), "0.0");
    }
}
