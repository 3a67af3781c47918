//! A table as the planner sees it: columns, key, and a way to scan it at the statement's snapshot.

use crate::bucket_scan::BucketScan;
use crate::index_lookup::first::Wanted;
use crate::index_lookup::{self, Looked, unqualified};
use crate::key_ranges;
use crate::parameters;
use crate::places::{self, Elsewhere};
use crate::shipping::Shipping;
use crate::spread_scan::SpreadScan;
use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Constraint, Constraints, DFSchema, Result};
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::utils::conjunction_opt;
use datafusion::physical_expr::{PhysicalExpr, create_physical_expr};
use datafusion::physical_plan::ExecutionPlan;
use sdds::KeyRange;
use std::fmt;
use std::sync::Arc;
use store::TableView;
use store::catalog::{Materialized, Table};
use values::error::{Error, SqlState};
use values::translate::external;
use values::types::plan_field;

/// Which columns a plan sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// The declared columns.
    Declared,
    /// The declared columns, and then the hidden row id, for queries that lock rows.
    WithRowId,
    /// Also the hidden row id, at its place, for statements that change rows.
    All,
}

/// A table at a snapshot.
pub struct BucketTable {
    view: TableView,
    /// The table's column of each field of `schema`.
    columns: Vec<usize>,
    schema: SchemaRef,
    constraints: Constraints,
    /// The rows that are read, if not all.
    chosen: Option<Chosen>,
}

/// The rows that an index chooses for a scan.
#[derive(Debug, Clone)]
pub(crate) enum Chosen {
    /// These.
    Rows(Looked),
    /// Those that are wanted, at each execution of the plan.
    First(Arc<Wanted>),
}

impl BucketTable {
    /// A provider over a view, which determines the snapshot.
    pub fn new(view: TableView, columns: Columns) -> Self {
        let table = Arc::clone(view.table());
        let mut chosen: Vec<usize> = (0..table.columns.len()).collect();
        match columns {
            Columns::All => {}
            Columns::Declared => chosen.retain(|index| !table.columns[*index].hidden),
            Columns::WithRowId => chosen.sort_by_key(|index| table.columns[*index].hidden),
        }
        let columns = chosen;
        let schema = Arc::new(plan_schema(&table, &columns));
        let key: Option<Vec<usize>> = table
            .key_indices()
            .iter()
            .map(|key| columns.iter().position(|column| column == key))
            .collect();
        let constraints = match key {
            Some(key) => Constraints::new_unverified(vec![Constraint::PrimaryKey(key)]),
            None => Constraints::default(),
        };
        Self { view, columns, schema, constraints, chosen: None }
    }

    /// The table with only these rows.
    pub(crate) fn with_chosen(&self, rows: Chosen) -> Self {
        Self {
            view: self.view.clone(),
            columns: self.columns.clone(),
            schema: Arc::clone(&self.schema),
            constraints: self.constraints.clone(),
            chosen: Some(rows),
        }
    }

    /// The view that it reads; `None` if an index has chosen rows.
    pub(crate) fn view(&self) -> Option<&TableView> {
        Some(&self.view).filter(|_| self.chosen.is_none())
    }

    /// The conditions by which zone maps are looked at. Numbers that plans compare by their keys have several types, which a
    /// list cannot have: such a condition prunes nothing.
    fn prunes(&self, conditions: Vec<Expr>) -> Result<Option<Arc<dyn PhysicalExpr>>> {
        let schema = DFSchema::try_from(Arc::clone(&self.schema))?;
        let (props, context) = (ExecutionProps::new(), PhysicalPlanningContext::default());
        let physical = |condition| {
            create_physical_expr(&unqualified(condition), &schema, &props, &context).ok()
        };
        Ok(conjunction_opt(conditions.into_iter().filter_map(physical)))
    }
}

/// The schema that expressions over a table's rows see.
pub fn row_schema(table: &Table) -> Schema {
    plan_schema(table, &(0..table.columns.len()).collect::<Vec<_>>())
}

/// Rows of a table with [`row_schema`], which marks the SQL types that Arrow lacks.
///
/// # Errors
/// XX000 if the rows are not of this table.
pub fn typed_rows(table: &Table, rows: &RecordBatch) -> values::Result<RecordBatch> {
    let schema = Arc::new(row_schema(table));
    Ok(RecordBatch::try_new(schema, rows.columns().to_vec())?)
}

/// The schema that plans see for some of a table's columns.
pub fn plan_schema(table: &Table, columns: &[usize]) -> Schema {
    let field = |&index: &usize| {
        let column = &table.columns[index];
        plan_field(&column.name, &column.sql_type, column.nullable)
    };
    Schema::new(columns.iter().map(field).collect::<Vec<_>>())
}

impl fmt::Debug for BucketTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BucketTable({})", self.view.table().name)
    }
}

#[async_trait]
impl TableProvider for BucketTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn constraints(&self) -> Option<&Constraints> {
        Some(&self.constraints)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let table = Arc::clone(self.view.table());
        refuse_unpopulated(&table)?;
        let valued = parameters::with_values(filters)?;
        let mut ranges = key_ranges::of_filters(&table, &valued);
        let (mut index, mut wanted) = (None, None);
        let chosen = match &self.chosen {
            Some(Chosen::Rows(rows)) => Some(rows.clone()),
            Some(Chosen::First(first)) => {
                let rows = first.look_up(&self.view, state.config()).await?;
                wanted = rows.is_some().then(|| Arc::clone(first));
                rows
            }
            None => None,
        };
        if let Some(chosen) = chosen {
            (ranges, index) = (chosen.rows, Some(chosen.index));
        } else if matches!(&ranges[..], [all] if *all == KeyRange::all()) {
            let looked = index_lookup::rows(&self.view, &valued, state.config()).await;
            if let Some(looked) = looked.map_err(|error| external(error.into()))? {
                (ranges, index) = (looked.rows, Some(looked.index));
            }
        }
        let predicate = self.prunes(valued)?;
        let places::Found { pieces, coverage, here, elsewhere } =
            places::find(&self.view, &ranges, predicate.as_ref(), &self.schema, &self.columns)
                .await?;
        let fields: Vec<usize> = match projection {
            Some(projection) => projection.clone(),
            None => (0..self.columns.len()).collect(),
        };
        let read = fields.iter().map(|&field| self.columns[field]).collect();
        let read_schema = Arc::new(self.schema.project(&fields)?);
        let partitions = state.config().target_partitions();
        let scan = BucketScan::new(table, pieces, read, read_schema, partitions, coverage);
        let scan = scan.with_limit(limit).with_filters(filters).with_index(index);
        let view = self.view().cloned();
        let implied = index_lookup::implied(&self.view, filters, state.config());
        let scan = scan.with_wanted(wanted).with_view(view).with_implied(implied);
        Ok(if elsewhere.is_empty() {
            Arc::new(scan)
        } else {
            let shipping = Shipping::of(state.config())?;
            let elsewhere = Elsewhere::new(self.view.clone(), here, elsewhere);
            Arc::new(SpreadScan::new(scan, elsewhere, shipping))
        })
    }
}

/// Refuses to read a materialized view without data.
///
/// # Errors
/// 55000.
fn refuse_unpopulated(table: &Table) -> Result<()> {
    match &table.materialized {
        Some(Materialized { is_populated: false, .. }) => {
            let message = format!("materialized view \"{}\" has not been populated", table.name);
            let error = Error::new(SqlState::ObjectNotInPrerequisiteState, message);
            Err(external(error.with_hint("Use the REFRESH MATERIALIZED VIEW command.")))
        }
        _ => Ok(()),
    }
}
