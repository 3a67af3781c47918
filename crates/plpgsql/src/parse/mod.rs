//! Sources to trees.

mod block;
mod call;
mod conditions;
mod constructed;
mod cursor;
mod cursors;
mod loops;
mod options;
mod raise;
mod rows;
mod statement;
mod subscripts;
mod types;
mod whole_rows;

use crate::tree::Block;
use cursor::Cursor;
use values::error::Result;

pub(crate) use constructed::constructed;
pub use subscripts::with_usual_subscripts;
pub use whole_rows::WrittenRows;
pub(crate) use whole_rows::{fields_of, with_stars, with_whole_row};

/// The block that a source is.
///
/// # Errors
/// 42601 for what PostgreSQL does not read either, 0A000 for what is missing; positions count the characters of the
/// source.
pub fn parse(source: &str) -> Result<Block> {
    let mut cursor = Cursor::new(source)?;
    let (conflict, prints_strict) = options::options(&mut cursor)?;
    let label = cursor.label()?;
    let block = Block { conflict, prints_strict, ..block::outermost(&mut cursor, label)? };
    cursor.accept(";");
    match cursor.is_at_end() {
        true => Ok(block),
        false => Err(cursor.unexpected()),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::tree::{Into, Kind, Rows, Target};
    use values::error::SqlState;

    fn refused(source: &str) -> (SqlState, String, Option<usize>) {
        let error = parse(source).expect_err("wrong");
        (error.state(), error.message().to_owned(), error.position())
    }

    #[test]
    fn into_is_taken_out_of_a_statement() {
        let block = parse("BEGIN SELECT a, b INTO STRICT x, y FROM t; END").expect("parses");
        let Kind::Execute(Rows::Query(query), into) = &block.body[0].kind else {
            panic!("{:?}", block.body[0]);
        };
        assert_eq!(query.text, "SELECT a, b                  FROM t");
        let target = |name: &str| Target { parts: vec![name.to_owned()] };
        let targets = vec![target("x"), target("y")];
        assert_eq!(*into, Some(Into { is_strict: true, targets }));
    }

    #[test]
    fn the_into_of_insert_stays() {
        let block = parse("BEGIN INSERT INTO t VALUES (1) RETURNING a INTO x; END");
        let block = block.expect("parses");
        let Kind::Execute(Rows::Query(query), Some(_)) = &block.body[0].kind else {
            panic!("{:?}", block.body[0]);
        };
        assert_eq!(query.text, "INSERT INTO t VALUES (1) RETURNING a");
    }

    #[test]
    fn errors_have_their_places() {
        let syntax = SqlState::SyntaxError;
        let wrong = |message: &str, at| (syntax, message.to_owned(), Some(at));
        assert_eq!(refused("BEGIN IF END"), wrong("missing \"THEN\" at end of SQL expression", 13));
        assert_eq!(
            refused("BEGIN RAISE NOTICE '%', 1, 2; END"),
            (syntax, "too many parameters specified for RAISE".to_owned(), None)
        );
        assert_eq!(
            refused("<<a>> BEGIN END b"),
            wrong("end label \"b\" differs from block's label \"a\"", 17)
        );
    }

    #[test]
    fn deep_blocks_are_refused() {
        let source = format!("{}{}", "BEGIN ".repeat(5_000), "END; ".repeat(5_000));
        assert_eq!(refused(&source).0, SqlState::StatementTooComplex);
    }

    #[test]
    fn no_source_makes_the_parser_fail() {
        let source =
            "DECLARE x int := 'a' || $q$ b $q$; BEGIN FOR i IN 1..2 LOOP x := (i); END LOOP; END";
        for end in 0..source.len() {
            let _ = parse(&source[..end]);
            let _ = parse(&source[end..]);
        }
    }
}
