//! CREATE AGGREGATE.

use super::keep;
use crate::analysis;
use crate::context::Frame;
use crate::ddl::place;
use analyzer::system::Oid;
use parser::commands::CreateAggregate;
use parser::errors::of_analyzer;
use routines::NewAggregate;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::is_temporary_schema;
use values::error::{Error, Result};

/// Runs a CREATE AGGREGATE.
pub(super) async fn create(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    create: &CreateAggregate,
) -> Result<()> {
    let (schema, _) = place::of_new(frame, transaction, &create.name, false)?;
    if is_temporary_schema(&schema) {
        return Err(Error::unsupported("temporary aggregates are not supported"));
    }
    let catalog = Arc::clone(transaction.catalog());
    let path: Vec<&str> = frame.path().of_functions().collect();
    let id = frame.session.shared.store.next_relation_id();
    let types = frame.types(&catalog);
    let mut create = CreateAggregate::clone(create);
    let states = create.moving.iter_mut().map(|moving| &mut moving.state);
    let states = states.chain([&mut create.steps.state]);
    for of in create.parameters.iter_mut().map(|of| &mut of.data_type).chain(states) {
        *of = routines::known_type(of, &types);
    }
    let new = NewAggregate { id, schema, catalog: &catalog, path: &path };
    let defined = routines::define_aggregate(&create, new);
    let defined = defined.map_err(|error| of_analyzer(error, frame.text))?;
    for (state, initial) in defined.extension.initial_states() {
        let text = format!("SELECT '{}'::{}", initial.replace('\'', "''"), Oid(state));
        let read = analysis::plan_text(&frame.planner(transaction), &text).await;
        // A type that this text does not name is no reason to refuse the state.
        if let Err(error) = read
            && error.state().code().starts_with("22")
        {
            return Err(error.without_position());
        }
    }
    keep(frame, transaction, defined, create.replaces).await
}
