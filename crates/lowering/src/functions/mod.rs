//! The functions and operators that have PostgreSQL's meaning for their argument types.
//!
//! Each table names functions as `name(types)` and operators as `+(int4, int4)`; [`same`] has the functions that are
//! registered under their own names. What has no entry is refused.

mod arithmetic;
pub(crate) mod arrays;
mod bytes;
pub(crate) mod comparisons;
mod enums;
mod formats;
pub(crate) mod json;
mod keys;
mod moments;
mod patterns;
mod same;
mod system;
mod text;
mod zones;

pub(crate) use arithmetic::of_engine;
pub(crate) use comparisons::with_one_zero;

use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType, functions, operators};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{AggregateUDF, Expr, Operator, ReturnFieldArgs, ScalarUDF};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// How a function or operator is computed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Make {
    /// By a comparison.
    Compare(Operator),
    /// By an arithmetic operator on numbers.
    Arithmetic(Operator),
    /// By an operator of the engine, on operands as they are.
    Engine(Operator),
    /// By a registered function.
    Named(&'static str),
    /// By a function that replaces an operator.
    Hidden(&'static str),
    /// By its own rule.
    Own(Rule),
}

/// Makes a call of its arguments, with the type of the result.
pub(crate) type Rule = fn(&Lowering<'_>, Vec<Typed>, SqlType) -> Result<Typed>;

/// Entries of a table: signatures between blanks, and how they are computed.
type Table = &'static [(&'static str, Make)];

/// All tables.
const TABLES: &[Table] = &[
    arithmetic::TABLE,
    arrays::TABLE,
    bytes::TABLE,
    enums::TABLE,
    comparisons::TABLE,
    formats::TABLE,
    json::TABLE,
    moments::TABLE,
    patterns::TABLE,
    system::TABLE,
    text::TABLE,
];

static ALL: LazyLock<HashMap<Oid, Make>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for (signatures, make) in TABLES.iter().copied().flatten() {
        for signature in signatures.split_whitespace() {
            all.extend(resolve(signature).map(|function| (function, *make)));
        }
    }
    for signature in same::SAME.iter().copied().flat_map(str::split_whitespace) {
        let named = resolve(signature).zip(parse(signature));
        all.extend(named.map(|(function, (name, _))| (function, Make::Named(name))));
    }
    all.extend(system::same_names());
    all
});

/// How a function of the catalog is computed.
pub(crate) fn of(function: Oid) -> Option<&'static Make> {
    ALL.get(&function)
}

/// The name and the argument types of a signature like `+(int4,int4)`.
pub(crate) fn parse(signature: &str) -> Option<(&str, Vec<Oid>)> {
    let (name, types) = signature.strip_suffix(')')?.rsplit_once('(')?;
    let types = types.split(',').filter(|name| !name.is_empty());
    let types = types.map(Oid::of_type_name).collect::<Option<Vec<_>>>()?;
    Some((name, types))
}

/// The function of a signature.
fn resolve(signature: &str) -> Option<Oid> {
    let (name, types) = parse(signature)?;
    let is_word = name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_');
    if is_word {
        return functions::named(name).find(|f| f.arguments == types).map(|f| f.oid);
    }
    let found = match types[..] {
        [right] => operators::named(name).find(|o| o.left.is_none() && o.right == right),
        [left, right] => operators::exact(name, left, right),
        _ => None,
    };
    found.map(|operator| operator.function)
}

impl Make {
    /// The call with arguments.
    pub(crate) fn build(
        &self,
        lowering: &Lowering<'_>,
        arguments: Vec<Typed>,
        sql_type: SqlType,
    ) -> Result<Typed> {
        match self {
            Self::Compare(operator) => comparisons::build(lowering, *operator, pair(arguments)?),
            Self::Arithmetic(operator) => {
                arithmetic::build(lowering, *operator, pair(arguments)?, sql_type)
            }
            Self::Engine(operator) => {
                let [left, right] = pair(arguments)?;
                of_engine(left, *operator, right, sql_type)
            }
            Self::Named(name) => lowering.registered(name, arguments, sql_type),
            Self::Hidden(name) => lowering.hidden(name, arguments, sql_type),
            Self::Own(rule) => rule(lowering, arguments, sql_type),
        }
    }
}

/// The arguments of a function, which are as many as its signature says.
pub(crate) fn take<const N: usize>(arguments: Vec<Typed>) -> Result<[Typed; N]> {
    let taken = <[Typed; N]>::try_from(arguments);
    taken.or_else(|_| missing("this number of arguments"))
}

fn pair(arguments: Vec<Typed>) -> Result<[Typed; 2]> {
    take(arguments)
}

impl Lowering<'_> {
    /// A call of a registered function.
    pub(crate) fn registered(
        &self,
        name: &str,
        arguments: Vec<Typed>,
        sql_type: SqlType,
    ) -> Result<Typed> {
        let (expr, data_type) = self.engine_function(name, arguments)?;
        Typed::of(expr, data_type, sql_type)
    }

    /// A call of a registered function, with the Arrow type of its value.
    pub(crate) fn engine_function(
        &self,
        name: &str,
        arguments: Vec<Typed>,
    ) -> Result<(Expr, DataType)> {
        match self.around.functions.scalar(name) {
            Some(function) => called(&function, arguments),
            None => missing(format!("function {name}")),
        }
    }

    /// A call of a function that replaces an operator.
    pub(crate) fn hidden(
        &self,
        name: &str,
        arguments: Vec<Typed>,
        sql_type: SqlType,
    ) -> Result<Typed> {
        let Some(function) = ::functions::operators::named(name) else {
            return missing(format!("function {name}"));
        };
        let (expr, data_type) = called(&function, arguments)?;
        Typed::of(expr, data_type, sql_type)
    }

    /// The aggregate with a name.
    pub(crate) fn aggregate_named(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.around.functions.shared().aggregate_functions().get(name).cloned()
    }
}

/// A call with arguments of the types that the function takes, and the Arrow type of its value.
pub(crate) fn called(function: &Arc<ScalarUDF>, arguments: Vec<Typed>) -> Result<(Expr, DataType)> {
    let fields: Vec<FieldRef> = arguments.iter().map(Typed::field).collect();
    let fields = fields_with_udf(&fields, function.as_ref())?;
    let arguments: Vec<Typed> = arguments
        .into_iter()
        .zip(&fields)
        .map(|(argument, field)| argument.converted(field.data_type()))
        .collect();
    let constants: Vec<Option<&ScalarValue>> = arguments.iter().map(Typed::value).collect();
    let returned = function.return_field_from_args(ReturnFieldArgs {
        arg_fields: &fields,
        scalar_arguments: &constants,
    })?;
    let arguments = arguments.into_iter().map(|argument| argument.expr).collect();
    Ok((function.call(arguments), returned.data_type().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signature_is_of_the_catalog() {
        let signatures = TABLES.iter().copied().flatten();
        let signatures = signatures.flat_map(|(all, _)| all.split_whitespace());
        let signatures =
            signatures.chain(same::SAME.iter().copied().flat_map(str::split_whitespace));
        let unknown: Vec<&str> =
            signatures.filter(|signature| resolve(signature).is_none()).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
