//! SELECT ... FOR UPDATE and the like.
//!
//! A query that locks is executed with the keys of the rows as further columns, its rows are locked in
//! their order, and returned. Where it meets a row that another transaction has changed, it is executed
//! again, as other statements are. With SKIP LOCKED, rows are locked one by one until there are enough.
//!
//! A query that locks inside of another statement is executed first, and its rows stand for it.

use crate::analysis;
use crate::context::outcome::{Outcome, Rows};
use crate::context::transactions::{Conversation, Waiting, rolled_back};
use crate::context::{Frame, Inner, writes_nothing};
use catalog_views::relation_names::find_in;
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use datafusion::arrow::compute::{cast, concat_batches, take_record_batch};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::ScalarValue;
use datafusion::physical_plan::collect;
use datafusion::physical_plan::memory::MemoryStream;
use futures::FutureExt;
use futures::future::BoxFuture;
use grammar::tree::{AConst, ColumnRef, Node, NodeEnum, SelectStmt, a_const};
use parser::Statement;
use parser::commands::locking::{self, LockingClause, Strength, Wait};
use planner::NamedParameter;
use sdds::Key;
use std::sync::Arc;
use store::catalog::{Privileges, Relation, Table};
use store::locks::Mode;
use store::{DistributedTransaction, LockPolicy};
use values::error::{Error, Result, SqlState};
use values::field::Field;
use values::text::write_value;

/// With SKIP LOCKED and LIMIT, so many more rows are computed at first than are needed.
const SKIPPED: i64 = 64;

/// The rows of a query.
struct Selected {
    fields: Vec<Field>,
    rows: RecordBatch,
}

/// A table whose rows a query locks.
struct Target {
    name: String,
    table: Arc<Table>,
    mode: Mode,
    policy: LockPolicy,
}

/// Whether a statement has to lock rows before it is executed.
pub(crate) fn are_in(statement: &Statement) -> bool {
    let text = statement.text.as_bytes();
    // Few statements have the word, and need to be searched.
    let has_word = text
        .windows(4)
        .any(|word| word[..3].eq_ignore_ascii_case(b"for") && word[3].is_ascii_whitespace());
    has_word && statement.rows().is_some_and(locking::locks_rows)
}

impl Inner {
    /// Runs a query that locks rows.
    pub(crate) async fn read_locking(
        &self,
        conversation: &mut Conversation,
        frame: &Frame<'_>,
        statement: &Statement,
    ) -> Result<Outcome> {
        let query = analysis::query_of(statement)?;
        if self.settings.load().is_read_only() {
            let clause = match query {
                NodeEnum::SelectStmt(select) => locking::clauses(select).first().cloned(),
                _ => None,
            };
            let strength = clause.map_or(Strength::Update, |clause| clause.strength);
            return Err(writes_nothing(&format!("SELECT {}", strength.name())));
        }
        let mut waiting = self.waiting();
        let mut own;
        let transaction = match conversation.statement(waiting).await? {
            Some(open) => &mut open.transaction,
            None => {
                own = self.shared.store.begin_distributed().await?;
                own.lock_rows(waiting.party, waiting.patience);
                waiting = Waiting { repeats: true, ..waiting };
                &mut own
            }
        };
        loop {
            let before = transaction.savepoint();
            self.context.see(transaction, frame);
            match selected(frame, transaction, query).await {
                Err(error) => rolled_back(transaction, &before, error, waiting).await?,
                Ok(Selected { fields, rows }) => {
                    let schema = rows.schema();
                    let stream = MemoryStream::try_new(vec![rows], schema, None)?;
                    return Ok(Outcome::Rows(Rows::ready(fields, stream, "SELECT")));
                }
            }
        }
    }
}

/// The rows of a query that locks them, in the transaction of a statement around it, which waits for locks.
///
/// # Errors
/// Those of the query, and of locks.
pub(crate) async fn rows_of(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    statement: &Statement,
) -> Result<(Vec<Field>, RecordBatch)> {
    let query = analysis::query_of(statement)?;
    let Selected { fields, rows } = selected(frame, transaction, query).await?;
    Ok((fields, rows))
}

/// A statement in which rows stand for the queries that lock them; `None` if it has none.
///
/// # Errors
/// Those of the queries.
pub(crate) async fn without_locking(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    statement: &NodeEnum,
) -> Result<Option<NodeEnum>> {
    let nested = locking::nested(statement);
    if nested.is_empty() {
        return Ok(None);
    }
    let mut by = Vec::with_capacity(nested.len());
    for query in nested {
        let query = NodeEnum::SelectStmt(Box::new(query));
        match selected(frame, transaction, &query).await {
            Ok(rows) => by.push(constants(&rows)?),
            Err(error) => return Err(within(frame, transaction, statement, error).await),
        }
    }
    let mut statement = statement.clone();
    locking::replace(&mut statement, by);
    Ok(Some(statement))
}

/// The error of a statement for that of a query in it, which may refer to what is around it.
async fn within(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    statement: &NodeEnum,
    error: Error,
) -> Error {
    let is_unknown = matches!(error.state(), SqlState::UndefinedTable | SqlState::UndefinedColumn);
    if !is_unknown || !matches!(statement, NodeEnum::SelectStmt(_)) {
        return error;
    }
    let reading = transaction.reading();
    match analysis::plan(frame, &frame.planner(&reading), statement).await {
        Err(error) => error,
        Ok(_) => Error::unsupported(
            "FOR UPDATE and the like in a subquery that refers to the query around it is not supported",
        ),
    }
}

/// Executes a query, and locks what it selects.
fn selected<'a>(
    frame: &'a Frame<'_>,
    transaction: &'a mut DistributedTransaction,
    query: &'a NodeEnum,
) -> BoxFuture<'a, Result<Selected>> {
    async move {
        let plain = without_locking(frame, transaction, query).await?;
        let query = plain.as_ref().unwrap_or(query);
        let NodeEnum::SelectStmt(select) = query else {
            return Err(Error::unsupported("locks of this statement are not supported"));
        };
        let reading = transaction.reading();
        let planner = frame.planner(&reading);
        let (plan, fields) = analysis::plan(frame, &planner, query).await?;
        let clauses = locking::clauses(select);
        if clauses.is_empty() {
            let physical = planner.physical(&plan).await?;
            let schema = physical.schema();
            let batches = collect(physical, frame.engine().task_ctx()).await?;
            return Ok(Selected { fields, rows: concat_batches(&schema, &batches)? });
        }
        let targets = targets(frame, transaction, select, &clauses)?;
        let wanted = Wanted::of(frame, select, &targets)?;
        let mut most = wanted.first_most();
        let mut keyed = frame.planner(&reading);
        keyed.row_ids = true;
        loop {
            let lean = with_keys(select, &targets, most, wanted.is_here)?;
            let (plan, _) = analysis::plan(frame, &keyed, &lean).await?;
            let physical = planner.physical(&plan).await?;
            let schema = physical.schema();
            let batches = collect(physical, frame.engine().task_ctx()).await?;
            let rows = concat_batches(&schema, &batches)?;
            let locked = lock(transaction, &targets, &rows, fields.len(), &wanted).await?;
            let is_all = most.is_none_or(|most| (rows.num_rows() as i64) < most);
            if !is_all && !wanted.is_met(locked.len()) {
                most = None;
                continue;
            }
            let shown = take_record_batch(&rows, &UInt32Array::from(wanted.shown(locked)))?;
            return Ok(Selected { rows: first_columns(&shown, fields.len())?, fields });
        }
    }
    .boxed()
}

/// How many rows are to be locked, where the rows that are skipped decide which.
struct Wanted {
    /// Whether LIMIT and OFFSET are applied to the rows that could be locked.
    is_here: bool,
    limit: Option<i64>,
    offset: i64,
}

impl Wanted {
    fn of(frame: &Frame<'_>, select: &SelectStmt, targets: &[Target]) -> Result<Self> {
        let skips = targets.iter().any(|target| target.policy == LockPolicy::Skip);
        if !skips || (select.limit_count.is_none() && select.limit_offset.is_none()) {
            return Ok(Self { is_here: false, limit: None, offset: 0 });
        }
        let limit = number(frame, select.limit_count.as_deref())?;
        let offset = number(frame, select.limit_offset.as_deref())?.unwrap_or(0);
        Ok(Self { is_here: true, limit, offset })
    }

    fn first_most(&self) -> Option<i64> {
        self.limit.map(|limit| limit.saturating_add(self.offset).saturating_add(SKIPPED))
    }

    fn is_met(&self, locked: usize) -> bool {
        self.limit.is_some_and(|limit| locked as i64 >= limit.saturating_add(self.offset))
    }

    fn shown(&self, locked: Vec<u32>) -> Vec<u32> {
        let offset = usize::try_from(self.offset).unwrap_or(0);
        let limit = self.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(0));
        locked.into_iter().skip(offset).take(limit).collect()
    }
}

/// The number of a LIMIT or OFFSET; `None` for all.
fn number(frame: &Frame<'_>, node: Option<&Node>) -> Result<Option<i64>> {
    let unknown = || Error::unsupported("SKIP LOCKED with a computed LIMIT is not supported");
    let place = match node.and_then(|node| node.node.as_ref()) {
        None => return Ok(None),
        Some(NodeEnum::AConst(AConst { isnull: true, .. })) => return Ok(None),
        Some(NodeEnum::AConst(AConst { val: Some(a_const::Val::Ival(value)), .. })) => {
            return Ok(Some(i64::from(value.ival)));
        }
        Some(NodeEnum::ParamRef(parameter)) => usize::try_from(parameter.number - 1).ok(),
        // A column cannot stand here.
        Some(NodeEnum::ColumnRef(variable)) => place_of(frame, variable),
        Some(_) => None,
    };
    let value = place.and_then(|at| frame.parameters.get(at)).ok_or_else(unknown)?;
    match value.cast_to(&DataType::Int64)? {
        ScalarValue::Int64(value) => Ok(value),
        _ => Err(unknown()),
    }
}

/// The place of a variable of a procedural language among the parameters.
fn place_of(frame: &Frame<'_>, variable: &ColumnRef) -> Option<usize> {
    let text = |node: &Node| match &node.node {
        Some(NodeEnum::String(text)) => Some(text.sval.clone()),
        _ => None,
    };
    let mut parts: Vec<String> = variable.fields.iter().map(text).collect::<Option<_>>()?;
    let (name, qualifier) = (parts.pop()?, parts.pop());
    let is_meant = |known: &NamedParameter| known.name == name && known.qualifier == qualifier;
    frame.names.iter().position(is_meant).filter(|_| parts.is_empty())
}

/// The tables whose rows a query locks.
fn targets(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    select: &SelectStmt,
    clauses: &[LockingClause],
) -> Result<Vec<Target>> {
    let clause = clauses.iter().map(|clause| clause.strength).max().unwrap_or(Strength::Update);
    let missing = |what: &str| Error::unsupported(format!("{} of {what}", clause.name()));
    let Some(tables) = locking::tables(select) else {
        return Err(missing("a subquery is not supported"));
    };
    let mut found = Vec::new();
    for (name, range) in tables {
        let of = |clause: &&LockingClause| clause.of.is_empty() || clause.of.contains(&name);
        let here: Vec<&LockingClause> = clauses.iter().filter(of).collect();
        let strength = here.iter().map(|clause| clause.strength).max();
        let (Some(strength), Some(wait)) = (strength, here.iter().map(|c| c.wait).max()) else {
            continue;
        };
        let schema = Some(range.schemaname.as_str()).filter(|schema| !schema.is_empty());
        let catalog = transaction.catalog();
        let table = match find_in(catalog, frame.path(), schema, &range.relname) {
            Some(relation @ Relation::Table(table)) => {
                frame.access(catalog).require(relation, Privileges::UPDATE)?;
                if table.materialized.is_some() {
                    let message =
                        format!("cannot lock rows in materialized view \"{}\"", table.name);
                    return Err(Error::new(SqlState::WrongObjectType, message));
                }
                table
            }
            Some(Relation::View(_)) => return Err(missing("a view is not supported")),
            // A system table.
            _ => continue,
        };
        let policy = match wait {
            Wait::Block => LockPolicy::Wait,
            Wait::Skip => LockPolicy::Skip,
            Wait::Error => LockPolicy::Refuse,
        };
        let mode = match strength {
            Strength::KeyShare => Mode::ForKeyShare,
            Strength::Share => Mode::ForShare,
            Strength::NoKeyUpdate => Mode::ForNoKeyUpdate,
            Strength::Update => Mode::ForUpdate,
        };
        found.push(Target { name, table: Arc::clone(table), mode, policy });
    }
    Ok(found)
}

/// The query without its clauses, with the keys of the rows as further columns. `replaces` is whether `most`
/// stands for its LIMIT.
fn with_keys(
    select: &SelectStmt,
    targets: &[Target],
    most: Option<i64>,
    replaces: bool,
) -> Result<NodeEnum> {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let mut keys = Vec::new();
    for target in targets {
        for column in target.table.key_indices() {
            let column = &target.table.columns[column].name;
            keys.push(format!("{}.{}", quoted(&target.name), quoted(column)));
        }
    }
    let limit = most.map_or_else(|| "NULL".to_owned(), |most| most.to_string());
    let more = query_of(&format!("SELECT {} LIMIT {limit}", keys.join(", ")))?;
    let mut lean = select.clone();
    lean.locking_clause.clear();
    lean.target_list.extend(more.target_list);
    if replaces {
        lean.limit_count = more.limit_count.filter(|_| most.is_some());
        lean.limit_option = if most.is_some() { more.limit_option } else { select.limit_option };
        lean.limit_offset = None;
    }
    Ok(NodeEnum::SelectStmt(Box::new(lean)))
}

fn query_of(text: &str) -> Result<SelectStmt> {
    let failed = || Error::new(SqlState::InternalError, format!("{text} cannot be read"));
    let script = grammar::parse(text).map_err(|_| failed())?;
    let statement = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    match statement {
        Some(NodeEnum::SelectStmt(select)) => Ok((**select).clone()),
        _ => Err(failed()),
    }
}

/// Locks rows in their order; returns the positions of those that are locked. The keys begin at column `width`.
async fn lock(
    transaction: &mut DistributedTransaction,
    targets: &[Target],
    rows: &RecordBatch,
    width: usize,
    wanted: &Wanted,
) -> Result<Vec<u32>> {
    let mut at = width;
    let mut keys = Vec::new();
    for target in targets {
        let columns = target.table.key_indices();
        let of = |(place, column): (usize, &usize)| -> Result<ArrayRef> {
            let values = values::shown::sent(rows.column(at + place));
            Ok(cast(&values, &target.table.columns[*column].sql_type.arrow())?)
        };
        let values: Vec<ArrayRef> = columns.iter().enumerate().map(of).collect::<Result<_>>()?;
        at += columns.len();
        keys.push(store::key::encode_columns(&values)?);
    }
    let all = 0..rows.num_rows() as u32;
    if !wanted.is_here {
        let mut kept = vec![true; rows.num_rows()];
        for (target, keys) in targets.iter().zip(&keys) {
            let Target { table, mode, policy, .. } = target;
            let locked = transaction.lock_selected(table.id, keys, *mode, *policy).await?;
            kept.iter_mut().zip(locked).for_each(|(kept, is_locked)| *kept &= is_locked);
        }
        return Ok(all.filter(|row| kept[*row as usize]).collect());
    }
    let mut locked = Vec::new();
    for row in all {
        if wanted.is_met(locked.len()) {
            break;
        }
        let mut is_locked = true;
        for (target, keys) in targets.iter().zip(&keys) {
            let key: &[Key] = std::slice::from_ref(&keys[row as usize]);
            let Target { table, mode, policy, .. } = target;
            is_locked &= transaction.lock_selected(table.id, key, *mode, *policy).await? == [true];
        }
        if is_locked {
            locked.push(row);
        }
    }
    Ok(locked)
}

fn first_columns(rows: &RecordBatch, width: usize) -> Result<RecordBatch> {
    let schema = rows.schema();
    let fields: Vec<_> = schema.fields()[..width].to_vec();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    let columns = rows.columns()[..width].to_vec();
    Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?)
}

/// Rows as a query of constants; and their value, if they are one.
fn constants(selected: &Selected) -> Result<(SelectStmt, Option<Node>)> {
    let Selected { fields, rows } = selected;
    let literal = |row: usize, column: usize| -> Result<String> {
        let mut text = String::new();
        let has_value = write_value(rows.column(column), row, &mut text)?;
        let value =
            if has_value { format!("'{}'", text.replace('\'', "''")) } else { "NULL".into() };
        // Backslashes are what they are in standard strings.
        Ok(format!("CAST({value} AS {})", fields[column].sql_type))
    };
    let mut lists = Vec::with_capacity(rows.num_rows());
    for row in 0..rows.num_rows() {
        let values: Vec<String> =
            (0..fields.len()).map(|column| literal(row, column)).collect::<Result<_>>()?;
        lists.push(format!("({})", values.join(", ")));
    }
    let names: Vec<String> =
        fields.iter().map(|field| format!("\"{}\"", field.name.replace('"', "\"\""))).collect();
    let is_empty = lists.is_empty();
    if is_empty {
        let none = |field: &Field| format!("CAST(NULL AS {})", field.sql_type);
        lists.push(format!("({})", fields.iter().map(none).collect::<Vec<_>>().join(", ")));
    }
    let (lists, names) = (lists.join(", "), names.join(", "));
    let mut text = format!("SELECT * FROM (VALUES {lists}) AS locked ({names})");
    if is_empty {
        text.push_str(" WHERE false");
    }
    let value = match (rows.num_rows(), fields.len()) {
        (0, 1) => Some(format!("SELECT CAST(NULL AS {})", fields[0].sql_type)),
        (1, 1) => Some(format!("SELECT {}", literal(0, 0)?)),
        _ => None,
    };
    let value = match value {
        Some(value) => {
            match query_of(&value)?.target_list.first().and_then(|node| node.node.clone()) {
                Some(NodeEnum::ResTarget(target)) => target.val.map(|value| *value),
                _ => None,
            }
        }
        None => None,
    };
    Ok((query_of(&text)?, value))
}
