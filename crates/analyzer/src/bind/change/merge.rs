//! MERGE.

use super::Target;
use super::insert::{RowSource, overriding};
use super::returning::OtherColumns;
use super::view::Event;
use crate::bind::scope::Clause;
use crate::bind::{Binder, names};
use crate::error::{Error, Result};
use crate::tree::{
    Action, Change, Expr, From, JoinKind, Merge, MergeAction, Output, Overriding,
    Target as Assigned, When,
};
use grammar::tree::{CmdType, MergeMatchKind, MergeStmt, MergeWhenClause, Node, NodeEnum};

impl Binder<'_> {
    pub(super) fn merge(&mut self, statement: &MergeStmt) -> Result<Change> {
        if statement.returning_clause.is_some() {
            return Err(Error::missing("RETURNING of MERGE"));
        }
        if let Some(clause) = statement.with_clause.as_ref().filter(|clause| clause.recursive) {
            let message = "WITH RECURSIVE is not supported for MERGE statement";
            return Err(Error::new("42601", message).at(clause.location));
        }
        let with = self.with_of_change(statement.with_clause.as_ref())?;
        let clauses =
            statement.merge_when_clauses.iter().map(clause).collect::<Result<Vec<_>>>()?;
        refuse_unreachable(&clauses)?;
        let target = self.target(statement.relation.as_ref(), Event::Merge)?;
        let source = self.merge_source(statement)?;
        let condition =
            self.condition(statement.join_condition.as_deref(), Clause::On, "JOIN/ON")?;
        let mut whens = Vec::with_capacity(clauses.len());
        for clause in clauses {
            let is_matched = clause.match_kind() == MergeMatchKind::MergeWhenMatched;
            self.show_target(is_matched);
            whens.push(self.when(clause, is_matched, &target)?);
        }
        self.show_target(true);
        let inserts = |when: &When| matches!(when.action, MergeAction::Insert { .. });
        let kind = if whens.iter().any(inserts) { JoinKind::Left } else { JoinKind::Inner };
        let mut output: Vec<Output> = target.output().collect();
        let from = vec![source];
        let mut others = OtherColumns::new(&from, target.relation, output.len());
        for expr in whens.iter_mut().flat_map(expressions) {
            others.replace(expr);
        }
        output.extend(others.outputs);
        let sides = from.into_iter().map(Box::new).zip([Box::new(target.from.clone())]);
        let from = sides.map(|(left, right)| {
            let condition = condition.clone();
            From::Join { kind, left, right, condition }
        });
        let rows = self.rows(with, from.collect(), None, output)?;
        let action = Action::Merge(Box::new(Merge { rows, whens }));
        Ok(target.change(action, None))
    }

    /// Binds the source, whose names the level has besides the target's.
    fn merge_source(&mut self, statement: &MergeStmt) -> Result<From> {
        let part = self.bind_from_item(names::node(statement.source_relation.as_deref())?)?;
        let scope = self.scopes.last_mut().ok_or_else(|| Error::missing("MERGE here"))?;
        let both = |item| scope.items.iter().any(|target| target.conflicts(item));
        if let Some(item) = part.items.iter().find(|item| both(item)) {
            let message = format!("name \"{}\" specified more than once", item.name);
            return Err(Error::new("42712", message)
                .detail("The name is used both as MERGE target table and data source."));
        }
        scope.items.extend(part.items);
        scope.items.iter_mut().for_each(|item| item.is_lateral_only = false);
        Ok(part.from)
    }

    /// Lets names find the target, which is the first item of the level, or not.
    fn show_target(&mut self, is_shown: bool) {
        if let Some(item) = self.scopes.last_mut().and_then(|scope| scope.items.first_mut()) {
            item.is_lateral_only = !is_shown;
        }
    }

    fn when(
        &mut self,
        clause: &MergeWhenClause,
        is_matched: bool,
        target: &Target,
    ) -> Result<When> {
        let condition = self.condition(clause.condition.as_deref(), Clause::MergeWhen, "WHEN")?;
        let action = match clause.command_type() {
            CmdType::CmdNothing => MergeAction::Nothing,
            CmdType::CmdDelete => MergeAction::Delete,
            CmdType::CmdUpdate => {
                let (targets, values) = self.set_clause(&clause.target_list, target)?;
                MergeAction::Update { targets, values }
            }
            CmdType::CmdInsert => self.merge_insert(clause, target)?,
            _ => return Err(Error::missing("this action of MERGE")),
        };
        Ok(When { is_matched, condition, action })
    }

    fn merge_insert(&mut self, clause: &MergeWhenClause, target: &Target) -> Result<MergeAction> {
        let source = RowSource::new(target, &clause.target_list)?;
        let cells = match clause.values.as_slice() {
            // DEFAULT VALUES: the other columns get theirs when the row is written.
            [] => vec![None],
            values => self.cells(values, Clause::Values)?,
        };
        let mut targets = source.targets(&cells)?;
        let cells = self.gathered(&source, cells)?;
        let mut values = self.assigned_cells(cells, target, &mut targets)?;
        let overriding = overriding(clause.r#override());
        if overriding == Overriding::UserValue {
            let ignored = |to: &Assigned| target.table.identities.contains(&to.column);
            let ignored = values.iter_mut().zip(&targets).filter(|(_, to)| ignored(to));
            ignored.for_each(|(value, _)| *value = Expr::null(value.sql_type));
        }
        Ok(MergeAction::Insert { targets, values, overriding })
    }
}

fn clause(node: &Node) -> Result<&MergeWhenClause> {
    match names::node(Some(node))? {
        NodeEnum::MergeWhenClause(clause)
            if clause.match_kind() == MergeMatchKind::MergeWhenNotMatchedBySource =>
        {
            Err(Error::missing("WHEN NOT MATCHED BY SOURCE"))
        }
        NodeEnum::MergeWhenClause(clause) => Ok(clause),
        _ => Err(Error::missing("this form")),
    }
}

/// Refuses a clause behind one of its kind that has no condition.
fn refuse_unreachable(clauses: &[&MergeWhenClause]) -> Result<()> {
    for kind in [MergeMatchKind::MergeWhenMatched, MergeMatchKind::MergeWhenNotMatchedByTarget] {
        let mut of_kind = clauses.iter().filter(|clause| clause.match_kind() == kind);
        if of_kind.any(|clause| clause.condition.is_none()) && of_kind.next().is_some() {
            let message = "unreachable WHEN clause specified after unconditional WHEN clause";
            return Err(Error::new("42601", message));
        }
    }
    Ok(())
}

fn expressions(when: &mut When) -> impl Iterator<Item = &mut Expr> {
    let values = match &mut when.action {
        MergeAction::Update { values, .. } | MergeAction::Insert { values, .. } => &mut values[..],
        MergeAction::Nothing | MergeAction::Delete => &mut [],
    };
    when.condition.iter_mut().chain(values)
}
