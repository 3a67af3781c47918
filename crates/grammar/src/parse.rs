//! Calls of the parser.

use crate::files;
use crate::nesting;
use crate::select_into;
use crate::syntax_error::SyntaxError;
use crate::tree::{ParseResult, RawStmt};
use prost::Message;
use std::ffi::{CStr, CString, c_char, c_int};

/// A parsed script. Dropping it does not overflow the stack, however deep its trees are.
#[derive(Debug, Clone, Default)]
pub struct Script {
    statements: Vec<RawStmt>,
    /// The stack that dropping the trees needs, if that is much.
    stack: Option<usize>,
}

impl Script {
    /// The statements. Their locations and lengths are in bytes of the script; a length of 0 reaches its end.
    pub fn statements(&self) -> &[RawStmt] {
        &self.statements
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let statements = std::mem::take(&mut self.statements);
        if let Some(stack) = self.stack {
            // Dropping a node recurses into it.
            stacker::grow(stack, || drop(statements));
        }
    }
}

/// Stack that the parser may need, in bytes. It limits itself to 2 MiB, and it takes the stack of the thread for its own.
const PARSER_STACK: usize = 3 << 20;

/// Bytes of a script that cannot nest deep enough for more than [`PARSER_STACK`].
const SHORT_SCRIPT: usize = 2 << 10;
/// Stack for each byte of a longer script: some functions of the parser recurse without looking at the limit. Only touched
/// pages take memory.
const STACK_OF_BYTE: usize = 1 << 10;
/// The most stack for a script, in bytes.
const STACK_MAX: usize = 1 << 30;

/// The least stack for decoding and dropping a tree that may be deep, in bytes.
const DEEP_STACK: usize = 64 << 20;
/// Stack for each byte of an encoded tree. Only touched pages take memory.
const STACK_OF_TREE_BYTE: usize = 2 << 10;

/// Parses a script: statements with semicolons between them. A string where FROM expects a relation is the quoted name of
/// a file.
///
/// # Errors
/// The text is not in PostgreSQL's grammar, nests too deep, or contains a zero byte.
pub fn parse(script: &str) -> Result<Script, SyntaxError> {
    if nesting::is_too_deep(script) {
        return Err(SyntaxError::depth());
    }
    let first = match parse_as_is(script) {
        Err(error) => error,
        parsed => return parsed,
    };
    let mut text = script.to_owned();
    let mut error = first.clone();
    for _ in 0..FILES_MAX {
        let changed = files::as_name(&text, &error).or_else(|| files::as_format(&text, &error));
        let Some(changed) = changed else { return Err(first) };
        text = changed;
        match parse_as_is(&text) {
            Err(next) => error = next,
            parsed => return parsed,
        }
    }
    Err(first)
}

/// The most files that a script may name.
const FILES_MAX: usize = 100;

fn parse_as_is(script: &str) -> Result<Script, SyntaxError> {
    let zero = |error: std::ffi::NulError| SyntaxError {
        message: "invalid byte sequence for encoding \"UTF8\": 0x00".to_owned(),
        position: Some(script[..error.nul_position()].chars().count() + 1),
    };
    let text = CString::new(script).map_err(zero)?;
    let parsed = match script.len() {
        ..=SHORT_SCRIPT => stacker::maybe_grow(PARSER_STACK, 2 * PARSER_STACK, || call(&text)),
        long => {
            let stack = (long * STACK_OF_BYTE).clamp(4 * PARSER_STACK, STACK_MAX);
            stacker::grow(stack, || call(&text))
        }
    };
    let bytes = match parsed {
        Err(error) if error.is_depth() => on_own_thread(&text, error)?,
        result => result?,
    };
    let stack = (bytes.len() > SHALLOW_TREE)
        .then(|| (bytes.len() * STACK_OF_TREE_BYTE).clamp(DEEP_STACK, STACK_MAX));
    let decoded = match stack {
        None => ParseResult::decode(bytes.as_slice()),
        Some(stack) => stacker::grow(stack, || ParseResult::decode(bytes.as_slice())),
    };
    let decoded =
        decoded.map_err(|error| SyntaxError { message: error.to_string(), position: None })?;
    let mut statements = decoded.stmts;
    for statement in &mut statements {
        let node = statement.stmt.as_mut().and_then(|node| node.node.as_mut());
        node.into_iter().for_each(select_into::rewrite);
    }
    Ok(Script { statements, stack })
}

/// Runs a function on a thread whose stack holds the deepest tree that the parser makes. `None` if there is no thread.
pub(crate) fn on_thread<T: Send>(run: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(DEEP_STACK);
        thread.spawn_scoped(scope, run).ok()?.join().ok()
    })
}

/// Parses a deep text on a thread of its own. The parser reads from the thread how deep it may go: on a stack that has
/// grown, that is less than it could.
fn on_own_thread(text: &CStr, error: SyntaxError) -> Result<Vec<u8>, SyntaxError> {
    std::thread::scope(|scope| {
        let parser = std::thread::Builder::new().stack_size(2 * PARSER_STACK);
        match parser.spawn_scoped(scope, || call(text)) {
            Ok(running) => running.join().unwrap_or(Err(error)),
            Err(_) => Err(error),
        }
    })
}

/// Bytes of an encoded tree that is decoded and dropped on the caller's stack. A tree is about as deep as long, and a level
/// takes some ten kilobytes of stack.
const SHALLOW_TREE: usize = 512;

/// The encoded tree of a script.
fn call(text: &CStr) -> Result<Vec<u8>, SyntaxError> {
    // SAFETY: `text` ends with a zero byte and lives during the call. The results are read before they are freed, once.
    unsafe {
        let result = pg_query_parse_protobuf_opts(text.as_ptr(), 0);
        let parsed = match result.error.as_ref() {
            None => {
                let tree = &result.parse_tree;
                let bytes = std::slice::from_raw_parts(tree.data.cast::<u8>(), tree.len);
                Ok(bytes.to_vec())
            }
            Some(error) => Err(SyntaxError {
                message: CStr::from_ptr(error.message).to_string_lossy().into_owned(),
                position: usize::try_from(error.cursorpos).ok().filter(|position| *position > 0),
            }),
        };
        pg_query_free_protobuf_parse_result(result);
        parsed
    }
}

/// `PgQueryProtobuf` of the C library.
#[repr(C)]
struct Protobuf {
    len: usize,
    data: *mut c_char,
}

/// `PgQueryError` of the C library.
#[repr(C)]
struct CError {
    message: *mut c_char,
    funcname: *mut c_char,
    filename: *mut c_char,
    lineno: c_int,
    cursorpos: c_int,
    context: *mut c_char,
}

/// `PgQueryProtobufParseResult` of the C library.
#[repr(C)]
struct CResult {
    parse_tree: Protobuf,
    stderr_buffer: *mut c_char,
    error: *mut CError,
}

// The crate's own function for this leaves out the position of errors, and limits the depth of trees to 100.
unsafe extern "C" {
    fn pg_query_parse_protobuf_opts(input: *const c_char, options: c_int) -> CResult;
    fn pg_query_free_protobuf_parse_result(result: CResult);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_positions_in_characters() {
        let error = parse("SELECT 'ää' x y").expect_err("two names");
        assert_eq!(
            (error.message.as_str(), error.position),
            ("syntax error at or near \"y\"", Some(15))
        );
    }

    #[test]
    fn long_chains_are_parsed_or_refused() {
        let chain = format!("SELECT 1{}", " AND true".repeat(20_000));
        assert_eq!(parse(&chain).expect("flat").statements().len(), 1);
        let deep = format!("SELECT 1{}", " + 1".repeat(100));
        assert_eq!(parse(&deep).expect("deep").statements().len(), 1);
        let deeper = format!("SELECT 1{}", " + 1".repeat(200_000));
        assert!(parse(&deeper).expect_err("too deep").message.contains("stack depth"));
    }

    #[test]
    fn deep_texts_are_refused() {
        for (open, close) in
            [("(", ")"), ("CASE WHEN true THEN ", " END"), ("NOT ", ""), ("- ", "")]
        {
            for depth in [300, 20_000, 200_000] {
                let text = format!("SELECT {}1{}", open.repeat(depth), close.repeat(depth));
                assert!(parse(&text).expect_err("too deep").is_depth(), "{open} {depth}");
            }
        }
        for (repeated, count) in
            [(" = 1", 250_000), (" || 1", 200_000), ("::int", 200_000), (" IS NULL", 125_000)]
        {
            let text = format!("SELECT 1{}", repeated.repeat(count));
            assert!(parse(&text).is_err(), "{repeated}");
        }
    }

    #[test]
    fn strings_in_from_are_files() {
        let names = |script: &str| {
            let parsed = parse(script).expect("files");
            let node = parsed.statements()[0].stmt.as_ref().and_then(|node| node.node.as_ref());
            let nodes = node.expect("a statement").nodes();
            let names = nodes.into_iter().filter_map(|(node, ..)| match node {
                crate::tree::NodeRef::RangeVar(range) => Some(range.relname.clone()),
                _ => None,
            });
            names.collect::<Vec<_>>()
        };
        assert_eq!(names("SELECT trim(both FROM 'x') FROM 'a b.csv' t, 'ä.csv'").len(), 2);
        assert_eq!(names("SELECT 'ä' FROM t JOIN 'b.parquet' USING (x)")[1], "b.parquet");
        assert!(parse("SELECT 'a' 'b' FROM FROM 'c'").is_err());
    }

    #[test]
    fn copies_have_a_format_json() {
        assert!(parse("COPY t TO 'ä.json' (FORMAT  json, HEADER)").is_ok());
        assert!(parse("COPY t TO 'x' (FORMAT jsonx)").is_ok());
        assert!(parse("COPY t TO 'x' FORMAT json").is_err());
    }

    #[test]
    fn parsing_is_safe_on_many_threads() {
        let parse = || (0..200).for_each(|n| assert!(parse(&format!("SELECT {n} FROM t")).is_ok()));
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(parse))));
    }
}
