//! Queries without FROM of plain values, which need no plan when they are repeated ([`PlainQuery`]).

use crate::analysis;
use crate::calls::functions;
use crate::context::call_site::CallSite;
use crate::context::{Frame, Inner};
use crate::repeated::Begun;
use parser::Statement;
use plan_cache::Basis;
use plan_cache::plans::{Known, Query};
use procedural::{PlainQuery, may_call};
use std::sync::Arc;
use store::Reading;
use values::error::Result;

impl Inner {
    /// Starts a query that [may be plain](procedural::may_be_plain), if it is, and has come before. `None` of others. All
    /// rows must be on this server.
    ///
    /// # Errors
    /// Those of its expressions.
    pub(super) async fn begin_plain(
        &self,
        frame: &Frame<'_>,
        statement: &Statement,
        reading: &Reading,
    ) -> Result<Option<Begun>> {
        let basis = Basis::new(reading.catalog(), &frame.settings);
        let given = (frame.parameters, frame.names);
        let query = Query::of(frame.text, given, frame.parameter_types(), basis);
        let Some(query) = query else { return Ok(None) };
        let plain = match self.plans.take(&query, frame.parameters) {
            Known::Computed(known) => known.downcast::<PlainQuery>().ok(),
            Known::Repeated => {
                // What is wrong with the query is said when it is planned.
                let found = self.plain(frame, statement, reading).await.unwrap_or_default();
                let found = found.map(Arc::new);
                let known = found.clone().map_or(Known::Refused, |found| Known::Computed(found));
                self.plans.keep(query, known);
                found
            }
            Known::New => {
                self.plans.keep(query, Known::Repeated);
                None
            }
            Known::Refused | Known::Kept(_) => None,
        };
        let Some(plain) = plain.filter(|plain| plain.takes(frame.parameters)) else {
            return Ok(None);
        };
        self.context.see(reading, frame);
        let caller = || {
            let (catalog, site) = (Arc::clone(reading.catalog()), CallSite::alone(0));
            functions(&self.me, catalog, Some(reading.clone()), site) as _
        };
        let rows = plain.begin(frame.parameters, caller)?;
        Ok(rows.map(|rows| (Arc::clone(plain.fields()), rows)))
    }

    /// The query, if it is computed without a plan.
    async fn plain(
        &self,
        frame: &Frame<'_>,
        statement: &Statement,
        reading: &Reading,
    ) -> Result<Option<PlainQuery>> {
        let mut planner = frame.planner(reading);
        planner.parameters = &[];
        let query = analysis::query_of(statement)?;
        let tree = analysis::tree_without_values(frame, &planner, query).await?;
        let given = frame.parameter_types();
        let (types, fields) = analysis::describe(frame, &planner, query, given).await?;
        let may_call = |executed: &_| may_call(reading.catalog(), executed);
        Ok(PlainQuery::of(&tree, &types, fields, &may_call))
    }
}
