//! Walks over syntax trees.
//!
//! Visitors are called through `dyn` references, so that the walk over each node type is compiled
//! once and not once per visitor.

use datafusion::sql::sqlparser::ast::{
    Expr, ObjectName, OrderBy, Query, Select, SelectItem, Statement, TableFactor, ValueWithSpan,
    Visit, VisitMut, Visitor, VisitorMut,
};
use std::ops::ControlFlow;

/// A visitor and the value with which it ended the walk.
struct Held<'a, V, B> {
    visitor: &'a mut V,
    end: Option<B>,
}

impl<V, B> Held<'_, V, B> {
    fn hold(&mut self, flow: ControlFlow<B>) -> ControlFlow<()> {
        match flow {
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
            ControlFlow::Break(end) => {
                self.end = Some(end);
                ControlFlow::Break(())
            }
        }
    }

    fn flow(self) -> ControlFlow<B> {
        match self.end {
            None => ControlFlow::Continue(()),
            Some(end) => ControlFlow::Break(end),
        }
    }
}

/// The visitor type that the walks are compiled for.
struct Any<'a>(&'a mut dyn Visitor<Break = ()>);
struct AnyMut<'a>(&'a mut dyn VisitorMut<Break = ()>);

/// A syntax tree that can be walked.
pub trait Syntax {
    /// Calls a visitor for each node.
    fn walk(&self, visitor: &mut dyn Visitor<Break = ()>) -> ControlFlow<()>;

    /// Calls a visitor that may change the nodes.
    fn walk_mut(&mut self, visitor: &mut dyn VisitorMut<Break = ()>) -> ControlFlow<()>;
}

impl<T: Syntax> Syntax for Vec<T> {
    fn walk(&self, visitor: &mut dyn Visitor<Break = ()>) -> ControlFlow<()> {
        self.iter().try_for_each(|item| item.walk(visitor))
    }

    fn walk_mut(&mut self, visitor: &mut dyn VisitorMut<Break = ()>) -> ControlFlow<()> {
        self.iter_mut().try_for_each(|item| item.walk_mut(visitor))
    }
}

macro_rules! walked {
    ($($node:ty)*) => {
        $(impl Syntax for $node {
            fn walk(&self, visitor: &mut dyn Visitor<Break = ()>) -> ControlFlow<()> {
                Visit::visit(self, &mut Any(visitor))
            }

            fn walk_mut(&mut self, visitor: &mut dyn VisitorMut<Break = ()>) -> ControlFlow<()> {
                VisitMut::visit(self, &mut AnyMut(visitor))
            }
        })*
    };
}

walked! { Statement Query Select SelectItem OrderBy Expr }

macro_rules! passing_on {
    ($visitor:ident, $any:ident, $($method:ident($node:ty))*) => {
        impl<V: $visitor> $visitor for Held<'_, V, V::Break> {
            type Break = ();
            $(fn $method(&mut self, node: $node) -> ControlFlow<()> {
                let flow = self.visitor.$method(node);
                self.hold(flow)
            })*
        }

        impl $visitor for $any<'_> {
            type Break = ();
            $(fn $method(&mut self, node: $node) -> ControlFlow<()> {
                self.0.$method(node)
            })*
        }
    };
}

macro_rules! both {
    ($($method:ident($node:ty))*) => {
        passing_on!(Visitor, Any, $($method(&$node))*);
        passing_on!(VisitorMut, AnyMut, $($method(&mut $node))*);
    };
}

both! {
    pre_visit_query(Query)
    post_visit_query(Query)
    pre_visit_select(Select)
    post_visit_select(Select)
    pre_visit_relation(ObjectName)
    post_visit_relation(ObjectName)
    pre_visit_table_factor(TableFactor)
    post_visit_table_factor(TableFactor)
    pre_visit_expr(Expr)
    post_visit_expr(Expr)
    pre_visit_statement(Statement)
    post_visit_statement(Statement)
    pre_visit_value(ValueWithSpan)
    post_visit_value(ValueWithSpan)
}

/// Calls a visitor for each node. Returns the value with which it ended the walk.
pub fn visit<V: Visitor>(ast: &impl Syntax, visitor: &mut V) -> ControlFlow<V::Break> {
    let mut held = Held { visitor, end: None };
    let _ = ast.walk(&mut held);
    held.flow()
}

/// Like [`visit`], for a visitor that may change the nodes.
pub fn visit_mut<V: VisitorMut>(ast: &mut impl Syntax, visitor: &mut V) -> ControlFlow<V::Break> {
    let mut held = Held { visitor, end: None };
    let _ = ast.walk_mut(&mut held);
    held.flow()
}

struct OfExpressions<F>(F);
struct OfRelations<F>(F);

impl<B, F: FnMut(&Expr) -> ControlFlow<B>> Visitor for OfExpressions<F> {
    type Break = B;

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<B> {
        self.0(expr)
    }
}

impl<B, F: FnMut(&mut Expr) -> ControlFlow<B>> VisitorMut for OfExpressions<F> {
    type Break = B;

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<B> {
        self.0(expr)
    }
}

impl<B, F: FnMut(&ObjectName) -> ControlFlow<B>> Visitor for OfRelations<F> {
    type Break = B;

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<B> {
        self.0(name)
    }
}

/// Calls `see` for every expression, outer expressions first.
pub fn visit_expressions<B>(
    ast: &impl Syntax,
    see: impl FnMut(&Expr) -> ControlFlow<B>,
) -> ControlFlow<B> {
    visit(ast, &mut OfExpressions(see))
}

/// Calls `change` for every expression, inner expressions first.
pub fn visit_expressions_mut<B>(
    ast: &mut impl Syntax,
    change: impl FnMut(&mut Expr) -> ControlFlow<B>,
) -> ControlFlow<B> {
    visit_mut(ast, &mut OfExpressions(change))
}

/// Calls `see` for every name of a relation.
pub fn visit_relations<B>(
    ast: &impl Syntax,
    see: impl FnMut(&ObjectName) -> ControlFlow<B>,
) -> ControlFlow<B> {
    visit(ast, &mut OfRelations(see))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    #[test]
    fn a_walk_returns_the_break_value_of_its_visitor() {
        let sql = "SELECT a, b + c FROM t JOIN u ON a = d";
        let mut ast = Parser::parse_sql(&PostgreSqlDialect {}, sql).expect("sound");
        let mut seen = Vec::new();
        let end = visit_expressions(&ast, |expr| {
            seen.push(expr.to_string());
            if expr.to_string() == "b" { ControlFlow::Break(7) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(
            (end, seen),
            (ControlFlow::Break(7), vec!["a".into(), "b + c".into(), "b".into()])
        );
        let mut names = Vec::new();
        let end: ControlFlow<()> = visit_relations(&ast, |name| {
            names.push(name.to_string());
            ControlFlow::Continue(())
        });
        assert_eq!((end, names), (ControlFlow::Continue(()), vec!["t".into(), "u".into()]));
        let _ = visit_expressions_mut(&mut ast, |expr| {
            if let Expr::Identifier(name) = expr {
                name.value.push('1');
            }
            ControlFlow::<()>::Continue(())
        });
        assert_eq!(ast[0].to_string(), "SELECT a1, b1 + c1 FROM t JOIN u ON a1 = d1");
    }
}
