//! Bundling schemes: the relations of bindable operators.

use crate::Kind;
use std::str::FromStr;
use thiserror::Error;

/// A bundling scheme: which pairs of operators are bindable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// No pairs: every operator is a bundle of its own.
    None,
    /// Scans with joins and group-by; group-by with aggregate.
    Optimal,
    /// [`Scheme::Optimal`] and scan-sort, sort-group, sort-aggregate, aggregate-sort, aggregate-group.
    Excessive,
    /// All pairs: the plan is one bundle and stores no intermediate results. Pando's default.
    Pipelined,
}

/// The text names no [`Scheme`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown bundling scheme `{name}`; expected one of: {known}")]
pub struct UnknownScheme {
    /// The text.
    pub name: String,
    /// The names of all schemes, separated by commas.
    pub known: String,
}

impl Scheme {
    /// All schemes.
    pub const ALL: [Self; 4] = [Self::None, Self::Optimal, Self::Excessive, Self::Pipelined];
    /// The three schemes of the published experiment.
    pub const PUBLISHED: [Self; 3] = [Self::None, Self::Optimal, Self::Excessive];

    /// The name in settings and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Optimal => "optimal",
            Self::Excessive => "excessive",
            Self::Pipelined => "pipelined",
        }
    }

    /// Whether a child may join its parent's bundle. VALUES counts as a scan. Windows, unions, recursions and subqueries
    /// are bindable only in [`Scheme::Pipelined`].
    pub fn binds(self, child: Kind, parent: Kind) -> bool {
        let optimal = match parent {
            Kind::NestedLoopJoin | Kind::MergeJoin | Kind::HashJoin | Kind::GroupBy => {
                child.is_leaf()
            }
            Kind::Aggregate => child == Kind::GroupBy,
            _ => false,
        };
        let excessive = match parent {
            Kind::Sort => child.is_leaf() || child == Kind::Aggregate,
            Kind::GroupBy => matches!(child, Kind::Sort | Kind::Aggregate),
            Kind::Aggregate => child == Kind::Sort,
            _ => false,
        };
        match self {
            Self::None => false,
            Self::Optimal => optimal,
            Self::Excessive => optimal || excessive,
            Self::Pipelined => true,
        }
    }
}

impl FromStr for Scheme {
    type Err = UnknownScheme;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|scheme| scheme.name() == name);
        found.ok_or_else(|| UnknownScheme {
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published relation, pair by pair.
    #[test]
    fn each_scheme_binds_its_pairs_and_no_others() {
        let scans = [Kind::SequentialScan, Kind::IndexScan, Kind::Values];
        let parents = [Kind::NestedLoopJoin, Kind::MergeJoin, Kind::HashJoin, Kind::GroupBy];
        let mut optimal: Vec<_> =
            scans.iter().flat_map(|scan| parents.iter().map(|parent| (*scan, *parent))).collect();
        optimal.push((Kind::GroupBy, Kind::Aggregate));
        let mut excessive = optimal.clone();
        excessive.extend(scans.map(|scan| (scan, Kind::Sort)));
        excessive.extend([
            (Kind::Sort, Kind::GroupBy),
            (Kind::Sort, Kind::Aggregate),
            (Kind::Aggregate, Kind::Sort),
            (Kind::Aggregate, Kind::GroupBy),
        ]);
        let bound = |scheme: Scheme| {
            let pairs = Kind::ALL.iter().flat_map(|c| Kind::ALL.iter().map(|p| (*c, *p)));
            let mut pairs: Vec<_> =
                pairs.filter(|(child, parent)| scheme.binds(*child, *parent)).collect();
            pairs.sort();
            pairs
        };
        optimal.sort();
        excessive.sort();
        assert_eq!(bound(Scheme::None), []);
        assert_eq!(bound(Scheme::Optimal), optimal);
        assert_eq!(bound(Scheme::Excessive), excessive);
        assert_eq!(bound(Scheme::Pipelined).len(), Kind::ALL.len() * Kind::ALL.len());
    }

    #[test]
    fn a_name_is_parsed_to_its_scheme() {
        for scheme in Scheme::ALL {
            assert_eq!(scheme.name().parse(), Ok(scheme));
        }
        assert!("all".parse::<Scheme>().is_err());
    }
}
