//! The procedure that a CALL means, and its arguments.

use crate::analysis;
use crate::context::Frame;
use analyzer::resolve::{Arguments, NoFunction, Signature, among};
use analyzer::system::Oid;
use parser::Statement;
use parser::commands::Call;
use procedural::{Value, type_name};
use std::sync::Arc;
use store::catalog::{Catalog, Function, Object, ParameterMode, Privileges};
use values::error::{Error, Result, SqlState};
use values::types::BPCHAR;

/// A value of an output parameter: the place of its argument, its name and the value.
pub(super) type Output = (usize, String, Value);

/// The SQL type of an id.
pub(super) fn held(id: u32) -> Result<store::catalog::SqlType> {
    if Oid(id) == Oid::BPCHAR {
        return Ok(BPCHAR);
    }
    let sql_type = analyzer::system::SqlType::plain(Oid(id));
    let unknown =
        || Error::unsupported(format!("a parameter of type {} is not supported", Oid(id)));
    parser::types::held(sql_type).ok_or_else(unknown)
}

/// The output parameters, with their places among all.
pub(super) fn outputs(
    function: &Function,
) -> impl Iterator<Item = (usize, &store::catalog::Parameter)> {
    let all = function.parameters.iter().enumerate();
    all.filter(|(_, parameter)| parameter.mode.is_output())
}

/// A procedure as a candidate of a CALL, which has an argument for each parameter, also for those of mode OUT.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    function: &'a Arc<Function>,
    types: &'a [Oid],
    /// The type of each of the variadic arguments.
    variadic: Option<Oid>,
}

impl Signature for Candidate<'_> {
    fn arguments(&self) -> &[Oid] {
        self.types
    }

    fn variadic(&self) -> Option<Oid> {
        self.variadic
    }

    fn defaults(&self) -> usize {
        let last = self.function.parameters.iter().rev();
        last.take_while(|parameter| parameter.default.is_some()).count()
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.function.parameters.iter().position(|parameter| parameter.name == name)
    }

    fn schema(&self) -> &str {
        &self.function.schema
    }
}

/// The procedure that a CALL means.
pub(super) struct Resolved {
    pub(super) function: Arc<Function>,
    /// For each parameter the place of its argument; `None` where the default applies.
    pub(super) places: Vec<Option<usize>>,
    /// The number of arguments that are variadic ones, at the end.
    variadic: usize,
    /// The type of a variadic argument.
    item: Option<Oid>,
}

/// Finds the procedure that a CALL means.
pub(super) async fn resolve(
    frame: &Frame<'_>,
    tables: &dyn scan::tables::Tables,
    call: &Call,
) -> Result<Resolved> {
    let catalog: &Catalog = tables.catalog();
    let name = &call.name;
    let schemas = frame.path().of_function(name.schema.as_deref());
    let mut types = Vec::with_capacity(call.arguments.len());
    for argument in &call.arguments {
        types.push(match argument.is_unknown {
            true => Oid::UNKNOWN,
            false => type_of(frame, tables, &argument.text).await?,
        });
    }
    let oid = |of: &store::catalog::Parameter| Oid(of.type_id);
    let all = |of: &Arc<Function>| -> Vec<Oid> { of.parameters.iter().map(oid).collect() };
    let named = schemas.iter().flat_map(|schema| catalog.functions_named(schema, &name.name));
    let resolved = |of: &Arc<Function>| routines::resolved(catalog, of).into_owned();
    let named: Vec<_> = named.map(|of| (resolved(of), all(&resolved(of)))).collect();
    let names: Vec<&str> = call.arguments.iter().filter_map(|of| of.name.as_deref()).collect();
    let arguments =
        Arguments { types: &types, names: &names, is_variadic_array: call.is_variadic_array };
    let candidates = named.iter().map(|(function, types)| {
        let last = function.parameters.last().filter(|of| of.mode == ParameterMode::Variadic);
        let item = last.and_then(|of| routines::variadic_item(catalog, of.type_id)).map(Oid);
        Candidate { function, types, variadic: item }
    });
    let chosen = among(candidates, &arguments).map_err(|failure| {
        let shown: Vec<String> = types.iter().map(ToString::to_string).collect();
        let shown = format!("{name}({})", shown.join(", "));
        let is_in_path = name.schema.as_deref().is_none_or(|schema| schema == "pg_catalog");
        if is_in_path && analyzer::resolve::function(&name.name, &arguments).is_ok() {
            return no_function(&shown);
        }
        no_procedure(&shown, failure)
    });
    let at_name = |error: Error| match usize::try_from(call.location) {
        Ok(byte) => {
            let before = frame.text.get(..byte).map_or(0, |text| text.chars().count());
            error.at(before + 1)
        }
        Err(_) => error,
    };
    let chosen = chosen.map_err(at_name)?;
    let function = Arc::clone(chosen.function.function);
    if !function.is_procedure {
        return Err(at_name(no_function(&routines::signature(&function))));
    }
    let held = frame.access(catalog).privileges(&Object::Relation(function.id));
    if !held.contains(Privileges::EXECUTE) {
        let message = format!("permission denied for procedure {}", function.name);
        return Err(Error::new(SqlState::InsufficientPrivilege, message));
    }
    if let Some(of) = function.parameters.iter().find(|of| Oid(of.type_id).is_polymorphic()) {
        let message = format!("CALL with a parameter of type {}", type_name(of.type_id));
        return Err(Error::unsupported(format!("{message} is not supported")));
    }
    Ok(Resolved {
        places: chosen.places.clone(),
        variadic: chosen.variadic,
        item: chosen.function.variadic,
        function,
    })
}

/// The refusal of a function.
fn no_function(shown: &str) -> Error {
    let message = format!("{shown} is not a procedure");
    let error = Error::new(SqlState::WrongObjectType, message);
    error.with_hint("To call a function, use SELECT.")
}

/// Why no procedure is meant.
fn no_procedure(shown: &str, failure: NoFunction) -> Error {
    match failure {
        NoFunction::Unknown => {
            let message = format!("procedure {shown} does not exist");
            Error::new(SqlState::UndefinedFunction, message).with_hint(
                "No procedure matches the given name and argument types. You might need to add \
                 explicit type casts.",
            )
        }
        NoFunction::Ambiguous => {
            let message = format!("procedure {shown} is not unique");
            Error::new(SqlState::chosen("42725"), message).with_hint(
                "Could not choose a best candidate procedure. You might need to add explicit type \
                 casts.",
            )
        }
    }
}

impl Resolved {
    /// The types of the arguments, the variadic ones expanded.
    pub(super) fn types(&self) -> impl Iterator<Item = u32> {
        let fixed = self.places.len().saturating_sub(self.variadic);
        let parameters = self.function.parameters.iter().take(fixed).map(|of| of.type_id);
        parameters.chain(self.item.map(|item| item.0).into_iter().cycle().take(self.variadic))
    }

    /// The output parameters with their values.
    pub(super) fn outputs(&self, values: Vec<Value>) -> Vec<Output> {
        let output = |((at, parameter), value): ((usize, &store::catalog::Parameter), Value)| {
            let place = self.places.get(at).copied().flatten().unwrap_or(usize::MAX);
            (place, parameter.name.clone(), value)
        };
        outputs(&self.function).zip(values).map(output).collect()
    }

    /// The query of the arguments of a CALL, as values of the parameters' types, in their order; `None` without any.
    pub(super) fn query_of_arguments(
        &self,
        frame: &Frame<'_>,
        call: &Call,
    ) -> Result<Option<Statement>> {
        let texts = self.arguments_of(call);
        match texts.is_empty() {
            true => Ok(None),
            false => query_of(frame, &texts.join(", ")).map(Some),
        }
    }

    /// The arguments of a CALL as queries of their own.
    pub(super) fn arguments(&self, frame: &Frame<'_>, call: &Call) -> Result<Vec<Statement>> {
        self.arguments_of(call).iter().map(|text| query_of(frame, text)).collect()
    }

    fn arguments_of(&self, call: &Call) -> Vec<String> {
        let argument = |place: &Option<usize>| place.and_then(|place| call.arguments.get(place));
        let cast = |text: &str, of: u32| format!("CAST(({text}) AS {})", type_name(of));
        let items = self.places.iter().skip(self.places.len().saturating_sub(self.variadic));
        let texts = self.function.parameters.iter().enumerate().map(|(at, parameter)| {
            let text = match (self.places.get(at).and_then(argument), &parameter.default) {
                _ if parameter.mode == ParameterMode::Out => "NULL",
                _ if parameter.mode == ParameterMode::Variadic && self.variadic > 0 => {
                    let of = self.item.map_or(parameter.type_id, |item| item.0);
                    let items = items.clone().filter_map(argument);
                    let items: Vec<_> = items.map(|item| cast(&item.text, of)).collect();
                    &format!("ARRAY[{}]", items.join(", "))
                }
                (Some(argument), _) => &argument.text,
                (None, Some(default)) => default,
                (None, None) => "NULL",
            };
            cast(text, parameter.type_id)
        });
        texts.collect()
    }
}

/// The query of some expressions, with the types of the statement's parameters.
fn query_of(frame: &Frame<'_>, expressions: &str) -> Result<Statement> {
    let query = parser::one(&format!("SELECT {expressions}")).map_err(Error::without_position)?;
    Ok(query.with_parameter_types(frame.parameter_types()))
}

/// The type of an argument.
async fn type_of(frame: &Frame<'_>, tables: &dyn scan::tables::Tables, text: &str) -> Result<Oid> {
    let statement = query_of(frame, text)?;
    let inner = frame.session.frame_of(frame.parameters, &statement).with_names(frame.names);
    let planner = inner.planner(tables);
    let query = analysis::query_of(&statement)?;
    let oid = analysis::type_of_query(&planner, query, &statement.text).await;
    oid.map_err(Error::without_position)
}
