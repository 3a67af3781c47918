//! Set-returning functions: each column is an array that the engine expands to rows.

use crate::functions::{arrays, take};
use crate::record_fields::fields_of;
use crate::refusal::{Result, missing, unsupported};
use crate::scope::{Lowering, Slot};
use crate::typed::Typed;
use crate::types;
use analyzer::system::{Oid, SqlType, functions as procedures};
use analyzer::tree::{Kind, Select, SetCall};
use catalog_views::functions::{CHANNELS, OPTION_NAMES, OPTION_VALUES, PARTITIONS, SUBSCRIPTS};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{
    Column, DFSchema, FunctionalDependencies, NullHandling, ScalarValue, UnnestOptions,
};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{
    EmptyRelation, Expr, LogicalPlan, LogicalPlanBuilder, Unnest, lit, when,
};
use functions::arrays::series::SERIES;
use functions::json::rows::ROWS_FUNCTIONS;
use optimizer::Carried;
use std::sync::Arc;
use store::catalog::{Attribute, RelationId, SqlType as Held, UserType};
use values::error::{Error, SqlState};

/// Begins the names of the columns that hold arrays, and then their items.
const SET: &str = "?set";

/// Begins the names of the columns that hold arrays of volatile functions until they are expanded.
const VOLATILE: &str = "?volatile";

/// A column of a set-returning function.
pub(crate) struct SetColumn {
    /// The array of its values.
    pub(crate) array: Typed,
    /// The type of a value.
    pub(crate) item: SqlType,
    /// The function that restores the type of a value, which the engine loses when it expands the array.
    pub(crate) marker: Option<&'static str>,
    /// The types of the fields of a value that stand for it as columns; none if it is a column itself.
    pub(crate) fields: Vec<SqlType>,
}

impl SetColumn {
    /// A column of the values themselves.
    pub(crate) fn plain(array: Typed, item: SqlType) -> Self {
        Self { array, item, marker: None, fields: Vec::new() }
    }

    /// The number of values that it has in a row.
    fn width(&self) -> usize {
        self.fields.len().max(1)
    }
}

/// A plan with expanded columns.
pub(crate) struct Expanded {
    pub(crate) plan: LogicalPlan,
    /// The values of the columns that were expanded.
    pub(crate) values: Vec<Typed>,
}

impl Lowering<'_> {
    /// A plan with the rows of the set-returning functions of a select list, side by side. If the rows are ordered, those of a
    /// set have their order within it.
    pub(crate) fn sets(
        &mut self,
        mut plan: LogicalPlan,
        select: &Select,
        mut order: Vec<Sort>,
        is_ordered: bool,
    ) -> Result<Carried> {
        let is_ordered = is_ordered && !select.sets.is_empty();
        if is_ordered {
            // The rows of one row stay together.
            let (numbered, number) = self.with_row_numbers(plan)?;
            plan = numbered;
            order.push(number.sort(true, false));
        }
        let mut open: Vec<(usize, &SetCall)> = select.sets.iter().enumerate().collect();
        // The sets in the arguments of others come first.
        while !open.is_empty() {
            let waits = |set: &SetCall| open.iter().any(|(other, _)| reads(set, select, *other));
            let (later, now): (Vec<_>, Vec<_>) =
                open.iter().copied().partition(|(_, set)| waits(set));
            if now.is_empty() {
                return missing("sets that read each other");
            }
            let numbers = is_ordered.then_some(&mut order);
            plan = self.sets_together(plan, select, &now, numbers)?;
            open = later;
        }
        Ok(Carried { plan, order })
    }

    /// A plan with the rows of some sets of a select list, side by side.
    fn sets_together(
        &mut self,
        mut plan: LogicalPlan,
        select: &Select,
        sets: &[(usize, &SetCall)],
        order: Option<&mut Vec<Sort>>,
    ) -> Result<LogicalPlan> {
        if let (LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: true, .. }), None) =
            (&plan, &order)
            && let [(index, set)] = sets
            && let Some((plan, value)) = self.lone_series(set, SET)?
        {
            self.add_slot(select.id, Slot::Set(*index), value, plan.schema());
            return Ok(plan);
        }
        let (mut columns, mut counts) = (Vec::new(), Vec::with_capacity(sets.len()));
        for (_, set) in sets {
            let of_set = self.set_columns(set)?;
            counts.push(of_set.iter().map(SetColumn::width).sum());
            columns.extend(of_set);
        }
        if order.is_some() {
            plan = with_volatile(plan, &mut columns)?;
            columns.push(self.ordinality(&columns, Oid::INT8.into())?);
        }
        let Expanded { plan, mut values } = self.expanded(plan, columns, NullHandling::Drop)?;
        if let Some(order) = order {
            order.extend(values.pop().map(|number| number.expr.sort(true, false)));
        }
        let mut values = values.into_iter();
        for ((index, set), count) in sets.iter().zip(counts) {
            let mut of_set: Vec<Typed> = values.by_ref().take(count).collect();
            let value = match of_set.pop() {
                Some(value) if of_set.is_empty() && set.columns.len() == 1 && !is_row(set) => value,
                last if let Some(row) = set.row => {
                    of_set.extend(last);
                    self.composite(of_set, None, row.into())?
                }
                last => {
                    of_set.extend(last);
                    let names = set.columns.iter().map(|column| column.name.clone());
                    self.record(names.collect(), of_set, None)?
                }
            };
            self.add_slot(select.id, Slot::Set(*index), value, plan.schema());
        }
        Ok(plan)
    }

    /// The columns of a function; one array of a single item if it returns no set.
    pub(crate) fn set_columns(&mut self, set: &SetCall) -> Result<Vec<SetColumn>> {
        match &set.call.executed {
            Some(executed) if executed.is_foreign => Ok(vec![self.foreign_set(set, executed)?]),
            Some(executed) => self.executed_set(set, executed),
            None => match self.json_rows(set)? {
                Some(column) => Ok(vec![column]),
                None => self.columns_of_system(set),
            },
        }
    }

    fn columns_of_system(&mut self, set: &SetCall) -> Result<Vec<SetColumn>> {
        let name = procedures::of(set.call.function).map_or("?", |function| function.name);
        let types: Vec<SqlType> = set.columns.iter().map(|column| column.sql_type).collect();
        let first = set.row.map(SqlType::from).or_else(|| types.first().copied());
        let Some(first) = first else { return missing("a set without columns") };
        let fields = set.row.map_or_else(Vec::new, |_| types.clone());
        if !set.returns_set {
            return Ok(vec![SetColumn { fields, ..self.single(set, first)? }]);
        }
        let arguments = self.exprs(&set.call.arguments)?;
        if name == "generate_subscripts" {
            let array = self.subscripts_of(arguments)?;
            return Ok(vec![SetColumn::plain(array, first)]);
        }
        let array_of = |item: SqlType| item.oid.array().unwrap_or(Oid::TEXT_ARRAY).into();
        let plain = |array: Typed| vec![SetColumn::plain(array, first)];
        let mut values = arguments.iter().cloned();
        Ok(match name {
            "unnest" => match (values.next(), values.next()) {
                (Some(array), None) if array.sql_type.oid.element().is_some() => {
                    vec![SetColumn { fields, ..SetColumn::plain(self.flat(array)?, first) }]
                }
                _ => return missing("unnest of these values"),
            },
            "generate_series" => {
                self.refuse_local_days(&arguments)?;
                let (expr, data_type) = self.engine_function(SERIES, arguments)?;
                plain(Typed { expr, sql_type: array_of(first), data_type })
            }
            "_pg_expandarray" => {
                let [array] = take(arguments.clone())?;
                let numbers = self.subscripts(array.clone(), 1)?;
                let items = SetColumn::plain(array, first);
                vec![items, SetColumn::plain(numbers, Oid::INT4.into())]
            }
            "pg_listening_channels" => {
                plain(self.registered(CHANNELS, arguments, Oid::TEXT_ARRAY.into())?)
            }
            "pg_options_to_table" => self.options(&arguments, first)?,
            "pg_partition_ancestors" | "pg_partition_tree" => {
                self.partitions(&arguments, &types)?
            }
            "string_to_table" => {
                plain(self.registered("string_to_array", arguments, Oid::TEXT_ARRAY.into())?)
            }
            "regexp_split_to_table" => plain(self.registered(
                "regexp_split_to_array",
                arguments,
                Oid::TEXT_ARRAY.into(),
            )?),
            "regexp_matches" => {
                let (expr, data_type) = self.engine_function("regexp_matches_lists", arguments)?;
                plain(Typed { expr, sql_type: first, data_type })
            }
            other => return self.columns_of_rows(other, &arguments, types),
        })
    }

    /// The columns of a function that returns rows of several, mostly of JSON.
    fn columns_of_rows(
        &self,
        name: &str,
        arguments: &[Typed],
        types: Vec<SqlType>,
    ) -> Result<Vec<SetColumn>> {
        let Some(rows) = ROWS_FUNCTIONS.iter().find(|rows| rows.name == name) else {
            return missing(format!("the set of {name}"));
        };
        let mut columns = Vec::with_capacity(rows.columns.len());
        for (column, item) in rows.columns.iter().zip(types) {
            let (expr, data_type) = self.engine_function(column.values, arguments.to_vec())?;
            let arrays = item.oid.array().unwrap_or(Oid::TEXT_ARRAY).into();
            let array = Typed { expr, sql_type: arrays, data_type };
            columns.push(SetColumn { marker: column.marker, ..SetColumn::plain(array, item) });
        }
        Ok(columns)
    }

    /// The rows that a function makes of JSON objects. `None` for other functions.
    fn json_rows(&mut self, set: &SetCall) -> Result<Option<SetColumn>> {
        let function = procedures::of(set.call.function);
        let name = function.map_or("?", |function| function.name);
        let types: Vec<SqlType> = set.columns.iter().map(|column| column.sql_type).collect();
        let of_any = ["json_to_record", "jsonb_to_record"];
        let sets = ["json_populate_recordset", "jsonb_populate_recordset"];
        let any_sets = ["json_to_recordset", "jsonb_to_recordset"];
        let is_of_any = of_any.contains(&name) || any_sets.contains(&name);
        if !is_of_any && !sets.contains(&name) {
            return Ok(None);
        }
        let (item, fields) = match (set.row, is_of_any) {
            (Some(row), false) => (row, types),
            (_, true) => (Oid::RECORD, types),
            (None, false) if types.len() == 1 => (types[0].oid, Vec::new()),
            _ => return missing(format!("the set of {name}")),
        };
        if !item.is_row() {
            let message = format!("first argument of {name} must be a row type");
            return Err(Error::new(SqlState::DatatypeMismatch, message).into());
        }
        let of = match item {
            Oid::RECORD if is_of_any => {
                let attribute = |column: &analyzer::tree::Column| {
                    let sql_type = types::read(column.sql_type)?;
                    Ok(Attribute { name: column.name.clone(), sql_type })
                };
                let attributes = set.columns.iter().map(attribute).collect::<Result<_>>()?;
                let named = ("pg_catalog", "record");
                Held::User(Arc::new(UserType::of_rows(RelationId(0), named, attributes)))
            }
            item => types::held(item.into())?,
        };
        let mut arguments = self.exprs(&set.call.arguments)?;
        arguments.truncate(if is_of_any { 1 } else { 2 });
        let (expr, data_type) = self.populated_rows(name, of, set.returns_set, arguments)?;
        let sql_type = Oid::RECORD_ARRAY.into();
        let array = Typed { expr, sql_type, data_type };
        let array = match set.returns_set {
            true => array,
            false => {
                let (expr, data_type) = self.engine_function("make_array", vec![array])?;
                Typed { expr, sql_type, data_type }
            }
        };
        Ok(Some(SetColumn { array, item: item.into(), marker: None, fields }))
    }

    /// The names and the values of options.
    fn options(&self, arguments: &[Typed], item: SqlType) -> Result<Vec<SetColumn>> {
        let of = |name: &str| -> Result<SetColumn> {
            let array = self.registered(name, arguments.to_vec(), Oid::TEXT_ARRAY.into())?;
            Ok(SetColumn::plain(array, item))
        };
        Ok(vec![of(OPTION_NAMES)?, of(OPTION_VALUES)?])
    }

    /// The columns of a function of partitions, which has no rows.
    fn partitions(&self, arguments: &[Typed], types: &[SqlType]) -> Result<Vec<SetColumn>> {
        let of = |item: &SqlType| -> Result<SetColumn> {
            let arrays = item.oid.array().unwrap_or(Oid::TEXT_ARRAY);
            let array = self.registered(PARTITIONS, arguments.to_vec(), arrays.into())?;
            Ok(SetColumn::plain(array, *item))
        };
        types.iter().map(of).collect()
    }

    /// An array of any dimensions as one of one dimension.
    fn flat(&self, mut array: Typed) -> Result<Typed> {
        while let DataType::List(items) = &array.data_type
            && matches!(items.data_type(), DataType::List(_))
        {
            let sql_type = array.sql_type;
            let (expr, data_type) = self.engine_function("flatten", vec![array])?;
            array = Typed { expr, sql_type, data_type };
        }
        Ok(array)
    }

    /// The value of a function that returns no set.
    fn single(&mut self, set: &SetCall, item: SqlType) -> Result<SetColumn> {
        let expr = analyzer::tree::Expr {
            kind: analyzer::tree::Kind::Call(set.call.clone()),
            sql_type: item,
            location: analyzer::tree::Location(-1),
        };
        let value = self.expr(&expr)?;
        let (expr, data_type) = self.engine_function("make_array", vec![value])?;
        let sql_type = item.oid.array().unwrap_or(Oid::TEXT_ARRAY).into();
        Ok(SetColumn::plain(Typed { expr, sql_type, data_type }, item))
    }

    /// The array that `generate_subscripts` returns.
    fn subscripts_of(&self, arguments: Vec<Typed>) -> Result<Typed> {
        let mut values = arguments.into_iter();
        let (Some(array), Some(dimension)) = (values.next(), values.next()) else {
            return missing("generate_subscripts of these values");
        };
        let reverse = values.next();
        if is_one(&dimension) && reverse.is_none() {
            let is_vector = matches!(array.sql_type.oid, Oid::INT2VECTOR | Oid::OIDVECTOR);
            return self.subscripts(array, i64::from(!is_vector));
        }
        let bounds = vec![array, dimension];
        let lower = arrays::lower_bound(self, bounds.clone(), Oid::INT4.into())?;
        let upper = arrays::upper_bound(self, bounds, Oid::INT4.into())?;
        let step = Typed::constant(ScalarValue::Int32(Some(-1)), Oid::INT4.into());
        let range = match reverse.as_ref().map(Typed::value) {
            None | Some(Some(ScalarValue::Boolean(Some(false)))) => vec![lower, upper],
            Some(Some(ScalarValue::Boolean(Some(true)))) => vec![upper, lower, step],
            _ => return missing("generate_subscripts in a computed direction"),
        };
        let (expr, data_type) = self.engine_function(SERIES, range)?;
        Ok(Typed { expr, sql_type: Oid::INT4_ARRAY.into(), data_type })
    }

    /// The subscripts of an array, as an array.
    fn subscripts(&self, array: Typed, first: i64) -> Result<Typed> {
        let first = Typed::constant(ScalarValue::Int64(Some(first)), Oid::INT8.into());
        let (expr, data_type) = self.engine_function(SUBSCRIPTS, vec![array, first])?;
        Ok(Typed { expr, sql_type: Oid::INT4_ARRAY.into(), data_type })
    }

    /// Replaces an array without items by NULL.
    pub(crate) fn null_if_empty(&self, column: &mut SetColumn) -> Result<()> {
        let (is_empty, _) = self.engine_function("empty", vec![column.array.clone()])?;
        let null = ScalarValue::try_new_null(&column.array.data_type)?;
        let array = std::mem::take(&mut column.array.expr);
        column.array.expr = when(is_empty, lit(null)).otherwise(array)?;
        Ok(())
    }

    /// The column that numbers the rows of sets side by side, of which the longest counts.
    pub(crate) fn ordinality(&self, of: &[SetColumn], item: SqlType) -> Result<SetColumn> {
        if let [of] = of {
            let array = self.subscripts(of.array.clone(), 1)?;
            return Ok(SetColumn::plain(array, item));
        }
        let zero = || Typed::constant(ScalarValue::Int64(Some(0)), Oid::INT8.into());
        let mut lengths = Vec::with_capacity(of.len());
        for column in of {
            let (expr, data_type) =
                self.engine_function("array_length", vec![column.array.clone()])?;
            let length = Typed { expr, sql_type: Oid::INT8.into(), data_type };
            let length = vec![length.converted(&DataType::Int64), zero()];
            let (expr, data_type) = self.engine_function("coalesce", length)?;
            lengths.push(Typed { expr, sql_type: Oid::INT8.into(), data_type });
        }
        let (expr, data_type) = self.engine_function("greatest", lengths)?;
        let longest = Typed { expr, sql_type: Oid::INT8.into(), data_type };
        let one = Typed::constant(ScalarValue::Int64(Some(1)), Oid::INT8.into());
        let (expr, data_type) = self.engine_function(SERIES, vec![one, longest])?;
        let array = Typed { expr, sql_type: Oid(1016).into(), data_type };
        Ok(SetColumn::plain(array, item))
    }

    /// A plan with the items of arrays, a row for each, side by side.
    pub(crate) fn expanded(
        &self,
        plan: LogicalPlan,
        columns: Vec<SetColumn>,
        null_handling: NullHandling,
    ) -> Result<Expanded> {
        let own = plan.schema().columns().into_iter().filter(|column| !is_volatile_array(column));
        let own: Vec<Expr> = own.map(Expr::Column).collect();
        let taken = own.len();
        let names: Vec<String> =
            (0..columns.len()).map(|index| format!("{SET}{}", taken + index)).collect();
        let arrays = columns.iter().zip(&names);
        let arrays = arrays.map(|(column, name)| column.array.expr.clone().alias(name));
        let all: Vec<Expr> = own.into_iter().chain(arrays).collect();
        let options = UnnestOptions { null_handling, ..UnnestOptions::default() };
        let sets = names.iter().map(Column::from_name).collect();
        let plan = LogicalPlanBuilder::from(plan)
            .project(all)?
            .unnest_columns_with_options(sets, options)?
            .build()?;
        let plan = without_keys(plan)?;
        let mut values = Vec::with_capacity(columns.len());
        for (column, name) in columns.into_iter().zip(names) {
            let expr = Expr::Column(Column::from_name(name));
            let DataType::List(field) = &column.array.data_type else {
                return missing("a set of this type");
            };
            let value = Typed::of(expr, field.data_type().clone(), column.item)?;
            match column.marker {
                Some(marker) => {
                    let text = value.named(Oid::TEXT.into());
                    values.push(self.registered(marker, vec![text], column.item)?);
                }
                None if column.fields.is_empty() => values.push(value),
                None => values.extend(fields_of(&value, &column.fields)?),
            }
        }
        Ok(Expanded { plan, values })
    }
}

impl Lowering<'_> {
    /// Refuses a series of timestamps with time zone by days or months, which differ in length in the session's zone.
    pub(crate) fn refuse_local_days(&self, arguments: &[Typed]) -> Result<()> {
        let is_of_time = |step: &Typed| {
            matches!(step.value(), Some(ScalarValue::IntervalMonthDayNano(Some(step)))
                if step.months == 0 && step.days == 0)
        };
        let is_local = arguments.iter().any(|value| value.sql_type.oid == Oid::TIMESTAMPTZ);
        match is_local && !self.zone().is_utc() && !arguments.last().is_some_and(is_of_time) {
            true => unsupported("a series of days with a TimeZone other than UTC"),
            false => Ok(()),
        }
    }
}

/// Whether the values of a set are records, also of one field.
fn is_row(set: &SetCall) -> bool {
    set.row.is_some()
        || set.call.executed.as_ref().is_some_and(|executed| !executed.columns.is_empty())
}

/// Whether a set has another one of the select list in its arguments.
fn reads(set: &SetCall, select: &Select, other: usize) -> bool {
    set.call.arguments.iter().any(|argument| {
        analyzer::contains(argument, &mut |part| {
            matches!(part.kind, Kind::Set(of, place) if of == select.id && place == other)
        })
    })
}

/// A plan that has the arrays of volatile functions as columns, which can be read several times. They end where the arrays are
/// expanded.
pub(crate) fn with_volatile(plan: LogicalPlan, columns: &mut [SetColumn]) -> Result<LogicalPlan> {
    let mut all: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
    let own = all.len();
    for array in columns.iter_mut().map(|column| &mut column.array.expr) {
        if array.is_volatile() {
            let name = format!("{VOLATILE}{}", all.len());
            let computed = std::mem::replace(array, Expr::Column(Column::from_name(&name)));
            all.push(computed.alias(name));
        }
    }
    match all.len() == own {
        true => Ok(plan),
        false => Ok(LogicalPlanBuilder::from(plan).project(all)?.build()?),
    }
}

fn is_volatile_array(column: &Column) -> bool {
    column.relation.is_none() && column.name.starts_with(VOLATILE)
}

/// A plan whose rows repeat those below it, so that their keys are no keys of its own.
fn without_keys(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Unnest(unnest) = plan else { return Ok(plan) };
    let schema = DFSchema::clone(&unnest.schema);
    let schema = schema.with_functional_dependencies(FunctionalDependencies::empty())?;
    Ok(LogicalPlan::Unnest(Unnest { schema: Arc::new(schema), ..unnest }))
}

fn is_one(value: &Typed) -> bool {
    matches!(value.value(), Some(ScalarValue::Int32(Some(1))))
}
