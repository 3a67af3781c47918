//! `nextval`, `currval`, `setval` and `lastval`.

use crate::access::{Access, denied};
use crate::relation_names::{find_named, undefined};
use crate::search_path::SearchPath;
use crate::session_context::SessionContext;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use parser::object_name;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use store::catalog::{Catalog, Object, Privileges, Relation, Sequence, is_temporary_schema};
use values::translate::external;
use values::{Error, Result, SqlState};

/// The function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    Next,
    Current,
    Set,
    Last,
}

/// The functions, for one session.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    [Action::Next, Action::Current, Action::Set, Action::Last]
        .map(|action| ScalarUDF::new_from_impl(Function::new(action, Arc::clone(session))))
        .into()
}

#[derive(Debug)]
struct Function {
    action: Action,
    session: Arc<dyn SessionContext>,
    signature: Signature,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.action == other.action && Arc::ptr_eq(&self.session, &other.session)
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.action.hash(state);
        Arc::as_ptr(&self.session).hash(state);
    }
}

impl Function {
    fn new(action: Action, session: Arc<dyn SessionContext>) -> Self {
        let signature = match action {
            Action::Last => Signature::nullary(Volatility::Volatile),
            _ => Signature::variadic_any(Volatility::Volatile),
        };
        Self { action, session, signature }
    }

    /// The results for each of `rows` rows. The arguments have no NULLs.
    fn call(&self, arrays: &[ArrayRef], rows: usize) -> Result<Vec<i64>> {
        if self.action == Action::Last {
            return Ok(vec![self.last()?; rows]);
        }
        let texts = arrays.first().ok_or_else(|| wrong_arguments(self.action))?;
        let texts = cast(texts, &DataType::Utf8View)?;
        (0..rows)
            .map(|row| {
                let sequence = self.sequence(texts.as_string_view().value(row))?;
                match self.action {
                    Action::Next => self.next(&sequence),
                    Action::Current => self.current(&sequence),
                    Action::Set => self.set(&sequence, arrays, row),
                    Action::Last => unreachable!("returned above"),
                }
            })
            .collect()
    }

    /// The sequence with a name.
    fn sequence(&self, text: &str) -> Result<Arc<Sequence>> {
        let name = object_name(text)?;
        let catalog = self.session.catalog();
        let named = self.session.search_path();
        match find_named(&catalog, SearchPath::new(&named, self.session.temporary_schema()), &name)?
        {
            Some(relation @ Relation::Sequence(sequence)) => {
                self.require(&catalog, relation)?;
                Ok(Arc::clone(sequence))
            }
            Some(other) => {
                let message = format!("\"{}\" is not a sequence", other.name());
                Err(Error::new(SqlState::WrongObjectType, message))
            }
            None => Err(undefined(&name)),
        }
    }

    /// Checks that the transaction may change a sequence.
    fn may_write(&self, sequence: &Sequence, call: &str) -> Result<()> {
        let is_temporary = is_temporary_schema(&sequence.schema);
        if self.session.settings().is_read_only() && !is_temporary {
            let message = format!("cannot execute {call}() in a read-only transaction");
            return Err(Error::new(SqlState::ReadOnlySqlTransaction, message));
        }
        Ok(())
    }

    /// Checks that the session has a privilege that allows the function.
    fn require(&self, catalog: &Catalog, relation: &Relation) -> Result<()> {
        let role = self.session.role();
        let access = Access::new(catalog, role.as_deref().map(String::as_str));
        let enough = match self.action {
            Action::Set => Privileges::UPDATE,
            Action::Next => Privileges::USAGE.union(Privileges::UPDATE),
            Action::Current | Action::Last => Privileges::USAGE.union(Privileges::SELECT),
        };
        if access.privileges(&Object::Relation(relation.id())).intersects(enough)
            || self.action == Action::Next && fills_identity(catalog, relation, access)
        {
            Ok(())
        } else {
            Err(denied("sequence", relation.name()))
        }
    }

    /// The last value that the session got of any sequence, if it still exists.
    fn last(&self) -> Result<i64> {
        let last = self.session.last_values().lock();
        let value = last.last.and_then(|id| Some((id, *last.by_sequence.get(&id)?)));
        let catalog = self.session.catalog();
        match value.and_then(|(id, value)| Some((catalog.relation_by_id(id)?, value))) {
            Some((sequence, value)) => self.require(&catalog, sequence).map(|()| value),
            None => Err(not_yet("lastval is not yet defined in this session")),
        }
    }

    fn next(&self, sequence: &Sequence) -> Result<i64> {
        self.may_write(sequence, "nextval")?;
        let value = self.session.database().store().sequence_next(sequence, 1)?;
        let mut last = self.session.last_values().lock();
        last.by_sequence.insert(sequence.id, value);
        last.last = Some(sequence.id);
        Ok(value)
    }

    fn current(&self, sequence: &Sequence) -> Result<i64> {
        let last = self.session.last_values().lock();
        last.by_sequence.get(&sequence.id).copied().ok_or_else(|| {
            let name = &sequence.name;
            not_yet(&format!("currval of sequence \"{name}\" is not yet defined in this session"))
        })
    }

    fn set(&self, sequence: &Sequence, arrays: &[ArrayRef], row: usize) -> Result<i64> {
        self.may_write(sequence, "setval")?;
        let value = arrays.get(1).ok_or_else(|| wrong_arguments(self.action))?;
        let value = cast(value, &DataType::Int64)?;
        let value = value.as_primitive::<Int64Type>().value(row);
        if !(sequence.min..=sequence.max).contains(&value) {
            let (name, least, most) = (&sequence.name, sequence.min, sequence.max);
            let message = format!(
                "setval: value {value} is out of bounds for sequence \"{name}\" ({least}..{most})"
            );
            return Err(Error::new(SqlState::NumericValueOutOfRange, message));
        }
        let called = match arrays.get(2) {
            Some(flag) => cast(flag, &DataType::Boolean)?.as_boolean().value(row),
            None => true,
        };
        self.session.database().store().sequence_set(sequence, value, called)?;
        if called {
            self.session.last_values().lock().by_sequence.insert(sequence.id, value);
        }
        Ok(value)
    }
}

/// Whether a sequence fills an identity column of a table whose rows one may insert or update. It needs no privilege then.
fn fills_identity(catalog: &Catalog, relation: &Relation, access: Access<'_>) -> bool {
    let Relation::Sequence(sequence) = relation else { return false };
    let Some((table, id)) = sequence.owned_by else { return false };
    let Some(of) = catalog.table_by_id(table) else { return false };
    let changes = Privileges::INSERT.union(Privileges::UPDATE);
    of.columns.iter().any(|column| column.id == id && column.identity.is_some())
        && access.privileges(&Object::Relation(table.relation())).intersects(changes)
}

fn not_yet(message: &str) -> Error {
    Error::new(SqlState::ObjectNotInPrerequisiteState, message)
}

fn wrong_arguments(action: Action) -> Error {
    let call = match action {
        Action::Next => "nextval('sequence')",
        Action::Current => "currval('sequence')",
        Action::Set => "setval('sequence', value [, is_called])",
        Action::Last => "lastval()",
    };
    Error::new(SqlState::UndefinedFunction, format!("the function is called as {call}"))
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        match self.action {
            Action::Next => "nextval",
            Action::Current => "currval",
            Action::Set => "setval",
            Action::Last => "lastval",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> datafusion::common::Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(
        &self,
        args: ScalarFunctionArgs,
    ) -> datafusion::common::Result<ColumnarValue> {
        let rows = args.number_rows;
        let arrays = args.args.iter().map(|arg| arg.to_array(rows));
        let arrays = arrays.collect::<datafusion::common::Result<Vec<_>>>()?;
        if arrays.iter().any(|array| array.null_count() > 0) {
            let nulls = datafusion::arrow::array::new_null_array(&DataType::Int64, rows);
            return Ok(ColumnarValue::Array(nulls));
        }
        let values = self.call(&arrays, rows).map_err(external)?;
        Ok(ColumnarValue::Array(Arc::new(Int64Array::from(values))))
    }
}
