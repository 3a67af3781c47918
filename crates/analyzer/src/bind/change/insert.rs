//! INSERT.

use super::Target;
use super::assignment::is_open;
use crate::bind::scope::Clause;
use crate::bind::{Binder, names};
use crate::error::{Error, Result};
use crate::system::SqlType;
use crate::tree::{
    Action, Body, Change, Column, Expr, From, Insert, Kind, Limit, Output, Overriding, Query,
    Relation, Select, Source, Target as Assigned,
};
use grammar::tree::{InsertStmt, Node, NodeEnum, OverridingKind, SelectStmt};

impl Binder<'_> {
    pub(super) fn insert(&mut self, statement: &InsertStmt) -> Result<Change> {
        let with = self.with_of_change(statement.with_clause.as_ref())?;
        let range = statement.relation.as_ref().ok_or_else(|| Error::missing("this form"))?;
        let table = self.target_table(range)?;
        // The source does not see the target: its names are added behind it.
        let target = self.target_named(range, table)?;
        let items = self.scopes.last_mut().map(|scope| std::mem::take(&mut scope.items));
        let (columns, locations) = target_columns(&target, &statement.cols)?;
        let source = RowSource { target: &target, columns, locations };
        let (targets, mut rows) = match statement.select_stmt.as_deref() {
            None => self.default_row(&source)?,
            Some(node) => match names::node(Some(node))? {
                NodeEnum::SelectStmt(select) if is_plain_values(select) => {
                    self.value_rows(&source, select)?
                }
                NodeEnum::SelectStmt(select) => self.selected_rows(&source, select)?,
                _ => return Err(Error::missing("this source of INSERT")),
            },
        };
        let mut with = self.finish_with(with);
        with.append(&mut rows.with);
        rows.with = with;
        if let (Some(scope), Some(items)) = (self.scopes.last_mut(), items) {
            scope.items = items;
            scope.items.iter_mut().for_each(|item| item.is_lateral_only = false);
        }
        let conflict = self.conflict(statement.on_conflict_clause.as_deref(), &target)?;
        let returning = self.returning(statement.returning_clause.as_ref())?;
        let overriding = overriding(statement.r#override());
        let action = Action::Insert(Box::new(Insert { targets, overriding, rows, conflict }));
        Ok(Change { table: target.table.handle, relation: target.relation, action, returning })
    }

    /// DEFAULT VALUES: the default of one column; the others get theirs when the row is written.
    fn default_row(&mut self, source: &RowSource<'_>) -> Result<(Vec<Assigned>, Query)> {
        let first = source.columns.iter().take(1).copied();
        let targets: Vec<_> = first.map(|column| Assigned { column, is_default: true }).collect();
        let mut row = Vec::new();
        for Assigned { column, .. } in &targets {
            row.push(self.default_value(source.target, *column)?);
        }
        Ok((targets, self.one_row(row)?))
    }

    fn value_rows(
        &mut self,
        source: &RowSource<'_>,
        select: &SelectStmt,
    ) -> Result<(Vec<Assigned>, Query)> {
        let is_single = select.values_lists.len() == 1;
        let clause = if is_single { Clause::ValuesRow } else { Clause::Values };
        let mut rows: Vec<Vec<Expr>> = Vec::with_capacity(select.values_lists.len());
        let mut targets: Vec<Assigned> = Vec::new();
        for node in &select.values_lists {
            let NodeEnum::List(list) = names::node(Some(node))? else {
                return Err(Error::missing("this form"));
            };
            let cells = self.cells(&list.items, clause)?;
            if rows.is_empty() {
                targets = source.targets(&cells)?;
            }
            if cells.len() != targets.len() {
                let location = locations(&cells).find(|location| *location >= 0).unwrap_or(-1);
                let message = "VALUES lists must all be the same length";
                return Err(Error::new("42601", message).at(location));
            }
            rows.push(self.assigned_cells(cells, source.target, &mut targets)?);
        }
        if is_single {
            let row = rows.pop().unwrap_or_default();
            return Ok((targets, self.one_row(row)?));
        }
        let columns = targets.iter().enumerate().map(|(at, to)| Column {
            name: format!("column{}", at + 1),
            sql_type: SqlType::plain(source.target.table.columns[to.column].sql_type.oid),
        });
        let columns = columns.collect();
        let (with, order_by, limit) = (Vec::new(), Vec::new(), Limit::default());
        Ok((targets, Query { with, body: Body::Values(rows), order_by, limit, columns }))
    }

    /// The values of a row; `None` is DEFAULT.
    pub(super) fn cells(&mut self, items: &[Node], clause: Clause) -> Result<Vec<Option<Expr>>> {
        let mut cells = Vec::with_capacity(items.len());
        for item in items {
            match names::node(Some(item))? {
                NodeEnum::SetToDefault(_) => cells.push(None),
                _ => {
                    let item = std::slice::from_ref(item);
                    let values = self.in_clause(clause, |binder| binder.row_values(item))?;
                    cells.extend(values.into_iter().map(Some));
                }
            }
        }
        Ok(cells)
    }

    /// The values of a row for their columns, which get no longer DEFAULT in each row if this one has another value.
    pub(super) fn assigned_cells(
        &mut self,
        cells: Vec<Option<Expr>>,
        target: &Target,
        targets: &mut [Assigned],
    ) -> Result<Vec<Expr>> {
        let mut row = Vec::with_capacity(cells.len());
        for (cell, to) in cells.into_iter().zip(targets) {
            to.is_default &= cell.is_none();
            row.push(match cell {
                Some(value) => self.assigned_value(value, target, to.column)?,
                None => self.default_value(target, to.column)?,
            });
        }
        Ok(row)
    }

    /// One row, whose values may be sets.
    fn one_row(&mut self, row: Vec<Expr>) -> Result<Query> {
        let output = row.into_iter().enumerate().map(|(at, expr)| {
            let name = format!("column{}", at + 1);
            Output { name, expr }
        });
        let output = output.collect();
        self.rows(Vec::new(), Vec::new(), None, output)
    }

    fn selected_rows(
        &mut self,
        source: &RowSource<'_>,
        select: &SelectStmt,
    ) -> Result<(Vec<Assigned>, Query)> {
        let mut query = self.query(select)?;
        self.decide_outputs(&mut query, source)?;
        self.settle_outputs(&mut query)?;
        let locations: Vec<i32> = match &query.body {
            Body::Select(select) => {
                select.output.iter().map(|output| output.expr.location.0).collect()
            }
            _ => vec![-1; query.columns.len()],
        };
        source.check_width(&locations)?;
        let width = query.columns.len();
        let all = source.columns.iter().take(width);
        let targets: Vec<Assigned> =
            all.map(|column| Assigned { column: *column, is_default: false }).collect();
        let (id, relation) = (self.next_select(), self.next_relation());
        let mut output = Vec::with_capacity(width);
        let mut is_same = true;
        for (at, (column, to)) in query.columns.iter().zip(&targets).enumerate() {
            let kind = Kind::Column(relation, at);
            let value = Expr::new(kind, column.sql_type, locations[at]);
            let expr = self.assigned_value(value, source.target, to.column)?;
            is_same &= matches!(expr.kind, Kind::Column(..));
            output.push(Output { name: format!("column{}", at + 1), expr });
        }
        if is_same {
            return Ok((targets, query));
        }
        let columns = query.columns.clone();
        let alias = "unnamed_subquery".to_owned();
        let query = Box::new(query);
        let from = Relation {
            id: relation,
            alias,
            columns,
            is_lateral: false,
            source: Source::Query(query),
        };
        let from = vec![From::Relation(Box::new(from))];
        Ok((targets, Query::from(Select::plain(id, from, output))))
    }

    /// Literals and parameters without a type get that of their column, unless ORDER BY or DISTINCT needs one before.
    fn decide_outputs(&mut self, query: &mut Query, source: &RowSource<'_>) -> Result<()> {
        if !query.order_by.is_empty() {
            return Ok(());
        }
        let Body::Select(select) = &mut query.body else { return Ok(()) };
        if select.distinct.is_some() {
            return Ok(());
        }
        let all = select.output.iter_mut().zip(&mut query.columns).zip(&source.columns);
        for ((output, column), to) in all {
            if is_open(&output.expr) {
                let value = output.expr.clone();
                output.expr = self.assigned_value(value, source.target, *to)?;
                column.sql_type = output.expr.sql_type;
            }
        }
        Ok(())
    }
}

/// What the rows of an INSERT are for.
pub(super) struct RowSource<'a> {
    pub(super) target: &'a Target,
    /// The columns, and where the statement names them; no locations if it does not.
    pub(super) columns: Vec<usize>,
    pub(super) locations: Vec<i32>,
}

impl RowSource<'_> {
    /// The columns that a row's values are for.
    pub(super) fn targets(&self, cells: &[Option<Expr>]) -> Result<Vec<Assigned>> {
        self.check_width(&locations(cells).collect::<Vec<_>>())?;
        let all = self.columns.iter().take(cells.len());
        Ok(all.map(|column| Assigned { column: *column, is_default: true }).collect())
    }

    /// Refuses rows of a width that does not fit. `locations` are those of a row's values.
    fn check_width(&self, locations: &[i32]) -> Result<()> {
        let width = locations.len();
        if let Some(location) = locations.get(self.columns.len()) {
            let message = "INSERT has more expressions than target columns";
            return Err(Error::new("42601", message).at(*location));
        }
        match self.locations.get(width) {
            Some(location) => {
                let message = "INSERT has more target columns than expressions";
                Err(Error::new("42601", message).at(*location))
            }
            None => Ok(()),
        }
    }
}

fn locations(cells: &[Option<Expr>]) -> impl Iterator<Item = i32> {
    cells.iter().map(|cell| cell.as_ref().map_or(-1, |cell| cell.location.0))
}

pub(super) fn overriding(kind: OverridingKind) -> Overriding {
    match kind {
        OverridingKind::OverridingSystemValue => Overriding::SystemValue,
        OverridingKind::OverridingUserValue => Overriding::UserValue,
        OverridingKind::OverridingNotSet | OverridingKind::Undefined => Overriding::Nothing,
    }
}

/// The columns that an INSERT names, with their locations; all columns if it names none.
pub(super) fn target_columns(target: &Target, nodes: &[Node]) -> Result<(Vec<usize>, Vec<i32>)> {
    if nodes.is_empty() {
        let all = 0..target.table.columns.len();
        return Ok((all.filter(|at| !target.table.hidden.contains(at)).collect(), Vec::new()));
    }
    let (mut columns, mut locations) = (Vec::new(), Vec::new());
    for node in nodes {
        let named = super::assigned(node)?;
        let column = target.whole_column(named)?;
        if columns.contains(&column) {
            let message = format!("column \"{}\" specified more than once", named.name);
            return Err(Error::new("42701", message).at(named.location));
        }
        columns.push(column);
        locations.push(named.location);
    }
    Ok((columns, locations))
}

/// Whether a query is VALUES and nothing around it.
fn is_plain_values(select: &SelectStmt) -> bool {
    !select.values_lists.is_empty()
        && select.sort_clause.is_empty()
        && select.limit_count.is_none()
        && select.limit_offset.is_none()
        && select.with_clause.is_none()
        && select.locking_clause.is_empty()
}
