//! Functions that replace operators and the arguments of `sum` and `avg`. Statements cannot call
//! them, but plan fragments can: every server knows them by name.

use crate::arrays::order;
use crate::casts::{sent, shown, system};
use crate::datetime::{bounds, extract, intervals, moments, precision};
use crate::numbers::{bits, decimals, floats, integers, open, rank};
use crate::regexes;
use crate::system::{domains, tid};
use crate::text::{bytes, concatenation, joined, parts};
use datafusion::logical_expr::ScalarUDF;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// The function of a name.
pub fn named(name: &str) -> Option<Arc<ScalarUDF>> {
    static ALL: LazyLock<HashMap<String, Arc<ScalarUDF>>> = LazyLock::new(|| {
        let others = [
            bytes::concat(),
            decimals::average(),
            decimals::summand(),
            intervals::divide(),
            intervals::length(),
            intervals::minus(),
            intervals::multiply(),
            intervals::negative(),
            intervals::plus(),
            moments::at_time(),
            moments::between(),
            moments::between_times(),
            moments::time_minus(),
            moments::time_plus(),
            moments::date_earlier(),
            moments::date_later(),
            moments::days_between(),
            moments::days_earlier(),
            moments::days_later(),
            moments::earlier(),
            moments::finite(),
            moments::later(),
        ];
        let all = others.map(Arc::new).into_iter().chain(integers::all());
        let all =
            all.chain([concatenation::function()]).chain(regexes::functions()).chain(floats::all());
        let all = all
            .chain(precision::all().map(Arc::new))
            .chain(joined::all().map(Arc::new))
            .chain([Arc::new(order::key()), Arc::new(parts::as_name())]);
        let all = all.chain(domains::all().map(Arc::new)).chain(tid::all().map(Arc::new));
        let all = all.chain([Arc::new(bits::exclusive_or()), Arc::new(sent::sent())]);
        let all = all.chain(shown::all().map(Arc::new)).chain(system::all().map(Arc::new));
        let all =
            all.chain(["year", "second", "milliseconds"].map(extract::of_field).map(Arc::new));
        let all = all.chain(rank::all().map(Arc::new));
        let all = all.chain(bounds::all().map(Arc::new));
        let all = all.chain(open::all().into_iter().map(Arc::new));
        all.map(|function| (function.name().to_owned(), function)).collect()
    });
    ALL.get(name).cloned()
}
