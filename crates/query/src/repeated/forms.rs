//! The short forms of statements of functions, recognised once.

use crate::analysis;
use crate::context::{Frame, Inner};
use crate::short::Short;
use catalog_views::settings::Settings;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use grammar::tree::{Node, NodeEnum};
use parser::Statement;
use plan_cache::forms::Form as KeptForm;
use plan_cache::{Basis, Numbered};
use planner::NamedParameter;
use procedural::{Scalar, Value};
use scan::tables::Tables;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::Result;
use values::style::Style;

/// Whether a session's settings allow the short path.
pub(crate) fn is_short_allowed(settings: &Settings) -> bool {
    settings.style() == Style::default() && !settings.is_read_only()
}

/// The short form of a statement of a function.
pub(super) struct Form {
    pub(super) short: Short,
    /// Expressions of variables, whose values follow those of the variables.
    computed: Vec<Scalar>,
    /// The types of numbers that have to be wider than their variables, by their places.
    wider: Vec<(usize, DataType)>,
}

/// The short form of a statement of a function, also of a text that it executes, and the values of its parameters: of the
/// variables that the frame has. `None` if it has to be planned.
///
/// # Errors
/// Those of the expressions of its variables, and of the engine.
pub(super) async fn of_function(
    session: &Inner,
    frame: &Frame<'_>,
    tables: &dyn Tables,
    statement: &Statement,
) -> Result<Option<(Arc<Form>, Vec<ScalarValue>)>> {
    // Constants without variables are inserted without the planner anyway. Settings of a call are not those of the next one.
    let is_insert = || matches!(statement.change(), Some(NodeEnum::InsertStmt(_)));
    if !frame.is_of_function
        || frame.names.is_empty() && is_insert()
        || !frame.transitions.is_empty()
        || !is_short_allowed(&frame.settings)
        || session.borrowed.is_lent()
    {
        return Ok(None);
    }
    let basis = &Basis::new(tables.catalog(), &frame.settings);
    let known = match session.forms.find(basis, &statement.text, frame.names) {
        Some(known) => known,
        None => {
            let form = Form::of(session, frame, tables, statement).await?;
            let form = form.map(|form| Arc::new(form) as _);
            session.forms.keep(basis, &statement.text, frame.names, Option::clone(&form));
            form
        }
    };
    with_parameters(known, (frame.names, frame.parameters))
}

/// As [`of_function`], of a statement that was recognised before.
///
/// # Errors
/// Those of the expressions of its variables.
pub(super) fn again(
    session: &Inner,
    tables: &dyn Tables,
    statement: &Statement,
    given: (&[NamedParameter], &[ScalarValue]),
) -> Result<Option<(Arc<Form>, Vec<ScalarValue>)>> {
    let basis = Basis::new(tables.catalog(), &session.settings.load_full());
    with_parameters(session.forms.find(&basis, &statement.text, given.0).flatten(), given)
}

fn with_parameters(
    form: KeptForm,
    given: (&[NamedParameter], &[ScalarValue]),
) -> Result<Option<(Arc<Form>, Vec<ScalarValue>)>> {
    let Some(form) = form.and_then(|form| form.downcast::<Form>().ok()) else { return Ok(None) };
    Ok(form.parameters(given)?.map(|parameters| (form, parameters)))
}

impl Form {
    async fn of(
        session: &Inner,
        frame: &Frame<'_>,
        tables: &dyn Tables,
        statement: &Statement,
    ) -> Result<Option<Self>> {
        let numbered =
            statement.rows().and_then(|rows| Numbered::of(frame.path(), tables, rows, frame.names));
        let Some(Numbered { statement: rows, computed }) = numbered else { return Ok(None) };
        let bare = session.frame_of(&[], statement);
        let Some(short) = Short::recognise(&bare, tables, &rows)? else { return Ok(None) };
        let mut scalars = Vec::with_capacity(computed.len());
        for expression in &computed {
            let Some(scalar) = scalar_of(frame, tables, expression).await else { return Ok(None) };
            scalars.push(scalar);
        }
        let variables = frame.names.iter().map(|name| &name.sql_type);
        let types: Vec<&SqlType> = variables.chain(scalars.iter().map(Scalar::sql_type)).collect();
        let mut wider = Vec::new();
        for (number, wanted) in short.parameters() {
            match types.get(number) {
                Some(of) if of.fits(&wanted) => {
                    let (held, needed) = (of.arrow(), wanted.arrow());
                    if needed.is_integer() && held != needed {
                        wider.push((number, needed));
                    }
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(Self { short, computed: scalars, wider }))
    }

    /// The values of variables, and of expressions of variables. `None` if one has another type than before.
    fn parameters(
        &self,
        (names, values): (&[NamedParameter], &[ScalarValue]),
    ) -> Result<Option<Vec<ScalarValue>>> {
        let mut parameters = values.to_vec();
        for scalar in &self.computed {
            match scalar.of_values(names, values).transpose()? {
                Some(Value { scalar, .. }) => parameters.push(scalar),
                None => return Ok(None),
            }
        }
        for (number, needed) in &self.wider {
            if let Some(value) = parameters.get_mut(*number) {
                *value = value.cast_to(needed)?;
            }
        }
        Ok(Some(parameters))
    }
}

/// An expression of variables; `None` if the engine has to evaluate it.
async fn scalar_of(frame: &Frame<'_>, tables: &dyn Tables, expression: &Node) -> Option<Scalar> {
    let text = format!("SELECT {}", grammar::expression_text(expression)?);
    let statement = parser::one(&text).ok()?;
    let within = frame.session.frame_of(frame.parameters, &statement).with_names(frame.names);
    let planner = within.planner(tables);
    let query = analysis::query_of(&statement).ok()?;
    let tree = Box::pin(analysis::tree_without_values(&within, &planner, query)).await.ok()?;
    Scalar::of(&tree, frame.names)
}
