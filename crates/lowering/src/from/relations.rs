//! Relations in FROM.

use crate::SourceTable;
use crate::names;
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use analyzer::tree::{Relation, Source};
use datafusion::catalog::view::ViewTable;
use datafusion::common::TableReference;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, TableSource, lit};
use executor::kept;
use std::sync::Arc;

/// The column that is NULL in rows that an outer join made up.
const PRESENCE: &str = "?row";

impl Lowering<'_> {
    /// The rows of a relation, whose columns are qualified by its name in the plan.
    pub(super) fn relation(&mut self, relation: &Relation) -> Result<LogicalPlan> {
        let alias = self.qualifiers.add(&relation.alias);
        let plan = match &relation.source {
            Source::Table(handle) => {
                let handle = usize::try_from(*handle).unwrap_or(usize::MAX);
                let oid = self.around.sources.get(handle).and_then(|source| source.oid);
                self.table_oids.extend(oid.map(|oid| (relation.id, oid)));
                self.table(handle, relation, &alias)?
            }
            Source::Query(query) => {
                let (plan, errors) = self.readable(query)?;
                self.unread.relations.insert(relation.id, errors);
                aliased(plan, relation, &alias)?
            }
            Source::Cte(id) => {
                let plan = self.cte(*id)?;
                let errors = self.unread.queries.get(id).cloned().unwrap_or_default();
                self.unread.relations.insert(relation.id, errors);
                aliased(plan, relation, &alias)?
            }
            Source::Functions { calls, ordinality } => {
                self.functions(calls, *ordinality, relation, &alias)?
            }
        };
        let plan = self.register(relation, plan, &alias)?;
        if let Source::Table(handle) = &relation.source {
            self.name_fields(*handle, relation);
        }
        Ok(plan)
    }

    /// The fields of a table's row have the table's names, also under an alias with other names.
    fn name_fields(&mut self, handle: u32, relation: &Relation) {
        let source = usize::try_from(handle).ok().and_then(|at| self.around.sources.get(at));
        let Some(source) = source else { return };
        let schema = source.source.schema();
        let own = schema.fields().iter().map(|field| field.name().clone());
        let fields = relation.columns.len() - source.hidden;
        let row = own.take(fields).enumerate().collect();
        self.set_row(relation.id, row);
    }

    /// Adds a relation that is a plan of its own. If its rows are values and an outer join may make some up, its plan gets a
    /// column that tells.
    pub(super) fn register(
        &mut self,
        relation: &Relation,
        plan: LogicalPlan,
        alias: &str,
    ) -> Result<LogicalPlan> {
        let types = relation.columns.iter().map(|column| column.sql_type);
        let is_marked = self.is_nullable && self.whole_rows.contains(&relation.id);
        if !is_marked {
            self.add_relation(relation.id, &plan, types);
            self.add_row(relation, None);
            return Ok(plan);
        }
        let mark = lit(true).alias_qualified(Some(TableReference::bare(alias)), PRESENCE);
        let columns = plan.schema().columns().into_iter().map(Expr::Column).chain([mark]);
        let columns: Vec<Expr> = columns.collect();
        let plan = LogicalPlanBuilder::from(plan).project(columns)?.build()?;
        self.add_relation(relation.id, &plan, types);
        let last = plan.schema().fields().len() - 1;
        let column = plan.schema().columns().pop().zip(plan.schema().fields().get(last).cloned());
        self.add_row(relation, column);
        Ok(plan)
    }

    fn table(&self, handle: usize, relation: &Relation, alias: &str) -> Result<LogicalPlan> {
        let Some(table) = self.around.sources.get(handle) else {
            return missing("a table without a source");
        };
        let source = self.source_of(relation, table)?;
        let schema = source.schema();
        let own = schema.fields().iter().map(|field| field.name());
        let is_renamed =
            !own.take(relation.columns.len()).eq(relation.columns.iter().map(|c| &c.name));
        // A table under its own name needs no alias.
        if table.name.table() == alias && !is_renamed {
            let scan = LogicalPlanBuilder::scan(TableReference::bare(alias), source, None)?;
            return Ok(kept::renewed(scan.build()?)?);
        }
        let scan = LogicalPlanBuilder::scan(table.name.clone(), source, None)?;
        aliased(kept::renewed(scan.build()?)?, relation, alias)
    }

    /// The rows of a table, or of a view without the subqueries in columns that nothing reads.
    fn source_of(&self, relation: &Relation, table: &SourceTable) -> Result<Arc<dyn TableSource>> {
        let view = self.read.as_ref().zip(table.source.get_logical_plan());
        let Some((read, plan)) = view else { return Ok(Arc::clone(&table.source)) };
        let places = 0..plan.schema().fields().len();
        let read: Vec<bool> = places.map(|place| read.contains(&(relation.id, place))).collect();
        Ok(match optimizer::without_unread(&plan, &read)? {
            Some(plan) => provider_as_source(Arc::new(ViewTable::new(plan, None))),
            None => Arc::clone(&table.source),
        })
    }
}

/// A plan under the names of a relation and its columns.
pub(super) fn aliased(plan: LogicalPlan, relation: &Relation, alias: &str) -> Result<LogicalPlan> {
    let names = names::unique(relation.columns.iter().map(|column| &*column.name));
    let columns = plan.schema().columns();
    let builder = LogicalPlanBuilder::from(plan);
    let is_same = columns.len() == names.len()
        && columns.iter().zip(&names).all(|(column, name)| column.name == *name);
    let builder = if is_same || names.is_empty() {
        builder
    } else {
        let renamed = columns.into_iter().zip(names).map(|(column, name)| {
            if column.name == name {
                Expr::Column(column)
            } else {
                Expr::Column(column).alias(name)
            }
        });
        builder.project(renamed.collect::<Vec<_>>())?
    };
    Ok(builder.alias(TableReference::bare(alias))?.build()?)
}
