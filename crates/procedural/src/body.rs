//! The body of a function, ready to be executed.

use crate::call_form::{CallForm, called, is_composite};
use crate::composite::is_row;
use crate::home::{self, Home, Source};
use crate::host::StatementHost;
use crate::known::Shared;
use crate::memory::Memory;
use crate::purity::{changes_settings, only_computes};
use crate::returned;
use crate::script::statements;
use crate::statements::Statements;
use crate::value::Value;
use catalog_views::search_path::SearchPath;
use datafusion::common::ScalarValue;
use lowering::Shape;
use parking_lot::Mutex;
use parser::Body as StatementBody;
use plpgsql::tree::{Block, Sql};
use plpgsql::{Called, Host, Variable};
use std::sync::Arc;
use store::catalog::{Catalog, Function, RelationId, Volatility};
use system_catalog::Oid;
use values::error::{Error, Result, SqlState};

/// Forms of the calls of one function, at most: of calls with arguments of other types.
const FORMS_MAX: usize = 8;

/// A function, ready to be executed.
pub struct Prepared {
    /// The function.
    pub function: Arc<Function>,
    body: Body,
    /// Whether its statements are executed in the transaction.
    pub needs_driver: bool,
    forms: Mutex<Vec<Arc<CallForm>>>,
    /// What its hosts have found out about its texts.
    shared: Shared,
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
            || function.volatility == Volatility::Volatile && !only_computes(catalog, &function);
        let (forms, shared) = Default::default();
        Ok(Self { function, body, needs_driver, forms, shared })
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
            Body::Procedural(_) => self.resume(statements, memory),
            Body::Sql(_) => StatementHost::of_sql(statements, memory),
        }
    }

    /// A host for its body in PL/pgSQL, which also knows what others have found out that run at the same time.
    pub fn resume<S: Statements>(&self, statements: S, memory: Memory) -> StatementHost<S> {
        // The settings of such a function are lent while it runs.
        let shared = (!changes_settings(&self.function)).then(|| self.shared.clone());
        StatementHost::resume(statements, memory).sharing(shared)
    }

    /// What all calls that the engine's function of a shape makes have in common.
    ///
    /// # Errors
    /// A parameter has a type without values.
    pub fn form(&self, shape: &Shape) -> Result<Arc<CallForm>> {
        let mut forms = self.forms.lock();
        if let Some(form) = forms.iter().find(|form| form.shape == *shape) {
            return Ok(Arc::clone(form));
        }
        let has_variables = matches!(self.body, Body::Procedural(_));
        let form = Arc::new(CallForm::of(&self.function, shape, has_variables)?);
        if forms.len() >= FORMS_MAX {
            forms.clear();
        }
        forms.push(Arc::clone(&form));
        Ok(form)
    }

    /// The value of a result that is neither a row nor a set, for some arguments.
    ///
    /// # Errors
    /// Those of the body.
    pub async fn value<S: Statements>(
        &self,
        host: &mut StatementHost<S>,
        form: &CallForm,
        arguments: Vec<ScalarValue>,
    ) -> Result<ScalarValue> {
        if let (Body::Procedural(block), [of]) = (&self.body, form.shape.columns.as_slice())
            && form.is_value()
            && !self.is_null_for(&arguments)
        {
            let variables = form.variables(arguments);
            let (called, result) = (self.called(form), form.result());
            let value = plpgsql::value(block, called, variables, result, host).await?;
            let value = returned::column(host, value, of, form.declared.first().copied()).await;
            return value.map_err(|error| self.returning(error, form));
        }
        let rows = self.call(host, form, arguments).await?;
        let first = rows.into_iter().next().and_then(|row| row.into_iter().next());
        Ok(first.unwrap_or(ScalarValue::Null))
    }

    /// Whether it is not executed for some arguments, because one of them is NULL.
    fn is_null_for(&self, arguments: &[ScalarValue]) -> bool {
        self.function.is_strict && arguments.iter().any(ScalarValue::is_null)
    }

    /// Whether its result is what RETURN gives.
    fn is_returned(&self, form: &CallForm) -> bool {
        let is_procedural = matches!(self.body, Body::Procedural(_));
        is_procedural && !form.shape.is_set && self.function.outputs().next().is_none()
    }

    /// An error of the conversion of what RETURN gives.
    fn returning(&self, error: Error, form: &CallForm) -> Error {
        match self.is_returned(form) {
            true => error.within(format_args!(
                "PL/pgSQL function {} while casting return value to function's return type",
                form.signature
            )),
            false => error,
        }
    }

    /// The rows of its result for some arguments.
    ///
    /// # Errors
    /// Those of the body.
    pub async fn call<S: Statements>(
        &self,
        host: &mut StatementHost<S>,
        form: &CallForm,
        arguments: Vec<ScalarValue>,
    ) -> Result<Vec<Vec<ScalarValue>>> {
        let shape = &form.shape;
        if self.is_null_for(&arguments) {
            return match shape.is_set {
                true => Ok(Vec::new()),
                false => Ok(vec![self.nulls(shape)?]),
            };
        }
        let mut rows = match &self.body {
            Body::Procedural(block) => self.interpreted(block, host, form, arguments).await?,
            Body::Sql(statements) => self.executed(statements, host, shape, arguments).await?,
        };
        if rows.is_empty() && !shape.is_set {
            return Ok(vec![self.nulls(shape)?]);
        }
        let is_returned = self.is_returned(form);
        let within = |error: Error| self.returning(error, form);
        let mut converted = Vec::with_capacity(rows.len());
        for row in rows.drain(..) {
            let row = returned::columns(row, shape);
            if let [of] = shape.columns.as_slice()
                && !shape.is_row
                && of.attributes().is_some()
            {
                let row = returned::converted(host, row, of, is_returned).await.map_err(within)?;
                converted.push(vec![row]);
                continue;
            }
            let mut values = Vec::with_capacity(row.len());
            for (at, (value, of)) in row.into_iter().zip(&shape.columns).enumerate() {
                let value = returned::column(host, value, of, form.declared.get(at).copied()).await;
                values.push(value.map_err(within)?);
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
        form: &CallForm,
        arguments: Vec<ScalarValue>,
    ) -> Result<Vec<Vec<Value>>> {
        let variables = form.variables(arguments);
        plpgsql::call(block, self.called(form), variables, form.result(), host).await
    }

    fn called<'a>(&'a self, form: &'a CallForm) -> Called<'a> {
        called(&self.function, &form.signature)
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
            if host.turn()? {
                host.give_way().await;
            }
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
            let rows = if shape.is_set { Vec::new() } else { vec![vec![host.of_text(None)]] };
            return Ok(rows);
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
        let is_whole = is_composite(&self.function) && last.rows.iter().all(is_whole);
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

    fn is_void(&self) -> bool {
        Oid(self.function.result_id).catalog_name() == "void"
    }
}
