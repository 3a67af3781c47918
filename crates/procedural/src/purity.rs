//! Whether a function only computes: it neither reads tables nor changes anything but itself; or whether it changes nothing.

use crate::script::statements;
use crate::texts::{Text, all_texts};
use grammar::tree::{FuncCall, Node, NodeEnum, NodeRef};
use plpgsql::tree::Block;
use std::collections::HashSet;
use store::catalog::{Catalog, Function, Relation, RelationId};
use system_catalog::functions::{self, Volatility};
use typed_tree::Executed;

/// Volatile functions that do nothing but return a value.
const OF_CHANCE: [&str; 4] = ["random", "clock_timestamp", "timeofday", "gen_random_uuid"];

/// Whether a function and all that it calls only compute.
pub fn only_computes(catalog: &Catalog, function: &Function) -> bool {
    Search::new(catalog, Reads::None).function(function)
}

/// Whether a trigger's function, and its condition, may be asked for many rows before the first of them is written: they only
/// compute, say nothing, and call nothing that does more, as `nextval` does.
pub fn may_run_ahead(catalog: &Catalog, function: &Function, condition: Option<&str>) -> bool {
    let mut search = Search { is_quiet: true, ..Search::new(catalog, Reads::None) };
    search.function(function)
        && condition.is_none_or(|condition| search.statement(&format!("SELECT {condition}")))
}

/// Whether an expression may call a function itself, without the engine: one that only computes, with the settings of its
/// caller.
pub fn may_call(catalog: &Catalog, executed: &Executed) -> bool {
    let function = catalog.function_by_id(RelationId(executed.id));
    function.is_some_and(|function| {
        !changes_settings(function)
            && !routines::is_foreign(&function.language)
            && only_computes(catalog, function)
    })
}

/// Whether a function runs with other settings than its caller.
pub fn changes_settings(function: &Function) -> bool {
    function.is_security_definer || !function.settings.is_empty()
}

/// Whether a statement calls functions that may change something.
pub fn may_change(catalog: &Catalog, statement: &NodeEnum) -> bool {
    let mut search = Search::new(catalog, Reads::All);
    catalog.functions().next().is_some() && !search.calls(statement)
}

/// Whether a function, or one that it calls, may change something, or read one of some tables.
pub fn may_read(catalog: &Catalog, function: &Function, tables: &[String]) -> bool {
    !Search::new(catalog, Reads::AllBut(tables)).function(function)
}

/// Whether a statement, or a function that it calls, reads a table or changes anything.
pub fn reads_tables(catalog: &Catalog, statement: &parser::Statement) -> bool {
    let mut search = Search::new(catalog, Reads::None);
    statement.query().is_some_and(|query| !search.query(query))
}

struct Search<'a> {
    catalog: &'a Catalog,
    /// The functions that are known or being looked at.
    seen: HashSet<RelationId>,
    reads: Reads<'a>,
    /// Whether nothing is said, and no function does more than return a value.
    is_quiet: bool,
}

/// The tables that may be read.
#[derive(Clone, Copy)]
enum Reads<'a> {
    None,
    All,
    AllBut(&'a [String]),
}

impl<'a> Search<'a> {
    fn new(catalog: &'a Catalog, reads: Reads<'a>) -> Self {
        Self { catalog, seen: HashSet::new(), reads, is_quiet: false }
    }
}

impl Search<'_> {
    fn function(&mut self, function: &Function) -> bool {
        if !self.seen.insert(function.id) {
            return true;
        }
        match function.language.as_str() {
            "sql" => statements(&function.body)
                .is_ok_and(|all| all.iter().all(|statement| self.statement(&statement.text))),
            language if routines::is_foreign(language) => !self.is_quiet,
            _ => plpgsql::parse(&function.body).is_ok_and(|block| self.block(&block)),
        }
    }

    fn block(&mut self, block: &Block) -> bool {
        all_texts(block, &mut |text| match text {
            Text::Expression(text) => self.statement(&format!("SELECT {text}")),
            Text::Statement(text) => self.statement(text),
            Text::Said => !self.is_quiet,
            // Cursors are the session's.
            Text::Other => false,
        })
    }

    fn statement(&mut self, text: &str) -> bool {
        let Ok(script) = grammar::parse(text) else { return false };
        script.statements().iter().all(|raw| {
            let node = raw.stmt.as_ref().and_then(|node| node.node.as_ref());
            match node {
                Some(query @ NodeEnum::SelectStmt(_)) => self.query(query),
                _ => false,
            }
        })
    }

    fn query(&mut self, query: &NodeEnum) -> bool {
        query.nodes().into_iter().all(|(node, ..)| match node {
            NodeRef::RangeVar(range) => self.reads(&range.relname),
            NodeRef::InsertStmt(_) | NodeRef::UpdateStmt(_) => false,
            NodeRef::DeleteStmt(_) | NodeRef::MergeStmt(_) => false,
            NodeRef::FuncCall(call) => self.call(call),
            _ => true,
        })
    }

    /// Whether a relation of a name may be read. A view may read any.
    fn reads(&self, name: &str) -> bool {
        match self.reads {
            Reads::None => false,
            Reads::All => true,
            Reads::AllBut(tables) => {
                let is_table =
                    |of: &Relation| of.name() != name || matches!(of, Relation::Table(_));
                !tables.iter().any(|table| table == name) && self.catalog.relations().all(is_table)
            }
        }
    }

    /// Whether all functions that a statement calls itself only compute.
    fn calls(&mut self, statement: &NodeEnum) -> bool {
        let mut open = vec![statement];
        while let Some(next) = open.pop() {
            for (node, ..) in next.nodes() {
                match node {
                    NodeRef::FuncCall(call) if !self.call(call) => return false,
                    _ => open.extend(returned(node).iter().filter_map(|node| node.node.as_ref())),
                }
            }
        }
        true
    }

    fn call(&mut self, call: &FuncCall) -> bool {
        let name = call.funcname.last().and_then(|part| part.node.as_ref());
        match name {
            Some(NodeEnum::String(name)) => {
                name.sval != "set_config"
                    && !(self.is_quiet && acts(&name.sval))
                    && self.named(&name.sval)
            }
            _ => false,
        }
    }

    /// Whether all functions of a name only compute.
    fn named(&mut self, name: &str) -> bool {
        let catalog = self.catalog;
        let mut named = catalog.functions().filter(|function| function.name == name);
        named.all(|function| self.function(function))
    }
}

/// Whether a function of the system does more than return a value.
fn acts(name: &str) -> bool {
    !OF_CHANCE.contains(&name)
        && functions::named(name).any(|function| function.volatility == Volatility::Volatile)
}

/// RETURNING of a change, which is not among the nodes of its statement.
fn returned(node: NodeRef<'_>) -> &[Node] {
    let returning = match node {
        NodeRef::InsertStmt(insert) => &insert.returning_clause,
        NodeRef::UpdateStmt(update) => &update.returning_clause,
        NodeRef::DeleteStmt(delete) => &delete.returning_clause,
        NodeRef::MergeStmt(merge) => &merge.returning_clause,
        _ => return &[],
    };
    returning.as_ref().map_or(&[], |returning| &returning.exprs)
}

/// Whether a query calls a function of a name.
pub fn calls_any(query: &NodeEnum, is_called: impl Fn(&str) -> bool) -> bool {
    query.nodes().into_iter().any(|(node, ..)| match node {
        NodeRef::FuncCall(call) => {
            let name = call.funcname.last().and_then(|part| part.node.as_ref());
            matches!(name, Some(NodeEnum::String(name)) if is_called(&name.sval))
        }
        _ => false,
    })
}

/// Whether a function reads or changes settings: what it says differs from statement to statement.
pub fn is_of_settings(name: &str) -> bool {
    name == "set_config" || name == "current_setting"
}
