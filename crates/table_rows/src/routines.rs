//! The functions of users that statements call.

use crate::refused::Refused;
use analyzer::Routine;
use analyzer::system::Oid;
use catalog_views::access::Access;
use parking_lot::Mutex;
use parser::types;
use planner::{Planner, Shown};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::catalog::{
    Catalog, Function, OWN_TEMPORARY_SCHEMA, Object, Privileges, RelationId, SqlType, TypeId,
    Volatility,
};
use values::error::{Error, Result, SqlState};

/// The language, for the analyzer, of functions that are executed although they are expressions.
const CHECKED: &str = "sql, checked";

/// A function as the analyzer sees it.
pub fn known(catalog: &Catalog, function: &Arc<Function>) -> Result<Routine, Refused> {
    let rows = function.result_relation.map(|id| row_type(catalog, id)).transpose()?;
    let function = routines::resolved(catalog, function);
    let aggregate = routines::aggregate(catalog, &function);
    let routine = routines::routine(&function);
    let result = rows.unwrap_or(routine.result);
    Ok(Routine { aggregate, result, ..routine })
}

/// A function as statements call it. The conditions of a domain hold for what a SQL function returns, which an expression in
/// the place of the call would not check.
fn called(routine: Routine, is_executed: bool) -> Routine {
    let types = routine.columns.iter().map(|column| column.sql_type.oid).chain([routine.result]);
    let is_checked = is_executed || types.into_iter().any(|oid| oid.base() != oid);
    let language = match is_checked && routine.language == "sql" {
        true => CHECKED.to_owned(),
        false => routine.language.clone(),
    };
    Routine { language, ..routine }
}

/// Which functions that read tables are executed, not expanded.
enum Executed {
    /// Volatile ones that see what the statement has changed.
    Volatile(Shown),
    All,
    /// All, also those that do not read tables. These numbers of functions are those that were called.
    Noted(Mutex<BTreeSet<u32>>),
}

/// The type of the rows of a table.
fn row_type(catalog: &Catalog, id: RelationId) -> Result<Oid, Refused> {
    let gone = || Error::new(SqlState::UndefinedTable, "the table of a function's rows is gone");
    let user = catalog.type_by_id(TypeId::of_rows(id)).ok_or_else(gone)?;
    let missing = || Error::unsupported(format!("the type of the rows of {}", user.name));
    Ok(types::of_held(&SqlType::User(Arc::clone(&user))).ok_or_else(missing)?.oid)
}

/// The functions that a statement may call.
pub struct Routines {
    catalog: Arc<Catalog>,
    /// The schemas in which names are looked up.
    path: Vec<String>,
    /// The session's schema of temporary functions; `None` for definitions, which other sessions use, too.
    temporary: Option<String>,
    /// The user; `None` if it may call all.
    role: Option<String>,
    executed: Executed,
}

impl Routines {
    /// Those of a planner's catalog. `None` if there are none.
    pub fn of(planner: &Planner<'_>) -> Option<Self> {
        let catalog = planner.tables.catalog();
        catalog.functions().next()?;
        Some(Self {
            catalog: Arc::clone(catalog),
            path: planner.search_path.of_functions().map(str::to_owned).collect(),
            temporary: Some(planner.search_path.own().to_owned()),
            role: planner.access.role().map(str::to_owned),
            executed: Executed::Volatile(planner.shown.clone()),
        })
    }

    /// Those of expressions of a table's definition, where no relations are known.
    pub fn without_relations(self) -> Self {
        Self { executed: Executed::All, temporary: None, ..self }
    }

    /// Those of an expression or a query of which [`Self::called`] says what it calls. The bodies of functions do not count.
    #[must_use]
    pub fn noting_calls(self) -> Self {
        Self { executed: Executed::Noted(Mutex::default()), ..self }
    }

    /// The functions that were called.
    pub fn called(&self) -> BTreeSet<RelationId> {
        match &self.executed {
            Executed::Noted(called) => called.lock().iter().copied().map(RelationId).collect(),
            Executed::Volatile(_) | Executed::All => BTreeSet::new(),
        }
    }

    /// Those of a statement whose functions may change something.
    pub fn execute_volatile(&mut self) {
        self.executed = Executed::Volatile(Shown::Everything);
    }

    /// Whether a function is executed, not expanded. One with other privileges or settings than its caller always is.
    fn is_executed(&self, function: &Function) -> bool {
        let catalog = &self.catalog;
        let is_volatile = function.volatility == Volatility::Volatile;
        if function.language != "sql" {
            return false;
        }
        // A body in the place of a call has the caller's privileges and settings.
        let is_apart = procedural::changes_settings(function);
        is_apart
            || match &self.executed {
                Executed::Volatile(Shown::Tables(tables)) => {
                    is_volatile && procedural::may_read(catalog, function, tables)
                }
                Executed::Volatile(Shown::Nothing) => false,
                Executed::Volatile(Shown::Everything) => {
                    is_volatile && !procedural::only_computes(catalog, function)
                }
                Executed::All => !procedural::only_computes(catalog, function),
                Executed::Noted(_) => true,
            }
    }

    /// Those of a name.
    pub fn named(
        &self,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Vec<Arc<Routine>>, analyzer::Error> {
        let named = |schema: &str| self.catalog.functions_named(schema, name);
        let found: Vec<&Arc<Function>> = match schema {
            Some(OWN_TEMPORARY_SCHEMA) => match &self.temporary {
                Some(schema) => named(schema).iter().collect(),
                None => return Err(analyzer::Error::missing("a temporary function here")),
            },
            Some(schema) => named(schema).iter().collect(),
            None => self.path.iter().flat_map(|schema| named(schema)).collect(),
        };
        let routine = |function: &Arc<Function>| match known(&self.catalog, function) {
            Ok(routine) => Ok(Arc::new(called(routine, self.is_executed(function)))),
            Err(_) => Err(analyzer::Error::missing("the type of a function's rows")),
        };
        found.into_iter().map(routine).collect()
    }

    /// Checks that the user may call a function, and use its schema.
    ///
    /// # Errors
    /// 42501.
    pub fn may_call(&self, routine: &Routine) -> Result<(), analyzer::Error> {
        if let Executed::Noted(called) = &self.executed {
            called.lock().insert(routine.id);
            return Ok(());
        }
        let access = Access::new(&self.catalog, self.role.as_deref());
        let denied = |what: String| {
            Err(analyzer::Error::new("42501", format!("permission denied for {what}")))
        };
        if access.require_schema(&routine.schema, Privileges::USAGE).is_err() {
            return denied(format!("schema {}", routine.schema));
        }
        let held = access.privileges(&Object::Relation(RelationId(routine.id)));
        match held.contains(Privileges::EXECUTE) {
            true => Ok(()),
            false if routine.is_procedure => denied(format!("procedure {}", routine.name)),
            false => denied(format!("function {}", routine.name)),
        }
    }
}
