//! What CREATE OR REPLACE FUNCTION may change.

use crate::text::signature;
use analyzer::system::Oid;
use analyzer::{Error, Result};
use store::catalog::{AggregateKind, Function, Parameter};

/// Refuses changes that would break what uses the function.
///
/// # Errors
/// 42809 for another kind, 42P13 for others.
pub fn refuse_change(old: &Function, new: &Function) -> Result<()> {
    let kind = |of: &Function| {
        let aggregate = of.extension.aggregate.as_ref().map(|_| of.extension.details.kind);
        (of.is_procedure, aggregate)
    };
    if kind(old) != kind(new) {
        let is_aggregate = |of: &Function| of.extension.aggregate.is_some();
        let what = match old.extension.details.kind {
            _ if !is_aggregate(old) => format!("a {}", old.kind()),
            _ if !is_aggregate(new) => "an aggregate function".to_owned(),
            AggregateKind::Normal => "an ordinary aggregate function".to_owned(),
            AggregateKind::OrderedSet => "an ordered-set aggregate".to_owned(),
            AggregateKind::Hypothetical => "a hypothetical-set aggregate".to_owned(),
        };
        let detail = format!("\"{}\" is {what}.", old.name);
        return Err(Error::new("42809", "cannot change routine kind").detail(detail));
    }
    let hint = format!("Use DROP {} {} first.", old.kind().to_uppercase(), signature(old));
    let wrong = |message: &str| Error::new("42P13", message).hint(hint.clone());
    let is_same = (old.result_id, old.result_relation, old.returns_set)
        == (new.result_id, new.result_relation, new.returns_set);
    if !is_same {
        return Err(match old.is_procedure {
            true => wrong("cannot change whether a procedure has output parameters"),
            false => wrong("cannot change return type of existing function"),
        });
    }
    let outputs = |of: &Function| -> Vec<(String, u32)> {
        of.outputs().map(|output| (output.name.clone(), output.type_id)).collect()
    };
    // One output is the result, whatever its name.
    if old.result_id == Oid::RECORD.0 && outputs(old) != outputs(new) {
        return Err(wrong("cannot change return type of existing function")
            .detail("Row type defined by OUT parameters is different."));
    }
    for (before, after) in old.inputs().zip(new.inputs()) {
        if !before.name.is_empty() && before.name != after.name {
            let message = format!("cannot change name of input parameter \"{}\"", before.name);
            return Err(wrong(&message));
        }
    }
    let defaults =
        |of: &Function| of.inputs().filter(|input: &&Parameter| input.default.is_some()).count();
    if defaults(new) < defaults(old) {
        return Err(wrong("cannot remove parameter defaults from existing function"));
    }
    Ok(())
}
