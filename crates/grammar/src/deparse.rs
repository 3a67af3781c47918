//! Parse trees to SQL text.

use crate::parse::on_thread;
use crate::tree::{Node, NodeEnum, ResTarget, SelectStmt};
use pg_query::DeparseOptions;

/// The text of a statement. `None` if it nests too deep.
pub fn statement_text(statement: &NodeEnum) -> Option<String> {
    on_thread(|| text(statement)).flatten()
}

/// A number that no parameter of a statement exceeds: the greatest one, or one that is in a string. `None` if it nests too deep.
pub fn greatest_parameter(statement: &NodeEnum) -> Option<usize> {
    let text = statement_text(statement)?;
    let numbers = text.split('$').skip(1).map(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest[..digits].parse().unwrap_or(0)
    });
    Some(numbers.max().unwrap_or(0))
}

/// The text of an expression. `None` if it nests too deep.
pub fn expression_text(expression: &Node) -> Option<String> {
    on_thread(|| {
        let target = ResTarget { val: Some(Box::new(expression.clone())), ..ResTarget::default() };
        let target = Node { node: Some(NodeEnum::ResTarget(Box::new(target))) };
        let select = SelectStmt { target_list: vec![target], ..SelectStmt::default() };
        let text = text(&NodeEnum::SelectStmt(Box::new(select)))?;
        text.strip_prefix(SELECT).map(str::to_owned)
    })
    .flatten()
}

/// The text of a statement, on a stack for the deepest tree.
fn text(statement: &NodeEnum) -> Option<String> {
    statement.deparse(DeparseOptions::default()).ok()
}

/// What makes a statement of an expression.
pub(crate) const SELECT: &str = "SELECT ";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn again(text: &str) -> String {
        let script = parse(text).expect("parses");
        let node = script.statements()[0].stmt.as_ref().and_then(|node| node.node.as_ref());
        statement_text(node.expect("a statement")).expect("has a text")
    }

    #[test]
    fn a_text_is_the_same_again() {
        for text in [
            "SELECT a, \"B\"::int AS c FROM t WHERE a > 0 AND b IS NOT NULL",
            "SELECT DISTINCT ON (a) * FROM \"data.parquet\" ORDER BY a DESC NULLS LAST LIMIT 3",
            "WITH x AS (SELECT 1 UNION ALL SELECT 2) SELECT count(*) FILTER (WHERE true) FROM x",
        ] {
            assert_eq!(again(text), text);
        }
    }

    #[test]
    fn deep_expressions_have_texts() {
        let chain = format!("SELECT 1{}", " + 1".repeat(900));
        assert_eq!(again(&chain), chain);
    }
}
