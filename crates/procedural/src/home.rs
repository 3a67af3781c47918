//! Procedures whose statements are about rows of one place: all of them give the first key column of their tables the value
//! of the same parameter. The server that owns these rows executes their calls with no messages to others.
//!
//! This is a guess about places, from names alone. Any server executes any call: it sends what is about rows of others there.

use crate::texts::{Text, all_texts};
use catalog_views::relation_names::find_in;
use catalog_views::search_path::SearchPath;
use grammar::tree::{
    AExpr, AExprKind, InsertStmt, Node, NodeEnum, NodeRef, ParamRef, RangeVar, ResTarget,
};
use plpgsql::tree::Block;
use std::collections::HashSet;
use std::sync::Arc;
use store::catalog::{
    Catalog, Function, Relation, Table, is_temporary_schema, may_name_temporary_schema,
};

/// The rows that a procedure is about: those of a table whose keys begin with values of its parameters.
#[derive(Debug, Clone)]
pub struct Home {
    /// The table.
    pub table: Arc<Table>,
    /// The places of the parameters, one for each of the first key columns. Not empty.
    pub parameters: Vec<usize>,
}

/// A body whose texts are looked at.
pub(crate) enum Source<'a> {
    /// Of PL/pgSQL.
    Block(&'a Block),
    /// Statements of SQL.
    Sql(Vec<&'a str>),
}

/// The rows that a procedure is about; `None` if they are of several places, or not known.
pub(crate) fn home(
    catalog: &Catalog,
    path: SearchPath<'_>,
    function: &Function,
    source: &Source<'_>,
) -> Option<Home> {
    // What is temporary is known to the session only.
    if function.is_temporary() || may_name_temporary_schema(&function.body) {
        return None;
    }
    let mut search = Search { catalog, path, function, found: None };
    let is_one = match source {
        Source::Block(block) => all_texts(block, &mut |text| match text {
            Text::Expression(text) => search.text(&format!("SELECT {text}")),
            Text::Statement(text) => search.text(text),
            Text::Said => true,
            Text::Other => false,
        }),
        Source::Sql(texts) => texts.iter().all(|text| search.text(text)),
    };
    search.found.filter(|_| is_one)
}

struct Search<'a> {
    catalog: &'a Catalog,
    path: SearchPath<'a>,
    function: &'a Function,
    found: Option<Home>,
}

/// `column = parameter` in a statement.
struct Given {
    qualifier: Option<String>,
    column: String,
    parameter: usize,
}

impl Search<'_> {
    /// Whether the tables of a text are read and changed at the place that is known so far.
    fn text(&mut self, text: &str) -> bool {
        let Ok(script) = grammar::parse(text) else { return false };
        script.statements().iter().all(|raw| {
            let node = raw.stmt.as_ref().and_then(|node| node.node.as_ref());
            node.is_some_and(|node| self.statement(node))
        })
    }

    fn statement(&mut self, statement: &NodeEnum) -> bool {
        let nodes = statement.nodes();
        let (mut ranges, mut given, mut with) = (Vec::new(), Vec::new(), HashSet::new());
        for (node, ..) in &nodes {
            match node {
                NodeRef::RangeVar(range) => ranges.push(*range),
                NodeRef::CommonTableExpr(common) => drop(with.insert(common.ctename.as_str())),
                NodeRef::AExpr(compared) => given.extend(self.equation(compared)),
                NodeRef::InsertStmt(insert) => {
                    let Some(inserted) = self.inserted(insert) else { return false };
                    given.extend(inserted);
                }
                NodeRef::CallStmt(_) | NodeRef::TransactionStmt(_) => return false,
                _ => {}
            }
        }
        ranges.retain(|range| !(range.schemaname.is_empty() && with.contains(&*range.relname)));
        ranges.iter().all(|range| self.range(range, &given))
    }

    /// Whether a relation is read and changed at the place that is known so far.
    fn range(&mut self, range: &RangeVar, given: &[Given]) -> bool {
        let Some(table) = self.table(range) else { return false };
        let alias = range.alias.as_ref().map_or(&range.relname, |alias| &alias.aliasname);
        let parameter = |column: usize| {
            let name = &table.columns.get(column)?.name;
            let is_it = |of: &&Given| {
                of.column == *name && of.qualifier.as_ref().is_none_or(|of| of == alias)
            };
            given.iter().find(is_it).map(|of| of.parameter)
        };
        let key = table.key_indices();
        let parameters: Vec<usize> = key.iter().map_while(|at| parameter(*at)).collect();
        let Some(first) = parameters.first() else { return false };
        match &mut self.found {
            None => {
                self.found = Some(Home { table: Arc::clone(&table), parameters });
                true
            }
            Some(home) => {
                let is_same = home.parameters.first() == Some(first);
                let has_more = parameters.len() > home.parameters.len();
                if is_same && has_more && home.table.id == table.id {
                    home.parameters = parameters;
                }
                is_same
            }
        }
    }

    /// A table with a key of its own.
    fn table(&self, range: &RangeVar) -> Option<Arc<Table>> {
        let schema = Some(range.schemaname.as_str()).filter(|schema| !schema.is_empty());
        match find_in(self.catalog, self.path, schema, &range.relname)? {
            Relation::Table(table) if !is_temporary_schema(&table.schema) => {
                (!table.has_hidden_key()).then(|| Arc::clone(table))
            }
            _ => None,
        }
    }

    fn equation(&self, compared: &AExpr) -> Option<Given> {
        let is_equal = compared.kind() == AExprKind::AexprOp
            && compared.name.last().and_then(text_of) == Some("=");
        let (left, right) = (node_of(&compared.lexpr)?, node_of(&compared.rexpr)?);
        if !is_equal {
            return None;
        }
        let given = |column: &NodeEnum, value: &NodeEnum| {
            let parameter = self.parameter(value)?;
            let (qualifier, column) = column_of(column)?;
            Some(Given { qualifier: qualifier.map(Into::into), column: column.into(), parameter })
        };
        given(left, right).or_else(|| given(right, left))
    }

    /// The leading key columns of an INSERT that have the value of a parameter in all its rows; `None` if the table is not
    /// known.
    fn inserted(&self, insert: &InsertStmt) -> Option<Vec<Given>> {
        let relation = insert.relation.as_ref()?;
        let table = self.table(relation)?;
        let NodeEnum::SelectStmt(select) = node_of(&insert.select_stmt)? else { return None };
        let rows: Vec<Vec<&NodeEnum>> = match select.values_lists.is_empty() {
            true => vec![select.target_list.iter().map(value_of).collect::<Option<_>>()?],
            false => select.values_lists.iter().map(items_of).collect::<Option<_>>()?,
        };
        let columns: Vec<&str> = match insert.cols.is_empty() {
            true => table.columns.iter().map(|column| column.name.as_str()).collect(),
            false => insert.cols.iter().filter_map(target_of).map(|of| of.name.as_str()).collect(),
        };
        let parameter = |column: &str| {
            let at = columns.iter().position(|name| *name == column)?;
            let mut values = rows.iter().map(|row| self.parameter(row.get(at)?));
            let first = values.next()??;
            values.all(|value| value == Some(first)).then_some(first)
        };
        let key = table.key_indices().into_iter().filter_map(|at| table.columns.get(at));
        let given = key.map_while(|column| {
            let (qualifier, column) = (Some(relation.relname.clone()), column.name.clone());
            Some(Given { qualifier, parameter: parameter(&column)?, column })
        });
        Some(given.collect())
    }

    /// The place of the input parameter that a value is.
    fn parameter(&self, value: &NodeEnum) -> Option<usize> {
        let named = |name: &str| {
            let mut all = self.function.parameters.iter();
            all.position(|of| of.name == name && of.mode.is_input())
        };
        match value {
            NodeEnum::ParamRef(ParamRef { number, .. }) => {
                let place = usize::try_from(*number).ok()?.checked_sub(1)?;
                let all = self.function.parameters.iter().enumerate();
                let mut inputs = all.filter(|(_, of)| of.mode.is_input());
                inputs.nth(place).map(|(place, _)| place)
            }
            NodeEnum::TypeCast(cast) => self.parameter(node_of(&cast.arg)?),
            value => match column_of(value)? {
                (None, name) => named(name),
                (Some(qualifier), name) if qualifier == self.function.name => named(name),
                _ => None,
            },
        }
    }
}

fn node_of(node: &Option<Box<Node>>) -> Option<&NodeEnum> {
    node.as_ref()?.node.as_ref()
}

fn text_of(node: &Node) -> Option<&str> {
    match node.node.as_ref()? {
        NodeEnum::String(text) => Some(&text.sval),
        _ => None,
    }
}

/// The qualifier and the name of a column.
fn column_of(node: &NodeEnum) -> Option<(Option<&str>, &str)> {
    let NodeEnum::ColumnRef(column) = node else { return None };
    let parts: Option<Vec<&str>> = column.fields.iter().map(text_of).collect();
    match parts?.as_slice() {
        [name] => Some((None, name)),
        [.., qualifier, name] => Some((Some(qualifier), name)),
        [] => None,
    }
}

fn target_of(node: &Node) -> Option<&ResTarget> {
    match node.node.as_ref()? {
        NodeEnum::ResTarget(target) => Some(target),
        _ => None,
    }
}

fn value_of(node: &Node) -> Option<&NodeEnum> {
    node_of(&target_of(node)?.val)
}

fn items_of(node: &Node) -> Option<Vec<&NodeEnum>> {
    match node.node.as_ref()? {
        NodeEnum::List(list) => list.items.iter().map(|item| item.node.as_ref()).collect(),
        _ => None,
    }
}
