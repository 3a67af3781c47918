//! `FETCH FIRST 2 ROWS ONLY`, which becomes LIMIT.

use super::build::number;
use datafusion::sql::sqlparser::ast::{Fetch, LimitClause, Query, Statement, VisitorMut};
use parser::walk::visit_mut;
use std::ops::ControlFlow;

pub(super) fn rewrite(statement: &mut Statement) {
    struct Queries;
    impl VisitorMut for Queries {
        type Break = ();
        fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
            of_query(query);
            ControlFlow::Continue(())
        }
    }
    let _ = visit_mut(statement, &mut Queries);
}

/// WITH TIES and PERCENT are left to DataFusion, which rejects them.
fn of_query(query: &mut Query) {
    let Some(Fetch { with_ties: false, percent: false, quantity }) = &query.fetch else { return };
    let limit = Some(quantity.clone().unwrap_or_else(|| number(1)));
    let offset = match query.limit_clause.take() {
        Some(LimitClause::LimitOffset { limit: None, offset, .. }) => offset,
        other => {
            let is_limited = other.is_some();
            query.limit_clause = other;
            if is_limited {
                return;
            }
            None
        }
    };
    query.limit_clause = Some(LimitClause::LimitOffset { limit, offset, limit_by: Vec::new() });
    query.fetch = None;
}
