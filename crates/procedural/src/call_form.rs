//! What all calls of a function with arguments of the same types have in common.

use crate::assignment::held;
use crate::steady::{is_number, steady_value};
use crate::value::{Value, base, unbounded, written_id};
use datafusion::common::ScalarValue;
use lowering::Shape;
use plpgsql::{Called, Form, Given};
use store::catalog::{Function, Parameter, SqlType, SystemType};
use system_catalog::Oid;
use values::error::Result;
use values::types::BPCHAR;

/// The variables that a call begins with, and the form of its result.
pub struct CallForm {
    /// What the engine's function takes and returns.
    pub(crate) shape: Shape,
    /// The function as the context of errors names it.
    pub(crate) signature: String,
    /// The types with which the columns of the result are declared. None for the attributes of a composite type.
    pub(crate) declared: Vec<Oid>,
    /// The variables, without the arguments.
    variables: Vec<Given<Value>>,
    /// The places of the arguments among them.
    inputs: Vec<usize>,
    /// The places of the output parameters among them.
    outputs: Vec<usize>,
    /// The names of the types of the columns.
    types: Vec<String>,
    is_composite: bool,
    is_void: bool,
}

impl CallForm {
    /// That of a function. `has_variables` says whether its body begins with variables.
    ///
    /// # Errors
    /// A parameter has a type without values.
    pub(crate) fn of(function: &Function, shape: &Shape, has_variables: bool) -> Result<Self> {
        let columns = match shape.columns.as_slice() {
            [only] if let (false, Some(attributes)) = (shape.is_row, only.attributes()) => {
                attributes.iter().map(|attribute| attribute.sql_type.clone()).collect()
            }
            columns => columns.to_vec(),
        };
        let declared = declared(function, columns.len());
        let name = |(at, of): (usize, &SqlType)| match declared.get(at) {
            Some(oid) if is_held_as_another(*oid) => oid.to_string(),
            _ => base(of).to_string(),
        };
        let types = columns.iter().enumerate().map(name).collect();
        let mut form = Self {
            shape: shape.clone(),
            signature: signature(function),
            declared: self::declared(function, shape.columns.len()),
            variables: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            types,
            is_composite: is_composite(function),
            is_void: Oid(function.result_id).catalog_name() == "void",
        };
        if has_variables {
            form.begin(function)?;
        }
        Ok(form)
    }

    /// Finds the variables that a call begins with.
    fn begin(&mut self, function: &Function) -> Result<()> {
        let mut given = self.shape.arguments.iter();
        let mut columns = self.shape.columns.iter();
        // The only output is the row whose fields are the columns.
        let is_whole = self.is_composite && self.shape.is_row;
        for (at, parameter) in function.parameters.iter().enumerate() {
            let column = parameter.mode.is_output().then(|| columns.next()).flatten();
            let column = column.filter(|_| !is_whole);
            if parameter.mode.is_output() {
                self.outputs.push(at);
            }
            let argument = parameter.mode.is_input().then(|| given.next()).flatten();
            if argument.is_some() {
                self.inputs.push(at);
            }
            let value = match argument.or(column) {
                Some(of) => {
                    let (scalar, of) =
                        (ScalarValue::try_from(&of.arrow())?, of_parameter(parameter, of));
                    Value { scalar, of }
                }
                None => match held_composite(parameter) {
                    Some(of) => Value { scalar: ScalarValue::try_from(&of.arrow())?, of },
                    None => Value::null(&held(&type_name(parameter))?),
                },
            };
            let of = variable_type(parameter, &value.of);
            self.variables.push((parameter.name.as_str().into(), of.into(), value));
        }
        Ok(())
    }

    /// Whether the result is one plain value: neither a row nor a set.
    pub fn is_value(&self) -> bool {
        let Shape { columns, is_row, is_list, is_set, .. } = &self.shape;
        let is_plain = matches!(columns.as_slice(), [only] if only.attributes().is_none());
        is_plain && !(*is_row || *is_list || *is_set || self.is_composite)
    }

    /// The variables of a call.
    pub(crate) fn variables(&self, arguments: Vec<ScalarValue>) -> Vec<Given<Value>> {
        let mut all = self.variables.clone();
        for (place, scalar) in self.inputs.iter().zip(arguments) {
            if let Some((_, _, value)) = all.get_mut(*place) {
                value.scalar = match is_number(&value.of) {
                    true => steady_value(&scalar).into_owned(),
                    false => scalar,
                };
            }
        }
        all
    }

    /// The form of the result, as the interpreter needs it.
    pub(crate) fn result(&self) -> Form<'_> {
        let is_value = self.is_composite && !self.shape.is_set;
        Form {
            outputs: &self.outputs,
            types: &self.types,
            is_row: self.shape.is_row && self.outputs.is_empty() && !is_value,
            is_composite: self.is_composite,
            is_set: self.shape.is_set,
            is_void: self.is_void,
        }
    }
}

/// A function as the context of errors names it: `f(integer,text)`.
pub fn signature(function: &Function) -> String {
    let types: Vec<String> =
        function.inputs().map(|input| Oid(input.type_id).to_string()).collect();
    format!("{}({})", function.name, types.join(","))
}

/// A function of this signature as an interpreter names it.
pub fn called<'a>(function: &'a Function, signature: &'a str) -> Called<'a> {
    let id = catalog_views::pg_catalog::oids::relation(function.id);
    Called { name: &function.name, signature, id }
}

/// Whether the result is a row of a composite type, also of a table's rows.
pub(crate) fn is_composite(function: &Function) -> bool {
    Oid(function.result_id).is_composite() || function.result_relation.is_some()
}

/// The types with which so many columns of the result are declared.
fn declared(function: &Function, columns: usize) -> Vec<Oid> {
    let outputs = function.outputs().map(|parameter| Oid(parameter.type_id));
    let mut declared: Vec<Oid> = outputs.collect();
    if declared.is_empty() {
        declared.push(Oid(function.result_id));
    }
    match declared.len() == columns && !is_composite(function) {
        true => declared,
        false => Vec::new(),
    }
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
    SystemType::of_oid(oid.element().unwrap_or(oid).0).is_some()
}

/// The type of a parameter's variable, which has no length or digits. That of a polymorphic one is what is given.
fn variable_type(parameter: &Parameter, given: &SqlType) -> String {
    let oid = Oid(parameter.type_id);
    match parser::types::held(oid.into()) {
        Some(_) if !oid.is_of_users() => written_id(oid),
        _ => unbounded(given),
    }
}

/// The type of the system catalogs, or of arrays of one, that a parameter has; `None` for other types.
fn system_type(parameter: &Parameter) -> Option<SqlType> {
    let held = parser::types::held(Oid(parameter.type_id).into())?;
    (held.user_type().is_none() && held.system_type().is_some()).then_some(held)
}

/// The type of a parameter's value for an argument of a type, without the length or the digits of that.
fn of_parameter(parameter: &Parameter, of: &SqlType) -> SqlType {
    if let Some(of) = system_type(parameter).filter(|system| system.arrow() == of.arrow()) {
        return of;
    }
    match of {
        SqlType::Numeric { .. } => SqlType::NUMERIC,
        SqlType::Varchar(_) => SqlType::Varchar(None),
        SqlType::Precise(of, _) => (**of).clone(),
        SqlType::Text if Oid(parameter.type_id) == Oid::BPCHAR => BPCHAR,
        // The length says how many blanks there are.
        of => of.clone(),
    }
}
