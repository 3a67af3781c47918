//! The aggregates that have PostgreSQL's meaning for their argument types.

use super::{Part, places};
use crate::functions::{called, parse, take};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType, functions};
use datafusion::arrow::datatypes::DataType;
use functions_crate::json::gather::{ARRAYS, ITEM, MEMBER, OBJECTS, SETS};
use functions_crate::numbers::rank::{RANK, RANKED};
use functions_crate::numbers::totals::TOTALS;
use functions_crate::numbers::{decimals, open};
use functions_crate::text::joined;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use ::functions as functions_crate;

/// How an aggregate is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    /// By an aggregate of the engine.
    Named(&'static str),
    /// By an aggregate of the ranks of floating-point numbers.
    Ranked(&'static str),
    /// By counting values or rows.
    Count,
    /// By a sum.
    Sum,
    /// By a sum and a count, which keeps all digits and shares the sum with other aggregates.
    Average,
    /// By the greatest value, or the least one, in an order that the engine does not know.
    Extreme {
        /// Whether it is the greatest.
        is_greatest: bool,
    },
    /// By the totals of values and squares.
    Deviation(Deviation),
    /// By `array_agg`, and a function of the array and the arguments that are the same for all rows.
    Ordered(&'static str),
    /// By `array_agg` of arrays, which must have the same dimensions.
    Nested,
    /// By joining bytes.
    Bytes,
    /// By the number of rows before a row: its place.
    Place,
    /// By the number of rows before a row, and of all: their share.
    ShareBefore,
    /// By the number of rows up to a row, and of all: the share with the row among them.
    ShareWith,
    /// By values with their delimiters, `array_agg`, and a function of the array.
    Joined,
    /// By a function that writes each row, `array_agg`, and a function of the array.
    Gathered(&'static str, &'static str),
}

/// A measure of how numerics deviate from their mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Deviation {
    /// Whether the values are a sample of a population, not all of it.
    is_sample: bool,
    /// Whether it is the root of the variance.
    is_root: bool,
}

const fn deviation(is_sample: bool, is_root: bool) -> Plan {
    Plan::Deviation(Deviation { is_sample, is_root })
}

const TABLE: &[(&str, Plan)] = &[
    ("count() count(any)", Plan::Count),
    ("sum(int2) sum(int4) sum(int8) sum(numeric) sum(interval)", Plan::Sum),
    ("sum(float4)", Plan::Named("real_sum")),
    ("sum(float8)", Plan::Named("float_sum")),
    ("avg(int2) avg(int4) avg(int8) avg(numeric) avg(interval)", Plan::Average),
    ("avg(float4) avg(float8)", Plan::Named("float_avg")),
    (
        "min(int2) min(int4) min(int8) min(numeric) min(text) min(bpchar) min(date) min(time) \
         min(timestamp) min(timestamptz) min(oid) min(anyenum)",
        Plan::Named("min"),
    ),
    (
        "max(int2) max(int4) max(int8) max(numeric) max(text) max(bpchar) max(date) max(time) \
         max(timestamp) max(timestamptz) max(oid) max(anyenum)",
        Plan::Named("max"),
    ),
    ("min(float4) min(float8)", Plan::Ranked("min")),
    ("max(float4) max(float8)", Plan::Ranked("max")),
    ("min(interval) min(anyarray) min(tid)", Plan::Extreme { is_greatest: false }),
    ("max(interval) max(anyarray) max(tid)", Plan::Extreme { is_greatest: true }),
    ("bool_and(bool) every(bool)", Plan::Named("bool_and")),
    ("bool_or(bool)", Plan::Named("bool_or")),
    ("bit_and(int2) bit_and(int4) bit_and(int8)", Plan::Named("bit_and")),
    ("bit_or(int2) bit_or(int4) bit_or(int8)", Plan::Named("bit_or")),
    ("bit_xor(int2) bit_xor(int4) bit_xor(int8)", Plan::Named("bit_xor")),
    ("string_agg(text,text)", Plan::Named("string_agg")),
    ("string_agg(bytea,bytea)", Plan::Bytes),
    ("array_agg(anynonarray)", Plan::Named("array_agg")),
    ("array_agg(anyarray)", Plan::Nested),
    (
        "stddev(float4) stddev(float8) stddev_samp(float4) stddev_samp(float8)",
        Plan::Named("stddev_samp"),
    ),
    ("stddev_pop(float4) stddev_pop(float8)", Plan::Named("stddev_pop")),
    (
        "variance(float4) variance(float8) var_samp(float4) var_samp(float8)",
        Plan::Named("var_samp"),
    ),
    ("var_pop(float4) var_pop(float8)", Plan::Named("var_pop")),
    (
        "variance(int2) variance(int4) variance(int8) variance(numeric) var_samp(int2) var_samp(int4) var_samp(int8) \
         var_samp(numeric)",
        deviation(true, false),
    ),
    ("var_pop(int2) var_pop(int4) var_pop(int8) var_pop(numeric)", deviation(false, false)),
    (
        "stddev(int2) stddev(int4) stddev(int8) stddev(numeric) stddev_samp(int2) stddev_samp(int4) stddev_samp(int8) \
         stddev_samp(numeric)",
        deviation(true, true),
    ),
    (
        "stddev_pop(int2) stddev_pop(int4) stddev_pop(int8) stddev_pop(numeric)",
        deviation(false, true),
    ),
    ("corr(float8,float8)", Plan::Named("corr")),
    ("covar_samp(float8,float8)", Plan::Named("covar_samp")),
    ("covar_pop(float8,float8)", Plan::Named("covar_pop")),
    ("regr_count(float8,float8)", Plan::Named("regr_count")),
    ("regr_slope(float8,float8)", Plan::Named("regr_slope")),
    ("regr_intercept(float8,float8)", Plan::Named("regr_intercept")),
    ("regr_r2(float8,float8)", Plan::Named("regr_r2")),
    ("regr_avgx(float8,float8)", Plan::Named("regr_avgx")),
    ("regr_avgy(float8,float8)", Plan::Named("regr_avgy")),
    ("regr_sxx(float8,float8)", Plan::Named("regr_sxx")),
    ("regr_syy(float8,float8)", Plan::Named("regr_syy")),
    ("regr_sxy(float8,float8)", Plan::Named("regr_sxy")),
    ("json_agg(anyelement)", Plan::Gathered(ITEM, ARRAYS[0])),
    ("jsonb_agg(anyelement)", Plan::Gathered(ITEM, ARRAYS[1])),
    ("json_object_agg(any,any)", Plan::Gathered(MEMBER, OBJECTS[0])),
    ("jsonb_object_agg(any,any)", Plan::Gathered(MEMBER, OBJECTS[1])),
];

static ALL: LazyLock<HashMap<Oid, Plan>> = LazyLock::new(|| {
    let entries = TABLE.iter().flat_map(|(signatures, plan)| {
        let found = signatures.split_whitespace().filter_map(resolve);
        found.map(move |function| (function, *plan))
    });
    entries.collect()
});

fn resolve(signature: &str) -> Option<Oid> {
    let (name, types) = parse(signature)?;
    functions::named(name).find(|function| function.arguments == types).map(|f| f.oid)
}

/// How an aggregate of the catalog is computed.
pub(super) fn of(function: Oid) -> Option<Plan> {
    ALL.get(&function).copied()
}

impl Plan {
    /// Whether the parts of an aggregate with DISTINCT take distinct values.
    pub(super) fn is_of_distinct_values(self) -> bool {
        // The engine computes these of all values only, or not always.
        let of_all = ["bit_xor", "corr"];
        let starts = ["stddev_", "var_", "covar_", "regr_", "float_", "real_"];
        match self {
            Self::Named(name) => {
                !of_all.contains(&name) && !starts.iter().any(|start| name.starts_with(start))
            }
            Self::Joined => false,
            _ => true,
        }
    }

    /// Whether the value depends on the order of the values.
    pub(super) fn is_ordered(self) -> bool {
        matches!(
            self,
            Self::Named("array_agg" | "string_agg")
                | Self::Gathered(..)
                | Self::Joined
                | Self::Nested
                | Self::Ordered(_)
                | Self::Bytes
        )
    }

    /// The aggregates of the engine.
    pub(super) fn parts(self, lowering: &Lowering<'_>, arguments: Vec<Typed>) -> Result<Vec<Part>> {
        Ok(match self {
            Self::Named(name) => vec![lowering.part(name, arguments)?],
            Self::Nested => vec![lowering.part("array_agg", arguments)?],
            Self::Ranked(name) => vec![ranked(lowering, name, arguments)?],
            Self::Extreme { is_greatest } => vec![lowering.extreme(is_greatest, arguments)?],
            Self::Count => vec![lowering.count(arguments)?],
            Self::Sum => vec![lowering.sum(arguments)?],
            Self::Average => {
                let counted = lowering.count(arguments.clone())?;
                let sum = lowering.sum(arguments)?;
                if sum.has_totals() { vec![sum] } else { vec![sum, counted] }
            }
            Self::Deviation(_) => vec![lowering.part(TOTALS[1], arguments)?],
            Self::Place | Self::ShareBefore | Self::ShareWith => {
                return missing("this aggregate");
            }
            Self::Ordered(_) | Self::Bytes => return missing("this aggregate"),
            Self::Joined => {
                let part = lowering.hidden(joined::PART, arguments, Oid::TEXT.into())?;
                vec![lowering.part("array_agg", vec![part])?]
            }
            Self::Gathered(of_row, _) => {
                let written = lowering.registered(of_row, arguments, Oid::TEXT.into())?;
                vec![lowering.part("array_agg", vec![written])?]
            }
        })
    }

    /// The value over those of the parts.
    pub(super) fn value(
        self,
        lowering: &Lowering<'_>,
        mut parts: Vec<Typed>,
        sql_type: SqlType,
    ) -> Result<Typed> {
        if let Some(function) = self.of_numbers(&parts, sql_type) {
            return lowering.hidden(function, parts, sql_type);
        }
        let (expr, data_type) = match self {
            Self::Average => called(&Arc::new(decimals::average()), parts)?,
            Self::Joined => {
                let parts = parts.into_iter().map(|part| part.named(Oid::TEXT_ARRAY.into()));
                let whole = lowering.hidden(joined::WHOLE, parts.collect(), sql_type)?;
                (whole.expr, whole.data_type)
            }
            Self::Gathered(_, of_all) => {
                let texts = parts.into_iter().map(|part| part.named(Oid::TEXT_ARRAY.into()));
                lowering.engine_function(of_all, texts.collect())?
            }
            Self::Place => {
                let [before] = take(parts)?;
                places::place(before.expr)
            }
            Self::ShareBefore => {
                let [before, all] = take(parts)?;
                places::share(before.expr, all.expr, 0.0)?
            }
            Self::ShareWith => {
                let [before, all] = take(parts)?;
                places::share(before.expr, all.expr, 1.0)?
            }
            Self::Ranked(_) => {
                let to = if sql_type.oid == Oid::FLOAT4 { RANKED[0] } else { RANKED[1] };
                let number = lowering.hidden(to, parts, sql_type)?;
                (number.expr, number.data_type)
            }
            Self::Nested => lowering.engine_function("array_of_arrays", parts)?,
            Self::Ordered("sorted_texts") => lowering.sorted_texts(parts)?,
            Self::Ordered(function) if SETS.contains(&function) => {
                lowering.sorted_items(function, parts)?
            }
            Self::Ordered(function) => lowering.engine_function(function, parts)?,
            _ => match parts.pop() {
                Some(part) => (part.expr, part.data_type),
                None => return missing("this aggregate"),
            },
        };
        Typed::of(expr, data_type, sql_type)
    }
}

impl Plan {
    /// The function of the parts that returns a numeric, if the value is one that depends on its scales.
    fn of_numbers(self, parts: &[Typed], sql_type: SqlType) -> Option<&'static str> {
        match self {
            Self::Sum if is_totals(parts) => Some(open::SUM),
            Self::Average if is_totals(parts) => Some(open::AVERAGE),
            Self::Average if sql_type.oid == Oid::NUMERIC => Some(open::MEAN),
            Self::Deviation(deviation) => Some(deviation.of_totals()),
            _ => None,
        }
    }
}

/// The part that aggregates the ranks of floating-point numbers.
fn ranked(lowering: &Lowering<'_>, name: &str, arguments: Vec<Typed>) -> Result<Part> {
    lowering.part(name, vec![lowering.hidden(RANK, arguments, Oid::INT8.into())?])
}

/// Whether the value of an aggregate is computed of totals.
fn is_totals(parts: &[Typed]) -> bool {
    matches!(parts, [part] if part.data_type == DataType::BinaryView)
}

impl Deviation {
    /// The function of totals that returns it.
    fn of_totals(self) -> &'static str {
        let [sample, sample_root, population, population_root] = open::DEVIATIONS;
        match (self.is_sample, self.is_root) {
            (true, false) => sample,
            (true, true) => sample_root,
            (false, false) => population,
            (false, true) => population_root,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signature_is_of_the_catalog() {
        let signatures = TABLE.iter().flat_map(|(all, _)| all.split_whitespace());
        let unknown: Vec<&str> =
            signatures.filter(|signature| resolve(signature).is_none()).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
