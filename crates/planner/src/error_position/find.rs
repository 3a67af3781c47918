//! Finds parts of a statement by name and type.

use super::constants::{may_have, type_of};
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    JoinConstraint, JoinOperator, LimitClause, Query, Select, Spanned, Statement, TableFactor,
    UnaryOperator, Value, ValueWithSpan, Visitor,
};
use datafusion::sql::sqlparser::tokenizer::Span;
use parser::names::fold;
use parser::walk::{visit, visit_expressions, visit_relations};
use std::ops::ControlFlow;

/// The first result of `find` over all expressions.
fn first<T>(ast: &Statement, find: impl Fn(&Expr) -> Option<T>) -> Option<T> {
    let found = visit_expressions(ast, |expr| match find(expr) {
        Some(found) => ControlFlow::Break(found),
        None => ControlFlow::Continue(()),
    });
    found.break_value()
}

/// The location of a quoted constant.
pub(super) fn literal(ast: &Statement, text: &str) -> Option<Span> {
    struct Quoted<'a>(&'a str);

    impl Visitor for Quoted<'_> {
        type Break = Span;

        fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<Span> {
            match &value.value {
                Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text)
                    if text == self.0 =>
                {
                    ControlFlow::Break(value.span)
                }
                _ => ControlFlow::Continue(()),
            }
        }
    }
    visit(ast, &mut Quoted(text)).break_value()
}

/// The location of a relation.
pub(super) fn relation(ast: &Statement, written: &str) -> Option<Span> {
    let found = visit_relations(ast, |name| {
        if name.to_string() == written {
            ControlFlow::Break(name.span())
        } else {
            ControlFlow::Continue(())
        }
    });
    found.break_value()
}

/// The location of a column reference.
pub(super) fn column(ast: &Statement, table: Option<&str>, name: &str) -> Option<Span> {
    let is = |ident: &Ident, name: &str| fold(ident) == name;
    first(ast, |expr| match expr {
        Expr::Identifier(ident) if table.is_none() && is(ident, name) => Some(ident.span),
        Expr::CompoundIdentifier(parts) => match &parts[..] {
            [.., before, last] if is(last, name) && table.is_none_or(|table| is(before, table)) => {
                Some(parts.first()?.span)
            }
            _ => None,
        },
        _ => None,
    })
}

/// The alias of a table in FROM: `Some(None)` without an alias, `None` if the table is not there.
pub(super) fn in_from(ast: &Statement, table: &str) -> Option<Option<String>> {
    struct Tables<'a>(&'a str);

    impl Visitor for Tables<'_> {
        type Break = Option<String>;

        fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Option<String>> {
            let TableFactor::Table { name, alias, .. } = factor else {
                return ControlFlow::Continue(());
            };
            let last = name.0.last().and_then(|part| part.as_ident()).map(fold);
            match (last.as_deref() == Some(self.0), alias) {
                (true, alias) => ControlFlow::Break(alias.as_ref().map(|alias| fold(&alias.name))),
                (false, Some(alias)) if fold(&alias.name) == self.0 => ControlFlow::Break(None),
                (false, _) => ControlFlow::Continue(()),
            }
        }
    }
    visit(ast, &mut Tables(table)).break_value()
}

/// A call of a function: its name as written, the types of its arguments and its location.
pub(super) fn call(
    ast: &Statement,
    name: &str,
    types: &[String],
    same: impl Fn(&str, &str) -> bool,
) -> Option<(String, Vec<String>, Span)> {
    let in_expressions = first(ast, |expr| {
        let Expr::Function(Function { name: called, args, .. }) = expr else { return None };
        let arguments: Vec<&FunctionArg> = match args {
            FunctionArguments::List(list) => list.args.iter().collect(),
            _ => Vec::new(),
        };
        let last = called.0.last()?.as_ident()?;
        let written = called.to_string();
        let is_called =
            written.eq_ignore_ascii_case(name) || same(&last.value.to_lowercase(), name);
        let types = is_called.then(|| with_constants(&arguments, types))??;
        Some((written.to_lowercase(), types, called.0.first()?.span()))
    });
    in_expressions.or_else(|| table_function(ast, name, types))
}

/// The types of a call's arguments, refined by constants. `None` if they contradict `types`.
fn with_constants(arguments: &[&FunctionArg], types: &[String]) -> Option<Vec<String>> {
    if arguments.len() != types.len() {
        return None;
    }
    let mut known = Vec::with_capacity(types.len());
    for (argument, given) in arguments.iter().zip(types) {
        match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) if may_have(expr, given) => {
                known.push(type_of(expr, given));
            }
            FunctionArg::Unnamed(FunctionArgExpr::Expr(_)) => return None,
            // `f(*)` has no argument.
            FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => {}
            _ => known.push(given.clone()),
        }
    }
    Some(known)
}

/// A function in FROM.
fn table_function(
    ast: &Statement,
    name: &str,
    types: &[String],
) -> Option<(String, Vec<String>, Span)> {
    struct Called<'a>(&'a str);

    impl Visitor for Called<'_> {
        type Break = Span;

        fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Span> {
            match factor {
                TableFactor::Table { name, args: Some(_), .. }
                | TableFactor::Function { name, .. }
                    if name.to_string().eq_ignore_ascii_case(self.0) =>
                {
                    ControlFlow::Break(name.span())
                }
                _ => ControlFlow::Continue(()),
            }
        }
    }
    let span = visit(ast, &mut Called(name)).break_value()?;
    Some((name.to_owned(), types.to_vec(), span))
}

/// The operands of an operator.
pub(super) fn operands(
    ast: &Statement,
    operator: &str,
    types: &[String; 2],
) -> Option<(Expr, Expr)> {
    first(ast, |expr| {
        let (left, right) = match expr {
            Expr::BinaryOp { left, op, right } if op.to_string() == operator => (left, right),
            Expr::Like { expr, pattern, .. } if operator == "~~" => (expr, pattern),
            _ => return None,
        };
        let [one, other] = types;
        (may_have(left, one) && may_have(right, other))
            .then(|| (Expr::clone(left), Expr::clone(right)))
    })
}

/// The argument of NOT, AND, OR or a clause such as WHERE that can have the type `given`.
pub(super) fn argument(ast: &Statement, of: &str, given: &str) -> Option<Expr> {
    let fits = |expr: &&Expr| may_have(expr, given);
    match of {
        "NOT" => first(ast, |expr| match expr {
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => Some(&**expr).filter(fits).cloned(),
            _ => None,
        }),
        "AND" | "OR" => first(ast, |expr| match expr {
            Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } => {
                [&**left, &**right].into_iter().find(fits).cloned()
            }
            _ => None,
        }),
        _ => visit(ast, &mut Clauses { of, given }).break_value(),
    }
}

/// Finds the expression of a clause.
struct Clauses<'a> {
    of: &'a str,
    given: &'a str,
}

impl Clauses<'_> {
    fn found(&self, of: &str, expr: Option<&Expr>) -> ControlFlow<Expr> {
        match expr.filter(|expr| self.of == of && may_have(expr, self.given)) {
            Some(expr) => ControlFlow::Break(expr.clone()),
            None => ControlFlow::Continue(()),
        }
    }
}

impl Visitor for Clauses<'_> {
    type Break = Expr;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Expr> {
        let Some(LimitClause::LimitOffset { limit, offset, .. }) = &query.limit_clause else {
            return ControlFlow::Continue(());
        };
        self.found("LIMIT", limit.as_ref())?;
        self.found("OFFSET", offset.as_ref().map(|offset| &offset.value))
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Expr> {
        self.found("WHERE", select.selection.as_ref())?;
        for join in select.from.iter().flat_map(|from| &from.joins) {
            if let JoinOperator::Join(JoinConstraint::On(on))
            | JoinOperator::Inner(JoinConstraint::On(on))
            | JoinOperator::Left(JoinConstraint::On(on))
            | JoinOperator::LeftOuter(JoinConstraint::On(on))
            | JoinOperator::Right(JoinConstraint::On(on))
            | JoinOperator::RightOuter(JoinConstraint::On(on))
            | JoinOperator::FullOuter(JoinConstraint::On(on)) = &join.join_operator
            {
                self.found("JOIN/ON", Some(on))?;
            }
        }
        ControlFlow::Continue(())
    }
}
