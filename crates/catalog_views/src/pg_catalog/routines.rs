//! `pg_proc`: the functions, with their arguments and results.

use super::{oids, roles};
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use ::routines::letters;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use store::catalog::{Catalog, Function, FunctionId, Object, ParameterMode};
use system_catalog::functions;
use values::cells::Cell;

/// The rows of `pg_proc`.
const FILE: &str = include_str!("data/pg_proc.tsv");

/// `pg_proc`: the functions that statements can call, and the input and output functions of types,
/// which drivers look up.
pub(super) fn procedures(context: &ViewContext<'_>, rows: &mut TableRows) {
    rows.file(FILE, "proname", |name| (context.functions)(name) || is_type_function(name));
    roles::set_system_owner(rows, "pronamespace", "proowner");
    rows.set_all("procost", Cell::Number(1));
    for function in context.catalog.functions() {
        put(context, function, rows);
    }
}

/// `pg_aggregate`: the aggregates of users.
pub(super) fn aggregates(context: &ViewContext<'_>, rows: &mut TableRows) {
    let step = |id: FunctionId| match id {
        FunctionId::User(id) => oids::relation(id),
        FunctionId::System(oid) => i64::from(oid),
    };
    let optional = |id: Option<FunctionId>| Cell::from(id.map_or(0, step));
    let text = |text: &Option<String>| text.as_deref().map_or(Cell::Null, Cell::from);
    for function in context.catalog.functions() {
        let Some(of) = &function.extension.aggregate else { continue };
        let details = &function.extension.details;
        let [modifies, moving_modifies] = letters::modifies(details);
        let moving = details.moving.iter().flat_map(|moving| {
            [
                ("aggmtransfn", Cell::from(step(moving.transition))),
                ("aggminvtransfn", step(moving.inverse).into()),
                ("aggmfinalfn", optional(moving.finish)),
                ("aggmtranstype", i64::from(moving.state_id).into()),
                ("aggmtransspace", i64::from(moving.space).into()),
                ("aggminitval", text(&moving.initial)),
            ]
        });
        let usual = [
            ("aggfnoid", oids::relation(function.id).into()),
            ("aggkind", letters::aggregate_kind(details).into()),
            ("aggnumdirectargs", i64::from(details.direct_arguments).into()),
            ("aggtransfn", step(of.transition).into()),
            ("aggfinalfn", optional(of.finish)),
            ("aggcombinefn", optional(of.combine)),
            ("aggfinalextra", details.finish_takes_all.into()),
            ("aggmfinalextra", details.moving_takes_all.into()),
            ("aggfinalmodify", modifies.into()),
            ("aggmfinalmodify", moving_modifies.into()),
            ("aggsortop", details.sort_operator.map_or(0, i64::from).into()),
            ("aggtranstype", i64::from(of.state_id).into()),
            ("aggtransspace", i64::from(details.space).into()),
            ("agginitval", text(&of.initial)),
        ];
        rows.row_of(usual.into_iter().chain(moving));
    }
}

/// The row of a function of a user.
fn put(context: &ViewContext<'_>, function: &Function, rows: &mut TableRows) {
    let object = Object::Relation(function.id);
    let inputs = || function.inputs();
    let shown: Vec<&str> = inputs().filter_map(|input| input.default.as_deref()).collect();
    let number = |text: &Option<String>, usual: f64| {
        Cell::Double(text.as_ref().and_then(|text| text.parse().ok()).unwrap_or(usual))
    };
    let all = || function.parameters.iter();
    let has_outputs = all().any(|of| of.mode != ParameterMode::In);
    let has_names = all().any(|parameter| !parameter.name.is_empty());
    let ids = |of: Vec<u32>| Cell::Numbers(of.into_iter().map(i64::from).collect());
    let modes = all().map(|parameter| letters::mode(parameter.mode).to_owned()).collect::<Vec<_>>();
    let names = all().map(|parameter| parameter.name.clone()).collect::<Vec<_>>();
    let returns = i64::from(function.result_id);
    let variadic = inputs().find(|input| input.mode == ParameterMode::Variadic);
    let item = variadic.and_then(|of| ::routines::variadic_item(context.catalog, of.type_id));
    rows.row([
        ("oid", oids::relation(function.id).into()),
        ("proname", function.name.as_str().into()),
        ("pronamespace", oids::schema(&function.schema).into()),
        ("proowner", roles::owner(context.catalog, &object).into()),
        ("prolang", oids::language(&function.language).into()),
        ("procost", number(&function.cost, 100.0)),
        ("prorows", number(&function.rows, if function.returns_set { 1000.0 } else { 0.0 })),
        ("provariadic", item.map_or(0, i64::from).into()),
        ("prokind", letters::kind(function).into()),
        ("prosecdef", function.is_security_definer.into()),
        ("proleakproof", function.is_leakproof.into()),
        ("proisstrict", function.is_strict.into()),
        ("proretset", function.returns_set.into()),
        ("provolatile", letters::volatility(function.volatility).into()),
        ("proparallel", letters::parallel(function.parallel).into()),
        ("pronargs", (inputs().count() as i64).into()),
        ("pronargdefaults", (shown.len() as i64).into()),
        ("prorettype", returns.into()),
        ("proargtypes", ids(inputs().map(|input| input.type_id).collect())),
        (
            "proallargtypes",
            match has_outputs {
                true => ids(all().map(|parameter| parameter.type_id).collect()),
                false => Cell::Null,
            },
        ),
        ("proargmodes", if has_outputs { modes.into() } else { Cell::Null }),
        ("proargnames", if has_names { names.into() } else { Cell::Null }),
        (
            "proargdefaults",
            match shown.is_empty() {
                true => Cell::Null,
                false => shown.join(", ").into(),
            },
        ),
        ("prosrc", if function.is_sql_body { "" } else { function.body.as_str() }.into()),
        (
            "prosqlbody",
            match function.is_sql_body {
                true => function.body.as_str().into(),
                false => Cell::Null,
            },
        ),
        ("proconfig", letters::settings(function).map_or(Cell::Null, Cell::from)),
        ("proacl", roles::function_access_list(context.catalog, &object).into()),
    ]);
}

/// The function of a user with an id.
pub(crate) fn of_user(catalog: &Catalog, oid: i64) -> Option<&Arc<Function>> {
    catalog.function_by_id(oids::relation_of(oid)?)
}

fn is_type_function(name: &str) -> bool {
    let ends = ["in", "out", "recv", "send", "_handler", "_typanalyze"];
    ends.iter().any(|end| name.ends_with(end))
}

/// The signature of a function.
#[derive(Debug)]
pub(crate) struct Routine {
    pub(crate) name: &'static str,
    /// The ids of the argument types.
    pub(crate) arguments: Vec<i64>,
    /// The id of the result type.
    pub(crate) returns: i64,
    pub(crate) returns_set: bool,
}

impl Routine {
    fn parse(line: &'static str, positions: &[usize; 5]) -> Option<(i64, Self)> {
        let values: Vec<&'static str> = line.split('\t').collect();
        let [oid, name, arguments, returns, set] = positions.map(|p| values.get(p).copied());
        let arguments = arguments?.split(' ').filter_map(|oid| oid.parse().ok()).collect();
        let returns = returns?.parse().ok()?;
        let routine = Self { name: name?, arguments, returns, returns_set: set? == "t" };
        Some((oid?.parse().ok()?, routine))
    }

    fn of(function: &functions::Function) -> Self {
        Self {
            name: function.name,
            arguments: function.arguments.iter().map(|of| i64::from(of.0)).collect(),
            returns: i64::from(function.result.0),
            returns_set: function.returns_set,
        }
    }
}

static ROUTINES: LazyLock<HashMap<i64, Routine>> = LazyLock::new(|| {
    let mut lines = FILE.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let names = ["oid", "proname", "proargtypes", "prorettype", "proretset"];
    let positions = names.map(|name| header.iter().position(|n| *n == name).unwrap_or(usize::MAX));
    let mut all: HashMap<i64, Routine> =
        lines.filter_map(|line| Routine::parse(line, &positions)).collect();
    for function in functions::all() {
        let oid = i64::from(function.oid.0);
        all.entry(oid).or_insert_with(|| Routine::of(function));
    }
    all
});

/// The function with an id.
pub(crate) fn by_oid(oid: i64) -> Option<&'static Routine> {
    ROUTINES.get(&oid)
}

/// The name of the function with an id.
pub(crate) fn name_of(oid: i64) -> Option<&'static str> {
    by_oid(oid).map(|routine| routine.name)
}

/// The id of the function with a name and these types of arguments.
pub(crate) fn by_signature(name: &str, arguments: &[i64]) -> Option<i64> {
    let mut all = ROUTINES.iter();
    let found = all.find(|(_, routine)| routine.name == name && routine.arguments == arguments);
    found.map(|(oid, _)| *oid)
}

static BY_NAME: LazyLock<HashMap<&'static str, Vec<i64>>> = LazyLock::new(|| {
    let mut all: HashMap<&'static str, Vec<i64>> = HashMap::new();
    ROUTINES.iter().for_each(|(oid, routine)| all.entry(routine.name).or_default().push(*oid));
    all
});

/// The ids of the functions with a name.
pub(crate) fn named(name: &str) -> &'static [i64] {
    BY_NAME.get(name).map(Vec::as_slice).unwrap_or_default()
}
