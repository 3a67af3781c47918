//! The body of a function, ready to be executed.

use crate::composite::is_row;
use crate::home::{self, Home, Source};
use crate::host::{StatementHost, Statements};
use crate::memory::Memory;
use crate::purity;
use crate::returned;
use crate::script::statements;
use crate::steady::steady_value;
use crate::value::{Value, base, unbounded, written_id};
use catalog_views::search_path::SearchPath;
use datafusion::common::ScalarValue;
use lowering::Shape;
use parser::Body as StatementBody;
use plpgsql::tree::{Block, Sql};
use plpgsql::{Called, Form, Host, Variable};
use std::sync::Arc;
use store::catalog::{Catalog, Function, Parameter, RelationId, SqlType, Volatility};
use system_catalog::Oid;
use values::error::{Error, Result, SqlState};
use values::types::BPCHAR;

/// A function, ready to be executed.
pub struct Prepared {
    /// The function.
    pub function: Arc<Function>,
    body: Body,
    /// Whether its statements are executed in the transaction.
    pub needs_driver: bool,
}

enum Body {
    Procedural(Block),
    Sql(Vec<Sql>),
}

impl Prepared {
    /// A function of a catalog.
    ///
    /// # Errors
    /// It is gone; what is wrong with its body.
    pub fn of(catalog: &Catalog, id: RelationId) -> Result<Self> {
        let gone = || Error::new(SqlState::UndefinedFunction, "the function does not exist");
        let function = catalog.function_by_id(id).ok_or_else(gone)?;
        let function = routines::resolved(catalog, function).into_owned();
        let body = match function.language.as_str() {
            "sql" => Body::Sql(statements(&function.body)?),
            _ => Body::Procedural(plpgsql::parse(&function.body).map_err(Error::without_position)?),
        };
        // Where the settings of the session change, nothing else may run.
        let needs_driver = changes_settings(&function)
            || function.volatility == Volatility::Volatile
                && !purity::only_computes(catalog, &function);
        Ok(Self { function, body, needs_driver })
    }

    /// Whether it is volatile.
    pub fn is_volatile(&self) -> bool {
        self.function.volatility == Volatility::Volatile
    }

    /// Its body in PL/pgSQL; `None` of a function in SQL.
    pub fn block(&self) -> Option<&Block> {
        match &self.body {
            Body::Procedural(block) => Some(block),
            Body::Sql(_) => None,
        }
    }

    /// The rows that it is about, if all its statements are about rows of one place.
    pub fn home(&self, catalog: &Catalog, path: SearchPath<'_>) -> Option<Home> {
        let source = match &self.body {
            Body::Procedural(block) => Source::Block(block),
            Body::Sql(all) => Source::Sql(all.iter().map(|sql| sql.text.as_str()).collect()),
        };
        home::home(catalog, path, &self.function, &source)
    }

    /// A host for it, which knows what an earlier one has planned.
    pub fn host<S: Statements>(&self, statements: S, memory: Memory) -> StatementHost<S> {
        match self.body {
            Body::Procedural(_) => StatementHost::resume(statements, memory),
            Body::Sql(_) => StatementHost::of_sql(statements, memory),
        }
    }

    /// The rows of its result for some arguments.
    ///
    /// # Errors
    /// Those of the body.
    pub async fn call<S: Statements>(
        &self,
        host: &mut StatementHost<S>,
        shape: &Shape,
        arguments: Vec<ScalarValue>,
    ) -> Result<Vec<Vec<ScalarValue>>> {
        if self.function.is_strict && arguments.iter().any(ScalarValue::is_null) {
            return match shape.is_set {
                true => Ok(Vec::new()),
                false => Ok(vec![self.nulls(shape)?]),
            };
        }
        let mut rows = match &self.body {
            Body::Procedural(block) => self.interpreted(block, host, shape, arguments).await?,
            Body::Sql(statements) => self.executed(statements, host, shape, arguments).await?,
        };
        if rows.is_empty() && !shape.is_set {
            return Ok(vec![self.nulls(shape)?]);
        }
        let is_returned = matches!(self.body, Body::Procedural(_))
            && !shape.is_set
            && self.function.outputs().next().is_none();
        let within = |error: Error| match is_returned {
            true => error.within(format_args!(
                "PL/pgSQL function {} while casting return value to function's return type",
                signature(&self.function)
            )),
            false => error,
        };
        let declared = self.declared(shape.columns.len());
        let mut converted = Vec::with_capacity(rows.len());
        for row in rows.drain(..) {
            let row = returned::columns(row, shape);
            if let [of] = shape.columns.as_slice()
                && !shape.is_row
                && of.attributes().is_some()
            {
                let row = returned::converted(host, row, of, is_returned).await.map_err(&within)?;
                converted.push(vec![row]);
                continue;
            }
            let mut values = Vec::with_capacity(row.len());
            for (at, (value, of)) in row.into_iter().zip(&shape.columns).enumerate() {
                let value = returned::column(host, value, of, declared.get(at).copied()).await;
                values.push(value.map_err(&within)?);
            }
            converted.push(values);
        }
        Ok(converted)
    }

    fn nulls(&self, shape: &Shape) -> Result<Vec<ScalarValue>> {
        let null = |of: &store::catalog::SqlType| Ok(ScalarValue::try_from(&of.arrow())?);
        shape.columns.iter().map(null).collect()
    }

    async fn interpreted<S: Statements>(
        &self,
        block: &Block,
        host: &mut StatementHost<S>,
        shape: &Shape,
        arguments: Vec<ScalarValue>,
    ) -> Result<Vec<Vec<Value>>> {
        let is_composite = self.is_composite();
        let columns = match shape.columns.as_slice() {
            [only] if let (false, Some(attributes)) = (shape.is_row, only.attributes()) => {
                attributes.iter().map(|attribute| attribute.sql_type.clone()).collect()
            }
            columns => columns.to_vec(),
        };
        let declared = self.declared(columns.len());
        let name = |(at, of): (usize, &SqlType)| match declared.get(at) {
            Some(oid) if is_held_as_another(*oid) => oid.to_string(),
            _ => base(of).to_string(),
        };
        let types: Vec<String> = columns.iter().enumerate().map(name).collect();
        let (parameters, outputs) = self.parameters(host, shape, arguments)?;
        let is_value = is_composite && !shape.is_set;
        let form = Form {
            outputs: &outputs,
            types: &types,
            is_row: shape.is_row && outputs.is_empty() && !is_value,
            is_composite,
            is_set: shape.is_set,
            is_void: self.is_void(),
        };
        let of = Called { name: &self.function.name, signature: &signature(&self.function) };
        plpgsql::call(block, of, parameters, form, host).await
    }

    /// The variables that it begins with, and the places of its output parameters.
    fn parameters<S: Statements>(
        &self,
        host: &mut StatementHost<S>,
        shape: &Shape,
        arguments: Vec<ScalarValue>,
    ) -> Result<(Vec<plpgsql::Given<Value>>, Vec<usize>)> {
        let (mut all, mut outputs) = (Vec::new(), Vec::new());
        let mut given = arguments.into_iter().zip(&shape.arguments);
        let mut columns = shape.columns.iter();
        // The only output is the row whose fields are the columns.
        let is_whole = self.is_composite() && shape.is_row;
        for (at, parameter) in self.function.parameters.iter().enumerate() {
            let column = parameter.mode.is_output().then(|| columns.next()).flatten();
            let column = column.filter(|_| !is_whole);
            if parameter.mode.is_output() {
                outputs.push(at);
            }
            let argument = parameter.mode.is_input().then(|| given.next()).flatten();
            let value = match (argument, column) {
                (Some((scalar, of)), _) => of_parameter(parameter, scalar, of),
                (None, Some(of)) => {
                    of_parameter(parameter, ScalarValue::try_from(&of.arrow())?, of)
                }
                (None, None) if let Some(of) = held_composite(parameter) => {
                    Value { scalar: ScalarValue::try_from(&of.arrow())?, of }
                }
                (None, None) => host.null(&type_name(parameter))?,
            };
            all.push((parameter.name.clone(), variable_type(parameter, &value.of), value));
        }
        Ok((all, outputs))
    }

    /// The types with which the columns of the result are declared. None for the attributes of a composite type.
    fn declared(&self, columns: usize) -> Vec<Oid> {
        let outputs = self.function.outputs().map(|parameter| Oid(parameter.type_id));
        let mut declared: Vec<Oid> = outputs.collect();
        if declared.is_empty() {
            declared.push(Oid(self.function.result_id));
        }
        match declared.len() == columns && !self.is_composite() {
            true => declared,
            false => Vec::new(),
        }
    }

    /// The parameters of a SQL function: `$n` first, then by their names.
    fn variables(&self, shape: &Shape, arguments: Vec<ScalarValue>) -> Vec<Variable<Value>> {
        let values = arguments.into_iter().zip(&shape.arguments);
        let values: Vec<Value> =
            values.map(|(scalar, of)| Value { scalar, of: of.clone() }).collect();
        let numbered = values.iter().enumerate().map(|(at, value)| Variable {
            qualifier: None,
            name: format!("${}", at + 1),
            value: value.clone(),
        });
        let inputs = self.function.inputs().zip(&values);
        let inputs = inputs.filter(|(parameter, _)| !parameter.name.is_empty());
        let named = inputs.flat_map(|(parameter, value)| {
            [None, Some(self.function.name.clone())].map(|qualifier| Variable {
                qualifier,
                name: parameter.name.clone(),
                value: value.clone(),
            })
        });
        numbered.chain(named).collect()
    }

    async fn executed<S: Statements>(
        &self,
        statements: &[Sql],
        host: &mut StatementHost<S>,
        shape: &Shape,
        arguments: Vec<ScalarValue>,
    ) -> Result<Vec<Vec<Value>>> {
        let variables = self.variables(shape, arguments);
        let mut last = None;
        for (at, statement) in statements.iter().enumerate() {
            host.check().await?;
            let is_last = at + 1 == statements.len();
            let is_query = parser::one(&statement.text)
                .is_ok_and(|one| matches!(one.body(), StatementBody::Query));
            let limit = (is_last && !shape.is_set && is_query).then_some(1);
            let done = host.execute(statement, &variables, limit).await;
            let name = &self.function.name;
            let place = |error: Error| {
                error.within(format_args!("SQL function \"{name}\" statement {}", at + 1))
            };
            last = Some(done.map_err(place)?);
        }
        if self.is_void() {
            return Ok(vec![vec![host.of_text(None)]]);
        }
        let mismatch = |detail: String| {
            let oid = Oid(self.function.result_id);
            let message = format!("return type mismatch in function declared to return {oid}");
            Error::new(SqlState::InvalidFunctionDefinition, message).with_detail(detail)
        };
        let Some(mut last) = last.filter(|last| last.has_rows) else {
            return Err(mismatch(
                "Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING."
                    .to_owned(),
            ));
        };
        let width = match shape.columns.as_slice() {
            [only] if !shape.is_row => only.attributes().map_or(1, <[_]>::len),
            columns => columns.len(),
        };
        let is_whole = |row: &Vec<Value>| row.len() == 1 && is_row(&row[0]);
        let is_whole = self.is_composite() && last.rows.iter().all(is_whole);
        if last.columns.len() != width && !is_whole {
            return Err(mismatch(match width {
                1 if !shape.is_row => "Final statement must return exactly one column.".to_owned(),
                wanted if last.columns.len() < wanted => {
                    "Final statement returns too few columns.".to_owned()
                }
                _ => "Final statement returns too many columns.".to_owned(),
            }));
        }
        if !shape.is_set {
            last.rows.truncate(1);
        }
        Ok(last.rows)
    }

    /// Whether the result is a row of a composite type, also of a table's rows.
    fn is_composite(&self) -> bool {
        Oid(self.function.result_id).is_composite() || self.function.result_relation.is_some()
    }

    fn is_void(&self) -> bool {
        Oid(self.function.result_id).catalog_name() == "void"
    }
}

/// A function as the context of errors names it: `f(integer,text)`.
pub fn signature(function: &Function) -> String {
    let types: Vec<String> =
        function.inputs().map(|input| Oid(input.type_id).to_string()).collect();
    format!("{}({})", function.name, types.join(","))
}

/// Whether a function runs with other settings than its caller.
pub fn changes_settings(function: &Function) -> bool {
    function.is_security_definer || !function.settings.is_empty()
}

/// The composite type of a parameter.
fn held_composite(parameter: &Parameter) -> Option<SqlType> {
    let oid = Oid(parameter.type_id);
    if oid.is_composite() { parser::types::held(oid.into()) } else { None }
}

/// The name of a parameter's type.
fn type_name(parameter: &Parameter) -> String {
    written_id(Oid(parameter.type_id))
}

/// Whether the values of a type, or the items of an array, are held as those of another one.
fn is_held_as_another(oid: Oid) -> bool {
    let held = [Oid::BPCHAR, Oid::NAME, Oid::CHAR, Oid::OID, Oid::REFCURSOR];
    held.contains(&oid.element().unwrap_or(oid))
}

/// The type of a parameter's variable, which has no length or digits. That of a polymorphic one is what is given.
fn variable_type(parameter: &Parameter, given: &SqlType) -> String {
    let oid = Oid(parameter.type_id);
    match parser::types::held(oid.into()) {
        Some(_) if !oid.is_of_users() => written_id(oid),
        _ => unbounded(given),
    }
}

/// An argument as the value of a parameter, without the length or the digits of its own type.
fn of_parameter(parameter: &Parameter, scalar: ScalarValue, of: &SqlType) -> Value {
    match of {
        SqlType::Numeric { precision: 1.., .. } => {
            Value { scalar: steady_value(&scalar).into_owned(), of: SqlType::NUMERIC }
        }
        SqlType::Varchar(_) => Value { scalar, of: SqlType::Varchar(None) },
        SqlType::Precise(of, _) => Value { scalar, of: (**of).clone() },
        SqlType::Text if Oid(parameter.type_id) == Oid::BPCHAR => Value { scalar, of: BPCHAR },
        // The length says how many blanks there are.
        of => Value { scalar, of: of.clone() },
    }
}
