//! Bodies of SQL functions: bound, with the results that the function declares.

use super::choice::Called;
use super::{EXPANSIONS_MAX, Expansion};
use crate::bind::from::attributes_of;
use crate::bind::scope::Scope;
use crate::bind::{Binder, Catalog};
use crate::error::{Error, Result};
use crate::routine::Routine;
use crate::system::casts::CastContext;
use crate::system::{Oid, SqlType};
use crate::tree::{
    Body, Cast, Column, Conversion, Expr, FieldValue, From, Kind, Literal, Output, Query, Relation,
    Select, Source,
};
use grammar::tree::{NodeEnum, SelectStmt};
use std::sync::Arc;

/// Checks the body of a new SQL function. Errors have positions in the body.
///
/// # Errors
/// What PostgreSQL refuses, and what [`Error::missing`] names.
pub fn check_routine(routine: &Arc<Routine>, catalog: &dyn Catalog) -> Result<()> {
    if routine.is_polymorphic() {
        return Ok(());
    }
    let mut binder = Binder::new(catalog, &[]);
    let null = |oid: &Oid| Expr::new(Kind::Literal(Literal::Null), SqlType::plain(*oid), -1);
    let called = Called {
        routine: Arc::clone(routine),
        arguments: routine.arguments.iter().map(null).collect(),
        result: routine.result,
        columns: match routine.result.is_composite() {
            true => attributes_of(routine.result),
            false => routine.columns.clone(),
        },
        order_by: Vec::new(),
    };
    binder.body_of(&called).map(drop)
}

impl Binder<'_> {
    /// The query of a function's body, with places for the arguments.
    pub(super) fn body_of(&mut self, called: &Called) -> Result<(Query, Vec<Expr>)> {
        let routine = &called.routine;
        if routine.language != "sql" {
            let what = format!("a call of a function of the language {} here", routine.language);
            return Err(Error::missing(what));
        }
        if self.expansions.iter().any(|outer| outer.id == routine.id) {
            return Err(Error::missing(format!("the recursive function {}", routine.signature())));
        }
        if self.expansions.len() >= EXPANSIONS_MAX {
            return Err(crate::bind::expression::too_deep());
        }
        let script = grammar::parse(&routine.body).map_err(|error| {
            let refused = Error::new("42601", error.message);
            refused.at(error.position.and_then(|at| i32::try_from(at).ok()).unwrap_or(0) - 1)
        })?;
        let statements = script.statements();
        let last = statements.last().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
        let select = match (last, statements.len()) {
            (None, _) => {
                return Err(mismatch(called.result).detail(
                    "Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING.",
                ));
            }
            (Some(NodeEnum::SelectStmt(select)), 1) => select,
            (Some(_), 1) => return Err(Error::missing("a SQL function that is no SELECT")),
            _ => return Err(Error::missing("a SQL function of several statements")),
        };
        let types: Vec<Oid> = called.arguments.iter().map(|value| value.sql_type.oid).collect();
        let places = self.new_places(&types);
        let names = routine.argument_names.iter().cloned();
        let names = names.chain(std::iter::repeat(String::new()));
        self.expansions.push(Expansion {
            id: routine.id,
            name: routine.name.clone(),
            parameters: names.zip(places.iter().cloned()).collect(),
            floor: self.scopes.len(),
        });
        let bound = grammar::growing(|| self.results_of(select, called));
        self.expansions.pop();
        Ok((bound?, places))
    }

    fn results_of(&mut self, select: &SelectStmt, called: &Called) -> Result<Query> {
        let mut query = self.query(select)?;
        self.settle_outputs(&mut query)?;
        let declared = match (called.columns.as_slice(), called.result) {
            ([], Oid::RECORD) => return Ok(query),
            ([], oid) if oid.catalog_name() == "void" => return Ok(query),
            ([], oid) => {
                let name = called.routine.name.clone();
                vec![Column { name, sql_type: SqlType::plain(oid) }]
            }
            (columns, _) => columns.to_vec(),
        };
        if called.result.is_composite()
            && matches!(query.columns.as_slice(), [only] if only.sql_type.oid == called.result)
        {
            return Ok(query);
        }
        if declared.len() > 1
            && matches!(query.columns.as_slice(), [only] if only.sql_type.oid == Oid::RECORD)
        {
            let message = "a row as the result of a function with several columns";
            return Err(Error::new("0A000", format!("{message} is not supported")));
        }
        if query.columns.len() != declared.len() {
            let detail = match (declared.len(), query.columns.len()) {
                (1, _) if called.columns.is_empty() => {
                    "Final statement must return exactly one column."
                }
                (many, few) if few < many => "Final statement returns too few columns.",
                _ => "Final statement returns too many columns.",
            };
            return Err(mismatch(called.result).detail(detail));
        }
        self.retyped(query, &declared, called)
    }

    /// The query with columns of the declared types and names.
    fn retyped(&mut self, mut query: Query, declared: &[Column], called: &Called) -> Result<Query> {
        // Only a column definition list declares lengths and digits.
        let same = |(now, wanted): (&Column, &Column)| {
            let (now, wanted) = (now.sql_type, wanted.sql_type);
            now.oid == wanted.oid && (wanted.modifier < 0 || now.modifier == wanted.modifier)
        };
        let is_same = query.columns.iter().zip(declared).all(same);
        let is_plain = query.order_by.is_empty()
            && matches!(&query.body, Body::Select(select) if select.distinct.is_none());
        if !is_same && !is_plain {
            query = self.wrapped(query, None);
        }
        if !is_same && let Body::Select(select) = &mut query.body {
            for (at, (output, wanted)) in select.output.iter_mut().zip(declared).enumerate() {
                let null = Expr::new(Kind::Literal(Literal::Null), Oid::UNKNOWN, -1);
                let value = std::mem::replace(&mut output.expr, null);
                let (from, to) = (value.sql_type.oid, wanted.sql_type);
                let converted = match called.result.is_composite() {
                    true => self.field_of_type(value, wanted.sql_type, CastContext::Assignment)?,
                    false => self.coerce(value, to, CastContext::Assignment)?,
                };
                output.expr = converted.ok_or_else(|| {
                    mismatch(called.result).detail(match called.columns.is_empty() {
                        true => format!("Actual return type is {from}."),
                        false => format!(
                            "Final statement returns {from} instead of {} at column {}.",
                            to.oid,
                            at + 1
                        ),
                    })
                })?;
            }
        }
        if let Body::Select(select) = &mut query.body {
            for (output, wanted) in select.output.iter_mut().zip(declared) {
                output.name.clone_from(&wanted.name);
            }
            if !is_same && called.result.is_composite() {
                // The row cuts and rounds the values of its attributes.
                let fields = std::mem::take(&mut select.output).into_iter();
                let fields = fields.map(|output| output.expr).collect();
                let value = Box::new(Expr::new(Kind::Row(fields), Oid::RECORD, -1));
                let cast = Cast { value, conversion: Conversion::Row, is_explicit: false };
                let expr = Expr::new(Kind::Cast(cast), called.result, -1);
                select.output = vec![Output { name: called.routine.name.clone(), expr }];
            }
            query.columns = select.output.iter().map(Output::column).collect();
        } else {
            for (column, wanted) in query.columns.iter_mut().zip(declared) {
                column.name.clone_from(&wanted.name);
            }
        }
        Ok(query)
    }

    /// The fields of the rows of a composite type that a query has in its only column.
    pub(super) fn with_fields(&mut self, query: Query, row: Oid) -> Query {
        let mut query = self.wrapped(query, None);
        if let Body::Select(select) = &mut query.body
            && let Some(whole) = select.output.pop()
        {
            let attributes = row.attributes().unwrap_or_default().iter().enumerate();
            let outputs = attributes.map(|(field, (name, sql_type))| {
                let value = FieldValue { row: whole.expr.clone(), field, name: name.clone() };
                let expr = Expr::new(Kind::Field(Box::new(value)), *sql_type, -1);
                Output { name: name.clone(), expr }
            });
            select.output = outputs.collect();
            query.columns = select.output.iter().map(Output::column).collect();
        }
        query
    }

    /// The rows of a query that satisfy a condition, as those of another query.
    pub(super) fn wrapped(&mut self, query: Query, filter: Option<Expr>) -> Query {
        let select = self.next_select();
        self.scopes.push(Scope::new(select));
        let id = self.next_relation();
        self.scopes.pop();
        self.columns_of_relation.insert(id, query.columns.clone());
        self.note_records(id, &query);
        let output = |(at, column): (usize, &Column)| Output {
            name: column.name.clone(),
            expr: Expr::new(Kind::Column(id, at), column.sql_type, -1),
        };
        let columns = query.columns.clone();
        let outputs = columns.iter().enumerate().map(output).collect();
        let source = Source::Query(Box::new(query));
        let alias = "body".to_owned();
        let relation = Relation { id, alias, columns, is_lateral: false, source };
        let from = vec![From::Relation(Box::new(relation))];
        Query::from(Select { filter, ..Select::plain(select, from, outputs) })
    }
}

/// The error for a body whose results are not those that are declared.
fn mismatch(result: Oid) -> Error {
    let message = format!("return type mismatch in function declared to return {result}");
    Error::new("42P13", message)
}
