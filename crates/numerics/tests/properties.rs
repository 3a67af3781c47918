//! Properties of numbers: what is written is read, encodings have the order of numbers, damaged bytes do no harm.

use std::cmp::Ordering;

use numerics::{Numeric, Totals};
use proptest::prelude::*;

/// Texts of finite numbers, often equal by value with other scales, also beyond 128 bits.
fn texts() -> impl Strategy<Value = String> {
    let short = ("-?", "[0-9]{1,4}", "[0-9]{0,5}");
    let long = ("-?", "[1-9][0-9]{0,90}", "[0-9]{0,70}");
    let small = ("-?", "0", "0{0,80}[0-9]{0,30}");
    let exponent = ("-?[0-9]{1,40}", -400i32..400);
    prop_oneof![
        4 => short.prop_map(written),
        2 => long.prop_map(written),
        2 => small.prop_map(written),
        1 => exponent.prop_map(|(digits, exponent)| format!("{digits}e{exponent}")),
    ]
}

fn written((sign, whole, fraction): (String, String, String)) -> String {
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

fn numbers() -> impl Strategy<Value = Numeric> {
    prop_oneof![
        40 => texts().prop_map(|text| Numeric::parse(&text).expect("a number")),
        1 => Just(Numeric::NAN),
        1 => Just(Numeric::INFINITY),
        1 => Just(Numeric::NEGATIVE_INFINITY),
    ]
}

fn encoded(number: &Numeric) -> Vec<u8> {
    let mut bytes = Vec::new();
    number.encode(&mut bytes);
    bytes
}

fn wired(number: &Numeric) -> Vec<u8> {
    let mut bytes = Vec::new();
    number.to_wire(&mut bytes);
    bytes
}

fn totals(numbers: &[Numeric]) -> Totals {
    let mut totals = Totals::new(true);
    numbers.iter().for_each(|number| totals.add(number));
    totals
}

/// All results of a state, as text.
fn results(totals: &Totals) -> Vec<String> {
    let results = [
        totals.sum(),
        totals.avg(),
        totals.variance(true),
        totals.variance(false),
        totals.stddev(true),
        totals.stddev(false),
    ];
    results.iter().map(|result| format!("{:?}", result.as_ref().map(shown))).collect()
}

fn shown(number: &Option<Numeric>) -> Option<String> {
    number.as_ref().map(Numeric::to_string)
}

/// The sign of a difference, which knows nothing of encodings.
fn order_of_difference(left: &Numeric, right: &Numeric) -> Option<Ordering> {
    let difference = left.sub(right).ok()?;
    if !left.is_finite() || !right.is_finite() {
        return None;
    }
    Some(match (difference.is_zero(), difference.is_negative()) {
        (true, _) => Ordering::Equal,
        (_, true) => Ordering::Less,
        (_, false) => Ordering::Greater,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn text_is_read_as_it_is_written(number in numbers()) {
        let text = number.to_string();
        let read = Numeric::parse(&text).expect("a written number");
        prop_assert_eq!(read.to_string(), text);
        prop_assert_eq!(read.scale(), number.scale());
    }

    #[test]
    fn encodings_keep_the_number_and_its_scale(number in numbers()) {
        let bytes = encoded(&number);
        let decoded = Numeric::decode(&bytes).expect("an encoding");
        prop_assert_eq!(decoded.to_string(), number.to_string());
        prop_assert_eq!(Numeric::key_length(&bytes), Some(bytes.len() - 2));
    }

    #[test]
    fn keys_have_the_order_of_numbers(left in numbers(), right in numbers()) {
        let (first, second) = (encoded(&left), encoded(&right));
        let (first, second) = (Numeric::key_of(&first), Numeric::key_of(&second));
        prop_assert_eq!(first.cmp(second), left.cmp(&right));
        if let Some(order) = order_of_difference(&left, &right) {
            prop_assert_eq!(left.cmp(&right), order);
        }
        prop_assert!(first == second || !second.starts_with(first));
    }

    #[test]
    fn keys_of_equal_numbers_are_equal(number in numbers(), zeros in 0i32..60) {
        let wider = number.round(number.scale().unwrap_or(0) + zeros).expect("a few zeros");
        let (first, second) = (encoded(&number), encoded(&wider));
        prop_assert_eq!(Numeric::key_of(&first), Numeric::key_of(&second));
        prop_assert_eq!(number.trim_scale().to_string(), wider.trim_scale().to_string());
    }

    #[test]
    fn damaged_encodings_are_refused_or_other_numbers(
        number in numbers(), at in any::<prop::sample::Index>(), value in any::<u8>(), cut in 0usize..3,
    ) {
        let mut bytes = encoded(&number);
        let at = at.index(bytes.len());
        bytes[at] = value;
        bytes.truncate(bytes.len() - cut);
        if let Ok(other) = Numeric::decode(&bytes) {
            prop_assert_eq!(encoded(&other), bytes);
        }
    }

    #[test]
    fn bytes_are_refused_or_encodings(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
        if let Ok(number) = Numeric::decode(&bytes) {
            prop_assert_eq!(encoded(&number), bytes.clone());
        }
        let _ = Numeric::key_length(&bytes);
        let _ = Numeric::key_of(&bytes);
        let _ = Numeric::from_wire(&bytes);
        let _ = Totals::decode(&bytes);
    }

    #[test]
    fn wire_format_keeps_the_number_and_its_scale(number in numbers()) {
        let read = Numeric::from_wire(&wired(&number)).expect("the wire format");
        prop_assert_eq!(read.to_string(), number.to_string());
    }

    #[test]
    fn states_merge_and_travel(left in prop::collection::vec(numbers(), 0..6), right in prop::collection::vec(numbers(), 0..6)) {
        let whole = totals(&[left.clone(), right.clone()].concat());
        let mut merged = totals(&left);
        merged.merge(&totals(&right));
        prop_assert_eq!(results(&merged), results(&whole));
        let mut bytes = Vec::new();
        merged.encode(&mut bytes);
        let decoded = Totals::decode(&bytes).expect("a state");
        prop_assert_eq!(results(&decoded), results(&whole));
        let mut again = Vec::new();
        decoded.encode(&mut again);
        prop_assert_eq!(again, bytes);
    }

    #[test]
    fn removed_numbers_leave_no_trace(kept in prop::collection::vec(numbers(), 0..6), gone in prop::collection::vec(numbers(), 0..6)) {
        let mut windowed = totals(&[gone.clone(), kept.clone()].concat());
        gone.iter().for_each(|number| windowed.remove(number));
        prop_assert_eq!(results(&windowed), results(&totals(&kept)));
    }

    #[test]
    fn damaged_states_do_no_harm(numbers in prop::collection::vec(numbers(), 0..4), at in any::<prop::sample::Index>(), value in any::<u8>()) {
        let mut bytes = Vec::new();
        totals(&numbers).encode(&mut bytes);
        let at = at.index(bytes.len());
        bytes[at] = value;
        if let Ok(mut totals) = Totals::decode(&bytes) {
            numbers.iter().for_each(|number| totals.remove(number));
            let _ = results(&totals);
        }
    }

    #[test]
    fn quotients_and_remainders_make_up_the_number(left in numbers(), right in numbers()) {
        prop_assume!(left.is_finite() && right.is_finite() && !right.is_zero());
        let quotient = left.div_trunc(&right).expect("a quotient");
        let rest = left.rem(&right).expect("a remainder");
        let product = quotient.mul(&right).and_then(|product| product.add(&rest)).expect("a sum");
        prop_assert_eq!(&product, &left);
        prop_assert!(rest.abs() < right.abs());
    }
}
