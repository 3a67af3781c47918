//! Hostile modules.

use crate::making::{error_of, module, one, within_statement};
use datafusion::arrow::array::{ArrayRef, Int64Array};
use foreign::{Definition, Returns};
use std::sync::Arc;
use store::catalog::SqlType::{self, BigInt, SmallInt, Text};
use values::error::SqlState::{self, ExternalRoutineException, OutOfMemory, QueryCanceled};

/// A function of one `bigint` with this body, in a module with a memory of one page.
fn with_body(body: &str) -> Definition {
    let text = format!(
        r#"(module (memory (export "memory") 1) (table $t 1 funcref) (type $n (func (result i64)))
            (global $g (mut i64) (i64.const 0))
            (func $f (export "f") (param i64) (result i64) {body}))"#
    );
    module(&text, &[BigInt], BigInt).expect("a module")
}

/// Checks the error of a body.
fn fails(body: &str, state: SqlState, message: &str) {
    let error = error_of(&with_body(body));
    assert_eq!(error.state(), state, "{body}: {error}");
    assert!(error.message().contains(message), "{body}: {error}");
}

#[test]
fn endless_loops_end_with_the_statement() {
    fails("(loop $l (br $l)) i64.const 1", QueryCanceled, "statement timeout");
    fails("(loop $l (global.set $g (i64.const 1)) (br $l)) unreachable", QueryCanceled, "timeout");
}

#[test]
fn endless_calls_end_with_the_statement() {
    // Each call returns, and the tree of calls has 2^60 leaves.
    let text = r#"(module (func $f (export "f") (param i64) (result i64)
        (if (result i64) (i64.gt_s (local.get 0) (i64.const 60)) (then (i64.const 1)) (else
            (i64.add (call $f (i64.add (local.get 0) (i64.const 1)))
                     (call $f (i64.add (local.get 0) (i64.const 1))))))))"#;
    let error = error_of(&module(text, &[BigInt], BigInt).expect("a module"));
    assert_eq!(error.state(), QueryCanceled, "{error}");
}

#[test]
fn recursion_ends_at_the_stack() {
    fails("(call $f (local.get 0))", ExternalRoutineException, "call stack exhausted");
    let deep = "(i64.add (call $f (local.get 0)) (local.get 0))";
    fails(deep, ExternalRoutineException, "call stack exhausted");
}

#[test]
fn memory_grows_up_to_the_limit() {
    let grow = "(drop (memory.grow (i32.const 60000))) i64.const 1";
    fails(grow, OutOfMemory, "more memory");
    let pages = "(loop $l (drop (memory.grow (i32.const 1))) (br $l)) unreachable";
    fails(pages, OutOfMemory, "more memory");
}

#[test]
fn modules_begin_with_no_more_than_the_limit() {
    let text =
        r#"(module (memory 30000) (func (export "f") (param i64) (result i64) i64.const 1))"#;
    let error = error_of(&module(text, &[BigInt], BigInt).expect("a module"));
    assert_eq!(error.state(), OutOfMemory, "{error}");
}

#[test]
fn tables_grow_up_to_the_limit() {
    let grow =
        "(loop $l (drop (table.grow $t (ref.null func) (i32.const 1000))) (br $l)) unreachable";
    fails(grow, OutOfMemory, "more memory");
    let text = r#"(module (table 100000000 funcref)
        (func (export "f") (param i64) (result i64) i64.const 1))"#;
    let error = error_of(&module(text, &[BigInt], BigInt).expect("a module"));
    assert_eq!(error.state(), OutOfMemory, "{error}");
}

#[test]
fn traps_have_their_names() {
    for (body, message) in [
        ("unreachable", "`unreachable` instruction executed"),
        ("(i64.div_s (local.get 0) (i64.const 0))", "integer divide by zero"),
        ("(i64.div_s (i64.const -9223372036854775808) (i64.const -1))", "integer overflow"),
        ("(i64.load (i32.const 65536))", "out of bounds memory access"),
        ("(i64.load offset=4294967295 (i32.const -1))", "out of bounds memory access"),
        ("(call_indirect $t (type $n) (i32.const 0))", "uninitialized element"),
        ("(call_indirect $t (type $n) (i32.const 7))", "undefined element"),
        ("(i64.trunc_f64_s (f64.const nan))", "invalid conversion to integer"),
        ("(memory.fill (i32.const 0) (i32.const 1) (i32.const -1)) i64.const 1", "out of bounds"),
    ] {
        fails(body, ExternalRoutineException, message);
    }
}

#[test]
fn start_functions_are_within_the_limits_too() {
    let text = r#"(module (func $s (loop $l (br $l))) (start $s)
        (func (export "f") (param i64) (result i64) i64.const 1))"#;
    let error = error_of(&module(text, &[BigInt], BigInt).expect("a module"));
    assert_eq!(error.state(), QueryCanceled, "{error}");
    let text = r#"(module (func $s unreachable) (start $s)
        (func (export "f") (param i64) (result i64) i64.const 1))"#;
    let error = error_of(&module(text, &[BigInt], BigInt).expect("a module"));
    assert_eq!(error.state(), ExternalRoutineException, "{error}");
}

#[test]
fn data_and_elements_out_of_bounds_are_traps() {
    let function = r#"(func (export "f") (param i64) (result i64) i64.const 1)"#;
    let data = format!(r#"(module (memory 1) (data (i32.const 70000) "x") {function})"#);
    let element =
        format!(r#"(module (table 1 funcref) (func $g) (elem (i32.const 5) $g) {function})"#);
    for text in [data, element] {
        let error = error_of(&module(&text, &[BigInt], BigInt).expect("a module"));
        assert_eq!(error.state(), ExternalRoutineException, "{error}");
    }
}

#[test]
fn a_value_out_of_range_is_refused() {
    let text = r#"(module (func (export "f") (param i64) (result i32) i32.const 70000))"#;
    let error = error_of(&module(text, &[BigInt], SmallInt).expect("a module"));
    assert_eq!(error.state(), SqlState::NumericValueOutOfRange, "{error}");
}

/// A function on batches with these bodies of `pando_alloc` and `f`.
fn batch(allocate: &str, body: &str, result: SqlType) -> Definition {
    let text = format!(
        r#"(module (memory (export "memory") 2)
            (func (export "pando_alloc") (param i32) (result i32) {allocate})
            (func (export "f") (param i32 i32) (result i64) {body}))"#
    );
    module(&text, &[BigInt], result).expect("a module")
}

#[test]
fn wrong_addresses_are_refused() {
    let outside = "outside of";
    for (allocate, body, message) in [
        ("i32.const -1", "i64.const 0", outside),
        ("i32.const 131070", "i64.const 0", outside),
        ("i32.const 0", "i64.const -1", "more memory"),
        ("i32.const 0", "(i64.const 0x0001ffff00000100)", outside),
        ("i32.const 0", "(i64.const 0xffffffff00000001)", outside),
        ("i32.const 0", "(i64.const 0x000000007fffffff)", "more memory"),
        ("i32.const 0", "i64.const 0", "Arrow IPC stream"),
        ("i32.const 0", "i64.const 100", "Arrow IPC stream"),
        ("unreachable", "i64.const 0", "unreachable"),
    ] {
        let error = error_of(&batch(allocate, body, BigInt));
        assert!(error.message().contains(message), "{allocate} {body}: {error}");
    }
}

#[test]
fn columns_of_another_type_are_refused() {
    // Returns what it got: a column of numbers, which is none of UUIDs.
    let same = "(i64.or (i64.shl (i64.extend_i32_u (local.get 0)) (i64.const 32))
                        (i64.extend_i32_u (local.get 1)))";
    let error = error_of(&batch("i32.const 1024", same, SqlType::Uuid));
    assert!(!error.message().is_empty());
    let texts = batch("i32.const 1024", same, Text);
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    // Numbers can become texts.
    assert!(within_statement(|| texts.call(&[numbers], 2)).is_ok());
}

#[test]
fn modules_that_cannot_be_functions_are_refused_when_they_are_made() {
    let refused = |text: &str| {
        let error = module(text, &[BigInt], BigInt).map(drop).expect_err("it is refused");
        assert_eq!(error.state(), SqlState::InvalidFunctionDefinition, "{error}");
        error
    };
    let import = r#"(module (import "env" "open" (func)) (func (export "f") (param i64) (result i64) i64.const 1))"#;
    assert!(refused(import).message().contains("imports env.open"));
    let memory = r#"(module (import "env" "m" (memory 1)) (func (export "f") (param i64) (result i64) i64.const 1))"#;
    assert!(refused(memory).message().contains("imports env.m"));
    let other = r#"(module (func (export "g") (param i64) (result i64) i64.const 1))"#;
    assert!(refused(other).message().contains("does not export \"f\""));
    let no_function = r#"(module (memory (export "f") 1))"#;
    assert!(refused(no_function).message().contains("is no function"));
    let types = r#"(module (func (export "f") (param i32) (result i64) i64.const 1))"#;
    assert!(refused(types).message().contains("(i32) -> i64"));
    let results =
        r#"(module (func (export "f") (param i64) (result i64 i64) i64.const 1 i64.const 1))"#;
    assert!(refused(results).message().contains("(i64) -> (i64, i64)"));
    let shared =
        r#"(module (memory 1 2 shared) (func (export "f") (param i64) (result i64) i64.const 1))"#;
    refused(shared);
    let wide =
        r#"(module (memory i64 1) (func (export "f") (param i64) (result i64) i64.const 1))"#;
    refused(wide);
}

#[test]
fn malformed_bytes_are_refused_when_they_are_made() {
    use crate::making::defined;
    use foreign::Language::Wasm;
    let good =
        wat::parse_str(r#"(module (func (export "f") (param i64) (result i64) i64.const 1))"#);
    let good = good.expect("a module");
    let check = |bytes: &[u8]| {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let kept = Wasm.kept(&format!("\\x{hex}"))?;
        defined(Wasm, &kept, &[BigInt], Returns::value(BigInt)).map(drop)
    };
    assert!(check(&good).is_ok());
    for length in 0..good.len() {
        let error = check(&good[..length]).expect_err("a part of a module");
        assert_eq!(error.state(), SqlState::InvalidFunctionDefinition, "{length}: {error}");
    }
    for at in 0..good.len() {
        let mut changed = good.clone();
        changed[at] ^= 0x55;
        // It may still be a module; it never is a panic.
        if let Err(error) = check(&changed) {
            assert_eq!(error.state(), SqlState::InvalidFunctionDefinition, "{at}: {error}");
        }
    }
}

#[test]
fn a_function_is_called_again_after_it_failed() {
    let once = with_body("(i64.div_s (i64.const 10) (i64.sub (local.get 0) (i64.const 1)))");
    error_of(&once);
    let two: ArrayRef = Arc::new(Int64Array::from(vec![2]));
    assert!(within_statement(|| once.call(&[two], 1)).is_ok());
    let _ = one();
}
