//! INSERT.

use super::Target;
use super::assignment::is_open;
use super::view::Event;
use crate::bind::scope::Clause;
use crate::bind::{Binder, names};
use crate::error::{Error, Result};
use crate::system::SqlType;
use crate::tree::{
    Action, Body, Change, Column, Expr, From, Insert, Kind, Limit, Output, Overriding, Query,
    Relation, Select, Source, Target as Assigned, volatile_order,
};
use grammar::tree::{InsertStmt, Node, NodeEnum, OverridingKind, ResTarget, SelectStmt};

impl Binder<'_> {
    pub(super) fn insert(&mut self, statement: &InsertStmt) -> Result<Change> {
        let with = self.with_of_change(statement.with_clause.as_ref())?;
        let range = statement.relation.as_ref().ok_or_else(|| Error::missing("this form"))?;
        let relation = self.target_relation(range)?;
        // The source does not see the target: its names are added behind it.
        let mut target = self.target_named(range, relation, Event::Insert)?;
        let overriding = overriding(statement.r#override());
        if overriding == Overriding::UserValue {
            // What stands for identity columns is ignored: DEFAULT takes no number.
            for at in &target.table.identities {
                target.table.defaults.remove(at);
            }
        }
        let items = self.scopes.last_mut().map(|scope| std::mem::take(&mut scope.items));
        let source = RowSource::new(&target, &statement.cols)?;
        let (mut targets, mut rows) = match statement.select_stmt.as_deref() {
            None => self.default_row(&source)?,
            Some(node) => match names::node(Some(node))? {
                NodeEnum::SelectStmt(select) if is_plain_values(select) => {
                    self.value_rows(&source, select)?
                }
                NodeEnum::SelectStmt(select) => self.selected_rows(&source, select)?,
                _ => return Err(Error::missing("this source of INSERT")),
            },
        };
        self.add_view_defaults(&target, &mut targets, &mut rows)?;
        let mut with = self.finish_with(with);
        with.append(&mut rows.with);
        rows.with = with;
        if let (Some(scope), Some(items)) = (self.scopes.last_mut(), items) {
            scope.items = items;
            scope.items.iter_mut().for_each(|item| item.is_lateral_only = false);
        }
        let conflict = self.conflict(statement.on_conflict_clause.as_deref(), &target)?;
        let updates = conflict.as_ref().is_some_and(|conflict| conflict.update.is_some());
        let place = updates.then_some(target.table.columns.len());
        let written = target.view.is_none().then_some((target.relation, place));
        let around = std::mem::replace(&mut self.written, written);
        let returning = self.returning(statement.returning_clause.as_ref());
        self.written = around;
        let returning = returning?;
        let action = Action::Insert(Box::new(Insert { targets, overriding, rows, conflict }));
        Ok(target.change(action, returning))
    }

    /// DEFAULT VALUES: the default of one column; the others get theirs when the row is written.
    fn default_row(&mut self, source: &RowSource<'_>) -> Result<(Vec<Assigned>, Query)> {
        let first = source.columns.iter().filter_map(|column| column.as_ref().ok()).take(1);
        let targets: Vec<_> =
            first.map(|column| Assigned { column: *column, is_default: true }).collect();
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
        let (mut targets, mut width): (Vec<Assigned>, _) = (Vec::new(), 0);
        for node in &select.values_lists {
            let NodeEnum::List(list) = names::node(Some(node))? else {
                return Err(Error::missing("this form"));
            };
            let cells = self.cells(&list.items, clause)?;
            if rows.is_empty() {
                targets = source.targets(&cells)?;
                width = cells.len();
            }
            if cells.len() != width {
                let location = locations(&cells).find(|location| *location >= 0).unwrap_or(-1);
                let message = "VALUES lists must all be the same length";
                return Err(Error::new("42601", message).at(location));
            }
            let cells = self.gathered(source, cells)?;
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

    /// The values of a row, in which those of parts of one column are one value.
    pub(super) fn gathered(
        &mut self,
        source: &RowSource<'_>,
        cells: Vec<Option<Expr>>,
    ) -> Result<Vec<Option<Expr>>> {
        if source.parts.iter().all(Option::is_none) {
            return Ok(cells);
        }
        let mut gathered: Vec<(usize, Option<Expr>)> = Vec::with_capacity(cells.len());
        for (cell, (column, part)) in
            cells.into_iter().zip(source.columns.iter().zip(&source.parts))
        {
            let column = column.clone()?;
            let Some(part) = part else {
                gathered.push((column, cell));
                continue;
            };
            let value = cell.ok_or_else(|| {
                let what = match part.indirection.first().and_then(|node| node.node.as_ref()) {
                    Some(NodeEnum::AIndices(_)) => "cannot set an array element to DEFAULT",
                    _ => "cannot set a subfield to DEFAULT",
                };
                Error::new("0A000", what).at(part.location)
            })?;
            let known = gathered.iter().position(|(known, _)| *known == column);
            let whole = known.and_then(|known| gathered[known].1.take());
            let of = source.target.table.columns[column].sql_type;
            let whole = whole.unwrap_or_else(|| Expr::null(SqlType::plain(of.oid)));
            let value = self.with_part(whole, source.target, column, part, value)?;
            match known {
                Some(known) => gathered[known].1 = Some(value),
                None => gathered.push((column, Some(value))),
            }
        }
        Ok(gathered.into_iter().map(|(_, cell)| cell).collect())
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
            to.is_default &= cell.is_none() && target.has_own_default(to.column);
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
        let targets = source.taken(query.columns.len())?;
        self.decide_outputs(&mut query, &targets, source)?;
        let mut literals = literals_for_parts(&query, source);
        self.settle_outputs(&mut query)?;
        let locations: Vec<i32> = match &query.body {
            Body::Select(select) => {
                select.output.iter().map(|output| output.expr.location.0).collect()
            }
            _ => vec![-1; query.columns.len()],
        };
        source.check_width(&locations)?;
        let width = query.columns.len();
        let (id, relation) = (self.next_select(), self.next_relation());
        let mut output = Vec::with_capacity(width);
        let mut is_same = true;
        let cells = query.columns.iter().enumerate().map(|(at, column)| {
            let column = || Expr::new(Kind::Column(relation, at), column.sql_type, locations[at]);
            Some(literals.get_mut(at).and_then(Option::take).unwrap_or_else(column))
        });
        let cells = self.gathered(source, cells.collect())?.into_iter().flatten();
        for (at, (value, to)) in cells.zip(&targets).enumerate() {
            let expr = self.assigned_value(value, source.target, to.column)?;
            is_same &= matches!(expr.kind, Kind::Column(..));
            output.push(Output { name: format!("column{}", at + 1), expr });
        }
        if is_same {
            return Ok((targets, query));
        }
        if let Some(query) = volatile_order::with_values(&query, relation, &output) {
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

    /// Adds the defaults of a view to the columns of rows that get no value.
    fn add_view_defaults(
        &mut self,
        target: &Target,
        targets: &mut Vec<Assigned>,
        rows: &mut Query,
    ) -> Result<()> {
        let Some((_, bound)) = &target.view else { return Ok(()) };
        let mut added = Vec::new();
        for column in bound.with_defaults(target.event)? {
            if !targets.iter().any(|known| known.column == column) {
                targets.push(Assigned { column, is_default: false });
                added.push(self.default_value(target, column)?);
            }
        }
        if added.is_empty() {
            return Ok(());
        }
        let (id, relation) = (self.next_select(), self.next_relation());
        let columns = rows.columns.clone();
        let own = columns.iter().enumerate();
        let own =
            own.map(|(at, column)| Expr::new(Kind::Column(relation, at), column.sql_type, -1));
        let output = own.chain(added).enumerate().map(|(at, expr)| {
            let name = format!("column{}", at + 1);
            Output { name, expr }
        });
        let output: Vec<Output> = output.collect();
        if let Some(changed) = volatile_order::with_values(rows, relation, &output) {
            *rows = changed;
            return Ok(());
        }
        let alias = "unnamed_subquery".to_owned();
        let placeholder = Query::from(Select::plain(id, Vec::new(), Vec::new()));
        let source = Source::Query(Box::new(std::mem::replace(rows, placeholder)));
        let from = Relation { id: relation, alias, columns, is_lateral: false, source };
        let from = vec![From::Relation(Box::new(from))];
        *rows = Query::from(Select::plain(id, from, output));
        Ok(())
    }

    /// Literals and parameters without a type get that of their column, unless ORDER BY or DISTINCT needs one before.
    fn decide_outputs(
        &mut self,
        query: &mut Query,
        targets: &[Assigned],
        source: &RowSource<'_>,
    ) -> Result<()> {
        if !query.order_by.is_empty() || source.parts.iter().any(Option::is_some) {
            return Ok(());
        }
        let Body::Select(select) = &mut query.body else { return Ok(()) };
        if select.distinct.is_some() {
            return Ok(());
        }
        let all = select.output.iter_mut().zip(&mut query.columns).zip(targets);
        for ((output, column), to) in all {
            if is_open(&output.expr) {
                let value = output.expr.clone();
                output.expr = self.assigned_value(value, source.target, to.column)?;
                column.sql_type = output.expr.sql_type;
            }
        }
        Ok(())
    }
}

/// The literals without a type that a query selects, each at its position, where parts of columns get values: these
/// decide their types.
fn literals_for_parts(query: &Query, source: &RowSource<'_>) -> Vec<Option<Expr>> {
    match &query.body {
        Body::Select(select)
            if source.parts.iter().any(Option::is_some)
                && query.order_by.is_empty()
                && select.distinct.is_none() =>
        {
            let literal = |output: &Output| {
                let is_literal = matches!(output.expr.kind, Kind::Literal(_));
                (is_literal && is_open(&output.expr)).then(|| output.expr.clone())
            };
            select.output.iter().map(literal).collect()
        }
        _ => Vec::new(),
    }
}

/// What the rows of an INSERT are for.
pub(super) struct RowSource<'a> {
    target: &'a Target,
    /// The columns of the table; an error in the place of a view's column that takes no value.
    columns: Vec<Result<usize>>,
    /// Where the statement names the columns; no locations if it does not.
    locations: Vec<i32>,
    /// The assignments to parts of columns.
    parts: Vec<Option<&'a ResTarget>>,
}

impl<'a> RowSource<'a> {
    /// For the columns that an INSERT names; for all columns if it names none.
    pub(super) fn new(target: &'a Target, nodes: &'a [Node]) -> Result<Self> {
        if nodes.is_empty() {
            let columns = target.positions().into_iter().map(|at| target.place(at)).collect();
            return Ok(Self { target, columns, locations: Vec::new(), parts: Vec::new() });
        }
        let (mut columns, mut locations, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        let mut named: Vec<(usize, bool)> = Vec::new();
        for node in nodes {
            let assigned = super::assigned(node)?;
            let at = target.named(assigned)?;
            let is_part = !assigned.indirection.is_empty();
            if named.iter().any(|known| known.0 == at && !(is_part && known.1)) {
                let message = format!("column \"{}\" specified more than once", assigned.name);
                return Err(Error::new("42701", message).at(assigned.location));
            }
            named.push((at, is_part));
            columns.push(Ok(target.column(assigned)?));
            locations.push(assigned.location);
            parts.push(is_part.then_some(assigned));
        }
        Ok(Self { target, columns, locations, parts })
    }

    /// The columns that a row's values are for.
    pub(super) fn targets(&self, cells: &[Option<Expr>]) -> Result<Vec<Assigned>> {
        self.check_width(&locations(cells).collect::<Vec<_>>())?;
        let mut targets = self.taken(cells.len())?;
        targets.iter_mut().for_each(|target| target.is_default = true);
        Ok(targets)
    }

    /// The first columns, which get values.
    fn taken(&self, width: usize) -> Result<Vec<Assigned>> {
        let mut targets: Vec<Assigned> = Vec::with_capacity(width);
        for (at, column) in self.columns.iter().take(width).enumerate() {
            let column = column.clone()?;
            if targets.iter().any(|known| known.column == column) {
                if self.parts.get(at).is_some_and(Option::is_some) {
                    continue;
                }
                return Err(self.target.assigned_twice(column));
            }
            targets.push(Assigned { column, is_default: false });
        }
        Ok(targets)
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

/// Whether a query is VALUES and nothing around it.
fn is_plain_values(select: &SelectStmt) -> bool {
    !select.values_lists.is_empty()
        && select.sort_clause.is_empty()
        && select.limit_count.is_none()
        && select.limit_offset.is_none()
        && select.with_clause.is_none()
        && select.locking_clause.is_empty()
}
