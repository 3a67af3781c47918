//! Expressions that consist of one subquery. It is executed as a query of its own: its plan is kept, and rows by key are read
//! without one.

use grammar::tree::{BoolExprType, Node, NodeEnum, SelectStmt, SubLinkType};
use parser::Statement;

/// What an expression is that consists of one subquery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Its only value.
    Value,
    /// Whether it has a row, or has none.
    Exists(bool),
}

/// The subquery of which an expression consists. `None` of others.
pub(crate) fn of(expression: &str) -> Option<(Statement, Form)> {
    let form = form(expression)?;
    let text = expression.trim();
    let (before, rest) = text.split_once('(')?;
    let is_value = form == Form::Value;
    let inner = rest.strip_suffix(')').filter(|_| before.is_empty() == is_value)?;
    // Changes in WITH must be at the top level.
    let statement = parser::one(inner).ok().filter(|statement| statement.query().is_some())?;
    Some((statement, form))
}

fn form(expression: &str) -> Option<Form> {
    let script = grammar::parse(&format!("SELECT {expression}")).ok()?;
    let [statement] = script.statements() else { return None };
    let NodeEnum::SelectStmt(select) = statement.stmt.as_ref()?.node.as_ref()? else { return None };
    let [target] = select.target_list.as_slice() else { return None };
    let NodeEnum::ResTarget(target) = target.node.as_ref()? else { return None };
    let is_alone = target.name.is_empty() && has_only_targets(select);
    form_of(target.val.as_deref().filter(|_| is_alone)?)
}

fn form_of(value: &Node) -> Option<Form> {
    match value.node.as_ref()? {
        NodeEnum::SubLink(link) => match link.sub_link_type() {
            SubLinkType::ExprSublink => Some(Form::Value),
            SubLinkType::ExistsSublink => Some(Form::Exists(true)),
            _ => None,
        },
        NodeEnum::BoolExpr(not) if not.boolop() == BoolExprType::NotExpr => {
            match (not.args.as_slice(), not.args.first().and_then(form_of)) {
                ([_], Some(Form::Exists(wanted))) => Some(Form::Exists(!wanted)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a query consists of one expression, without FROM and the like.
pub(crate) fn is_expression(query: &NodeEnum) -> bool {
    match query {
        NodeEnum::SelectStmt(select) => select.target_list.len() == 1 && has_only_targets(select),
        _ => false,
    }
}

fn has_only_targets(select: &SelectStmt) -> bool {
    let plain = SelectStmt {
        target_list: select.target_list.clone(),
        limit_option: select.limit_option,
        op: select.op,
        ..SelectStmt::default()
    };
    *select == plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_subquery_is_found() {
        let found = |text: &str| of(text).map(|(statement, form)| (statement.text, form));
        let value = |text: &str| Some((text.to_owned(), Form::Value));
        assert_eq!(found("(SELECT 1)"), value("SELECT 1"));
        assert_eq!(found(" ( SELECT (1) ) "), value("SELECT (1)"));
        assert_eq!(found("((SELECT ')'))"), value("(SELECT ')')"));
        let exists = |wanted| Some(("SELECT f(1)".to_owned(), Form::Exists(wanted)));
        assert_eq!(found("EXISTS(SELECT f(1))"), exists(true));
        assert_eq!(found("not exists (SELECT f(1))"), exists(false));
        for other in [
            "(SELECT 1) + (SELECT 2)",
            "(SELECT 1) FROM t",
            "(SELECT 1) AS x",
            "(SELECT 1), (2)",
            "EXISTS (SELECT 1) AND (true)",
            "NOT (EXISTS (SELECT 1))",
            "(SELECT 1) -- (x)",
            "(1)",
            "1 = ANY (SELECT 1)",
            "(WITH a AS (DELETE FROM t RETURNING 1) SELECT * FROM a)",
            "(SELECT 1 INTO x)",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }
}
