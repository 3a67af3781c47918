//! Changes of `jsonb` values.

use values::json::change::{Edit, assign, edit, joined};

const ARRAY: &str = "{\"a\": [1, 2]}";

fn changed(text: &str, path: &str, what: Edit) -> String {
    let path: Vec<_> = path.split('.').map(|step| Some(step.to_owned())).collect();
    edit(text, &path, "9", what).unwrap_or_else(|error| error.message().to_owned())
}

#[test]
fn parts_are_set() {
    let set = Edit::Set { create: true };
    assert_eq!(changed(ARRAY, "a.0", set), "{\"a\": [9, 2]}");
    assert_eq!(changed(ARRAY, "a.-1", set), "{\"a\": [1, 9]}");
    assert_eq!(changed(ARRAY, "a.7", set), "{\"a\": [1, 2, 9]}");
    assert_eq!(changed(ARRAY, "a.-7", set), "{\"a\": [9, 1, 2]}");
    assert_eq!(changed(ARRAY, "b", set), "{\"a\": [1, 2], \"b\": 9}");
    assert_eq!(changed(ARRAY, "b", Edit::Set { create: false }), ARRAY);
    assert_eq!(changed(ARRAY, "b.c", set), ARRAY);
    assert_eq!(changed("[1]", "x", set), "path element at position 1 is not an integer: \"x\"");
    assert_eq!(changed("1", "a", set), "cannot set path in scalar");
    assert!(edit("{}", &[None], "1", set).is_err());
}

#[test]
fn parts_are_inserted_and_deleted() {
    let (before, after) = (Edit::Insert { after: false }, Edit::Insert { after: true });
    assert_eq!(changed(ARRAY, "a.0", before), "{\"a\": [9, 1, 2]}");
    assert_eq!(changed(ARRAY, "a.0", after), "{\"a\": [1, 9, 2]}");
    assert_eq!(changed(ARRAY, "a.-9", after), "{\"a\": [9, 1, 2]}");
    assert_eq!(changed(ARRAY, "a", before), "cannot replace existing key");
    assert_eq!(changed(ARRAY, "a.-1", Edit::Delete), "{\"a\": [1]}");
    assert_eq!(changed(ARRAY, "a.9", Edit::Delete), ARRAY);
    assert_eq!(changed("[]", "x", Edit::Delete), "[]");
}

#[test]
fn parts_are_assigned_to() {
    let assigned = |text: &str, path: &[&str], new: &str| {
        let path: Vec<String> = path.iter().map(|step| (*step).to_owned()).collect();
        assign(text, &path, new).unwrap_or_else(|error| error.to_string())
    };
    assert_eq!(assigned("{}", &["a"], "1"), "{\"a\": 1}");
    assert_eq!(assigned("{\"a\": [0]}", &["a", "-1"], "1"), "{\"a\": [1]}");
    assert_eq!(assigned("[0]", &["3"], "1"), "[0, null, null, 1]");
    assert_eq!(assigned("{}", &["a", "2", "b"], "1"), "{\"a\": [null, null, {\"b\": 1}]}");
    assert_eq!(assigned("[]", &["0", "x"], "1"), "[{\"x\": 1}]");
    assert!(assigned("[0]", &["-2"], "1").contains("out of range"));
    assert!(assigned("{\"a\": 1}", &["a", "b"], "1").contains("cannot replace existing key"));
    assert!(assigned("[]", &["2000000000"], "1").contains("exceeds the maximum"));
}

#[test]
fn values_are_joined() {
    for (left, right, both) in [
        ("[1]", "2", "[1, 2]"),
        ("{\"a\": 1}", "{\"a\": 2, \"b\": 3}", "{\"a\": 2, \"b\": 3}"),
        ("{\"a\": 1}", "[1]", "[{\"a\": 1}, 1]"),
        ("[]", "{}", "[{}]"),
        ("1", "2", "[1, 2]"),
    ] {
        assert_eq!(joined(left, right).as_deref(), Ok(both));
    }
}
