//! Hostile scripts.

use crate::making::{error_of, one, script, within, within_statement};
use datafusion::arrow::array::Array;
use std::time::Duration;
use store::catalog::SqlType::{self, BigInt, Boolean, Bytea, Double, Integer, Jsonb, Text};
use values::error::SqlState::{
    self, ExternalRoutineException, InvalidTextRepresentation, OutOfMemory, QueryCanceled,
};

/// The error of a body, whose parameter `a` is 1n.
fn error(body: &str, result: SqlType) -> values::error::Error {
    error_of(&script(body, &[BigInt], result).expect("a script"))
}

fn fails(body: &str, state: SqlState, message: &str) {
    let error = error(body, BigInt);
    assert_eq!(error.state(), state, "{body}: {error}");
    assert!(error.message().contains(message), "{body}: {error}");
}

#[test]
fn endless_loops_end_with_the_statement() {
    for body in [
        "while (true) ;",
        "for (;;) { try { for (;;) ; } catch (e) { } finally { continue } }",
        "const f = () => { while (true) ; }; try { f() } finally { f() }",
        "return { get x() { for (;;) ; } }.x",
        "return [...(function* () { while (true) yield 1 })()].length > 1e12 ? 1 : 2",
        "return new Proxy({}, { get() { for (;;) ; } }).x",
    ] {
        let error = error(body, BigInt);
        let states = [QueryCanceled, OutOfMemory];
        assert!(states.contains(&error.state()), "{body}: {error}");
    }
}

#[test]
fn regular_expressions_end_with_the_statement() {
    let body = "return /^(a+)+$/.test('a'.repeat(40) + 'b') ? 1 : 2";
    fails(body, QueryCanceled, "statement timeout");
}

#[test]
fn heaps_grow_up_to_the_limit() {
    for body in [
        "const all = []; for (;;) all.push(new Array(1000).fill(a))",
        "let s = 'x'; for (;;) s += s",
        "return 'x'.repeat(2 ** 29).length",
        "return new Uint8Array(2 ** 30).length",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })",
        "let o = {}; for (;;) o = { o }",
        "return JSON.stringify(new Array(1e8).fill(1)).length",
        "let b = 1n; for (;;) b = b << 100000n | b",
    ] {
        let error = error(body, BigInt);
        let states = [OutOfMemory, ExternalRoutineException, QueryCanceled];
        assert!(states.contains(&error.state()), "{body}: {error}");
    }
    for body in [
        "const all = []; for (;;) all.push(new Array(1000).fill(a))",
        "const all = []; for (;;) all.push([a])",
        "throw null",
    ] {
        let filling = script(body, &[BigInt], BigInt).expect("a script");
        let called = within(Duration::from_secs(15), || filling.call(&[one()], 1));
        let error = called.map(|value| value.len()).expect_err("it fills the heap");
        assert_eq!(error.state(), OutOfMemory, "{body}: {error}");
    }
}

#[test]
fn a_full_heap_cannot_be_hidden() {
    let body = "const all = []; for (;;) try { for (;;) all.push(new Array(1000)) } catch (e) { }";
    let error = error(body, BigInt);
    assert!([OutOfMemory, QueryCanceled].contains(&error.state()), "{error}");
}

#[test]
fn recursion_ends_at_the_stack() {
    for body in [
        "const f = (n) => f(n + 1) + 1; return f(0)",
        "const o = {}; o.toString = () => o + ''; return o + ''",
        "let j = '['.repeat(1e6); return JSON.parse(j)",
        "return eval('('.repeat(1e6))",
        "const a2 = []; a2[0] = a2; return a2.flat(Infinity).length",
        "return new RegExp('('.repeat(1e6)).test('')",
    ] {
        let error = error(body, BigInt);
        let states = [ExternalRoutineException, OutOfMemory, QueryCanceled];
        assert!(states.contains(&error.state()), "{body}: {error}");
    }
}

#[test]
fn whatever_is_thrown_is_an_error() {
    for (body, message) in [
        ("throw new TypeError('no')", "TypeError: no"),
        ("throw undefined", "it threw"),
        ("throw 'a text'", "it threw a text"),
        ("throw 42", "it threw"),
        ("throw Symbol('s')", "it threw"),
        ("throw { toString() { throw 1 } }", "it threw"),
        ("throw () => 1", "it threw"),
        (
            "const e = new Error(); Object.defineProperty(e, 'message', { get() { throw e } }); throw e",
            "",
        ),
        ("throw Object.assign(new Error('x'), { name: { toString() { throw 1 } } })", ""),
        ("throw new Error('a\\0b')", "Error: ab"),
        ("nowhere()", "ReferenceError"),
        ("return a + 1", "TypeError"),
        ("return null.x", "TypeError"),
        ("undeclared = 1", "ReferenceError"),
        ("return Math.random()", "Math.random is not available"),
        ("return Date.now()", "the current time is not available"),
        ("return new Date().getTime()", "the current time is not available"),
        ("return new Date.prototype.constructor().getTime()", "the current time is not available"),
        ("globalThis.kept = 1; return 1", "TypeError"),
        ("return require('fs')", "ReferenceError"),
        ("return performance.now()", "ReferenceError"),
    ] {
        fails(body, ExternalRoutineException, message);
    }
    let looping = "throw { get message() { for (;;) ; }, toString() { for (;;) ; } }";
    let states = [ExternalRoutineException, QueryCanceled];
    assert!(states.contains(&error(looping, BigInt).state()));
    let looping = "const e = new Error(); Object.defineProperty(e, 'message', { get() { for (;;) ; } }); throw e";
    assert_eq!(error(looping, BigInt).state(), QueryCanceled);
}

#[test]
fn values_of_other_types_are_refused() {
    for (body, result) in [
        ("return {}", BigInt),
        ("return 1.5", Integer),
        ("return NaN", Integer),
        ("return 'x'", Integer),
        ("return true", Integer),
        ("return 1", Boolean),
        ("return []", Double),
        ("return {}", Text),
        ("return () => 1", Text),
        ("return Promise.resolve(1)", Text),
        ("return {}", Bytea),
        ("return new Date(NaN)", SqlType::Timestamp),
        ("return Symbol()", Text),
    ] {
        let error = error(body, result);
        assert_eq!(error.state(), InvalidTextRepresentation, "{body}: {error}");
    }
    let beyond = [
        ("return 2 ** 40", Integer),
        ("return 2n ** 64n", BigInt),
        ("return 1e300", SqlType::Real),
    ];
    for (body, result) in beyond {
        let error = error(body, result);
        assert_eq!(error.state(), SqlState::NumericValueOutOfRange, "{body}: {error}");
    }
    for body in ["return 'a\\0b'", "return '\\ud800'"] {
        let error = error(body, Text);
        assert_eq!(error.state(), SqlState::CharacterNotInRepertoire, "{body}: {error}");
    }
    for length in ["2 ** 32 - 1", "2 ** 31", "2 ** 25"] {
        let body = format!("const long = []; long.length = {length}; return long");
        let long = error(&body, SqlType::Array(Box::new(Integer)));
        assert!([OutOfMemory, QueryCanceled].contains(&long.state()), "{long}");
    }
    let body = "const nulls = []; nulls.length = 2 ** 20; return new Array(1000).fill(nulls)";
    let wide = error(body, SqlType::Array(Box::new(Integer)));
    assert!([OutOfMemory, QueryCanceled].contains(&wide.state()), "{wide}");
    let cycle = error("const o = {}; o.o = o; return o", Jsonb);
    assert_eq!(cycle.state(), ExternalRoutineException, "{cycle}");
}

#[test]
fn bodies_that_are_none_are_refused_when_they_are_made() {
    for body in ["return (", "}", "import 'x'", "return await 1", "let a; let a;", "with (a) {}"] {
        let error = script(body, &[BigInt], BigInt).map(drop).expect_err("it is no body");
        assert_eq!(error.state(), SqlState::InvalidFunctionDefinition, "{body}: {error}");
    }
    // What stands behind the function does not run.
    let behind =
        within_statement(|| script("}), (() => { for (;;) ; })(), (() => {", &[BigInt], BigInt));
    let error = behind.map(drop).expect_err("it is no body");
    assert!(
        [QueryCanceled, SqlState::InvalidFunctionDefinition].contains(&error.state()),
        "{error}"
    );
}

#[test]
fn other_functions_go_on() {
    let hostile = script("while (true) ;", &[BigInt], BigInt).expect("a script");
    let friendly = script("return 'x'", &[], Text).expect("a script");
    let waiting = std::thread::spawn(move || error_of(&hostile).state());
    let values = within_statement(|| friendly.call(&[], 3)).expect("texts");
    assert_eq!(values.len(), 3);
    assert_eq!(waiting.join().expect("no panic"), QueryCanceled);
}
