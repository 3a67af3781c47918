//! Functions and procedures that users define.

use crate::{Catalog, Error, Object, RelationId, is_temporary_schema};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How a value is passed through a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParameterMode {
    /// IN.
    In,
    /// OUT.
    Out,
    /// INOUT.
    InOut,
    /// VARIADIC: the last one in, an array of all further arguments.
    Variadic,
    /// A column of RETURNS TABLE.
    Table,
}

impl ParameterMode {
    /// Whether calls give a value for it.
    pub fn is_input(self) -> bool {
        matches!(self, Self::In | Self::InOut | Self::Variadic)
    }

    /// Whether the result has a value of it.
    pub fn is_output(self) -> bool {
        matches!(self, Self::Out | Self::InOut | Self::Table)
    }
}

/// A parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// The name; empty if it has none.
    pub name: String,
    /// The mode.
    pub mode: ParameterMode,
    /// PostgreSQL's id of the type.
    pub type_id: u32,
    /// The DEFAULT expression, as SQL text.
    pub default: Option<String>,
}

/// Whether a function gives other values for the same arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Volatility {
    /// Never.
    Immutable,
    /// Not within a statement.
    Stable,
    /// At any time.
    Volatile,
}

/// Where a function may be executed in PostgreSQL's parallel plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Parallel {
    /// Nowhere.
    Unsafe,
    /// In the leader.
    Restricted,
    /// Everywhere.
    Safe,
}

/// A function or procedure. Several may have one name, with other types of input parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// The id, of the same numbers as those of relations.
    pub id: RelationId,
    /// The schema.
    pub schema: String,
    /// The name.
    pub name: String,
    /// Whether it is a procedure.
    pub is_procedure: bool,
    /// The language.
    pub language: String,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// PostgreSQL's id of the type of the result; 0 of a procedure without output.
    pub result_id: u32,
    /// The relation whose rows the result has, in place of a type.
    pub result_relation: Option<RelationId>,
    /// Whether the result is a set.
    pub returns_set: bool,
    /// The source, as written in AS; or the text of `RETURN` or `BEGIN ATOMIC`.
    pub body: String,
    /// Whether the body is written as SQL and not as a string.
    pub is_sql_body: bool,
    /// The volatility.
    pub volatility: Volatility,
    /// Whether a NULL argument makes the result NULL.
    pub is_strict: bool,
    /// SECURITY DEFINER.
    pub is_security_definer: bool,
    /// LEAKPROOF.
    pub is_leakproof: bool,
    /// PARALLEL.
    pub parallel: Parallel,
    /// COST, as text.
    pub cost: Option<String>,
    /// ROWS, as text.
    pub rows: Option<String>,
    /// SET: names and values.
    pub settings: Vec<(String, String)>,
    /// The text of COMMENT ON.
    pub comment: Option<String>,
    /// What only some functions have.
    #[serde(default)]
    pub extension: Extension,
}

/// What only some functions have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extension {
    /// The second string of AS: the export of a module that is called.
    pub symbol: Option<String>,
    /// What makes it an aggregate.
    pub aggregate: Option<Aggregate>,
    /// What only some aggregates have.
    #[serde(default)]
    pub details: AggregateDetails,
}

impl Extension {
    /// Returns the functions that an aggregate calls.
    pub fn steps(&self) -> impl Iterator<Item = &FunctionId> {
        let of = self.aggregate.iter();
        let all =
            of.flat_map(|of| [&of.transition].into_iter().chain(&of.combine).chain(&of.finish));
        all.chain(self.details.moving.iter().flat_map(|moving| {
            [&moving.transition, &moving.inverse].into_iter().chain(&moving.finish)
        }))
    }

    /// Returns the functions that an aggregate calls, to be changed.
    pub fn steps_mut(&mut self) -> impl Iterator<Item = &mut FunctionId> {
        let of = self.aggregate.iter_mut();
        let all = of.flat_map(|of| {
            [&mut of.transition].into_iter().chain(&mut of.combine).chain(&mut of.finish)
        });
        all.chain(self.details.moving.iter_mut().flat_map(|moving| {
            [&mut moving.transition, &mut moving.inverse].into_iter().chain(&mut moving.finish)
        }))
    }

    /// Returns the first states as texts, each with PostgreSQL's id of its type.
    pub fn initial_states(&self) -> impl Iterator<Item = (u32, &str)> {
        let own = self.aggregate.iter().map(|of| (of.state_id, &of.initial));
        let moving = self.details.moving.iter().map(|of| (of.state_id, &of.initial));
        own.chain(moving).filter_map(|(state, initial)| Some((state, initial.as_deref()?)))
    }

    /// Returns PostgreSQL's ids of the types of states.
    pub fn state_ids(&self) -> impl Iterator<Item = u32> {
        let moving = self.details.moving.iter().map(|moving| moving.state_id);
        self.aggregate.iter().map(|of| of.state_id).chain(moving)
    }

    /// Returns PostgreSQL's ids of the types of states, to be changed.
    pub fn state_ids_mut(&mut self) -> impl Iterator<Item = &mut u32> {
        let moving = self.details.moving.iter_mut().map(|moving| &mut moving.state_id);
        self.aggregate.iter_mut().map(|of| &mut of.state_id).chain(moving)
    }
}

/// How an aggregate takes its arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AggregateKind {
    /// All in parentheses.
    #[default]
    Normal,
    /// Some behind WITHIN GROUP.
    OrderedSet,
    /// A row that is compared with those behind WITHIN GROUP.
    Hypothetical,
}

/// Whether a final function changes the state: FINALFUNC_MODIFY.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Modifies {
    /// READ_ONLY.
    Never,
    /// SHAREABLE.
    Shareable,
    /// READ_WRITE.
    Always,
}

/// What only some aggregates have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AggregateDetails {
    /// The kind.
    pub kind: AggregateKind,
    /// The number of arguments in front of WITHIN GROUP.
    pub direct_arguments: u32,
    /// FINALFUNC_EXTRA: the final function has a NULL for each argument.
    pub finish_takes_all: bool,
    /// FINALFUNC_MODIFY; `None` without.
    pub modifies: Option<Modifies>,
    /// SORTOP, by PostgreSQL's id.
    pub sort_operator: Option<u32>,
    /// SSPACE.
    pub space: u32,
    /// The functions for frames that move.
    pub moving: Option<MovingAggregate>,
    /// MFINALFUNC_EXTRA.
    pub moving_takes_all: bool,
    /// MFINALFUNC_MODIFY; `None` without.
    pub moving_modifies: Option<Modifies>,
}

/// The functions of an aggregate for frames that move. Frames are computed without them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovingAggregate {
    /// MSFUNC: from the state and the arguments of a row to the next state.
    pub transition: FunctionId,
    /// MINVFUNC: from the state and the arguments of the first row to the state without that row.
    pub inverse: FunctionId,
    /// PostgreSQL's id of the type of the state.
    pub state_id: u32,
    /// MINITCOND.
    pub initial: Option<String>,
    /// MFINALFUNC.
    pub finish: Option<FunctionId>,
    /// MSSPACE.
    pub space: u32,
}

/// A function by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FunctionId {
    /// A function of a user.
    User(RelationId),
    /// A function of the system, by PostgreSQL's id.
    System(u32),
}

/// What makes a function an aggregate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aggregate {
    /// SFUNC: from the state and the arguments of a row to the next state.
    pub transition: FunctionId,
    /// PostgreSQL's id of the type of the state.
    pub state_id: u32,
    /// INITCOND: the first state, as text.
    pub initial: Option<String>,
    /// COMBINEFUNC: from two states to one.
    pub combine: Option<FunctionId>,
    /// FINALFUNC: from the last state to the value.
    pub finish: Option<FunctionId>,
}

impl Function {
    /// Returns the parameters for which calls give values.
    pub fn inputs(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| parameter.mode.is_input())
    }

    /// Returns the parameters of which the result has values.
    pub fn outputs(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| parameter.mode.is_output())
    }

    /// Returns `function` or `procedure`.
    pub fn kind(&self) -> &'static str {
        match &self.extension.aggregate {
            Some(_) => "aggregate",
            None if self.is_procedure => "procedure",
            None => "function",
        }
    }

    /// Whether it is temporary.
    pub fn is_temporary(&self) -> bool {
        is_temporary_schema(&self.schema)
    }

    /// Whether both have one name and the same types of input parameters.
    pub fn has_identity_of(&self, other: &Self) -> bool {
        let types = |of: &Self| of.inputs().map(|input| input.type_id).collect::<Vec<_>>();
        self.schema == other.schema && self.name == other.name && types(self) == types(other)
    }
}

impl Catalog {
    /// Returns the functions of a schema with a name.
    pub fn functions_named(&self, schema: &str, name: &str) -> &[Arc<Function>] {
        self.function_names.get(&(schema.to_owned(), name.to_owned())).map_or(&[], |all| all)
    }

    /// Returns the functions of a schema, ordered by name.
    pub fn functions_in<'a>(&'a self, schema: &'a str) -> impl Iterator<Item = &'a Arc<Function>> {
        let first = (schema.to_owned(), String::new());
        let named = self.function_names.range(first..);
        named.take_while(move |((of, _), _)| of == schema).flat_map(|(_, all)| all.iter())
    }

    /// Returns all functions, ordered by id.
    pub fn functions(&self) -> impl Iterator<Item = &Arc<Function>> {
        self.functions.values()
    }

    /// Finds a function by id.
    pub fn function_by_id(&self, id: RelationId) -> Option<&Arc<Function>> {
        self.functions.get(&id)
    }

    pub(super) fn put_function(&mut self, function: &Function) -> Result<(), Error> {
        self.require_schema(&function.schema)?;
        let mut others = self.functions_named(&function.schema, &function.name).iter();
        if others.any(|other| other.id != function.id && other.has_identity_of(function)) {
            return Err(Error::FunctionExists { function: function.name.clone() });
        }
        if let Some(old) = self.functions.remove(&function.id) {
            self.list_functions(&old);
        }
        self.functions.insert(function.id, Arc::new(function.clone()));
        self.list_functions(function);
        Ok(())
    }

    pub(super) fn put_extended(
        &mut self,
        function: &Function,
        of: &Extension,
    ) -> Result<(), Error> {
        self.put_function(&Function { extension: of.clone(), ..function.clone() })
    }

    pub(super) fn put_aggregate(
        &mut self,
        function: &Function,
        of: &Extension,
        details: &AggregateDetails,
    ) -> Result<(), Error> {
        self.put_extended(function, &Extension { details: details.clone(), ..of.clone() })
    }

    pub(super) fn drop_function(&mut self, id: RelationId) -> Result<(), Error> {
        let old = self.functions.remove(&id).ok_or_else(|| Error::missing(id))?;
        self.list_functions(&old);
        self.forget(&Object::Relation(id));
        Ok(())
    }

    /// Lists the functions with the name of a function anew.
    pub(super) fn list_functions(&mut self, of: &Function) {
        let named = |other: &&Arc<Function>| other.schema == of.schema && other.name == of.name;
        let listed: Arc<[Arc<Function>]> = self.functions.values().filter(named).cloned().collect();
        let name = (of.schema.clone(), of.name.clone());
        if listed.is_empty() {
            self.function_names.remove(&name);
        } else {
            self.function_names.insert(name, listed);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Catalog, CatalogChange, DEFAULT_SCHEMA, Error, Extension, Function, Parallel, Volatility,
    };
    use crate::{Object, Parameter, ParameterMode, Privileges, RelationId, Role};

    fn function(id: u32, types: &[u32]) -> Function {
        let parameter = |type_id: &u32| Parameter {
            name: String::new(),
            mode: ParameterMode::In,
            type_id: *type_id,
            default: None,
        };
        Function {
            id: RelationId(id),
            schema: DEFAULT_SCHEMA.to_owned(),
            name: "f".to_owned(),
            is_procedure: false,
            language: "sql".to_owned(),
            parameters: types.iter().map(parameter).collect(),
            result_id: 23,
            result_relation: None,
            returns_set: false,
            body: String::new(),
            is_sql_body: false,
            volatility: Volatility::Volatile,
            is_strict: false,
            is_security_definer: false,
            is_leakproof: false,
            parallel: Parallel::Unsafe,
            cost: None,
            rows: None,
            settings: Vec::new(),
            comment: None,
            extension: Extension::default(),
        }
    }

    #[test]
    fn functions_of_one_name_differ_by_their_parameters() {
        let put =
            |catalog: &Catalog, function| catalog.apply(&CatalogChange::PutFunction(function));
        let one = put(&Catalog::new(), function(1, &[23])).expect("a new function");
        let two = put(&one, function(2, &[25])).expect("other parameters");
        assert_eq!(two.functions_named(DEFAULT_SCHEMA, "f").len(), 2);
        let refused = put(&two, function(3, &[25])).expect_err("the same parameters");
        assert_eq!(refused, Error::FunctionExists { function: "f".to_owned() });
        let renamed = Function { name: "g".to_owned(), ..function(2, &[25]) };
        let renamed = put(&two, renamed).expect("a new name");
        assert_eq!(renamed.functions_named(DEFAULT_SCHEMA, "f").len(), 1);
        assert_eq!(renamed.functions_named(DEFAULT_SCHEMA, "g").len(), 1);
    }

    #[test]
    fn a_dropped_function_takes_its_privileges_with_it() {
        let grant = CatalogChange::SetPrivileges {
            role: "r".to_owned(),
            object: Object::Relation(RelationId(1)),
            privileges: Privileges::EXECUTE,
        };
        let changes = [
            CatalogChange::PutRole(Role::new("r")),
            CatalogChange::PutFunction(function(1, &[])),
            grant,
            CatalogChange::DropFunction(RelationId(1)),
        ];
        let end = changes.iter().try_fold(Catalog::new(), |catalog, change| catalog.apply(change));
        let end = end.expect("valid changes");
        assert_eq!(end.functions().count(), 0);
        assert!(end.role("r").expect("the role").relations.is_empty());
    }
}
