//! Expressions of a table's definition, by way of the analyzer: over one of its rows, and defaults.

use crate::refused::{Refused, refused};
use crate::types::{Types, table_of};
use analyzer::RowExpression;
use analyzer::system::Oid;
use analyzer::system::functions::{self, Volatility};
use analyzer::tree::{
    Cast, Column, Conversion, Expr as Tree, Kind, Literal, RelationId, ValueFunction,
};
use catalog_views::functions::Functions;
use datafusion::common::{DFSchema, DFSchemaRef};
use datafusion::execution::SessionState;
use datafusion::logical_expr::Expr;
use grammar::tree::{Node, NodeEnum};
use lowering::{Rows, Surroundings, UserFunctions, lower_over};
use parser::types;
use planner::Planner;
use scan::provider::row_schema;
use std::collections::BTreeSet;
use std::sync::Arc;
use store::catalog::{self, Index, SqlType, Table};
use values::error::{Error, Result, SqlState};

/// Expressions over a table's row.
pub struct OverRow {
    /// The columns of the row.
    pub schema: DFSchemaRef,
    /// The expressions.
    pub exprs: Vec<Expr>,
    /// Whether they mean the same in all sessions and statements: they call no stable function.
    pub is_lasting: bool,
    /// Whether they mean the same in all statements of a session whose transactions begin at the same time.
    pub is_of_moment: bool,
    /// Whether they have the same values for the same rows at all times.
    pub is_immutable: bool,
    /// The parameters that have no values yet, by index from 0, with the types that their places say.
    pub parameters: Vec<(usize, SqlType)>,
}

/// The conditions of a table's checks, then the values of its generated columns.
///
/// # Errors
/// What is wrong with an expression, or what is not supported.
pub fn plan(planner: &Planner<'_>, table: &Table) -> Result<OverRow> {
    let of_domains = user_types::checks_of(table);
    let of_domains = of_domains.iter().map(|check| RowExpression::Check(&check.condition));
    let checks = table.checks.iter().map(|check| RowExpression::Check(&check.expression));
    let checks = checks.chain(of_domains);
    let generated = table.columns.iter().enumerate();
    let generated = generated.filter_map(|(at, column)| {
        Some(RowExpression::Generated(column.generated.as_deref()?, at))
    });
    let texts: Vec<RowExpression<'_>> = checks.chain(generated).collect();
    Ok(planned(of_planner(planner), &Types::of(planner), table, &texts)?)
}

/// The default of a column.
///
/// # Errors
/// As of [`plan`].
pub fn plan_default(
    planner: &Planner<'_>,
    table: &Table,
    text: &str,
    column: usize,
) -> Result<OverRow> {
    Ok(planned(
        of_planner(planner),
        &Types::of(planner),
        table,
        &[RowExpression::Default(text, column)],
    )?)
}

/// The condition of a check, or the value of a generated column.
///
/// # Errors
/// As of [`plan`].
pub fn plan_one(
    planner: &Planner<'_>,
    table: &Table,
    expression: RowExpression<'_>,
) -> Result<OverRow> {
    Ok(planned(of_planner(planner), &Types::of(planner), table, &[expression])?)
}

/// The keys of an index that are expressions, in order, and its condition.
///
/// # Errors
/// As of [`plan`].
pub fn plan_index(with: With<'_>, table: &Table, index: &Index) -> Result<OverRow> {
    let keys = index.columns.iter().filter_map(|column| column.key.expression());
    let keys = keys.map(|key| RowExpression::IndexKey(&key.text));
    let predicate = index.predicate.iter();
    let predicate = predicate.map(|predicate| RowExpression::IndexPredicate(&predicate.text));
    let types = Types::of_columns(table);
    Ok(planned(with, &types, table, &keys.chain(predicate).collect::<Vec<_>>())?)
}

/// Typed trees of expressions of a table's definition, and the number of the table's row in them.
///
/// # Errors
/// As of [`plan`].
pub fn trees(table: &Table, expressions: &[RowExpression<'_>]) -> Result<(RelationId, Vec<Tree>)> {
    let bound = analyzer::bind_row(&Types::of_columns(table), &table_of(table, 0)?, expressions);
    Ok(bound.map_err(|error| refused(error, ""))?)
}

/// The typed tree of an expression of a table's definition, with the functions of users in the place of their calls, and
/// whether it calls none.
///
/// # Errors
/// As of [`plan`].
pub fn expanded(
    planner: &Planner<'_>,
    table: &Table,
    expression: RowExpression<'_>,
) -> Result<(Option<Tree>, bool)> {
    let (known, row) = (Types::of(planner), table_of(table, 0)?);
    let bound = analyzer::bind_row(&known, &row, &[expression]);
    let (_, bound) = bound.map_err(|error| refused(error, ""))?;
    let calls_none = trees(table, &[expression]).is_ok_and(|(_, plain)| plain == bound);
    Ok((bound.into_iter().next(), calls_none))
}

/// The functions of users that an expression of a table's definition calls by itself, not in their bodies. `None` if it
/// cannot be bound.
pub fn functions_called(
    planner: &Planner<'_>,
    table: &Table,
    expression: RowExpression<'_>,
) -> Option<BTreeSet<catalog::RelationId>> {
    let (known, row) = (Types::noting_calls(planner), table_of(table, 0).ok()?);
    analyzer::bind_row(&known, &row, &[expression]).ok()?;
    Some(known.called())
}

/// A typed tree over a table's row as the engine's expression.
///
/// # Errors
/// As of [`plan`].
pub fn plan_tree(planner: &Planner<'_>, table: &Table, tree: &Tree) -> Result<OverRow> {
    let (schema, row) = (schema_of(table)?, table_of(table, 0)?);
    let (relation, _) = trees(table, &[])?;
    let exprs = over(of_planner(planner), &schema, (relation, &row), std::slice::from_ref(tree))?;
    let parameters = Vec::new();
    Ok(OverRow {
        schema,
        exprs,
        is_lasting: true,
        is_of_moment: true,
        is_immutable: true,
        parameters,
    })
}

/// The condition of COPY FROM.
///
/// # Errors
/// 42P10 if it reads a generated column, which has no value yet; as of [`plan`].
pub fn plan_copied(planner: &Planner<'_>, table: &Table, text: &str) -> Result<OverRow> {
    let condition = RowExpression::Copied(text);
    let (tree, _) = expanded(planner, table, condition)?;
    for column in table.columns.iter().filter(|column| column.generated.is_some()) {
        let reads = |part: &Tree| match part.kind {
            Kind::Column(_, at) => table.columns.get(at).is_some_and(|of| of.id == column.id),
            ref kind => matches!(kind, Kind::WholeRow(_)),
        };
        if tree.iter().any(|tree| analyzer::contains(tree, &mut { reads })) {
            let message = "generated columns are not supported in COPY FROM WHERE conditions";
            let detail = format!("Column \"{}\" is a generated column.", column.name);
            let error = Error::new(SqlState::InvalidColumnReference, message);
            return Err(error.with_detail(detail));
        }
    }
    plan_one(planner, table, condition)
}

/// The values of a column whose type becomes another.
///
/// # Errors
/// As of [`plan`].
pub fn plan_altered(
    planner: &Planner<'_>,
    table: &Table,
    (text, column): (&str, usize),
    to: &SqlType,
) -> Result<OverRow> {
    let known = types::of_held(to);
    let to = known.ok_or_else(|| Error::unsupported(format!("type {to} is not supported")))?;
    plan_one(planner, table, RowExpression::Altered(text, column, to))
}

/// Whether the value that USING gives a column is the column itself.
pub fn is_column(
    planner: &Planner<'_>,
    table: &Table,
    (text, column): (&str, usize),
    to: &SqlType,
) -> bool {
    let (Some(to), Ok(row)) = (types::of_held(to), table_of(table, 0)) else { return false };
    let expression = RowExpression::Altered(text, column, to);
    let bound = analyzer::bind_row(&Types::of(planner), &row, &[expression]);
    let value = bound.ok().and_then(|(_, bound)| bound.into_iter().next());
    value.is_some_and(|value| matches!(value.kind, Kind::Column(_, at) if at == column))
}

/// The type of a column's default, before it is converted to the column's. `None` for NULL.
///
/// # Errors
/// What is wrong with the default.
pub fn type_of_default(
    planner: &Planner<'_>,
    table: &Table,
    text: &str,
    column: usize,
) -> Result<Option<SqlType>> {
    let row = table_of(table, 0)?;
    let bound =
        analyzer::bind_row(&Types::of(planner), &row, &[RowExpression::Default(text, column)]);
    let (_, bound) = bound.map_err(|error| refused(error, ""))?;
    let value = bound.first().map(unassigned);
    let value = value.filter(|value| !matches!(value.kind, Kind::Literal(Literal::Null)));
    Ok(value.and_then(|value| types::held(value.sql_type)))
}

/// Checks a default of a view's column.
///
/// # Errors
/// What is wrong with the default.
pub fn check_default(
    planner: &Planner<'_>,
    (name, sql_type): (&str, &SqlType),
    text: &str,
) -> Result<()> {
    let known = types::of_held(sql_type);
    let missing = || Error::unsupported(format!("a default of type {sql_type} is not supported"));
    let column = Column { name: name.to_owned(), sql_type: known.ok_or_else(missing)? };
    let (handle, schema, is_view) = (0, None, true);
    let (key, hidden, defaults, identities) = Default::default();
    let (name, columns, rows_of) = (String::new(), vec![column], None);
    let row = analyzer::Table {
        handle,
        schema,
        name,
        is_view,
        columns,
        key,
        hidden,
        defaults,
        identities,
        rows_of,
    };
    let bound = analyzer::bind_row(&Types::of(planner), &row, &[RowExpression::Default(text, 0)]);
    let (relation, bound) = bound.map_err(|error| refused(error, ""))?;
    let schema = Arc::new(DFSchema::empty());
    for value in over(of_planner(planner), &schema, (relation, &row), &bound)? {
        planner.physical_expression(value, &schema)?;
    }
    Ok(())
}

/// New values of a table's columns, from parameters that have no values yet, from the time of the transaction, and from the
/// row if it `has_row`. `None` for what else changes between statements, and for other expressions than calls and
/// conversions.
pub fn plan_assigned(
    planner: &Planner<'_>,
    table: &Table,
    assigned: &[(usize, &NodeEnum)],
    has_row: bool,
) -> Option<OverRow> {
    let row = table_of(table, 0).ok()?;
    let (relation, bound) = analyzer::bind_assigned(&Types::of(planner), &row, assigned).ok()?;
    let is_other = |part: &Tree| !is_computable(part, has_row);
    if bound.iter().any(|expr| analyzer::contains(expr, &mut { is_other })) {
        return None;
    }
    let (parameters, schema) = (parameters_of(&bound)?, schema_of(table).ok()?);
    let exprs = over(of_planner(planner), &schema, (relation, &row), &bound).ok()?;
    Some(OverRow {
        parameters,
        schema,
        exprs,
        is_lasting: true,
        is_of_moment: true,
        is_immutable: true,
    })
}

/// An expression that reads no row.
pub struct Value {
    /// The expression.
    pub expr: Expr,
    /// The type of its value.
    pub of: SqlType,
    /// As [`OverRow::parameters`].
    pub parameters: Vec<(usize, SqlType)>,
}

/// The value of an expression over parameters that have no values yet and the time of the transaction, with its type.
/// `None` as for [`plan_assigned`]. It reads no row; the table only says where functions are found.
pub fn plan_value(planner: &Planner<'_>, table: &Table, value: &Node) -> Option<Value> {
    let text = grammar::expression_text(value)?;
    let row = table_of(table, 0).ok()?;
    let key = [RowExpression::IndexKey(&text)];
    let (relation, bound) = analyzer::bind_row(&Types::of(planner), &row, &key).ok()?;
    let is_other = |part: &Tree| !is_computable(part, false);
    if bound.iter().any(|expr| analyzer::contains(expr, &mut { is_other })) {
        return None;
    }
    let of = types::held(bound.first()?.sql_type)?;
    let (parameters, schema) = (parameters_of(&bound)?, schema_of(table).ok()?);
    let exprs = over(of_planner(planner), &schema, (relation, &row), &bound).ok()?;
    Some(Value { expr: exprs.into_iter().next()?, of, parameters })
}

/// The parameters of expressions, with the types that their places say. `None` if there is none for one of these types.
fn parameters_of(bound: &[Tree]) -> Option<Vec<(usize, SqlType)>> {
    let mut found = Vec::new();
    let mut note = |part: &Tree| {
        if let Kind::Parameter(number) = part.kind {
            let number = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
            found.push(number.zip(types::held(part.sql_type)));
        }
        false
    };
    bound.iter().for_each(|expr| {
        analyzer::contains(expr, &mut note);
    });
    found.into_iter().collect()
}

/// Whether a part of an expression can be planned once for many statements of a session.
fn is_computable(part: &Tree, has_row: bool) -> bool {
    use Kind::{Call, Cast, Chain, Column, Literal, Parameter, Running, ValueFunction};
    match part.kind {
        Column(..) => has_row,
        Call(_) | Cast(_) | Chain(_) | Running | Literal(_) | Parameter(_) | ValueFunction(_) => {
            volatility(part) == Volatility::Immutable || uses_moment(part)
        }
        _ => false,
    }
}

/// What expressions are planned with.
#[derive(Clone, Copy)]
pub struct With<'a> {
    /// The engine.
    pub engine: &'a SessionState,
    /// The functions of the system.
    pub functions: &'a Functions<'a>,
    /// The functions of users; `None` where none can be called.
    pub user_functions: Option<&'a dyn UserFunctions>,
}

fn of_planner<'p>(planner: &'p Planner<'_>) -> With<'p> {
    With {
        engine: planner.engine,
        functions: planner.functions,
        user_functions: planner.user_functions.as_deref(),
    }
}

fn planned(
    with: With<'_>,
    known: &Types,
    table: &Table,
    texts: &[RowExpression<'_>],
) -> Result<OverRow, Refused> {
    let schema = schema_of(table)?;
    if texts.is_empty() {
        return Ok(OverRow {
            schema,
            exprs: Vec::new(),
            is_lasting: true,
            is_of_moment: true,
            is_immutable: true,
            parameters: Vec::new(),
        });
    }
    let row = table_of(table, 0)?;
    let bound = analyzer::bind_row(known, &row, texts);
    let (relation, bound) = bound.map_err(|error| refused(error, ""))?;
    let depends = |part: &Tree| volatility(part) == Volatility::Stable;
    let is_lasting = !bound.iter().any(|expr| analyzer::contains(expr, &mut { depends }));
    let differs = |part: &Tree| volatility(part) == Volatility::Stable && !uses_moment(part);
    let is_of_moment = !bound.iter().any(|expr| analyzer::contains(expr, &mut { differs }));
    let changes = |part: &Tree| volatility(part) != Volatility::Immutable;
    let is_immutable =
        !bound.iter().any(|expr| analyzer::contains(unassigned(expr), &mut { changes }));
    let exprs = over(with, &schema, (relation, &row), &bound)?;
    let parameters = Vec::new();
    Ok(OverRow { schema, exprs, is_lasting, is_of_moment, is_immutable, parameters })
}

/// The columns of a table's row.
fn schema_of(table: &Table) -> Result<DFSchemaRef> {
    Ok(Arc::new(DFSchema::try_from_qualified_schema(&table.name, &row_schema(table))?))
}

/// Expressions over the row of a relation.
fn over(
    with: With<'_>,
    schema: &DFSchemaRef,
    (relation, row): (RelationId, &analyzer::Table),
    bound: &[Tree],
) -> Result<Vec<Expr>, Refused> {
    let types = row.columns.iter().map(|column| column.sql_type).collect();
    let rows = Rows { schema, relations: &[(relation, types)], row: &[], with: &[] };
    let surroundings = Surroundings {
        folds: false,
        is_of_view: false,
        engine: with.engine,
        functions: with.functions,
        user_functions: with.user_functions,
        sources: &[],
        catalog: None,
        returned: &[],
        kept: &Default::default(),
        parameters: &[],
        text: "",
    };
    Ok(lower_over(bound, &rows, &surroundings)?)
}

/// A value before it is converted to its column's type. PostgreSQL does not ask whether that depends on settings.
fn unassigned(expr: &Tree) -> &Tree {
    match &expr.kind {
        Kind::Cast(cast) if !cast.is_explicit => unassigned(&cast.value),
        _ => expr,
    }
}

/// The functions `now` and `transaction_timestamp`.
const NOW: [Oid; 2] = [Oid(1299), Oid(2647)];

/// Whether an expression is the time of the transaction, or a conversion between times, which depends on settings only.
fn uses_moment(part: &Tree) -> bool {
    match &part.kind {
        Kind::ValueFunction(function) => {
            matches!(function, ValueFunction::Timestamp | ValueFunction::LocalTimestamp)
        }
        Kind::Call(call) => NOW.contains(&call.function),
        Kind::Cast(cast) => {
            let types = [part.sql_type.oid, cast.value.sql_type.oid];
            matches!(cast.conversion, Conversion::Function(_)) && types.into_iter().all(is_moment)
        }
        _ => false,
    }
}

/// The functions `textanycat` and `anytextcat`.
const JOINS_TEXT: [Oid; 2] = [Oid(2003), Oid(2004)];

/// How the value of an expression may change, its parts aside.
fn volatility(part: &Tree) -> Volatility {
    let of = |function| {
        functions::of(function).map_or(Volatility::Stable, |function| function.volatility)
    };
    match &part.kind {
        Kind::ValueFunction(_) => Volatility::Stable,
        Kind::Foreign(call) => call.volatility,
        // These are `||` of a text and a value, which becomes a text.
        Kind::Call(call) if JOINS_TEXT.contains(&call.function) => {
            let mut types = call.arguments.iter().map(|argument| argument.sql_type.oid);
            match types.any(|oid| oid.element().is_some() || is_moment(oid) && oid != Oid::TIME) {
                true => Volatility::Stable,
                false => Volatility::Immutable,
            }
        }
        Kind::Call(call) if let Some(executed) = &call.executed => match executed.is_volatile {
            true => Volatility::Volatile,
            false => Volatility::Stable,
        },
        Kind::Call(call) | Kind::IsDistinct(call) | Kind::NullIf(call) => of(call.function),
        Kind::Cast(cast) => match cast.conversion {
            Conversion::Function(function) => of(function),
            Conversion::Text | Conversion::Items if is_text_of_session(cast, part.sql_type.oid) => {
                Volatility::Stable
            }
            _ => Volatility::Immutable,
        },
        _ => Volatility::Immutable,
    }
}

/// Whether a value's conversion by its text depends on settings.
fn is_text_of_session(cast: &Cast, to: Oid) -> bool {
    let from = cast.value.sql_type.oid;
    match (from.element(), to.element(), cast.conversion) {
        (Some(from), Some(to), Conversion::Items) => is_moment(from) || is_moment(to),
        (None, None, _) => is_moment(from) && from != Oid::TIME || is_moment(to),
        _ => true,
    }
}

/// Whether it is a type of dates, times or intervals.
fn is_moment(oid: Oid) -> bool {
    matches!(oid.category(), 'D' | 'T')
}
