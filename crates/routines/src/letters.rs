//! What `pg_proc` and `pg_aggregate` say of functions: letters and texts.

use store::catalog::{
    AggregateDetails, AggregateKind, Function, Modifies, Parallel, ParameterMode, Volatility,
};

/// `prokind`.
pub fn kind(function: &Function) -> &'static str {
    match function.kind() {
        "aggregate" => "a",
        "procedure" => "p",
        _ => "f",
    }
}

/// An item of `proargmodes`.
pub fn mode(of: ParameterMode) -> &'static str {
    match of {
        ParameterMode::In => "i",
        ParameterMode::Out => "o",
        ParameterMode::InOut => "b",
        ParameterMode::Variadic => "v",
        ParameterMode::Table => "t",
    }
}

/// `provolatile`.
pub fn volatility(of: Volatility) -> &'static str {
    match of {
        Volatility::Immutable => "i",
        Volatility::Stable => "s",
        Volatility::Volatile => "v",
    }
}

/// `proparallel`.
pub fn parallel(of: Parallel) -> &'static str {
    match of {
        Parallel::Safe => "s",
        Parallel::Restricted => "r",
        Parallel::Unsafe => "u",
    }
}

/// `aggkind`.
pub fn aggregate_kind(of: &AggregateDetails) -> &'static str {
    match of.kind {
        AggregateKind::Normal => "n",
        AggregateKind::OrderedSet => "o",
        AggregateKind::Hypothetical => "h",
    }
}

/// `aggfinalmodify` and `aggmfinalmodify`.
pub fn modifies(of: &AggregateDetails) -> [&'static str; 2] {
    let usual = match of.kind {
        AggregateKind::Normal => Modifies::Never,
        AggregateKind::OrderedSet | AggregateKind::Hypothetical => Modifies::Always,
    };
    [of.modifies, of.moving_modifies].map(|given| match given.unwrap_or(usual) {
        Modifies::Never => "r",
        Modifies::Shareable => "s",
        Modifies::Always => "w",
    })
}

/// `proconfig`: the settings of SET; `None` without.
pub fn settings(function: &Function) -> Option<Vec<String>> {
    let shown = function.settings.iter().map(|(name, value)| format!("{name}={value}"));
    (!function.settings.is_empty()).then(|| shown.collect())
}
