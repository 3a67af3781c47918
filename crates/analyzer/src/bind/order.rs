//! ORDER BY.

use super::Binder;
use super::comparable::comparable;
use super::names;
use super::operator::find;
use super::target::is_star;
use crate::error::{Error, Result};
use crate::resolve::Operands;
use crate::system::Oid;
use crate::tree::same::are_same;
use crate::tree::{Column, Expr, Kind, Output, SortKey};
use grammar::tree::{Node, NodeEnum, SortBy, SortByDir, SortByNulls, a_const::Val};

impl Binder<'_> {
    /// The keys of a SELECT's ORDER BY. A literal of unknown type that is one becomes text.
    pub(super) fn sort_keys(
        &mut self,
        nodes: &[Node],
        output: &mut [Output],
    ) -> Result<Vec<SortKey>> {
        let mut keys: Vec<SortKey> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let sort = sort_by(node)?;
            let node = names::node(sort.node.as_deref())?;
            let mut expr = self.output_or_expression(node, output, "ORDER BY")?;
            if let (Kind::Output(at), Oid::UNKNOWN) = (&expr.kind, expr.sql_type.oid) {
                let text = self.coerce_implicitly(output[*at].expr.clone(), Oid::TEXT)?;
                expr.sql_type = text.sql_type;
                output[*at].expr = text;
            }
            let key = self.sort_key(sort, expr)?;
            // A key that stands before decides.
            if !keys.iter().any(|known| known.expr == key.expr) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    /// The keys of ORDER BY in an aggregate or a window: expressions.
    pub(super) fn sort_keys_of_expressions(&mut self, nodes: &[Node]) -> Result<Vec<SortKey>> {
        let mut keys: Vec<SortKey> = Vec::with_capacity(nodes.len());
        for mut key in self.within_group(nodes)? {
            if key.expr.sql_type.oid == Oid::UNKNOWN {
                key.expr = self.coerce_implicitly(key.expr, Oid::TEXT)?;
            }
            if !keys.iter().any(|known| known.expr == key.expr) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    /// The keys of WITHIN GROUP. They are arguments: the function decides the type of a literal.
    pub(super) fn within_group(&mut self, nodes: &[Node]) -> Result<Vec<SortKey>> {
        let key = |node| {
            let sort = sort_by(node)?;
            let expr = self.required(sort.node.as_deref())?;
            self.sort_key(sort, expr)
        };
        nodes.iter().map(key).collect()
    }

    /// The keys of ORDER BY behind a set operation or VALUES: columns of the result.
    pub(super) fn sort_keys_of_columns(
        &mut self,
        nodes: &[Node],
        columns: &[Column],
    ) -> Result<Vec<SortKey>> {
        let mut keys: Vec<SortKey> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let sort = sort_by(node)?;
            let node = names::node(sort.node.as_deref())?;
            let found = match node {
                NodeEnum::ColumnRef(reference) if !is_star(reference) => {
                    match names::parts(&reference.fields).as_slice() {
                        [name] => {
                            let mut found =
                                (0..columns.len()).filter(|at| columns[*at].name == *name);
                            let first = found.next();
                            if found.next().is_some() {
                                let message = format!("ORDER BY \"{name}\" is ambiguous");
                                return Err(Error::new("42702", message).at(reference.location));
                            }
                            if first.is_none() {
                                let message = format!("column \"{name}\" does not exist");
                                return Err(Error::new("42703", message).at(reference.location));
                            }
                            first
                        }
                        ["*VALUES*", ..] => None,
                        // It has columns of relations around the query alone.
                        _ => self.expression(node).map(|_| None)?,
                    }
                }
                NodeEnum::AConst(constant) => position(constant, columns.len(), "ORDER BY")?,
                _ => None,
            };
            let Some(at) = found else {
                let message = "invalid UNION/INTERSECT/EXCEPT ORDER BY clause";
                return Err(Error::new("0A000", message)
                    .detail("Only result column names can be used, not expressions or functions.")
                    .hint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
                    .at(sort.location));
            };
            let expr = Expr::new(Kind::Output(at), columns[at].sql_type, sort.location);
            let key = self.sort_key(sort, expr)?;
            if !keys.iter().any(|known| known.expr == key.expr) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    fn sort_key(&mut self, sort: &SortBy, expr: Expr) -> Result<SortKey> {
        comparable("<", expr.sql_type.oid, expr.location.0)?;
        let descending = match sort.sortby_dir() {
            SortByDir::SortbyDesc => true,
            SortByDir::SortbyUsing => {
                let parts = names::parts(&sort.use_op);
                let name = parts.last().copied().unwrap_or_default();
                is_downwards(name, expr.sql_type.oid, sort.location)?
            }
            _ => false,
        };
        let nulls_first = match sort.sortby_nulls() {
            SortByNulls::SortbyNullsFirst => true,
            SortByNulls::SortbyNullsLast => false,
            _ => descending,
        };
        Ok(SortKey { expr, descending, nulls_first })
    }

    /// An item of ORDER BY, GROUP BY or DISTINCT ON: an output column by its name or position, or an expression. What
    /// equals an output column is that column.
    pub(super) fn output_or_expression(
        &mut self,
        node: &NodeEnum,
        output: &[Output],
        clause: &str,
    ) -> Result<Expr> {
        let at = match node {
            NodeEnum::ColumnRef(reference) if !is_star(reference) => {
                match names::parts(&reference.fields).as_slice() {
                    [name] => self.output_by_name(name, output, clause, reference.location)?,
                    _ => None,
                }
            }
            NodeEnum::AConst(constant) => position(constant, output.len(), clause)?,
            _ => None,
        };
        let location = super::walk_location(node);
        if let Some(at) = at {
            return Ok(Expr::new(Kind::Output(at), output[at].expr.sql_type, location));
        }
        let mut expr = self.expression(node)?;
        if expr.sql_type.oid == Oid::UNKNOWN {
            expr = self.coerce_implicitly(expr, Oid::TEXT)?;
        }
        match output.iter().position(|item| are_same(&item.expr, &expr)) {
            Some(at) if !matches!(expr.kind, Kind::Set(..)) => {
                Ok(Expr::new(Kind::Output(at), expr.sql_type, expr.location.0))
            }
            _ => Ok(expr),
        }
    }

    fn output_by_name(
        &mut self,
        name: &str,
        output: &[Output],
        clause: &str,
        location: i32,
    ) -> Result<Option<usize>> {
        // GROUP BY prefers the columns of FROM.
        if clause == "GROUP BY"
            && let Some(scope) = self.scopes.last()
            && scope.column(name, location)?.is_some()
        {
            return Ok(None);
        }
        let mut found = output.iter().enumerate().filter(|(_, item)| item.name == name);
        let Some((first, item)) = found.next() else { return Ok(None) };
        if found.any(|(_, other)| other.expr != item.expr) {
            let message = format!("{clause} \"{name}\" is ambiguous");
            return Err(Error::new("42702", message).at(location));
        }
        Ok(Some(first))
    }
}

fn sort_by(node: &Node) -> Result<&SortBy> {
    match names::node(Some(node))? {
        NodeEnum::SortBy(sort) => Ok(sort),
        _ => Err(Error::missing("this form")),
    }
}

/// The column that a number in ORDER BY or GROUP BY stands for.
fn position(
    constant: &grammar::tree::AConst,
    columns: usize,
    clause: &str,
) -> Result<Option<usize>> {
    let number = match &constant.val {
        Some(Val::Ival(number)) => number.ival,
        None if !constant.isnull => 0,
        _ => {
            let message = format!("non-integer constant in {clause}");
            return Err(Error::new("42601", message).at(constant.location));
        }
    };
    match usize::try_from(number).ok().filter(|number| (1..=columns).contains(number)) {
        Some(number) => Ok(Some(number - 1)),
        None => {
            let message = format!("{clause} position {number} is not in select list");
            Err(Error::new("42P10", message).at(constant.location))
        }
    }
}

/// Whether the order USING an operator begins with the largest value.
fn is_downwards(name: &str, oid: Oid, location: i32) -> Result<bool> {
    let is_text = matches!(oid.base(), Oid::TEXT | Oid::VARCHAR | Oid::BPCHAR);
    match name {
        "<" => Ok(false),
        ">" => Ok(true),
        // Texts have one order, that of their bytes.
        "~<~" if is_text => Ok(false),
        "~>~" if is_text => Ok(true),
        name => {
            find(name, Operands::Both(oid, oid), location)?;
            let message = format!("operator {name} is not a valid ordering operator");
            let hint =
                "Ordering operators must be \"<\" or \">\" members of btree operator families.";
            Err(Error::new("42809", message).hint(hint).at(location))
        }
    }
}
