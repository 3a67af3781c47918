//! The bodies of procedures in SQL.

use crate::analysis::{self, calls, changes};
use crate::context::Frame;
use datafusion::common::ScalarValue;
use parser::Body;
use planner::{Conflict, NamedParameter};
use store::DistributedTransaction;
use store::catalog::Function;
use values::error::{Error, Result};

/// Checks that the statements of a procedure have a meaning.
///
/// # Errors
/// What is wrong with the first wrong statement.
pub(super) async fn check(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    function: &Function,
) -> Result<()> {
    let statements = parser::parse(&function.body);
    let statements =
        statements.map_err(|error| calls::in_statement(error, frame.text, &function.body))?;
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for input in function.inputs() {
        let oid = analyzer::system::Oid(input.type_id);
        let held = parser::types::held(analyzer::system::SqlType::plain(oid));
        let unknown = || Error::unsupported(format!("a parameter of type {oid} is not supported"));
        let sql_type = held.ok_or_else(unknown)?;
        values.push(ScalarValue::try_from(&sql_type.arrow())?);
        names.push(NamedParameter {
            qualifier: None,
            name: input.name.clone(),
            sql_type,
            conflict: Conflict::Column,
        });
    }
    for statement in &statements {
        let inner = frame.session.frame_of(&values, statement).with_names(&names);
        let planner = inner.planner(transaction);
        let checked = match statement.body() {
            Body::Query => {
                let query = analysis::query_of(statement)?;
                analysis::plan(&inner, &planner, query).await.map(drop)
            }
            Body::Change => match statement.change() {
                Some(node) => changes::bind(&inner, &planner, node).await.map(drop),
                None => Ok(()),
            },
            Body::Refused(error) => Err(error.clone()),
            Body::Command(_) => Ok(()),
        };
        checked.map_err(Error::without_position)?;
    }
    Ok(())
}
