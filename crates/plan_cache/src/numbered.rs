//! Statements of functions, whose variables become parameters with numbers.

use catalog_views::relation_names::find_named;
use catalog_views::search_path::SearchPath;
use grammar::tree::{ColumnRef, Node, NodeEnum, ParamRef, RangeVar, ReturningClause, SelectStmt};
use parser::commands::RelationName;
use planner::{Conflict, NamedParameter};
use scan::tables::Tables;
use std::sync::Arc;
use store::catalog::{Relation, Table};

/// A statement of one table with `$1`, `$2`, ... for the variables that it names.
pub struct Numbered {
    /// The statement.
    pub statement: NodeEnum,
    /// Expressions of variables, whose values are the parameters after the variables.
    pub computed: Vec<Node>,
}

impl Numbered {
    /// The form of a statement, with numbers for variables of these names. `None` if it has expressions that the short path
    /// does not have, or if a name means both a variable and a column.
    pub fn of(
        path: SearchPath<'_>,
        tables: &dyn Tables,
        statement: &NodeEnum,
        names: &[NamedParameter],
    ) -> Option<Self> {
        let mut statement = statement.clone();
        let mut scope = Scope { names, table: None, computed: Vec::new() };
        match &mut statement {
            NodeEnum::SelectStmt(query) => {
                let [Node { node: Some(NodeEnum::RangeVar(range)) }] = &query.from_clause[..]
                else {
                    return None;
                };
                scope.table = Some(table_of(path, tables, range)?);
                scope.replace_all(query.target_list.iter_mut().chain(&mut query.sort_clause))?;
                let limits = query.limit_count.iter_mut().chain(&mut query.limit_offset);
                let operands = query.where_clause.iter_mut().chain(limits);
                scope.operands(operands.map(|clause| &mut **clause))?;
            }
            NodeEnum::InsertStmt(insert) => {
                let values = insert.select_stmt.as_mut()?;
                let Some(NodeEnum::SelectStmt(values)) = &mut values.node else { return None };
                scope.operands(items_of(values))?;
                scope.table = Some(table_of(path, tables, insert.relation.as_ref()?)?);
                scope.replace_all(returned(&mut insert.returning_clause))?;
            }
            NodeEnum::UpdateStmt(update) => {
                scope.table = Some(table_of(path, tables, update.relation.as_ref()?)?);
                let condition = update.where_clause.iter_mut().map(|clause| &mut **clause);
                scope.operands(update.target_list.iter_mut().chain(condition))?;
                scope.replace_all(returned(&mut update.returning_clause))?;
            }
            NodeEnum::DeleteStmt(delete) => {
                scope.table = Some(table_of(path, tables, delete.relation.as_ref()?)?);
                scope.operands(delete.where_clause.iter_mut().map(|clause| &mut **clause))?;
                scope.replace_all(returned(&mut delete.returning_clause))?;
            }
            _ => return None,
        }
        let computed = scope.computed;
        Some(Self { statement, computed })
    }
}

/// The table of a statement, and what it is called.
fn table_of(
    path: SearchPath<'_>,
    tables: &dyn Tables,
    range: &RangeVar,
) -> Option<(Arc<Table>, String)> {
    let schema = Some(range.schemaname.clone()).filter(|schema| !schema.is_empty());
    let name = RelationName { schema, name: range.relname.clone() };
    let found = find_named(tables.catalog(), path, &name).ok()??;
    let Relation::Table(table) = found else { return None };
    let called = range.alias.as_ref().map_or(&range.relname, |alias| &alias.aliasname);
    Some((Arc::clone(table), called.clone()))
}

/// The expressions of VALUES.
fn items_of(values: &mut SelectStmt) -> impl Iterator<Item = &mut Node> {
    let rows = values.values_lists.iter_mut().filter_map(|row| match &mut row.node {
        Some(NodeEnum::List(row)) => Some(&mut row.items),
        _ => None,
    });
    rows.flatten()
}

fn returned(clause: &mut Option<ReturningClause>) -> impl Iterator<Item = &mut Node> {
    clause.iter_mut().flat_map(|clause| &mut clause.exprs)
}

/// What an expression is made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Parts {
    Constants,
    Variables,
    /// Columns, or something that is not looked into.
    Others,
}

/// What names mean in a statement.
struct Scope<'a> {
    names: &'a [NamedParameter],
    /// The table, and what it is called; `None` in VALUES.
    table: Option<(Arc<Table>, String)>,
    computed: Vec<Node>,
}

impl Scope<'_> {
    fn replace_all<'n>(&mut self, mut nodes: impl Iterator<Item = &'n mut Node>) -> Option<()> {
        nodes.try_for_each(|node| self.replace(node))
    }

    fn operands<'n>(&mut self, mut nodes: impl Iterator<Item = &'n mut Node>) -> Option<()> {
        nodes.try_for_each(|node| self.operand(node))
    }

    /// As [`Self::replace`]; an expression of variables becomes one parameter.
    fn operand(&mut self, node: &mut Node) -> Option<()> {
        let is_computed = match node.node.as_ref()? {
            NodeEnum::ColumnRef(_) | NodeEnum::ParamRef(_) => false,
            // What these stand for is no value.
            NodeEnum::List(_) | NodeEnum::ResTarget(_) => false,
            _ => self.parts(node) == Parts::Variables,
        };
        if !is_computed {
            return self.replace(node);
        }
        let number = i32::try_from(self.names.len() + self.computed.len() + 1).ok()?;
        let parameter = NodeEnum::ParamRef(ParamRef { number, location: -1 });
        self.computed.push(std::mem::replace(node, Node { node: Some(parameter) }));
        Some(())
    }

    /// Puts numbers in the place of variables. `None` for other expressions than the short path has.
    fn replace(&mut self, node: &mut Node) -> Option<()> {
        let inner = match node.node.as_mut()? {
            NodeEnum::ColumnRef(reference) => {
                let (variable, is_column) = self.meaning(reference)?;
                match variable {
                    Some(at) if !is_column || self.names[at].conflict == Conflict::Parameter => {
                        let (number, location) = (i32::try_from(at + 1).ok()?, reference.location);
                        node.node = Some(NodeEnum::ParamRef(ParamRef { number, location }));
                    }
                    Some(at) if self.names[at].conflict == Conflict::Error => return None,
                    _ => {}
                }
                return Some(());
            }
            NodeEnum::ParamRef(parameter) => {
                parameter.number = i32::try_from(self.numbered(parameter)? + 1).ok()?;
                return Some(());
            }
            NodeEnum::AConst(_) | NodeEnum::SetToDefault(_) => return Some(()),
            // `count(*)` has no variables.
            NodeEnum::FuncCall(call) if call.agg_star && call.args.is_empty() => {
                return call.agg_filter.is_none().then_some(());
            }
            NodeEnum::AExpr(expression) => {
                let sides = expression.lexpr.iter_mut().chain(&mut expression.rexpr);
                return self.operands(sides.map(|side| &mut **side));
            }
            NodeEnum::List(list) => return self.operands(list.items.iter_mut()),
            NodeEnum::ResTarget(target) => return self.operand(target.val.as_mut()?),
            NodeEnum::BoolExpr(all) => return self.replace_all(all.args.iter_mut()),
            NodeEnum::AArrayExpr(array) => return self.replace_all(array.elements.iter_mut()),
            NodeEnum::SortBy(sort) => sort.node.as_mut(),
            NodeEnum::TypeCast(cast) => cast.arg.as_mut(),
            NodeEnum::NullTest(test) => test.arg.as_mut(),
            NodeEnum::BooleanTest(test) => test.arg.as_mut(),
            _ => return None,
        };
        self.replace(inner?)
    }

    /// What an expression is made of.
    fn parts(&self, node: &Node) -> Parts {
        let all = |nodes: &mut dyn Iterator<Item = &Node>| {
            nodes.map(|node| self.parts(node)).max().unwrap_or(Parts::Constants)
        };
        match &node.node {
            Some(NodeEnum::AConst(_)) => Parts::Constants,
            Some(NodeEnum::ColumnRef(reference)) => match self.meaning(reference) {
                Some((Some(_), false)) => Parts::Variables,
                _ => Parts::Others,
            },
            Some(NodeEnum::ParamRef(_)) => Parts::Variables,
            Some(NodeEnum::AExpr(expression)) => {
                all(&mut expression.lexpr.iter().chain(&expression.rexpr).map(|side| &**side))
            }
            Some(NodeEnum::TypeCast(cast)) => all(&mut cast.arg.iter().map(|value| &**value)),
            Some(NodeEnum::FuncCall(call)) => all(&mut call.args.iter()),
            Some(NodeEnum::CoalesceExpr(coalesce)) => all(&mut coalesce.args.iter()),
            _ => Parts::Others,
        }
    }

    /// The place of the variable that `$n` means.
    fn numbered(&self, parameter: &ParamRef) -> Option<usize> {
        let name = format!("${}", parameter.number);
        self.names.iter().position(|known| known.name == name && known.qualifier.is_none())
    }

    /// The place of the variable that a name means, and whether it means a column. `None` for names of whole rows.
    fn meaning(&self, reference: &ColumnRef) -> Option<(Option<usize>, bool)> {
        let part = |node: &Node| match &node.node {
            Some(NodeEnum::String(name)) => Some(name.sval.clone()),
            _ => None,
        };
        let (qualifier, name) = match &reference.fields[..] {
            [Node { node: Some(NodeEnum::AStar(_)) }] => return Some((None, true)),
            [name] => (None, part(name)?),
            [qualifier, name] => (Some(part(qualifier)?), part(name)?),
            _ => return None,
        };
        let is_meant = |known: &NamedParameter| known.name == name && known.qualifier == qualifier;
        let variable = self.names.iter().position(is_meant);
        let is_column = self.table.as_ref().is_some_and(|(table, called)| {
            qualifier.is_none_or(|qualifier| qualifier == *called) && table.column(&name).is_some()
        });
        Some((variable, is_column))
    }
}
